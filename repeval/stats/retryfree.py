"""Predictions of the share passed on every run, from two moments and from other systems."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike

from repeval.stats.components import components
from repeval.stats.sample import FloatArray


def has_beta(mean: float, between: float) -> bool:
    """Tell whether a Beta law has this mean and variance, that is, α+β > 0 is finite."""
    return 0 < between < mean * (1 - mean)


def expected_power(mean: float, between: float, k: int) -> float:
    """Return E[p^k] of the Beta law with this mean and variance, or of the nearest limit.

    The share passed on all of k runs; 1 - E[(1-p)^k], with the mean of failures, is pass@k.
    Where `has_beta` fails, a variance too large means that each problem is always or never passed,
    and E[p^k] is the mean; one of 0 or less means one rate for all, and E[p^k] is mean^k.

    References
    ----------
    VC Appendices B and C: the product of (α+j)/(α+β+j), written in ρ = 1/(1+α+β).
    """
    most = mean * (1 - mean)
    rho = min(max(between / most, 0.0), 1.0) if most > 0 else 0.0
    j = np.arange(1, k)
    return float(mean * np.prod((mean * (1 - rho) + j * rho) / (1 - rho + j * rho)))


def subset_errors(outcomes: ArrayLike, n: int) -> tuple[FloatArray, FloatArray]:
    """Return predicted less observed share passed on all runs, for all choices of n runs.

    Parameters
    ----------
    outcomes : (N, R) array of 0 and 1
    n : int
        Runs that σ_b² is estimated from, 2 <= n <= R.

    Returns
    -------
    all_runs, own : (C(R, n),) arrays
        With the score of all R runs, and with that of the n runs.

    References
    ----------
    VC Table 5, whose text leaves open which of the two scores is meant.
    """
    y = np.asarray(outcomes, dtype=float)
    runs = y.shape[1]
    parts = [components(y[:, chosen]) for chosen in itertools.combinations(range(runs), n)]
    observed = (y == 1).all(axis=1).mean()
    all_runs, own = (
        np.array([expected_power(m, c.between, runs) - observed for m, c in pairs])
        for pairs in ([(y.mean(), c) for c in parts], [(c.mean, c) for c in parts])
    )
    return all_runs, own


def leave_one_out(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return y less its prediction by the least-squares line in x through all other points.

    References
    ----------
    VC Appendix C. Leaving a point out divides its residual by 1 less its leverage.
    """
    line = np.vander(x, 2)
    hat = line @ np.linalg.pinv(line)
    return (y - hat @ y) / (1 - np.diag(hat))
