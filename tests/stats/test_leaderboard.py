"""Ranks that hold for all systems at once."""

import numpy as np
import pytest

from repeval.stats.leaderboard import joint_ranks
from repeval.stats.ranking import rank


def drawn(rng, n, m, runs, gaps=0.0):
    """Passes of m systems on n problems of common difficulty; the j-th is j gaps worse."""
    ease = rng.normal(0, 2, n)
    p = 1 / (1 + np.exp(-(ease + rng.normal(0, 1, (m, n)) - gaps * np.arange(m)[:, None])))
    return rng.binomial(runs, p)


def coverage(n, runs, sets, seed=2606):
    """Share of data sets in which no difference of ten equally good systems is claimed."""
    rng = np.random.default_rng(seed)
    hits = 0
    for i in range(sets):
        # Ten equally good systems: every set has to hold all ten ranks.
        found = joint_ranks([(k, runs) for k in drawn(rng, n, 10, runs)], n_resamples=500, rng=i)
        hits += bool((found.low == 1).all() and (found.high == 10).all())
    return hits / sets


@pytest.mark.parametrize(("n", "runs"), [(30, 1), (30, 3), (99, 1), (99, 5)])
def test_ten_equal_systems_are_not_told_apart(n, runs):
    # 94 % less two standard errors of 200 sets.
    assert coverage(n, runs, 200) >= 0.94 - 2 * np.sqrt(0.94 * 0.06 / 200)


@pytest.mark.full
@pytest.mark.parametrize(("n", "runs"), [(30, 1), (30, 3), (99, 1), (99, 5)])
def test_the_level_holds_for_ten_equal_systems(n, runs):
    # 94 % less two standard errors of 4,000 sets.
    assert coverage(n, runs, 4000) >= 0.94 - 2 * np.sqrt(0.94 * 0.06 / 4000)


@pytest.mark.full
@pytest.mark.parametrize("n", [30, 99])
def test_the_best_is_among_those_that_may_be_best(n):
    rng, hits, sets = np.random.default_rng(2606), 0, 2000
    for i in range(sets):
        passes = drawn(rng, n, 10, 3, gaps=0.1)
        hits += bool(joint_ranks([(k, 3) for k in passes], n_resamples=500, rng=i).may_be_best[0])
    assert hits / sets >= 0.95


def test_joint_sets_hold_the_marginal_ones():
    passes = drawn(np.random.default_rng(2606), 60, 8, 5, gaps=0.6)
    systems = [(k, 5) for k in passes]
    joint, single = joint_ranks(systems, rng=1), rank(systems, rng=1)
    assert (joint.low <= single.set_low).all()
    assert (joint.high >= single.set_high).all()
    assert (joint.low <= joint.rank).all()
    assert (joint.rank <= joint.high).all()
    assert (joint.high - joint.low).sum() > (single.set_high - single.set_low).sum()
    assert joint.may_be_best.sum() < 8


def test_the_first_is_expected_to_fall_by_the_luck_of_the_highest():
    """Of ten equal systems the highest score is above the truth; the fall says by how much.

    Resamples add the noise once more, to scores that are apart by noise already: of normal scores S
    with noise Z the fall is that of Z where S + Z is highest, some two thirds of the luck of S.
    """
    rng, falls, luck = np.random.default_rng(2606), [], []
    s, z = rng.normal(size=(2000, 10)), rng.normal(size=(300, 10))
    for one in s:
        first = (one + z).argmax(axis=1)
        falls.append(min(z[np.arange(300), first].mean(), one.max() - one.mean()))
    normal = np.mean(falls) / np.mean(s.max(axis=1) - s.mean(axis=1))
    falls = []
    for i in range(200):
        found = joint_ranks([(k, 1) for k in drawn(rng, 100, 10, 1)], n_resamples=300, rng=i)
        falls.append(found.fall)
        luck.append(found.score.max() - found.score.mean())
    # Three standard errors, .016 for 200 boards of normal scores.
    assert np.mean(falls) / np.mean(luck) == pytest.approx(normal, abs=0.05)


def test_the_first_does_not_fall_below_the_mean_of_all():
    """Equal totals on other problems: none was chosen, though resamples choose one each time."""
    alike = np.arange(30) < 15
    equal = joint_ranks([(alike.astype(int), 1), ((~alike).astype(int), 1)], rng=1)
    assert equal.fall == 0
    rng, held = np.random.default_rng(2606), 0
    for i in range(30):
        found = joint_ranks([(k, 1) for k in drawn(rng, 20, 3, 1)], n_resamples=200, rng=i)
        most = found.score.max() - found.score.mean()
        assert 0 <= found.fall <= most
        held += found.fall == most > 0
    # Three systems that are equally good are often closer than their resamples are.
    assert held > 0


@pytest.mark.full
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_what_is_expected_of_the_first_is_never_below_what_is_expected_of_all(spread):
    """Systems drawn alike: the truth of the one on top, over 4,000 boards, within 3 errors."""
    rng, above = np.random.default_rng(2606), []
    for _ in range(4000):
        skill = rng.normal(0, spread, 6)
        p = 1 / (1 + np.exp(-(rng.normal(0, 2, 40) + skill[:, None])))
        scores, truth = rng.binomial(1, p).mean(axis=1), p.mean(axis=1)
        first = np.flatnonzero(scores == scores.max())
        above.append(truth[first].mean() - truth.mean())
    assert np.mean(above) >= -3 * np.std(above) / np.sqrt(len(above))


def test_few_problems_rule_nothing_out():
    found = joint_ranks([([5] * 7, 5), ([0] * 7, 5)], rng=1)
    assert found.critical == np.inf


def test_the_same_gap_everywhere_is_decided_as_a_pair():
    found = joint_ranks([([5] * 40, 5), ([0] * 40, 5), ([5] * 40, 5)], rng=1)
    assert found.low.tolist() == [1, 3, 1]
    assert found.high.tolist() == [2, 3, 2]


def test_clusters_say_less_than_problems():
    passes = drawn(np.random.default_rng(2606), 96, 4, 3, gaps=0.5)
    systems = [(k, 3) for k in passes]
    plain = joint_ranks(systems, rng=1)
    families = joint_ranks(systems, rng=1, clusters=np.repeat(np.arange(12), 8))
    assert families.critical > plain.critical


def test_one_system_is_first():
    found = joint_ranks([([3, 2, 1] * 4, 3)], rng=1)
    assert (found.low.tolist(), found.high.tolist(), found.may_be_best.tolist()) == (
        [1],
        [1],
        [True],
    )
    assert found.fall == 0
