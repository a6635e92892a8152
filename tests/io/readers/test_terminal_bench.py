"""Terminal-Bench: invocations and trials, attempts and repeats, verdicts and how runs ended."""

from __future__ import annotations

import shutil

import pytest

from repeval import load

from .agent_logs import dump, terminal_bench
from .asked import TENSOR, codes, outcomes_of, refusal, text_of

IDS = [f"t{i}" for i in range(12)]
NAME = "2026-01-01__00-00-00"


@pytest.mark.parametrize("options", [{}, {"whole": False}, {"single": False}])
def test_round_trip(tmp_path, options):
    path = terminal_bench(tmp_path / NAME, TENSOR, meta={}, **options)
    for given in (path, tmp_path):
        data = load(given)
        assert outcomes_of(data, "terminus/m", IDS) == TENSOR
        assert set(data.frame["run"]) == {"1", "2", "3"}
        assert text_of(data, "logs-read") == "1 Terminal-Bench run: scorer resolved; 1 model."


def test_the_file_of_an_invocation_suffices(tmp_path):
    path = terminal_bench(tmp_path / NAME, TENSOR) / "results.json"
    assert outcomes_of(load(path), NAME, IDS) == TENSOR
    assert outcomes_of(load(path.rename(tmp_path / "gpt-5.json")), "gpt-5", IDS) == TENSOR


def test_a_trial_alone_is_no_log(tmp_path):
    path = terminal_bench(tmp_path / NAME, TENSOR)
    error = refusal(next(path.glob("*/*/results.json")))
    assert error.code == "unknown-format"
    assert "Terminal-Bench runs" in error.text


def test_trials_that_were_not_summed_up_are_read(tmp_path):
    path = terminal_bench(tmp_path / NAME, TENSOR, meta={"end_time": None})
    half = terminal_bench(tmp_path / "half", TENSOR[:6]) / "results.json"
    shutil.copy(half, path / "results.json")
    # The names of these trials are not those of the others: what counts is that all are there.
    shutil.rmtree(tmp_path / "half")
    (path / "results.json").write_text(
        (path / "results.json").read_text().replace(".half", f".{NAME}")
    )
    data = load(tmp_path)
    assert outcomes_of(data, "terminus/m", IDS) == TENSOR
    assert "unfinished after 36 runs" in text_of(data, "log-unfinished")


def test_separate_invocations_are_runs(tmp_path):
    columns = [[[row[r]] for row in TENSOR] for r in range(3)]
    for r, column in enumerate(columns):
        # By name they are in another order than by time.
        terminal_bench(tmp_path / "zyx"[r], column, meta={"start_time": f"2026-01-0{r + 1}"})
    data = load(tmp_path)
    assert outcomes_of(data, "terminus/m", IDS) == TENSOR
    assert set(data.frame["run"]) == {"1.1", "2.1", "3.1"}
    assert "runs-numbered" in codes(data)


def test_invocations_that_name_no_model_are_not_taken_for_runs_of_one(tmp_path):
    columns = [[[row[r]] for row in TENSOR] for r in range(3)]
    paths = [terminal_bench(tmp_path / "abc"[r], column) for r, column in enumerate(columns)]
    assert load(tmp_path).models == ("a", "b", "c")
    for given in ([f"m={path}" for path in paths], f"m={tmp_path}"):
        assert outcomes_of(load(given), ids=IDS) == TENSOR


def test_other_agents_are_other_systems(tmp_path):
    for agent in ("a", "b"):
        terminal_bench(tmp_path / agent, TENSOR, meta={"agent_name": agent})
    assert load(tmp_path).models == ("a/m", "b/m")


def test_copies_of_an_invocation_count_once(tmp_path):
    path = terminal_bench(tmp_path / NAME, TENSOR, meta={})
    shutil.copytree(path, tmp_path / "copy")
    data = load(tmp_path)
    assert outcomes_of(data, "terminus/m", IDS) == TENSOR
    assert "copies-dropped" in codes(data)


def test_verdicts_count_and_how_a_run_ended_does_not(tmp_path):
    more = {
        (0, 0): {"is_resolved": True, "failure_mode": "agent_timeout"},
        (0, 1): {"is_resolved": None, "failure_mode": "parse_error"},
        (1, 0): {"is_resolved": None, "failure_mode": "unset"},
        (1, 1): {"is_resolved": False, "failure_mode": "agent_timeout"},
    }
    path = terminal_bench(tmp_path / "m", [[1, 1], [0, 0], [1, 1]], more)
    data = load(path)
    assert outcomes_of(data, ids=IDS[:3]) == [[1, None], [None, 0], [1, 1]]
    assert len(data.errored) == 2
    # tb's own accuracy counts what has no verdict as failed.
    failed = load(path, errors="fail")
    assert outcomes_of(failed, ids=IDS[:3]) == [[1, 0], [0, 0], [1, 1]]


def test_other_results_are_none(tmp_path):
    dump(tmp_path / "a" / "results.json", {"results": []})
    (tmp_path / "b" / "results.json").mkdir(parents=True)
    assert refusal(tmp_path).code == "no-tables"
