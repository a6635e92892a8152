"""Ranks and pairs beside honestboard 0.6.1, where it defines the same thing.

The same: marginal rank intervals and intervals of a difference by the one-level bootstrap, the
covariance of scores, the studentised limit of all differences at once and who may then be best, the
luck of the first, the detectable difference by the normal law, Holm. Ours goes on to Student's t.

Not the same, so not compared: its `p_best` splits ties, its set of the best by `mcb` holds for
the best alone, its clustered variance is G/(G-1) times the sums of squares (ours CR2), its tests
are McNemar's and sign flips, and it knows no runs: nothing of it is about these problems.
"""

import json
import math

import numpy as np
import pytest
from scipy import special

from repeval.stats.comparison import compare, holm, minimum_detectable
from repeval.stats.components import difference_components
from repeval.stats.leaderboard import joint_ranks
from repeval.stats.ranking import rank
from tests.oracles import DATA

TOLD = json.loads((DATA / "honestboard.json").read_text())
BOARDS = {f"{b['runs']} runs": b for b in TOLD["boards"]}
RESAMPLES, SEED = 20_000, 2606


@pytest.fixture(scope="module", params=BOARDS)
def board(request):
    told = BOARDS[request.param]
    return told, [(np.array(k), told["runs"]) for k in told["passes"]]


def test_marginal_rank_intervals(board):
    told, systems = board
    found = rank(systems, n_resamples=RESAMPLES, rng=SEED)
    off = np.abs([found.low - told["rank_low"], found.high - told["rank_high"]])
    # A share of 2.5 % that is met to a tenth of a point by chance moves an end by one rank.
    assert off.max() <= 1
    assert (off > 0).sum() <= 1


def test_intervals_of_a_difference_by_the_one_level_law(board):
    told, systems = board
    step = 1 / (len(systems[0][0]) * told["runs"])
    for j, ends in enumerate(told["intervals"], 1):
        found = compare(systems[j], systems[0], name="one_level").interval
        # Theirs is resampled and ours exact, on one lattice: a step is as near as they can miss.
        assert (found.low, found.high) == pytest.approx(ends, abs=1.01 * step)


def test_the_limit_of_all_differences_is_theirs_brought_to_students_t(board):
    told, systems = board
    n = len(systems[0][0])
    found = joint_ranks(systems, n_resamples=RESAMPLES, rng=SEED)
    z = told["critical"] * math.sqrt(n / (n - 1))
    # Three standard errors: .0015 + .0011 at a density of the largest of about .25 at its limit.
    assert found.critical == pytest.approx(special.stdtrit(n - 1, special.ndtr(z)), abs=0.03)
    ours = {f"s{i}" for i in np.flatnonzero(found.may_be_best)}
    assert ours == set(told["may_be_best"])
    # How much further ours is: wide enough for no one near the limit here.
    assert told["critical"] < found.critical < 1.03 * told["critical"]


def test_the_luck_of_the_first(board):
    told, systems = board
    found = joint_ranks(systems, n_resamples=RESAMPLES, rng=SEED)
    # Three standard errors of .0003, and ties: theirs draws one of them, ours takes the first.
    assert found.fall == pytest.approx(told["luck"], abs=0.001)


def test_covariance_and_detectable_difference_are_the_same_to_rounding(board):
    told, systems = board
    n, s = len(systems[0][0]), np.array(told["covariance"])
    for j in range(1, len(systems)):
        ours = difference_components(systems[j], systems[0]).spread / n
        assert ours == pytest.approx(s[0, 0] + s[j, j] - 2 * s[0, j], rel=1e-9)
    first, second = np.argsort([-k.mean() for k, _ in systems], kind="stable")[:2]
    variance = difference_components(systems[first], systems[second]).spread / n
    assert minimum_detectable(variance, 0.95) == pytest.approx(told["mdd"], rel=1e-9)


def test_holm(board):
    told, _ = board
    assert (holm(told["p_values"]) <= 0.25).tolist() == told["holm"]


def test_numbers_of_the_other_board_are_seen():
    one, five = TOLD["boards"]
    systems = [(np.array(k), one["runs"]) for k in one["passes"]]
    for check in (
        test_intervals_of_a_difference_by_the_one_level_law,
        test_the_luck_of_the_first,
        test_covariance_and_detectable_difference_are_the_same_to_rounding,
        test_holm,
    ):
        told = {**five, "runs": one["runs"], "p_values": one["p_values"]}
        told["holm"] = [not x for x in one["holm"]]
        with pytest.raises(AssertionError):
            check((told, systems))
