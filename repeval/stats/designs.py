"""N problems with R runs each: what R does to a width, by one and by two levels of resampling.

In the letters of BS a problem is an input, and R is k.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats.intervals import normal_quantile
from repeval.stats.sample import FloatArray


def variance_factor(icc: ArrayLike, runs: ArrayLike, levels: int = 1) -> FloatArray:
    """Return the variance that resampling gives a mean, over that of a mean of single runs.

    Parameters
    ----------
    icc : array_like
        ρ, from 0 to 1.
    runs : array_like
        R >= 1.
    levels : {1, 2}
        1: problems are redrawn with their runs, ρ + (1-ρ)/R, which is the mean's own variance.
        2: runs are redrawn as well, which adds (1-ρ)(R-1)/R².

    References
    ----------
    BS, "Choosing N and k", and "How general are these results?" for the second level.
    """
    rho, r = _checked(icc, runs)
    return rho + (1 - rho) / r + (levels == 2) * (1 - rho) * (r - 1) / r**2


def width_factor(icc: ArrayLike, runs: ArrayLike) -> FloatArray:
    """Return an interval's width over that from single runs, √(ρ + (1-ρ)/R); never below √ρ."""
    return np.sqrt(variance_factor(icc, runs))


def inflation(icc: ArrayLike, runs: ArrayLike) -> FloatArray:
    """Return the width by two levels over that by one; 1 at one run, and at most √(2 - 1/R).

    References
    ----------
    VC Appendix D: √(1 + (1 - 1/R)·s), s = ((1-ρ)/R)/(ρ + (1-ρ)/R).
    """
    return np.sqrt(variance_factor(icc, runs, 2) / variance_factor(icc, runs))


def large_sample_coverage(wider: ArrayLike, level: float = 0.95) -> FloatArray:
    """Return how often an interval covers that is wider than right by a factor, 2Φ(z·wider) - 1."""
    return 2 * special.ndtr(normal_quantile(level) * np.asarray(wider)) - 1


def _checked(icc: ArrayLike, runs: ArrayLike) -> tuple[FloatArray, FloatArray]:
    rho, r = np.asarray(icc, dtype=float), np.asarray(runs, dtype=float)
    if not ((rho >= 0) & (rho <= 1)).all():
        raise ValueError("icc must lie in [0, 1]; take 0 for an estimate below it")
    if not (r >= 1).all():
        raise ValueError("runs must be at least 1")
    return rho, r
