"""Every reader holds what its log states itself against the runs in it: one changed, one lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repeval import load
from repeval.io.formats import READERS
from repeval.messages import RepevalError

from . import (
    agent_logs,
    eee_logs,
    evalplus_logs,
    inspect_logs,
    lm_eval_logs,
    openai_evals_logs,
    promptfoo_logs,
    swebench_logs,
)

OUTCOMES = [[1, 0], [1, 1], [0, 0], [0, 1], [1, 0]]
FIRST = [row[0] for row in OUTCOMES]
MEAN = 0.5

Rows = list[dict[str, Any]]


def json_file(path: Path, rows: Callable[[Any], Rows], change: str, flip: Callable) -> Path:
    """Change, or lose, the first of the rows in a file."""
    whole = json.loads(path.read_text())
    changed(rows(whole), change, flip)
    path.write_text(json.dumps(whole))
    return path


def jsonl_file(path: Path, change: str, flip: Callable, at: int = 0) -> Path:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    part = rows[at:]
    changed(part, change, flip)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[:at] + part))
    return path


def changed(rows: Rows, change: str, flip: Callable[[dict[str, Any]], Any]) -> None:
    if change == "lost":
        del rows[0]
    elif change:
        flip(rows[0])


def inspect(folder: Path, change: str, suffix: str = ".json") -> Path:
    whole = inspect_logs.log(OUTCOMES)
    (name,) = whole["samples"][0]["scores"]
    metrics = {"accuracy": {"name": "accuracy", "value": MEAN}}
    whole["results"]["scores"] = [{"name": name, "scorer": name, "metrics": metrics}]
    changed(whole["samples"], change, lambda s: s["scores"][name].update(value="I"))
    return inspect_logs.write(folder / f"log{suffix}", whole)


def tau_bench(folder: Path, change: str) -> Path:
    path = agent_logs.tau_bench(folder / "log.json", OUTCOMES)
    return json_file(path, lambda whole: whole, change, lambda row: row.update(reward=0.0))


def tau2_bench(folder: Path, change: str) -> Path:
    path = agent_logs.tau2_bench(folder / "log", OUTCOMES)
    one = next((path / "simulations").glob("*.json"))
    if change == "lost":
        one.unlink()
    elif change:
        simulation = json.loads(one.read_text())
        simulation["reward_info"]["reward"] = 1 - simulation["reward_info"]["reward"]
        one.write_text(json.dumps(simulation))
    return path


def terminal_bench(folder: Path, change: str) -> Path:
    path = agent_logs.terminal_bench(folder / "log", OUTCOMES, single=False)
    flip = lambda row: row.update(is_resolved=False)  # noqa: E731
    json_file(path / "results.json", lambda whole: whole["results"], change, flip)
    return path


def harbor(folder: Path, change: str) -> Path:
    path = agent_logs.harbor(folder / "log", OUTCOMES)
    (one,) = path.glob("t0__z*/result.json")
    if change == "lost":
        one.unlink()
    elif change:
        trial = json.loads(one.read_text())
        trial["verifier_result"]["rewards"]["reward"] = 0.0
        one.write_text(json.dumps(trial))
    return path


def lm_eval(folder: Path, change: str) -> Path:
    path = lm_eval_logs.write(folder, FIRST)
    return jsonl_file(path, change, lambda row: row.update(acc=0.0))


def swebench(folder: Path, change: str) -> Path:
    (path,) = swebench_logs.write_runs(folder, [[y] for y in FIRST], ids=list("abcde"))
    whole = json.loads(path.read_text())
    one = whole["resolved_ids"].pop() if change else ""
    whole["unresolved_ids"] += [one] if change == "changed" else []
    path.write_text(json.dumps(whole))
    return path


def evalplus(folder: Path, change: str) -> Path:
    path = evalplus_logs.write(folder / "m_eval_results.json", OUTCOMES)
    rows = lambda whole: whole["eval"]["HumanEval/0"]  # noqa: E731
    return json_file(path, rows, change, lambda row: row.update(base_status="fail"))


def promptfoo(folder: Path, change: str) -> Path:
    path = promptfoo_logs.write(folder / "log.json", {("m", "p"): OUTCOMES})
    rows = lambda whole: whole["results"]["results"]  # noqa: E731
    return json_file(path, rows, change, lambda row: row.update(success=not row["success"]))


def openai_evals(folder: Path, change: str) -> Path:
    path = openai_evals_logs.write(folder / "log.jsonl", FIRST)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    at = next(i for i, row in enumerate(rows) if row.get("data", {}).get("correct"))
    return jsonl_file(path, change, lambda row: row["data"].update(correct=False), at)


def eee(folder: Path, change: str) -> Path:
    lines = eee_logs.rows(OUTCOMES)
    about = eee_logs.evaluation(MEAN, n_rows=len(lines))
    changed(lines, change, lambda row: row["evaluation"].update(score=0.0))
    return eee_logs.write(folder, lines, about)


WRITERS = {
    writer.__name__: writer
    for writer in (inspect, tau_bench, tau2_bench, terminal_bench, harbor, lm_eval, swebench,
                   evalplus, promptfoo, openai_evals, eee)
}  # fmt: skip
#: tau-bench states no totals but each reward twice.
NO_TOTALS = {("tau_bench", "lost")}


def told(path: Path) -> tuple[list[str], set[str]]:
    try:
        notices = load(path).notices
    except RepevalError as error:
        return [error.text], {error.code}
    return [n.text for n in notices if n.code == "totals-differ"], {n.code for n in notices}


def test_all_readers_are_here():
    assert set(WRITERS) == set(READERS)


@pytest.mark.parametrize("name", WRITERS)
def test_a_whole_log_agrees_with_itself(tmp_path, name):
    assert told(WRITERS[name](tmp_path, ""))[0] == []


@pytest.mark.parametrize("change", ["changed", "lost"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_run_that_was_changed_or_lost_is_told(tmp_path, name, change):
    path = WRITERS[name](tmp_path, change)
    if (name, change) not in NO_TOTALS:
        assert told(path)[0]
    elif change == "lost":
        data = load(path)
        assert data.missing_runs(*data.systems[0]) == 1


@pytest.mark.parametrize("change", ["", "changed", "lost"])
def test_an_archive_is_held_against_its_header(tmp_path, change):
    assert bool(told(inspect(tmp_path, change, ".eval"))[0]) == bool(change)


def test_a_log_on_one_line_is_read(tmp_path):
    path = inspect(tmp_path, "")
    expected = load(path).counts()
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert len(path.read_text().splitlines()) == 1
    assert load(path).counts().equals(expected)


def test_samples_of_another_evaluation_are_told_by_their_checksum(tmp_path):
    about = eee_logs.evaluation(MEAN)
    about["detailed_evaluation_results"] |= {"hash_algorithm": "sha256", "checksum": "0" * 64}
    (text,) = told(eee_logs.write(tmp_path, eee_logs.rows(OUTCOMES), about))[0]
    assert "its checksum is another" in text


@pytest.mark.parametrize(
    "write", [inspect, tau_bench, promptfoo, evalplus], ids=lambda write: write.__name__
)
def test_an_object_that_has_a_key_twice_is_refused(tmp_path, write):
    path = write(tmp_path, "")
    text = path.read_text()
    key = {inspect: '"epoch"', tau_bench: '"reward"', promptfoo: '"success"',
           evalplus: '"base_status"'}[write]  # fmt: skip
    path.write_text(text.replace(key, f"{key}: 1, {key}", 1))
    texts, codes = told(path)
    assert codes == {"unreadable-log"}
    assert "twice" in texts[0]


class TestFaults:
    """Logs that lost rows, in which their own totals show it."""

    def test_they_say_so(self, shared):
        faults = shared / "field/faults"
        for name, options in (
            ("lm", {"scorer": "exact_match/first"}), ("inspect_cut.json", {"scorer": "exact"}),
        ):  # fmt: skip
            codes = {n.code for n in load(faults / name, **options).notices}
            assert "totals-differ" in codes
        whole = load(faults / "inspect_compact.json", scorer="exact")
        assert "totals-differ" not in {n.code for n in whole.notices}
        assert "totals-differ" not in {n.code for n in load(faults / "tb").notices}

    def test_a_cut_result_of_an_invocation(self, shared, tmp_path):
        run = shared / "field/faults/tb/r1"
        (tmp_path / "r1").mkdir()
        for path in run.glob("*.json"):
            (tmp_path / "r1" / path.name).write_text(path.read_text())
        json_file(tmp_path / "r1/results.json", lambda whole: whole["results"], "lost", lambda _: 0)
        assert told(tmp_path)[0]
