"""How sure one look must be, so that several together are wrong no more often than one."""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy import special

MOST_LOOKS = 100
# No look has more than so many times the data of the one before.
GROWTH = 2.0
NODES = 160
# Normal quantiles beyond which nothing is left.
FAR = 9.0
HALVINGS = 40


@functools.lru_cache(maxsize=256)
def look_alpha(alpha: float, looks: int) -> float:
    """Return the one-sided error of each of so many looks that together have `alpha`.

    Parameters
    ----------
    alpha : float
        Of all looks together, below .5.
    looks : int
        K, from 1 to 100, of which any may end the test.

    Notes
    -----
    One constant for all looks, as Pocock's. Estimates at looks k < l share data, so that their
    correlation is √(I_k/I_l), I the information. With equal looks that all double the data it is
    2^(-(l-k)/2), and the constant c solves P(Z_1 <= c, ..., Z_K <= c) = 1 - alpha, by K - 1
    integrals over a Markov chain. By Slepian's inequality it holds for every plan in which no look
    more than doubles the data: correlations are then higher, and the highest Z is lower. More
    runs of the same problems add less information than that. It is always below Šidák's
    c, which needs no such condition.

    References
    ----------
    Pocock (1977), Biometrika 64, 191-199; Slepian (1962).

    Examples
    --------
    >>> from repeval.stats.pairs.looks import look_alpha
    >>> [round(look_alpha(0.05, looks), 4) for looks in (1, 2, 4, 12)]
    [0.05, 0.0304, 0.0169, 0.0058]
    """
    if looks != int(looks) or not 1 <= looks <= MOST_LOOKS:
        raise ValueError(f"looks must be a whole number from 1 to {MOST_LOOKS}, not {looks}")
    if looks == 1:
        return alpha
    low, high = (float(special.ndtri(1 - a)) for a in (alpha, alpha / looks))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeded(middle, looks) > alpha else (low, middle)
    return float(special.ndtr(-high))


def exceeded(constant: float, looks: int, growth: float = GROWTH) -> float:
    """Return how often one of K looks exceeds a constant, where each multiplies the data.

    Parameters
    ----------
    constant : float
        A normal quantile.
    looks : int
    growth : float
    """
    x, w = np.polynomial.legendre.leggauss(NODES)
    half = (constant + FAR) / 2
    z, w = half * (x + 1) - FAR, half * w
    rho, sigma = 1 / math.sqrt(growth), math.sqrt(1 - 1 / growth)
    step = w * _density((z - rho * z[:, None]) / sigma) / sigma
    below = np.ones(NODES)
    for _ in range(looks - 1):
        below = step @ below
    return 1 - float((w * _density(z)) @ below)


def _density(z: np.ndarray) -> np.ndarray:
    return np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
