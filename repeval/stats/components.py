"""Variance components of a score: what differs between runs, and between problems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repeval.stats.clusters import score_variance
from repeval.stats.resampling import as_clusters
from repeval.stats.sample import (
    ROUNDING,
    TOGETHER,
    FloatArray,
    IntArray,
    Pair,
    Sample,
    as_sample,
    differences,
    kept,
    sides,
    variance,
    variances,
)


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of a score, or of a difference of two scores.

    Attributes
    ----------
    mean : float
        The score, mean of p̂_i, every problem with weight 1/N.
    within : float
        μ_w, the variance between runs of one problem; NaN if no problem has two runs.
    between : float
        σ_b², the variance between problems; may be negative, and is never clipped.
    spread : float
        s²(p̂), the sample variance of the pass rates (ddof = 1); under clusters N times the
        cluster-robust variance of their mean, which has the same expectation where problems of
        one cluster have nothing in common.
    run_noise : float
        mean_i(v_i/R_i), the part of `spread` that repetition removes.
    n_problems : int
    n_runs : int or None
        Runs per problem; None where they are unequal.
    runs_range : (int, int)
    runs_harmonic : float
        1/mean(1/R_i).
    runs_mean : float
    single_run : float
        Variance of a single run of a random problem; σ_b² + μ_w without clusters.

    Examples
    --------
    >>> import repeval
    >>> c = repeval.components([3, 3, 0, 1, 2, 0], 3)
    >>> round(c.icc, 3), round(c.ceiling, 3)
    (0.61, 1.638)
    >>> round(c.max_narrowing, 3), round(c.remaining_narrowing, 3)
    (0.219, 0.092)
    """

    mean: float
    within: float
    between: float
    spread: float
    run_noise: float
    n_problems: int
    n_runs: int | None
    runs_range: tuple[int, int]
    runs_harmonic: float
    runs_mean: float
    single_run: float

    @property
    def icc(self) -> float:
        """Intraclass correlation ρ = σ_b²/(σ_b² + μ_w); negative where σ_b² is."""
        return _ratio(self.between, self.between + self.within)

    @property
    def ceiling(self) -> float:
        """Variance ceiling 1 + μ_w/σ_b² (VC Eq. 2); infinite where σ_b² <= 0 but for 0/0."""
        if self.between > 0 or self.within == 0:
            return 1 + _ratio(self.within, self.between)
        return math.inf if self.between <= 0 else math.nan

    @property
    def max_narrowing(self) -> float:
        """Share of an interval's width that endless runs remove, seen from one run."""
        return 1 - 1 / math.sqrt(self.ceiling)

    @property
    def aleatoric_share(self) -> float:
        """Share of the score's variance that endless runs would remove, seen from these runs."""
        if self.spread == 0 and self.run_noise > 0:
            return math.inf
        return _ratio(self.run_noise, self.spread)

    @property
    def remaining_narrowing(self) -> float:
        """Share of an interval's width that endless runs remove, seen from these runs."""
        if self.between <= 0 < self.within:
            return 1.0
        return 1 - math.sqrt(1 - min(self.aleatoric_share, 1.0))

    @property
    def two_level_inflation(self) -> float:
        """How much wider redrawing runs in redrawn problems makes a width; NaN if R is unequal.

        References
        ----------
        VC Appendix D: the added variance over s²(p̂) is (R-1)/R · (μ_w/R)/s²(p̂).
        """
        if self.n_runs is None:
            return math.nan
        return math.sqrt(1 + (1 - 1 / self.n_runs) * self.aleatoric_share) - 1

    @property
    def design_effect(self) -> float:
        """Factor by which pooling the runs understates the variance; 1 + (R-1)ρ if R is equal.

        Under clusters what problems of one cluster share counts as well.
        """
        clustered = _ratio(self.between + self.within, self.single_run)
        return self.runs_mean * (self.icc + (1 - self.icc) / self.runs_harmonic) * clustered

    @property
    def variance(self) -> float:
        """Variance of the score for new problems, (σ_b² + μ_w/R)/N (VC Eq. 1)."""
        return self.spread / self.n_problems

    @property
    def fixed_variance(self) -> float:
        """Variance of the score for exactly these problems, μ_w/(N R)."""
        return self.run_noise / self.n_problems


