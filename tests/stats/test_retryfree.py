"""Predictions of the share passed on every run, against exact moments and plain loops."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from repeval.stats.betabinomial import fit_beta_binomial
from repeval.stats.components import components
from repeval.stats.retryfree import expected_power, has_beta, leave_one_out, subset_errors
from tests.oracles import QUIET, SEED, designs


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 3), (5, 2)])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_moments_of_a_beta_law(a, b, k):
    mean, between = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
    exact = math.prod(Fraction(a + j, a + b + j) for j in range(k))
    # A few roundings of doubles.
    assert expected_power(mean, between, k) == pytest.approx(float(exact), rel=1e-13)
    assert has_beta(mean, between)


@given(designs(min_runs=2))
@QUIET
def test_the_papers_fit_is_met_where_it_exists(design):
    fit, c = fit_beta_binomial(*design, method="paper"), components(*design)
    if fit.alpha > 1e-6:  # below, logarithms of the gamma function lose digits
        assert has_beta(c.mean, c.between)
        for k in (1, 3, 5):
            assert expected_power(c.mean, c.between, k) == pytest.approx(
                float(fit.retry_free(k)), rel=1e-7
            )
            assert 1 - expected_power(1 - c.mean, c.between, k) == pytest.approx(
                float(fit.pass_at_k(k)), rel=1e-7
            )


@pytest.mark.parametrize("mean", [0.0, 0.3, 1.0])
def test_limits(mean):
    """Certain verdicts make one run tell all; equal problems make runs independent."""
    most = mean * (1 - mean)
    for between, limit in ((most, mean), (most + 0.1, mean), (0, mean**5), (-0.01, mean**5)):
        assert not has_beta(mean, between)
        assert expected_power(mean, between, 5) == pytest.approx(limit, abs=1e-15)
    if most:
        # Linear in the distance from the limit, with a slope of about 1/mean².
        assert expected_power(mean, most - 1e-9, 5) == pytest.approx(mean, abs=1e-7)
        assert expected_power(mean, 1e-9, 5) == pytest.approx(mean**5, abs=1e-7)


def table():
    rng = np.random.default_rng(SEED)
    return (rng.random((12, 4)) < rng.beta(0.6, 0.5, (12, 1))).astype(int)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_subsets_one_by_one(n):
    y = table()
    observed = sum(row.all() for row in y) / len(y)
    everything, own = [], []
    for chosen in itertools.combinations(range(4), n):
        p = [sum(row[j] for j in chosen) / n for row in y]
        m = sum(p) / len(p)
        spread = sum((x - m) ** 2 for x in p) / (len(p) - 1)
        between = spread - sum(x * (1 - x) / (n - 1) for x in p) / len(p)
        for score, found in ((y.mean(), everything), (m, own)):
            total = score * (1 - score) / between - 1
            a, b = score * total, (1 - score) * total
            found.append(math.prod((a + j) / (a + b + j) for j in range(4)) - observed)
    all_runs, mine = subset_errors(y, n)
    assert all_runs == pytest.approx(everything, abs=1e-12)
    assert mine == pytest.approx(own, abs=1e-12)


def test_with_all_runs_there_is_one_choice_and_one_reading():
    all_runs, own = subset_errors(table(), 4)
    assert all_runs.shape == own.shape == (1,)
    assert all_runs == pytest.approx(own, abs=1e-15)


def test_each_point_is_left_out_of_its_line():
    rng = np.random.default_rng(SEED)
    x, y = rng.random(7), rng.random(7)
    for i, error in enumerate(leave_one_out(x, y)):
        slope, start = np.polyfit(np.delete(x, i), np.delete(y, i), 1)
        assert error == pytest.approx(y[i] - start - slope * x[i], abs=1e-12)
