"""Appendix H's study: against all subsets of a small set of problems, and the bands."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval import components
from repeval.companion.studies import result, subsets
from repeval.stats.ceiling import moment_columns
from repeval.stats.sample import from_counts

SEED = 2606
PASSES = {
    "spread": [0, 5, 1, 4, 0, 5, 3, 2, 5],
    "noisy": [2, 3, 1, 4, 3, 2, 2, 5, 3],
    "twin": [2, 3, 1, 4, 3, 2, 2, 5, 3],
}


def drawn(passes, n, draws):
    samples = [from_counts(k, 5) for k in passes.values()]
    columns = np.stack([moment_columns(s.rate, [s]) for s in samples], axis=1)
    rows = subsets.rows((n, list(passes), columns), SEED, sizes=(n,), draws=draws)
    return pd.DataFrame(rows).set_index("model")


def test_against_every_subset():
    draws, n = 10_000, 4
    found = drawn(PASSES, n, draws)
    chosen = list(itertools.combinations(range(9), n))
    each = {
        model: np.array([components(np.array(k)[[*c]], 5).ceiling for c in chosen])
        for model, k in PASSES.items()
    }
    # Subsets in which nothing varied have no ceiling; they count as infinite.
    each = {m: np.where(np.isnan(v), math.inf, v) for m, v in each.items()}
    each[subsets.MEDIAN] = np.median(list(each.values()), axis=0)
    infinite = {m: np.isinf(v).mean() for m, v in each.items()}
    infinite[subsets.MEDIAN] = np.any([np.isinf(v) for v in each.values()], axis=0).mean()
    assert infinite["noisy"] > 0.05
    assert list(found.index) == list(each)
    for model, values in each.items():
        row = found.loc[model]
        for end, level in (("low", 0.05), ("high", 0.95)):
            # A drawn quantile lies where the exact law passes the level, give or take 4 s.e.
            margin = 4 * math.sqrt(0.05 * 0.95 / draws)
            below, upto = (values < row[end] - 1e-9).mean(), (values <= row[end] + 1e-9).mean()
            assert below <= level + margin
            assert upto >= level - margin
        p = infinite[model]
        assert row["undefined"] == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / draws))


def test_the_standard_error_is_how_far_limits_scatter_over_seeds():
    rng = np.random.default_rng(SEED)
    passes = rng.binomial(5, rng.beta(0.8, 0.6, 40))
    sample = from_counts(passes, 5)
    columns = moment_columns(sample.rate, [sample])[:, None]
    repeats, draws, n = 300, 1600, 20
    found = pd.DataFrame(
        subsets.rows((n, ["a"], columns), seed, sizes=(n,), draws=draws)[0]
        for seed in range(repeats)
    )
    scatter = found[["low", "high"]].std()
    # The two ends differ, so it matters that the larger error is reported.
    assert scatter["high"] > 1.5 * scatter["low"]
    # An s.d. of 300 has a relative error of 1/sqrt(600), 4 %: three of these.
    assert found["se"].mean() == pytest.approx(scatter["high"], rel=0.12)


def test_a_subset_is_drawn_once_for_all_systems():
    found = drawn(PASSES, 4, 500)
    assert found.loc["noisy"].equals(found.loc["twin"])


def test_all_problems_once():
    found = drawn(PASSES, 9, 20)
    for model, k in PASSES.items():
        ceiling = components(k, 5).ceiling
        assert found.loc[model, ["whole", "low", "high"]].tolist() == pytest.approx([ceiling] * 3)
    assert (found["se"].drop(subsets.MEDIAN) == 0).all()


def test_without_any_ceiling():
    found = drawn({"alike": [2] * 6, "spread": [0, 5, 0, 5, 0, 5]}, 4, 50)
    assert found.loc["alike", ["whole", "low", "high"]].tolist() == [math.inf] * 3
    assert found.loc["alike", "undefined"] == found.loc[subsets.MEDIAN, "undefined"] == 1
    assert found.loc["spread", "undefined"] == 0


@pytest.fixture(scope="module")
def table():
    return result("subsets", repeval.load())


def test_inside_the_bands_of_the_reconstruction(table):
    """Its figures, with the range over six tensors where it gives one; half a printed unit."""
    found = table.set_index(["n", "model"])
    bands = {
        (30, subsets.MEDIAN): (1.22, (1.44, 1.46)), (50, subsets.MEDIAN): (1.26, (1.41, 1.43)),
        (70, subsets.MEDIAN): (1.29, (1.40, 1.40)), (50, "Qwen-Turbo"): (1.02, (1.09, 1.09)),
        (50, "Gemini 3 Flash"): (1.44, (2.18, 2.20)),
    }  # fmt: skip
    for key, (low, high) in bands.items():
        row = found.loc[key]
        # Those figures came from draws of their own.
        margin = 0.005 + 3 * max(row["se"], 0.002)
        assert row["low"] == pytest.approx(low, abs=margin), key
        assert high[0] - margin <= row["high"] <= high[1] + margin, key
    shares = table[table["n"] == 30].set_index("model")["undefined"]
    any_system, given = shares[subsets.MEDIAN], shares.drop(subsets.MEDIAN).mean()
    assert any_system == pytest.approx(0.004, abs=0.001 + 3 * math.sqrt(0.004 / 10_000))
    assert given == pytest.approx(0.0003, abs=0.0001 + 3 * math.sqrt(0.0003 / 140_000))


def test_whole_is_the_analysis(table):
    outcomes = repeval.load()
    whole = table.drop_duplicates("model").set_index("model")["whole"]
    clean = [components(outcomes.system(m, "Detailed")).ceiling for m in whole.index[:-1]]
    assert whole.tolist() == pytest.approx([*clean, np.median(clean)])
    assert len(whole) == 15