def components(
    outcomes: Any, runs: ArrayLike | None = None, clusters: ArrayLike | None = None
) -> Components:
    """Estimate the variance components of one system's score.

    Parameters
    ----------
    outcomes, runs
        See `repeval.as_sample`.
    clusters : (N,) array, optional
        Label of the cluster each problem belongs to. Runs reduce no variance that the problems
        of a cluster share, so `between` then holds it too.

    Returns
    -------
    Components
        `within` = mean of v_i over the problems with two runs or more, and `between` =
        s²(p̂) - mean_i(v_i/R_i), with `within` in place of v_i where R_i = 1; under clusters
        N·V in place of s²(p̂), V the cluster-robust variance of the score.

    References
    ----------
    VC section 3. For scores v_i is the sample variance of the problem's runs. Bell and McCaffrey
    (2002) for the cluster-robust variance (CR2).

    Examples
    --------
    Six problems with three runs each:

    >>> import repeval
    >>> c = repeval.components([3, 3, 0, 1, 2, 0], 3)
    >>> round(c.mean, 3), round(c.within, 3), round(c.between, 3)
    (0.5, 0.111, 0.174)
    """
    s = as_sample(outcomes, runs)
    about = np.array([[run_noise(s)], [within(s)]])
    return _components(s.rate[None], s.runs[None], about, as_clusters(clusters, len(s)))[0]


def difference_components(a: Any, b: Any, clusters: ArrayLike | None = None) -> Components:
    """Estimate the components of the difference of two systems on the same problems.

    Difficulty that both systems share cancels in d_i = p̂_iA - p̂_iB, run noise adds up:
    `within` = μ_wA + μ_wB, and the ceiling is higher than that of either score.

    Parameters
    ----------
    a, b
        The two systems, in the same order of problems; see `repeval.as_sample`.
    clusters : (N,) array, optional
        As in `components`.

    Examples
    --------
    The ceilings of two scores, and that of their difference:

    >>> import repeval
    >>> a, b = ([3, 3, 0, 1, 2, 0], 3), ([3, 1, 0, 2, 0, 0], 3)
    >>> difference = repeval.difference_components(a, b)
    >>> [round(c.ceiling, 2) for c in (repeval.components(*a), repeval.components(*b), difference)]
    [1.64, 1.79, 3.4]
    """
    first, second = paired(a, b)
    return differences_components([(first, second)], as_clusters(clusters, len(first)))[0]


