"""Who of many systems is surely above whom: all differences of scores, and their largest t."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from repeval.stats.clusters import cluster_df
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Sample

__all__ = ["MOST_DRAWN", "columns_apart", "degrees", "largest", "told_apart", "unit_rates"]

# Up to so many systems the largest t of all differences is read off resamples, at a cost that grows
# with their square (1,000: 5 s). Of more, Bonferroni's t stands for it, which is never smaller.
MOST_DRAWN = 1000
# Systems that are looked at together, and how many scores of theirs in resamples (half a megabyte).
COLUMNS, SCORES = 64, 64_000


def unit_rates(rates: FloatArray, clusters: IntArray | None) -> FloatArray:
    """Return rows whose distances are the standard errors of differences of scores.

    Parameters
    ----------
    rates : (M, N) float array
    clusters : (N,) int array, optional
        Codes 0..G-1; the errors are then those of `repeval.stats.clusters.score_variance`.

    Returns
    -------
    (M, N) or (M, G) float array
    """
    off, n = rates - rates.mean(axis=1, keepdims=True), rates.shape[1]
    if clusters is None:
        return off / math.sqrt(n * (n - 1))
    sizes = np.bincount(clusters)
    sums = np.stack([np.bincount(clusters, row) for row in off])
    return sums / np.sqrt(1 - sizes / n) / n


def degrees(n: int, clusters: IntArray | None) -> float:
    """Return the degrees of freedom of these errors."""
    return n - 1 if clusters is None else cluster_df(np.bincount(clusters))


def largest(draws: FloatArray, scores: FloatArray, units: FloatArray) -> FloatArray:
    """Return the largest |t| of each system's differences from the others in every resample.

    Parameters
    ----------
    draws : (B, M) float array
        Scores in resamples.
    scores : (M,) float array
    units : (M, K) float array
        From `unit_rates`.

    Returns
    -------
    (M, B) float array
        0 for systems whose differences all have no error.
    """
    errors = _errors(units, slice(None))
    off, inverse = (draws - scores).T, np.zeros_like(errors)
    np.divide(1, errors, out=inverse, where=errors > ROUNDING)
    found = np.empty(off.shape)
    step = max(1, SCORES // len(off))
    for first in range(0, off.shape[1], step):
        some = np.ascontiguousarray(off[:, first : first + step])
        t = np.empty_like(some)
        for j, row in enumerate(some):
            np.subtract(some, row, out=t)
            np.abs(t, out=t)
            t *= inverse[:, j, None]
            t.max(axis=0, out=found[j, first : first + step])
    return found


def told_apart(
    samples: Sequence[Sample],
    scores: FloatArray,
    units: FloatArray,
    critical: ArrayLike,
    decides: Callable[[Sample, Sample], bool | None],
) -> IntArray:
    """Return, in column j, 1 for every system that is surely above j, -1 for those below.

    Parameters
    ----------
    samples : sequence of M Sample
    scores, units
        As in `largest`.
    critical : float or (M,) array
        |t| beyond which two systems are told apart; for each column.
    decides : callable
        Decides on two systems with the same difference on every problem, which has no error; of
        more than `MOST_DRAWN` systems such pairs are left open.

    Returns
    -------
    (M, M) int array
    """
    apart = np.zeros((len(scores), len(scores)), dtype=np.int8)
    for block, columns in columns_apart(samples, scores, units, critical, decides):
        apart[:, block] = columns
    return apart


def columns_apart(
    samples: Sequence[Sample],
    scores: FloatArray,
    units: FloatArray,
    critical: ArrayLike,
    decides: Callable[[Sample, Sample], bool | None],
) -> Iterator[tuple[slice, IntArray]]:
    """Yield some columns of `told_apart` at a time, and which they are."""
    m = len(scores)
    critical = np.broadcast_to(critical, m)
    known: dict[tuple[bytes, ...], bool | None] = {}
    for first in range(0, m, COLUMNS):
        block = slice(first, first + COLUMNS)
        errors, gaps = _errors(units, block), scores[:, None] - scores[block]
        signs = np.int8(gaps > 0)
        signs -= gaps < 0
        np.abs(gaps, out=gaps)
        with np.errstate(invalid="ignore"):
            signs *= gaps > critical[block] * errors
        signs *= errors > ROUNDING
        # Systems with the same difference on every problem.
        alike = (errors <= ROUNDING) & (gaps > ROUNDING) if m <= MOST_DRAWN else np.zeros((0, 0))
        for i, j in zip(*map(np.ndarray.tolist, np.nonzero(alike)), strict=True):
            pair = samples[i], samples[first + j]
            key = tuple(x.tobytes() for s in pair for x in (s.runs, s.rate))
            if key not in known:
                known[key] = decides(*pair)
            signs[i, j] = np.sign(scores[i] - scores[first + j]) if known[key] else 0
        yield block, signs


def _errors(units: FloatArray, block: slice) -> FloatArray:
    """Return the standard errors of all differences from some systems, one column each."""
    if len(units) <= MOST_DRAWN:
        return np.stack([np.sqrt(((units - u) ** 2).sum(axis=1)) for u in units[block]], axis=1)
    squares = (units**2).sum(axis=1)
    total = squares[:, None] + squares[block]
    squared = units @ units[block].T
    squared *= 2
    np.subtract(total, squared, out=squared)
    # What products of many numbers leave of nothing.
    total *= ROUNDING
    squared[squared <= total] = 0
    return np.sqrt(squared, out=squared)
