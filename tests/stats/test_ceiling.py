"""Intervals of the ceiling: enumeration, an independent BCa, Monte Carlo, boundary cases."""

import math

import numpy as np
import pytest

from repeval.stats.ceiling import CeilingInterval, ceiling_interval, ceiling_intervals
from repeval.stats.components import components
from tests import oracles
from tests.oracles import SEED, passes_of
from tests.samples import beta_binomial_data, unequal_runs

SMALL = [
    ([0, 1, 2, 2], 2),
    ([0, 1, 3, 3, 3], 3),
    ([0, 0, 2, 4], 4),
    ([0, 1, 2, 3, 4, 5], 5),
    ([5, 5, 5, 5, 4, 0], 5),
    ([0, 1, 2, 3, 0, 3], 3),
    ([0, 0, 0, 1], 5),
]
QWEN_PLUS = passes_of([24, 7, 6, 4, 6, 52])
FLASH = passes_of([8, 3, 5, 10, 6, 67])


def limits(interval: CeilingInterval) -> tuple[float, float]:
    return interval.low, interval.high


@pytest.mark.parametrize("level", [0.95, 0.8])
@pytest.mark.parametrize(("passes", "runs"), SMALL, ids=str)
def test_percentile_by_enumeration(passes: list[int], runs: int, level: float) -> None:
    law = oracles.icc_law(np.array(passes), runs)
    found = ceiling_interval(passes, runs, kind="percentile", level=level)
    expected = oracles.ceiling_limits(law, ((1 - level) / 2, (1 + level) / 2))
    # A quotient of sums of a few fractions.
    assert limits(found) == pytest.approx(expected, rel=1e-9)
    share = sum(p for value, p in law.items() if value <= 0)
    assert found.undefined == pytest.approx(float(share), abs=1e-12)
    assert 0 <= found.undefined <= 1
    assert found.method == "exact law"


@pytest.mark.parametrize(("passes", "runs"), SMALL[:-1], ids=str)
def test_bca_by_loops(passes: list[int], runs: int) -> None:
    law = oracles.icc_law(np.array(passes), runs)
    # Many levels: a level that is slightly off lands on another lattice point at one of them.
    for level in (0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99):
        tails = ((1 - level) / 2, (1 + level) / 2)
        levels = oracles.bca_levels(law, np.array(passes), runs, tails)
        found = ceiling_interval(passes, runs, kind="bca", level=level)
        assert limits(found) == pytest.approx(oracles.ceiling_limits(law, levels), rel=1e-9)


@pytest.mark.parametrize("passes", [QWEN_PLUS, FLASH], ids=["Qwen-Plus", "Gemini 3 Flash"])
def test_bca_of_a_whole_system(passes: np.ndarray) -> None:
    """Levels from a loop over 99 jackknife values, checked on 200,000 resamples."""
    c = components(passes, 5)
    found = ceiling_interval(passes, 5, kind="bca")
    draws = monte_carlo(passes, 5, 200_000)
    z0 = oracles.NORMAL.inv_cdf((draws < c.ceiling).mean())
    left = [components(np.delete(passes, i), 5).icc for i in range(len(passes))]
    d = np.array(left) - np.mean(left)
    a = (d**3).sum() / (6 * (d**2).sum() ** 1.5)
    for z, limit in ((-1.959964, found.low), (1.959964, found.high)):
        shifted = oracles.NORMAL.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
        # z0 is known to sqrt(2 pi .25/200000) = .003 and moves the level by twice its density:
        # .06 · 2 · .003, plus the error of the share itself; three standard errors of both.
        error = 3 * (0.0004 + math.sqrt(shifted * (1 - shifted) / len(draws)))
        assert (draws < limit - 1e-9).mean() <= shifted + error
        assert (draws <= limit + 1e-9).mean() >= shifted - error


