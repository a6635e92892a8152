"""Exact law of the variance ceiling under resampling of problems.

With equal R the ceiling depends on the resampled problems only through X = sum of k and
Y = sum of k(R-k), whose joint law is a two-dimensional convolution power.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy import fft

from repeval.stats.exact import power
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Sample

# Larger tables cost more than a class bootstrap whose error nobody would see.
POINT_LIMIT = 2_000_000


def is_exact(sample: Sample) -> bool:
    """Whether the exact law exists (0/1 outcomes, equal R >= 2) and is of practical size."""
    if not sample.binary or not sample.equal_runs or sample.runs[0] < 2:
        return False
    n, runs = len(sample), int(sample.runs[0])
    return (n * runs + 1) * (n * _steps(runs).max() + 1) <= POINT_LIMIT


def icc_law(sample: Sample) -> tuple[FloatArray, FloatArray]:
    """Return the exact law of the ICC when problems are resampled.

    Parameters
    ----------
    sample : Sample
        For which `is_exact` holds.

    Returns
    -------
    values : (n,) float array
        ICC values in falling order, so the ceilings 1/ICC rise; a resample in which all
        problems agree has neither component and counts as 0.
    pmf : (n,) float array
    """
    n, runs = len(sample), int(sample.runs[0])
    steps = _steps(runs)
    shape = (n * runs + 1, n * int(steps.max()) + 1)
    k, counts = np.unique(sample.passes, return_counts=True)
    one = np.zeros(shape)
    one[k, steps[k]] = counts / n
    lengths = [fft.next_fast_len(size, real=True) for size in shape]
    total = fft.irfft2(power(fft.rfft2(one, lengths), n), lengths)
    values, order = _icc_order(n, runs)
    return values, np.maximum(total[: shape[0], : shape[1]].ravel()[order], 0)


def _steps(runs: int) -> IntArray:
    """k(R-k) for k = 0..R in units of its greatest common divisor."""
    product = np.arange(runs + 1) * np.arange(runs, -1, -1)
    return product // max(1, math.gcd(*product.tolist()))


@functools.lru_cache(maxsize=4)
def _icc_order(n: int, runs: int) -> tuple[FloatArray, IntArray]:
    """ICC of every lattice point in falling order; the same for all systems of one design."""
    steps = _steps(runs)
    # The greatest common divisor divides R-1, the value at k = 1.
    unit = (runs - 1) // int(steps[1])
    total = np.arange(n * runs + 1.0)[:, None]
    mixed = unit * np.arange(n * int(steps.max()) + 1.0)
    squares = runs * total - mixed
    spread = (squares - total**2 / n) / (runs**2 * (n - 1))
    within = mixed / (runs * (runs - 1) * n)
    between = spread - within / runs
    with np.errstate(divide="ignore", invalid="ignore"):
        icc = between / (between + within)
    # Rounding must not decide the sign; points that no data reach have no ICC.
    defined = (np.abs(between) > ROUNDING * spread) & (between + within > ROUNDING)
    icc = np.where(defined, icc, 0.0).ravel()
    order = np.argsort(-icc, kind="stable")
    return icc[order], order
