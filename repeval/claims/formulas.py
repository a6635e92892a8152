"""The variance-ceiling paper's formulas, each tested by enumerating a small design.

Every function returns whether the identity holds for the package's own estimators. The design:
problems of three difficulties, few problems, few runs, so that every draw of problems and every
outcome of their runs can be listed with its probability.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from repeval.allocation import optimal_runs
from repeval.claims.ledger import claim
from repeval.claims.results import Results
from repeval.components import Components, components
from repeval.intervals import interval
from repeval.laws import Law, mean_law
from repeval.sample import from_counts, from_scores

# Difficulties, their shares, and the true components they imply.
P, SHARE = np.array([0.1, 0.4, 0.95]), np.array([0.3, 0.5, 0.2])
MU = float(SHARE @ P)
MU_W = float(SHARE @ (P * (1 - P)))
SIGMA_B2 = float(SHARE @ P**2) - MU**2
RHO = SIGMA_B2 / (SIGMA_B2 + MU_W)
# One data set for identities that hold for every data set.
PASSES, RUNS = np.array([0, 1, 3, 4, 2, 4, 4, 0]), 4
SAMPLE = from_counts(PASSES, RUNS)
ESTIMATES = components(SAMPLE)
Z = 1.959963984540054


def _same(*values: float) -> bool:
    # 1e-9: sums of a few hundred products of doubles are good to about 1e-13.
    return all(math.isclose(values[0], v, rel_tol=1e-9) for v in values[1:])


def _binomial(p: float, runs: int) -> list[float]:
    return [math.comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(runs + 1)]


def _expect(
    statistic: Callable[[Components], float], laws: Sequence[Sequence[float]], runs: int
) -> float:
    """Average a statistic over all outcomes, problem i having k passes with laws[i][k]."""
    total = 0.0
    for passes in itertools.product(range(runs + 1), repeat=len(laws)):
        weight = math.prod(law[k] for law, k in zip(laws, passes, strict=True))
        total += weight * statistic(components(np.array(passes), runs))
    return total


def _new_problems(statistic: Callable[[Components], float], runs: int = 3) -> float:
    """Average over problems drawn at random as well."""
    law = SHARE @ np.array([_binomial(p, runs) for p in P])
    return _expect(statistic, [law] * 3, runs)


def _variance_of_score(runs: int) -> float:
    return _new_problems(lambda c: (c.mean - MU) ** 2, runs)


def _spread(law: Law) -> float:
    x = (law.start + np.arange(law.pmf.shape[-1])) * law.step
    return float(law.pmf @ x**2 - (law.pmf @ x) ** 2)


@claim("vc-s3-phat", "vc-s3-rlpr")
def rates(_: Results) -> bool:
    """Average every pattern of three runs, then the problems, also with unequal runs."""
    patterns = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    unequal = components(np.array([1, 4]), np.array([2, 5]))
    return (
        bool((from_scores(patterns).rate == patterns.sum(axis=1) / 3).all())
        and _same(components(patterns).mean, patterns.mean(axis=1).mean())
        and _same(unequal.mean, (1 / 2 + 4 / 5) / 2)
    )


@claim("vc-s3-eq1")
def variance_of_score(_: Results) -> bool:
    """Enumerate three problems with one, two and three runs; compare the score's variance."""
    return all(_same(_variance_of_score(r), (SIGMA_B2 + MU_W / r) / 3) for r in (1, 2, 3))


@claim("vc-s3-muw")
def aleatoric(_: Results) -> bool:
    """Enumerate two runs of a random problem: half their mean squared difference is mu_w."""
    runs = itertools.product([0, 1], repeat=2)
    half = sum(float(SHARE @ _pair(a, b)) * (a - b) ** 2 / 2 for a, b in runs)
    return _same(half, MU_W)


@claim("vc-s3-av")
def aleatoric_estimator(_: Results) -> bool:
    """Enumerate three problems with two and three runs: the mean of AV is mu_w."""
    return all(_same(_new_problems(lambda c: c.within, r), MU_W) for r in (2, 3))


@claim("vc-s3-sb2")
def epistemic_estimator(_: Results) -> bool:
    """Enumerate three problems with two and three runs: the estimator's mean is sigma_b2."""
    return all(_same(_new_problems(lambda c: c.between, r), SIGMA_B2) for r in (2, 3))


@claim("vc-s3-icc")
def intraclass(_: Results) -> bool:
    """Correlate two runs of a random problem; compare the estimator with one-way ANOVA."""
    both = float(SHARE @ _pair(1, 1))
    correlation = (both - MU**2) / (MU * (1 - MU))
    msb, msw = RUNS * ESTIMATES.spread, ESTIMATES.within
    anova = (msb - msw) / (msb + (RUNS - 1) * msw)
    return _same(correlation, RHO) and _same(ESTIMATES.icc, anova)


def _pair(a: int, b: int) -> np.ndarray:
    """Probability of the outcomes a and b in two runs, by difficulty."""
    return np.where(a, P, 1 - P) * np.where(b, P, 1 - P)