def monte_carlo(passes: np.ndarray, runs: int, n_resamples: int) -> np.ndarray:
    """Ceilings of resampled problems, infinite where sigma_b^2 <= 0."""
    n, k = len(passes), np.arange(runs + 1)
    rng = np.random.default_rng(SEED)
    histogram = rng.multinomial(n, np.bincount(passes, minlength=runs + 1) / n, size=n_resamples)
    p, w = k / runs, k * (runs - k) / (runs * (runs - 1))
    mean = histogram @ p / n
    spread = (histogram @ p**2 - n * mean**2) / (n - 1)
    within = histogram @ w / n
    between = spread - within / runs
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(between > 1e-12, 1 + within / between, np.inf)


@pytest.mark.parametrize(
    "histogram",
    [
        [24, 7, 6, 4, 6, 52],
        [8, 3, 5, 10, 6, 67],
        [62, 2, 1, 0, 2, 32],
        [2, 9, 12, 7],
        [1, 0, 1, 90],
    ],
    ids=str,
)
def test_percentile_against_monte_carlo(histogram: list[int]) -> None:
    passes, runs = passes_of(histogram), len(histogram) - 1
    draws = monte_carlo(passes, runs, 100_000)
    found = ceiling_interval(passes, runs, kind="percentile")
    # A share among 10^5 draws has standard error sqrt(q(1-q)/10^5); three of them.
    error = 3 * math.sqrt(0.025 * 0.975 / len(draws))
    for q, limit in ((0.025, found.low), (0.975, found.high)):
        # Ties on the lattice: the limit is the first value at which the share reaches q.
        assert (draws < limit * (1 - 1e-9)).mean() <= q + error
        assert (draws <= limit * (1 + 1e-9)).mean() >= q - error
    share = (draws == math.inf).mean()
    assert found.undefined == pytest.approx(
        share, abs=3 * math.sqrt(max(share * (1 - share), 1e-6) / len(draws))
    )


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_monte_carlo_method_agrees_with_the_exact_law(kind: str) -> None:
    exact = ceiling_interval(QWEN_PLUS, 5, kind=kind)
    drawn = ceiling_interval(
        QWEN_PLUS, 5, kind=kind, method="monte-carlo", n_resamples=100_000, rng=SEED
    )
    # Three standard errors sqrt(q(1-q)/B)/f(q) with f read off the exact law: .004 and .012.
    assert drawn.low == pytest.approx(exact.low, abs=0.005)
    assert drawn.high == pytest.approx(exact.high, abs=0.015)
    assert drawn.method.startswith("Monte Carlo, 100000 resamples")


# ---- boundaries -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 30, 99, 300])
@pytest.mark.parametrize("method", ["exact", "monte-carlo"])
def test_a_single_failure_has_no_ceiling(n: int, method: str) -> None:
    """One failure in all has sigma_b^2 = 0; resamples hold it w times, never a finite 10^14."""
    passes = np.full(n, 5)
    passes[0] = 4
    found = ceiling_interval(passes, 5, kind="percentile", method=method, rng=SEED)
    # w copies: sigma_b^2 R^2 = w (N-w)/(N(N-1)) - w/N <= 0 for every w.
    assert limits(found) == (math.inf, math.inf)
    assert found.undefined == pytest.approx(1, abs=1e-12)
    assert found.undefined <= 1


def test_negative_variance_has_a_lower_limit_only() -> None:
    passes = np.tile([2, 3, 1, 4, 1, 2, 3, 2, 4, 2], 2)
    assert components(passes, 5).between < 0
    for kind in ("percentile", "bca"):
        found = ceiling_interval(passes, 5, kind=kind)
        assert found.high == math.inf
        assert 1 < found.low < math.inf
        assert found.icc_low < 0 < found.icc_high
        assert 0.5 < found.undefined < 1


