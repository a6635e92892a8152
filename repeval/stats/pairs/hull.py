"""The decision on pairs of systems: which limits go into the hull on new problems, and why.

- The one-level law at the expanded level, or Student's t over clusters: problems were drawn.
- What problems unlike all seen ones leave open, for pass/fail, with clusters as units if given.
- Tango's limit away from zero of up to 8 problems won or lost by more than half: a bootstrap of
  few is skewed the wrong way.
- The interval for these problems where runs flipped (Student's t, or if narrower the bound that
  `coins` set): new problems are never surer than these.

Single runs have Tango's interval alone. All is guarded by the signs of what differs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from repeval.stats.clusters import score_variance
from repeval.stats.components import rate_noise
from repeval.stats.intervals import Interval, fixed_noise, satterthwaite
from repeval.stats.pairs import decision
from repeval.stats.sample import (
    ROUNDING,
    FloatArray,
    IntArray,
    Pair,
    Sample,
    differences,
    of_pairs,
    sides,
)

# Run noise known with fewer degrees of freedom, from a few repeated or a few noisy problems, may
# say less than its upper bound: Student's t is 2.1 (20 df) to 12.7 (1 df) standard errors.
FEW_DF = 20
# Of few problems that are lost as a whole the law is skewed, and a bootstrap's upper limit too low
# (one lost of 99, twice run: 3.7 %; the exact limit is 5.5 %).
FEW_DIFFER = 8


def decided(
    pairs: Sequence[Pair],
    law: decision.Limits,
    how: str,
    level: float,
    noise: FloatArray | None = None,
) -> list[tuple[Interval, float]]:
    """Decide pairs on equally many problems by their one-level laws and what these leave out.

    Parameters
    ----------
    pairs : sequence of K pairs of Sample
    law : Limits
        K one-level laws, read at the expanded level.
    how : str
        How the laws were computed.
    level : float
    noise : (6, K) float array, optional
        From `seen_noise`, where it is known.

    Returns
    -------
    list of (Interval, float)
        Each with its two-sided p-value.
    """
    n = len(pairs[0][0])
    binary = np.array([a.binary and b.binary for a, b in pairs])
    once = np.array([all(s.binary and s.distinct_runs == [1] for s in pair) for pair in pairs])
    these = _these(seen_noise(pairs) if noise is None else noise, level)[0]

    def some(pairs: Sequence[Pair]) -> FloatArray:
        d = differences(pairs)
        signs, large = (np.abs(d) > ROUNDING).sum(axis=1), np.where(np.abs(d) > 0.5, d, 0)
        counts = signs, (d > 0).sum(axis=1), (d < 0).sum(axis=1), (large != 0).sum(axis=1)
        sums = (np.maximum(x, 0).sum(axis=1) for x in (large, -large))
        return np.stack([d.mean(axis=1), d.min(axis=1), d.max(axis=1), *counts, *sums])

    mean, least, most, signs, won, lost, many, *wholes = of_pairs(some, pairs)
    scale = np.minimum(1, FEW_DIFFER / np.maximum(many, 1))
    single = few = decision.Limits(*np.full((4, len(pairs)), math.nan))
    if binary.any():  # no problem is won or lost by scores
        single, few = decision.tango(
            np.stack([won, wholes[0] * scale]), np.stack([lost, wholes[1] * scale]), n, level
        ).rows()
    # Scores rarely reach 0 and 1, where unseen problems are taken to lie: for equal ones only.
    open_ends = binary | (most - least < ROUNDING)
    ends = (np.where(open_ends, x, math.nan) for x in (least, most))
    unseen = decision.unseen_limits(*ends, n, level)
    gone = _gone(few, mean, binary & (many > 0))
    limits = decision.where(once, single, decision.hull(law, unseen, gone, these))
    said = ("Tango's score interval" if x else how for x in once)
    return _rows(limits.guarded(signs, level), n, said, level)


def decided_by_clusters(
    a: Sample, b: Sample, groups: IntArray, level: float
) -> tuple[Interval, float]:
    """Decide a pair by Student's t over clusters of problems."""
    d = a.rate - b.rate
    squared, df = score_variance(d, groups)
    units = int(groups.max()) + 1
    if squared > 0:
        law = decision.student_limits([d.mean()], math.sqrt(squared), df, level)
        how = f"Student's t, {df:.1f} df, {units} clusters"
    else:
        law = decision.unseen_limits([d.mean()], [d.mean()], min(units, df + 1), level)
        how = f"the same difference in {units} clusters"
    parts = [law, _these(seen_noise([(a, b)]), level)[0]]
    if a.binary and b.binary:
        parts.append(decision.unseen_limits([d.min()], [d.max()], min(units, df + 1), level))
    # Clusters are the units, so it is their signs that count.
    signs = (np.abs(np.bincount(groups, d)) > ROUNDING).sum()
    limits = decision.hull(*parts).guarded([signs], level)
    return _rows(limits, len(d), [how], level)[0]


