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
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from repeval.stats.clusters import score_variance
from repeval.stats.components import filled_noise
from repeval.stats.intervals import Interval, fixed_noise, satterthwaite
from repeval.stats.pairs import decision
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Sample

Pair = tuple[Sample, Sample]
# Run noise known with fewer degrees of freedom, from a few repeated or a few noisy problems, may
# say less than its upper bound: Student's t is 2.1 (20 df) to 12.7 (1 df) standard errors.
FEW_DF = 20
# Of few problems that are lost as a whole the law is skewed, and a bootstrap's upper limit too low
# (one lost of 99, twice run: 3.7 %; the exact limit is 5.5 %).
FEW_DIFFER = 8


def decided(
    pairs: Sequence[Pair], law: decision.Limits, how: str, level: float
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

    Returns
    -------
    list of (Interval, float)
        Each with its two-sided p-value.
    """
    n = len(pairs[0][0])
    d = np.stack([a.rate - b.rate for a, b in pairs])
    signs = (np.abs(d) > ROUNDING).sum(axis=1)
    single = decision.tango((d > 0).sum(axis=1), (d < 0).sum(axis=1), n, level)
    binary = np.array([a.binary and b.binary for a, b in pairs])
    # Scores rarely reach 0 and 1, where unseen problems are taken to lie: for equal ones only.
    open_ends = binary | (np.ptp(d, axis=1) < ROUNDING)
    ends = (np.where(open_ends, x, math.nan) for x in (d.min(axis=1), d.max(axis=1)))
    unseen = decision.unseen_limits(*ends, n, level)
    gone = _gone(d, binary, level)
    hull = decision.hull(law, unseen, gone, _these(pairs, level)[0]).guarded(signs, level)
    single = single.guarded(signs, level)
    found = []
    for row, pair in enumerate(pairs):
        once = all(s.binary and s.runs.max() == 1 for s in pair)
        limits, said = (single, "Tango's score interval") if once else (hull, how)
        found.append(_row(limits, row, n, said, level))
    return found


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
    parts = [law, _these([(a, b)], level)[0]]
    if a.binary and b.binary:
        parts.append(decision.unseen_limits([d.min()], [d.max()], min(units, df + 1), level))
    # Clusters are the units, so it is their signs that count.
    signs = (np.abs(np.bincount(groups, d)) > ROUNDING).sum()
    limits = decision.hull(*parts).guarded([signs], level)
    return _row(limits, 0, len(d), how, level)


def these_limits(pairs: Sequence[Pair], level: float) -> tuple[decision.Limits, list[str | None]]:
    """Decide pairs on exactly these problems: their limits, and how they were computed.

    By `fixed_t`, but by the bound `coins` where that is the narrower or nothing flipped. NaN and
    None where no problem was repeated in either system.
    """
    df = np.array([run_noise(*pair)[2] for pair in pairs])
    limits, bounded = _these(pairs, level)
    still = np.isinf(df)
    if still.any():
        table = np.transpose([coins(*pair) for pair in pairs])
        limits = decision.where(still, decision.tango(*table, level), limits)
    how: list[str | None] = [f"Student's t, {x:.1f} df" for x in df]
    for i in np.flatnonzero(bounded):
        how[i] = "Tango's score interval of all runs, an upper bound on run noise"
    for i in np.flatnonzero(still):
        how[i] = "nothing flipped: Tango's score interval of all runs"
    for i in np.flatnonzero(np.isnan(df)):
        how[i] = None
    low, high = np.maximum(limits.low, -1), np.minimum(limits.high, 1)
    return replace(limits, low=low, high=high), how


def coins(a: Sample, b: Sample) -> tuple[float, float, float]:
    """Return pairs of runs won, lost and in all that vary no less than the runs of a and b.

    Scores in [0, 1] vary at most like coins of the same mean, and coins of many means at most like
    coins that are alike (Hoeffding 1956). So run noise is at most that of N r independent pairs, of
    which the share mean(p(1-q)) is won and mean(q(1-p)) lost; r, the harmonic mean of the runs that
    a problem has in both systems, is exact where these are equal.
    """
    pairs = len(a) / float((1 / np.minimum(a.runs, b.runs)).mean())
    p, q = a.rate, b.rate
    return float((p * (1 - q)).mean()) * pairs, float((q * (1 - p)).mean()) * pairs, pairs


def run_noise(a: Sample, b: Sample) -> tuple[float, float, float]:
    """Return the difference, its standard error from run noise, and Satterthwaite's df.

    The error is NaN where no noise is seen, the df too where none can be.
    """
    mean = float((a.rate - b.rate).mean())
    noise = filled_noise(a) / a.runs + filled_noise(b) / b.runs
    if np.isnan(noise).any():
        return mean, math.nan, math.nan
    if not noise.any():
        return mean, math.nan, math.inf
    if min(a.runs.min(), b.runs.min()) > 1:
        df = satterthwaite(noise)
    else:
        # Each system shows its noise on the problems that it repeated, and no others (Welch).
        parts = fixed_noise(a), fixed_noise(b)
        df = sum(v for v, _ in parts) ** 2 / sum(v * v / known for v, known in parts)
    return mean, math.sqrt(noise.mean() / len(a)), df


def _gone(d: FloatArray, binary: NDArray[np.bool_], level: float) -> decision.Limits:
    """Return Tango's limit, away from zero, of what is won and lost by more than half a problem.

    NaN for scores, and where none is. Of more than `FEW_DIFFER` so many stand for all, so that
    one more lost problem never lowers a limit of the drop. The p-values lie on the other side.

    Parameters
    ----------
    d : (K, N) float array
    binary : (K,) bool array
    level : float
    """
    large = np.where(np.abs(d) > 0.5, d, 0)
    many = (large != 0).sum(axis=1)
    scale = np.minimum(1, FEW_DIFFER / np.maximum(many, 1))
    won, lost = (np.maximum(x, 0).sum(axis=1) * scale for x in (large, -large))
    found = decision.tango(won, lost, d.shape[1], level)
    some, mean, none = binary & (many > 0), d.mean(axis=1), np.full(len(d), math.nan)
    low = np.where(some & (mean < ROUNDING), found.low, math.nan)
    high = np.where(some & (mean > -ROUNDING), found.high, math.nan)
    return decision.Limits(low, high, none, none)


def _these(pairs: Sequence[Pair], level: float) -> tuple[decision.Limits, NDArray[np.bool_]]:
    """Return the limits for these problems, and where they are those of `coins`.

    NaN where no run noise is seen: there is no more of it. The narrower is the one at 95 %, so that
    one procedure is used at all levels and the p-value is its dual.
    """
    noise = np.transpose([run_noise(*pair) for pair in pairs])
    student = decision.student_limits(*noise, level)
    bounded = noise[2] < FEW_DF
    if not bounded.any():
        return student, bounded
    table = np.transpose([coins(*pair) for pair in pairs])
    bounded &= np.less(*(_width(f(*x, 0.95)) for f, x in (
        (decision.tango, table), (decision.student_limits, noise)
    )))  # fmt: skip
    return decision.where(bounded, decision.tango(*table, level), student), bounded


def _width(limits: decision.Limits) -> FloatArray:
    return limits.high - limits.low


def _row(
    limits: decision.Limits, row: int, n: int, how: str, level: float
) -> tuple[Interval, float]:
    if n < decision.FEWEST:
        how += f"; no verdict on new problems below {decision.FEWEST} problems"
    low, high, p_value = (float(x[row]) for x in (limits.low, limits.high, limits.p_value))
    return Interval(low, high, level, "paired", "superpopulation", how), p_value
