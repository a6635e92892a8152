"""Exact laws of bootstrap means: no Monte Carlo, no approximation beyond rounding.

With p̂_i on the lattice 0, 1/L, ..., 1 the bootstrap mean of N problems is a sum of N
independent lattice variables: its law is the N-th convolution power of the law of one
problem, one forward and one backward Fourier transform.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import fft

from repeval.stats.sample import TOGETHER, FloatArray, IntArray, Pair, Sample, of_pairs, sides

# Longest transforms for one system (10 ms) and for each of many pairs; laws that need more are
# left to the class bootstrap (`resample.py`).
POINT_LIMIT = 2**18
PAIR_POINT_LIMIT = 2**17
# Supports so short are transformed whole.
SHORT = 2048
# What wrapping round may misplace of a law's mass.
ALIASED = 1e-17
# math.comb(R, R/2) leaves the range of floats above about 1,020.
RUNS_LIMIT = 1_000
# Quantiles forgive rounding of the distribution function up to this.
CDF_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Law:
    """A law on the lattice (start + j)·step, j = 0, 1, ...

    Attributes
    ----------
    pmf : (..., n) float array
        Probabilities; leading axes are a batch of laws.
    start : (...) int array
        Lattice point of the first probability.
    step : float
    """

    pmf: FloatArray
    start: IntArray
    step: float

    @functools.cached_property
    def cdf(self) -> FloatArray:
        """Distribution function at the lattice points."""
        return np.cumsum(self.pmf, axis=-1)

    def quantile(self, q: float) -> FloatArray:
        """Return the smallest x with F(x) >= q, within 1e-12."""
        if self.pmf.ndim == 1:
            index = np.searchsorted(self.cdf, q - CDF_TOLERANCE)
        else:
            index = (self.cdf < q - CDF_TOLERANCE).sum(axis=-1)
        return (self.start + np.minimum(index, self.pmf.shape[-1] - 1)) * self.step

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the equal-tailed interval."""
        tail = (1 - level) / 2
        return self.quantile(tail), self.quantile(1 - tail)

    def below(self, point: int) -> FloatArray:
        """Return P(X < point·step) for a lattice point."""
        return self.pmf.sum(axis=-1, where=self._lattice < point)

    def at(self, point: int) -> FloatArray:
        """Return P(X = point·step) for a lattice point."""
        return self.pmf.sum(axis=-1, where=self._lattice == point)

    @functools.cached_property
    def zero(self) -> tuple[FloatArray, FloatArray]:
        """P(X < 0) and P(X = 0)."""
        return self.below(0), self.at(0)

    @functools.cached_property
    def _lattice(self) -> IntArray:
        return self.start[..., None] + np.arange(self.pmf.shape[-1])


@functools.lru_cache(maxsize=64)
def binomial_table(runs: int) -> FloatArray:
    """Return the (R+1, R+1) table whose row k is the Binomial(R, k/R) law.

    From `math.comb`: importing `scipy.stats` for it would cost most of a second.
    """
    j = np.arange(runs + 1)
    p = (j / runs)[:, None]
    comb = np.array([math.comb(runs, i) for i in j], dtype=float)
    table = comb * p**j * (1 - p) ** (runs - j)
    table.setflags(write=False)
    return table


def is_exact(*samples: Sample) -> bool:
    """Whether the mean of these samples has an exact law of practical size."""
    if not all(s.binary and s.distinct_runs[-1] <= RUNS_LIMIT for s in samples):
        return False
    lattice = math.lcm(*(s.lattice for s in samples)) * len(samples)
    n = len(samples[0])
    # No law on 0..L has more variance than L²/4.
    limit = POINT_LIMIT if len(samples) == 1 else PAIR_POINT_LIMIT
    return window(lattice, n, n * lattice**2 / 4) <= limit