def these_limits(
    pairs: Sequence[Pair], level: float, noise: FloatArray | None = None
) -> tuple[decision.Limits, list[str | None]]:
    """Decide pairs on exactly these problems: their limits, and how they were computed.

    By `fixed_t`, but by the bound `coins` where that is the narrower or nothing flipped. NaN and
    None where no problem was repeated in either system.
    """
    noise = seen_noise(pairs) if noise is None else noise
    limits, bounded = _these(noise, level)
    still = np.isinf(noise[2])
    if still.any():
        limits = decision.where(still, decision.tango(*noise[3:], level), limits)
    how: list[str | None] = [f"Student's t, {x:.1f} df" for x in noise[2].tolist()]
    for i in np.flatnonzero(bounded):
        how[i] = "Tango's score interval of all runs, an upper bound on run noise"
    for i in np.flatnonzero(still):
        how[i] = "nothing flipped: Tango's score interval of all runs"
    for i in np.flatnonzero(np.isnan(noise[2])):
        how[i] = None
    low, high = np.maximum(limits.low, -1), np.minimum(limits.high, 1)
    return replace(limits, low=low, high=high), how


def seen_noise(pairs: Sequence[Pair]) -> FloatArray:
    """Return what `run_noises` and `coins` do, which is computed once for all that is asked."""
    return np.concatenate([run_noises(pairs), coins(pairs)])


def coins(pairs: Sequence[Pair]) -> FloatArray:
    """Return pairs of runs won, lost and in all that vary no less than the runs of each pair.

    Scores in [0, 1] vary at most like coins of the same mean, and coins of many means at most like
    coins that are alike (Hoeffding 1956). So run noise is at most that of N r independent pairs, of
    which the share mean(p(1-q)) is won and mean(q(1-p)) lost; r, the harmonic mean of the runs that
    a problem has in both systems, is exact where these are equal.

    Returns
    -------
    (3, K) float array
    """

    def some(pairs: Sequence[Pair]) -> FloatArray:
        n = len(pairs[0][0])
        count = n / (1 / np.minimum(*sides(pairs, lambda s: s.runs))).mean(axis=1)
        p, q = sides(pairs, lambda s: s.rate)
        won, lost = ((x * (1 - y)).mean(axis=1) * count for x, y in ((p, q), (q, p)))
        return np.stack([won, lost, count])

    return of_pairs(some, pairs)


def run_noises(pairs: Sequence[Pair]) -> FloatArray:
    """Return differences, their standard errors from run noise, and Satterthwaite's df.

    The error is NaN where no noise is seen, the df too where none can be.

    Returns
    -------
    (3, K) float array
    """

    def some(pairs: Sequence[Pair]) -> FloatArray:
        mean = differences(pairs).mean(axis=1)
        noise = np.add(*sides(pairs, rate_noise))
        error, df = np.sqrt(noise.mean(axis=1) / noise.shape[1]), satterthwaite(noise)
        for i, pair in enumerate(pairs):
            if error[i] > 0 and min(s.distinct_runs[0] for s in pair) == 1:
                # Each system shows its noise on the problems that it repeated, no others (Welch).
                parts = [*map(fixed_noise, pair)]
                df[i] = sum(v for v, _ in parts) ** 2 / sum(v * v / known for v, known in parts)
        df[np.isnan(error)], df[error == 0] = np.nan, np.inf
        error[error == 0] = np.nan
        return np.stack([mean, error, df])

    return of_pairs(some, pairs)


def run_noise(a: Sample, b: Sample) -> tuple[float, float, float]:
    """Return the same of one pair."""
    mean, error, df = run_noises([(a, b)])[:, 0].tolist()
    return mean, error, df


def _gone(few: decision.Limits, mean: FloatArray, some: NDArray[np.bool_]) -> decision.Limits:
    """Return Tango's limit, away from zero, of what is won and lost by more than half a problem.

    NaN for scores, and where none is. Of more than `FEW_DIFFER` so many stand for all, so that
    one more lost problem never lowers a limit of the drop. The p-values lie on the other side.

    Parameters
    ----------
    few : Limits
        Tango's, of at most so many.
    mean : (K,) float array
    some : (K,) bool array
        Where any is.
    """
    low = np.where(some & (mean < ROUNDING), few.low, math.nan)
    high = np.where(some & (mean > -ROUNDING), few.high, math.nan)
    none = np.full(len(mean), math.nan)
    return decision.Limits(low, high, none, none)


def _these(noise: FloatArray, level: float) -> tuple[decision.Limits, NDArray[np.bool_]]:
    """Return the limits for these problems, and where they are those of `coins`.

    NaN where no run noise is seen: there is no more of it. The narrower is the one at 95 %, so that
    one procedure is used at all levels and the p-value is its dual.

    Parameters
    ----------
    noise : (6, K) float array
        From `seen_noise`.
    level : float
    """
    noise, table = noise[:3], noise[3:]
    student = decision.student_limits(*noise, level)
    bounded = noise[2] < FEW_DF
    if not bounded.any():
        return student, bounded
    bounded &= np.less(*(_width(f(*x, 0.95)) for f, x in (
        (decision.tango, table), (decision.student_limits, noise)
    )))  # fmt: skip
    return decision.where(bounded, decision.tango(*table, level), student), bounded


def _width(limits: decision.Limits) -> FloatArray:
    return limits.high - limits.low


def _rows(
    limits: decision.Limits, n: int, how: Iterable[str], level: float
) -> list[tuple[Interval, float]]:
    if n < decision.FEWEST:
        how = [f"{x}; no verdict on new problems below {decision.FEWEST} problems" for x in how]
    ends = np.transpose([limits.low, limits.high, limits.p_value]).tolist()
    return [
        (Interval(low, high, level, "paired", "superpopulation", said), p_value)
        for (low, high, p_value), said in zip(ends, how, strict=True)
    ]
