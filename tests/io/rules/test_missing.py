"""Runs that went on until one passed, or failed: only the first ones are unbiased."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
import pytest

from repeval import analyze, load
from repeval.io.checks import checks
from tests.io.engines.doors import everything_is_large

SEED = 2606
N = 400


def stopped(at: int, label=lambda r, n: r) -> pd.DataFrame:
    """Problems with Beta(1/2, 1/2) rates, up to five runs, the last one the first that is `at`."""
    rng = np.random.default_rng(SEED)
    y = (rng.random((N, 5)) < rng.beta(0.5, 0.5, (N, 1))).astype(int)
    rows = []
    for i, runs in enumerate(y.tolist()):
        n = runs.index(at) + 1 if at in runs else 5
        rows += [
            {"model": "a", "problem": i, "run": label(r, n), "outcome": runs[r]} for r in range(n)
        ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("at", [1, 0])
def test_scores_are_from_first_runs_only(tmp_path, at):
    frame = stopped(at)
    frame.to_csv(tmp_path / "a.csv", index=False)
    data = load(tmp_path / "a.csv")
    biased = frame.groupby("problem")["outcome"].mean().mean()
    first = frame[frame["run"] == 0]["outcome"].mean()
    # The truth is 1/2; a first run's mean has standard error 1/40, the other is 0.1 off.
    assert abs(first - 0.5) < 3 / 40 < abs(biased - 0.5)
    (row,) = analyze(data, n_resamples=50).systems
    assert row.mean == first
    assert row.n_runs == 1
    assert row.within is None
    assert row.ceiling is None
    (text,) = [n.text for n in data.notices if n.code == "adaptive-stopping"]
    assert "first runs only" in text
    assert "not identified" in text
    # The data have more runs than one.
    assert "single-run" not in {n.code for n in (*data.notices, *checks(data))}


def test_other_systems_keep_their_runs(tmp_path):
    other = pd.DataFrame([
        {"model": "b", "problem": i, "run": r, "outcome": (i + r) % 2}
        for i in range(N) for r in range(3)
    ])  # fmt: skip
    pd.concat([stopped(1), other]).to_csv(tmp_path / "a.csv", index=False)
    data = load(tmp_path / "a.csv")
    assert (data.system("a", "default").runs == 1).all()
    assert (data.system("b", "default").runs == 3).all()
    assert data.missing_runs("a", "default") == 0


def test_without_an_order_of_runs_it_is_only_said(tmp_path):
    stopped(1, label=lambda r, n: n - r).to_csv(tmp_path / "a.csv", index=False)
    data = load(tmp_path / "a.csv")
    assert data.system("a", "default").runs.max() == 5
    (text,) = [n.text for n in checks(data) if n.code == "adaptive-stopping"]
    assert "were runs stopped" in text


def test_whole_data_are_left_alone(tmp_path):
    rng = np.random.default_rng(SEED)
    y = (rng.random((40, 3)) < 0.5).astype(int)
    rows = [{"problem": i, "run": r, "outcome": y[i, r]} for i in range(40) for r in range(3)]
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    data = load(tmp_path / "a.csv")
    assert (data.system("a", "default").runs == 3).all()
    assert "adaptive-stopping" not in {n.code for n in (*data.notices, *checks(data))}


def test_what_a_rule_left_out_comes_with_the_outcomes(tmp_path):
    rows = [
        {"model": m, "problem": f"q{i:02d}", "family": "xyz"[i // 4], "run": r, "outcome": r % 2}
        for m in "ab" for i in range(12) for r in range(2)
    ]  # fmt: skip
    for row in rows:
        # Model b lacks a run of two problems of x, and of all of z.
        lost = row["model"] == "b" and row["run"] and not "q02" <= row["problem"] < "q08"
        row |= {"outcome": "", "status": "timeout"} if lost else {"status": ""}
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    assert load(tmp_path / "a.csv").before is None
    data = load(tmp_path / "a.csv", missing="drop-problem")
    assert (len(data.problems), len(data.before.problems)) == (6, 12)
    assert data.before.policy.missing == "keep"
    assert len(data.before.frame) == len(rows) - 6
    parts = data.split_by("family")
    assert {v: len(part.problems) for v, part in parts.items()} == {"x": 2, "y": 4}
    assert {v: len(part.before.problems) for v, part in parts.items()} == {"x": 4, "y": 4}
    chosen = data.select(models=["b"])
    assert len(chosen.before.frame) == 24 - 6
    filled = load(tmp_path / "a.csv", missing="fail")
    assert len(filled.frame) == 48
    assert len(filled.before.frame) == len(rows) - 6


def read_back(tmp_path, runs: list[list[int]]):
    rows = [
        {"problem": i, "run": r, "outcome": value}
        for i, found in enumerate(runs) for r, value in enumerate(found)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    return load(tmp_path / "a.csv")


@pytest.mark.parametrize("stored", [True, False])
def test_runs_that_stopped_at_a_difference(tmp_path, stored):
    """Run noise would come out at 0 where differences are not stored, and too high where they are.

    Of p ~ Beta(1/2, 1/2) the run noise is 1/8.
    """
    rng = np.random.default_rng(SEED)
    y = (rng.random((N, 6)) < rng.beta(0.5, 0.5, (N, 1))).astype(int).tolist()
    ends = [next((r for r in range(6) if runs[r] != runs[0]), 6) for runs in y]
    data = read_back(tmp_path, [runs[: n + stored] for runs, n in zip(y, ends, strict=True)])
    (row,) = analyze(data, n_resamples=50).systems
    assert (row.within, row.ceiling, row.missing_bounds) == (None, None, None)
    assert row.mean == np.mean([runs[0] for runs in y])
    (text,) = [n.text for n in data.notices if n.code == "adaptive-stopping"]
    assert ("until one differed" if stored else "only while they agreed") in text


def test_greedy_runs_of_which_some_are_lost_are_not_taken_for_stopped(tmp_path):
    rng = np.random.default_rng(SEED)
    rows = [
        {"problem": i, "run": r, "outcome": i % 2}
        for i in range(80) for r in range(6) if r == 0 or rng.random() < 0.7
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "a.csv", index=False)
    data = load(tmp_path / "a.csv")
    assert "adaptive-stopping" not in {n.code for n in data.notices}
    assert data.system("a", "default").runs.max() > 4


def test_unequal_runs_by_design_are_not_taken_for_stopped(tmp_path):
    # 30 problems of two levels and 2 to 5 runs: ten that all end in a difference by chance are
    # rarer than 2^-10, a table, of 200.
    rng = np.random.default_rng(SEED)
    for _ in range(200):
        runs = [
            (rng.random(rng.integers(2, 6)) < rng.beta(0.5, 0.5)).astype(int).tolist()
            for _ in range(30)
        ]
        assert "adaptive-stopping" not in {n.code for n in read_back(tmp_path, runs).notices}


@pytest.mark.parametrize("rule", [None, "fail", "drop-problem", "error"])
def test_stopped_runs_lack_none(tmp_path, rule):
    stopped(1).to_csv(tmp_path / "a.csv", index=False)
    data = load(tmp_path / "a.csv", missing=rule)
    assert (data.system("a", "default").runs == 1).all()
    assert len(data.problems) == N
    assert data.before is None


@pytest.mark.parametrize(
    ("name", "column", "scores"),
    [("36_stop_on_pass_rows", "passed", (0.55, 0.625)),
     ("37_stop_at_disagreement_not_stored", "outcome", None)],
)  # fmt: skip
def test_field_files_whose_runs_stopped(shared, name, column, scores):
    path = shared / f"field/{name}.csv"
    frame = pd.read_csv(path)
    first = frame.groupby(["model", frame.columns[1]])[column].first().groupby("model").mean()
    rows = analyze(load(path), n_resamples=50).systems
    assert [row.mean for row in rows] == pytest.approx(first.tolist())
    assert scores is None or first.tolist() == pytest.approx(scores)
    for row in rows:
        nothing = row.within, row.icc, row.ceiling, row.ceiling_interval, row.missing_bounds
        assert nothing == (None,) * 5


@pytest.mark.parametrize(("cut", "is_rule"), [(0, True), (1, True), (20, True), (60, False)])
@pytest.mark.parametrize("large", [False, True])
def test_a_few_problems_that_were_cut_off_hide_no_stopping(tmp_path, cut, is_rule, large):
    """A try that is lost at the end of a problem must not raise scores: 44 instead of 30 %."""
    rng = np.random.default_rng(SEED)
    tries = [(rng.random(5) < p).astype(int).tolist() for p in rng.beta(0.5, 1, 400)]
    runs = [some[: some.index(1) + 1] if 1 in some else some for some in tries]
    hard = [i for i, some in enumerate(runs) if 1 not in some][:cut]
    for i in hard:
        runs[i] = runs[i][:3]
    with everything_is_large() if large else contextlib.nullcontext():
        data = read_back(tmp_path, runs)
    found = analyze(data, n_resamples=50)
    (text,) = [n.text for n in found.notices if n.code == "adaptive-stopping"]
    assert ("until one passed" in text) == is_rule
    (row,) = found.systems
    first = np.mean([some[0] for some in runs])
    assert (row.mean == pytest.approx(first)) == is_rule
