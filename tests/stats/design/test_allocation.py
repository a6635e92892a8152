"""What a budget should buy: the integer rule by brute force, the published coefficients."""

import math
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repeval.stats.components import components
from repeval.stats.design.allocation import (
    break_even,
    break_even_from_here,
    cost_ratio_for,
    optimal_integer_runs,
    optimal_runs,
    relative_width,
)
from tests.oracles import QUIET, clean


def cost(runs: int, ratio: Fraction, price: Fraction) -> Fraction:
    """Variance times budget, in units of sigma_b^2 c_g."""
    return (1 + ratio / runs) * (price + runs)


@given(
    st.integers(1, 320).map(lambda i: Fraction(i, 32)),
    st.integers(0, 4000).map(lambda i: Fraction(i, 8)),
)
@QUIET
def test_integer_rule_against_every_number_of_runs(ratio, price) -> None:
    best = min(range(1, 120), key=lambda r: (cost(r, ratio, price), r))
    # Over powers of two no product is rounded, so a tie R(R+1) = product is one for floats too.
    assert optimal_integer_runs(float(ratio), float(price)) == best


@pytest.mark.parametrize("runs", range(1, 60))
def test_ties_take_the_fewer_runs(runs: int) -> None:
    # At c_p/c_g = R(R+1)/ratio both cost the same; powers of two leave no rounding.
    assert optimal_integer_runs(0.25, 4 * runs * (runs + 1)) == runs
    assert break_even(0.25, runs) == 4 * runs * (runs + 1)
    assert optimal_integer_runs(0.25, 4 * runs * (runs + 1) + 1e-6) == runs + 1


def test_coefficients_of_the_published_systems() -> None:
    ratios, within, between = [], [], []
    for passes in clean().values():
        c = components(passes, 5)
        ratios.append(c.within / c.between)
        within.append(c.within)
        between.append(c.between)
    of_medians, of_ratios = median(within) / median(between), median(ratios)
    # Bands of statistics note 5.1; R* = coefficient · sqrt(c_p/c_g).
    assert 0.530 <= optimal_runs(of_medians, 1) <= 0.535
    assert 0.585 <= optimal_runs(of_ratios, 1) <= 0.590
    # Note 5.9: R=5 is the continuous optimum at 88.4 and 72.7, the integer one over a range.
    # Tolerance: half of the last digit printed there.
    assert cost_ratio_for(of_medians, 5) == pytest.approx(88.4, abs=0.05)
    assert cost_ratio_for(of_ratios, 5) == pytest.approx(72.7, abs=0.05)
    for ratio, low, high in [(of_medians, 70.7, 106.1), (of_ratios, 58.1, 87.2)]:
        assert break_even(ratio, 4) == pytest.approx(low, abs=0.05)
        assert break_even(ratio, 5) == pytest.approx(high, abs=0.05)
    assert optimal_integer_runs(of_medians, 88) == 5
    assert optimal_integer_runs(of_ratios, 88) == 6


def test_cost_ratio_inverts_optimal_runs() -> None:
    # Square of a square root: two roundings.
    assert optimal_runs(0.3, cost_ratio_for(0.3, 7)) == pytest.approx(7, rel=1e-14)


def test_relative_width_by_definition() -> None:
    runs, ratio, price = np.arange(1, 30), 0.344, 72.7
    best = math.sqrt(ratio * price)
    expected = [
        math.sqrt((1 + ratio / r) * (price + r) / ((1 + ratio / best) * (price + best)))
        for r in runs
    ]
    # The same few operations in another order.
    np.testing.assert_allclose(relative_width(runs, ratio, price), expected, rtol=1e-14)
    assert (relative_width(runs, ratio, price) >= 1).all()
    assert float(relative_width(best, ratio, price)) == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize(("price", "penalty", "last_unit"), [(10, 1.3, 0.1), (0.1, 9, 1)])
def test_published_penalties(price: float, penalty: float, last_unit: float) -> None:
    """VC section 5.3: R=5 where problems cost ten times more, or less, than R*=5 assumes."""
    ratio = 0.2828
    width = float(relative_width(5, ratio, price * cost_ratio_for(ratio, 5)))
    # Half a unit of the last printed digit.
    assert 100 * (width - 1) == pytest.approx(penalty, abs=last_unit / 2)


@pytest.mark.parametrize("bad", [-1.0, math.nan])
def test_undefined_ratios_are_refused(bad: float) -> None:
    for function in (optimal_runs, optimal_integer_runs):
        with pytest.raises(ValueError, match="ratio must not be negative"):
            function(bad, 10)
        with pytest.raises(ValueError, match="cost_ratio must not be negative"):
            function(0.3, bad)
    with pytest.raises(ValueError, match="ratio"):
        relative_width(3, bad, 10)


def test_without_run_noise_one_run_is_best() -> None:
    assert optimal_runs(0.0, 50) == 0
    assert optimal_integer_runs(0.0, 50) == 1
    assert break_even(0.0, 1) == math.inf
    # One more run then buys nothing: the width grows with the price of the runs alone.
    assert float(relative_width(5, 0.0, 45)) == pytest.approx(math.sqrt(50 / 45), rel=1e-14)


def test_without_difference_between_problems_runs_are_as_good_as_problems() -> None:
    assert optimal_runs(math.inf, 50) == math.inf
    with pytest.raises(ValueError, match="ratio"):
        optimal_integer_runs(math.inf, 50)


@pytest.mark.parametrize(("ratio", "runs"), [(0.34, 1), (0.34, 5), (2.0, 3)])
def test_the_next_run_against_the_next_problem(ratio: float, runs: int) -> None:
    """The variance of mean scores with one run, or one problem, more, by its definition."""
    n = 10**6
    noise = np.full(n, 1 / runs)
    more = noise.copy()
    more[0] = 1 / (runs + 1)

    def variance(rates) -> float:
        return (1 + ratio * rates.mean()) / len(rates)

    def saved_by_run(rates) -> float:
        return ratio * (rates.sum() - more.sum()) / n**2

    saved_by_problem = variance(noise) - variance(np.append(noise, 1 / runs))
    # A run costs 1 and a problem c + R: equal savings for the price.
    cost = saved_by_problem / saved_by_run(noise) - runs
    # One problem of a million; sums of a million numbers.
    assert break_even_from_here(ratio, runs) == pytest.approx(cost, rel=1e-3)
    assert break_even_from_here(ratio, runs) == break_even(ratio, runs) + 1


def test_a_whole_round_breaks_even_as_from_scratch() -> None:
    ratio, runs = 0.5, 4
    cost = break_even(ratio, runs)
    problems = 1 + 1 / (cost + runs)  # times as many for the price of a run of each
    assert (1 + ratio / runs) / problems == pytest.approx(1 + ratio / (runs + 1), rel=1e-12)
