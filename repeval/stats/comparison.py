"""Comparisons of two systems on the same problems, for new problems and for these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats import exact
from repeval.stats.components import paired, score
from repeval.stats.intervals import (
    NEEDS_RUNS,
    NO_FLIP,
    Interval,
    check_options,
    interval,
    normal_quantile,
    score_variance,
    t_quantile,
)
from repeval.stats.pairs import decision, hull
from repeval.stats.resampling import as_clusters, as_generator, rerun_means, resampled_means
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Pair, Sample

ESTIMANDS = {
    "paired": "superpopulation",
    "one_level": "superpopulation",
    "two_level": "superpopulation",
    "clustered_normal": "superpopulation",
    "fixed_normal": "fixed",
    "fixed_t": "fixed",
    "paired_fixed": "fixed",
}
POWER = 0.8
# Pairs whose laws are transformed at once.
BATCH = 500
# What reads the law of another.
LAWS = {"paired": "one_level"}
EXPANDED = "%s at the expanded level, hull"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of two scores, A - B.

    Attributes
    ----------
    difference : float
    interval : Interval
    p_greater, p_tie : float
        Shares of resamples in which A leads, and in which both are equal; not the
        probability that A is better.
    p_value : float
        Two-sided, the smallest 1 - level at which the interval excludes zero; for the plain laws
        twice the smaller share on the other side of zero, ties included.
    n_problems : int

    Examples
    --------
    >>> import repeval
    >>> c = repeval.compare(([3, 3, 0, 1, 2, 0, 3, 2], 3), ([3, 1, 0, 2, 0, 0, 2, 1], 3))
    >>> round(c.p_greater, 3), round(c.p_tie, 3), round(c.p_value, 3)
    (0.947, 0.03, 0.175)
    """

    difference: float
    interval: Interval
    p_greater: float
    p_tie: float
    p_value: float
    n_problems: int

    @property
    def resolved(self) -> bool | None:
        """Whether the interval excludes zero; None without one, by `paired` below 8 problems."""
        if not self.interval.exists:
            return None
        if self.interval.name == "paired" and self.n_problems < decision.FEWEST:
            return None
        return self.interval.low > 0 or self.interval.high < 0


def compare(
    a: Any,
    b: Any,
    *,
    name: str = "paired",
    level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 2000,
    rng: int | np.random.Generator | None = None,
    clusters: ArrayLike | None = None,
) -> Comparison:
    """Compare two systems that were run on the same problems, in the same order.

    Parameters
    ----------
    a, b
        See `repeval.as_sample`; give passes and runs as one pair, (passes, runs).
    name : str
        For new problems `paired` (to decide by), `one_level` (its law, read plainly: too sure on
        few problems), `two_level` (the paper's; it counts run noise twice) or `clustered_normal`;
        for exactly these `paired_fixed` (to decide by), `fixed_normal`, `fixed_t`.
    level, method, n_resamples, rng, clusters
        As in `repeval.interval`.

    Notes
    -----
    `paired` is Tango's score interval where every problem was run once, and else the hull of the
    one-level law at Hesterberg's expanded level, of what unseen problems leave open and
    Tango's interval of few lost problems (for pass/fail), and of `paired_fixed` where runs flipped;
    by clusters Student's t instead of the law. It is never surer than the signs of the problems, or
    clusters, that differ, and gives no verdict below 8 problems.
    `paired_fixed` is `fixed_t`, and where nothing flipped, or few problems show run noise and it
    is narrower, Tango's interval of all runs side by side, which no run noise exceeds.

    References
    ----------
    VC section 5.1 and Figure 1 (`two_level`); `repeval.stats.pairs.decision` (`paired`).

    Examples
    --------
    >>> import repeval
    >>> c = repeval.compare(([3, 3, 0, 1, 2, 0, 3, 2], 3), ([3, 1, 0, 2, 0, 0, 2, 1], 3))
    >>> round(c.difference, 3), round(c.interval.low, 3), round(c.interval.high, 3)
    (0.208, -0.083, 0.513)
    >>> c.resolved
    False
    """
    if name not in ESTIMANDS:
        raise ValueError(f"unknown comparison {name!r}; one of {', '.join(ESTIMANDS)}")
    check_options(level, method, n_resamples)
    pair = paired(a, b)
    groups = as_clusters(clusters, len(pair[0]))
    if ESTIMANDS[name] == "fixed":
        if name == "paired_fixed":
            return fixed_comparisons([pair], level)[0]
        return _fixed(*pair, name, level)
    if name == "paired" and groups is not None:
        plain = compare(
            *pair, name="one_level", level=level, method=method,
            n_resamples=n_resamples, rng=rng, clusters=groups,
        )  # fmt: skip
        limits, p_value = hull.decided_by_clusters(*pair, groups, level)
        return replace(plain, interval=limits, p_value=p_value)
    # A bootstrap of few or unequal clusters is far too sure; Monte Carlo only where asked for.
    if (groups is not None and method == "auto") or name == "clustered_normal":
        return _clustered_normal(*pair, name, level, groups)
    fits = groups is None and exact.is_exact(*pair)
    if method == "exact" and not fits:
        raise ValueError("no exact law: scores, clusters or a lattice of too many points")
    if fits and method != "monte-carlo":
        return exact_comparisons([pair], name, level)[0]
    return _monte_carlo(*pair, name, level, n_resamples, as_generator(rng), groups)


