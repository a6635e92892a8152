"""Confidence interval of the variance ceiling: what endless repetition could buy, and how sure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats import exact_icc
from repeval.stats.components import components, filled_noise
from repeval.stats.exact import CDF_TOLERANCE
from repeval.stats.intervals import NEEDS_RUNS, check_options, normal_quantile
from repeval.stats.profile import NOTHING_VARIED, profile_limits
from repeval.stats.resampling import (
    DEFAULT_SEED,
    as_clusters,
    as_generator,
    keyed_generator,
    resampled_means,
    shifted_levels,
    weighted_means,
)
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Sample, as_sample

# Pairs whose moments are resampled in one product (60 MB at 2,000 resamples); beyond so many
# problems each pair by its kinds of problems, at a cost that does not grow.
PAIR_BATCH = 1000
MANY_PROBLEMS = 5000
# From so many problems on the log-delta interval covers as well as resampling.
DELTA_FROM = 500


@dataclass(frozen=True)
class CeilingInterval:
    """Interval of the ceiling and, as its reciprocal, of the ICC.

    Attributes
    ----------
    low, high : float
        Limits of the ceiling; `high` is infinite where the data set no upper limit.
    icc_low, icc_high : float
        Limits of the ICC; those of resampling are unclipped, so `icc_low` may be negative.
    undefined : float
        Share of resamples with σ_b² <= 0, whose ceiling counts as infinite; NaN for a profile.
    level : float
    kind : {"profile", "percentile", "bca", "log-delta"}
    method : str
        How it was computed; where both limits are NaN, why there are none.

    Examples
    --------
    Twelve problems leave the ICC open; some resamples of six have no difficulty spread:

    >>> import repeval
    >>> limits = repeval.ceiling_interval(2 * [3, 3, 0, 1, 2, 0], 3)
    >>> round(limits.icc_low, 3), round(limits.icc_high, 3), limits.method
    (0.155, 0.843, 'beta-binomial likelihood')
    >>> drawn = repeval.ceiling_interval([3, 3, 0, 1, 2, 0], 3, kind="percentile")
    >>> round(drawn.icc_low, 3), round(drawn.icc_high, 3), round(drawn.undefined, 3)
    (-0.071, 1.0, 0.059)
    """

    low: float
    high: float
    icc_low: float
    icc_high: float
    undefined: float
    level: float
    kind: str
    method: str


def ceiling_interval(
    outcomes: Any, runs: ArrayLike | None = None, *, kind: str = "profile", **options: Any
) -> CeilingInterval:
    """Return the interval of the ceiling 1 + μ_w/σ_b².

    Parameters
    ----------
    outcomes, runs
        See `repeval.as_sample`.
    kind : {"profile", "percentile", "bca"}
        Profile likelihood, as in `repeval.stats.profile.profile_limits`; or from resampled
        problems the paper's percentile interval, or bias-corrected and accelerated on its law.
    **options
        level and clusters as in `repeval.interval`; for resampling also its method, n_resamples
        and rng. "auto" is exact for 0/1 outcomes with equal R and fewer than 2 million lattice
        points; beyond 500 problems, where there is no exact law, it is the log-delta interval.

    References
    ----------
    VC Figure 2 (percentile).

    Examples
    --------
    Twelve problems say little, 120 like them much more; six set the paper's interval no limit:

    >>> import repeval
    >>> few = repeval.ceiling_interval(2 * [3, 3, 0, 1, 2, 0], 3)
    >>> round(few.low, 3), round(few.high, 3)
    (1.186, 6.453)
    >>> many = repeval.ceiling_interval(20 * [3, 3, 0, 1, 2, 0], 3)
    >>> round(many.low, 3), round(many.high, 3)
    (1.509, 2.295)
    >>> repeval.ceiling_interval([3, 3, 0, 1, 2, 0], 3, kind="percentile").high
    inf
    """
    return ceiling_intervals(outcomes, runs, kinds=(kind,), **options)[0]


def ceiling_intervals(
    outcomes: Any,
    runs: ArrayLike | None = None,
    *,
    kinds: tuple[str, ...] = ("percentile", "bca"),
    level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 2000,
    rng: int | np.random.Generator | None = None,
    clusters: ArrayLike | None = None,
) -> tuple[CeilingInterval, ...]:
    """Return several kinds of interval from one law; see `ceiling_interval`."""
    if unknown := set(kinds) - {"profile", "percentile", "bca"}:
        raise ValueError(f"kind must be profile, percentile or bca, not {unknown.pop()!r}")
    check_options(level, method, n_resamples)
    sample = as_sample(outcomes, runs)
    if sample.runs.max() == 1:
        return tuple(_undefined(math.nan, level, kind, NEEDS_RUNS) for kind in kinds)
    groups = as_clusters(clusters, len(sample))
    drawn = tuple(kind for kind in kinds if kind != "profile")
    law = _resampled(sample, drawn, level, method, n_resamples, rng, groups) if drawn else ()
    found = dict(zip(drawn, law, strict=True))
    return tuple(found.get(kind) or _profile(sample, level, groups) for kind in kinds)


def _resampled(
    sample: Sample,
    kinds: tuple[str, ...],
    level: float,
    method: str,
    n_resamples: int,
    rng: int | np.random.Generator | None,
    groups: IntArray | None,
) -> tuple[CeilingInterval, ...]:
    """Return kinds of interval that are read off one law of resampled problems."""
    c = components(sample)
    if c.within == 0 and c.between == 0:
        return tuple(_undefined(math.nan, level, kind, NOTHING_VARIED) for kind in kinds)
    fits = groups is None and exact_icc.is_exact(sample)
    if method == "exact" and not fits:
        raise ValueError("no exact law: scores, unequal runs, clusters or too many lattice points")
    if fits and method != "monte-carlo":
        values, pmf = exact_icc.icc_law(sample)
        how = "exact law"
    elif method == "auto" and groups is None and (delta := _log_delta(sample, level)):
        return (delta,) * len(kinds)
    else:
        columns = moment_columns(sample.rate, [sample])
        means = resampled_means(columns, as_generator(rng), n_resamples, groups)
        values = np.sort(icc_from_means(means, len(sample)))[::-1]
        pmf = np.full(n_resamples, 1 / n_resamples)
        how = f"Monte Carlo, {n_resamples} resamples"
    cdf = np.cumsum(pmf)
    return tuple(_from_law(sample, values, cdf, level, kind, how) for kind in kinds)


def difference_ceiling_intervals(
    pairs: Sequence[tuple[Sample, Sample]],
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = DEFAULT_SEED,
    clusters: IntArray | None = None,
) -> list[tuple[float, float]]:
    """Return percentile intervals of the ceiling of many differences at once.

    Parameters
    ----------
    pairs : sequence of (Sample, Sample)
        Each on the same problems; all pairs on equally many, so that one set of resamples
        serves them all.
    clusters : (N,) int array, optional
        Codes from `repeval.stats.resampling.as_clusters`.

    Returns
    -------
    list of (low, high)
        NaN where a side has one run only; `high` may be infinite.
    """
    tails = [(1 - level) / 2, (1 + level) / 2]
    limits = [(math.nan, math.nan)] * len(pairs)
    repeated = [i for i, pair in enumerate(pairs) if min(s.runs.max() for s in pair) > 1]
    n = len(pairs[0][0]) if pairs else 0
    size, draw = (1, resampled_means) if n > MANY_PROBLEMS else (PAIR_BATCH, weighted_means)
    for first in range(0, len(repeated), size):
        batch = repeated[first : first + size]
        columns = [moment_columns(a.rate - b.rate, [a, b]) for a, b in (pairs[i] for i in batch)]
        rng = keyed_generator(seed, "difference ceiling")
        means = draw(np.concatenate(columns, axis=1), rng, n_resamples, clusters)
        ends = np.cumsum([c.shape[1] for c in columns])[:-1]
        icc = [icc_from_means(m, n) for m in np.split(means, ends, axis=1)]
        high, low = np.quantile(icc, tails, axis=1, method="inverted_cdf")
        for i, moments, *ends_of in zip(batch, columns, low, high, strict=True):
            # Where neither difference nor noise varied there is no ceiling to have limits.
            if np.ptp(moments[:, 0]) > ROUNDING or moments[:, 3].any():
                limits[i] = tuple(map(_reciprocal, ends_of))
    return limits


def component_limits(
    sample: Sample,
    *,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
    clusters: IntArray | None = None,
) -> FloatArray:
    """Return percentile limits of μ_w and of σ_b² over resampled problems, NaN if R = 1.

    Returns
    -------
    (2, 2) float array
        Row `within`, row `between`; low and high.

    References
    ----------
    VC Tables 2 and 3.
    """
    if sample.runs.max() == 1:
        return np.full((2, 2), np.nan)
    columns = moment_columns(sample.rate, [sample])
    means = resampled_means(columns, rng, n_resamples, clusters)
    found = components_from_means(means, len(sample), unknown=math.nan)
    tails = [(1 - level) / 2, (1 + level) / 2]
    # A draw of problems that all had one run says nothing.
    return np.nanquantile(found, tails, axis=1, method="inverted_cdf").T


def _profile(sample: Sample, level: float, groups: IntArray | None) -> CeilingInterval:
    low, high, how = profile_limits(sample, level, groups)
    if math.isnan(low):
        return _undefined(math.nan, level, "profile", how)
    ends = _reciprocal(high), _reciprocal(low)
    return CeilingInterval(*ends, low, high, math.nan, level, "profile", how)


def _log_delta(sample: Sample, level: float) -> CeilingInterval | None:
    """Return 1 + exp(log r ∓ z se) for r = μ_w/σ_b²; None for few problems or r not positive.

    The standard error is that of the mean influence of a problem on log r.
    """
    c, n = components(sample), len(sample)
    if n <= DELTA_FROM or not (c.within > 0 and c.between > 0):
        return None
    known = ~np.isnan(sample.noise)
    noise = filled_noise(sample)
    spread = (sample.rate - c.mean) ** 2 * n / (n - 1) - c.spread
    between = spread - (noise / sample.runs - c.run_noise)
    # What fills an unknown v_i moves with the known ones: their influence on it counts, too.
    within = np.where(known, (noise - c.within) * n / known.sum(), 0)
    between = between - (1 - known.mean()) * within
    influence = within / c.within - between / c.between
    half = normal_quantile(level) * math.sqrt((influence**2).sum() / (n * (n - 1)))
    ratio = c.within / c.between
    low, high = 1 + ratio * math.exp(-half), 1 + ratio * math.exp(half)
    se = math.sqrt((between**2).sum() / (n * (n - 1)))
    undefined = float(special.ndtr(-c.between / se))
    if undefined > (1 - level) / 2:
        # So near σ_b² = 0 the upper limit is infinite, which only resampling shows.
        return None
    return CeilingInterval(low, high, 1 / high, 1 / low, undefined, level, "log-delta", "log-delta")


def _from_law(
    sample: Sample, values: FloatArray, cdf: FloatArray, level: float, kind: str, how: str
) -> CeilingInterval:
    """Read limits off a law whose ICC values fall, so that its ceilings rise."""
    low_q, high_q = (1 - level) / 2, (1 + level) / 2
    if kind == "bca":
        low_q, high_q = _bca_levels(sample, values, cdf, level)
        how += ", BCa"
    positive = len(values) - int(np.searchsorted(values[::-1], 0, side="right"))
    undefined = float(np.clip(cdf[-1] - cdf[positive - 1], 0, 1)) if positive else 1.0
    if math.isnan(low_q):
        return _undefined(undefined, level, kind, "BCa is undefined here")
    last = len(values) - 1
    at_low, at_high = (
        values[min(int(np.searchsorted(cdf, q - CDF_TOLERANCE)), last)] for q in (low_q, high_q)
    )
    return CeilingInterval(
        low=_reciprocal(at_low),
        high=_reciprocal(at_high),
        icc_low=float(at_high),
        icc_high=float(at_low),
        undefined=undefined,
        level=level,
        kind=kind,
        method=how,
    )


def _bca_levels(
    sample: Sample, values: FloatArray, cdf: FloatArray, level: float
) -> tuple[float, float]:
    """Shift the two tail levels for the bias and acceleration of the ceiling."""
    columns = moment_columns(sample.rate, [sample])
    n = len(sample)
    if n < 3:
        return math.nan, math.nan
    estimate = icc_from_means(columns.mean(axis=0), n)
    above = np.searchsorted(-values, -estimate - ROUNDING, side="left")
    through = np.searchsorted(-values, -estimate + ROUNDING, side="right")
    less, upto = (float(cdf[i - 1]) if i else 0.0 for i in (above, through))
    z0 = special.ndtri((less + upto) / 2)
    left_out = icc_from_means((columns.sum(axis=0) - columns) / (n - 1), n - 1)
    # Signed like the ceiling, which rises where the ICC falls.
    low, high = shifted_levels(z0, -left_out, level)
    return float(low), float(high)


def moment_columns(values: FloatArray, parts: Sequence[Sample]) -> FloatArray:
    """Return per problem the columns whose means fix the ICC.

    Parameters
    ----------
    values : (N,) float array
        p̂_i of one system, or the differences of two.
    parts : sequence of Sample
        The one system, or the two.

    Returns
    -------
    (N, 4) float array
        d, d², v/R and v. Where a problem has one run and so no v, instead of the last column
        for each part v (0 if unknown) and whether it is known.
    """
    known = [~np.isnan(s.noise) for s in parts]
    noise = [np.where(k, s.noise, 0) for k, s in zip(known, parts, strict=True)]
    run_noise = sum(v / s.runs for v, s in zip(noise, parts, strict=True))
    if all(k.all() for k in known):
        return np.stack([values, values**2, run_noise, sum(noise)], axis=1)
    each = [column for pair in zip(noise, known, strict=True) for column in pair]
    return np.stack([values, values**2, run_noise, *each], axis=1).astype(float)


def components_from_means(
    means: FloatArray, n: int, unknown: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return μ_w and σ_b² from the means of `moment_columns`.

    Parameters
    ----------
    means : (..., K) float array
    n : int
        Problems in each mean.
    unknown : float
        Stands for μ_w of a system whose resampled problems all have one run.

    Returns
    -------
    within, between : (...) float arrays
    """
    mean, square, run_noise, *rest = np.moveaxis(means, -1, 0)
    within = rest[0]
    if len(rest) > 1:
        noise, known = rest[::2], rest[1::2]
        with np.errstate(invalid="ignore"):
            each = [np.nan_to_num(v / k, nan=unknown) for v, k in zip(noise, known, strict=True)]
        within = sum(each)
        # A single run carries the whole of the within variance.
        run_noise = run_noise + sum(v * (1 - k) for v, k in zip(each, known, strict=True))
    return within, n / (n - 1) * (square - mean**2) - run_noise


def icc_from_means(means: FloatArray, n: int) -> FloatArray:
    """Return the ICC from the means of `moment_columns`; 0 where there is no variance at all.

    Parameters
    ----------
    means : (..., K) float array
    n : int
        Problems in each mean.
    """
    within, between = components_from_means(means, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(between) > ROUNDING, between / (between + within), 0.0)


def _undefined(share: float, level: float, kind: str, reason: str) -> CeilingInterval:
    nan = math.nan
    return CeilingInterval(nan, nan, nan, nan, share, level, kind, reason)


def _reciprocal(icc: float) -> float:
    return 1 / float(icc) if icc > 0 else math.inf
