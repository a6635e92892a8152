"""What run noise alone does: to a score measured again, and to single problems of a pair."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Pair, as_sample, differences, sides

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
    pair = paired(a, b)
    if not all(s.binary for s in pair):
        return ChanceFlips(math.nan, math.nan)
    found = apart([pair], 0.95)
    return ChanceFlips(float(found.lower[0]), float(found.higher[0]))


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
    pair = paired(a, b)
    if not all(s.binary for s in pair):
        raise ValueError("pass/fail outcomes are needed; the data hold scores between 0 and 1")
    found = apart([pair], level)
    rows = found.a_better, found.b_better, found.p_value
    return Separated(*(row[0] for row in rows), float(found.by_chance[0]))


class Apart(NamedTuple):
    """What `separated` and `chance_flips` say of K pairs.

    Attributes
    ----------
    a_better, b_better : (K, N) bool array
    p_value : (K, N) float array
    by_chance, lower, higher : (K,) float array
    """

    a_better: NDArray[np.bool_]
    b_better: NDArray[np.bool_]
    p_value: FloatArray
    by_chance: FloatArray
    lower: FloatArray
    higher: FloatArray


def together(pairs: Sequence[Pair]) -> int:
    """Return how many numbers `apart` takes of a pair: all passes there may be of each runs."""
    runs = [{r for s in set(side) for r in s.distinct_runs} for side in zip(*pairs, strict=True)]
    return math.prod(sum(r + 1 for r in side) for side in runs)


def apart(pairs: Sequence[Pair], level: float) -> Apart:
    """Compare each problem of K pairs on N pass/fail problems; see `separated`."""
    passes, other = sides(pairs, lambda s: s.passes)
    tables, kind = _tables(passes, other, *sides(pairs, lambda s: s.runs))
    k, sizes = len(pairs), np.array([len(table.p_value) for table in tables])
    # What is possible is a place in the tables of all kinds of problems, one after the other.
    starts = np.cumsum(sizes) - sizes
    place = (starts - [table.fewest for table in tables])[kind] + passes
    possible, probability, lead = (
        np.concatenate([getattr(table, name) for table in tables])
        for name in ("p_value", "probability", "lead")
    )
    counts, seen = _counted(kind, len(tables)), _counted(place, len(possible))
    # The expected number of p-values up to each possible one, and the largest that is rare enough.
    order = np.argsort(possible, kind="stable")
    up_to = np.searchsorted(possible[order], possible[order] * AS_LIKELY, side="right")
    weight = np.repeat(counts, sizes, axis=1) * probability
    expected, count = (_up_to(x[:, order], up_to) for x in (weight, seen))
    rare = (seen[:, order] > 0) & (expected <= (1 - level) * count)
    last = np.where(rare.any(axis=1), rare.shape[1] - 1 - rare[:, ::-1].argmax(axis=1), -1)
    limit = np.where(last >= 0, possible[order][last] * AS_LIKELY, -1.0)
    p = possible[place]
    named, better = p <= limit[:, None], differences(pairs)
    by_chance = np.where(last >= 0, expected[np.arange(k), last], 0.0)
    leads = (
        np.add.reduceat(np.where(side, probability, 0.0), starts) for side in (lead > 0, lead < 0)
    )
    lower, higher = (np.cumsum(counts * side, axis=1)[:, -1] for side in leads)
    return Apart(named & (better > 0), named & (better < 0), p, by_chance, lower, higher)


def _counted(codes: IntArray, kinds: int) -> IntArray:
    """Count the codes 0, 1, ... of each row."""
    codes = codes + kinds * np.arange(len(codes))[:, None]
    return np.bincount(codes.ravel(), minlength=len(codes) * kinds).reshape(len(codes), kinds)


def _up_to(rows: NDArray[Any], places: IntArray) -> NDArray[Any]:
    """Return the sums of the first so many numbers of each row, at least one."""
    return np.cumsum(rows, axis=1)[:, places - 1]


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


def _tables(
    passes: IntArray, other: IntArray, runs_a: IntArray, runs_b: IntArray
) -> tuple[list[_Table], IntArray]:
    """Return the law of every kind of problem, and which one each problem has.

    Kinds are told by passes and runs.
    """
    most = int(runs_a.max()) + 1, int(runs_b.max()) + 1
    code = ((passes + other) * most[0] + runs_a) * most[1] + runs_b
    codes, kind = np.unique(code, return_inverse=True)
    rest, last = np.divmod(codes, most[1])
    kinds = zip(*(x.tolist() for x in (*np.divmod(rest, most[0]), last)), strict=True)
    return [_table(*each) for each in kinds], kind.reshape(code.shape)


def _log_choose(n: int, k: IntArray) -> FloatArray:
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
