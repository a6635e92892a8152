"""The variance-ceiling paper's formulas, each tested by enumerating a small design.

A claim holds if the identity does for the package's own estimators. The design: problems of three
difficulties, few problems, few runs, so that every draw of problems and every outcome of their runs
can be listed with its probability.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import comb

from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.companion.studies import temperature
from repeval.stats.allocation import optimal_runs
from repeval.stats.betabinomial import BetaBinomial
from repeval.stats.components import Components, components
from repeval.stats.exact import mean_law
from repeval.stats.intervals import interval
from repeval.stats.sample import from_counts, from_scores

# Difficulties, their shares, and the true components they imply.
P, SHARE = np.array([0.1, 0.4, 0.95]), np.array([0.3, 0.5, 0.2])
MU, MU_W = SHARE @ P, SHARE @ (P * (1 - P))
SIGMA_B2 = SHARE @ P**2 - MU**2
RHO = SIGMA_B2 / (SIGMA_B2 + MU_W)
# One data set for identities that hold for every data set.
N, R = 8, 4
SAMPLE = from_counts([0, 1, 3, 4, 2, 4, 4, 0], R)
FOUND = components(SAMPLE)
Z = 1.959963984540054
# A Beta whose moments are integrals of polynomials, for which a few nodes are exact.
ALPHA, BETA = 2, 3
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
TRIES = np.arange(1, 6)


def same(*values: ArrayLike) -> bool:
    """Compare numbers, or lists of them, with the first."""
    # 1e-9: sums of a few hundred products of doubles are good to about 1e-13.
    return all(np.allclose(v, values[0], rtol=1e-9, atol=0) for v in values[1:])


def binomial(p: np.ndarray, runs: int) -> np.ndarray:
    """Return the probabilities of 0 to `runs` passes, in the last axis."""
    k, p = np.arange(runs + 1), p[..., None]
    return comb(runs, k) * p**k * (1 - p) ** (runs - k)


def average(statistic: Callable[[Components], float], laws: np.ndarray) -> float:
    """Average a statistic over all outcomes, problem i having k passes with laws[i, k]."""
    problems, runs = laws.shape[0], laws.shape[1] - 1
    outcomes = np.array(list(itertools.product(range(runs + 1), repeat=problems)))
    weights = laws[range(problems), outcomes].prod(axis=1)
    return float(weights @ [statistic(components(passes, runs)) for passes in outcomes])


def averages(statistic: Callable[[Components], float], *runs: int) -> np.ndarray:
    """Average it, for each number of runs, over three problems drawn at random as well."""
    return np.array([average(statistic, np.tile(SHARE @ binomial(P, r), (3, 1))) for r in runs])


def variances(*runs: int) -> np.ndarray:
    """Return the variance of the score of three problems, for each number of runs."""
    return averages(lambda c: (c.mean - MU) ** 2, *runs)


def total(*runs: int) -> np.ndarray:
    """Return the variance of one problem's pass rate, for each number of runs."""
    return SIGMA_B2 + MU_W / np.array(runs)


def at_budget(runs: ArrayLike, cost_ratio: float) -> ArrayLike:
    """Return Eq. 1 times the budget in runs, of which N = 1/(c_p/c_g + R) per unit."""
    return (SIGMA_B2 + MU_W / runs) * (cost_ratio + runs)


def pair(a: int, b: int) -> float:
    """Return the probability of the outcomes a and b in two runs of a random problem."""
    return float(SHARE @ (np.where(a, P, 1 - P) * np.where(b, P, 1 - P)))


def spread(name: str) -> float:
    """Return the variance of an exact bootstrap law of the score."""
    law = mean_law(SAMPLE, name)
    x = (law.start + np.arange(law.pmf.shape[-1])) * law.step
    return float(law.pmf @ x**2 - (law.pmf @ x) ** 2)


claim("vc-s3-eq1")(lambda _: same(variances(1, 2, 3), total(1, 2, 3) / 3))
claim("vc-s3-muw")(lambda _: same((pair(0, 1) + pair(1, 0)) / 2, MU_W))
claim("vc-s3-av")(lambda _: same(averages(lambda c: c.within, 2, 3), MU_W))
claim("vc-s3-sb2")(lambda _: same(averages(lambda c: c.between, 2, 3), SIGMA_B2))
claim("vc-ad-es2")(lambda _: same(averages(lambda c: c.spread, 2, 3), total(2, 3)))
claim("vc-s3-fixed-var")(
    lambda _: same(
        average(lambda c: (c.mean - P.mean()) ** 2, binomial(P, 3)), (P * (1 - P)).mean() / 9
    )
)
claim("vc-ad-fixed-boot")(
    lambda _: same(spread("fixed_bootstrap") / FOUND.fixed_variance, (R - 1) / R)
)
claim("vc-ad-doublecount")(
    lambda _: same(spread("two_level") - spread("one_level"), (R - 1) / R**2 * FOUND.within / N)
)


@claim("vc-s3-phat", "vc-s3-rlpr")
def rates(_: Results) -> bool:
    """Average every pattern of three runs, then the problems, also with unequal runs."""
    patterns = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    unequal = components(np.array([1, 4]), np.array([2, 5]))
    return (
        same(from_scores(patterns).rate, patterns.sum(axis=1) / 3)
        and same(components(patterns).mean, patterns.mean(axis=1).mean())
        and same(unequal.mean, (1 / 2 + 4 / 5) / 2)
    )


