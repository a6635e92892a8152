"""How often the likelihood interval of the ceiling holds the true one, by simulation."""

import itertools
import math

import numpy as np
import pytest

from repeval.stats.profile import icc_limits
from repeval.stats.sample import from_counts
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
    limits = np.array([icc_limits(from_counts(kind, runs)) for kind in kinds])
    return float(times[(limits[:, 0] <= rho) & (rho <= limits[:, 1])].sum() / sets)


def least(sets: int) -> float:
    """92% less two Monte Carlo standard errors."""
    return LEAST - 2 * math.sqrt(LEAST * (1 - LEAST) / sets)


@pytest.mark.parametrize("cell", QUICK, ids=str)
def test_ceiling_is_covered(cell) -> None:
    assert coverage(*cell, sets=200) >= least(200)


@pytest.mark.full
@pytest.mark.parametrize("cell", GRID, ids=str)
def test_ceiling_is_covered_everywhere(cell) -> None:
    assert coverage(*cell, sets=4000) >= least(4000)
