"""Tango's score interval for the difference of two paired proportions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats.sample import FloatArray

# Halvings of an interval of length 2 down to the spacing of floats near 1.
HALVINGS = 54


def tango_score(won: ArrayLike, lost: ArrayLike, n: ArrayLike, difference: ArrayLike) -> FloatArray:
    """Return how many standard errors a supposed difference lies below the observed one.

    Parameters
    ----------
    won, lost : (...) array
        Pairs in which only the first, only the second passed; fractions are allowed.
    n : (...) array
        All pairs.
    difference : (...) array
        The supposed P(first passes) - P(second passes).

    Notes
    -----
    z(D) = (b - c - n D)/√(n (2 q + D - D²)) with q, the maximum likelihood estimate under D of
    the share of pairs that only the second passes, the larger root of
    2n q² + ((2n - b + c) D - b - c) q - c D (1 - D) = 0. It falls in D.

    References
    ----------
    Tango (1998), Statistics in Medicine 17, 891-908.
    """
    b, c, n, diff = np.broadcast_arrays(
        *(np.asarray(x, dtype=float) for x in (won, lost, n, difference))
    )
    return _score(b, c, n, diff)


def _score(b: FloatArray, c: FloatArray, n: FloatArray, diff: FloatArray) -> FloatArray:
    linear = (2 * n - b + c) * diff - b - c
    free = -c * diff * (1 - diff)
    share = (np.sqrt(np.maximum(linear**2 - 8 * n * free, 0)) - linear) / (4 * n)
    distance = b - c - n * diff
    variance = np.maximum(n * (2 * share + diff - diff**2), 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == 0, 0.0, distance / np.sqrt(variance))


def tango_limits(
    won: ArrayLike, lost: ArrayLike, n: ArrayLike, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the differences that the score test at 1 - level does not reject.

    Parameters
    ----------
    won, lost, n : (...) array
        See `tango_score`.
    level : float

    Returns
    -------
    low, high : (...) array
    """
    b, c, n = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (won, lost, n)))
    seen, end = (b - c) / n, np.ones(b.shape)
    # Both at once: where the falling score passes z, and -z, by halving; -1 or 1 if it never does.
    z = (special.ndtri((1 + level) / 2) * np.array([1, -1])).reshape(2, *[1] * b.ndim)
    low, high = np.stack([-end, seen]), np.stack([seen, end])
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = _score(b, c, n, middle) > z
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return low[0], high[1]
