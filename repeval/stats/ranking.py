"""Ranks of several systems on common problems, and how sure they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from repeval.stats.comparison import compare
from repeval.stats.intervals import check_options, t_quantile
from repeval.stats.pairs.apart import MOST_DRAWN, columns_apart, degrees, largest, unit_rates
from repeval.stats.resampling import (
    as_clusters,
    as_generator,
    parts_of,
    rerun_means,
    weights,
)
from repeval.stats.sample import FloatArray, IntArray, Sample, as_sample

# Up to so many systems it is quicker to hold each against all than to sort every resample.
FEW = 64
# Multiplications of a product that OpenBLAS leaves to one core: for small products to start others
# takes longer than what they save, and their sums depend on how many there are.
ONE_CORE = 2**18


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
        differences; Mogstad, Romano, Shaikh and Wilhelm 2024. Of more than 1,000 systems
        Bonferroni's t, which is never smaller, stands for it).
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
    found, columns = _ranked(systems, name, level, n_resamples, rng, clusters)
    apart = np.empty((len(systems), len(systems)), dtype=np.int8)
    for block, signs in columns:
        apart[:, block] = signs
    set_low, set_high = rank_sets(apart)
    return Ranking(**found, set_low=set_low, set_high=set_high, apart=apart, name=name)


class Places(NamedTuple):
    """The figures of `Ranking` that have a number for each system."""

    rank: IntArray
    low: IntArray
    high: IntArray
    set_low: IntArray
    set_high: IntArray
    p_first: FloatArray
    p_top3: FloatArray


def places(
    systems: Sequence[Any],
    undecided: Sequence[tuple[int, int]],
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator | None = None,
    clusters: ArrayLike | None = None,
) -> Places:
    """Rank as `rank` does, but take some pairs of systems as not told apart.

    Who is above whom is counted some systems at a time: all at once were 140 MB for 12,000.
    """
    found, columns = _ranked(systems, "one_level", level, n_resamples, rng, clusters)
    i, j = np.array([*undecided, *((b, a) for a, b in undecided)], dtype=int).reshape(-1, 2).T
    counts = np.empty((2, len(systems)), dtype=int)
    for block, signs in columns:
        inside = (j >= block.start) & (j < block.stop)
        signs[i[inside], j[inside] - block.start] = 0
        counts[:, block] = (signs > 0).sum(axis=0), (signs < 0).sum(axis=0)
    return Places(**found, set_low=1 + counts[0], set_high=len(systems) - counts[1])


def _ranked(
    systems: Sequence[Any],
    name: str,
    level: float,
    n_resamples: int,
    rng: int | np.random.Generator | None,
    clusters: ArrayLike | None,
) -> tuple[dict[str, Any], Iterator[tuple[slice, IntArray]]]:
    """Return ranks, what came of them in resamples, and who is told apart (`columns_apart`)."""
    check_options(level, n_resamples=n_resamples)
    if name not in ("one_level", "two_level"):
        raise ValueError(f"name must be one_level or two_level, not {name!r}")
    samples = [as_sample(s) for s in systems]
    if len({len(s) for s in samples}) != 1:
        raise ValueError("at least one system is needed, and all on the same problems")
    groups = as_clusters(clusters, len(samples[0]))
    drawn = drawn_ranks(samples, name, n_resamples, as_generator(rng), groups)
    rates = np.stack([s.rate for s in samples])
    scores, units = rates.mean(axis=1), unit_rates(rates, groups)
    bound = t_quantile(1 - (1 - level) / max(len(samples) - 1, 1), degrees(rates.shape[1], groups))
    critical = np.full(len(samples), bound)
    if drawn.scores is not None:
        critical = np.quantile(largest(drawn.scores, scores, units), level, axis=1)
        # Few or unequal clusters say less than they do resampled.
        critical = critical if groups is None else np.maximum(critical, bound)
    low, high = drawn.limits(level)
    found = {
        "rank": ranks_of(scores[None])[0], "low": low, "high": high,
        "p_first": drawn.share(1), "p_top3": drawn.share(3),
    }  # fmt: skip
    return found, columns_apart(
        samples, scores, units, critical,
        lambda a, b: compare(a, b, name="one_level", level=level).resolved,
    )  # fmt: skip


class Drawn(NamedTuple):
    """What came of systems in resamples of the problems.

    Attributes
    ----------
    ranks : (B, M) int array
    first : (B,) int array
        The first system in each resample.
    best : (B,) float array
        Its score there.
    scores : (B, M) float array or None
        From `resampled_scores`; not kept of more than `MOST_DRAWN` systems.
    """

    ranks: IntArray
    first: IntArray
    best: FloatArray
    scores: FloatArray | None

    def share(self, most: int) -> FloatArray:
        """Return the share of resamples in which each system ranks no lower."""
        return (self.ranks <= most).mean(axis=0)

    def limits(self, level: float) -> tuple[IntArray, IntArray]:
        """Return the percentile limits of each system's rank."""
        tail = (1 - level) / 2
        low, high = np.concatenate([
            np.quantile(part, [tail, 1 - tail], axis=1, method="inverted_cdf").astype(int)
            for part in parts_of(self.ranks.T)
        ], axis=1)  # fmt: skip
        return low, high