@claim("vc-s3-deff")
def design_effect(_: Results) -> bool:
    """Divide the enumerated variance by that of as many independent runs."""
    pooled = MU * (1 - MU) / (3 * 3)
    return _same(_variance_of_score(3) / pooled, 1 + 2 * RHO) and _same(
        ESTIMATES.design_effect, 1 + (RUNS - 1) * ESTIMATES.icc
    )


@claim("vc-s3-eq2")
def ceiling(_: Results) -> bool:
    """Divide the enumerated variance at one run by the limit for endless runs."""
    limit = SIGMA_B2 / 3
    return _same(_variance_of_score(1) / limit, 1 + MU_W / SIGMA_B2, 1 / RHO) and _same(
        ESTIMATES.ceiling, 1 / ESTIMATES.icc
    )


@claim("vc-s3-budget")
def budget(_: Results) -> bool:
    """Add up the price of every problem and every run."""
    problems, runs, problem_cost, run_cost = 7, 3, 2.5, 0.5
    spent = sum(problem_cost + sum(run_cost for _ in range(runs)) for _ in range(problems))
    return _same(spent, problems * (problem_cost + runs * run_cost))


def _variance_at_budget(runs: float, cost_ratio: float) -> float:
    """Variance (Eq. 1) times the budget in runs, of which N = 1/(c_p/c_g + R) per unit."""
    return (SIGMA_B2 + MU_W / runs) * (cost_ratio + runs)


@claim("vc-s3-rstar")
def optimal_repeats(_: Results) -> bool:
    """Search a fine grid of R at three cost ratios for the smallest variance."""
    for cost in (0.5, 4.0, 90.0):
        best = optimal_runs(MU_W / SIGMA_B2, cost)
        # Steps of 0.1% about the claimed optimum.
        grid = best * 1.001 ** np.arange(-3000, 3001)
        if not math.isclose(min(grid, key=lambda r: _variance_at_budget(r, cost)), best):
            return False
    return True


@claim("vc-s3-r1-rule")
def free_problems(_: Results) -> bool:
    """Compare one run with up to 100 where a problem costs nothing."""
    spent = [_variance_at_budget(r, 0.0) for r in range(1, 101)]
    return spent == sorted(spent) and optimal_runs(MU_W / SIGMA_B2, 0.0) <= 1


@claim("vc-s3-fixed-var")
def fixed_variance(_: Results) -> bool:
    """Enumerate the runs of three given problems; compare the score's variance."""
    laws = [_binomial(p, 3) for p in P]
    variance = _expect(lambda c: (c.mean - P.mean()) ** 2, laws, 3)
    return _same(variance, float((P * (1 - P)).mean()) / (3 * 3))


@claim("vc-ad-wilson")
def wilson(_: Results) -> bool:
    """Put both limits into the equation (phat - p)^2 = z^2 p(1 - p)/n that defines them."""
    found, n = interval(SAMPLE, name="pooled_wilson"), len(PASSES) * RUNS
    return all(
        _same((ESTIMATES.mean - p) ** 2, Z**2 * p * (1 - p) / n) for p in (found.low, found.high)
    )


@claim("vc-ad-twolevel")
def two_level(_: Results) -> bool:
    """List every replicate of two problems with two runs; compare with the exact law."""
    small = from_counts([1, 2], 2)
    law, expected = mean_law(small, "two_level"), np.zeros(5)
    for chosen in itertools.product(small.rate, repeat=2):
        first, second = (_binomial(p, 2) for p in chosen)
        expected += np.convolve(first, second) / 4
    return bool(np.allclose([float(law.at(j)) for j in range(5)], expected, atol=1e-12))


@claim("vc-ad-fixed")
def fixed_interval(_: Results) -> bool:
    """Compare the limits with the score and its standard error for these problems."""
    found = interval(SAMPLE, name="fixed_normal")
    half = Z * math.sqrt(ESTIMATES.within / (len(PASSES) * RUNS))
    return _same(found.low, ESTIMATES.mean - half) and _same(found.high, ESTIMATES.mean + half)


@claim("vc-ad-fixed-boot")
def fixed_bootstrap(_: Results) -> bool:
    """Divide the exact variance of the run bootstrap by the unbiased one."""
    ratio = _spread(mean_law(SAMPLE, "fixed_bootstrap")) / ESTIMATES.fixed_variance
    return _same(math.sqrt(ratio), math.sqrt((RUNS - 1) / RUNS))


@claim("vc-ad-es2")
def expected_spread(_: Results) -> bool:
    """Enumerate three problems with two and three runs: the mean of s2."""
    return all(_same(_new_problems(lambda c: c.spread, r), SIGMA_B2 + MU_W / r) for r in (2, 3))


@claim("vc-ad-doublecount")
def double_count(_: Results) -> bool:
    """Subtract the one-level from the two-level variance, both exact."""
    extra = _spread(mean_law(SAMPLE, "two_level")) - _spread(mean_law(SAMPLE, "one_level"))
    return _same(extra * len(PASSES), (RUNS - 1) / RUNS * ESTIMATES.within / RUNS)
