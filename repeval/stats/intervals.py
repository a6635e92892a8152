"""Confidence intervals for a score, for new problems and for exactly these problems."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats import exact
from repeval.stats.clusters import effective_number, score_variance
from repeval.stats.components import Components, components, noise_terms
from repeval.stats.resampling import as_clusters, as_generator, rerun_means, resampled_means
from repeval.stats.sample import (
    ROUNDING,
    FloatArray,
    IntArray,
    Sample,
    as_sample,
    kept,
    variances,
)


class Kind(NamedTuple):
    """A named interval: what it estimates, its letter in VC Appendix D if any, and short words."""

    estimand: str
    letter: str
    words: str

    @property
    def label(self) -> str:
        """Return the letter, where there is one, and the words."""
        return f"{self.letter} {self.words}".lstrip()


# The one list of intervals: answers, tables, figures and the glossary go through it.
INTERVALS = {
    "pooled_wilson": Kind("neither", "(a)", "all runs as independent"),
    "two_level": Kind("superpopulation", "(b)", "problems and runs redrawn"),
    "one_level": Kind("superpopulation", "(b′)", "problems redrawn"),
    "clustered_normal": Kind("superpopulation", "(b″)", "normal, over problems"),
    "fixed_normal": Kind("fixed", "(c)", "normal, run noise"),
    "fixed_bootstrap": Kind("fixed", "(c′)", "runs redrawn"),
    "clustered_wilson": Kind("superpopulation", "", "Wilson at effective size"),
    "fixed_t": Kind("fixed", "", "Student's t, run noise"),
}
ESTIMANDS = {name: kind.estimand for name, kind in INTERVALS.items()}
LAWS = ("one_level", "two_level", "fixed_bootstrap")
NEEDS_BINARY = "needs pass/fail outcomes (see pass_at)"
NEEDS_RUNS = "not identified: needs two runs of a problem"
# With fewer problems (or clusters) of the rarer kind, s² says little: take runs as identical.
FEW = 5
# Scores whose noise is known with fewer degrees of freedom may hide more (a few large changes):
# their own noise covers 68-94 %, a bound instead 94 % and more (tests: the coverage grid).
SCORES_DF = 6
NO_FLIP = "no problem changed its verdict, so run noise cannot be measured"


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; both limits are NaN, with the reason in `method`, if it has none.

    Attributes
    ----------
    low, high : float
        Limits, on the scale of the score.
    level : float
    name : str
        One of `INTERVALS`.
    estimand : {"superpopulation", "fixed", "neither"}
        New problems like these; exactly these problems; no question at all.
    method : str
        How it was computed.

    Examples
    --------
    >>> import repeval
    >>> new = repeval.interval([3, 3, 0, 1, 2, 0], 3, name="one_level")
    >>> round(new.width, 3), new.estimand, new.method
    (0.667, 'superpopulation', 'exact law')
    >>> repeval.interval([3, 3, 3], 3, name="one_level").exists
    False
    """

    low: float
    high: float
    level: float
    name: str
    estimand: str
    method: str

    @property
    def width(self) -> float:
        """Return high - low."""
        return self.high - self.low

    @property
    def exists(self) -> bool:
        """Whether the interval could be computed."""
        return not math.isnan(self.low)


