"""The smallest detectable drop: the equation, its quantiles, and the power it has."""

import math

import numpy as np
import pytest
from scipy import special

from repeval.stats.comparison import compare, exact_comparisons
from repeval.stats.components import difference_components
from repeval.stats.pairs.power import (
    LOST_BY_CLUSTER,
    detectable_change,
    detectable_fixed,
    lost_problems,
    reach,
)
from repeval.stats.sample import as_sample
from tests.samples import SEED, mixed_pair


@pytest.mark.parametrize(
    ("spread", "n", "printed", "simulated"),
    [(2 / 98, 99, 9.0, 8.5), (2 / 499, 500, 1.9, 1.8), (2 / 39, 40, 20.5, 20.8),
     (99 * (0.09 / 2.8016) ** 2, 99, 13.1, 13.5)],
)  # fmt: skip
def test_the_equation(spread: float, n: int, printed: float, simulated: float) -> None:
    """Statistics review 2: two flips of 99, 500 and 40 problems, and neighbours of 99."""
    z = reach(math.inf, 0.95)
    d = lost_problems(spread, n, z)
    assert d == pytest.approx(z * math.sqrt((spread + d - d * d) / n), rel=1e-12)
    assert 100 * d == pytest.approx(printed, abs=0.05)
    # The review's own simulation, which has Tango's interval and R = 1 in it: 6 % of the size.
    assert 100 * d == pytest.approx(simulated, rel=0.065)
    effect = 2.5
    d = lost_problems(spread, n, z, effect)
    assert d == pytest.approx(z * math.sqrt((spread + effect * (d - d * d)) / n), rel=1e-12)


def test_the_reach_of_a_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    assert reach(math.inf, 0.95) == pytest.approx(1.959964 + 0.841621, abs=2e-6)
    for df in (1.5, 2, 7, 39, 498):
        t = stats.t.ppf(0.975, df)
        # scipy.stats computes the non-central t by another library (Boost).
        assert stats.nct.sf(t, df, reach(df, 0.95)) == pytest.approx(0.8, abs=1e-6)
    assert reach(20, 0.9, 0.5) < reach(20, 0.95, 0.5) < reach(20, 0.95, 0.9)


def test_detectable_of_a_pair() -> None:
    a, b = mixed_pair()
    c = difference_components(a, b)
    found = detectable_change(a, b)
    assert found.value == lost_problems(c.spread, 60, reach(59, 0.95))
    assert found.assumes == "whole problems lost"
    # The variance as it is would promise less than a half of a lost problem's own.
    assert found.value > 2.8 * math.sqrt(c.variance)
    fixed = detectable_fixed(a, b)
    limits = compare(a, b, name="fixed_t").interval
    df = float(limits.method.split()[2])
    half = limits.width / 2
    # df is printed to one digit.
    ratio = reach(df, 0.95) / special.stdtrit(df, 0.975)
    assert fixed.value == pytest.approx(half * ratio, rel=1e-3)
    assert fixed.value < found.value


def test_nothing_known_of_run_noise() -> None:
    single = detectable_fixed(([1, 0, 1, 1], 1), ([1, 1, 1, 0], 1))
    assert math.isnan(single.value)
    assert "two runs" in single.assumes
    # Two systems that never differed: a lost problem still varies.
    assert 0 < detectable_change(([3] * 30, 3), ([3] * 30, 3)).value < 0.3


def test_where_nothing_flips_a_drop_is_certain_to_be_found() -> None:
    """McNemar's score over runs, of which the lost ones all point one way."""
    a, b = np.array([4] * 10 + [0] * 10), np.array([0] + [4] * 9 + [4] + [0] * 9)
    lost = detectable_fixed((a, 4), (b, 4)).value * 80
    assert lost / math.sqrt(lost + 8) == pytest.approx(1.959964, abs=1e-6)
    assert detectable_fixed((a, 4), (a, 4)).value * 80 == pytest.approx(1.959964**2, rel=1e-6)


def test_clusters_are_few_units() -> None:
    a, b = mixed_pair()
    groups = np.repeat(np.arange(6), [30, 10, 5, 5, 5, 5])
    found = detectable_change(a, b, groups)
    c, plain = difference_components(a, b, groups), difference_components(a, b)
    df = 60**2 / (900 + 100 + 4 * 25) - 1
    effect = max(1, c.spread / plain.spread)
    assert found.value == pytest.approx(lost_problems(c.spread, 60, reach(df, 0.95), effect))
    assert found.assumes == LOST_BY_CLUSTER
    alone = detectable_change(a, b, np.arange(60)).value
    assert alone == pytest.approx(detectable_change(a, b).value, rel=1e-9)


