"""Limits of a drop, and what they say of a margin: the decision of a gate.

A drop is baseline minus candidate, so that a lower candidate has a positive one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats import exact
from repeval.stats.intervals import NEEDS_RUNS, Interval
from repeval.stats.pairs import decision
from repeval.stats.pairs.hull import decided, decided_by_clusters, these_limits
from repeval.stats.resampling import resampled_means
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Sample

Pair = tuple[Sample, Sample]
PASS, FAIL, OPEN = "pass", "fail", "cannot tell"
QUESTIONS = {"new": "paired", "these": "paired_fixed"}
LEAVES = ", whole problems lost (Clopper and Pearson)"


def drop_limits(
    pairs: Sequence[Pair],
    alpha: float,
    *,
    question: str = "new",
    groups: IntArray | None = None,
    n_resamples: int = 2000,
    rng: np.random.Generator | None = None,
    law: str = "auto",
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return one-sided limits of the drop, each wrong in at most `alpha` of all data sets.

    Parameters
    ----------
    pairs : sequence of K pairs of Sample
        Baseline and candidate on N problems.
    alpha : float
        Each limit is that of the two-sided interval at level 1 - 2·alpha.
    question : {"new", "these"}
        The limits of `paired` or of `paired_fixed`; see `repeval.compare`.
    groups : (N,) int array, optional
    n_resamples, rng
        Where there is no exact law.
    law : {"auto", "student"}
        `student`: Student's t for the law that is expanded to be as wide, for many pairs at once.

    Returns
    -------
    low, high : (K,) float arrays
        NaN where there is no interval.
    methods : list of str

    Notes
    -----
    On new problems `high` is also no lower than the exact limit of whole problems lost, which N
    problems leave open even where none is: see `lost_limit`.
    """
    level = 1 - 2 * alpha
    if question == "these":
        limits, how = these_limits(pairs, level)
        return limits.low, limits.high, [NEEDS_RUNS if x is None else x for x in how]
    n = len(pairs[0][0])
    rows = [row for row, _ in decided_new(pairs, level, groups, n_resamples, rng, law)]
    low, high = (np.array([getattr(row, end) for row in rows]) for end in ("low", "high"))
    binary = np.array([a.binary and b.binary for a, b in pairs])
    lost = whole_lost(np.stack([a.rate - b.rate for a, b in pairs]))
    least = np.where(binary, lost_limit(lost, n, alpha), -1.0)
    methods = [r.method + LEAVES * bool(x > h) for r, x, h in zip(rows, least, high, strict=True)]
    return low, np.maximum(high, least), methods


def lost_limit(lost: ArrayLike, n: int, alpha: float) -> FloatArray:
    """Return the exact upper limit of the share of problems that are lost, of which N showed some.

    Parameters
    ----------
    lost : (...) array
        Problems lost.
    n : int
        Problems.
    alpha : float

    Notes
    -----
    With none lost 1 - alpha^(1/N), about 3 of N at 5 %: so many problems may be of a kind of which
    none of N is, and all of that kind be lost. A bootstrap is too sure here (nine lost of 500: 2.8
    %, exactly 3.1), and to pass for want of problems is a gate's worst error.

    References
    ----------
    Clopper and Pearson (1934).

    Examples
    --------
    >>> from repeval.stats.pairs.margin import lost_limit
    >>> [round(float(lost_limit(0, n, 0.05)), 4) for n in (30, 100, 500)]
    [0.095, 0.0295, 0.006]
    """
    x = np.asarray(lost, dtype=float)
    some = np.minimum(x, n - 1)
    return np.where(x < n, 1 - special.betaincinv(n - some, some + 1, alpha), 1.0)


def whole_lost(d: FloatArray) -> FloatArray:
    """Return how many whole problems more were lost than won, by more than half a problem each.

    Parameters
    ----------
    d : (K, N) float array
        Drops of each problem.
    """
    net = np.where(np.abs(d) > 0.5, d, 0).sum(axis=1)
    return np.floor(np.maximum(net, 0) + ROUNDING)


def verdicts(low: FloatArray, high: FloatArray, margin: float, decides: bool = True) -> FloatArray:
    """Return 1 where a drop of the margin is ruled out, -1 where it is shown, else 0.

    Parameters
    ----------
    low, high : (K,) float array
        Of the drop.
    margin : float
    decides : bool
        Whether there are enough problems for any verdict.
    """
    if not decides:
        return np.zeros(len(low))
    with np.errstate(invalid="ignore"):
        return np.where(high < margin, 1.0, np.where(low >= margin, -1.0, 0.0))


def decides(n: int, question: str) -> bool:
    """Tell whether N problems are enough for a verdict."""
    return question == "these" or n >= decision.FEWEST


def decided_new(
    pairs: Sequence[Pair],
    level: float,
    groups: IntArray | None = None,
    n_resamples: int = 2000,
    rng: np.random.Generator | None = None,
    law: str = "auto",
) -> list[tuple[Interval, float]]:
    """Return the interval and the p-value of `paired` of each pair; see `drop_limits`."""
    if groups is not None:
        return [decided_by_clusters(*pair, groups, level) for pair in pairs]
    laws, said = _law(pairs, level, n_resamples, rng, law)
    return decided(pairs, laws, said, level)


def _law(
    pairs: Sequence[Pair],
    level: float,
    n_resamples: int,
    rng: np.random.Generator | None,
    law: str,
) -> tuple[decision.Limits, str]:
    """Return the one-level laws at the expanded level."""
    n = len(pairs[0][0])
    if law == "student":
        d = np.stack([a.rate - b.rate for a, b in pairs])
        error = d.std(axis=1, ddof=1) / math.sqrt(n)
        return decision.student_limits(d.mean(axis=1), error, n - 1, level), "Student's t, hull"
    if all(exact.is_exact(*pair) for pair in pairs):
        laws = exact.difference_law(list(pairs), "one_level")
        return decision.law_limits(laws, n, level), "exact law at the expanded level, hull"
    drawn = [
        decision.drawn_limits(
            resampled_means((a.rate - b.rate)[:, None], rng, n_resamples)[:, 0], n, level
        )
        for a, b in pairs
    ]
    ends = (
        np.concatenate([getattr(x, name) for x in drawn])
        for name in ("low", "high", "p_above", "p_below")
    )
    how = f"Monte Carlo, {n_resamples} resamples at the expanded level, hull"
    return decision.Limits(*ends), how
