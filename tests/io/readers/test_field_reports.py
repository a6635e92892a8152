"""Faults that users of other tools reported in public: each must be impossible here.

Those about books are held by other tests, too: parameters by
``tests/companion/book/test_build.py::test_parameters_are_exactly_the_four``.
"""

from __future__ import annotations

import json
import math
import shutil

import numpy as np
import pytest

from repeval import analyze, load
from repeval.cli import main
from repeval.stats import betabinomial

from .agent_logs import tau2_bench, tau_bench
from .asked import SEED, TENSOR, codes, outcomes_of, refusal, text_of
from .evalplus_logs import write as evalplus
from .inspect_logs import ZSTANDARD, log, write
from .lm_eval_logs import write as lm_eval
from .lm_eval_logs import write_runs
from .promptfoo_logs import write as promptfoo
from .swebench_logs import write_runs as swebench


def test_inspect_ai_1118_1113_both_bootstraps_are_named_and_their_gap_is_stated(tmp_path):
    """Whether run noise is counted twice: VC Appendix D, in ICC and R instead of variances."""
    outcomes = np.random.default_rng(SEED).binomial(1, np.linspace(0.1, 0.9, 40)[:, None], (40, 3))
    found = analyze(load(write(tmp_path / "a.eval", log(outcomes.tolist()))))
    (system,) = found.systems
    one, two = (system.intervals[name] for name in ("one_level", "two_level"))
    assert two[0] < one[0] < one[1] < two[1]
    share = (1 - system.icc) / (1 - system.icc + 3 * system.icc)
    assert math.isclose(system.two_level_inflation, math.sqrt(1 + (1 - 1 / 3) * share) - 1)


def test_inspect_ai_3707_2914_errors_leave_no_denominator_unseen(tmp_path):
    """Of 100 samples 80 are right and 10 errored: 80/90 and 80/100 are both said."""
    whole = log([[1]] * 80 + [[0]] * 20, errors=[(i, 0) for i in range(90, 100)])
    path = write(tmp_path / "a.eval", whole)
    assert "m 88.9 % (80.0 % if failed)" in text_of(load(path), "errored-rows")
    failed = text_of(load(path, errors="fail"), "errored-rows")
    assert "m 80.0 % (88.9 % without them)" in failed


def test_inspect_ai_4412_4485_a_score_beside_an_error_counts(tmp_path):
    whole = log(TENSOR)
    whole["samples"][0]["error"] = {"message": "late"}
    data = load(write(tmp_path / "a.eval", whole))
    assert outcomes_of(data) == TENSOR
    assert text_of(data, "score-with-error").startswith("1 rows")


def test_inspect_ai_3145_zstandard_is_read(tmp_path):
    """Where nothing can read it: test_inspect, the way out is named."""
    pytest.importorskip("pyarrow")
    path = write(tmp_path / "a.eval", log(TENSOR), method=ZSTANDARD)
    assert outcomes_of(load(path)) == TENSOR


def test_tau2_bench_82_a_trial_without_a_reward_is_a_policy_and_no_zero(tmp_path):
    early = {(0, 0): {"termination_reason": "too_many_errors", "reward_info": None}}
    path = tau2_bench(tmp_path / "m.json", [[1, 1], [0, 1]], early)
    assert outcomes_of(load(path), ids=range(2)) == [[None, 1], [0, 1]]
    assert outcomes_of(load(path, errors="fail"), ids=range(2)) == [[0, 1], [0, 1]]


def test_stella_1054_invalid_trials_show_both_denominators(tmp_path):
    """238 of 405 valid trials, of 445 in all."""
    invalid = {(i, 0): {"reward_info": None} for i in range(405, 445)}
    path = tau2_bench(tmp_path / "m.json", [[int(i < 238)] for i in range(445)], invalid)
    assert "m 58.8 % (53.5 % if failed)" in text_of(load(path), "errored-rows")


def test_tau_bench_57_one_command_prints_icc_flips_and_which_are_told_apart(tmp_path, capsys):
    rng, rates = np.random.default_rng(SEED), np.linspace(0.0, 0.6, 50)[:, None]
    runs = {name: rng.binomial(1, rates + up, (50, 4)) for name, up in (("a", 0.3), ("b", 0.1))}
    for name, outcomes in runs.items():
        tau_bench(tmp_path / "runs" / f"{name}.json", outcomes.tolist())
    pair = ["--baseline", "a", "--candidate", "b", "--components"]
    assert main(["analyze", str(tmp_path / "runs"), *pair]) == 0
    answer = capsys.readouterr().out
    a, b = (outcomes.mean(axis=1) for outcomes in runs.values())
    assert f"scored lower: {(b < a).sum()}, higher: {(b > a).sum()} (run noise alone" in answer
    for rate in (a, b):
        within = (rate * (1 - rate)).mean() * 4 / 3
        between = rate.var(ddof=1) - within / 4
        assert f"{between / (within + between):.4f}" in answer
    assert "ARE THE TWO TOLD APART?" in answer


