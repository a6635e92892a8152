"""The average over tasks: by hand, inside [0, 1], and as sure as it says."""

import math

import numpy as np
import pytest

from repeval.stats.macro import macro
from tests.samples import SEED, beta_binomial_data


def test_by_hand() -> None:
    stats = pytest.importorskip("scipy.stats")
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    means, variances, sizes = [0.9, 0.6, 0.5], [0.0009, 0.0024, 0.01], [100, 100, 25]
    found = macro(means, variances, sizes)
    assert found.estimate == pytest.approx(2 / 3, rel=1e-14)
    total = 0.0133
    assert found.standard_error == pytest.approx(math.sqrt(total) / 3, rel=1e-14)
    df = total**2 / (0.0009**2 / 99 + 0.0024**2 / 99 + 0.01**2 / 24)
    n = 2 / 9 / (total / 9) * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, df)) ** 2
    expected = proportion.proportion_confint(n * 2 / 3, n, method="wilson")
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)


def test_all_pass() -> None:
    """Then the problems of all tasks are trials: 4/(1/10 + 1/30) of them."""
    found = macro([1, 1], [0, 0], [10, 30])
    n = 4 / (1 / 10 + 1 / 30)
    z2 = 1.959963985**2
    # Ten digits of z.
    assert (found.low, found.high) == pytest.approx((n / (n + z2), 1), rel=1e-8)
    assert found.high <= 1


def test_a_saturated_task_is_not_without_error() -> None:
    """A task of ten that all pass beside one in the middle: its floor is 11/12 · 1/12 / 10."""
    known = macro([1, 0.5], [0, 0.0025], [10, 100])
    floor = macro([1, 0.5], [11 / 144 / 10, 0.0025], [10, 100])
    assert (known.low, known.high) == (floor.low, floor.high)
    assert known.standard_error < floor.standard_error


def test_a_task_without_an_error() -> None:
    found = macro([0.5, 1], [0.01, math.nan], [20, 1])
    assert (found.estimate, math.isnan(found.low)) == (0.75, True)
    assert found.method == "a task has no standard error"
    with pytest.raises(ValueError, match="each task"):
        macro([0.5, 1], [0.01], [20, 1])


TASKS = [
    ([0.5, 0.9, 0.7], [30, 30, 30], 2),
    ([0.95, 0.97, 0.99], [30, 30, 30], 2),
    ([0.1, 0.99], [20, 300], 3),
    ([0.97] * 10, [10] * 10, 1),
    ([0.8, 0.8, 0.6], [8, 8, 8], 3),
    ([0.98, 0.98, 0.5], [50, 50, 10], 2),
]


def _coverage(means, sizes, runs: int, sets: int) -> float:
    rng = np.random.default_rng([SEED, len(means), sum(sizes)])
    hits = 0
    for _ in range(sets):
        rates = [
            beta_binomial_data(rng, m, 0.6, n, runs) / runs
            for m, n in zip(means, sizes, strict=True)
        ]
        found = macro([r.mean() for r in rates], [r.var(ddof=1) / len(r) for r in rates], sizes)
        assert 0 <= found.low <= found.high <= 1
        hits += found.low <= np.mean(means) <= found.high
    return hits / sets


@pytest.mark.parametrize(("means", "sizes", "runs"), TASKS)
def test_coverage(means, sizes, runs: int) -> None:
    # 93.5 %, less two standard errors of 300 sets.
    assert _coverage(means, sizes, runs, 300) >= 0.935 - 0.026


@pytest.mark.full
@pytest.mark.parametrize(("means", "sizes", "runs"), TASKS)
def test_coverage_in_full(means, sizes, runs: int) -> None:
    # As above, two standard errors of 4,000 sets.
    assert _coverage(means, sizes, runs, 4000) >= 0.935 - 0.008
