"""Likelihood limits of the ICC of 0/1 outcomes, and so of the ceiling.

The beta-binomial likelihood, whose ICC is ρ = 1/(1+α+β), from identical problems (ρ = 0) to
problems that always or never pass (ρ = 1): no seed, and limits on every boundary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from repeval.stats.intervals import normal_quantile
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Sample

# ln(ρ/(1-ρ)) at which the profile is first read, between ρ = 0 and ρ = 1 themselves.
LOGITS = np.concatenate([[-np.inf], np.arange(-16, 20.5, 0.5), [np.inf]])
# Most steps of a root search: a bisection alone would come down to rounding error in them.
STEPS = 60


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
        _, rest, passing, failing, running = self._factors(mean, logit)
        # The factors of j = 0, in which 1-ρ is left once for each mixed problem.
        first = special.xlogy(self.passes[0], mean) + special.xlogy(self.failures[0], 1 - mean)
        first += special.xlogy(self.mixed, rest)
        others = special.xlogy(self.passes[1:], passing) + special.xlogy(self.failures[1:], failing)
        return first + (others - special.xlogy(self.runs[1:], running)).sum(axis=-1)

    def slope(self, mean: FloatArray, logit: FloatArray) -> FloatArray:
        """Return the derivative of the log-likelihood by ln(ρ/(1-ρ))."""
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
            _, rest, passing, failing, _ = self._factors(m, logit)
            up, down = self.passes[1:] / passing, self.failures[1:] / failing
            gain = self.passes[0] / m - self.failures[0] / (1 - m)
            gain += rest * (up - down).sum(axis=-1)
            bend = self.passes[0] / m**2 + self.failures[0] / (1 - m) ** 2
            bend += rest**2 * (up / passing + down / failing).sum(axis=-1)
            low, high = np.where(gain > 0, m, low), np.where(gain > 0, high, m)
            new = m + gain / bend
            new = np.where((new >= low) & (new <= high), new, (low + high) / 2)
            step, m = np.abs(new - m), new
            # The likelihood feels the square of what is left.
            if (step <= 1e-8 * m * (1 - m)).all():
                break
        return m

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


def icc_limits(sample: Sample, level: float = 0.95) -> tuple[float, float]:
    """Return the profile-likelihood limits of the ICC of 0/1 outcomes, within [0, 1].

    Twice the log-likelihood falls by the chi-square quantile of one degree of freedom from its
    maximum to each limit. Where all problems pass always, or never, any ρ is as likely.

    Parameters
    ----------
    sample : Sample
        0/1 outcomes, at least one problem with two runs.
    level : float
    """
    likelihood = BetaBinomialLikelihood.of(sample)
    logits, values = LOGITS, likelihood.profile(LOGITS)
    best = int(values.argmax())
    if 0 < best < len(logits) - 1:
        between = (logits[[i]] for i in (max(best - 1, 1), min(best + 1, len(logits) - 2)))
        # The likelihood feels the square of an error in the place of its peak.
        peak = _root(likelihood.profile_slope, *between, 1e-5)
        place = int(np.searchsorted(logits, peak[0]))
        logits = np.insert(logits, place, peak)
        values = np.insert(values, place, likelihood.profile(peak))
    floor = values.max() - normal_quantile(level) ** 2 / 2
    # The outermost points above it: of a profile with two peaks, the hull of both intervals.
    # A rounding of the sum of logarithms must not open a flat profile at its ends.
    inside = np.flatnonzero(values >= floor - ROUNDING * abs(floor))
    limits = np.array([logits[inside[0]], logits[inside[-1]]])
    outer = np.array([inside[0] - 1, inside[-1] + 1])
    # Between ρ = 0, or 1, and its nearest point there is nothing to tell apart.
    limits = np.where(outer < 1, -np.inf, np.where(outer > len(logits) - 2, np.inf, limits))
    if (open_ := np.isfinite(limits)).any():
        limits[open_] = _root(
            lambda x: likelihood.profile(x) - floor, logits[outer[open_]], limits[open_], 1e-8
        )
    low, high = special.expit(limits)
    return float(low), float(high)


def narrowing_limits(icc_low: float, icc_high: float, runs: float = 1.0) -> tuple[float, float]:
    """Return the limits of how much narrower endless runs make an interval, from those of the ICC.

    Parameters
    ----------
    icc_low, icc_high : float
        Limits of ρ; below 0 counts as 0. NaN gives NaN.
    runs : float
        Runs at hand, R or its harmonic mean: 1 for `max_narrowing`, `runs_harmonic` for
        `remaining_narrowing`.

    Returns
    -------
    low, high : float
        1 - √(1-q) with the share of run noise q = ((1-ρ)/R)/(ρ+(1-ρ)/R).
    """
    rho = np.clip([icc_high, icc_low], 0, 1)
    low, high = 1 - np.sqrt(rho / (rho + (1 - rho) / runs))
    return float(low), float(high)


def _more_than(values: IntArray, most: int) -> FloatArray:
    """Count the values above j for j = 0..most-1."""
    below = np.cumsum(np.bincount(values, minlength=most + 1))[:most]
    return (len(values) - below).astype(float)


def _root(
    f: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, accuracy: float
) -> FloatArray:
    """Return where f changes sign between two arrays of points, by the Illinois method."""
    at_low, at_high = f(low), f(high)
    for _ in range(STEPS):
        with np.errstate(invalid="ignore", divide="ignore"):
            x = high - at_high * (high - low) / (at_high - at_low)
        x = np.where((x > np.minimum(low, high)) & (x < np.maximum(low, high)), x, (low + high) / 2)
        at = f(x)
        crossed = np.sign(at) != np.sign(at_high)
        # The end that stays has its value halved, lest it stay for ever.
        low = np.where(crossed, high, low)
        at_low = np.where(crossed, at_high, at_low / 2)
        done = (np.abs(x - high) <= accuracy) | (at == 0)
        high, at_high = x, at
        if done.all():
            break
    return high
