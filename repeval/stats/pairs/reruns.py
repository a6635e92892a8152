"""What run noise alone does: to a score measured again, and to single problems of a pair."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from repeval.stats.components import components, paired
from repeval.stats.intervals import (
    NEEDS_RUNS,
    SCORES_DF,
    Interval,
    check_options,
    fixed_noise,
    t_quantile,
    wilson,
)
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Sample, as_sample

# Tables as likely as the one seen count as extreme, whatever rounding says (as in R).
AS_LIKELY = 1 + 1e-7


def rerun_interval(
    outcomes: Any, runs: ArrayLike | None = None, *, level: float = 0.95
) -> Interval:
    """Return where the score falls if the same system runs the same problems as often again.

    Parameters
    ----------
    outcomes, runs
        See `repeval.as_sample`.
    level : float

    Notes
    -----
    Both scores have the run noise μ_w/(N R), so their difference has twice that: √2 as wide as
    `fixed_t`, which holds the mean over endless runs. As there, the noise of coins is an upper
    bound, for where no run changed anything or the bound is narrower. The score test of two equal
    rates then says: the common rate lies in Wilson's interval of both scores' runs, and the rerun
    as far beyond it as this score is short of it.

    Examples
    --------
    >>> from repeval.stats.pairs.reruns import rerun_interval
    >>> again = rerun_interval([3, 3, 0, 1, 2, 0], 3)
    >>> round(again.low, 3), round(again.high, 3)
    (0.214, 0.786)
    """
    check_options(level)
    s = as_sample(outcomes, runs)
    c = components(s)
    squared, df = fixed_noise(s)
    if math.isnan(squared):
        return Interval(math.nan, math.nan, level, "rerun", "fixed", NEEDS_RUNS)
    n = len(s) * c.runs_harmonic
    low, high = (2 * x - c.mean for x in wilson(c.mean, 2 * n, level))
    low, high, how = max(0.0, low), min(1.0, high), "Wilson, an upper bound on run noise"
    half = t_quantile(level, df) * math.sqrt(2 * squared)
    own = max(0.0, c.mean - half), min(1.0, c.mean + half)
    known = half > ROUNDING and (s.binary or df >= SCORES_DF)
    if known and own[1] - own[0] <= high - low:
        low, high, how = *own, f"Student's t, {df:.1f} df"
    return Interval(low, high, level, "rerun", "fixed", how)


@dataclass(frozen=True)
class ChanceFlips:
    """How many problems would score lower, and higher, if both systems were equally good.

    Attributes
    ----------
    lower, higher : float
        Expected numbers of problems on which the second system has the lower or the higher pass
        rate; NaN for scores that are not pass/fail.
    """

    lower: float
    higher: float


def chance_flips(a: Any, b: Any) -> ChanceFlips:
    """Return how many problems run noise alone would let score lower, and higher.

    Parameters
    ----------
    a, b
        The two systems, in the same order of problems; see `repeval.as_sample`.

    Notes
    -----
    If both systems pass a problem equally often, then given the passes of both together each
    choice of R_A of the runs is as likely to be those of A: k_A is hypergeometric. No rate has to
    be guessed, and the expectation is unbiased under equal rates. Problems that truly differ
    count as noise here: compare both numbers with what was seen, not one of them.

    Examples
    --------
    >>> from repeval.stats.pairs.reruns import chance_flips
    >>> found = chance_flips(([3, 3, 0, 1, 2, 0], 3), ([3, 1, 0, 2, 0, 0], 3))
    >>> round(found.lower, 2), round(found.higher, 2)
    (0.9, 0.9)
    """
    first, second = paired(a, b)
    if not (first.binary and second.binary):
        return ChanceFlips(math.nan, math.nan)
    lower = higher = 0.0
    tables, counts, _ = _tables(first, second)
    for table, n in zip(tables, counts.tolist(), strict=True):
        lower += n * table.probability[table.lead > 0].sum()
        higher += n * table.probability[table.lead < 0].sum()
    return ChanceFlips(float(lower), float(higher))


@dataclass(frozen=True, eq=False)
class Separated:
    """Single problems on which two systems differ by their own runs.

    Attributes
    ----------
    a_better, b_better : (N,) bool array
        The problems named.
    p_value : (N,) float array
        Fisher's exact test of each problem, two-sided.
    by_chance : float
        How many problems as clear as these run noise alone would be expected to give.
    """

    a_better: NDArray[np.bool_]
    b_better: NDArray[np.bool_]
    p_value: FloatArray
    by_chance: float


def separated(a: Any, b: Any, *, level: float = 0.95) -> Separated:
    """Name the problems on which the systems' own runs differ by more than run noise.

    Parameters
    ----------
    a, b
        The two systems, in the same order of problems; pass/fail outcomes only.
    level : float
        At most 1 - level of the problems named is expected to be there by run noise.

    Notes
    -----
    With few runs a problem's p-value has a floor (.008 for 5 of 5 against 0 of 5), so that a
    correction for the number of all problems would name none. Those that all systems pass, or
    fail, can give no small p-value at all: the expected number of p-values up to t is counted out
    from the hypergeometric laws, and the largest t is taken at which it is at most 1 - level of
    those seen. With three runs each no single problem separates.

    References
    ----------
    Heyse (2011), "A false discovery rate procedure for categorical data".

    Examples
    --------
    >>> from repeval.stats.pairs.reruns import separated
    >>> found = separated(([5, 5, 0, 1, 5, 2], 5), ([0, 5, 0, 2, 5, 3], 5))
    >>> found.a_better.tolist(), round(found.by_chance, 3)
    ([True, False, False, False, False, False], 0.016)
    """
    first, second = paired(a, b)
    if not (first.binary and second.binary):
        raise ValueError("pass/fail outcomes are needed; the data hold scores between 0 and 1")
    tables, counts, kind = _tables(first, second)
    sizes = np.array([len(table.p_value) for table in tables])
    # The expected number of p-values up to each possible one, and the largest that is rare enough.
    possible = np.concatenate([table.p_value for table in tables])
    weight = np.repeat(counts, sizes) * np.concatenate([table.probability for table in tables])
    starts = np.cumsum(sizes) - sizes - [table.fewest for table in tables]
    p = possible[starts[kind] + first.passes]
    order = np.argsort(possible)
    up_to = np.concatenate([[0.0], np.cumsum(weight[order])])
    seen = np.sort(p)
    expected = up_to[np.searchsorted(possible[order], seen * AS_LIKELY, side="right")]
    count = np.searchsorted(seen, seen * AS_LIKELY, side="right")
    rare = np.flatnonzero(expected <= (1 - level) * count)
    last = rare[-1] if rare.size else None
    named = p <= (seen[last] * AS_LIKELY if rare.size else -1.0)
    by_chance = float(expected[last]) if rare.size else 0.0
    return Separated(
        named & (first.rate > second.rate), named & (first.rate < second.rate), p, by_chance
    )


@dataclass(frozen=True, eq=False)
class _Table:
    """The law of k_A given the passes of both systems, from the fewest possible upwards."""

    fewest: int
    probability: FloatArray
    lead: IntArray
    p_value: FloatArray


@functools.lru_cache(maxsize=4096)
def _table(passes: int, runs_a: int, runs_b: int) -> _Table:
    k = np.arange(max(0, passes - runs_b), min(runs_a, passes) + 1)
    log = _log_choose(runs_a, k) + _log_choose(runs_b, passes - k)
    probability = np.exp(log - log.max())
    probability /= probability.sum()
    rising = np.sort(probability)
    below = np.searchsorted(rising, probability * AS_LIKELY, side="right")
    # In whole numbers no rounding makes a tie a lead.
    lead = np.sign(k * runs_b - (passes - k) * runs_a)
    return _Table(int(k[0]), probability, lead, np.minimum(np.cumsum(rising)[below - 1], 1.0))


@functools.lru_cache(maxsize=1)
def _tables(a: Sample, b: Sample) -> tuple[list[_Table], IntArray, IntArray]:
    """Return the law of every kind of problem, how many have it, and which one each problem has.

    Kinds are told by passes and runs.
    """
    most = int(a.runs.max()) + 1, int(b.runs.max()) + 1
    code = ((a.passes + b.passes) * most[0] + a.runs) * most[1] + b.runs
    codes, kind, counts = np.unique(code, return_inverse=True, return_counts=True)
    rest, runs_b = np.divmod(codes, most[1])
    kinds = zip(*(x.tolist() for x in (*np.divmod(rest, most[0]), runs_b)), strict=True)
    return [_table(*each) for each in kinds], counts, kind


def _log_choose(n: int, k: IntArray) -> FloatArray:
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
