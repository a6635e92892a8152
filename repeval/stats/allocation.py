"""How many runs and how many problems a budget should buy."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from repeval.stats.sample import FloatArray


def optimal_runs(ratio: float, cost_ratio: float) -> float:
    """Return the precision-optimal repeat count R* = √(μ_w c_p/(σ_b² c_g)), not rounded.

    Parameters
    ----------
    ratio : float
        μ_w/σ_b², the ceiling less 1.
    cost_ratio : float
        c_p/c_g, the cost of a problem in runs.

    References
    ----------
    VC section 3, "Optimal R".
    """
    return math.sqrt(_positive(ratio, "ratio") * _positive(cost_ratio, "cost_ratio"))


def optimal_integer_runs(ratio: float, cost_ratio: float) -> int:
    """Return the best whole number of runs: R+1 beats R iff c_p/c_g > R(R+1)σ_b²/μ_w."""
    product = _positive(ratio, "ratio") * _positive(cost_ratio, "cost_ratio")
    if math.isinf(product):
        raise ValueError("ratio must be finite: without a limit to the ceiling, run endlessly")
    # The largest R with R(R-1) < ratio·c_p/c_g.
    return max(1, math.ceil((1 + math.sqrt(1 + 4 * product)) / 2) - 1)


def break_even(ratio: float, runs: int) -> float:
    """Return the cost ratio c_p/c_g above which R+1 runs beat R; infinite without run noise."""
    return _over(runs * (runs + 1), ratio)


def problems_factor(half_width: float, difference: float) -> float:
    """Return how many times the problems make half an interval as long as a difference."""
    return max(1.0, (half_width / difference) ** 2) if difference else math.inf


def cost_ratio_for(ratio: float, runs: float) -> float:
    """Return the cost ratio c_p/c_g at which R runs are the continuous optimum, R²σ_b²/μ_w."""
    return _over(runs**2, ratio)


def relative_width(runs: ArrayLike, ratio: float, cost_ratio: float) -> FloatArray:
    """Return the interval width with R runs over that with R* runs, at equal budget.

    Parameters
    ----------
    runs : array_like
        R, one or several.
    ratio, cost_ratio : float
        μ_w/σ_b² and c_p/c_g.

    References
    ----------
    VC section 5.3: the variance at budget B is (σ_b² + μ_w/R)(c_p + R c_g)/B.
    """
    r = np.asarray(runs, dtype=float)
    # At R* = √(ratio·cost_ratio) the product is (√ratio + √cost_ratio)².
    least = math.sqrt(_positive(ratio, "ratio")) + math.sqrt(_positive(cost_ratio, "cost_ratio"))
    return np.sqrt((1 + ratio / r) * (cost_ratio + r)) / least


def _over(runs: float, ratio: float) -> float:
    return runs / ratio if _positive(ratio, "ratio") > 0 else math.inf


def _positive(value: float, what: str) -> float:
    if not value >= 0:
        raise ValueError(f"{what} must not be negative or undefined, got {value}")
    return value