def interval(
    outcomes: Any,
    runs: ArrayLike | None = None,
    *,
    name: str,
    level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 2000,
    rng: int | np.random.Generator | None = None,
    clusters: ArrayLike | None = None,
) -> Interval:
    """Return one of the named intervals of a score.

    Parameters
    ----------
    outcomes, runs
        See `repeval.as_sample`.
    name : str
        One of `INTERVALS`: `pooled_wilson` (a; for reference: right for R = 1 only); for new
        problems `two_level` (b), `one_level` (b'), `clustered_normal` (b''), `clustered_wilson`;
        for exactly these problems `fixed_normal` (c), `fixed_bootstrap` (c'), `fixed_t`.
    level : float
    method : {"auto", "exact", "monte-carlo"}
        For the three bootstrap laws; "auto" is exact up to transforms of 2^18 points.
    n_resamples : int
        For Monte Carlo.
    rng : int, numpy.random.Generator or None
    clusters : (N,) array, optional
        Label of the cluster each problem belongs to; whole clusters are then resampled.

    References
    ----------
    VC Appendix D for the six with letters. `clustered_wilson` is Wilson's interval at the
    effective sample size m(1-m)/Var, never below N. `fixed_t` has Satterthwaite's degrees of
    freedom, cut off at 0 and 1; where no run changed anything, or where it is narrower, stands
    Wilson's interval of all runs, which no run noise exceeds (Hoeffding 1956). Clusters: CR2
    variance and Student's t, see `repeval.stats.clusters`.

    Examples
    --------
    For new problems like these, and for exactly these:

    >>> import repeval
    >>> new = repeval.interval([3, 3, 0, 1, 2, 0], 3, name="clustered_wilson")
    >>> round(new.low, 3), round(new.high, 3)
    (0.188, 0.812)
    >>> these = repeval.interval([3, 3, 0, 1, 2, 0], 3, name="fixed_t")
    >>> round(these.low, 3), round(these.high, 3)
    (0.298, 0.702)
    """
    if name not in ESTIMANDS:
        raise ValueError(f"unknown interval {name!r}; one of {', '.join(ESTIMANDS)}")
    check_options(level, method, n_resamples)
    sample = as_sample(outcomes, runs)
    groups = as_clusters(clusters, len(sample))
    if name in LAWS:
        low, high, how = _bootstrap(sample, name, level, method, n_resamples, rng, groups)
    else:
        low, high, how = _CLOSED[name](sample, components(sample), level, groups)
    if high - low < ROUNDING:
        low, high, how = math.nan, math.nan, "every resample gives the same score"
    return Interval(float(low), float(high), level, name, ESTIMANDS[name], how)


def check_options(level: float, method: str = "auto", n_resamples: int = 2000) -> None:
    """Refuse values that the options of all intervals cannot have."""
    # Exact laws resolve tails down to 1e-12; nobody needs a level that close to 1.
    if not (isinstance(level, numbers.Real) and 0.5 <= level <= 1 - 1e-9):
        raise ValueError(f"level must lie in [0.5, 1 - 1e-9], for instance 0.95, not {level!r}")
    if method not in ("auto", "exact", "monte-carlo"):
        raise ValueError(f"method must be auto, exact or monte-carlo, not {method!r}")
    if not (isinstance(n_resamples, numbers.Integral) and n_resamples >= 1):
        what = "at least 1 and a whole number"
        raise ValueError(f"n_resamples must be {what}, not {n_resamples!r}")


def normal_quantile(level: float) -> float:
    """Return z for a two-sided interval."""
    return float(special.ndtri((1 + level) / 2))


def t_quantile(level: float, df: float) -> float:
    """Return Student's t for a two-sided interval."""
    return normal_quantile(level) if math.isinf(df) else float(special.stdtrit(df, (1 + level) / 2))


def wilson(rate: float, n: float, level: float) -> tuple[float, float]:
    """Return Wilson's score interval for a rate seen in n independent trials."""
    z = normal_quantile(level)
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


@kept
def fixed_noise(sample: Sample) -> tuple[float, float]:
    """Return the variance of a score on exactly these problems, and its degrees of freedom.

    Only problems that were repeated show run noise; see `noise_terms`. Both are NaN where nothing
    was repeated.
    """
    repeated = sample.runs > 1
    if not repeated.any():
        return math.nan, math.nan
    noise = noise_terms(sample)[repeated]
    return float(noise.sum()) / len(sample) ** 2, float(satterthwaite(noise))


def satterthwaite(noise: FloatArray) -> FloatArray:
    """Return the degrees of freedom of a sum of estimated variances.

    At least 1, at most the number of terms: that they happen to be equal is no knowledge.

    Parameters
    ----------
    noise : (..., n) float array
        The terms, one for each problem that was repeated.

    Returns
    -------
    (...) float array
    """
    n = noise.shape[-1]
    spread = variances(noise)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = 2 * n * noise.mean(axis=-1) ** 2 / spread
    return np.where(spread > 0, np.clip(df, 1, n), n)


_Limits = tuple[float, float, str]


def _pooled_wilson(s: Sample, c: Components, level: float, _: IntArray | None) -> _Limits:
    if not s.binary:
        return math.nan, math.nan, NEEDS_BINARY
    return *wilson(c.mean, float(s.runs.sum()), level), "closed form, runs taken as independent"


def _clustered_normal(s: Sample, c: Components, level: float, groups: IntArray | None) -> _Limits:
    squared, df = score_variance(s.rate, groups)
    half = t_quantile(level, df) * math.sqrt(squared)
    return c.mean - half, c.mean + half, "closed form" + _unit(groups)


