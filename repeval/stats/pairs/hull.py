"""The decision on new problems for pairs of systems: which limits go into the hull."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from repeval.stats.clusters import score_variance
from repeval.stats.components import filled_noise
from repeval.stats.intervals import Interval, fixed_noise, satterthwaite
from repeval.stats.pairs import decision
from repeval.stats.sample import ROUNDING, IntArray, Sample

Pair = tuple[Sample, Sample]


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
    single = decision.tango((d > 0).sum(axis=1), (d < 0).sum(axis=1), n, level).guarded(n, level)
    # Scores rarely reach 0 and 1, where unseen problems are taken to lie: for equal ones only.
    open_ends = np.array([a.binary and b.binary for a, b in pairs]) | (np.ptp(d, axis=1) < ROUNDING)
    ends = (np.where(open_ends, x, math.nan) for x in (d.min(axis=1), d.max(axis=1)))
    unseen = decision.unseen_limits(*ends, n, level)
    signs = (np.abs(d) > ROUNDING).sum(axis=1)
    hull = decision.hull(law, unseen, _these(pairs, level)).guarded(signs, level)
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
    limits = decision.hull(law, _these([(a, b)], level))
    return _row(limits, 0, len(d), how, level)


def decided_still(a: Sample, b: Sample, level: float) -> tuple[Interval, float] | None:
    """Decide on exactly these problems where nothing flipped, with the share that A leads.

    None but for pass/fail outcomes, equally often run at least twice. The R runs of a problem in
    both systems, side by side, are N R independent pairs; Tango's interval takes them as alike,
    which only adds variance (Hoeffding 1956), and difficulty that both share cancels.
    """
    runs = int(a.runs[0])
    same = all(s.binary and (s.runs == runs).all() and not s.noise.any() for s in (a, b))
    if runs < 2 or not same:
        return None
    d, n = a.rate - b.rate, len(a) * runs
    limits = decision.tango([(d > 0).sum() * runs], [(d < 0).sum() * runs], n, level)
    low, high = float(limits.low[0]), float(limits.high[0])
    how = "nothing flipped: Tango's score interval of all runs"
    return Interval(low, high, level, "paired_fixed", "fixed", how), float(limits.p_below[0]) / 2


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


def _these(pairs: Sequence[Pair], level: float) -> decision.Limits:
    """Return the intervals `fixed_t`, NaN where no run noise is seen: there is no more of it."""
    return decision.student_limits(*np.transpose([run_noise(*pair) for pair in pairs]), level)


def _row(
    limits: decision.Limits, row: int, n: int, how: str, level: float
) -> tuple[Interval, float]:
    if n < decision.FEWEST:
        how += f"; no verdict on new problems below {decision.FEWEST} problems"
    low, high, p_value = (float(x[row]) for x in (limits.low, limits.high, limits.p_value))
    return Interval(low, high, level, "paired", "superpopulation", how), p_value
