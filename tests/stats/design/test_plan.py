"""What to buy next: by the arithmetic of its parts, and forecasts against what was then run."""

import math

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.stats.ceiling import ceiling_interval
from repeval.stats.design.allocation import break_even_from_here, optimal_runs
from repeval.stats.design.plan import plan
from repeval.stats.design.whole import Prices, best, cheapest, stock
from repeval.stats.sample import from_counts
from tests.oracles import SEED
from tests.samples import beta_binomial_data

Z = 1.959963984540054


def test_the_parts_are_those_of_the_search():
    at_hand, prices = stock(0.1, 0.25, [2] * 60), Prices(30, 2)
    found = plan(0.1, 0.25, n_problems=60, runs=2, problem_cost=30, run_cost=2, budget=2000)
    assert found.next == best(at_hand, prices, 2000)
    assert found.only_problems == best(at_hand, prices, 2000, runs=False)
    assert found.only_runs == best(at_hand, prices, 2000, problems=False)
    assert found.scratch == best(stock(0.1, 0.25), prices, 2000)
    assert found.next.variance <= min(found.only_problems.variance, found.only_runs.variance)
    target = plan(0.1, 0.25, n_problems=60, runs=2, problem_cost=30, run_cost=2, width=0.1)
    assert target.next == cheapest(at_hand, prices, (0.1 / (2 * Z)) ** 2)
    assert target.next.width() <= 0.1 * (1 + 1e-9)
    assert target.only_runs is None  # endless runs leave ±12.7 points


def test_figures_of_what_is_at_hand():
    found = plan(0.1, 0.25, n_problems=60, runs=2, problem_cost=30, run_cost=2)
    assert found.next is found.scratch is found.only_runs is None
    assert found.width == pytest.approx(2 * Z * math.sqrt((0.25 + 0.1 / 2) / 60), rel=1e-12)
    # A second run pays from scratch above 2·σ_b²/μ_w, from two at hand a third above that times 3.
    assert found.break_even == pytest.approx(5)
    assert found.break_even_from_here == pytest.approx(16)
    assert found.optimal_runs == pytest.approx(math.sqrt(0.4 * 15))
    assert found.single_saves == 0.5
    assert found.single_widens == pytest.approx(math.sqrt(0.35 / 0.3) - 1)


def test_the_line_for_a_boss_is_that_of_the_issue():
    """From three runs to one saves two thirds, and widens by 4 % where μ_w/σ_b² is 0.128."""
    ratio = (1.04**2 - 1) / (1 - 1.04**2 / 3)  # (1 + r)/(1 + r/3) = 1.04²
    found = plan(ratio, 1.0, n_problems=100, runs=3)
    assert found.single_saves == pytest.approx(2 / 3)
    assert found.single_widens == pytest.approx(0.04, rel=1e-9)


@pytest.mark.parametrize(("within", "runs"), [(0.1, 1), (0.2, 3), (0.05, 9)])
def test_from_equal_runs_the_price_is_that_of_the_rule(within, runs):
    found = plan(within, 0.25, n_problems=40, runs=runs)
    rule = break_even_from_here(within / 0.25, runs)
    assert found.break_even_from_here == pytest.approx(rule, rel=1e-9)


def test_edges():
    once = plan(0.1, 0.25, n_problems=60)
    assert (once.single_saves, once.single_widens) == (None, None)
    assert (once.break_even, once.break_even_from_here) == pytest.approx((5, 6))
    unequal = plan(0.1, 0.25, n_problems=4, runs=[1, 2, 3, 2])
    # A round takes 0.1·(1/2 + 2/6 + 1/12) of 4·v̄ off, a problem adds to N what it has.
    noise, taken = 0.1 * (1 + 1 / 2 + 1 / 3 + 1 / 2) / 4, 0.1 * (1 / 2 + 2 / 6 + 1 / 12) / 4
    assert unequal.break_even_from_here == pytest.approx((0.25 + noise) / taken - 2)
    assert unequal.single_saves == 0.5
    still = plan(0, 0.25, n_problems=60, runs=2, problem_cost=3, budget=100)
    assert (still.optimal_runs, still.break_even) == (0, math.inf)
    assert (still.next.new_runs, still.next.more_runs, still.only_runs) == (1, 0, None)
    alike = plan(0.1, -0.01, n_problems=60, runs=2, problem_cost=3, budget=120)
    assert (alike.optimal_runs, alike.break_even) == (math.inf, 0)
    assert alike.break_even_from_here == pytest.approx(1)
    assert (alike.next.new_problems, alike.next.more_runs) == (0, 2)
    assert plan(0.1, 0.25).width == math.inf


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": 10}, "needs problem_cost"),
        ({"budget": 10, "width": 0.1, "problem_cost": 1}, "not both"),
        ({"width": 0, "problem_cost": 1}, "width"),
        ({"width": math.nan, "problem_cost": 1}, "width"),
        ({"budget": -1, "problem_cost": 1}, "budget"),
        ({"problem_cost": -1}, "cost of a problem"),
        ({"problem_cost": 1, "run_cost": 0}, "cost of a run"),
        ({"n_problems": 1.5}, "n_problems"),
        ({"n_problems": -1}, "n_problems"),
        ({"n_problems": 3, "runs": 0}, "runs"),
        ({"level": 1}, "level"),
    ],
)
def test_refusals(options, words):
    with pytest.raises(ValueError, match=words):
        plan(0.1, 0.25, **options)


