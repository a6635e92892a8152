"""What runs do to a width, by one level and by two: laws of one data set, and printed figures."""

import numpy as np
import pytest

from repeval.stats import exact
from repeval.stats.design.allocation import (
    inflation,
    large_sample_coverage,
    variance_factor,
    width_factor,
)
from repeval.stats.sample import from_counts

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
