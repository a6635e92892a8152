"""What is missing: only runs that were planned and not judged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repeval import analyze, load
from repeval.io.rules.planned import lacks_of, planned
from repeval.io.rules.runs import Runs
from tests.io.engines.doors import everything_is_large

SEED = 2606


def table(path, runs, label=lambda i, r: r, keep=lambda i, r: True):
    rng = np.random.default_rng(SEED)
    rows = [
        {"model": "m", "problem": i, "run": label(i, r), "outcome": int(rng.integers(2))}
        for i, n in enumerate(runs) for r in range(n) if keep(i, r)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_planned_is_what_all_but_one_or_nine_in_ten_have():
    assert planned(np.array([0, 1, 2, 3]), 3).tolist() == [False, False, True, True]
    assert planned(np.array([89, 90, 99, 100]), 100).tolist() == [False, True, True, True]


def test_unequal_runs_by_design_are_not_missing(shared):
    path = shared / "field/14_per_input_trial_count.csv"
    frame = pd.read_csv(path).groupby("problem")["score"]
    data = load(path)
    (row,) = analyze(data, n_resamples=50).systems
    assert row.mean == pytest.approx(frame.mean().mean())
    assert row.within == pytest.approx(frame.var().mean())
    assert (round(100 * row.mean, 1), round(row.within, 4)) == (70.4, 0.0407)
    assert row.missing_bounds is None
    assert "missing-runs" not in {n.code for n in analyze(data, n_resamples=50).notices}
    for rule in ("drop-problem", "fail", "error"):
        pd.testing.assert_frame_equal(load(path, missing=rule).frame, data.frame)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(2, 6), min_size=20, max_size=40), st.booleans())
def test_only_labels_that_nearly_all_have_are_missed(tmp_path_factory, runs, shared_labels):
    """Labels of their own, as ids are, count by position: either way the same is missing."""
    label = (lambda i, r: r) if shared_labels else (lambda i, r: f"id-{i}-{r}")
    path = table(tmp_path_factory.mktemp("planned") / "a.csv", runs, label)
    have = np.array([sum(n > r for n in runs) for r in range(6)])
    wanted = [r for r in range(6) if have[r] >= min(0.9 * len(runs), len(runs) - 1)]
    lacks = [sum(n <= r for r in wanted) for n in runs]
    data = load(path)
    assert data.lacking("m", "default").tolist() == lacks
    assert data.missing_runs("m", "default") == sum(lacks)


def test_a_lost_row_an_error_and_an_absent_problem_are_missing(tmp_path):
    path = table(tmp_path / "a.csv", [3] * 30, keep=lambda i, r: (i, r) != (4, 1))
    frame = pd.read_csv(path).assign(status="")
    frame.loc[0, ["outcome", "status"]] = None, "error"
    other = frame[frame["problem"] > 28].assign(model="n")
    pd.concat([frame, other]).to_csv(path, index=False)
    data = load(path)
    assert np.flatnonzero(data.lacking("m", "default")).tolist() == [0, 4]
    # Of the other model's one problem there are three runs, so of all others there could be.
    assert data.missing_runs("n", "default") == 29 * 3
    low, high = data.missing_bounds("m", "default")
    assert high - low == pytest.approx(2 / 90)


def test_two_problems_whose_runs_have_ids_of_their_own():
    lacks = lacks_of(Runs(("m", "c"), np.array([0, 0, 9, 9]), np.arange(4), np.ones(4)))
    assert lacks.problems.tolist() == [0, 9]
    assert lacks.short.tolist() == [0, 0]
    assert lacks.along(lacks.short, 11).tolist() == [0, *[2] * 8, 0, 2]
    assert lacks.total(11) == 2 * 9


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=10, max_size=30), st.booleans())
def test_large_tables_miss_the_same(tmp_path_factory, runs, gap):
    keep = (lambda i, r: (i, r) != (1, 0) or runs[1] == 1) if gap else (lambda i, r: True)
    path = table(tmp_path_factory.mktemp("large") / "a.csv", runs, keep=keep)
    whole = load(path)
    with everything_is_large():
        streamed = load(path)
    assert not len(streamed.frame)
    assert streamed.lacking("m", "default").tolist() == whole.lacking("m", "default").tolist()
    assert streamed.missing_bounds("m", "default") == whole.missing_bounds("m", "default")