def test_lm_evaluation_harness_1232_3080_repeats_are_one_run(tmp_path, capsys):
    """Three repeats, one score: no second run is made up, and what would be one is said."""
    path = lm_eval(tmp_path / "m", [1, 0, 1], repeats=3, config={"repeats": 3})
    data = load(path)
    assert outcomes_of(data, "org/m", range(3)) == [[1], [0], [1]]
    assert main(["analyze", str(path)]) == 0
    answer = " ".join(capsys.readouterr().out.split())
    assert "Of 3 repeats the harness made one score of each problem: this is one run." in answer
    assert "Runs are invocations of their own, each with another --seed." in answer


def test_lm_evaluation_harness_1687_filters_are_neither_problems_nor_runs(tmp_path):
    filters = {"strict": {"exact_match": float}, "flexible": {"exact_match": lambda y: 1.0}}
    path = lm_eval(tmp_path / "m", [1, 0, 1], filters=filters)
    assert "--scorer exact_match/flexible or --scorer exact_match/strict" in refusal(path).text
    for name, expected in (("strict", [[1], [0], [1]]), ("flexible", [[1], [1], [1]])):
        data = load(path, scorer=f"exact_match,{name}")
        assert outcomes_of(data, "org/m", range(3)) == expected
    # The version of the report did not say which line is of which filter.
    path = lm_eval(tmp_path / "old", [1, 0, 1], filters=filters, older=True)
    error = refusal(path)
    assert error.code == "filters-unnamed"
    assert path.name in error.text


def test_lm_evaluation_harness_1918_files_pile_up_as_runs_in_time_and_copies_are_seen(tmp_path):
    write_runs(tmp_path / "m", TENSOR)
    data = load(tmp_path / "m")
    assert outcomes_of(data, "org/m", range(12)) == TENSOR
    assert not {"identical-logs", "identical-runs"} & codes(data)
    # The default seed gives the same answers again, and so does a file that was put there twice.
    again = lm_eval(tmp_path / "m", [row[0] for row in TENSOR], time="2026-12-01T00-00-00.0")
    data = load(tmp_path / "m")
    assert outcomes_of(data, "org/m", range(12)) == [[*row, row[0]] for row in TENSOR]
    assert again.name in text_of(data, "identical-logs")
    for r in range(3):
        lm_eval(tmp_path / "n", [row[0] for row in TENSOR], time=f"2026-12-0{r + 1}T00-00-00.0")
    assert {"identical-logs", "identical-runs"} <= codes(analyze(load(tmp_path / "n")))


def test_evalplus_24_a_part_of_the_problems_is_counted_as_one(tmp_path):
    rng = np.random.default_rng(SEED)
    for name, problems in (("all", 164), ("part", 19)):
        outcomes = rng.integers(0, 2, (problems, 2)).tolist()
        evalplus(tmp_path / f"{name}_eval_results.json", outcomes)
    found = analyze(load(tmp_path))
    assert [(s.model, s.n_problems) for s in found.systems] == [("all", 164), ("part", 19)]
    assert [pair.n_problems for pair in found.pairs] == [19]


def test_evalplus_158_several_programs_in_one_line_are_no_failure(tmp_path):
    """They were run as one text, which failed: the score says nothing."""
    path = evalplus(tmp_path / "m_eval_results.json", [[0], [0]])
    whole = json.loads(path.read_text())
    whole["eval"]["HumanEval/1"][0]["solution"] = ["def f(): ...", "def g(): ..."]
    path.write_text(json.dumps(whole))
    error = refusal(path)
    assert error.code == "several-in-one"
    assert "HumanEval/1" in error.text
    assert "a line for each program" in error.text
    # A list for each problem is what several samples give.
    path = evalplus(tmp_path / "m_eval_results.json", [[0, 1], [1, 1]])
    assert outcomes_of(load(path), ids=["HumanEval/0", "HumanEval/1"]) == [[0, 1], [1, 1]]


def test_kernelbench_33_silent_gaps_are_counted_and_shown(tmp_path, capsys):
    """994 of 1,000 samples; no estimate of pass@10 may take the six for failures."""
    outcomes = np.random.default_rng(SEED).integers(0, 2, (100, 10)).tolist()
    for i in range(6):
        outcomes[i].pop()
    path = evalplus(tmp_path / "m_eval_results.json", outcomes)
    assert main(["analyze", str(path), "--all"]) == 0
    assert "6 of 1,000 runs are missing" in " ".join(capsys.readouterr().out.split())
    (system,) = analyze(load(path)).systems
    assert system.runs_range == (9, 10)
    assert system.mean == pytest.approx(np.mean([np.mean(row) for row in outcomes]))
    low, high = system.missing_bounds
    assert high - low == pytest.approx(6 / 1000)


