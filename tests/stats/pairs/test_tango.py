"""Tango's interval for paired proportions, against a direct search of its definition."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

from repeval.stats.pairs.tango import tango_limits, tango_score
from tests import oracles

TABLES = [(0, 0, 8), (1, 0, 99), (3, 4, 30), (8, 0, 8), (0, 10, 10), (7, 2, 12), (1, 30, 40)]


def score(won: int, lost: int, n: int, difference: float) -> float:
    """The score with the share of lost pairs that maximises the likelihood, found by search."""

    def minus_log(share: float) -> float:
        cells = difference + share, share, 1 - difference - 2 * share
        counts = won, lost, n - won - lost
        return -sum(k * math.log(max(p, 1e-300)) for k, p in zip(counts, cells, strict=True) if k)

    low, high = max(0.0, -difference), (1 - difference) / 2
    share = optimize.minimize_scalar(
        minus_log, bounds=(low, high), method="bounded", options={"xatol": 1e-13}
    ).x
    variance = (2 * share + difference - difference**2) / n
    return ((won - lost) / n - difference) / math.sqrt(variance)


@pytest.mark.parametrize(("won", "lost", "n"), TABLES)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_limits_are_where_the_score_is_a_normal_quantile(won, lost, n, level) -> None:
    z = oracles.NORMAL.inv_cdf((1 + level) / 2)
    seen = (won - lost) / n
    low, high = (float(x) for x in tango_limits(won, lost, n, level))
    edge = 1 - 1e-9
    if seen > -1:
        expected = optimize.brentq(lambda d: score(won, lost, n, d) - z, -edge, seen - 1e-9)
        # The search finds the share to about 1e-8, the square root of rounding.
        assert low == pytest.approx(expected, abs=1e-6)
    else:
        assert low == -1
    if seen < 1:
        expected = optimize.brentq(lambda d: score(won, lost, n, d) + z, seen + 1e-9, edge)
        assert high == pytest.approx(expected, abs=1e-6)
    else:
        assert high == 1


def test_it_tests_no_difference_as_mcnemar() -> None:
    for won, lost in itertools.product(range(6), repeat=2):
        expected = (won - lost) / math.sqrt(won + lost) if won + lost else 0.0
        assert float(tango_score(won, lost, 20, 0.0)) == pytest.approx(expected, rel=1e-12)


def test_it_is_antisymmetric_and_never_leaves_the_range() -> None:
    won, lost = (x.ravel() for x in np.meshgrid(np.arange(11), np.arange(11)))
    won, lost = won[won + lost <= 10], lost[won + lost <= 10]
    low, high = tango_limits(won, lost, 10, 0.95)
    mirrored = tango_limits(lost, won, 10, 0.95)
    # Halving ends within the spacing of floats near 1.
    np.testing.assert_allclose(low, -mirrored[1], atol=1e-15)
    assert (low >= -1).all()
    assert (high <= 1).all()
    assert (low < high).all()


@pytest.mark.parametrize("n", [8, 30, 99])
def test_none_discordant_is_wilson_for_none_of_n(n: int) -> None:
    z = oracles.NORMAL.inv_cdf(0.975)
    low, high = tango_limits(0, 0, n, 0.95)
    assert float(high) == pytest.approx(z * z / (n + z * z), rel=1e-12)
    assert float(low) == pytest.approx(-float(high), rel=1e-12)