@claim("vc-s3-icc")
def intraclass(_: Results) -> bool:
    """Correlate two runs of a random problem; compare the estimator with one-way ANOVA."""
    correlation = (pair(1, 1) - MU**2) / (MU * (1 - MU))
    msb, msw = R * FOUND.spread, FOUND.within
    return same(correlation, RHO) and same(FOUND.icc, (msb - msw) / (msb + (R - 1) * msw))


@claim("vc-s3-deff")
def design_effect(_: Results) -> bool:
    """Divide the enumerated variance by that of as many independent runs."""
    pooled = MU * (1 - MU) / (3 * 3)
    formula = same(FOUND.design_effect, 1 + (R - 1) * FOUND.icc)
    return formula and same(variances(3) / pooled, 1 + 2 * RHO)


@claim("vc-s3-eq2", "vc-abs-ceiling-formula")
def ceiling(_: Results) -> bool:
    """Divide the enumerated variance at one run by the limit for endless runs."""
    enumerated = variances(1) / (SIGMA_B2 / 3)
    return same(enumerated, 1 + MU_W / SIGMA_B2, 1 / RHO) and same(FOUND.ceiling, 1 / FOUND.icc)


@claim("vc-s3-budget")
def budget(_: Results) -> bool:
    """Add up the price of every problem and every run."""
    problems, runs, problem_cost, run_cost = 7, 3, 2.5, 0.5
    spent = sum(problem_cost + sum(run_cost for _ in range(runs)) for _ in range(problems))
    return same(spent, problems * (problem_cost + runs * run_cost))


@claim("vc-s3-rstar", "vc-abs-rstar", "vc-s1-rstar")
def optimal_repeats(_: Results) -> bool:
    """Search a fine grid of R at three cost ratios for the smallest variance."""
    # Steps of 0.1% about the claimed optimum.
    steps = 1.001 ** np.arange(-3000, 3001)
    best = {cost: optimal_runs(MU_W / SIGMA_B2, cost) for cost in (0.5, 4.0, 90.0)}
    return all(np.argmin(at_budget(r * steps, cost)) == 3000 for cost, r in best.items())


@claim("vc-s3-r1-rule", "vc-s1-r1-rule")
def free_problems(_: Results) -> bool:
    """Compare one run with up to 100 where a problem costs nothing."""
    rises = np.diff(at_budget(np.arange(1, 101), 0)) > 0
    return bool(rises.all()) and optimal_runs(MU_W / SIGMA_B2, 0) <= 1


@claim("vc-ad-wilson")
def wilson(_: Results) -> bool:
    """Put both limits into the equation (phat - p)^2 = z^2 p(1 - p)/n that defines them."""
    found = interval(SAMPLE, name="pooled_wilson")
    p = np.array([found.low, found.high])
    return same((FOUND.mean - p) ** 2, Z**2 * p * (1 - p) / (N * R))


@claim("vc-ad-fixed")
def fixed_interval(_: Results) -> bool:
    """Compare the limits with the score and its standard error for these problems."""
    found = interval(SAMPLE, name="fixed_normal")
    half = Z * math.sqrt(FOUND.within / (N * R))
    return same([found.low, found.high], [FOUND.mean - half, FOUND.mean + half])


@claim("vc-ad-twolevel")
def two_level(_: Results) -> bool:
    """List every replicate of two problems with two runs; compare with the exact law."""
    small = from_counts([1, 2], 2)
    replicates = itertools.product(binomial(small.rate, 2), repeat=2)
    law = mean_law(small, "two_level")
    return same(sum(np.convolve(*laws) / 4 for laws in replicates), law.pmf[:5])


def beta_means(success: Callable[[np.ndarray], np.ndarray]) -> list[float]:
    """Integrate p^k, for p the chance of a success, over the Beta, for each number of tries k."""
    p = (1 + NODES) / 2
    density = p ** (ALPHA - 1) * (1 - p) ** (BETA - 1) * WEIGHTS
    return [density @ success(p) ** k / density.sum() for k in TRIES]


def products(shape: int) -> list[float]:
    """Multiply the claim's factors, for each number of tries."""
    factors = [(shape + j) / (ALPHA + BETA + j) for j in range(max(TRIES))]
    return list(np.cumprod(factors))


@claim("vc-ab-retryfree")
def retry_free(_: Results) -> bool:
    """Integrate p^R over a Beta with whole parameters, for one to five runs."""
    model = BetaBinomial(ALPHA, BETA, "paper")
    return same(beta_means(lambda p: p), products(ALPHA), model.retry_free(TRIES))


@claim("vc-ab-passk")
def pass_at_k(_: Results) -> bool:
    """Integrate (1-p)^k over a Beta with whole parameters, for one to five tries."""
    missed = 1 - BetaBinomial(ALPHA, BETA, "paper").pass_at_k(TRIES)
    return same(beta_means(lambda p: 1 - p), products(BETA), missed)


@claim("vc-s54-half")
def noisiest(_: Results) -> bool:
    """Enumerate a run at every p in steps of 1%; cool the simulated problems of section 5.4."""
    p = np.arange(101) / 100
    variance = binomial(p, 1).prod(axis=1)
    noise = np.array([temperature.truth(2, t)[0] for t in (0.4, 0.2, 0.1, 0.05)])
    halved = noise[1:] / noise[:-1]
    return bool(p[variance.argmax()] == 0.5 and (halved < 0.6).all())
