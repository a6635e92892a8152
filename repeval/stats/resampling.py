"""Random generators, and Monte Carlo resampling of problems and runs wherever no exact law is.

Generators are normalised once and spawned by key: no result depends on order or workers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from repeval.stats.sample import FloatArray, IntArray, Sample

# Weights are drawn in blocks of at most this many numbers (40 MB), and worked on in parts (8 MB);
# drawn problems are counted in parts that a processor keeps at hand, three times as fast.
BLOCK = 10_000_000
PART = 1_000_000
COUNTED = 2**16
# Reruns of so many runs that have no exact law have a normal one, within `NEAR`: no more than the
# 1 % by which a share of 2,000 resamples is unsure. Clusters of so many problems are summed first.
MANY_RUNS = 20_000
NEAR = 0.01
DEFAULT_SEED = 2606


def as_generator(rng: int | np.random.Generator | None = None) -> np.random.Generator:
    """Normalise `rng` to a generator.

    Parameters
    ----------
    rng : int, numpy.random.Generator or None
        A seed, a generator (used as it is), or None for fresh entropy.

    Raises
    ------
    TypeError
        For anything else; legacy `RandomState` objects are not accepted.
    """
    if rng is None or isinstance(rng, (int, np.integer, np.random.Generator)):
        return np.random.default_rng(rng)
    raise TypeError(f"rng must be an int, a numpy Generator or None, not {type(rng).__name__}")


def keyed_generator(seed: int, *key: object) -> np.random.Generator:
    """Return the generator that belongs to `key` under `seed`, whatever was drawn before."""
    digest = hashlib.sha256("\x1f".join(map(str, key)).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest[:16], dtype=np.uint32)])


def weights(
    rng: np.random.Generator, n: int, n_resamples: int, clusters: IntArray | None = None,
    block: int = BLOCK,
) -> Iterator[IntArray]:  # fmt: skip
    """Draw how often each problem is in a resample, block by block.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int
        Problems.
    n_resamples : int
    clusters : (n,) int array, optional
        Cluster codes 0..G-1; whole clusters are drawn instead of single problems.
    block : int
        How many numbers at most.

    Yields
    ------
    (b, n) int array
        The blocks add up to `n_resamples` rows.
    """
    units = n if clusters is None else int(clusters.max()) + 1
    rows = max(1, block // max(n, units))
    for done in range(0, n_resamples, rows):
        times = np.empty((min(rows, n_resamples - done), n), dtype=np.int32)
        for part in parts_of(times, max(n, units), COUNTED):
            drawn = rng.integers(units, size=(len(part), units))
            drawn += units * np.arange(len(part))[:, None]
            counts = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
            part[:] = counts if clusters is None else counts[:, clusters]
        yield times


def parts_of(rows: NDArray[Any], width: int = 0, most: int = PART) -> Iterator[NDArray[Any]]:
    """Yield views of some rows at a time: what is made of them, as wide, takes little memory."""
    step = max(1, most // (width or rows.shape[1]))
    for first in range(0, len(rows), step):
        yield rows[first : first + step]


def resampled_means(
    columns: FloatArray,
    rng: np.random.Generator,
    n_resamples: int,
    clusters: IntArray | None = None,
) -> FloatArray:
    """Return the means of columns over resampled problems.

    Parameters
    ----------
    columns : (N, K) float array
        One row a problem.
    clusters : (N,) int array, optional
        Cluster codes; see `weights`.

    Returns
    -------
    (n_resamples, K) float array

    Notes
    -----
    Problems with equal rows are exchangeable: where there are few kinds, their numbers are
    one multinomial draw, at a cost that does not depend on N.
    """
    n = len(columns)
    if clusters is None and (kinds := _kinds(columns)) is not None:
        values, counts = kinds
        return rng.multinomial(n, counts / n, size=n_resamples) @ values / n
    return weighted_means(columns, rng, n_resamples, clusters)


def weighted_means(
    columns: FloatArray,
    rng: np.random.Generator,
    n_resamples: int,
    clusters: IntArray | None = None,
) -> FloatArray:
    """Return the same by drawing weights: columns do not change what is drawn."""
    sums, total = _weighted_sums(columns, rng, n_resamples, clusters)
    return sums / total


def _weighted_sums(
    columns: FloatArray, rng: np.random.Generator, n_resamples: int, clusters: IntArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of columns over resampled problems, and how many these are."""
    sizes = None
    if clusters is not None and len(columns) > MANY_RUNS:
        sizes = np.bincount(clusters)
        columns = np.stack([np.bincount(clusters, column) for column in columns.T], axis=1)
        clusters = None
    blocks = [
        (w @ columns, w.sum(axis=1) if sizes is None else (w * sizes).sum(axis=1))
        for w in weights(rng, len(columns), n_resamples, clusters, PART)
    ]
    sums, total = map(np.concatenate, zip(*blocks, strict=True))
    return sums, total[:, None]


