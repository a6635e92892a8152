"""What the hull of a pair holds where few problems, or clusters of them, were lost."""

import numpy as np
import pytest
from scipy import stats

from repeval.stats.comparison import compare, exact_comparisons
from repeval.stats.sample import as_sample
from tests.stats.test_comparison_paired import lost


@pytest.mark.parametrize(("runs", "k"), [(2, 1), (5, 2), (2, 4)])
def test_few_lost_problems_leave_more_open_than_a_bootstrap(runs: int, k: int) -> None:
    """Of 99: at least the exact upper limit at the mid-p of the binomial law, as Tango's is."""
    upper = compare(*lost(99, runs, k)).interval.high
    mid = stats.binom.cdf(k - 1, 99, upper) + stats.binom.pmf(k, 99, upper) / 2
    assert mid <= 0.025


@pytest.mark.parametrize("n", [99, 200])
def test_a_small_drop_is_not_above_the_interval_too_often(n: int) -> None:
    """R=2, problems lost as a whole: by the exact law of their number."""
    for drop in (0.02, 0.038):
        pairs = [tuple(map(as_sample, lost(n, 2, i))) for i in range(n // 3)]
        upper = [x.interval.high for x in exact_comparisons(pairs, "paired", 0.95)]
        missed = sum(u < drop for u in upper)
        # 4.5 %: one side of an interval, of which 2.5 % is nominal, on a coarse lattice.
        assert stats.binom.cdf(missed - 1, n, drop) < 0.045


@pytest.mark.parametrize("runs", [1, 5])
def test_one_more_lost_problem_in_clusters_never_lowers_the_drop(runs: int) -> None:
    groups = np.arange(99) // 3
    upper = [compare(*lost(99, runs, k), clusters=groups).interval.high for k in range(7)]
    assert upper == sorted(upper)


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("clusters", [None, np.arange(40), np.arange(80) // 2])
def test_no_procedure_is_surer_than_signs(runs: int, clusters) -> None:
    """Four lost, none won: the exact sign test has 1/8, whether problems or clusters are lost."""
    size = 1 if clusters is None else len(clusters) // 40
    found = compare(*lost(40 * size, runs, 4 * size), clusters=clusters)
    assert found.resolved is False
    assert found.p_value >= 1 / 8