def exact_comparisons(pairs: Sequence[Pair], name: str, level: float) -> list[Comparison]:
    """Compare many pairs by their exact laws, those of one size in one batched transform."""
    return all_comparisons(pairs, (name,), level)[name]


def all_comparisons(
    pairs: Sequence[Pair], names: Sequence[str], level: float, noise: FloatArray | None = None
) -> dict[str, list[Comparison]]:
    """Return the same by several procedures, each law read once; `seen_noise` may be known."""
    noise = hull.seen_noise(pairs) if noise is None else noise
    results: dict[str, dict[int, Comparison]] = {name: {} for name in names}
    batches: dict[tuple[int, int], list[int]] = {}
    for i, (a, b) in enumerate(pairs):
        batches.setdefault((len(a), math.lcm(a.lattice, b.lattice)), []).append(i)
    for members in (
        some[first : first + BATCH]
        for some in batches.values() for first in range(0, len(some), BATCH)
    ):  # fmt: skip
        here, seen = [pairs[i] for i in members], noise[:, members]
        laws = {x: exact.difference_law(here, x) for x in {LAWS.get(name, name) for name in names}}
        for name in names:
            found = _by_law(here, laws[LAWS.get(name, name)], name, level, seen)
            results[name].update(zip(members, found, strict=True))
    return {name: [found[i] for i in range(len(pairs))] for name, found in results.items()}


def _by_law(
    pairs: Sequence[Pair], law: exact.Law, name: str, level: float, noise: FloatArray
) -> list[Comparison]:
    """Compare pairs of one size by a procedure that reads their law."""
    n = len(pairs[0][0])
    less, tie = law.zero
    if name == "paired":
        limits, how = decision.law_limits(law, n, level), EXPANDED % "exact law"
        found = hull.decided(pairs, limits, how, level, noise)
    else:
        ends = np.transpose(law.interval(level)).tolist()
        found = [(Interval(*x, level, name, ESTIMANDS[name], "exact law"), None) for x in ends]
    shares = np.transpose([noise[0], 1 - less - tie, tie]).tolist()
    return [
        _comparison(pair, limits, *share, p)
        for pair, (limits, p), share in zip(pairs, found, shares, strict=True)
    ]


def fixed_comparisons(
    pairs: Sequence[Pair], level: float, noise: FloatArray | None = None
) -> list[Comparison]:
    """Compare many pairs on exactly these problems by `paired_fixed`, at once."""
    noise = hull.seen_noise(pairs) if noise is None else noise
    limits, said = hull.these_limits(pairs, level, noise)
    rows = np.transpose([noise[0], limits.low, limits.high, limits.p_below]).tolist()
    found = []
    for pair, (mean, low, high, below), how in zip(pairs, rows, said, strict=True):
        if how is None:
            found.append(_none("paired_fixed", mean, level, NEEDS_RUNS, len(pair[0])))
            continue
        shown = Interval(low, high, level, "paired_fixed", ESTIMANDS["paired_fixed"], how)
        found.append(_comparison(pair, shown, mean, below / 2, 0.0, min(below, 2 - below)))
    return found


@dataclass(frozen=True, slots=True)
class HalfWidths:
    """Half an interval's width on new problems now, and if more were run.

    Doubling R halves the run noise, which is all of the variance at most; doubling N halves
    everything. `endless_runs` is None where no limit is seen.
    """

    now: float
    twice_runs: float
    endless_runs: float | None
    twice_problems: float


def half_widths(half: float, aleatoric_share: float) -> HalfWidths:
    """Return what more runs or problems would make of half a width.

    Parameters
    ----------
    half : float
    aleatoric_share : float
        Of the variance; what lies above 1 counts as 1.
    """
    share = min(aleatoric_share, 1.0)
    return HalfWidths(
        now=half,
        twice_runs=half * math.sqrt(1 - share / 2),
        endless_runs=half * math.sqrt(1 - share) if share < 1 else None,
        twice_problems=half * math.sqrt(0.5),
    )


def pooled_z(a: Any, b: Any) -> float:
    """Return z of the two-proportion test that counts all runs as independent.

    NaN for scores, and where every run passed or every run failed. As everywhere, a proportion is
    the mean of pass rates. For reference: it is right for neither question.

    References
    ----------
    VC section 5.1.
    """
    return pooled_zs([paired(a, b)])[0]


def pooled_zs(pairs: Sequence[Pair]) -> list[float]:
    """Return the same for many pairs."""
    runs = np.array([[float(s.all_runs) for s in pair] for pair in pairs])
    means = np.array([[score(s) for s in pair] for pair in pairs])
    binary = np.array([a.binary and b.binary for a, b in pairs])
    share = np.vecdot(means, runs) / runs.sum(axis=1)
    variance = share * (1 - share) * (1 / runs).sum(axis=1)
    known = binary & (variance > 0)
    z = (means[:, 0] - means[:, 1]) / np.sqrt(np.where(known, variance, math.nan))
    return z.tolist()