def test_no_verdict_no_detectable_change() -> None:
    few = detectable_change(([2] * 7, 2), ([2] * 6 + [0], 2))
    assert math.isnan(few.value)
    assert few.assumes == "no verdict on fewer than 8 problems"


def test_no_change_above_one() -> None:
    a, b = np.repeat([2, 0], 4), np.repeat([0, 2], 4)
    found = detectable_change((a, 2), (b, 2), np.repeat([0, 1], 4))
    assert math.isnan(found.value)
    assert "loss of every problem" in found.assumes


@pytest.mark.parametrize("runs", [2, 5])
def test_new_problems_ask_for_no_less_than_these(runs: int) -> None:
    rng = np.random.default_rng(SEED)
    for n in (8, 12, 30):
        for _ in range(20):
            pair = [(rng.binomial(runs, 0.5, n), runs) for _ in range(2)]
            new, fixed = detectable_change(*pair).value, detectable_fixed(*pair).value
            assert math.isnan(new) or math.isnan(fixed) or new >= fixed


def test_scores_drop_everywhere_alike() -> None:
    rng = np.random.default_rng(SEED)
    a, b = 0.5 + 0.1 * rng.random((2, 30, 1))
    found = detectable_change(a, b)
    error = (a - b).std(ddof=1) / math.sqrt(30)
    assert found.value == pytest.approx(reach(29, 0.95) * error, rel=1e-12)
    assert found.assumes == "scores lower everywhere alike"


def test_unequal_runs_without_a_flip() -> None:
    """Three runs against five are three side by side."""
    a = np.repeat([1, 0], [15, 5])
    lost = detectable_fixed((3 * a, 3), (5 * a, 5)).value * 60
    assert lost == pytest.approx(1.959964**2, rel=1e-6)


# ---- power by simulation ------------------------------------------------------------------------

# ICC of a score, and the share of problems that have another rate in B: two flips of 99, which
# is 2/99 of s_d² at a mean of .8, and neighbours.
NEAR, NEIGHBOURS = 2 / 99 / 0.32, 0.3
CELLS = [(icc, runs, apart) for icc in (0.74, 0.96) for runs in (2, 5)
         for apart in (NEAR, NEIGHBOURS)]  # fmt: skip


def _told_apart(pairs) -> float:
    """Share of drops that the shown procedure sees, as a drop."""
    found = (
        exact_comparisons(pairs[i : i + 200], "paired", 0.95) for i in range(0, len(pairs), 200)
    )
    return sum(c.interval.low > 0 for batch in found for c in batch) / len(pairs)


def _lost(a, b) -> float:
    return detectable_change(a, b).value


def _power(icc: float, runs: int, apart: float, sets: int, printed=_lost) -> float:
    n = 99
    rng = np.random.default_rng([SEED, round(100 * icc), runs, round(100 * apart)])
    total = 1 / icc - 1

    def rates():
        p, other = rng.beta(0.8 * total, 0.2 * total, size=(2, n))
        return p, np.where(rng.random(n) < apart, other, p)

    def passes(p, q):
        return as_sample(rng.binomial(runs, p), runs), as_sample(rng.binomial(runs, q), runs)

    size = np.mean([printed(*passes(*rates())) for _ in range(300)])
    pairs = []
    for _ in range(sets):
        p, q = rates()
        lost = rng.random(n) < size
        pairs.append(passes(np.where(lost, 1.0, p), np.where(lost, 0.0, q)))
    return _told_apart(pairs)


@pytest.mark.parametrize(("icc", "runs", "apart"), [CELLS[0], CELLS[-1]])
def test_power_at_the_printed_size(icc: float, runs: int, apart: float) -> None:
    # Two standard errors of 400 sets at 80 %.
    assert 0.75 - 0.04 <= _power(icc, runs, apart, 400) <= 0.88 + 0.04


@pytest.mark.full
@pytest.mark.parametrize(("icc", "runs", "apart"), CELLS)
def test_power_at_the_printed_size_in_full(icc: float, runs: int, apart: float) -> None:
    # Two standard errors of 4,000 sets at 80 %.
    assert 0.75 - 0.0127 <= _power(icc, runs, apart, 4000) <= 0.88 + 0.0127


def test_the_variance_as_it_is_promises_too_much() -> None:
    """Why the equation has D - D² in it: near copies at the size that s_d² alone gives."""

    def normal(a, b) -> float:
        return 2.8016 * math.sqrt(difference_components(a, b).variance)

    # Two standard errors of 400 sets below the power that is printed.
    assert _power(0.96, 5, NEAR, 400, normal) < 0.8 - 0.04
