"""Exact laws of bootstrap means: no Monte Carlo, no approximation beyond rounding.

With p̂_i on the lattice 0, 1/L, ..., 1 the bootstrap mean of N problems is a sum of N
independent lattice variables: its law is the N-th convolution power of the law of one
problem, one forward and one backward Fourier transform.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy import fft

from repeval.sample import FloatArray, IntArray, Sample

# Largest N·L handled exactly; above it the class bootstrap (`resample.py`) serves.
LATTICE_LIMIT = 20_000
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
        index = (self.cdf < q - CDF_TOLERANCE).sum(axis=-1)
        return (self.start + np.minimum(index, self.pmf.shape[-1] - 1)) * self.step

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the equal-tailed interval."""
        tail = (1 - level) / 2
        return self.quantile(tail), self.quantile(1 - tail)

    def below(self, point: int) -> FloatArray:
        """Return P(X < point·step) for a lattice point."""
        lattice = self.start[..., None] + np.arange(self.pmf.shape[-1])
        return np.where(lattice < point, self.pmf, 0).sum(axis=-1)

    def at(self, point: int) -> FloatArray:
        """Return P(X = point·step) for a lattice point."""
        lattice = self.start[..., None] + np.arange(self.pmf.shape[-1])
        return np.where(lattice == point, self.pmf, 0).sum(axis=-1)


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
    if not all(s.binary and s.runs.max() <= RUNS_LIMIT for s in samples):
        return False
    return len(samples[0]) * math.lcm(*(s.lattice for s in samples)) <= LATTICE_LIMIT


def mean_law(sample: Sample, name: str) -> Law:
    """Return the law of the bootstrap mean of one system.

    Parameters
    ----------
    sample : Sample
        Passes and runs; N·L at most `LATTICE_LIMIT`.
    name : {"one_level", "two_level", "fixed_bootstrap"}
        Resample problems; problems, then runs; runs only.

    References
    ----------
    VC Appendix D, procedures (b'), (b) and (c').
    """
    n, lattice = len(sample), sample.lattice
    step = 1 / (n * lattice)
    if name == "fixed_bootstrap":
        return Law(_fixed_pmf(sample, n * lattice + 1), np.array(0), step)
    one = np.zeros(lattice + 1)
    for runs in np.unique(sample.runs).tolist():
        passes = np.bincount(sample.passes[sample.runs == runs], minlength=runs + 1) / n
        one[:: lattice // runs] += passes @ binomial_table(runs) if name == "two_level" else passes
    return Law(*convolution_power(one, 0, n), step)


def _fixed_pmf(sample: Sample, size: int) -> FloatArray:
    """Convolve the Binomial(R_i, p̂_i) laws of all problems."""
    classes, counts = np.unique(
        np.stack([sample.passes, sample.runs]), axis=1, return_counts=True
    )
    resampled = np.zeros((len(counts), sample.lattice + 1))
    for row, (k, runs) in enumerate(classes.T.tolist()):
        resampled[row, :: sample.lattice // runs] = binomial_table(runs)[k]
    length = fft.next_fast_len(size, real=True)
    powers = map(power, fft.rfft(resampled, length), counts.tolist())
    phi = functools.reduce(np.multiply, powers)
    return np.maximum(fft.irfft(phi, length)[:size], 0)


def difference_law(pairs: list[tuple[Sample, Sample]], name: str) -> Law:
    """Return the laws of the paired bootstrap difference of means, one row a pair.

    Parameters
    ----------
    pairs : list of (Sample, Sample)
        All on equally many problems and with one common lattice.
    name : {"one_level", "two_level"}
    """
    n = len(pairs[0][0])
    lattice = math.lcm(*{s.lattice for pair in pairs for s in pair})
    ones = np.stack([_difference(a, b, lattice, name) for a, b in pairs])
    return Law(*convolution_power(ones, -lattice, n), 1 / (n * lattice))


def _difference(a: Sample, b: Sample, lattice: int, name: str) -> FloatArray:
    """Law of one problem's difference on -L..L, problems drawn at random."""
    law = np.zeros(2 * lattice + 1)
    for r1, r2 in {*zip(a.runs.tolist(), b.runs.tolist(), strict=True)}:
        here = (a.runs == r1) & (b.runs == r2)
        code = a.passes[here] * (r2 + 1) + b.passes[here]
        joint = np.bincount(code, minlength=(r1 + 1) * (r2 + 1)).reshape(r1 + 1, r2 + 1) / len(a)
        if name == "two_level":
            joint = binomial_table(r1).T @ joint @ binomial_table(r2)
        k1, k2 = np.arange(r1 + 1) * (lattice // r1), np.arange(r2 + 1) * (lattice // r2)
        np.add.at(law, lattice + np.subtract.outer(k1, k2), joint)
    return law


def convolution_power(one: FloatArray, first: int, n: int) -> tuple[FloatArray, IntArray]:
    """Return the n-fold convolution power of lattice laws.

    Parameters
    ----------
    one : (..., m) float array
        Laws on first, first+1, ..., first+m-1.
    first : int
    n : int

    Returns
    -------
    pmf : (..., w) float array
    start : (...) int array
        Lattice point of pmf[..., 0].

    Notes
    -----
    The transform is as long as the support, or as a window around the mean outside which
    Bernstein's inequality leaves less than 1e-17 of the mass, whichever is shorter.
    """
    m = one.shape[-1]
    j = np.arange(m)
    mean = one @ j
    variance = np.maximum(one @ (j * j) - mean**2, 0).max()
    c = math.log(2e17)
    reach = (m - 1) * c / 3
    window = 2 * (reach + math.sqrt(reach**2 + 2 * n * variance * c)) + 2 * m
    size = int(min(n * (m - 1) + 1, math.ceil(window)))
    length = fft.next_fast_len(max(size, m), real=True)
    # Centring each law keeps the wrapped sums near zero, where the window lies.
    centre = np.rint(mean).astype(np.int64)
    wrapped = np.zeros((*one.shape[:-1], length))
    np.put_along_axis(wrapped, (j - centre[..., None]) % length, one, axis=-1)
    total = fft.irfft(power(fft.rfft(wrapped), n), length)
    lowest, highest = -n * centre, n * (m - 1 - centre) - size + 1
    offset = np.clip(np.rint(n * (mean - centre)).astype(np.int64) - size // 2, lowest, highest)
    index = (offset[..., None] + np.arange(size)) % length
    pmf = np.maximum(np.take_along_axis(total, index, axis=-1), 0)
    return pmf, offset + n * (centre + first)


def power(base: np.ndarray, n: int) -> np.ndarray:
    """Raise a complex array to a whole power by squaring, several times faster than `**`."""
    result = None
    while n:
        if n & 1:
            result = base if result is None else result * base
        n >>= 1
        base = base * base if n else base
    return np.ones_like(base) if result is None else result
