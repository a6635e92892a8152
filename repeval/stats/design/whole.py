"""The best purchase in whole problems and whole runs: every one is tried."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repeval.stats.intervals import normal_quantile
from repeval.stats.sample import ROUNDING, FloatArray, IntArray

# Nobody runs a problem more often, and so many times so many ways are tried in a moment.
MOST_RUNS = 1000
# A score needs two problems to say anything of a third.
FEWEST = 2
# Of a budget: three problems at .1 each cost .3, which floats have as a little more.
SLACK = 1e-9


@dataclass(frozen=True)
class Design:
    """What is bought, and what is there afterwards.

    Attributes
    ----------
    new_problems : int
    new_runs : int
        Runs of each new problem; 0 where none is bought.
    more_runs : int
        Further runs of each problem at hand.
    n_problems : int
        Problems in all.
    cost : float
    variance : float
        Of the score for new problems.
    level : float
        Of the interval that `width` is of.
    """

    new_problems: int
    new_runs: int
    more_runs: int
    n_problems: int
    cost: float
    variance: float
    level: float = 0.95

    def width(self) -> float:
        """Return the width of the normal interval for new problems."""
        return 2 * normal_quantile(self.level) * math.sqrt(self.variance)


@dataclass(frozen=True)
class Prices:
    """What a new problem costs without a run, and what a run costs; see `buy` for the errors."""

    problem: float
    run: float

    def __post_init__(self) -> None:
        if not (0 <= self.problem < math.inf):
            raise ValueError(f"the cost of a problem must be 0 or more, not {self.problem}")
        if not (0 < self.run < math.inf):
            raise ValueError(f"the cost of a run must be above 0, not {self.run}")


@dataclass(frozen=True, eq=False)
class Stock:
    """What is at hand, and how problems and runs vary.

    Attributes
    ----------
    within, between : float
        μ_w and σ_b² of a new problem.
    noise : (K,) float array
        Run noise Σ_i v_i/R_i of the problems at hand after 0, 1, ..., K-1 further runs of each.
    n_problems : int
        At hand.
    runs_mean : float
        Runs of a problem at hand, on average.
    fewest : int
        Problems below which there is no answer.
    """

    within: float
    between: float
    noise: FloatArray
    n_problems: int = 0
    runs_mean: float = 0.0
    fewest: int = FEWEST

    @property
    def now(self) -> float:
        """Return the variance of the score as it is, infinite on too few problems."""
        return float(self.variance(0, 0, 0))

    def variance(self, problems: ArrayLike, runs: ArrayLike, more: ArrayLike) -> FloatArray:
        """Return the variance of the score, every problem with one weight, after a purchase.

        Parameters
        ----------
        problems, runs, more : array_like of int
            As in `Design`, broadcast together.
        """
        problems, runs = np.asarray(problems, dtype=float), np.asarray(runs)
        n = self.n_problems + problems
        fresh = self.within * problems / np.maximum(runs, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (self.between * n + self.noise[np.asarray(more)] + fresh) / n**2
        return np.where(n >= self.fewest, found, np.inf)


def stock(
    within: float, between: float, runs: ArrayLike = (), run_noise: float | None = None
) -> Stock:
    """Return what there is to plan with.

    Parameters
    ----------
    within, between : float
        μ_w >= 0 and σ_b², which counts as 0 where its estimate is below.
    runs : (N,) array of int
        Runs of each problem at hand; none from scratch.
    run_noise : float, optional
        mean_i(v_i/R_i) at hand, where it is not `within` times mean_i(1/R_i).
    """
    r = np.asarray(runs, dtype=int)
    if not (0 <= within < math.inf and math.isfinite(between)):
        raise ValueError(f"within must be 0 or more and between finite, not {within}, {between}")
    if within == 0 and between <= 0:
        raise ValueError("nothing varied, neither between runs nor between problems")
    if r.size and r.min() < 1:
        raise ValueError("runs must be at least 1")
    if run_noise is None:
        run_noise = within * float((1 / r).mean()) if r.size else 0.0
    if not r.size:
        return Stock(float(within), max(float(between), 0.0), np.zeros(1))
    return Stock(
        float(within), max(float(between), 0.0), noise_left(r, run_noise), r.size, float(r.mean())
    )


def noise_left(runs: IntArray, run_noise: float) -> FloatArray:
    """Return Σ_i v_i/R_i after 0, 1, ... further runs of each problem, up to `MOST_RUNS`.

    Parameters
    ----------
    runs : (N,) int array
    run_noise : float
        mean_i(v_i/R_i); it falls as the mean of 1/R_i does.
    """
    kinds, times = np.unique(runs, return_counts=True)
    more = np.arange(max(MOST_RUNS - int(runs.max()), 1) + 1)
    inverse = (times / (kinds + more[:, None])).sum(axis=1)
    return run_noise * runs.size * inverse / inverse[0]


def best(
    at_hand: Stock, prices: Prices, budget: float, *, problems: bool = True, runs: bool = True
) -> Design | None:
    """Return the purchase within a budget that leaves the least variance, None where none helps.

    Parameters
    ----------
    at_hand : Stock
    prices : Prices
    budget : float
    problems, runs : bool
        Whether new problems, and further runs of the problems at hand, may be bought.

    Notes
    -----
    With m new problems of R runs the variance is A/N + C/N², A = σ_b² + μ_w/R, C what the old
    problems' noise is more than that of as many new ones, and N their number with the new ones.
    In 1/N it is concave where C < 0 and rising where C >= 0: of all m only 0 and the most that
    fit can be best, so that trying all R and all further runs tries every purchase.
    """
    if not budget > 0:
        raise ValueError(f"budget must be above 0, not {budget}")
    budget *= 1 + SLACK
    more, new = _ways(at_hand, prices, budget, problems, runs)
    left = budget - more * at_hand.n_problems * prices.run
    with np.errstate(divide="ignore"):
        bought = np.where(new > 0, left // (prices.problem + new * prices.run), 0)
    variance = at_hand.variance(bought, new, more)
    # Of what is equally good the cheapest, and of that the fewest runs.
    limit = variance.min() * (1 + ROUNDING)
    if not limit < at_hand.now:
        return None
    return _chosen(at_hand, prices, bought, new, more, variance, limit)


def cheapest(
    at_hand: Stock, prices: Prices, variance: float, *, problems: bool = True, runs: bool = True
) -> Design | None:
    """Return the cheapest purchase that leaves no more than a variance, None where none does.

    Parameters
    ----------
    at_hand, prices, problems, runs
        See `best`.
    variance : float

    Notes
    -----
    In the terms of `best` the least N solves variance·N² - A·N - C = 0, rounded up.
    """
    if not variance > 0:
        raise ValueError(f"variance must be above 0, not {variance}")
    at_most = np.inf
    if problems and runs and at_hand.n_problems:
        # What one kind alone takes bounds what is tried of both.
        alone = (
            cheapest(at_hand, prices, variance, problems=kind, runs=not kind)
            for kind in (True, False)
        )
        at_most = min(d.cost for d in alone if d) * (1 + SLACK)
    n = at_hand.n_problems
    more, new = _ways(at_hand, prices, at_most, problems, runs)
    share = at_hand.within / np.maximum(new, 1)
    a, c = at_hand.between + share, at_hand.noise[more] - n * share
    least = (a + np.sqrt(np.maximum(a**2 + 4 * variance * c, 0))) / (2 * variance)
    bought = np.where(new > 0, np.maximum(np.ceil(least) - n, max(1, at_hand.fewest - n)), 0)
    limit = variance * (1 + ROUNDING)
    # Rounding of the root, up or down.
    bought += (new > 0) & (at_hand.variance(bought, new, more) > limit)
    fewer = np.maximum(bought - 1, np.minimum(bought, 1))
    bought = np.where(at_hand.variance(fewer, new, more) <= limit, fewer, bought)
    return _chosen(
        at_hand, prices, bought, new, more, at_hand.variance(bought, new, more), limit
    )  # fmt: skip


def _ways(
    at_hand: Stock, prices: Prices, at_most: float, problems: bool, runs: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the further runs of old problems, a column, and the runs of new ones, 0 for none."""
    most_more, most_new = len(at_hand.noise) - 1, MOST_RUNS
    if at_hand.n_problems:
        most_more = min(most_more, at_most // (at_hand.n_problems * prices.run))
    most_new = min(most_new, at_most // prices.run)
    return np.arange(int(most_more) * runs + 1)[:, None], np.arange(int(most_new) * problems + 1)


def _chosen(
    at_hand: Stock,
    prices: Prices,
    bought: FloatArray,
    new: np.ndarray,
    more: np.ndarray,
    variance: FloatArray,
    limit: float,
) -> Design | None:
    """Return the cheapest purchase within a limit of variance; of equal ones the fewest runs."""
    spent = more * at_hand.n_problems * prices.run
    cost = np.where(variance <= limit, spent + bought * (prices.problem + new * prices.run), np.inf)
    if not math.isfinite(lowest := cost.min()):
        return None
    rows, columns = np.nonzero(cost <= lowest * (1 + ROUNDING))
    first = np.lexsort((more[rows, 0] + new[columns], variance[rows, columns]))[0]
    row, column = rows[first], columns[first]
    number = int(np.broadcast_to(bought, cost.shape)[row, column])
    return Design(
        new_problems=number,
        new_runs=int(new[column]) if number else 0,
        more_runs=int(more[row, 0]),
        n_problems=at_hand.n_problems + number,
        cost=float(cost[row, column]),
        variance=float(variance[row, column]),
    )
