"""Comparisons at their limits: no noise, constant differences, bad input, multiplicity, power."""

import math

import numpy as np
import pytest

from repeval.stats.comparison import Comparison, compare, holm, minimum_detectable
from repeval.stats.intervals import interval
from tests import oracles
from tests.oracles import SEED
from tests.samples import mixed_pair

Z = oracles.NORMAL.inv_cdf(0.975)
ROUNDING = {"rel": 1e-12, "abs": 1e-14}
# Absolute error promised for exact distribution functions.
EXACT = 1e-12


# ---- boundaries ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one_level", "two_level", "clustered_normal"])
def test_identical_systems_without_noise_fall_back(name: str) -> None:
    """No difference on any problem is no proof of none: Newcombe's interval, by hand."""
    a = (np.repeat([0, 5], [30, 20]), 5)
    found = compare(a, a, name=name)
    own = interval(*a, name="clustered_wilson")
    half = math.hypot(0.4 - own.low, own.high - 0.4)
    assert found.interval.low == pytest.approx(-half, **ROUNDING)
    assert found.interval.high == pytest.approx(half, **ROUNDING)
    assert "Newcombe" in found.interval.method
    # Sums of a transform: exact to about 1e-15.
    assert (found.difference, found.p_tie, found.p_value) == pytest.approx((0, 1, 1), abs=1e-12)
    assert not found.resolved


@pytest.mark.parametrize("method", ["auto", "monte-carlo"])
@pytest.mark.parametrize("name", ["one_level", "clustered_normal"])
def test_a_constant_difference_is_not_certain(name: str, method: str) -> None:
    """3/5 - 2/5 and 1/5 - 0/5 differ in the last bit; the interval must not have that width."""
    a = np.r_[np.full(20, 3), np.full(20, 4), np.full(10, 1)]
    found = compare((a, 5), (a - 1, 5), name=name, method=method, rng=SEED)
    assert "Newcombe" in found.interval.method
    assert found.interval.width > 0.1


def test_constant_difference_of_scores() -> None:
    y = np.linspace(0.1, 0.8, 30)[:, None] * np.ones(3)
    for name in ("one_level", "clustered_normal"):
        found = compare(y + 0.1, y, name=name, rng=SEED)
        # Scores have a Wilson interval each, of which Newcombe's is made.
        assert found.interval.low < 0.1 < found.interval.high
        assert found.interval.method.startswith("Newcombe")
        assert not found.resolved


@pytest.mark.parametrize("name", ["fixed_normal", "fixed_t"])
def test_fixed_comparisons_that_do_not_exist(name: str) -> None:
    one = compare(([0, 1, 1], 1), ([1, 1, 0], 1), name=name)
    assert not one.interval.exists
    assert "two runs" in one.interval.method
    still = compare(([0, 5, 5], 5), ([5, 5, 0], 5), name=name)
    assert "no problem changed" in still.interval.method
    assert math.isnan(still.p_value)
    assert not still.resolved
    # One system without noise is no obstacle.
    assert compare(([0, 5, 5], 5), ([5, 4, 0], 5), name=name).interval.exists


def test_one_run_each_is_the_sign_law() -> None:
    """R=1: differences are -1, 0, 1; the law is trinomial."""
    a, b = np.array([1, 1, 1, 0, 0, 1]), np.array([0, 1, 0, 0, 1, 1])
    found = compare((a, 1), (b, 1), name="one_level")
    ways = [
        math.comb(6, i) * math.comb(6 - i, j) * 2**i * 1**j * 3 ** (6 - i - j)
        for i in range(7)
        for j in range(7 - i)
        if i > j
    ]
    assert found.p_greater == pytest.approx(sum(ways) / 6**6, abs=EXACT)
    assert isinstance(found, Comparison)


def test_other_problems_are_refused() -> None:
    with pytest.raises(ValueError, match="same problems: 3 against 4"):
        compare(([1, 1, 2], 2), ([1, 1, 2, 2], 2))


def test_bad_arguments() -> None:
    a = ([1, 2, 0], 2)
    with pytest.raises(ValueError, match="unknown comparison 'z'"):
        compare(a, a, name="z")
    with pytest.raises(ValueError, match="method must be"):
        compare(a, a, method="fast")
    with pytest.raises(ValueError, match="level must lie"):
        compare(a, a, level=5)
    with pytest.raises(ValueError, match="no exact law"):
        compare(a, a, method="exact", clusters=[0, 1, 1])
    with pytest.raises(TypeError, match="rng must be"):
        compare(a, a, method="monte-carlo", rng="x")


def test_same_seed_same_bytes() -> None:
    a, b = mixed_pair()
    for name in ("one_level", "two_level"):
        first, second = (
            compare(a, b, name=name, method="monte-carlo", rng=SEED, n_resamples=300)
            for _ in range(2)
        )
        assert first == second


# ---- power and multiplicity ---------------------------------------------------------------------


def test_holm_of_the_published_shares() -> None:
    """Statistics note 2: .016 .030 .038 over fifteen become .24 .42 .49."""
    adjusted = holm([0.016, 0.030, 0.038] + [0.2] * 12)
    assert adjusted[:3] == pytest.approx([0.24, 0.42, 0.494], abs=1e-12)
    assert holm([]).size == 0


def test_minimum_detectable() -> None:
    # (1.95996 + .84162)² sigma²; the texts' 2.80 standard errors.
    assert minimum_detectable(1.0, 0.95) == pytest.approx(2.80159, abs=5e-6)
    # VC Limitations: an sd of .1785 on 99 problems gives "about 5 pp" (4.94 to 5.1).
    assert minimum_detectable(0.1785**2 / 99, 0.95) == pytest.approx(0.0503, abs=5e-5)
    # With power one half the quantile of the level alone is left.
    assert minimum_detectable(4.0, 0.9, 0.5) == pytest.approx(2 * 1.6448536, abs=1e-6)


def test_power_by_simulation() -> None:
    rng = np.random.default_rng(SEED)
    effect = minimum_detectable(1 / 50, 0.95)
    means = rng.normal(effect, math.sqrt(1 / 50), 100_000)
    power = (abs(means) > Z * math.sqrt(1 / 50)).mean()
    # Three standard errors of a share of .8.
    assert power == pytest.approx(0.8, abs=3 * math.sqrt(0.16 / 100_000))
