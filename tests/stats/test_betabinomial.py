"""The beta-binomial model: identities, published parameters, brute force over subsets."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from repeval.stats.betabinomial import (
    BetaBinomial,
    expected_power,
    fit_beta_binomial,
    has_beta,
    pass_at_k,
    pass_hat_k,
)
from repeval.stats.components import components
from tests.oracles import QUIET, SEED, designs, passes_of
from tests.samples import beta_binomial_data, rows_of

# Study A of the simulation specification: the three systems behind VC Table 6. Qwen-Plus has
# three passes on the problem left out there, so 314 passes in all.
PUBLISHED = {
    "Qwen-Plus": ([24, 7, 7, 3, 6, 52], 0.1956, 0.1127, 0.764),
    "Gemini 3 Flash": ([8, 3, 5, 10, 6, 67], 0.5650, 0.1307, 0.590),
    "Qwen-Turbo": ([62, 2, 1, 0, 2, 32], 0.0142, 0.0266, 0.961),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_parameters(name: str) -> None:
    histogram, alpha, beta, rho = PUBLISHED[name]
    fit = fit_beta_binomial(passes_of(histogram), 5, method="paper")
    # Half a unit of the last printed digit.
    assert (fit.alpha, fit.beta) == pytest.approx((alpha, beta), abs=5e-5)
    assert 1 / (1 + fit.alpha + fit.beta) == pytest.approx(rho, abs=5e-4)
    assert fit.method == "paper"


@given(designs(min_runs=2))
@QUIET
def test_moments(design) -> None:
    fit, c = fit_beta_binomial(*design), components(*design)
    if c.between > 0 and c.within > 0 and 0 < c.mean < 1:
        # Sums and quotients of a few floats.
        assert 1 + fit.alpha + fit.beta == pytest.approx(c.ceiling, rel=1e-12)
        assert fit.alpha / (fit.alpha + fit.beta) == pytest.approx(c.mean, rel=1e-12)
    else:
        assert math.isnan(fit.alpha)
        assert math.isnan(fit.beta)


def test_paper_is_undefined_more_often() -> None:
    """Statistics note 1.9: m(1-m) - sigma_b^2 = AV - s²/N, negative for nearly fixed systems."""
    passes = np.r_[np.zeros(60, dtype=int), np.full(38, 5), 1]
    c = components(passes, 5)
    assert 0 < c.within < c.variance
    assert math.isnan(fit_beta_binomial(passes, 5, method="paper").alpha)
    assert fit_beta_binomial(passes, 5).alpha > 0


@pytest.mark.parametrize(("mean", "rho", "runs"), [(0.6, 0.5, 5), (0.8, 0.75, 3), (0.3, 0.2, 8)])
def test_likelihood_finds_the_parameters(mean: float, rho: float, runs: int) -> None:
    passes = beta_binomial_data(np.random.default_rng(SEED), mean, rho, 40_000, runs)
    fit = fit_beta_binomial(passes, runs, method="mle")
    # log(alpha+beta) has standard error of about 2/sqrt(N) = .01 here; four of them.
    assert math.log(fit.alpha + fit.beta) == pytest.approx(math.log(1 / rho - 1), abs=0.04)
    assert fit.alpha / (fit.alpha + fit.beta) == pytest.approx(mean, abs=0.01)


def test_likelihood_is_at_its_maximum() -> None:
    special = pytest.importorskip("scipy.special")
    passes, runs = passes_of([24, 7, 6, 4, 6, 52]), 5

    def log_likelihood(a: float, b: float) -> float:
        return float((special.betaln(a + passes, b + runs - passes) - special.betaln(a, b)).sum())

    fit = fit_beta_binomial(passes, runs, method="mle")
    best = log_likelihood(fit.alpha, fit.beta)
    for factor in (0.98, 1.02):
        assert log_likelihood(fit.alpha * factor, fit.beta) < best
        assert log_likelihood(fit.alpha, fit.beta * factor) < best
    # The simplex stops within 1e-4 in the logarithms: nothing nearby is better than that.
    for factor in (0.999, 1.001):
        assert log_likelihood(fit.alpha * factor, fit.beta * factor) < best + 1e-6


def test_curves_by_products() -> None:
    fit = BetaBinomial(0.3, 0.2, "moments")
    for k in range(1, 8):
        every = math.prod((0.3 + i) / (0.5 + i) for i in range(k))
        none = math.prod((0.2 + i) / (0.5 + i) for i in range(k))
        # Differences of four log-gammas.
        assert float(fit.retry_free(k)) == pytest.approx(every, rel=1e-13)
        assert float(fit.pass_at_k(k)) == pytest.approx(1 - none, rel=1e-13)
    assert fit.retry_free([1, 2]).shape == (2,)
    assert float(fit.retry_free(1)) == pytest.approx(0.6, rel=1e-13)


@given(designs(max_problems=6))
@QUIET
def test_tries_by_all_subsets(design) -> None:
    passes, runs = design
    y = rows_of(passes, runs)
    for k in range(1, min(runs) + 1):
        some, every = [], []
        for row, r in zip(y, runs, strict=True):
            subsets = list(itertools.combinations(row[:r], k))
            some.append(sum(any(s) for s in subsets) / len(subsets))
            every.append(sum(all(s) for s in subsets) / len(subsets))
        # A product of k quotients against a quotient of counts.
        assert pass_at_k(passes, runs, k=k) == pytest.approx(np.mean(some), abs=1e-13)
        assert pass_hat_k(passes, runs, k=k) == pytest.approx(np.mean(every), abs=1e-13)
    assert pass_at_k(passes, runs, k=1) == pytest.approx(components(passes, runs).mean, abs=1e-13)


def test_all_runs_is_the_share_always_passed() -> None:
    passes = passes_of([24, 7, 6, 4, 6, 52])
    assert pass_hat_k(passes, 5, k=5) == pytest.approx(52 / 99, abs=1e-15)
    assert pass_at_k(passes, 5, k=5) == pytest.approx(75 / 99, abs=1e-15)


@pytest.mark.parametrize("k", [0, 4, -1])
def test_more_tries_than_runs_are_refused(k: int) -> None:
    for function in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="between 1 and the fewest runs, 3"):
            function([1, 2, 5], [3, 4, 5], k=k)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="pass/fail outcomes"):
        fit_beta_binomial([[0.5, 1], [0, 0.1]])
    with pytest.raises(ValueError, match="method must be"):
        fit_beta_binomial([1, 2], 3, method="bayes")
    with pytest.raises(ValueError, match="pass/fail outcomes"):
        pass_at_k([[0.5, 1], [0, 0.1]], k=1)


def test_one_run_has_no_model() -> None:
    assert math.isnan(fit_beta_binomial([0, 1, 1], 1).alpha)
    assert math.isnan(fit_beta_binomial([0, 1, 1], 1, method="paper").alpha)


# The simplex must not wander off with a warning either.
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("passes", "runs"), [([0, 1, 1], 1), ([5, 5, 5], 5), ([0, 0], 3), ([0, 5, 5], 5)]
)
def test_likelihood_without_a_maximum(passes: list[int], runs: int) -> None:
    """One run, one verdict everywhere, or no flip: only alpha/beta, or a limit, is identified."""
    fit = fit_beta_binomial(passes, runs, method="mle")
    assert math.isnan(fit.alpha)
    assert math.isnan(fit.beta)


@pytest.mark.parametrize("k", [1.5, "2"])
def test_tries_are_whole_numbers(k) -> None:
    for function in (pass_at_k, pass_hat_k):
        with pytest.raises((TypeError, ValueError)):
            function([1, 2, 3], 3, k=k)


# ---- predictions of the share passed on every run: exact moments, plain loops -------------------


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
