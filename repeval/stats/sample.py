"""One system's outcomes, problem by problem: the argument every estimator takes."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Sums of fractions that are equal in exact arithmetic differ by less than this.
ROUNDING = 1e-12

# Numbers that are looked at together where there are many pairs (1 MB).
TOGETHER = 2**17

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Pair = tuple["Sample", "Sample"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Outcomes of one system on N problems with R_i runs each.

    Attributes
    ----------
    runs : (N,) int array
        Runs per problem, R_i >= 1.
    passes : (N,) int array or None
        Passes k_i; None where outcomes are scores between 0 and 1.
    values : (ΣR_i,) float array or None
        The single outcomes, problem by problem, where they are not all 0/1.

    Examples
    --------
    >>> import repeval
    >>> sample = repeval.as_sample([3, 3, 0, 1, 2, 0], 3)
    >>> sample.rate.round(3).tolist()
    [1.0, 1.0, 0.0, 0.333, 0.667, 0.0]
    >>> sample.noise.round(3).tolist()
    [0.0, 0.0, 0.0, 0.333, 0.333, 0.0]
    """

    runs: IntArray
    passes: IntArray | None = None
    values: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.runs)

    @functools.cached_property
    def rate(self) -> FloatArray:
        """Pass rate (mean outcome) of each problem, p̂_i."""
        return (self.passes if self.binary else self.sums()[0]) / self.runs

    @functools.cached_property
    def noise(self) -> FloatArray:
        """The problem's own unbiased variance v_i, for 0/1 R_i/(R_i-1) p̂_i(1-p̂_i).

        NaN where R_i = 1.
        """
        if self.binary:
            squares = self.runs * self.rate * (1 - self.rate)
        else:
            squares = np.empty(len(self))
            for at, scores in self.blocks():
                squared = ((scores - self.rate[at, None]) ** 2).sum(axis=1)
                # Rounding leaves some 1e-34 where all runs of a problem agree; that is no noise.
                squares[at] = np.where(np.ptp(scores, axis=1) == 0, 0.0, squared)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.runs > 1, squares / (self.runs - 1), np.nan)

    @functools.cached_property
    def all_runs(self) -> int:
        """How many runs there are in all."""
        return int(self.runs.sum())

    @functools.cached_property
    def starts(self) -> IntArray:
        """Where the values of each problem begin."""
        return np.cumsum(self.runs) - self.runs

    def blocks(self) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield the problems that have equally many runs, and their (n, R) scores.

        All in one array would be as wide as the most runs of a single problem.
        """
        for runs in self.distinct_runs:
            at = np.flatnonzero(self.runs == runs)
            yield at, self.values[self.starts[at, None] + np.arange(runs)]

    @property
    def scores(self) -> FloatArray | None:
        """The (N, max R_i) outcomes where they are not all 0/1, NaN beyond a problem's runs."""
        if self.binary:
            return None
        scores = np.full((len(self), self.runs.max()), np.nan)
        scores[np.arange(scores.shape[1]) < self.runs[:, None]] = self.values
        return scores

    def sums(self) -> tuple[FloatArray, FloatArray]:
        """Return the sums of each problem's scores, and of their squares."""
        total, squares = np.empty((2, len(self)))
        for at, scores in self.blocks():
            total[at], squares[at] = scores.sum(axis=1), (scores**2).sum(axis=1)
        return total, squares

    @property
    def binary(self) -> bool:
        """Whether every outcome is 0 or 1."""
        return self.passes is not None

    @property
    def equal_runs(self) -> bool:
        """Whether every problem has the same number of runs."""
        return bool((self.runs == self.runs[0]).all())

    @property
    def kinds(self) -> IntArray:
        """A number for each problem that tells passes and runs."""
        return self.runs * (int(self.runs.max()) + 1) + self.passes

    @functools.cached_property
    def lattice(self) -> int:
        """Number of steps L into which 1 is divided so that every p̂_i is a multiple of 1/L."""
        return math.lcm(*self.distinct_runs)

    @functools.cached_property
    def distinct_runs(self) -> list[int]:
        """The different numbers of runs, in rising order."""
        return (self.runs[:1] if self.equal_runs else np.unique(self.runs)).tolist()

    def take(self, index: NDArray[Any]) -> Sample:
        """Return the problems at `index` (positions or a mask)."""
        runs = self.runs[index]
        if self.binary:
            return Sample(runs, self.passes[index])
        first = np.repeat(self.starts[index] - (np.cumsum(runs) - runs), runs)
        return Sample(runs, values=self.values[first + np.arange(len(first))])


def from_counts(passes: ArrayLike, runs: ArrayLike) -> Sample:
    """Build a sample from passes and runs per problem.

    Parameters
    ----------
    passes : (N,) array of int
        Passes k_i, 0 <= k_i <= R_i.
    runs : int or (N,) array of int
        Runs R_i >= 1.
    """
    k = _integers(passes, "passes")
    r = _integers(np.broadcast_to(np.asarray(runs), k.shape), "runs")
    if r.min() < 1:
        raise ValueError(f"runs must be at least 1; problem {_first(r < 1)} has fewer")
    if k.min() < 0 or (k > r).any():
        bad = _first((k < 0) | (k > r))
        raise ValueError(f"passes must lie between 0 and runs; problem {bad} does not")
    return Sample(r, passes=k)


