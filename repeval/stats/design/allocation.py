"""What runs do to a width, and how many runs and problems a budget should buy.

In the letters of BS a problem is an input, and R is k.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats.intervals import normal_quantile
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

    Examples
    --------
    A new problem costs as much as ten runs:

    >>> import repeval
    >>> c = repeval.components([3, 3, 0, 1, 2, 0], 3)
    >>> round(repeval.optimal_runs(c.within / c.between, cost_ratio=10), 3)
    2.526

    Its limits are those of the ceiling, less 1:

    >>> ceiling = repeval.ceiling_interval([3, 3, 0, 1, 2, 0] * 20, 3)
    >>> [round(repeval.optimal_runs(c - 1, 10), 2) for c in (ceiling.low, ceiling.high)]
    [2.26, 3.6]
    """
    return math.sqrt(_positive(ratio, "ratio") * _positive(cost_ratio, "cost_ratio"))


def optimal_integer_runs(ratio: float, cost_ratio: float) -> int:
    """Return the best whole number of runs: R+1 beats R iff c_p/c_g > R(R+1)σ_b²/μ_w.

    Examples
    --------
    A new problem costs as much as ten runs:

    >>> import repeval
    >>> c = repeval.components([3, 3, 0, 1, 2, 0], 3)
    >>> repeval.optimal_integer_runs(c.within / c.between, cost_ratio=10)
    3
    """
    product = _positive(ratio, "ratio") * _positive(cost_ratio, "cost_ratio")
    if math.isinf(product):
        raise ValueError("ratio must be finite: without a limit to the ceiling, run endlessly")
    # The largest R with R(R-1) < ratio·c_p/c_g.
    return max(1, math.ceil((1 + math.sqrt(1 + 4 * product)) / 2) - 1)


def break_even(ratio: float, runs: int) -> float:
    """Return the cost ratio c_p/c_g above which R+1 runs beat R; infinite without run noise."""
    return _over(runs * (runs + 1), ratio)


def break_even_from_here(ratio: float, runs: int) -> float:
    """Return the cost ratio c_p/c_g above which another run of a problem beats another problem.

    Parameters
    ----------
    ratio : float
        μ_w/σ_b².
    runs : int
        R, the runs at hand, which a new problem gets as well.

    Notes
    -----
    With V = (σ_b² + μ_w/R)/N, a run more of one problem takes μ_w/(R(R+1))/N² off V for c_g; one
    problem more takes (σ_b² + μ_w/R)/N² off it, for c_p + R c_g. A run takes off more for its
    price iff (c_p/c_g + R) μ_w/(R(R+1)) > σ_b² + μ_w/R, that is c_p/c_g > R(R+1)σ_b²/μ_w + 1.
    This is about the next purchase. For a whole round, N runs or what problems they would buy, the
    1 goes: every new problem takes off less than the one before. `break_even` is then right, as
    it is from scratch.
    """
    return break_even(ratio, runs) + 1


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

    Examples
    --------
    One, two, three and five runs, where a new problem costs as much as ten:

    >>> import repeval
    >>> c = repeval.components([3, 3, 0, 1, 2, 0], 3)
    >>> repeval.relative_width([1, 2, 3, 5], c.within / c.between, cost_ratio=10).round(3).tolist()
    [1.072, 1.004, 1.002, 1.038]
    """
    r = np.asarray(runs, dtype=float)
    # At R* = √(ratio·cost_ratio) the product is (√ratio + √cost_ratio)².
    least = math.sqrt(_positive(ratio, "ratio")) + math.sqrt(_positive(cost_ratio, "cost_ratio"))
    return np.sqrt((1 + ratio / r) * (cost_ratio + r)) / least


def variance_factor(icc: ArrayLike, runs: ArrayLike, levels: int = 1) -> FloatArray:
    """Return the variance that resampling gives a mean, over that of a mean of single runs.

    Parameters
    ----------
    icc : array_like
        ρ, from 0 to 1.
    runs : array_like
        R >= 1.
    levels : {1, 2}
        1: problems are redrawn with their runs, ρ + (1-ρ)/R, which is the mean's own variance.
        2: runs are redrawn as well, which adds (1-ρ)(R-1)/R².

    References
    ----------
    BS, "Choosing N and k", and "How general are these results?" for the second level.
    """
    rho, r = _checked(icc, runs)
    return rho + (1 - rho) / r + (levels == 2) * (1 - rho) * (r - 1) / r**2


def width_factor(icc: ArrayLike, runs: ArrayLike) -> FloatArray:
    """Return an interval's width over that from single runs, √(ρ + (1-ρ)/R); never below √ρ."""
    return np.sqrt(variance_factor(icc, runs))


def inflation(icc: ArrayLike, runs: ArrayLike) -> FloatArray:
    """Return the width by two levels over that by one; 1 at one run, and at most √(2 - 1/R).

    References
    ----------
    VC Appendix D: √(1 + (1 - 1/R)·s), s = ((1-ρ)/R)/(ρ + (1-ρ)/R).
    """
    return np.sqrt(variance_factor(icc, runs, 2) / variance_factor(icc, runs))


def large_sample_coverage(wider: ArrayLike, level: float = 0.95) -> FloatArray:
    """Return how often an interval covers that is wider than right by a factor, 2Φ(z·wider) - 1."""
    return 2 * special.ndtr(normal_quantile(level) * np.asarray(wider)) - 1


def _over(runs: float, ratio: float) -> float:
    return runs / ratio if _positive(ratio, "ratio") > 0 else math.inf


def _positive(value: float, what: str) -> float:
    if not value >= 0:
        raise ValueError(f"{what} must not be negative or undefined, got {value}")
    return value


def _checked(icc: ArrayLike, runs: ArrayLike) -> tuple[FloatArray, FloatArray]:
    rho, r = np.asarray(icc, dtype=float), np.asarray(runs, dtype=float)
    if not ((rho >= 0) & (rho <= 1)).all():
        raise ValueError("icc must lie in [0, 1]; take 0 for an estimate below it")
    if not (r >= 1).all():
        raise ValueError("runs must be at least 1")
    return rho, r