def drawn_ranks(
    samples: Sequence[Sample],
    name: str,
    n_resamples: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> Drawn:
    """Rank systems on resampled problems, some resamples at a time."""
    m = len(samples)
    ranks = np.empty((n_resamples, m), dtype=np.min_scalar_type(m))
    first, best = np.empty(n_resamples, dtype=int), np.empty(n_resamples)
    kept, done = [], 0
    for scores in _blocks(samples, name, n_resamples, rng, groups):
        rows = slice(done, done := done + len(scores))
        ranks[rows], first[rows] = ranks_of(scores), scores.argmax(axis=1)
        best[rows] = scores.max(axis=1)
        kept += [scores] * (m <= MOST_DRAWN)
    return Drawn(ranks, first, best, np.concatenate(kept) if kept else None)


def resampled_scores(
    samples: Sequence[Sample],
    name: str,
    n_resamples: int,
    rng: np.random.Generator,
    groups: IntArray | None = None,
) -> FloatArray:
    """Return the (n_resamples, M) scores of all systems on the same resampled problems."""
    return np.concatenate([*_blocks(samples, name, n_resamples, rng, groups)])


def _blocks(
    samples: Sequence[Sample],
    name: str,
    n_resamples: int,
    rng: np.random.Generator,
    groups: IntArray | None,
) -> Iterator[FloatArray]:
    n = len(samples[0])
    if name == "one_level":
        rates = np.stack([s.rate for s in samples], axis=1)
        for w in weights(rng, n, n_resamples, groups):
            for part in parts_of(w, max(rates.shape)):
                yield _product(part, rates) / part.sum(axis=1, keepdims=True)
        return
    if not all(s.binary for s in samples):
        yield from parts_of(rerun_means(samples, rng, n_resamples, groups))
        return
    # Many systems have few problems with equal (k, R) in all: here kinds are those of each system.
    indicators, k, r, owner = _kinds(samples)
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    for w in weights(rng, n, n_resamples, groups):
        for part in parts_of(w, max(indicators.shape)):
            # Problems of one kind share a binomial draw; counts below 2^24 are exact in float32.
            counts = _product(part.astype(np.float32), indicators).astype(np.int64)
            totals = np.add.reduceat(rng.binomial(counts * r, k / r) / r, first, axis=1)
            yield totals / part.sum(axis=1, keepdims=True)


def _product(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """Return their matrix product, of small columns some rows at a time: see `ONE_CORE`."""
    step = ONE_CORE // columns.size
    if step < 32:
        return rows @ columns
    return np.concatenate([rows[i : i + step] @ columns for i in range(0, len(rows), step)])


def ranks_of(scores: FloatArray) -> IntArray:
    """Return ranks along the last axis, 1 for the highest; ties share the better rank."""
    # Scores within rounding of each other are equal: sums of the same fractions.
    limits = scores + 1e-9
    if scores.shape[1] > FEW:
        found = zip(map(np.sort, scores), limits, strict=True)
        above = [len(row) - np.searchsorted(row, x, side="right") for row, x in found]
        return 1 + np.array(above, dtype=np.int32)
    ranks = np.ones(scores.shape, dtype=np.int32)
    for column in scores.T:
        ranks += column[:, None] > limits
    return ranks


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
    counts = [[(x > 0).sum(axis=1), (x < 0).sum(axis=1)] for x in parts_of(apart.T)]
    above, below = np.concatenate(counts, axis=1)
    return 1 + above, len(apart) - below