def minimum_detectable(variance: float, level: float, power: float = POWER) -> float:
    """Return the smallest true difference that a test at `level` finds with `power`.

    Parameters
    ----------
    variance : float
        Of the estimated difference.

    References
    ----------
    VC Limitations (the 5 pp prompt effect).
    """
    return (normal_quantile(level) + float(special.ndtri(power))) * math.sqrt(variance)


def holm(p_values: ArrayLike) -> FloatArray:
    """Return Holm's step-down adjusted p-values."""
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def _comparison(
    pair: Pair,
    limits: Interval,
    difference: float,
    p_greater: float,
    p_tie: float,
    p_value: float | None = None,
) -> Comparison:
    p_greater = max(0.0, p_greater)
    if p_value is None:
        p_value = max(0.0, min(1.0, 2 * min(p_greater + p_tie, 1 - p_greater)))
        if limits.high - limits.low < ROUNDING:
            limits = _newcombe(*pair, limits)
    return Comparison(difference, limits, p_greater, p_tie, p_value, len(pair[0]))


def _newcombe(a: Sample, b: Sample, limits: Interval) -> Interval:
    """Stand in for a law that is a point: combine both scores' intervals (Newcombe 1998)."""
    one, two = (interval(s, name="clustered_wilson", level=limits.level) for s in (a, b))
    if not (one.exists and two.exists):
        return replace(limits, low=math.nan, high=math.nan, method="every resample is the same")
    p, q = a.rate.mean(), b.rate.mean()
    return replace(
        limits,
        low=float(p - q - math.hypot(p - one.low, two.high - q)),
        high=float(p - q + math.hypot(one.high - p, q - two.low)),
        method="Newcombe: the difference is the same on every problem",
    )


def _clustered_normal(
    a: Sample, b: Sample, name: str, level: float, groups: IntArray | None
) -> Comparison:
    d = a.rate - b.rate
    squared, df = score_variance(d, groups)
    se, mean = math.sqrt(squared), float(d.mean())
    half = t_quantile(level, df) * se
    how = "closed form"
    if groups is not None:
        how = f"Student's t, {df:.1f} df, {groups.max() + 1} clusters"
    limits = Interval(mean - half, mean + half, level, name, "superpopulation", how)
    if se == 0:
        return _comparison((a, b), limits, mean, float(mean > 0), float(mean == 0))
    greater = float(special.ndtr(mean / se) if math.isinf(df) else special.stdtr(df, mean / se))
    return _comparison((a, b), limits, mean, greater, 0.0)


def _none(name: str, mean: float, level: float, reason: str, n: int) -> Comparison:
    limits = Interval(math.nan, math.nan, level, name, "fixed", reason)
    return Comparison(mean, limits, math.nan, math.nan, math.nan, n)


def _fixed(a: Sample, b: Sample, name: str, level: float) -> Comparison:
    """Compare on exactly these problems: only run noise, Var = (μ_wA + μ_wB)/(N R)."""
    n = len(a)
    mean, se, df = hull.run_noise(a, b)
    if math.isnan(se):
        return _none(name, mean, level, NEEDS_RUNS if math.isnan(df) else NO_FLIP, n)
    df = math.inf if name == "fixed_normal" else df
    half = t_quantile(level, df) * se
    how = "closed form" if math.isinf(df) else f"Student's t, {df:.1f} df"
    limits = Interval(mean - half, mean + half, level, name, "fixed", how)
    greater = float(special.stdtr(df, mean / se))
    return Comparison(mean, limits, greater, 0.0, 2 * min(greater, 1 - greater), n)


def _monte_carlo(
    a: Sample,
    b: Sample,
    name: str,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
    groups: IntArray | None,
) -> Comparison:
    if name in ("one_level", "paired"):
        d = (a.rate - b.rate)[:, None]
        draws = resampled_means(d, rng, n_resamples, groups)[:, 0]
    else:
        draws = np.subtract(*rerun_means([a, b], rng, n_resamples, groups).T)
    # Sums of fractions: what is zero in exact arithmetic may come out as 1e-17.
    draws[np.abs(draws) < ROUNDING] = 0.0
    how = f"Monte Carlo, {n_resamples} resamples"
    greater, tie = float((draws > 0).mean()), float((draws == 0).mean())
    mean = float((a.rate - b.rate).mean())
    if name == "paired":
        law = decision.drawn_limits(draws, len(a), level)
        ((limits, p_value),) = hull.decided([(a, b)], law, EXPANDED % how, level)
        return _comparison((a, b), limits, mean, greater, tie, p_value)
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], method="inverted_cdf")
    limits = Interval(float(low), float(high), level, name, ESTIMANDS[name], how)
    return _comparison((a, b), limits, mean, greater, tie)
