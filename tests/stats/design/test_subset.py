"""The score on all problems from a part: against statsmodels, by simulation, and on real runs."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from repeval.stats.design.subset import (
    SubsetScore,
    _in_blocks,
    principal,
    subset_score,
    why_not_random,
)
from tests.oracles import SEED

N, PART = 500, 100


def benchmark(rng, older: int = 3, n: int = N):
    """Rates of a new system and of older ones, which share most of what makes a problem hard."""
    hard = rng.normal(0, 1.5, n)
    rates = 1 / (1 + np.exp(-(hard + rng.normal(0, 1, (older + 1, n)))))
    return rates[0], rates[1:].T


def missed(found: SubsetScore, truth: float) -> bool:
    return not found.low <= truth <= found.high


def bounds(times: int) -> tuple[float, float]:
    """93 to 97.5 % as asked for, with two standard errors of so many data sets."""
    return tuple(
        share + sign * 2 * math.sqrt(share * (1 - share) / times)
        for share, sign in ((0.93, -1), (0.975, 1))
    )


def test_it_is_a_regression_read_at_the_mean_of_all_problems():
    rng = np.random.default_rng(SEED)
    rate, older = benchmark(rng)
    where = rng.choice(N, PART, replace=False)
    y = rng.binomial(1, rate[where])
    found = subset_score(y, 1, chosen=where, older=older)
    # Three covariates are all that three older systems have: components turn them only.
    model = sm.OLS(y, sm.add_constant(older[where])).fit()
    there = model.get_prediction(np.append(1, older.mean(axis=0))[None])
    low, high = there.conf_int(alpha=0.05)[0]
    # Two ways to solve one system of four equations.
    assert found.score == pytest.approx(float(there.predicted_mean[0]), rel=1e-9)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9)
    alone = stats.ttest_1samp(y, 0).confidence_interval(0.95)
    assert (found.alone_low, found.alone_high) == pytest.approx(tuple(alone), rel=1e-9)


def test_what_is_known_of_the_part_itself_is_no_error():
    """Without run noise, and nearly all problems at hand, hardly an error is left."""
    rng = np.random.default_rng(SEED)
    y = (rng.random(400) < 0.6).astype(int)
    older = rng.random((400, 1))
    where = np.arange(399)
    known = subset_score(y[where], 1, chosen=where, older=older, older_noise=0.0)
    unknown = subset_score(y[where], 1, chosen=where, older=older)
    share = (known.high - known.low) / (unknown.high - unknown.low)
    # √(1 - 399/400), but for the distance of the means.
    assert share == pytest.approx(math.sqrt(1 / 400), rel=0.1)
    assert not missed(known, y.mean())


def test_older_systems_that_say_nothing_leave_the_plain_mean():
    rng = np.random.default_rng(SEED)
    y = rng.binomial(3, 0.4, PART)
    found = subset_score(y, 3, chosen=np.arange(PART), older=np.full((N, 2), 0.5))
    assert (found.n_covariates, found.score) == (0, pytest.approx(y.mean() / 3, rel=1e-12))


def test_principal_components_span_the_rates():
    rates = np.random.default_rng(SEED).random((30, 3))
    places = principal(rates, 3)
    assert places.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    fitted = places @ np.linalg.lstsq(places, rates - rates.mean(axis=0), rcond=None)[0]
    assert fitted == pytest.approx(rates - rates.mean(axis=0), abs=1e-12)
    assert principal(rates, 2).shape == (30, 2)
    assert principal(np.column_stack([rates[:, 0]] * 3), 3).shape == (30, 1)


def simulated(runs: int, older: int, times: int) -> float:
    rng = np.random.default_rng([SEED, runs, older])
    misses = 0
    for _ in range(times):
        rate, rates = benchmark(rng, older)
        where = rng.choice(N, PART, replace=False)
        seen = rng.binomial(2, rates) / 2  # older systems were run twice
        noise = max((2 * seen * (1 - seen)).mean(axis=0))
        found = subset_score(
            rng.binomial(runs, rate[where]), runs, chosen=where, older=seen, older_noise=noise
        )
        misses += missed(found, rate.mean())
    return 1 - misses / times


@pytest.mark.parametrize(("runs", "older"), [(1, 1), (1, 12), (3, 3)])
def test_a_made_up_benchmark_is_covered(runs, older):
    low, high = bounds(400)
    assert low <= simulated(runs, older, 400) <= high


@pytest.mark.full
@pytest.mark.parametrize(("runs", "older"), [*itertools.product((1, 2, 5), (1, 3, 12, 30))])
def test_a_made_up_benchmark_is_covered_closely(runs, older):
    low, high = bounds(4000)
    assert low <= simulated(runs, older, 4000) <= high


def real(shared, times: int) -> pd.DataFrame:
    """SWE-bench: a system in a part, told by the systems of the other families; one run each."""
    rows = pd.read_csv(shared / "realdata" / "swebench_verified_6x500x10.csv.gz")
    runs = rows.pivot_table(index="problem", columns=["model", "run"], values="outcome")
    family = {m: m.removesuffix("-temp0") for m in rows["model"].unique()}
    rng, found = np.random.default_rng(SEED), []
    for model in family:
        others = [m for m in family if family[m] != family[model]]
        older = np.stack([runs[m].mean(axis=1) for m in others], axis=1)
        noise = max(runs[m].var(axis=1, ddof=1).mean() for m in others)
        y = runs[model].to_numpy().astype(int)
        for _ in range(times):
            where = rng.choice(len(y), PART, replace=False)
            one = y[where, rng.integers(0, y.shape[1], PART)]
            s = subset_score(one, 1, chosen=where, older=older, older_noise=noise)
            width = (s.high - s.low) / (s.alone_high - s.alone_low)
            found.append((model, not missed(s, y.mean()), width))
    return pd.DataFrame(found, columns=["model", "covered", "width"]).groupby("model").mean()


def test_families_left_out_are_covered_by_shorter_intervals(shared):
    found, (low, high) = real(shared, 300), bounds(300)
    assert found["covered"].between(low, high).all(), found
    assert (found["width"] <= 0.85).all(), found


@pytest.mark.full
def test_families_left_out_are_covered_closely(shared):
    found, (low, high) = real(shared, 4000), bounds(4000)
    assert found["covered"].between(low, high).all(), found
    assert (found["width"] <= 0.85).all(), found


# ---- random parts and chosen ones ---------------------------------------------------------


def test_random_parts_are_hardly_ever_refused():
    rng = np.random.default_rng(SEED)
    rate, _ = benchmark(rng)
    label = rng.integers(0, 12, N).astype(str)
    refused = [
        why_not_random(
            rng.choice(N, n, replace=False), N, difficulty=rate, labels={"repository": label}
        )
        for n in [50, 100, 250, 495] * 100
    ]
    # Four checks of 1 in 1,000 each: 1.6 of 400 are expected, more than 6 once in 500 times.
    assert sum(map(bool, refused)) <= 6


def test_chosen_parts_are_told():
    rng = np.random.default_rng(SEED)
    rate, _ = benchmark(rng)
    about = {"difficulty": rate}
    assert why_not_random(np.arange(100), N, **about) == "order"
    assert why_not_random(np.arange(400, 500), N, **about) == "order"
    # Two blocks of neighbours, symmetrical: neither end, and no other difficulty.
    blocks = np.r_[100:150, 350:400]
    assert why_not_random(blocks, N, difficulty=np.full(N, 0.5)) == "order"
    # Problems that older systems pass more often, chosen by a coin.
    weights = rate / rate.sum()
    easy = rng.choice(N, 100, replace=False, p=weights)
    assert why_not_random(easy, N, **about) == "difficulty"
    label = rng.integers(0, 4, N)
    weights = np.where(label == 2, 3, 1)
    mostly = rng.choice(N, 100, replace=False, p=weights / weights.sum())
    assert why_not_random(mostly, N, **about, labels={"site": label}) == "site"
    # One in five, evenly: no random part, but as good as one.
    assert why_not_random(np.arange(0, N, 5), N, **about) == ""


def test_blocks_by_counting():
    """Every part of ten places: how many have so few blocks."""
    parts = []
    for where in itertools.combinations(range(10), 4):
        inside = np.isin(np.arange(10), where)
        parts.append((len([k for k in where if k - 1 not in where]), inside))
    for blocks, inside in parts:
        share = np.mean([b <= blocks for b, _ in parts])
        assert _in_blocks(inside) == pytest.approx(share, rel=1e-9)
        assert _in_blocks(~inside) == _in_blocks(inside)  # of the rarer kind


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"chosen": np.r_[0, :99]}, "different problems"),
        ({"chosen": np.arange(401, 501)}, "different problems"),
        ({"older": np.full((PART, 1), 0.5)}, "all problems"),
        ({"outcomes": [1] * 98 + [0, 0]}, "rarer outcome"),
        ({"outcomes": [1, 0] * 20, "chosen": np.arange(40)}, "needs 50 problems"),
    ],
)
def test_refusals(change, words):
    given = {"outcomes": [1, 0] * 50, "chosen": np.arange(PART), "older": np.full((N, 1), 0.5)}
    given |= change
    with pytest.raises(ValueError, match=words):
        subset_score(given.pop("outcomes"), 1, **given)