def from_scores(scores: ArrayLike) -> Sample:
    """Build a sample from an (N, R) array of outcomes in [0, 1], NaN for missing runs.

    An array that holds only 0, 1 and NaN becomes counts.
    """
    y = np.asarray(scores, dtype=float)
    if y.ndim != 2 or not y.size:
        raise ValueError(f"outcomes must be an (N, R) array, not of shape {y.shape}")
    seen = ~np.isnan(y)
    if (bad := ~seen.any(axis=1)).any():
        raise ValueError(f"every problem needs a run; problem {_first(bad)} has none")
    if (bad := seen & ~((y >= 0) & (y <= 1))).any():
        raise ValueError(f"outcomes must lie in [0, 1]; problem {_first(bad.any(axis=1))} does not")
    return from_values(y[seen], seen.sum(axis=1))


def from_values(values: FloatArray, runs: IntArray) -> Sample:
    """Build a sample from outcomes in [0, 1] that follow one another, problem by problem."""
    if ((values == 0) | (values == 1)).all():
        return from_counts(np.add.reduceat(values, np.cumsum(runs) - runs), runs)
    return Sample(runs, values=values)


def variance(values: FloatArray) -> float:
    """Return s² (ddof = 1); exactly 0 where values differ by rounding alone."""
    return float(values.var(ddof=1)) if np.ptp(values) > ROUNDING else 0.0


def variances(rows: FloatArray) -> FloatArray:
    """Return the same of every row, along the last axis."""
    if rows.shape[-1] < 2:
        return np.zeros(rows.shape[:-1])
    return np.where(np.ptp(rows, axis=-1) > ROUNDING, rows.var(axis=-1, ddof=1), 0.0)


def kept(figure: Callable[[Sample], Any]) -> Callable[[Sample], Any]:
    """Compute a figure once for each sample, which keeps it: most are in many pairs."""

    @functools.wraps(figure)
    def found(sample: Sample) -> Any:
        known = sample.__dict__
        if figure.__name__ not in known:
            known[figure.__name__] = figure(sample)
        return known[figure.__name__]

    return found


def sides(pairs: Sequence[Pair], figure: Callable[[Sample], Any]) -> NDArray[Any]:
    """Return a (2, K, N) array of a figure of the first systems of pairs, and of the second."""
    place: dict[Sample, int] = {}
    rows = [[place.setdefault(s, len(place)) for s in side] for side in zip(*pairs, strict=True)]
    return np.stack([*map(figure, place)]).take(rows, axis=0)


def differences(pairs: Sequence[Pair]) -> FloatArray:
    """Return d_i = p̂_iA - p̂_iB of K pairs on N problems each, as a (K, N) array."""
    return np.subtract(*sides(pairs, lambda s: s.rate))


def of_pairs(
    figures: Callable[[Sequence[Pair]], Any], pairs: Sequence[Pair], width: int = 1
) -> NDArray[Any]:
    """Return figures of many pairs, some at a time of those with equally many problems.

    Parameters
    ----------
    figures : callable
        Takes k pairs on N problems, and returns a (..., k) array.
    pairs : sequence of K pairs
    width : int
        Numbers that a pair takes beside its problems.

    Returns
    -------
    (..., K) array
    """
    sizes = np.array([len(a) for a, _ in pairs])
    places, found = [], []
    for n in np.unique(sizes):
        members, step = np.flatnonzero(sizes == n), max(1, TOGETHER // max(int(n), width))
        for first in range(0, len(members), step):
            places.append(members[first : first + step])
            found.append(np.asarray(figures([pairs[i] for i in places[-1]])))
    return np.concatenate(found, axis=-1)[..., np.argsort(np.concatenate(places))]


def as_sample(outcomes: Any, runs: ArrayLike | None = None) -> Sample:
    """Normalise the one argument that every function of the package takes.

    Parameters
    ----------
    outcomes : Sample, (N,) passes with `runs`, pair (passes, runs), or (N, R) float array
        The outcomes of one system; NaN in the array marks a missing run.
    runs : int or (N,) array of int, optional
        Runs per problem, if `outcomes` are passes.

    Examples
    --------
    >>> import numpy as np
    >>> import repeval
    >>> sample = repeval.as_sample([[1, 1, 1], [0, 1, np.nan]])  # two problems; one run is missing
    >>> sample.passes.tolist(), sample.runs.tolist()
    ([3, 1], [3, 2])
    """
    if runs is not None:
        sample = from_counts(outcomes, runs)
    elif isinstance(outcomes, Sample):
        sample = outcomes
    elif isinstance(outcomes, tuple) and len(outcomes) == 2:
        sample = from_counts(*outcomes)
    else:
        sample = from_scores(outcomes)
    if len(sample) < 2:
        raise ValueError("at least two problems are needed: one problem says nothing about others")
    return sample


def _integers(values: ArrayLike, what: str) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{what} must be a one-dimensional array, not of shape {array.shape}")
    if array.dtype.kind not in "buif":
        raise ValueError(f"{what} must be whole numbers, not of type {array.dtype}")
    if array.dtype.kind == "f":
        # Past 2^53 a float no longer tells whole numbers apart; nobody has that many runs.
        bad = ~((np.abs(array) < 2**53) & (array == np.rint(array)))
        if bad.any():
            raise ValueError(f"{what} must be whole numbers; problem {_first(bad)} is not")
    return array.astype(np.int64, copy=False)


def _first(mask: NDArray[np.bool_]) -> int:
    return int(np.flatnonzero(mask)[0])
