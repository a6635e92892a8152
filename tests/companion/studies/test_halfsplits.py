"""Half-splits, split by split, and what must hold of any two halves."""

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.companion.studies import halfsplits
from repeval.stats.betabinomial import fit_beta_binomial
from repeval.stats.resampling import keyed_generator

SEED = 2606
SIZE = {"seeds": 2, "splits": 3}


@pytest.fixture(scope="module")
def outcomes():
    return repeval.load()


def table(task, **size):
    return pd.DataFrame(halfsplits.rows(task, SEED, **{**SIZE, **size})).set_index("quantity")


def test_a_piece_for_each_model_of_the_papers_leaderboard(outcomes):
    tasks = halfsplits.tasks(outcomes, **SIZE)
    assert [task[0] for task in tasks] == list(outcomes.models)
    for model, passes, runs in tasks:
        assert passes.tolist() == outcomes.system(model, "Detailed").passes.tolist()
        assert set(runs) == {5}


def test_one_split_by_hand(outcomes):
    model, k, runs = halfsplits.tasks(outcomes.select(models=["Qwen-Plus"]), **SIZE)[0]
    order = keyed_generator(SEED, "halfsplits", model, 0).permutation(99)
    first, second = k[order[:50]], k[order[50:]]
    fit = fit_beta_binomial(first, 5, method="paper")
    at_least_once = 1 - np.array([10, 4, 1, 0, 0, 0]) / 10  # of C(5, 3) choices all fail
    expected = {
        "retry-free": (fit.retry_free(5), np.mean(second == 5)),
        "pass@3": (fit.pass_at_k(3), at_least_once[second].mean()),
        "carry-over": (np.mean(first == 5), np.mean(second == 5)),
    }
    found = table((model, k, runs), seeds=1, splits=1)
    assert list(found.index) == list(expected)
    for quantity, (predicted, observed) in expected.items():
        row = found.loc[quantity]
        assert row["predicted"] == pytest.approx(float(predicted), abs=1e-12)
        assert row["observed"] == pytest.approx(observed, abs=1e-12)
        assert row["one_split"] == pytest.approx(abs(predicted - observed), abs=1e-12)
        assert (row["undefined"], row["splits"]) == (0, 1)


@pytest.mark.parametrize("n", [20, 21])
def test_two_halves_make_a_whole(n):
    """What the halves show of the retry-free share adds up to that of all problems."""
    k = np.random.default_rng(SEED).integers(0, 5, n, endpoint=True)
    rows = table(("m", k, np.full(n, 5))).loc["carry-over"]
    larger = (n + 1) // 2
    both = larger * rows["predicted"] + (n - larger) * rows["observed"]
    assert both.tolist() == pytest.approx([np.sum(k == 5)] * len(rows))


def test_without_run_noise_no_law_fits_and_the_limit_is_the_score():
    found = table(("m", np.repeat([0, 5], [8, 12]), np.full(20, 5)))
    assert set(found["undefined"]) == {SIZE["splits"]}
    # Every problem is always or never passed: one number says all three.
    for quantity in ("retry-free", "pass@3"):
        for column in ("predicted", "observed", "one_split"):
            both = found.loc[quantity, column].tolist(), found.loc["carry-over", column].tolist()
            assert both[0] == pytest.approx(both[1], abs=1e-12)