def differences_components(
    pairs: Sequence[Pair], groups: IntArray | None = None
) -> list[Components]:
    """Return the same for many pairs on equally many problems, each in the same clusters."""
    found: list[Components] = []
    for first in range(0, len(pairs), step := max(1, TOGETHER // len(pairs[0][0]))):
        some = pairs[first : first + step]
        values = differences(some)
        runs = np.concatenate(sides(some, lambda s: s.runs), axis=1)
        about = np.array([[f(a) + f(b) for a, b in some] for f in (run_noise, within)])
        found += _components(values, runs, about, groups)
    return found


def paired(a: Any, b: Any) -> tuple[Sample, Sample]:
    """Normalise two systems that were run on the same problems."""
    first, second = as_sample(a), as_sample(b)
    if len(first) != len(second):
        raise ValueError(f"a pair needs the same problems: {len(first)} against {len(second)}")
    return first, second


@kept
def score(sample: Sample) -> float:
    """Return the mean of the pass rates, every problem with the same weight."""
    return float(sample.rate.mean())


@kept
def filled_noise(sample: Sample) -> FloatArray:
    """Return v_i with the overall `within` where a problem has one run and so no v_i."""
    unknown = np.isnan(sample.noise)
    return np.where(unknown, within(sample), sample.noise) if unknown.any() else sample.noise


@kept
def rate_noise(sample: Sample) -> FloatArray:
    """Return v_i/R_i, the run noise of each pass rate."""
    return filled_noise(sample) / sample.runs


@kept
def run_noise(sample: Sample) -> float:
    """Return the mean of these, which is N times the variance of the score on these problems."""
    return float(rate_noise(sample).mean())


@kept
def noise_terms(sample: Sample) -> FloatArray:
    """Return what each problem says of the run noise: the terms whose mean is mean_i(v_i/R_i).

    Only repeated problems say anything, the others have 0. Each counts with its own v_i/R_i, and
    for an equal share of the problems that were run once: those are taken to be as noisy as the
    repeated ones are on average.

    Parameters
    ----------
    sample : Sample
        At least one problem with two runs.
    """
    repeated = sample.runs > 1
    known = int(repeated.sum())
    weights = 1 / sample.runs + (len(sample) - known) / known
    return np.where(repeated, sample.noise * weights, 0.0)


@kept
def within(sample: Sample) -> float:
    """Return μ_w: the mean of v_i over the problems with at least two runs, else NaN."""
    known = sample.noise[~np.isnan(sample.noise)]
    return float(known.mean()) if known.size else math.nan


def noise_bound(runs: ArrayLike, level: float = 0.95) -> float:
    """Return the upper bound on μ_w of 0/1 outcomes where no repeated problem was mixed.

    Parameters
    ----------
    runs : (N,) array of int
        Runs of the problems with at least two; the fewest stand for all.

    Notes
    -----
    From P(mixed | p) >= 4(1 - 2^(1-R)) p(1-p), and P(none of N mixed) = 1 - level at the bound.
    """
    r = np.asarray(runs)
    return float((1 - (1 - level) ** (1 / len(r))) / (4 * (1 - 2.0 ** (1 - r.min()))))


def _components(
    values: FloatArray, runs: IntArray, about: FloatArray, groups: IntArray | None
) -> list[Components]:
    """Return the components of K scores or differences.

    Parameters
    ----------
    values : (K, N) float array
    runs : (K, ...) int array
        Of all problems of the systems that are compared.
    about : (2, K) float array
        Their `run_noise`, and their `within`.
    groups : (N,) int array or None
    """
    plain = variances(values)
    spread = plain if groups is None else [clustered_spread(row, groups) for row in values]
    columns = (
        values.mean(axis=1), spread, plain, *about, runs.min(axis=1), runs.max(axis=1),
        1 / (1 / runs).mean(axis=1), runs.mean(axis=1),
    )  # fmt: skip
    return [
        Components(
            mean=mean,
            within=within_,
            # The sign decides whether there is a ceiling, so no rounding may decide the sign.
            between=_difference(spread_, noise),
            spread=spread_,
            run_noise=noise,
            n_problems=values.shape[1],
            n_runs=least if least == most else None,
            runs_range=(least, most),
            runs_harmonic=harmonic,
            runs_mean=runs_mean,
            single_run=_difference(plain_, noise) + within_,
        )
        for mean, spread_, plain_, noise, within_, least, most, harmonic, runs_mean in zip(
            *(np.asarray(column).tolist() for column in columns), strict=True
        )
    ]


def clustered_spread(values: FloatArray, groups: IntArray | None) -> float:
    """Return N times the variance of a mean: s² without clusters, CR2 with them."""
    if groups is None:
        return variance(values)
    return len(values) * score_variance(values, groups)[0]


def _difference(spread: float, run_noise: float) -> float:
    between = spread - run_noise
    return 0.0 if abs(between) < ROUNDING * spread else between


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole != 0 else math.nan
