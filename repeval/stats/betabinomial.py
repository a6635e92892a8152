"""The beta-binomial model of repeated runs; pass rates over several tries, seen and predicted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats.components import components
from repeval.stats.sample import FloatArray, Sample, as_sample


@dataclass(frozen=True)
class BetaBinomial:
    """Pass rates drawn from Beta(α, β); α+β = μ_w/σ_b² = ceiling - 1.

    Attributes
    ----------
    alpha, beta : float
        NaN where the data have no such model (σ_b² <= 0, or no run noise).
    method : {"moments", "paper", "mle"}

    Examples
    --------
    Passed on all, and on at least one, of one, three and ten runs:

    >>> import repeval
    >>> model = repeval.fit_beta_binomial([3, 3, 0, 1, 2, 0], 3)
    >>> model.retry_free([1, 3, 10]).round(3).tolist()
    [0.5, 0.354, 0.241]
    >>> model.pass_at_k([1, 3, 10]).round(3).tolist()
    [0.5, 0.646, 0.759]
    """

    alpha: float
    beta: float
    method: str

    def retry_free(self, runs: ArrayLike) -> FloatArray:
        """Return the expected share of problems passed on every one of R runs, pass^R."""
        return self._moment(self.alpha, np.asarray(runs, dtype=float))

    def pass_at_k(self, k: ArrayLike) -> FloatArray:
        """Return the expected share of problems passed at least once in k runs."""
        return 1 - self._moment(self.beta, np.asarray(k, dtype=float))

    def _moment(self, shape: float, k: FloatArray) -> FloatArray:
        total = self.alpha + self.beta
        log = special.gammaln(shape + k) - special.gammaln(shape)
        return np.exp(log - special.gammaln(total + k) + special.gammaln(total))


def fit_beta_binomial(
    outcomes: Any, runs: ArrayLike | None = None, *, method: str = "moments"
) -> BetaBinomial:
    """Fit the beta-binomial model to passes.

    Parameters
    ----------
    outcomes, runs
        See `repeval.as_sample`; pass/fail outcomes only.
    method : {"moments", "paper", "mle"}
        `moments`: α+β = μ_w/σ_b²; `paper`: matched to mean and σ_b² as in VC, that is
        α+β = m(1-m)/σ_b² - 1; `mle`: maximum likelihood.

    References
    ----------
    VC Appendices C and D (`paper`).

    Examples
    --------
    >>> import repeval
    >>> model = repeval.fit_beta_binomial([3, 3, 0, 1, 2, 0], 3)
    >>> round(model.alpha, 3), round(model.beta, 3)
    (0.319, 0.319)
    """
    sample = _binary(outcomes, runs)
    c = components(sample)
    if method == "mle":
        # Without a problem that has both passes and failures the likelihood has no maximum.
        nothing = BetaBinomial(math.nan, math.nan, method)
        return _maximum_likelihood(sample) if c.within > 0 else nothing
    if method == "moments":
        total = c.within / c.between if c.between > 0 else math.nan
    elif method == "paper":
        total = c.mean * (1 - c.mean) / c.between - 1 if c.between > 0 else math.nan
    else:
        raise ValueError(f"method must be moments, paper or mle, not {method!r}")
    if not total > 0:
        return BetaBinomial(math.nan, math.nan, method)
    return BetaBinomial(c.mean * total, (1 - c.mean) * total, method)


def pass_at_k(outcomes: Any, runs: ArrayLike | None = None, *, k: int) -> float:
    """Return the unbiased share of problems passed at least once in k runs, k <= R_i.

    Examples
    --------
    Passed at least once in one, two and three runs:

    >>> import repeval
    >>> [round(repeval.pass_at_k([3, 3, 0, 1, 2, 0], 3, k=k), 3) for k in (1, 2, 3)]
    [0.5, 0.611, 0.667]
    """
    s = _tries(outcomes, runs, k)
    return float(1 - _ratio_of_binomials(s.runs - s.passes, s.runs, k).mean())


def pass_hat_k(outcomes: Any, runs: ArrayLike | None = None, *, k: int) -> float:
    """Return the unbiased share of problems passed on all of k runs, k <= R_i.

    Examples
    --------
    Passed on all of one, two and three runs:

    >>> import repeval
    >>> [round(repeval.pass_hat_k([3, 3, 0, 1, 2, 0], 3, k=k), 3) for k in (1, 2, 3)]
    [0.5, 0.389, 0.333]
    """
    s = _tries(outcomes, runs, k)
    return float(_ratio_of_binomials(s.passes, s.runs, k).mean())


def has_beta(mean: float, between: float) -> bool:
    """Tell whether a Beta law has this mean and variance, that is, α+β > 0 is finite."""
    return 0 < between < mean * (1 - mean)


def expected_power(mean: float, between: float, k: int) -> float:
    """Return E[p^k] of the Beta law with this mean and variance, or of the nearest limit.

    The share passed on all of k runs; 1 - E[(1-p)^k], with the mean of failures, is pass@k.
    Where `has_beta` fails, a variance too large means that each problem is always or never passed,
    and E[p^k] is the mean; one of 0 or less means one rate for all, and E[p^k] is mean^k.

    References
    ----------
    VC Appendices B and C: the product of (α+j)/(α+β+j), written in ρ = 1/(1+α+β).
    """
    most = mean * (1 - mean)
    rho = min(max(between / most, 0.0), 1.0) if most > 0 else 0.0
    j = np.arange(1, k)
    return float(mean * np.prod((mean * (1 - rho) + j * rho) / (1 - rho + j * rho)))


def _binary(outcomes: Any, runs: ArrayLike | None) -> Sample:
    sample = as_sample(outcomes, runs)
    if not sample.binary:
        raise ValueError("pass/fail outcomes are needed; the data hold scores between 0 and 1")
    return sample


def _tries(outcomes: Any, runs: ArrayLike | None, k: int) -> Sample:
    s = _binary(outcomes, runs)
    if k != int(k) or not 1 <= k <= s.runs.min():
        most = f"the fewest runs, {s.runs.min()}"
        raise ValueError(f"k must be a whole number between 1 and {most}, not {k}")
    return s


def _ratio_of_binomials(part: FloatArray, whole: FloatArray, k: int) -> FloatArray:
    """C(part, k)/C(whole, k), as a product of k factors."""
    steps = np.arange(k)[:, None]
    return np.prod(np.maximum(part - steps, 0) / (whole - steps), axis=0)


def _maximum_likelihood(s: Sample) -> BetaBinomial:
    from scipy import optimize  # a tenth of a second, for this method alone

    def loss(logs: FloatArray) -> float:
        a, b = np.exp(logs)
        return -float(
            (special.betaln(a + s.passes, b + s.runs - s.passes) - special.betaln(a, b)).sum()
        )

    start = fit_beta_binomial(s)
    first = [start.alpha, start.beta] if start.alpha > 0 else [0.5, 0.5]
    # Nelder-Mead needs no gradient and two parameters are few.
    best = optimize.minimize(loss, np.log(first), method="Nelder-Mead")
    a, b = np.exp(best.x)
    return BetaBinomial(float(a), float(b), "mle")
