"""Appendix E's study: against components, labelled runs drawn by hand, and the bands."""

import math

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval import ceiling_interval, components
from repeval.companion.studies import pilot

SEED = 2606
SIZE = {"pilots": (2, 3), "splits": 400, "draws": 3}


@pytest.fixture(scope="module")
def outcomes():
    return repeval.load()


def test_icc_is_that_of_the_components():
    k = np.random.default_rng(SEED).integers(0, 5, (6, 20), endpoint=True)
    k[0], k[1, :], k[2, ::2] = 5, 2, 3  # nothing varies; no difficulty spread
    expected = [components(row, 5).icc for row in k]
    assert math.isnan(expected[0])  # counts as 0, without a ceiling
    assert min(expected[1:]) < 0
    assert pilot.icc(k, 5) == pytest.approx([0, *expected[1:]], abs=1e-12)


def test_a_piece_for_each_clean_system(outcomes):
    tasks = pilot.tasks(outcomes, **SIZE)
    assert len(tasks) == 14
    for model, passes, runs in tasks:
        assert passes.tolist() == outcomes.system(model, "Detailed").passes.tolist()
        assert runs == 5


def test_pieces_do_not_depend_on_each_other(outcomes):
    """`rows` draws from its own generator only, so neither order nor processes matter."""
    first, second = pilot.tasks(outcomes, **SIZE)[:2]
    forth = [pilot.rows(t, SEED, **SIZE) for t in (first, second)]
    back = [pilot.rows(t, SEED, **SIZE) for t in (second, first)]
    pd.testing.assert_frame_equal(*(pd.DataFrame(r[0] + r[1]) for r in (forth, back[::-1])))


def test_all_runs_leave_none_unused_and_one_interval(outcomes):
    task = pilot.tasks(outcomes, **SIZE)[0]
    found = pd.DataFrame(pilot.rows(task, SEED, **SIZE)).set_index("runs")
    assert found.loc[5, "unused"].isna().all()
    assert found.loc[[2, 3], ["estimate", "unused", "all"]].notna().all(axis=None)
    assert found["width"].notna().groupby("runs").sum().to_dict() == {2: 3, 3: 3, 5: 1}
    whole = ceiling_interval(task[1], 5, kind="percentile")
    assert found.loc[5, "width"].iloc[0] == whole.high - whole.low
    assert found.loc[5, "undefined"].iloc[0] == whole.undefined


def by_hand(outcomes, model, used, reference, splits, rng):
    """Errors of the ceiling with single runs: shuffle each problem's, take the first."""
    k = outcomes.system(model, "Detailed").passes
    runs = (np.arange(5) < k[:, None]).astype(float)
    found = []
    for _ in range(splits):
        order = rng.permutation(99)
        y = rng.permuted(runs, axis=1)
        estimate = components(y[order[:50], :used]).ceiling
        first = used if reference == "unused" else 0
        found.append(abs(estimate - components(y[order[50:], first:]).ceiling))
    return np.array(found)


@pytest.mark.parametrize(("used", "reference"), [(2, "unused"), (3, "unused"), (5, "all")])
def test_errors_are_those_of_labelled_runs(outcomes, used, reference):
    model = "Claude Sonnet 4.5"  # its errors have no heavy tail
    task = next(t for t in pilot.tasks(outcomes, **SIZE) if t[0] == model)
    ours = pd.DataFrame(pilot.rows(task, SEED, **SIZE)).query("runs == @used")
    errors = (1 / ours["estimate"] - 1 / ours[reference]).abs()
    other = by_hand(outcomes, model, used, reference, 400, np.random.default_rng(SEED))
    # Three standard errors of a difference of two means of 400.
    margin = 3 * math.hypot(errors.std(), other.std(ddof=1)) / 20
    assert errors.mean() == pytest.approx(other.mean(), abs=margin)
    assert margin < 0.2 * errors.mean()
