"""The exact law of the ICC against enumeration of all resamples."""

import math
from fractions import Fraction

import numpy as np
import pytest

from repeval.stats import exact_icc
from repeval.stats.sample import as_sample
from tests import oracles
from tests.oracles import passes_of

SMALL = [
    ([0, 1, 2, 2], 2),
    ([0, 1, 3, 3, 3], 3),
    ([0, 0, 2, 4], 4),
    ([0, 1, 2, 3, 4, 5], 5),
    ([5, 5, 5, 5, 4, 0], 5),
    ([0, 0, 0, 1], 5),
    ([3, 3, 3, 2, 3, 3], 3),
    ([2, 3], 4),
]


@pytest.mark.parametrize(("passes", "runs"), SMALL, ids=str)
def test_enumeration(passes: list[int], runs: int) -> None:
    values, pmf = exact_icc.icc_law(as_sample(passes, runs))
    exact = oracles.icc_law(np.array(passes), runs)
    assert (np.diff(values) <= 0).all()
    for value in exact:
        # Values that differ do so by more than 1e-6 at these sizes; probabilities to 1e-12.
        near = np.abs(values - float(value)) < 1e-9
        assert pmf[near].sum() == pytest.approx(float(exact[value]), abs=1e-12)
    assert pmf.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("passes", "runs"), SMALL, ids=str)
def test_share_without_between_variance(passes: list[int], runs: int) -> None:
    """sigma_b^2 = 0 happens with positive probability; rounding must not turn it positive."""
    values, pmf = exact_icc.icc_law(as_sample(passes, runs))
    exact = oracles.icc_law(np.array(passes), runs)
    share = sum((p for value, p in exact.items() if value <= 0), Fraction(0))
    assert pmf[values <= 0].sum() == pytest.approx(float(share), abs=1e-12)


def test_published_lattice() -> None:
    """reconstruction.md section 4: 496 x 298 points at N=99 and R=5."""
    values, pmf = exact_icc.icc_law(as_sample(passes_of([24, 7, 6, 4, 6, 52]), 5))
    assert len(values) == len(pmf) == 496 * 298


def test_designs_share_the_order_of_their_points() -> None:
    a, _ = exact_icc.icc_law(as_sample([0, 1, 5, 5], 5))
    b, _ = exact_icc.icc_law(as_sample([0, 3, 2, 5], 5))
    assert a is b


def test_what_has_an_exact_law() -> None:
    assert exact_icc.is_exact(as_sample([0, 1, 2], 2))
    assert not exact_icc.is_exact(as_sample([0, 1, 1], 1))
    assert not exact_icc.is_exact(as_sample([0, 1, 1], [2, 2, 3]))
    assert not exact_icc.is_exact(as_sample([[0.5, 1], [1, 0]]))
    n = math.isqrt(exact_icc.POINT_LIMIT // (5 * 3))
    assert exact_icc.is_exact(as_sample(np.zeros(n - 2, dtype=int), 5))
    assert not exact_icc.is_exact(as_sample(np.zeros(n + 2, dtype=int), 5))