def mean_law(sample: Sample, name: str) -> Law:
    """Return the law of the bootstrap mean of one system.

    Parameters
    ----------
    sample : Sample
        For which `is_exact` holds.
    name : {"one_level", "two_level", "fixed_bootstrap"}
        Resample problems; problems, then runs; runs only.

    References
    ----------
    VC Appendix D, procedures (b'), (b) and (c').
    """
    n, lattice = len(sample), sample.lattice
    step = 1 / (n * lattice)
    if name == "fixed_bootstrap":
        return Law(*convolution_power(*_kinds(sample), 0), step)
    one = np.zeros(lattice + 1)
    for runs in sample.distinct_runs:
        passes = np.bincount(sample.passes[sample.runs == runs], minlength=runs + 1) / n
        one[:: lattice // runs] += passes @ binomial_table(runs) if name == "two_level" else passes
    return Law(*convolution_power(one[None], np.array([n]), 0), step)


def _kinds(sample: Sample) -> tuple[FloatArray, IntArray]:
    """Return the law of a rerun problem of each kind (k, R), and how many there are."""
    lattice, ones, counts = sample.lattice, [], []
    for runs in sample.distinct_runs:
        passes = np.bincount(sample.passes[sample.runs == runs], minlength=runs + 1)
        laws = np.zeros((runs + 1, lattice + 1))
        laws[:, :: lattice // runs] = binomial_table(runs)
        ones.append(laws[passes > 0])
        counts.append(passes[passes > 0])
    return np.concatenate(ones), np.concatenate(counts)


def difference_law(pairs: Sequence[Pair], name: str) -> Law:
    """Return the laws of the paired bootstrap difference of means, one row a pair.

    Parameters
    ----------
    pairs : sequence of K pairs of Sample
        All on equally many problems and with one common lattice.
    name : {"one_level", "two_level"}
    """
    n = len(pairs[0][0])
    lattice = math.lcm(*{s.lattice for pair in pairs for s in pair})
    ones, alike = np.empty((len(pairs), 1, 2 * lattice + 1)), {}
    for i, pair in enumerate(pairs):
        alike.setdefault(_runs_of(*pair), []).append(i)
    for runs, members in alike.items():
        some, width = [pairs[i] for i in members], max((r1 + 1) * (r2 + 1) for r1, r2 in runs)
        one = functools.partial(_differences, runs=runs, lattice=lattice, name=name)
        ones[members, 0] = of_pairs(one, some, width).T
    return Law(*convolution_power(ones, np.array([n]), -lattice), 1 / (n * lattice))


def _runs_of(a: Sample, b: Sample) -> tuple[tuple[int, int], ...]:
    """Return the numbers of runs that a problem has in two systems, all there are."""
    if len(a.distinct_runs) == len(b.distinct_runs) == 1:
        return ((a.distinct_runs[0], b.distinct_runs[0]),)
    return (*{*zip(a.runs.tolist(), b.runs.tolist(), strict=True)},)


def _differences(
    pairs: Sequence[Pair], runs: Sequence[tuple[int, int]], lattice: int, name: str
) -> FloatArray:
    """Return the laws of one problem's difference on -L..L, problems drawn at random.

    Returns
    -------
    (2L + 1, K) float array
    """
    passes, other = sides(pairs, lambda s: s.passes)
    runs_a, runs_b = sides(pairs, lambda s: s.runs)
    k, points, row = len(pairs), 2 * lattice + 1, np.arange(len(pairs))[:, None]
    laws = np.zeros((k, points))
    for r1, r2 in runs:
        here, size = (runs_a == r1) & (runs_b == r2), (r1 + 1) * (r2 + 1)
        code = (row * size + passes * (r2 + 1) + other)[here]
        joint = np.bincount(code, minlength=k * size).reshape(k, r1 + 1, r2 + 1) / runs_a.shape[1]
        if name == "two_level":
            joint = binomial_table(r1).T @ joint @ binomial_table(r2)
        places = row * points + _places(r1, r2, lattice)
        laws += np.bincount(places.ravel(), joint.ravel(), k * points).reshape(k, points)
    return laws.T


@functools.lru_cache(maxsize=64)
def _places(r1: int, r2: int, lattice: int) -> IntArray:
    """Where the differences of k1/r1 and k2/r2 lie on -L..L."""
    k1, k2 = np.arange(r1 + 1) * (lattice // r1), np.arange(r2 + 1) * (lattice // r2)
    return (lattice + k1[:, None] - k2).ravel()


def window(span: int, n: int, variance: float) -> int:
    """Return how many lattice points hold a sum of n variables but for `ALIASED` of its mass.

    Parameters
    ----------
    span : int
        Each variable takes values 0, ..., span.
    n : int
    variance : float
        Of the sum.

    Notes
    -----
    The whole support, or by Bernstein's inequality a window around the mean, if shorter.
    """
    c = math.log(2 / ALIASED)
    reach = span * c / 3
    bernstein = 2 * (reach + math.sqrt(reach**2 + 2 * variance * c)) + 2 * (span + 1)
    return int(min(n * span + 1, math.ceil(bernstein)))


def convolution_power(
    ones: FloatArray, counts: IntArray, first: int
) -> tuple[FloatArray, IntArray]:
    """Return the law of a sum of independent lattice variables of a few kinds.

    Parameters
    ----------
    ones : (..., C, m) float array
        Laws of the C kinds on first, first+1, ..., first+m-1; leading axes are a batch.
    counts : (C,) int array
        How many variables there are of each kind.
    first : int

    Returns
    -------
    pmf : (..., w) float array
    start : (...) int array
        Lattice point of pmf[..., 0].
    """
    m, n = ones.shape[-1], int(counts.sum())
    support = n * (m - 1) + 1
    if support <= SHORT:
        total = _transformed(ones, counts, fft.next_fast_len(support, real=True))
        start = np.full(ones.shape[:-2], n * first)
        return _normalised(total[..., :support]), start
    j = np.arange(m)
    mean = ones @ j
    variance = np.maximum(ones @ (j * j) - mean**2, 0) @ counts
    size = window(m - 1, n, float(variance.max()))
    length = fft.next_fast_len(max(size, m), real=True)
    # Centring every kind keeps the wrapped sums near zero, where the window lies.
    centre = np.rint(mean).astype(np.int64)
    wrapped = np.zeros((*ones.shape[:-1], length))
    np.put_along_axis(wrapped, (j - centre[..., None]) % length, ones, axis=-1)
    total = _transformed(wrapped, counts, length)
    shift = centre @ counts
    lowest, highest = -shift, n * (m - 1) - shift - size + 1
    middle = np.rint((mean - centre) @ counts).astype(np.int64)
    offset = np.clip(middle - size // 2, lowest, highest)
    index = (offset[..., None] + np.arange(size)) % length
    pmf = _normalised(np.take_along_axis(total, index, axis=-1))
    return pmf, offset + shift + n * first


def _normalised(pmf: FloatArray) -> FloatArray:
    """Take out what rounding left: negative mass, and with many problems a total off by 1e-10."""
    pmf = np.maximum(pmf, 0)
    return pmf / pmf.sum(axis=-1, keepdims=True)


def _transformed(ones: FloatArray, counts: IntArray, length: int) -> FloatArray:
    """Convolve kinds of variables on a circle of `length` points."""
    phi = np.fft.rfft(ones, length)
    batch = phi.reshape(-1, *phi.shape[-2:])
    # Some at a time: what is raised to a power should not leave the processor's cache.
    for first in range(0, len(batch), step := max(1, TOGETHER // (2 * batch[0].size))):
        some = batch[first : first + step]
        powers = [power(some[:, kind], n) for kind, n in enumerate(counts.tolist())]
        some[:, 0] = functools.reduce(np.multiply, powers)
    return np.fft.irfft(phi[..., 0, :], length)


def power(base: np.ndarray, n: int) -> np.ndarray:
    """Raise a complex array to a whole power n >= 1 by squaring, far faster than `**`."""
    result = None
    while n:
        if n & 1:
            result = base if result is None else result * base
        n >>= 1
        base = base * base if n else base
    return result