def rerun_means(
    samples: Sequence[Sample],
    rng: np.random.Generator,
    n_resamples: int,
    clusters: IntArray | None = None,
    problems: bool = True,
) -> FloatArray:
    """Return mean rates with problems drawn first, and then runs of each of them.

    Parameters
    ----------
    samples : sequence of M Sample
        On the same problems, which are drawn once for all.
    clusters : (N,) int array, optional
        Cluster codes; see `weights`.
    problems : bool
        Whether problems are drawn at all, or runs alone.

    Returns
    -------
    (n_resamples, M) float array

    Notes
    -----
    The w_i R_i draws from the runs of a problem are a binomial or, for scores, a multinomial. Of
    more than `MANY_RUNS` runs of each system their sums get the normal law of the same mean and
    variance, given the problems, where the bound of Berry and Esseen on its error is below `NEAR`.

    References
    ----------
    Shevtsova (2010), Doklady Mathematics 82, 862-864, for the constant .56 of the bound.
    """
    if clusters is None and all(s.binary for s in samples):
        return _class_reruns(samples, rng, n_resamples, problems)
    spreads = [rerun_variances(s) if s.runs.sum() > MANY_RUNS else None for s in samples]
    if all(spread is not None for spread in spreads):
        columns = np.stack([*(s.rate for s in samples), *spreads], axis=1)
        sums, total = columns.sum(axis=0, keepdims=True), len(columns)
        if problems:
            sums, total = _weighted_sums(columns, rng, n_resamples, clusters)
        mean, squared = np.split(sums, 2, axis=1)
        noise = rng.standard_normal((n_resamples, len(samples)))
        return (mean + np.sqrt(squared) * noise) / total
    means, done = np.empty((n_resamples, len(samples))), 0
    for drawn in weights(rng, len(samples[0]), n_resamples, clusters):
        times = drawn if problems else np.broadcast_to(np.int32(1), drawn.shape)
        rows = means[done : (done := done + len(drawn))]
        for m, s in enumerate(samples):
            rows[:, m] = _rerun_totals(s, times, rng)
        rows /= times.sum(axis=1, keepdims=True)
    return means


def _class_reruns(
    samples: Sequence[Sample], rng: np.random.Generator, n_resamples: int, problems: bool
) -> FloatArray:
    """Draw the means of 0/1 systems at a cost free of N.

    Problems with equal (k, R) in every system are exchangeable: their number is all that is
    drawn of them.
    """
    n = len(samples[0])
    columns = np.stack([column for s in samples for column in (s.passes, s.runs)])
    kinds, counts = np.unique(columns, axis=1, return_counts=True)
    times = np.broadcast_to(counts, (n_resamples, len(counts)))
    if problems:
        times = rng.multinomial(n, counts / n, size=n_resamples)
    means = [
        rng.binomial(times * r, k / r) @ (1 / r) / n
        for k, r in zip(kinds[::2], kinds[1::2], strict=True)
    ]
    return np.stack(means, axis=1)


