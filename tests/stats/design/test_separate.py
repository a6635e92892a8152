"""What it takes to tell two systems apart: against the change that more data would detect."""

import math

import numpy as np
import pytest

from repeval.stats.comparison import compare
from repeval.stats.design.allocation import break_even
from repeval.stats.design.separate import sample_stock, separation
from repeval.stats.design.whole import Prices
from repeval.stats.pairs.looks import look_alpha
from repeval.stats.pairs.power import detectable_change, reach
from repeval.stats.sample import from_counts, from_scores
from tests.oracles import SEED
from tests.samples import mixed_scores


def two(n: int = 120, runs: int = 3, seed: int = SEED):
    rng = np.random.default_rng(seed)
    rate = rng.beta(0.7, 0.7, n)
    other = np.clip(rate + rng.normal(0, 0.15, n), 0, 1)
    return from_counts(rng.binomial(runs, rate), runs), from_counts(rng.binomial(runs, other), runs)


def tiled(sample, times: int):
    return sample.take(np.tile(np.arange(len(sample)), times))


@pytest.mark.parametrize("times", [2, 5])
def test_as_many_problems_as_make_the_difference_detectable(times):
    """With the same runs of each: the data repeated so often, and their detectable change."""
    a, b = two()
    seen = detectable_change(tiled(a, times), tiled(b, times)).value
    n = len(a) * times
    variance = sample_stock(a, b).variance(n - len(a), 3, 0) + (seen - seen**2) / n
    # s²(d) of the data has N - 1 below it, of the data repeated tN - 1: 1 of 120 problems.
    assert seen / math.sqrt(variance) == pytest.approx(reach(n - 1, 0.95), rel=1 / 120)


@pytest.mark.parametrize("price", [0, 20])
def test_new_problems_by_brute_force(price):
    a, b = two(60)
    at_hand, difference = sample_stock(a, b), 0.1
    costs = []
    for runs in range(1, 30):
        n = 60
        while difference < reach(n - 1, 0.95) * math.sqrt(
            at_hand.variance(n - 60, runs, 0) + (difference - difference**2) / n
        ):
            n += 1
        costs.append((n - 60) * (price + 2 * runs))
    found = separation(a, b, difference, Prices(price, 2)).plan.only_problems
    # Degrees of freedom of the purchase before: at most a problem or two more.
    assert min(costs) <= found.cost <= min(costs) + 2 * (price + 2 * found.new_runs)


def test_more_runs_alone_may_not_be_enough():
    a, b = two()
    found = separation(a, b, 0.02, Prices(10, 2))
    assert found.plan.only_runs is None
    assert found.plan.next.new_problems > 0
    assert found.now == detectable_change(a, b).value


def test_what_is_seen_already_takes_nothing():
    a, b = two()
    found = separation(a, b, 0.3, Prices(10, 2))
    assert found.now < 0.3
    assert found.plan.next.cost == 0


def test_looks_and_power_cost():
    a, b = two()
    plain = separation(a, b, 0.06, Prices(10, 2))
    looks = separation(a, b, 0.06, Prices(10, 2), looks=4)
    sure = separation(a, b, 0.06, Prices(10, 2), power=0.95)
    assert plain.plan.next.cost < min(looks.plan.next.cost, sure.plan.next.cost)
    level = 1 - 2 * look_alpha(0.025, 4)
    assert looks.now == detectable_change(a, b, level=level).value


def test_clusters_widen_what_problems_share():
    a, b = two()
    order = np.argsort(b.rate - a.rate)  # neighbours differ alike
    groups = np.empty(120, dtype=int)
    groups[order] = np.repeat(np.arange(24), 5)
    plain = separation(a, b, 0.06, Prices(10, 2)).plan
    found = separation(a, b, 0.06, Prices(10, 2), clusters=groups).plan
    assert found.next.cost > 2 * plain.next.cost
    # Runs reduce nothing that problems of a cluster share: more of them pay later.
    assert found.break_even_from_here > plain.break_even_from_here
    at_hand = sample_stock(a, b, clusters=groups)
    assert found.break_even == pytest.approx(break_even(at_hand.within / at_hand.between, 1))


def test_scores_change_alike_everywhere():
    rng = np.random.default_rng(SEED)
    x = mixed_scores(60)
    y = np.clip(x + rng.normal(0, 0.1, x.shape), 0, 1)
    a, b = from_scores(x), from_scores(y)
    found = separation(a, b, 0.01, Prices(0, 1)).plan.only_problems
    reached = 0.01 / math.sqrt(found.variance)
    # z of 95 % and of 80 %, and a little more by Student's t.
    assert 2.80 < reached < 2.90


@pytest.mark.parametrize("difference", [0, 1, -0.1, math.nan])
def test_refusals(difference):
    with pytest.raises(ValueError, match="difference"):
        separation(*two(), difference, Prices(1, 1))
    with pytest.raises(ValueError, match="power"):
        separation(*two(), 0.1, Prices(1, 1), power=1)


@pytest.mark.full
@pytest.mark.parametrize(("difference", "price"), [(0.05, 20), (0.1, 2)])
def test_the_difference_is_seen_as_often_as_promised(difference, price):
    """Equal systems, of which one loses whole problems: bought by a plan, then compared.

    Problems are nearly always passed or failed, so that what is lost is whole ones.
    """
    rng = np.random.default_rng(SEED)
    rates = rng.beta(0.07, 0.05, 4000)
    pilot = [from_counts(rng.binomial(3, rates), 3) for _ in range(2)]
    design = separation(*pilot, difference, Prices(price, 2)).plan.scratch
    n, runs, seen = design.n_problems, design.new_runs, 0
    for _ in range(1000):
        p = rng.beta(0.07, 0.05, n)
        lost = rng.random(n) < difference / (0.07 / 0.12)
        a, b = rng.binomial(runs, p), np.where(lost, 0, rng.binomial(runs, p))
        seen += bool(compare((a, runs), (b, runs), name="paired").resolved)
    # 80 of 100 less two standard errors; more, because few losses come with a small s²(d), which
    # the formula leaves out: what it calls the smallest difference is some 6 % too large.
    assert 0.775 < seen / 1000 < 0.89


def test_single_runs_do_not_say_what_runs_would_do():
    with pytest.raises(ValueError, match="two runs"):
        sample_stock(*two(runs=1))
