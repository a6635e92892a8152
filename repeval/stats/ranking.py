"""Ranks of several systems on common problems, and how sure they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from repeval.stats.clusters import cluster_df, score_variance
from repeval.stats.comparison import compare
from repeval.stats.intervals import check_options, t_quantile
from repeval.stats.resampling import (
    as_clusters,
    as_generator,
    parts_of,
    rerun_means,
    weighted_means,
    weights,
)
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Sample, as_sample


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks of M systems; equal totals share the better rank, so `p_first` may add up to over 1.

    Attributes
    ----------
    rank : (M,) int array
        1 is best.
    low, high : (M,) int array
        Percentile rank interval under resampling; no confidence set.
    set_low, set_high : (M,) int array
        Ranks the data cannot rule out, for one system at a time (max-t over its M-1
        differences; Mogstad, Romano, Shaikh and Wilhelm 2024).
    apart : (M, M) int array
        In column j 1 for every system that is surely above j, -1 for those below, else 0.
    p_first, p_top3 : (M,) float array
    name : {"one_level", "two_level"}

    Examples
    --------
    >>> import repeval
    >>> ranking = repeval.rank([([3, 3, 0, 1, 2, 0], 3), ([3, 1, 0, 2, 0, 0], 3)], rng=2606)
    >>> ranking.low.tolist(), ranking.high.tolist()
    ([1, 1], [2, 2])
    >>> ranking.p_first.round(2).tolist()
    [0.9, 0.2]
    """

    rank: IntArray
    low: IntArray
    high: IntArray
    set_low: IntArray
    set_high: IntArray
    apart: IntArray
    p_first: FloatArray
    p_top3: FloatArray
    name: str


def rank(
    systems: Sequence[Any],
    *,
    name: str = "one_level",
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator | None = None,
    clusters: ArrayLike | None = None,
) -> Ranking:
    """Rank systems by score, problems resampled once for all of them.

    Parameters
    ----------
    systems : sequence of M systems
        On the same problems in the same order; see `repeval.as_sample`.
    name : {"one_level", "two_level"}
        The second resamples runs as well, as the paper does.

    References
    ----------
    VC section 5.1 and Appendix F.

    Examples
    --------
    Ranks, and the best and worst rank that the data cannot rule out:

    >>> import repeval
    >>> systems = [([3, 3, 0, 1, 2, 0], 3), ([3, 1, 0, 2, 0, 0], 3), ([0, 1, 0, 1, 0, 0], 3)]
    >>> ranking = repeval.rank(systems, rng=2606)
    >>> ranking.rank.tolist()
    [1, 2, 3]
    >>> ranking.set_low.tolist(), ranking.set_high.tolist()
    ([1, 1, 2], [2, 3, 3])
    """
    check_options(level, n_resamples=n_resamples)
    if name not in ("one_level", "two_level"):
        raise ValueError(f"name must be one_level or two_level, not {name!r}")
    samples = [as_sample(s) for s in systems]
    if len({len(s) for s in samples}) != 1:
        raise ValueError("at least one system is needed, and all on the same problems")
    rates = np.stack([s.rate for s in samples])
    groups = as_clusters(clusters, len(samples[0]))
    draws = resampled_scores(samples, name, n_resamples, as_generator(rng), groups)
    ranks = ranks_of(draws)
    tail = (1 - level) / 2
    low, high = np.quantile(ranks, [tail, 1 - tail], axis=0, method="inverted_cdf").astype(int)
    apart = _apart(samples, draws, level, groups)
    set_low, set_high = rank_sets(apart)
    return Ranking(
        rank=ranks_of(rates.mean(axis=1)[None])[0],
        low=low,
        high=high,
        set_low=set_low,
        set_high=set_high,
        apart=apart,
        p_first=(ranks == 1).mean(axis=0),
        p_top3=(ranks <= 3).mean(axis=0),
        name=name,
    )


def resampled_scores(
    samples: Sequence[Sample],
    name: str,
    n_resamples: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> FloatArray:
    """Return the (n_resamples, M) scores of all systems on the same resampled problems."""
    if name == "one_level":
        rates = np.stack([s.rate for s in samples], axis=1)
        return weighted_means(rates, rng, n_resamples, groups)
    if not all(s.binary for s in samples):
        return rerun_means(samples, rng, n_resamples, groups)
    # Many systems have few problems with equal (k, R) in all: here kinds are those of each system.
    indicators, k, r, owner = _kinds(samples)
    scores = []
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    for w in weights(rng, len(samples[0]), n_resamples, groups):
        for part in parts_of(w, max(len(k), w.shape[1])):
            # Problems of one kind share a binomial draw; counts below 2^24 are exact in float32.
            counts = (part.astype(np.float32) @ indicators).astype(np.int64)
            totals = np.add.reduceat(rng.binomial(counts * r, k / r) / r, first, axis=1)
            scores.append(totals / part.sum(axis=1, keepdims=True))
    return np.concatenate(scores)


def ranks_of(scores: FloatArray) -> IntArray:
    """Return ranks along the last axis, 1 for the highest; ties share the better rank."""
    # Scores within rounding of each other are equal: sums of the same fractions.
    above = [len(row) - np.searchsorted(np.sort(row), row + 1e-9, side="right") for row in scores]
    return 1 + np.stack(above)


def _kinds(samples: Sequence[Sample]) -> tuple[NDArray[np.float32], IntArray, IntArray, IntArray]:
    """Return which problems are of which kind (k, R) of each system, and k, R and the system."""
    indicators, passes, runs, owner = [], [], [], []
    for m, s in enumerate(samples):
        most = int(s.runs.max()) + 1
        kinds, member = np.unique(s.runs * most + s.passes, return_inverse=True)
        indicators.append(np.eye(len(kinds), dtype=np.float32)[member])
        passes.append(kinds % most)
        runs.append(kinds // most)
        owner.append(np.full(len(kinds), m))
    return np.concatenate(indicators, axis=1), *map(np.concatenate, (passes, runs, owner))


def rank_sets(apart: IntArray) -> tuple[IntArray, IntArray]:
    """Return the best and the worst rank that `apart` leaves to each system."""
    return 1 + (apart > 0).sum(axis=0), len(apart) - (apart < 0).sum(axis=0)


def _apart(
    samples: Sequence[Sample], draws: FloatArray, level: float, groups: IntArray | None
) -> IntArray:
    m = len(samples)
    rates = np.stack([s.rate for s in samples])
    apart = np.zeros((m, m), dtype=int)
    for j in range(m):
        observed = rates.mean(axis=1) - rates[j].mean()
        if groups is None:
            spread = (rates - rates[j]).std(axis=1, ddof=1) / math.sqrt(rates.shape[1])
        else:
            spread = np.sqrt([score_variance(d, groups)[0] for d in rates - rates[j]])
        known = spread > ROUNDING
        if known.any():
            centred = draws[:, known] - draws[:, [j]] - observed[known]
            critical = np.quantile((np.abs(centred) / spread[known]).max(axis=1), level)
            # Few or unequal clusters say less than they do resampled.
            if groups is not None:
                df = cluster_df(np.bincount(groups))
                critical = max(critical, t_quantile(1 - (1 - level) / (m - 1), df))
            t = observed[known] / spread[known]
            apart[known, j] = np.sign(t) * (np.abs(t) > critical)
        # The same difference on every problem has no spread: there Newcombe's interval decides.
        for i in np.flatnonzero(~known & (np.abs(observed) > ROUNDING)):
            if compare(samples[i], samples[j], name="one_level", level=level).resolved:
                apart[i, j] = np.sign(observed[i])
    return apart
