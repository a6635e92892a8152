"""Honest logs whose totals look odd at first sight say nothing: limits, errors, stops, parts.

What each harness counts is in its source: samples that were planned, ran or were judged; trials
with a reward; rows of a prompt. The opposite of each case, one number off, is said.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from repeval import load
from tests.io.readers import (
    agent_logs,
    eee_logs,
    evalplus_logs,
    inspect_logs,
    lm_eval_logs,
    openai_evals_logs,
    promptfoo_logs,
    swebench_logs,
)

TENSOR = [[1, 0], [1, 1], [0, 0], [0, 1], [1, 0]]


def said(path: Path, **options: Any) -> list[str]:
    return [n.text for n in load(path, **options).notices if n.code == "totals-differ"]


def changed(path: Path, change: Any) -> Path:
    whole = json.loads(path.read_text())
    change(whole)
    path.write_text(json.dumps(whole))
    return path


class TestInspect:
    def log(self, folder: Path, tensor: Any = TENSOR, scored: Any = None, **more: Any) -> Path:
        errors = more.pop("errors", ())
        whole = inspect_logs.log(tensor, errors=errors)
        whole["results"]["scores"] = [
            {"name": "choice", "scorer": "choice", "metrics": {}, **(scored or {})}
        ]
        whole["results"] |= more.pop("results", {})
        whole["eval"]["dataset"] |= more.pop("dataset", {})
        return inspect_logs.write(folder / "a.json", whole | more)

    def test_a_limited_data_set(self, tmp_path):
        assert not said(self.log(tmp_path, dataset={"samples": 100}))
        ids = [f"q{i}" for i in range(6)]
        lacks = self.log(tmp_path, dataset={"sample_ids": ids}, results={"total_samples": 12})
        assert "lists q5 twice among its samples, and holds it never" in said(lacks)[1]

    def test_errors_with_and_without_a_score(self, tmp_path):
        scored = {"scored_samples": 4, "unscored_samples": 0}
        errors = [(0, 0), (0, 1), (3, 0)]
        assert not said(self.log(tmp_path, errors=errors, scored=scored))
        path = self.log(tmp_path, errors=errors, results={"completed_samples": 9})
        assert "there are 9 completed samples, and holds 7" in said(path)[0]
        path = self.log(tmp_path, errors=errors, scored={"scored_samples": 5})
        assert "there are 5 scored samples, and holds 4" in said(path)[0]
        # A scorer may judge what broke off afterwards.
        path = changed(
            self.log(tmp_path), lambda whole: whole["samples"][0].update(error={"message": "late"})
        )
        assert not said(path)

    def test_samples_without_a_verdict_in_some_epochs(self, tmp_path):
        """Older versions leave out a sample that has one of them, newer ones the epoch alone."""
        tensor = [[1, float("nan")], *TENSOR]
        for n in (5, 6):
            scored = {"scored_samples": n, "unscored_samples": 6 - n}
            assert not said(self.log(tmp_path, tensor, scored))
        # Unreduced: each epoch counts.
        assert not said(self.log(tmp_path, tensor, {"scored_samples": 11, "unscored_samples": 1}))
        assert said(self.log(tmp_path, tensor, {"scored_samples": 4}))
        assert said(self.log(tmp_path, tensor, {"scored_samples": 6, "unscored_samples": 1}))

    def test_early_stopping(self, tmp_path):
        tensor = [*TENSOR[:4], [1, None]]
        stop = {"manager": "m", "early_stops": [{"id": "q4", "epoch": 2}], "metadata": {}}
        planned = {"total_samples": 10}
        assert not said(self.log(tmp_path, tensor, results=planned | {"early_stopping": stop}))
        assert said(self.log(tmp_path, tensor, results=planned))

    def test_samples_that_were_abandoned_or_made_on_the_way(self, tmp_path):
        drained = {"total_samples": 20, "logged_samples": 10}
        assert not said(self.log(tmp_path, results=drained))
        assert not said(self.log(tmp_path, dataset={"sample_ids": ["q0"]}))

    @pytest.mark.parametrize("status", ["cancelled", "error", "started"])
    def test_a_log_that_is_not_whole(self, tmp_path, status):
        tensor = [*TENSOR[:4], [1, None]]
        results = {"total_samples": 10, "completed_samples": 9}
        assert not said(self.log(tmp_path, tensor, results=results, status=status))


class TestPromptfoo:
    def log(self, folder: Path) -> Path:
        tensors = {("m", "p"): [[1, 0], ["error", 0.5]], ("n", "p"): [[1, 1], [0, 0]]}
        return promptfoo_logs.write(folder / "log.json", tensors)

    def test_each_prompt_has_its_counts(self, tmp_path):
        assert not said(self.log(tmp_path))

        def swap(whole: Any) -> None:
            heads = whole["results"]["prompts"]
            heads[0]["metrics"], heads[1]["metrics"] = heads[1]["metrics"], heads[0]["metrics"]

        texts = said(changed(self.log(tmp_path), swap))
        assert "there are 2 successes of prompt 1 (m), and holds 1" in texts[0]
        assert any("the scores of prompt 2 (n) add up to 1.5, and holds 2." in t for t in texts)

    def test_older_versions_count_errors_as_failures(self, tmp_path):
        def older(whole: Any) -> None:
            for head in whole["results"]["prompts"]:
                metrics = head["metrics"]
                metrics["testFailCount"] += metrics.pop("testErrorCount")
            stats = whole["results"]["stats"]
            stats["failures"] += stats.pop("errors")

        assert not said(changed(self.log(tmp_path), older))

    def test_a_comparison_may_change_scores_afterwards(self, tmp_path):
        def compared(whole: Any) -> None:
            for row in whole["results"]["results"]:
                row["testCase"]["assert"] = [{"type": "select-best", "value": "x"}]
            whole["results"]["prompts"][0]["metrics"]["score"] = 9

        assert not said(changed(self.log(tmp_path), compared))


class TestAgents:
    def test_terminal_bench_states_itself_in_two_files(self, tmp_path):
        shares = {"accuracy": 0.5, "pass_at_k": {"2": 0.8}}
        path = agent_logs.terminal_bench(tmp_path / "a", TENSOR, meta=shares)
        assert not said(path)
        (path / "results.json").unlink()
        assert not said(path)
        next(path.glob("t0/*/results.json")).unlink()
        assert any("says accuracy 50.0 %" in text for text in said(path))

    def test_trials_without_a_verdict_count_as_unresolved(self, tmp_path):
        more = {(1, 0): {"is_resolved": None, "failure_mode": "test_timeout"}}
        path = agent_logs.terminal_bench(tmp_path / "a", TENSOR, more, single=False)
        assert not said(path)
        swap = {"t0": "t1", "t1": "t0"}
        ids = lambda w: [swap.get(one, one) for one in w["resolved_ids"]]  # noqa: E731
        more = {(1, 0): {"is_resolved": True}}
        path = agent_logs.terminal_bench(tmp_path / "b", TENSOR, more, single=False)
        changed(path / "results.json", lambda w: w.update(resolved_ids=ids(w)))
        (text,) = said(path)
        assert "lists t0 twice among its resolved trials, and holds it once" in text
        assert text.endswith("So it is with 1 more.")

    @pytest.mark.parametrize("rewards", [None, {}])
    def test_harbor_trials_without_a_reward(self, tmp_path, rewards):
        wrong = {"exception_type": "AgentTimeoutError"}
        more = {(0, 0): {"verifier_result": None, "exception_info": wrong},
                (1, 1): {"verifier_result": {"rewards": rewards}},
                (2, 0): {"exception_info": wrong}}  # fmt: skip
        path = agent_logs.harbor(tmp_path / "a", TENSOR, more)
        assert not said(path)

        def off(whole: Any) -> None:
            (system,) = whole["stats"]["evals"].values()
            system["n_errors"] += 1
            system["metrics"][0]["mean"] += 0.25
            system["pass_at_k"]["2"] = 0.1
            system["exception_stats"]["AgentTimeoutError"] += ["t4__zterminus-2"]

        texts = " ".join(said(changed(path / "result.json", off).parent))
        assert "3 errors of terminus-2__m__tb, and holds 2" in texts
        assert "mean reward of terminus-2__m__tb" in texts
        assert "says pass@2 10.0 %" in texts
        assert "3 trials with AgentTimeoutError, and holds 2" in texts

    def test_harbor_rewards_that_do_not_count(self, tmp_path):
        wrong = {"exception_type": "EnvironmentError"}
        more = {(0, 0): {"verifier_result": {"rewards": {"reward": 1.0}}, "exception_info": wrong,
                         "reward_valid": False}}  # fmt: skip
        path = agent_logs.harbor(tmp_path / "a", TENSOR, more)

        def newer(whole: Any) -> None:
            (system,) = whole["stats"]["evals"].values()
            system["n_trials"], system["pass_at_k"] = 9, {}
            system["metrics"] = [{"mean": 4 / 9}]
            system["reward_stats"]["reward"]["1.0"].remove("t0__zterminus-2")

        assert not said(changed(path / "result.json", newer).parent)

    def test_a_harbor_job_that_is_running(self, tmp_path):
        def running(whole: Any) -> None:
            whole["finished_at"] = None
            whole["stats"]["n_completed_trials"] -= 1

        path = agent_logs.harbor(tmp_path / "a", TENSOR)
        assert not said(changed(path / "result.json", running).parent)
        next(path.glob("t0__*/result.json")).unlink()
        next(path.glob("t1__*/result.json")).unlink()
        assert said(path)

    def test_a_tau2_reward_of_several_parts(self, tmp_path):
        half = {"reward": 0.25, "reward_breakdown": {"DB": 0.5, "NL_ASSERTION": 0.5}}
        early = {"reward": 0.0, "reward_breakdown": None}
        more = {(0, 0): {"reward_info": half}, (1, 0): {"reward_info": early}}
        assert not said(agent_logs.tau2_bench(tmp_path / "a.json", TENSOR, more))


class TestOpenAIEvals:
    def test_counts_of_choices_and_numbers_of_events(self, tmp_path):
        events = openai_evals_logs.events(
            [1, 0, 1, None], metrics={"choice": "NY".__getitem__, "score": float}
        )
        events[1]["final_report"] = {"counts/Y": 2, "counts/N": 1, "score": 2 / 3}

        def write(rows: list[Any]) -> Path:
            path = tmp_path / "a.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            return path

        assert not said(write(events), scorer="score")
        # A run that broke off has no report, and the events up to there.
        assert not said(write([events[0], *events[2:6]]), scorer="score")
        sampling = next(i for i, e in enumerate(events) if e.get("type") == "sampling")
        (text,) = said(write(events[:sampling] + events[sampling + 1 :]), scorer="score")
        assert "there are 7 events, and holds 6" in text
        events[1]["final_report"]["counts/Y"] = 3
        assert "3 samples of counts/Y, and holds 2" in said(write(events), scorer="score")[0]


class TestLmEval:
    def test_documents_that_were_asked_for_by_number(self, tmp_path):
        """With --samples the number of those that ran is in sample_len alone."""
        path = lm_eval_logs.write(tmp_path, [1, 0, 1])
        about = next(tmp_path.glob("results_*.json"))
        more = {"gsm8k": {"original": 90, "effective": 90}}
        changed(about, lambda whole: whole.update({"n-samples": more}))
        assert not said(path)
        changed(about, lambda whole: whole["results"]["gsm8k"].update(sample_len=4))
        assert "there are 90 documents" in said(path)[0]

    def test_a_limit(self, tmp_path):
        path = lm_eval_logs.write(tmp_path, [1, 0, 1])
        about = next(tmp_path.glob("results_*.json"))
        more = {"gsm8k": {"original": 90, "effective": 3}}
        changed(about, lambda whole: whole.update({"n-samples": more}))
        assert "90 documents of gsm8k, and holds 3" in said(path)[0]
        changed(about, lambda whole: whole["config"].update(limit=3))
        assert not said(path)

    def test_a_group_has_all_its_tasks_and_their_mean(self, tmp_path):
        for task, outcomes in (("b", [1, 0, 1, 1]), ("a", [1, 0])):
            path = lm_eval_logs.write(tmp_path, outcomes, task=task)
        about = next(tmp_path.glob("results_*.json"))

        def group(whole: Any, mean: float, *more: str) -> None:
            whole["results"] |= {"b": {"acc,none": 0.75}, "g": {"acc,none": mean}}
            whole["n-samples"] |= {t: {"original": 4, "effective": 4} for t in ("b", *more)}
            whole["group_subtasks"] = {"g": ["a", "b", *more], "other": ["x"]}

        for mean in (4 / 6, 0.625):  # by documents, by tasks
            changed(about, lambda whole, mean=mean: group(whole, mean))
            assert not said(path)
        changed(about, lambda whole: group(whole, 0.7))
        assert "says acc of g 70.0 %, but its tasks give 66.7 %" in said(path)[0]
        changed(about, lambda whole: group(whole, 0.7, "c"))
        assert "there are 3 tasks of g, and holds 2" in said(path)[0]


class TestEEE:
    @pytest.mark.parametrize("n", [5, 10, 9, 4])
    def test_samples_or_runs_with_or_without_errors(self, tmp_path, n):
        """Nine runs of ten were judged; of five samples each has a judged run."""
        tensor = [[None, 1], *TENSOR[1:]]
        about = eee_logs.evaluation(5 / 9, n_samples=n)
        texts = said(eee_logs.write(tmp_path, eee_logs.rows(tensor), about))
        assert bool(texts) == (n == 4)

    def test_ids_of_samples(self, tmp_path):
        for ids, fits in ((["q0", "q1", "q2", "q3", "q4"], True), (["id0", "id1"], True),
                          (["q0", "q1", "q2", "q3", "q4", "q5"], False)):  # fmt: skip
            about = eee_logs.evaluation(0.5, ids=ids)
            texts = said(eee_logs.write(tmp_path, eee_logs.rows(TENSOR), about))
            assert not texts if fits else "lists q5 once among its samples" in texts[0]


def test_evalplus_states_pass_at_ten(tmp_path):
    tensor = [[1] + [0] * 9, [0] * 10, [1] * 10]
    path = evalplus_logs.write(tmp_path / "m_eval_results.json", tensor)
    assert not said(path)
    changed(path, lambda whole: whole["pass_at_k"]["base"].update({"pass@10": 1 / 3}))
    assert "says pass@10 33.3 %, but its single runs give 66.7 %" in said(path)[0]


class TestSWEBench:
    def report(self, folder: Path, change: Any) -> Path:
        ids = [f"org__repo-{i}" for i in range(6)]
        outcomes = [[y] for y in (1, 0, 1, "error", "empty", None)]
        (path,) = swebench_logs.write_runs(folder, outcomes, ids=ids)
        return changed(path, change)

    def test_predictions_for_more_than_was_run(self, tmp_path):
        def more(whole: Any) -> None:
            whole["submitted_ids"] += ["org__other-1", "org__other-2"]
            whole["submitted_instances"] += 2

        assert not said(self.report(tmp_path, lambda whole: None))
        assert not said(self.report(tmp_path, more))

    @pytest.mark.parametrize("key", ["completed_ids", "submitted_ids"])
    def test_a_list_that_lacks_an_instance(self, tmp_path, key):
        (text,) = said(self.report(tmp_path, lambda whole: whole[key].remove("org__repo-0")))
        assert "lists org__repo-0 never among its" in text
