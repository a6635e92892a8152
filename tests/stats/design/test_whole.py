"""The best purchase against loops over every purchase, in fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from repeval.stats.design.allocation import optimal_integer_runs
from repeval.stats.design.whole import Design, Prices, best, cheapest, stock
from tests.oracles import SEED


def purchases(old, within, between, prices, budget):
    """Every purchase that a budget allows: its cost, its variance, and what it is."""
    problem, run = prices
    n = len(old)
    for more in range(math.floor(budget / (n * run)) + 1 if n else 1):
        noise = sum(within / (r + more) for r in old)
        spent = more * n * run
        if spent and n >= 2:
            yield spent, (n * between + noise) / n**2, (0, 0, more)
        for runs in range(1, math.floor(budget / run) + 1):
            for m in range(1, math.floor((budget - spent) / (problem + runs * run)) + 1):
                if n + m < 2:
                    continue
                variance = ((n + m) * between + noise + m * within / runs) / (n + m) ** 2
                yield spent + m * (problem + runs * run), variance, (m, runs, more)


def drawn(rng) -> tuple:
    """A small evaluation, or none, with prices and a budget, all in sixteenths."""
    n = int(rng.integers(0, 7))
    old = rng.integers(1, 5, n).tolist() if rng.random() < 0.3 else [int(rng.integers(1, 5))] * n
    within, between = (Fraction(int(v), 16) for v in rng.integers(0, 5, 2))
    prices = Fraction(int(rng.integers(0, 80)), 16), Fraction(int(rng.integers(4, 33)), 16)
    return old, within, between, prices, Fraction(int(rng.integers(1, 300)), 16)


def current(old, within, between) -> Fraction:
    n = len(old)
    return Fraction(10**9) if n < 2 else (n * between + sum(within / r for r in old)) / n**2


def told(found: Design) -> tuple[int, int, int]:
    return found.new_problems, found.new_runs, found.more_runs


def plain(within, between, old, prices):
    return stock(float(within), float(between), old), Prices(*map(float, prices))


@pytest.fixture(scope="module")
def cases():
    """1,000 random budgets with all that each could buy."""
    rng = np.random.default_rng(SEED)
    every = [case for case in (drawn(rng) for _ in range(1100)) if case[1] or case[2]][:1000]
    assert len(every) == 1000
    return [(case, list(purchases(*case))) for case in every]


def test_a_thousand_random_budgets(cases):
    none = several = 0
    for (old, within, between, prices, budget), every in cases:
        found = best(*plain(within, between, old, prices), float(budget))
        now = current(old, within, between)
        every = [row for row in every if row[1] < now]
        if not every:
            assert found is None
            none += 1
            continue
        least = min(variance for _, variance, _ in every)
        cost = min(cost for cost, variance, _ in every if variance == least)
        equal = [what for c, v, what in every if (c, v) == (cost, least)]
        several += len(equal) > 1
        assert told(found) in equal
        # A handful of sums of floats.
        assert found.variance == pytest.approx(float(least), rel=1e-12, abs=1e-15)
        assert found.cost == pytest.approx(float(cost), rel=1e-12)
        assert found.n_problems == len(old) + found.new_problems
    # The cases reach what they are for: budgets that buy nothing, and some with equals.
    assert none > 10
    assert several > 10


def test_a_thousand_random_widths(cases):
    """The cheapest way to what some purchase of the budget reaches, and never dearer than it."""
    rng = np.random.default_rng(SEED)
    for (old, within, between, prices, _), every in cases:
        reached = [row for row in every if row[1] > 0]
        if not reached:
            continue
        _, target, _ = reached[int(rng.integers(len(reached)))]
        cost = min(cost for cost, variance, _ in every if variance <= target)
        if current(old, within, between) <= target:
            cost = Fraction(0)  # nothing need be bought
        found = cheapest(*plain(within, between, old, prices), float(target))
        assert found.cost == pytest.approx(float(cost), rel=1e-12)
        assert found.variance <= float(target) * (1 + 1e-11)


@pytest.mark.parametrize(("problems", "runs"), [(True, False), (False, True)])
def test_what_may_be_bought_can_be_kept_to_one_kind(cases, problems, runs):
    for (old, within, between, prices, budget), every in cases[:300]:
        at_hand, costs = plain(within, between, old, prices)
        kept = [
            row for row in every
            if (problems or not row[2][0]) and (runs or not row[2][2])
            and row[1] < current(old, within, between)
        ]  # fmt: skip
        found = best(at_hand, costs, float(budget), problems=problems, runs=runs)
        assert (found is None) == (not kept)
        if found:
            least = float(min(variance for _, variance, _ in kept))
            assert found.variance == pytest.approx(least, rel=1e-12, abs=1e-15)
            assert (found.more_runs if problems else found.new_problems) == 0


def test_whole_problems_can_make_another_number_of_runs_best():
    """By the rule two runs are best, but 24 buy six problems of one run or four of two."""
    at_hand, prices = stock(0.25, 0.25), Prices(3, 1)
    assert optimal_integer_runs(1.0, 3) == 2
    assert told(best(at_hand, prices, 24)) == (6, 1, 0)
    assert told(best(at_hand, prices, 25)) == (5, 2, 0)


@pytest.mark.parametrize("price", [0, 1, 6, 40, 300])
def test_large_budgets_follow_the_rule_of_whole_runs(price):
    found = best(stock(0.1, 0.25), Prices(price, 1), 1e7)
    assert found.new_runs == optimal_integer_runs(0.4, price)


def test_runs_at_hand_are_sunk():
    """At this price three runs are best from scratch: who has four makes no more of them."""
    prices = Prices(30, 1)
    assert told(best(stock(0.1, 0.25), prices, 30_000)) == (909, 3, 0)
    assert told(best(stock(0.1, 0.25, [1] * 60), prices, 3000)) == (87, 3, 2)
    assert best(stock(0.1, 0.25, [4] * 60), prices, 3000).more_runs == 0


def test_measured_noise_scales_what_further_runs_leave():
    runs = np.array([1, 1, 4, 4])
    at_hand = stock(0.2, 0.1, runs, run_noise=0.15)
    assert at_hand.variance(0, 0, 0) == pytest.approx((0.1 + 0.15) / 4)
    # Further runs take the same share off as off the mean of 1/R.
    share = (1 / (runs + 2)).mean() / (1 / runs).mean()
    assert at_hand.variance(0, 0, 2) == pytest.approx((0.1 + 0.15 * share) / 4)


def test_what_does_not_help_is_not_bought():
    prices = Prices(1, 1)
    assert told(best(stock(0, 0.1, [2] * 10), prices, 40)) == (20, 1, 0)
    assert best(stock(0, 0.1, [2] * 10), prices, 40, problems=False) is None
    # Without a spread one run of a new problem adds more noise than ten of each old one have.
    assert best(stock(0.2, 0, [10] * 10), prices, 2) is None
    assert cheapest(stock(0.2, 0.1, [2] * 10), prices, 0.02).cost == 0


def test_a_price_that_floats_lack_still_buys_what_it_should():
    assert best(stock(0.1, 0.1), Prices(0, 0.1), 0.3).new_problems == 3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Prices(-1, 1), "cost of a problem"),
        (lambda: Prices(1, 0), "cost of a run"),
        (lambda: Prices(math.nan, 1), "cost of a problem"),
        (lambda: stock(-0.1, 1), "within"),
        (lambda: stock(0.1, math.nan), "between"),
        (lambda: stock(0, -0.1), "nothing varied"),
        (lambda: stock(0.1, 1, [0, 1]), "runs"),
        (lambda: best(stock(0.1, 1), Prices(1, 1), 0), "budget"),
        (lambda: cheapest(stock(0.1, 1), Prices(1, 1), 0), "variance"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()
