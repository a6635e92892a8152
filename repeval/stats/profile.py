"""Likelihood limits of the ICC, and so of the ceiling.

For 0/1 outcomes the beta-binomial likelihood, whose ICC is ρ = 1/(1+α+β), from identical
problems (ρ = 0) to problems that always or never pass (ρ = 1): no seed, and limits on every
boundary. For the rest see `repeval.stats.noise_share`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from repeval.stats.intervals import NO_FLIP, normal_quantile
from repeval.stats.noise_share import noise_share, share_iccs
from repeval.stats.resampling import PART
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Sample

# ln(ρ/(1-ρ)) at which the profile is first read, between ρ = 0 and ρ = 1 themselves.
LOGITS = np.concatenate([[-np.inf], np.arange(-16, 20.5, 0.5), [np.inf]])
# Most steps of a root search: a bisection alone would come down to rounding error in them.
STEPS = 60
# Problems of a kind from which on their variance says something.
ENOUGH = 5
NOTHING_VARIED = "nothing varied"
# Mixed problems added for the lower limit.
HALF = 0.5

_Function = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class BetaBinomialLikelihood:
    """Likelihood of the passes of problems whose pass rates have a Beta law.

    Attributes
    ----------
    passes, failures, runs : (max R,) float arrays
        How many problems have more than j passes, more than j failures, and more than j runs;
        all that the likelihood depends on, so that its cost does not grow with N.

    Notes
    -----
    With m = α/(α+β) and ρ = 1/(1+α+β), the runs of one problem, k of R passed, have the chance
    Π_{j<k} (m(1-ρ)+jρ) · Π_{j<R-k} ((1-m)(1-ρ)+jρ) / Π_{j<R} (1-ρ+jρ).
    For a single run that is m or 1-m: it informs the mean alone.
    """

    passes: FloatArray
    failures: FloatArray
    runs: FloatArray

    @classmethod
    def of(cls, sample: Sample) -> BetaBinomialLikelihood:
        """Return the likelihood of 0/1 outcomes."""
        most = int(sample.runs.max())
        parts = (sample.passes, sample.runs - sample.passes, sample.runs)
        return cls(*(_more_than(part, most) for part in parts))

    @property
    def mixed(self) -> float:
        """Number of problems that both passed and failed."""
        return float(self.passes[0] + self.failures[0] - self.runs[0])

    def log(self, mean: FloatArray, logit: FloatArray) -> FloatArray:
        """Return the log-likelihood at means m and ln(ρ/(1-ρ)), arrays of one shape."""
        return _in_parts(self._log, len(self.runs), mean, logit)

    def _log(self, mean: FloatArray, logit: FloatArray) -> FloatArray:
        _, rest, passing, failing, running = self._factors(mean, logit)
        # The factors of j = 0, in which 1-ρ is left once for each mixed problem.
        first = special.xlogy(self.passes[0], mean) + special.xlogy(self.failures[0], 1 - mean)
        first += special.xlogy(self.mixed, rest)
        others = special.xlogy(self.passes[1:], passing) + special.xlogy(self.failures[1:], failing)
        return first + (others - special.xlogy(self.runs[1:], running)).sum(axis=-1)

    def slope(self, mean: FloatArray, logit: FloatArray) -> FloatArray:
        """Return the derivative of the log-likelihood by ln(ρ/(1-ρ))."""
        return _in_parts(self._slope, len(self.runs), mean, logit)

    def _slope(self, mean: FloatArray, logit: FloatArray) -> FloatArray:
        rho, rest, passing, failing, running = self._factors(mean, logit)
        j, m = np.arange(1, len(self.runs)), mean[..., None]
        terms = self.passes[1:] * (j - m) / passing + self.failures[1:] * (j - 1 + m) / failing
        terms -= self.runs[1:] * (j - 1) / running
        return rho * (rest * terms.sum(axis=-1) - self.mixed)

    def best_mean(self, logit: FloatArray) -> FloatArray:
        """Return the mean of the highest likelihood at each ρ, in which it is concave."""
        none, all_ = self.failures.sum() == 0, self.passes.sum() == 0
        if none or all_:
            return np.full(logit.shape, float(none))
        # Exact at ρ = 0, where every run counts, and at ρ = 1, where every problem does.
        rho = special.expit(logit)
        ends = [p / (p + f) for p, f in ((self.passes.sum(), self.failures.sum()),
                                         (self.passes[0], self.failures[0]))]  # fmt: skip
        m = ends[0] * (1 - rho) + ends[1] * rho
        low, high = np.zeros_like(m), np.ones_like(m)
        for _ in range(STEPS):
            slopes = _in_parts(self._mean_slopes, len(self.runs), m, logit)
            gain, bend = np.moveaxis(slopes, -1, 0)
            low, high = np.where(gain > 0, m, low), np.where(gain > 0, high, m)
            new = m + gain / bend
            new = np.where((new >= low) & (new <= high), new, (low + high) / 2)
            step, m = np.abs(new - m), new
            # The likelihood feels the square of what is left.
            if (step <= 1e-8 * m * (1 - m)).all():
                break
        return m

    def _mean_slopes(self, m: FloatArray, logit: FloatArray) -> FloatArray:
        """Return the derivative by the mean, and that of it with its sign turned."""
        _, rest, passing, failing, _ = self._factors(m, logit)
        up, down = self.passes[1:] / passing, self.failures[1:] / failing
        gain = self.passes[0] / m - self.failures[0] / (1 - m)
        gain += rest * (up - down).sum(axis=-1)
        bend = self.passes[0] / m**2 + self.failures[0] / (1 - m) ** 2
        bend += rest**2 * (up / passing + down / failing).sum(axis=-1)
        return np.stack([gain, bend], axis=-1)

    def profile(self, logit: FloatArray) -> FloatArray:
        """Return the highest log-likelihood at each ρ, given as ln(ρ/(1-ρ))."""
        return self.log(self.best_mean(logit), logit)

    def profile_slope(self, logit: FloatArray) -> FloatArray:
        """Return the derivative of `profile`: at the best mean, that at a fixed one."""
        return self.slope(self.best_mean(logit), logit)

    def _factors(self, mean: FloatArray, logit: FloatArray) -> tuple[FloatArray, ...]:
        rho, rest = special.expit(logit), special.expit(-logit)
        j = rho[..., None] * np.arange(1, len(self.runs))
        m, r = mean[..., None], rest[..., None]
        return rho, rest, m * r + j, (1 - m) * r + j, r + j


def profile_limits(
    sample: Sample, level: float = 0.95, clusters: IntArray | None = None
) -> tuple[float, float, str]:
    """Return the limits of the ICC by the likelihood that the outcomes have, and its name.

    For 0/1 outcomes the beta-binomial one, which always has limits. With more than two runs
    its estimate depends on the shape of the Beta law, which pass rates need not have: once five
    problems are mixed, and five show the rarer outcome, the limits are the outer ones of it
    and of the normal two-level likelihood, which is right for a law of any shape. That one
    serves for scores, and for clusters, between which the variance then is.

    Parameters
    ----------
    sample : Sample
        At least one problem with two runs.
    level : float
    clusters : (N,) int array, optional
        Codes 0..G-1.

    Returns
    -------
    low, high : float
        NaN where scores or clusters show no run noise.
    method : str
        The likelihood; where there are no limits, why.
    """
    if sample.binary and clusters is None:
        low, high = icc_limits(sample, level)
        if not _shows_its_shape(sample):
            return low, high, "beta-binomial likelihood"
        other = share_iccs([noise_share(sample.rate, [sample])], level)[0].tolist()
        return min(low, other[0]), max(high, other[1]), "beta-binomial and two-level likelihoods"
    share = noise_share(sample.rate, [sample], clusters)
    if not share.share > 0:
        return math.nan, math.nan, NO_FLIP if share.share == 0 else NOTHING_VARIED
    units = "" if clusters is None else f", {int(clusters.max()) + 1} clusters"
    low, high = share_iccs([share], level)[0].tolist()
    return low, high, f"normal two-level likelihood{units}"


def icc_limits(sample: Sample, level: float = 0.95) -> tuple[float, float]:
    """Return the profile-likelihood limits of the ICC of 0/1 outcomes, within [0, 1].

    From its maximum to each limit twice the log-likelihood falls by the chi-square quantile of
    one degree of freedom. Where all problems pass always, or never, nothing limits ρ.

    Parameters
    ----------
    sample : Sample
        0/1 outcomes, at least one problem with two runs.
    level : float

    Notes
    -----
    Where two problems of 99 are mixed, one or none easily might be, and the plain lower limit
    would then miss ρ in one of seven data sets. It is read with half a mixed problem more, the
    usual correction of a count.
    """
    likelihood = BetaBinomialLikelihood.of(sample)
    more = np.array([HALF, 0.0])
    value, slope = _with_mixed(likelihood, more)
    values = likelihood.profile(LOGITS) + special.xlogy(more[:, None], special.expit(-LOGITS))
    near = np.clip(values.argmax(axis=1), 2, len(LOGITS) - 3)
    # The likelihood feels the square of an error in the place of its peak.
    peak = _root(slope, LOGITS[near - 1], LOGITS[near + 1], 1e-5)
    at_peak = value(peak)
    floor = np.maximum(values.max(axis=1), at_peak) - normal_quantile(level) ** 2 / 2
    # A rounding of the sum of logarithms must not bound a flat profile.
    reach = floor - ROUNDING * np.abs(floor)
    # Of a profile with two peaks, the outer limits of both.
    inside = [
        [*LOGITS[row >= r], *([p] if v >= r else [])]
        for row, r, p, v in zip(values, reach, peak, at_peak, strict=True)
    ]
    ends = np.array([min(inside[0]), max(inside[1])])
    # Between ρ = 0, or 1, and its nearest point there is nothing to tell apart.
    last = len(LOGITS) - 1
    beyond = LOGITS[[max(np.searchsorted(LOGITS, ends[0]) - 1, 0),
                     min(np.searchsorted(LOGITS, ends[1], side="right"), last)]]  # fmt: skip
    limits, open_ = beyond.copy(), np.isfinite(beyond)
    if open_.any():
        value, _ = _with_mixed(likelihood, more[open_])
        limits[open_] = _root(lambda x: value(x) - floor[open_], beyond[open_], ends[open_], 1e-8)
    low, high = special.expit(limits)
    return float(low), float(high)


def narrowing_limits(icc_low: float, icc_high: float, runs: float = 1.0) -> tuple[float, float]:
    """Return the limits of how much narrower endless runs make an interval, from those of the ICC.

    Parameters
    ----------
    icc_low, icc_high : float
        Limits of ρ; below 0 counts as 0. NaN gives NaN.
    runs : float
        1 for `max_narrowing`; for `remaining_narrowing` the runs at hand, R or, where they are
        unequal, `within / run_noise` of the components.

    Returns
    -------
    low, high : float
        1 - √(1-q) with the share of run noise q = ((1-ρ)/R)/(ρ+(1-ρ)/R).
    """
    rhos = (min(max(rho, 0.0), 1.0) for rho in (icc_high, icc_low))
    low, high = (1 - math.sqrt(rho / (rho + (1 - rho) / runs)) for rho in rhos)
    return low, high


def _shows_its_shape(sample: Sample) -> bool:
    """Whether passes of more than two runs say enough to contradict a Beta law."""
    passed, failed = sample.passes > 0, sample.passes < sample.runs
    seen = min((passed & failed).sum(), passed.sum(), failed.sum())
    return bool(sample.runs.max() > 2 and seen >= ENOUGH)


def _more_than(values: IntArray, most: int) -> FloatArray:
    """Count the values above j for j = 0..most-1."""
    below = np.cumsum(np.bincount(values, minlength=most + 1))[:most]
    return (len(values) - below).astype(float)


def _with_mixed(
    likelihood: BetaBinomialLikelihood, more: FloatArray
) -> tuple[_Function, _Function]:
    """Return the profile of the likelihood with so many more mixed problems, and its slope."""
    return (
        lambda x: likelihood.profile(x) + special.xlogy(more, special.expit(-x)),
        lambda x: likelihood.profile_slope(x) - more * special.expit(x),
    )


def _in_parts(
    f: Callable[[FloatArray, FloatArray], FloatArray], width: int, *points: FloatArray
) -> FloatArray:
    """Evaluate at some points at a time: at each there are as many factors as `width`."""
    flat, step = [np.ravel(x) for x in points], max(1, PART // width)
    parts = range(0, flat[0].size, step)
    found = np.concatenate([f(*(x[i : i + step] for x in flat)) for i in parts])
    return found.reshape((*np.shape(points[0]), *found.shape[1:]))


def _root(f: _Function, low: FloatArray, high: FloatArray, accuracy: float) -> FloatArray:
    """Return where f changes sign between two arrays of points, by the Illinois method."""
    at_low, at_high = f(low), f(high)
    for _ in range(STEPS):
        with np.errstate(invalid="ignore", divide="ignore"):
            x = high - at_high * (high - low) / (at_high - at_low)
        between = (x > np.minimum(low, high)) & (x < np.maximum(low, high))
        x = np.where(between, x, (low + high) / 2)
        at = f(x)
        # The end that stays has its value halved, lest it stay for ever.
        crossed = at * at_high < 0
        low, at_low = np.where(crossed, high, low), np.where(crossed, at_high, at_low / 2)
        step, high, at_high = np.abs(x - high), x, at
        if ((step <= accuracy) | (at == 0)).all():
            break
    return high
