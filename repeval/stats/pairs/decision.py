"""The procedure by which a pair is told apart on new problems: a hull of limits.

The one-level law alone is too sure: its variance is (n-1)/n of s²/n with a normal's tails, it
holds no outcome that was not seen, and it may exclude zero where run noise on these very problems
does not. So it is read at an expanded level, and united with the limits that unseen problems
leave and with the interval for these problems.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats.exact import CDF_TOLERANCE, Law
from repeval.stats.pairs.tango import tango_limits
from repeval.stats.sample import FloatArray

# Fewer problems give no verdict on new ones: the test would be wrong too often.
FEWEST = 8


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of a batch of differences, and the tests that are their duals.

    Attributes
    ----------
    low, high : (K,) float array
    p_above, p_below : (K,) float array
        The 1 - level at which `low`, or `high`, reaches zero.
    """

    low: FloatArray
    high: FloatArray
    p_above: FloatArray
    p_below: FloatArray

    @property
    def p_value(self) -> FloatArray:
        """Two-sided: the 1 - level at which the interval reaches zero."""
        return np.minimum(np.minimum(self.p_above, self.p_below), 1)

    def rows(self) -> Iterator[Limits]:
        """Yield the batches of which these are a stack."""
        return map(Limits, self.low, self.high, self.p_above, self.p_below)

    def guarded(self, signs: ArrayLike, level: float) -> Limits:
        """Claim no more than the signs of so many differences can: no p-value below 2^(1-m).

        Five problems that differ, all one way, are no proof at 95 %: equal systems show that in
        one of sixteen data sets.
        """
        least = 2.0 ** (1 - np.asarray(signs, dtype=float))
        unsure = 1 - level < least
        return Limits(
            np.where(unsure, np.minimum(self.low, 0), self.low),
            np.where(unsure, np.maximum(self.high, 0), self.high),
            np.maximum(self.p_above, least),
            np.maximum(self.p_below, least),
        )


def hull(*parts: Limits) -> Limits:
    """Return the smallest intervals that hold all parts; NaN are no part, -1 and 1 the ends."""
    return Limits(
        np.maximum(functools.reduce(np.fmin, [p.low for p in parts]), -1),
        np.minimum(functools.reduce(np.fmax, [p.high for p in parts]), 1),
        functools.reduce(np.fmax, [p.p_above for p in parts]),
        functools.reduce(np.fmax, [p.p_below for p in parts]),
    )


def where(chosen: ArrayLike, yes: Limits, no: Limits) -> Limits:
    """Return row by row the one or the other."""
    names = ("low", "high", "p_above", "p_below")
    return Limits(*(np.where(chosen, getattr(yes, x), getattr(no, x)) for x in names))


def expanded_tail(n: int, level: float) -> float:
    """Return the tail Φ(-√(n/(n-1)) t) at which a bootstrap of n is as wide as Student's t.

    References
    ----------
    Hesterberg (2015), The American Statistician 69, 371-386, section 5.3.
    """
    t = special.stdtrit(n - 1, (1 + level) / 2)
    return float(special.ndtr(-math.sqrt(n / (n - 1)) * t))


def shrunk_p(tail: ArrayLike, n: int) -> FloatArray:
    """Return the 1 - level whose expanded tail this is."""
    t = special.ndtri(np.minimum(tail, 1)) / math.sqrt(n / (n - 1))
    return 2 * special.stdtr(n - 1, t)


def law_limits(law: Law, n: int, level: float) -> Limits:
    """Read exact laws of the difference of n problems at the expanded level."""
    tail = expanded_tail(n, level)
    low, high = law.quantile(tail), law.quantile(1 - tail)
    if tail <= CDF_TOLERANCE:
        low, high = np.full_like(low, -1), np.full_like(high, 1)
    less, tie = law.zero
    return Limits(
        low,
        high,
        shrunk_p(less + tie + CDF_TOLERANCE, n),
        shrunk_p(1 - less + CDF_TOLERANCE, n),
    )


def drawn_limits(draws: FloatArray, n: int, level: float) -> Limits:
    """Read B resamples of one difference at the expanded level.

    A share of k resamples counts as (k+1)/(B+1), in the limits and in the p-values.
    """
    total = len(draws) + 1
    order = np.sort(draws)
    rank = math.ceil(expanded_tail(n, level) * total) - 1
    low, high = (order[rank - 1], order[-rank]) if rank >= 1 else (-1.0, 1.0)
    shares = (np.array([[(draws <= 0).sum()], [(draws >= 0).sum()]]) + 1) / total
    return Limits(np.array([low]), np.array([high]), *shrunk_p(shares, n))


def student_limits(mean: ArrayLike, se: ArrayLike, df: ArrayLike, level: float) -> Limits:
    """Return mean ± t·se; NaN where the standard error is."""
    mean, se, df = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (mean, se, df)))
    normal = np.isinf(df)
    t = np.where(normal, special.ndtri((1 + level) / 2), special.stdtrit(df, (1 + level) / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = mean / se
    p = [2 * np.where(normal, special.ndtr(x), special.stdtr(df, x)) for x in (-ratio, ratio)]
    return Limits(mean - t * se, mean + t * se, *p)


def tango(won: ArrayLike, lost: ArrayLike, n: float, level: float) -> Limits:
    """Return Tango's score intervals of n pairs of single runs; see `tango_limits`."""
    won, lost = np.asarray(won, dtype=float), np.asarray(lost, dtype=float)
    score = (won - lost) / np.sqrt(np.maximum(won + lost, 1))
    return Limits(*tango_limits(won, lost, n, level), *_p_values(score))


def unseen_limits(smallest: ArrayLike, largest: ArrayLike, n: float, level: float) -> Limits:
    """Return what problems that none of n was like leave open.

    Parameters
    ----------
    smallest, largest : (K,) array
        Of the n differences.
    n : float
    level : float

    Notes
    -----
    At most the share w = z²/(n + z²) of all problems is of a kind that none of n is (Wilson's
    limit for none of n). So the mean may lie at m + w(1 - m), were all n the smallest difference m
    and the rest 1; below, at M - w(1 + M). Where every difference is the same these are the limits,
    Tango's for -1, 0, 1. United with them the law is monotone: no difference that rises lowers
    either limit.
    """
    m, most = np.asarray(smallest, dtype=float), np.asarray(largest, dtype=float)
    z = special.ndtri((1 + level) / 2)
    share = z * z / (n + z * z)
    above, below = (_p_values(np.sign(x) * np.sqrt(n * np.abs(x))) for x in (most, m))
    return Limits(most - share * (1 + most), m + share * (1 - m), above[0], below[1])


def _p_values(score: FloatArray) -> tuple[FloatArray, FloatArray]:
    return 2 * special.ndtr(-score), 2 * special.ndtr(score)
