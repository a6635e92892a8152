"""Run labels: Cochran's Q against other packages, the law of agreement against every placement."""

import itertools

import numpy as np
import pytest
from scipy import stats

from repeval.stats.exchangeability import _agreeing, label_effect, run_agreement

SEED = 2606


def drawn(n=40, runs=5, seed=SEED):
    rng = np.random.default_rng(seed)
    return (rng.random((n, runs)) < rng.beta(0.7, 0.6, (n, 1))).astype(float)


def shares(y):
    """Agreement of neighbouring and of other pairs of runs, pair by pair."""
    mixed = np.ptp(y, axis=-1).reshape(-1, y.shape[-2])[0] > 0
    y, pairs = y[..., mixed, :], list(itertools.combinations(range(y.shape[-1]), 2))
    agree = np.array([(y[..., i] == y[..., j]).mean(axis=-1) for i, j in pairs])
    near = np.array([j - i == 1 for i, j in pairs])
    return agree[near].mean(axis=0), agree[~near].mean(axis=0)


# Cochran's Q


@pytest.mark.parametrize("runs", [2, 3, 5, 12])
def test_q_of_several_tables_adds_up(runs):
    tables = [drawn(runs=runs, seed=s, n=20 + 9 * s) for s in range(3)]
    parts = [label_effect(y) for y in tables]
    total = label_effect(*tables)
    q, df = sum(x.statistic for x in parts), sum(x.df for x in parts)
    assert (total.statistic, total.df) == (pytest.approx(q), df)
    assert total.p_value == pytest.approx(stats.chi2.sf(q, df))


def test_rates_and_gap_by_hand():
    one, two = [[1, 0, 1], [0, 0, 1]], [[1, 1, 1], [1, 0, 1], [0, 0, 1], [1, 0, 0]]
    found = label_effect(one, two)
    assert found.rates.tolist() == pytest.approx([4 / 6, 1 / 6, 5 / 6])
    assert found.gap == pytest.approx(4 / 6)


def test_a_system_without_a_mixed_problem_adds_no_test():
    y, steady = drawn(), np.repeat([[1.0], [0.0], [1.0]], 5, axis=1)
    both, alone = label_effect(y, steady), label_effect(y)
    assert (both.statistic, both.df, both.detectable) == pytest.approx(
        (alone.statistic, alone.df, alone.detectable)
    )
    none = label_effect(steady, 0.1 * steady)
    assert none.df == none.gap == 0
    assert np.isnan([none.statistic, none.p_value, none.detectable]).all()


@pytest.mark.parametrize(("shift", "share"), [(0, 0.05), (1, 0.8)])
def test_a_shift_of_the_detectable_size_is_found_as_often_as_it_says(shift, share):
    rng, sets, runs = np.random.default_rng(SEED), 2000, 5
    p = [rng.uniform(0.2, 0.7, (n, 1)) for n in (150, 100, 120)]
    tables = [(rng.random((len(x), runs)) < x).astype(float) for x in p]
    delta = shift * label_effect(*tables).detectable
    assert not shift or 0.03 < delta < 0.15
    moved = [x + delta * (np.arange(runs) == 2) for x in p]
    found = 0
    for _ in range(sets):
        found += (
            label_effect(*[(rng.random(x.shape) < x).astype(float) for x in moved]).p_value < 0.05
        )
    # 4 s.e. of the simulation, and 0.03 for the noncentral approximation.
    assert found / sets == pytest.approx(share, abs=4 * (share * (1 - share) / sets) ** 0.5 + 0.03)


def test_more_systems_find_smaller_shifts_and_more_power_needs_larger_ones():
    y = drawn()
    once, thrice = label_effect(y).detectable, label_effect(y, y, y).detectable
    assert thrice < once < label_effect(y, power=0.95).detectable
    assert label_effect(np.concatenate([y, y, y])).detectable < thrice


# Agreement


@pytest.mark.parametrize("runs", [3, 4, 6])
def test_law_of_agreeing_neighbours_is_that_of_all_orders(runs):
    for k in range(1, runs):
        orders = np.array([[i in c for i in range(runs)]
                           for c in itertools.combinations(range(runs), k)])  # fmt: skip
        agreeing = (orders[:, 1:] == orders[:, :-1]).sum(axis=1)
        counts = np.bincount(agreeing, minlength=runs)
        assert _agreeing(k, runs) == pytest.approx(counts / len(orders))


def test_p_value_counts_every_placement():
    y = np.array([[1, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 0]], float)
    near, far = shares(y)
    found = run_agreement(y[:2], y[2:])
    assert (found.n_mixed, found.adjacent, found.apart) == (4, *map(pytest.approx, (near, far)))
    orders = [sorted(set(itertools.permutations(row))) for row in y]
    each = [np.subtract(*shares(np.array(rows))) for rows in itertools.product(*orders)]
    assert np.mean(each) == pytest.approx(0, abs=1e-12)
    assert found.p_value == pytest.approx((np.abs(each) >= abs(near - far) - 1e-9).mean())
    spread = np.std(each)
    assert found.detectable == pytest.approx((stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * spread)


def test_monte_carlo_permutation_agrees():
    y, draws = drawn(n=120), 4000
    rng = np.random.default_rng(SEED)
    found = run_agreement(y)
    near, far = shares(rng.permuted(np.broadcast_to(y, (draws, *y.shape)), axis=2))
    seen = abs(found.adjacent - found.apart)
    p = (np.abs(near - far) >= seen - 1e-9).mean()
    # 4 s.e. of the permutations.
    assert found.p_value == pytest.approx(p, abs=4 * (p * (1 - p) / draws) ** 0.5)
    assert 0.05 < p < 0.95


def test_dependence_is_seen_in_its_direction():
    rng = np.random.default_rng(SEED)
    chain = np.cumsum(rng.random((300, 6)) < 0.2, axis=1) % 2
    found = run_agreement(chain)
    assert found.adjacent > found.apart
    assert found.p_value < 1e-6
    assert run_agreement(rng.permuted(chain, axis=1)).p_value > 0.01


def test_many_runs_and_problems_have_a_law():
    rng = np.random.default_rng(SEED)
    y = (rng.random((3000, 60)) < rng.random((3000, 1))).astype(float)
    assert 0.001 < run_agreement(y).p_value <= 1


def test_nothing_mixed_is_nothing_to_compare():
    found = run_agreement(np.ones((4, 3)))
    assert found.n_mixed == 0
    assert np.isnan([found.adjacent, found.apart, found.p_value, found.detectable]).all()


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ([], "two-dimensional"),
        ([[0, 1, 1]], "two-dimensional"),
        ([np.ones((3, 2)), np.ones((3, 4))], "same run labels"),
        ([np.ones((3, 1))], "two runs"),
        ([[[0, np.nan], [1, 1]]], "none missing"),
        ([[[0, 2], [1, 1]]], r"in \[0, 1\]"),
    ],
)
def test_bad_tables_are_refused(tables, words):
    for function in (label_effect, run_agreement):
        with pytest.raises(ValueError, match=words):
            function(*tables)


def test_agreement_needs_three_runs_of_pass_or_fail():
    with pytest.raises(ValueError, match="three runs"):
        run_agreement([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="0 or 1"):
        run_agreement([[0, 0.5, 1]])