def test_promptfoo_5947_all_runs_are_counted_by_test_not_from_the_pooled_rate(tmp_path, capsys):
    """Nine tests pass always and one never: 9 in 10 pass on all of 3 runs, not 0.9^3."""
    outcomes = [[1, 1, 1]] * 9 + [[0, 0, 0]]
    path = promptfoo(tmp_path / "out.json", {("m", "p"): outcomes})
    (system,) = analyze(load(path)).systems
    assert system.retry_free == pytest.approx(0.9)
    # One rate for all tests would give the least share, and is shown as that only.
    assert betabinomial.expected_power(system.mean, 0.0, 3) == pytest.approx(0.9**3)
    assert main(["analyze", str(path)]) == 0
    (row,) = (x.split() for x in capsys.readouterr().out.splitlines() if x.startswith("  m "))
    assert (row[0], row[1], row[-1]) == ("m", "90.0", "9")


def test_swe_bench_621_one_command_says_who_is_told_apart(tmp_path, capsys):
    """One run of 500 instances: the leaders are close, and the last is far below them."""
    rng = np.random.default_rng(SEED)
    hard = rng.random(500)
    ids = [f"repo__{i}" for i in range(500)]
    for name, rate in (*((f"m{i}", 0.79 - i / 300) for i in range(8)), ("last", 0.5)):
        solved = hard + rng.normal(0, 0.2, 500) < rate
        swebench(tmp_path / "reports", solved[:, None].astype(int).tolist(), ids=ids, model=name)
    assert main(["analyze", str(tmp_path / "reports"), "--all"]) == 0
    answer = " ".join(capsys.readouterr().out.split())
    assert "8 pairs of neighbours" in answer
    assert "new ones like them 1 apart, 7 not On new problems: m3 above last." in answer


@pytest.fixture
def executed(tmp_path, monkeypatch):
    """Execute a page and say which were; only the running itself is left out."""
    module = pytest.importorskip("repeval.companion.book.execute")
    pytest.importorskip("papermill")
    ran = []
    monkeypatch.setattr(module, "run_page", lambda page, *_: ran.append(page) or "{}")

    def execute(inputs, libraries="1"):
        monkeypatch.setattr(module.importlib.metadata, "version", lambda _: libraries)
        ran.clear()
        root = tmp_path / "_build" / "mine" / "stage-1"
        module.execute({"notebooks/a": "# A"}, root, {"seed": 1}, inputs, 1)
        shutil.rmtree(root)
        return list(ran)

    return execute


def test_jupyter_book_1633_mystmd_1971_other_data_or_libraries_run_a_page_again(executed):
    assert [executed(*key) for key in (["x"], ["x"], ["y"], ["x"], ["x", "2"], ["x", "2"])] == [
        ["notebooks/a"], [], ["notebooks/a"], [], ["notebooks/a"], []
    ]  # fmt: skip


def test_jupyter_book_795_705_a_page_reads_its_data_wherever_the_folder_lies(tmp_path, monkeypatch):
    """A path is one from the folder where all pages run: no page needs to know where it lies."""
    pytest.importorskip("myst_nb")
    from repeval.companion.book import notebook
    from repeval.companion.book.data import save_data

    save_data(load(write(tmp_path / "a.eval", log(TENSOR))), tmp_path / "1" / "data" / "a.csv", {})
    shutil.copytree(tmp_path / "1", tmp_path / "deeper" / "2")
    for folder in ("1", "deeper/2"):
        monkeypatch.chdir(tmp_path / folder)
        book = notebook.open("data/a.csv", "a", "quick", SEED)
        assert outcomes_of(book.outcomes) == TENSOR


@pytest.mark.parametrize(("tags", "said"), [("parameters", "data, named"), ("other", "missing")])
def test_papermill_245_667_jupyter_book_424_a_mistyped_or_untagged_parameter_is_refused(
    tmp_path, monkeypatch, tags, said
):
    """Papermill alone would go on with the defaults."""
    pytest.importorskip("papermill")
    from repeval.companion.book import execute

    monkeypatch.setattr(execute.signal, "signal", lambda *_: None)
    kernel = "kernelspec:\n  name: python3\n  display_name: P\n  language: python"
    cell = f'```{{code-cell}} python\n:tags: [{tags}]\ndata = ""\nnamed = ""\n```'
    request = {"source": f"---\n{kernel}\n---\n\n# A\n\n{cell}\n", "parameters": {"data": "x"}}
    (tmp_path / "request.json").write_text(json.dumps(request))
    execute.execute_here(tmp_path)
    problem = (tmp_path / "problem.txt").read_text()
    assert f"its parameters are {said}; a notebook declares exactly data, name, size" in problem