def _clustered_wilson(s: Sample, c: Components, level: float, groups: IntArray | None) -> _Limits:
    squared, df = score_variance(s.rate, groups)
    # What lies in [0, 1] varies most where it is 0 or 1: the effective size is never below this.
    least = len(s) if groups is None else effective_number(np.bincount(groups))
    most = float(s.runs.sum()) if s.binary else math.inf
    effective = c.mean * (1 - c.mean) / squared if squared > 0 and not _few(s, groups) else least
    effective = min(max(effective, least), most)
    if groups is not None:
        effective *= _shrunk(level, df)
    elif not s.binary:
        # Scores may vary so little that s² alone decides, and few problems show it roughly.
        effective = max(least, effective * _shrunk(level, len(s) - 1))
    return *wilson(c.mean, effective, level), f"Wilson at n = {effective:.1f}" + _unit(groups)


def _shrunk(level: float, df: float) -> float:
    """Return (z/t)², by which an effective size shrinks where its variance has few df."""
    return (normal_quantile(level) / t_quantile(level, df)) ** 2


def _few(s: Sample, groups: IntArray | None) -> bool:
    """Whether the rarer outcome shows in too few problems, or in too few of the clusters."""
    if s.binary and min((s.passes < s.runs).sum(), (s.passes > 0).sum()) < FEW:
        return True
    if s.binary and groups is None:
        return False
    # Few that hold nearly all of it are no more than few: parts of unequal size as equal ones.
    labels = np.arange(len(s)) if groups is None else groups
    limit = FEW if groups is None else min(FEW, effective_number(np.bincount(groups)) / 2)
    return any(effective_number(np.bincount(labels, x)) < limit for x in (s.rate, 1 - s.rate))


def _fixed_normal(s: Sample, c: Components, level: float, _: IntArray | None) -> _Limits:
    if reason := _no_run_noise(c):
        return math.nan, math.nan, reason
    half = normal_quantile(level) * math.sqrt(c.fixed_variance)
    return c.mean - half, c.mean + half, "closed form"


def _fixed_t(s: Sample, c: Components, level: float, _: IntArray | None) -> _Limits:
    variance, df = fixed_noise(s)
    if math.isnan(variance):
        return math.nan, math.nan, NEEDS_RUNS
    # Noise of scores in [0, 1] is at most that of coins of the same mean (Hoeffding 1956): where
    # runs are equal for certain, else if problems of more runs are no easier or harder.
    n = len(s) * c.runs_harmonic
    bound = *wilson(c.mean, n, level), f"Wilson at n = {n:.1f}, an upper bound on run noise"
    half = t_quantile(level, df) * math.sqrt(variance)
    low, high = max(0.0, c.mean - half), min(1.0, c.mean + half)
    unknown = half < ROUNDING or (not s.binary and df < SCORES_DF)
    if unknown or high - low > bound[1] - bound[0]:
        return bound
    return low, high, f"Student's t, {df:.1f} df"


_CLOSED = {
    "pooled_wilson": _pooled_wilson,
    "clustered_normal": _clustered_normal,
    "clustered_wilson": _clustered_wilson,
    "fixed_normal": _fixed_normal,
    "fixed_t": _fixed_t,
}


def _no_run_noise(c: Components) -> str | None:
    if math.isnan(c.within):
        return NEEDS_RUNS
    return NO_FLIP if c.run_noise == 0 else None


def _bootstrap(
    s: Sample,
    name: str,
    level: float,
    method: str,
    n_resamples: int,
    rng: int | np.random.Generator | None,
    groups: IntArray | None,
) -> _Limits:
    if name == "fixed_bootstrap" and s.runs.max() == 1:
        return math.nan, math.nan, NEEDS_RUNS
    fits = exact.is_exact(s) and (groups is None or name == "fixed_bootstrap")
    if method == "exact" and not fits:
        raise ValueError("no exact law: scores, clusters or a lattice of too many points")
    if fits and method != "monte-carlo":
        return *exact.mean_law(s, name).interval(level), "exact law"
    draws = _draws(s, name, n_resamples, as_generator(rng), groups)
    tail = (1 - level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], method="inverted_cdf")
    return low, high, f"Monte Carlo, {n_resamples} resamples" + _unit(groups)


def _draws(
    s: Sample, name: str, n_resamples: int, rng: np.random.Generator, groups: IntArray | None
) -> FloatArray:
    """Draw bootstrap means."""
    if name == "one_level":
        return resampled_means(s.rate[:, None], rng, n_resamples, groups)[:, 0]
    return rerun_means([s], rng, n_resamples, groups, problems=name == "two_level")[:, 0]


def _unit(groups: IntArray | None) -> str:
    return "" if groups is None else f", {int(groups.max()) + 1} clusters"