def test_limits_of_the_icc_are_reciprocal() -> None:
    for found in ceiling_intervals(QWEN_PLUS, 5):
        assert found.icc_low == pytest.approx(1 / found.high, rel=1e-14)
        assert found.icc_high == pytest.approx(1 / found.low, rel=1e-14)
        assert found.low < components(QWEN_PLUS, 5).ceiling < found.high


def test_no_run_noise() -> None:
    """No verdict ever changes: the ceiling is 1, with no width to bootstrap."""
    found = ceiling_interval([0, 5, 5, 0, 5, 5, 0, 5, 5, 0], 5, kind="percentile")
    assert found.low == 1
    # All ten alike has probability .4^10 + .6^10 only.
    assert found.high == 1
    assert found.undefined == pytest.approx(0.4**10 + 0.6**10, abs=1e-12)
    bca = ceiling_interval([0, 5, 5, 0, 5, 5, 0, 5, 5, 0], 5, kind="bca")
    assert math.isnan(bca.low)
    assert bca.method == "BCa is undefined here"


def test_all_pass() -> None:
    for found in ceiling_intervals([5, 5, 5], 5):
        assert math.isnan(found.low)
        assert math.isnan(found.icc_high)
        assert found.method == "nothing varied"


def test_one_run() -> None:
    for found in ceiling_intervals([0, 1, 1], 1):
        assert math.isnan(found.low)
        assert math.isnan(found.undefined)
        assert found.method == "not identified: needs two runs of a problem"


@pytest.mark.parametrize("passes", [[0, 3], [1, 2], [0, 1]])
def test_two_problems(passes: list[int]) -> None:
    """Leaving one of two out leaves no variance to take: no BCa, but no crash either."""
    percentile, bca = ceiling_intervals(passes, 3)
    law = oracles.icc_law(np.array(passes), 3)
    assert limits(percentile) == pytest.approx(oracles.ceiling_limits(law, (0.025, 0.975)))
    assert math.isnan(bca.low)
    assert bca.method == "BCa is undefined here"


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="kind must be profile, percentile or bca"):
        ceiling_interval([1, 2], 3, kind="t")
    with pytest.raises(ValueError, match="method must be"):
        ceiling_interval([1, 2], 3, method="fast")
    with pytest.raises(ValueError, match="level must lie"):
        ceiling_interval([1, 2], 3, level=95)
    with pytest.raises(ValueError, match="no exact law"):
        ceiling_interval([1, 2, 2], [3, 3, 2], kind="percentile", method="exact")
    with pytest.raises(TypeError, match="rng must be"):
        ceiling_interval([1, 2, 2], [3, 3, 2], kind="percentile", rng="a seed")


def test_same_seed_same_bytes() -> None:
    first, second = (
        ceiling_interval(unequal_runs(), rng=SEED, kind="bca", n_resamples=500) for _ in range(2)
    )
    assert repr(first) == repr(second)
    assert first != ceiling_interval(unequal_runs(), rng=SEED + 1, kind="bca", n_resamples=500)


# ---- coverage -------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("mean", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("rho", [0.6, 0.95])
@pytest.mark.parametrize("runs", [2, 5])
def test_bca_covers(mean: float, rho: float, runs: int) -> None:
    """Statistics note 5.11, reduced to N=100 and 400 data sets: at least 92% cover."""
    rng = np.random.default_rng([SEED, round(100 * mean), round(100 * rho), runs])
    hits, undefined, sets = 0, 0, 0
    for _ in range(400):
        passes = beta_binomial_data(rng, mean, rho, 100, runs)
        c = components(passes, runs)
        undefined += not c.between > 0
        if c.within > 0:
            found = ceiling_interval(passes, runs, kind="bca")
            hits += found.low <= 1 / rho <= found.high
            sets += 1
    if undefined / 400 < 0.01:
        # Three standard errors below 92%, sqrt(.92 · .08/400) = 1.4 points each.
        assert hits / sets >= 0.92 - 3 * 0.0136
    assert sets > 100