def _rerun_totals(s: Sample, times: IntArray, rng: np.random.Generator) -> FloatArray:
    """Resample the runs of problems that were drawn `times` (b, N) times; return sums of rates."""
    if s.binary:
        parts = ((part, part * s.runs) for part in parts_of(times))
        rates = (part * (rng.binomial(n, s.rate) / np.maximum(n, 1)) for part, n in parts)
        return np.concatenate([part.sum(axis=1) for part in rates])
    total, step = np.zeros(len(times)), max(1, 4 * PART // len(times))
    for begin in range(0, len(s), step):
        some = slice(begin, begin + step)
        n, runs, starts = times[:, some], s.runs[some], s.starts[some]
        # The rates of problems with a single run, each time the same.
        rates = n * s.values[starts]
        rates /= np.maximum(n, 1)
        rates *= n
        for i in np.flatnonzero(runs > 1).tolist():
            drawn = _drawn_totals(s.values[starts[i] : starts[i] + runs[i]], n[:, i], rng)
            rates[:, i] = n[:, i] * (drawn / np.maximum(n[:, i] * runs[i], 1))
        total += rates.sum(axis=1)
    return total


def _drawn_totals(scores: FloatArray, times: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return sums of as many runs as all `scores` are, drawn from them, for each of `times`."""
    runs, each = len(scores), np.full(len(scores), 1 / len(scores))
    parts = parts_of(times * runs, runs)
    return np.concatenate([rng.multinomial(part, each) @ scores for part in parts])


def rerun_variances(s: Sample) -> FloatArray | None:
    """Return the (N,) variances of rerun rates, None where their sum is not nearly normal."""
    if s.binary:
        squares = s.rate * (1 - s.rate) / s.runs
        cubes = squares * (s.rate**2 + (1 - s.rate) ** 2) / s.runs
    else:
        off = np.abs(s.values - np.repeat(s.rate, s.runs)) / np.repeat(s.runs, s.runs)
        squares, cubes = (np.add.reduceat(off**k, s.starts) for k in (2, 3))
    return squares if 0.56 * cubes.sum() <= NEAR * squares.sum() ** 1.5 else None


def shifted_levels(z0: FloatArray, left_out: FloatArray, level: float) -> FloatArray:
    """Return the two levels at which BCa reads the law of a resampled statistic.

    Parameters
    ----------
    z0 : (...) float array
        Normal quantile of the share of the law below the estimate, ties by half.
    left_out : (..., N) float array
        The statistic without each problem in turn.

    Returns
    -------
    (..., 2) float array
        NaN where `z0` is infinite or nothing changes with the problem left out.

    References
    ----------
    Efron (1987).
    """
    deviation = left_out.mean(axis=-1, keepdims=True) - left_out
    with np.errstate(invalid="ignore", divide="ignore"):
        acceleration = (deviation**3).sum(axis=-1) / (6 * (deviation**2).sum(axis=-1) ** 1.5)
        z = z0[..., None] + special.ndtri([(1 - level) / 2, (1 + level) / 2])
        return special.ndtr(z0[..., None] + z / (1 - acceleration[..., None] * z))


def as_clusters(clusters: Any, n: int) -> IntArray | None:
    """Normalise cluster labels to codes 0..G-1."""
    if clusters is None:
        return None
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise ValueError(f"clusters must be {n} labels, one a problem, not shape {labels.shape}")
    codes = np.unique(labels, return_inverse=True)[1].reshape(n)
    if codes.max() < 1:
        raise ValueError("clusters: at least two different labels are needed")
    return codes


def _kinds(columns: FloatArray) -> tuple[FloatArray, NDArray[np.int64]] | None:
    # Rows are compared as single byte strings: `np.unique(axis=0)` is ten times slower.
    rows = np.ascontiguousarray(columns)
    void = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, counts = np.unique(void, return_index=True, return_counts=True)
    return (rows[first], counts) if 4 * len(counts) <= len(rows) else None
