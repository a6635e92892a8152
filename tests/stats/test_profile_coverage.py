"""How often the likelihood interval of the ceiling holds the true one, by simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy import special

from repeval.stats.noise_share import NoiseShare, difference_profile_limits, noise_share, share_iccs
from repeval.stats.profile import profile_limits
from repeval.stats.sample import from_counts, from_scores
from tests.samples import SEED

# Statistics review, section 2: nominal 95%, and no cell below 92.
LEAST = 0.92
GRID = [*itertools.product(["beta", "two-point"], [10, 30, 99], [2, 5], [0.5, 0.9],
                           [0.3, 0.74, 0.96])]  # fmt: skip
QUICK = [cell for cell in GRID if cell[1:4] in ((10, 2, 0.9), (30, 5, 0.5))]


def rates(rng, law: str, mean: float, rho: float, shape: tuple[int, ...]) -> np.ndarray:
    """Pass rates of variance ρ m(1-m): Beta, or a share m of easy problems among hard ones."""
    if law == "beta":
        total = 1 / rho - 1
        return rng.beta(mean * total, (1 - mean) * total, shape)
    return mean + math.sqrt(rho) * ((rng.random(shape) < mean) - mean)


def coverage(law: str, n: int, runs: int, mean: float, rho: float, sets: int) -> float:
    rng = np.random.default_rng([SEED, GRID.index((law, n, runs, mean, rho))])
    passes = rng.binomial(runs, rates(rng, law, mean, rho, (sets, n)))
    # Only the histogram of passes matters, and small designs have few.
    kinds, times = np.unique(np.sort(passes, axis=1), axis=0, return_counts=True)
    limits = np.array([profile_limits(from_counts(kind, runs))[:2] for kind in kinds])
    return float(times[(limits[:, 0] <= rho) & (rho <= limits[:, 1])].sum() / sets)


def least(sets: int) -> float:
    """92% less two Monte Carlo standard errors."""
    return LEAST - 2 * math.sqrt(LEAST * (1 - LEAST) / sets)


@pytest.mark.parametrize("cell", QUICK, ids=str)
def test_ceiling_is_covered(cell) -> None:
    assert coverage(*cell, sets=100) >= least(100)


@pytest.mark.full
@pytest.mark.parametrize("cell", GRID, ids=str)
def test_ceiling_is_covered_everywhere(cell) -> None:
    assert coverage(*cell, sets=4000) >= least(4000)


# ---- two variances: differences, scores, clusters ---------------------------------------------
# Cheap enough for many data sets; those without any run noise have no limits and do not count.
SETS = 1000


def shared_difficulty(rng, mean: float, rho: float, spread: float, shape) -> list[np.ndarray]:
    """Rates of two systems, the second with its own deviation in each problem."""
    p = np.clip(rates(rng, "beta", mean, rho, shape), 1e-9, 1 - 1e-9)
    return [p, special.expit(special.logit(p) - 0.3 + spread * rng.standard_normal(shape))]


def share_covered(shares: list[NoiseShare], rho: float) -> None:
    limits = share_iccs([share for share in shares if share.share > 0])
    assert len(limits) > 0.85 * len(shares)
    assert ((limits[:, 0] <= rho) & (rho <= limits[:, 1])).mean() >= least(len(limits))


@pytest.mark.parametrize("n", [10, 30, 99])
@pytest.mark.parametrize("runs", [2, 5])
@pytest.mark.parametrize("about", [(0.6, 0.7, 1), (0.6, 0.7, 3), (0.85, 0.5, 1)], ids=str)
def test_ceilings_of_differences_are_covered(about, n: int, runs: int) -> None:
    """The percentile interval covers 23 to 92% at N=10 and 30 here."""
    a, b = shared_difficulty(np.random.default_rng(SEED), *about, (10**6,))
    # A million problems: known to .3%, which is nothing to an interval of 99.
    true = 1 + (a * (1 - a) + b * (1 - b)).mean() / (a - b).var()
    rng = np.random.default_rng([SEED, n, runs])
    ka, kb = (rng.binomial(runs, p) for p in shared_difficulty(rng, *about, (SETS, n)))
    pairs = [(from_counts(x, runs), from_counts(y, runs)) for x, y in zip(ka, kb, strict=True)]
    limits = np.array(difference_profile_limits(pairs))
    limits = limits[~np.isnan(limits[:, 0])]
    assert len(limits) > 0.85 * SETS
    assert ((limits[:, 0] <= true) & (true <= limits[:, 1])).mean() >= least(len(limits))


@pytest.mark.parametrize(("n", "runs"), [(30, 2), (30, 5), (99, 2), (99, 5)])
@pytest.mark.parametrize("rho", [0.3, 0.74])
def test_ceilings_of_scores_are_covered(rho: float, n: int, runs: int) -> None:
    """Scores that are Beta about a problem's own Beta mean, with 1/3 of a verdict's run noise."""
    rng = np.random.default_rng([SEED, n, runs])
    p = np.clip(rates(rng, "beta", 0.5, rho, (SETS, n, 1)), 1e-6, 1 - 1e-6)
    samples = map(from_scores, rng.beta(2 * p, 2 - 2 * p, (SETS, n, runs)))
    share_covered([noise_share(s.rate, [s]) for s in samples], rho / (rho + (1 - rho) / 3))


@pytest.mark.parametrize(("size", "n"), [(15, 20), (5, 40)])
def test_ceilings_of_clustered_scores_are_covered(size: int, n: int) -> None:
    """Beta means of clusters, and Beta rates of their problems about them."""
    rng = np.random.default_rng([SEED, size])
    cluster = np.clip(rates(rng, "beta", 0.6, 0.15, (SETS, n)), 1e-4, 1 - 1e-4)
    about = np.repeat(cluster, size, axis=1)
    total = 1 / 0.7 - 1
    passes = rng.binomial(3, rng.beta(about * total, (1 - about) * total))
    most = 0.6 * 0.4
    problem = 0.7 * most * 0.85
    # The variance of a cluster's mean of `size` problems, for one problem's.
    between, within = size * most * 0.15 + problem, most * 0.85 * 0.3
    labels = np.repeat(np.arange(n), size)
    samples = [from_counts(k, 3) for k in passes]
    shares = [noise_share(s.rate, [s], labels) for s in samples]
    share_covered(shares, between / (between + within))
