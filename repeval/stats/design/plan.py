"""What to buy next: from the runs at hand and from scratch, with prices and without."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from repeval.stats.design.allocation import break_even, optimal_runs
from repeval.stats.design.whole import Design, Prices, Stock, best, cheapest, stock
from repeval.stats.intervals import check_options, normal_quantile

Buy = Callable[..., Design | None]


@dataclass(frozen=True)
class Plan:
    """What to buy next.

    Attributes
    ----------
    width : float
        Of the interval for new problems as it is; infinite from scratch.
    next : Design or None
        The best purchase; None without a budget or a width, or where nothing helps.
    only_problems, only_runs : Design or None
        The same of one kind alone, for the same budget or to the same width.
    scratch : Design or None
        The same with nothing at hand.
    optimal_runs : float or None
        R* from scratch, not rounded; None without prices, infinite where no spread was seen.
    break_even : float
        What a new problem has to cost, in runs, for a second run to pay from scratch; infinite
        without run noise.
    break_even_from_here : float or None
        What it has to cost for one more run of a problem to beat one more problem with as many
        runs as the others have; None from scratch.
    single_saves, single_widens : float or None
        What one run of each problem would save of the runs at hand, and by how much wider it would
        make the interval; None where there is one already, or no interval.

    Examples
    --------
    >>> import repeval
    >>> found = repeval.plan(0.11, 0.17, n_problems=100, runs=3)
    >>> round(found.single_saves, 2), round(found.single_widens, 2)
    (0.67, 0.16)
    >>> round(found.break_even_from_here, 1)
    19.5
    """

    width: float
    next: Design | None
    only_problems: Design | None
    only_runs: Design | None
    scratch: Design | None
    optimal_runs: float | None
    break_even: float
    break_even_from_here: float | None
    single_saves: float | None
    single_widens: float | None


def plan(
    within: float,
    between: float,
    *,
    n_problems: int = 0,
    runs: ArrayLike = 1,
    problem_cost: float | None = None,
    run_cost: float = 1.0,
    budget: float | None = None,
    width: float | None = None,
    level: float = 0.95,
) -> Plan:
    """Say what a budget should buy, or what a width takes: new problems, more runs, or both.

    Parameters
    ----------
    within, between : float
        μ_w and σ_b², of a score or of a difference; see `repeval.components`. A spread below 0
        counts as none.
    n_problems : int
        Problems at hand; 0 from scratch.
    runs : int or (n_problems,) array of int
        Runs of each at hand. They are paid for.
    problem_cost : float, optional
        Of a new problem, without its runs.
    run_cost : float
        Of one run of one problem, of all that you run.
    budget, width : float, optional
        What can be spent, or how wide the interval for new problems may be; one of them.
    level : float

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        For a budget and a width at once, either without a price of a problem, costs, budgets and
        widths out of range, and where nothing varies.

    Notes
    -----
    Every whole number of new problems, of their runs and of further runs of the old problems is
    tried, up to 1,000 runs: see `repeval.stats.design.whole`. The rule for whole runs,
    c_p/c_g > R(R+1)σ_b²/μ_w, leaves out that half a problem cannot be bought either, and what is
    at hand.

    Widths are those of the normal law, because two variances are all that is given. The command
    `repeval plan` has the runs: it scales the interval that it shows, which for few problems or
    scores near 0 or 1 asks for somewhat other numbers.

    References
    ----------
    VC section 3, "Optimal R", and Eq. 1 for the variance (σ_b² + μ_w/R)/N.

    Examples
    --------
    Sixty problems with one run each; a new problem costs as much as thirty runs, and there is
    money for 3,000 runs:

    >>> import repeval
    >>> p = repeval.plan(0.1, 0.25, n_problems=60, runs=1, problem_cost=30, budget=3000)
    >>> p.next.new_problems, p.next.new_runs, p.next.more_runs
    (87, 3, 2)
    >>> round(p.width, 3), round(p.next.width(), 3)
    (0.299, 0.172)

    From scratch, to a width of ten points:

    >>> p = repeval.plan(0.1, 0.25, problem_cost=30, width=0.1)
    >>> p.next.n_problems, p.next.new_runs, p.next.cost
    (423, 4, 14382.0)
    """
    check_options(level)
    if n_problems != int(n_problems) or n_problems < 0:
        raise ValueError(f"n_problems must be a whole number, 0 or more, not {n_problems}")
    if budget is not None and width is not None:
        raise ValueError("give a budget or a width, not both")
    if problem_cost is None and not (budget is None and width is None):
        raise ValueError("a budget or a width needs problem_cost, the price of a new problem")
    if width is not None and not 0 < width < math.inf:
        raise ValueError(f"width must be above 0, not {width}")
    prices = None if problem_cost is None else Prices(problem_cost, run_cost)
    variance = None if width is None else (width / (2 * normal_quantile(level))) ** 2
    at_hand = stock(within, between, np.broadcast_to(np.asarray(runs), int(n_problems)))
    return planned(at_hand, prices, way(prices, budget, variance), level=level)


def way(prices: Prices | None, budget: float | None, variance: float | None) -> Buy | None:
    """Return what finds the best purchase for a budget, or the cheapest to a variance."""
    if budget is not None:
        return functools.partial(best, prices=prices, budget=budget)
    if variance is not None:
        return functools.partial(cheapest, prices=prices, variance=variance)
    return None


def planned(at_hand: Stock, prices: Prices | None, buy: Buy | None, *, level: float = 0.95) -> Plan:
    """Plan from what is at hand.

    Parameters
    ----------
    at_hand : Stock
    prices : Prices or None
    buy : callable or None
        From a `Stock` and the kinds that may be bought, as keywords, to a `Design` or None.
    level : float
    """
    n, runs = at_hand.n_problems, at_hand.runs_mean
    within, between = at_hand.within, at_hand.between
    ratio = within / between if between > 0 else math.inf if within > 0 else 0.0
    none = Stock(within, between, np.zeros(1), fewest=at_hand.fewest)

    def bought(of: Stock, **kinds: bool) -> Design | None:
        found = buy(of, **kinds) if buy else None
        return found and replace(found, level=level)

    single = runs > 1 and 0 < at_hand.now < math.inf
    return Plan(
        width=2 * normal_quantile(level) * math.sqrt(at_hand.now),
        next=bought(at_hand),
        only_problems=bought(at_hand, runs=False),
        only_runs=bought(at_hand, problems=False) if n else None,
        scratch=bought(none),
        optimal_runs=None if prices is None else best_runs(ratio, prices),
        break_even=break_even(ratio, 1),
        break_even_from_here=from_here(at_hand) if n else None,
        single_saves=1 - 1 / runs if single else None,
        single_widens=math.sqrt((within + between) / (n * at_hand.now)) - 1 if single else None,
    )


def best_runs(ratio: float, prices: Prices) -> float:
    """Return R* from scratch at prices; infinite without a spread."""
    return optimal_runs(ratio, prices.problem / prices.run) if ratio < math.inf else math.inf


def from_here(at_hand: Stock, ratio: float | None = None) -> float:
    """Return the price of a problem, in runs, above which a run more beats a problem more.

    Parameters
    ----------
    at_hand : Stock
    ratio : float, optional
        μ_w/σ_b², where it is not the one at hand: a limit of the ceiling, less 1.

    Notes
    -----
    Off N²·V a round of runs takes its share d of each problem's noise v̄, and a problem with the
    mean R̄ of runs σ_b² + v̄, which costs c_p/c_g + R̄: equal where c_p/c_g = (σ_b² + v̄)/d - R̄. With
    equal runs that is R(R+1)σ_b²/μ_w + 1, `repeval.stats.design.allocation.break_even_from_here`.
    """
    now, then = at_hand.noise[:2] / at_hand.n_problems
    between = at_hand.between
    if now == then or ratio == 0:
        return math.inf
    if ratio is not None:
        between = at_hand.within / ratio
    return float((between + now) / (now - then) - at_hand.runs_mean)
