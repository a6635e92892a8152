"""What runs do to a width, by one level and by two: laws of one data set, and printed figures."""

import numpy as np
import pytest

import repeval
from repeval.companion.words.narrowing import condition_widths
from repeval.stats import exact
from repeval.stats.allocation import (
    inflation,
    large_sample_coverage,
    variance_factor,
    width_factor,
)
from repeval.stats.sample import from_counts
from tests.samples import SEED

# The ICC of a right answer in the post's model, from its specification.
POST = 0.02506505


@pytest.mark.parametrize(("passes", "runs"), [((10, 12, 10), 2), ((28, 36, 36, 28), 3)])
@pytest.mark.parametrize("levels", [1, 2])
def test_the_factors_are_the_variances_of_the_laws(passes, runs, levels):
    # How often each number of passes is, if half the problems have rate 1/4 and half 3/4: of one
    # run the variance is 1/4, and a quarter of it lies between problems.
    sample = from_counts(np.repeat(np.arange(runs + 1), passes), runs)
    law = exact.mean_law(sample, {1: "one_level", 2: "two_level"}[levels])
    x = (law.start + np.arange(law.pmf.size)) * law.step
    variance = law.pmf @ x**2 - (law.pmf @ x) ** 2
    expected = len(sample) * variance / (1 / 4)
    assert variance_factor(1 / 4, runs, levels) == pytest.approx(expected, rel=1e-10)


def test_printed_factors_and_floor():
    # BS, table of predicted factors, and its floor; unrounded in the list of disagreements.
    assert width_factor(POST, [2, 3, 5]) == pytest.approx([0.7159, 0.5916, 0.4691], abs=5e-5)
    assert width_factor(POST, 1e12) == pytest.approx(0.1583, abs=5e-5)


def test_printed_inflation_and_its_ends():
    # VC Table 6 at its three ICCs, and the post's hierarchical over cluster.
    assert inflation([0.764, 0.590, 0.961], 5) == pytest.approx([1.023, 1.048, 1.003], abs=5e-4)
    assert inflation(POST, [2, 3, 5]) ** 2 == pytest.approx(
        [1 + (1 - POST) * (k - 1) / k**2 / (POST + (1 - POST) / k) for k in (2, 3, 5)]
    )
    assert inflation([0, 0.3, 1], 1) == pytest.approx([1, 1, 1])
    assert inflation(1, [2, 7]) == pytest.approx([1, 1])
    assert inflation(0, [2, 10]) == pytest.approx(np.sqrt([1.5, 1.9]))


def test_coverage_of_what_is_too_wide():
    runs = np.array([2, 3, 5])
    single = 100 * large_sample_coverage(1 / width_factor(POST, runs))
    assert single == pytest.approx([99.4, 99.9, 100.0], abs=0.05)
    both = 100 * large_sample_coverage(inflation(POST, runs))
    assert both == pytest.approx([98.3, 98.7, 99.0], abs=0.05)
    assert large_sample_coverage(1, 0.9) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("icc", "runs", "told"),
    [(-0.1, 2, "take 0"), (1.1, 2, "icc"), (np.nan, 2, "icc"), (0.5, 0, "runs"), (1, np.nan, "ru")],
)
def test_refusals(icc, runs, told):
    with pytest.raises(ValueError, match=told):
        width_factor(icc, runs)


def paired(tidy, runs=(4,), n=40, same=False):
    """Outcomes of one model under two conditions, and its arrays; `runs` are taken in turn."""
    rng = np.random.default_rng(SEED)
    p = rng.beta(0.7, 0.7, n)
    y = {c: (rng.random((n, max(runs))) < p[:, None]).astype(int) for c in "ab"}
    if same:
        y["b"] = y["a"]
    rows = [
        {"model": "m", "condition": c, "problem": f"q{i:02d}", "run": r, "outcome": y[c][i, r]}
        for c in "ab" for i in range(n) for r in range(runs[i % len(runs)])
    ]  # fmt: skip
    outcomes = repeval.load(tidy(rows))
    return repeval.analyze(outcomes, n_resamples=50), outcomes, y


def test_observed_widths_are_those_of_the_first_runs(tidy):
    analysis, outcomes, y = paired(tidy)
    (row,) = analysis.condition_pairs
    found = condition_widths(analysis, outcomes, 40)
    sd = [(y["a"][:, :k].mean(1) - y["b"][:, :k].mean(1)).std(ddof=1) for k in range(1, 5)]
    assert found["runs"].tolist() == [2, 3, 4]
    np.testing.assert_allclose(found["observed"], np.array(sd[1:]) / sd[0])
    rho, k = max(row.icc, 0), found["runs"]
    np.testing.assert_allclose(found["predicted"], (rho + (1 - rho) / k) ** 0.5)
    assert condition_widths(analysis, outcomes, 0).empty


def test_runs_that_some_problems_lack_are_left_out(tidy):
    analysis, outcomes, _ = paired(tidy, runs=(3, 5))
    assert condition_widths(analysis, outcomes, 40)["runs"].tolist() == [2, 3]
    assert condition_widths(*paired(tidy, runs=(1, 5))[:2], 40).empty
    assert condition_widths(*paired(tidy, runs=(1,))[:2], 40).empty
    assert condition_widths(*paired(tidy, same=True)[:2], 40).empty