# ---- forecasts ----------------------------------------------------------------------------


def forecast(passes: np.ndarray, rng) -> float:
    """Width at ten runs that a pilot of two of them foretells, over the one they have."""
    runs = passes.shape[1]
    pilot = rng.permuted(passes, axis=1)[:, :2].sum(axis=1)
    c = repeval.components(pilot, 2)
    found = plan(
        c.within, c.between, n_problems=len(pilot), runs=2, problem_cost=1e9,
        budget=len(pilot) * (runs - 2),
    )  # fmt: skip
    assert found.only_runs.more_runs == runs - 2
    whole = repeval.interval(passes.sum(axis=1), runs, name="clustered_normal")
    return found.only_runs.width() / whole.width


def test_a_pilot_of_two_runs_foretells_the_width_of_ten_on_made_up_problems():
    rng = np.random.default_rng(SEED)
    for mean, icc in [(0.3, 0.4), (0.5, 0.7), (0.8, 0.9)]:
        rates = rng.beta(mean * (1 / icc - 1), (1 - mean) * (1 / icc - 1), 300)
        passes = rng.binomial(1, rates[:, None], (300, 10))
        assert forecast(passes, rng) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    "name", ["swebench_verified_6x500x10.csv.gz", "hotpotqa_react_4x200x10.verdicts.csv.gz"]
)
def test_a_pilot_of_two_runs_foretells_the_width_of_ten(shared, name):
    columns = {"item_id": "problem", "draw_id": "run", "verdict": "outcome"}
    rows = pd.read_csv(shared / "realdata" / name).rename(columns=columns)
    runs = rows.pivot_table(index="problem", columns=["model", "run"], values="outcome")
    rng = np.random.default_rng(SEED)
    off = [forecast(runs[m].to_numpy().astype(int), rng) for m in rows["model"].unique()]
    assert off == pytest.approx([1] * len(off), abs=0.1)


CELLS = [(mean, icc, n, runs) for mean in (0.5, 0.8) for icc in (0.3, 0.6, 0.9)
         for n in (30, 99) for runs in (2, 5)]  # fmt: skip


def covered(cell, sets: int) -> float:
    """How often the limits of R* hold the true one; a problem costs fifty runs."""
    mean, icc, n, runs = cell
    rng = np.random.default_rng([SEED, CELLS.index(cell)])
    true, hits = optimal_runs(1 / icc - 1, 50), 0
    for _ in range(sets):
        sample = from_counts(beta_binomial_data(rng, mean, icc, n, runs), runs)
        found = ceiling_interval(sample)
        if math.isnan(found.low):  # nothing varied: no limits are given
            hits += 1
            continue
        low, high = (optimal_runs(end - 1, 50) for end in (found.low, found.high))
        hits += low <= true <= high
    return hits / sets


def least(sets: int) -> float:
    """92 % less two standard errors."""
    return 0.92 - 2 * math.sqrt(0.92 * 0.08 / sets)


@pytest.mark.parametrize("cell", [(0.5, 0.6, 30, 2), (0.8, 0.9, 99, 5)])
def test_limits_of_the_best_number_of_runs_hold_it(cell):
    assert covered(cell, 100) >= least(100)


@pytest.mark.full
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_limits_of_the_best_number_of_runs_hold_it_everywhere(cell):
    assert covered(cell, 2000) >= least(2000)
