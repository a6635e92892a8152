"""Ceilings and components resampled: unequal runs, scores, clusters, differences of systems."""

import math

import numpy as np
import pytest

from repeval.stats.ceiling import (
    CeilingInterval,
    ceiling_interval,
    component_limits,
    difference_ceiling_intervals,
)
from repeval.stats.components import components, difference_components
from repeval.stats.resampling import as_clusters
from repeval.stats.sample import as_sample, from_counts, from_scores
from tests.oracles import SEED
from tests.samples import rows_of, unequal_runs


def direct(y: np.ndarray, n_resamples: int, labels: np.ndarray) -> np.ndarray:
    """Ceilings of resampled clusters of rows, each from scratch."""
    rng = np.random.default_rng(1)
    groups = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    out = []
    for _ in range(n_resamples):
        index = np.concatenate([groups[g] for g in rng.integers(len(groups), size=len(groups))])
        c = components(y[index])
        out.append(c.ceiling if c.between > 1e-12 else math.inf)
    return np.array(out)


def assert_within(found: CeilingInterval, draws: np.ndarray, n_resamples: int) -> None:
    # Both sides are Monte Carlo: three standard errors of a difference of shares.
    error = 3 * math.sqrt(0.025 * 0.975 * (1 / len(draws) + 1 / n_resamples))
    for q, limit in ((0.025, found.low), (0.975, found.high)):
        # N/(N-1) is taken at the N of the data, not of a resample of unequal clusters: 0.1%.
        assert (draws < limit * 0.999).mean() <= q + error
        assert (draws <= limit * 1.001).mean() >= q - error


SOME_SINGLE = np.arange(40)[:, None] % 4 + np.arange(5) < 6
CASES = {
    "unequal runs": (unequal_runs(), np.arange(40)),
    "with single runs": (np.where(SOME_SINGLE, unequal_runs(), np.nan), np.arange(40)),
    "scores": (np.random.default_rng(3).beta(0.6, 0.5, (30, 1)) * 0.7
               + np.random.default_rng(4).random((30, 4)) * 0.3, np.arange(30)),
    "clusters": (rows_of(np.random.default_rng(5).integers(0, 6, 40), 5), np.arange(40) // 3),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_resampling_from_scratch(case: str) -> None:
    y, labels = CASES[case]
    clusters = None if len(np.unique(labels)) == len(y) else labels
    found = ceiling_interval(
        y, kind="percentile", clusters=clusters, n_resamples=20_000, method="monte-carlo", rng=SEED
    )
    assert_within(found, direct(y, 2000, labels), 20_000)


def test_single_runs_do_not_count_as_known_noise() -> None:
    """Ten problems of sixty have a second run: mu_w is as uncertain as ten values make it."""
    runs = np.where(np.arange(60) % 6, 1, 3)
    rng = np.random.default_rng(11)
    y = rows_of(rng.binomial(runs, rng.beta(0.8, 0.6, size=60)), runs)
    found = ceiling_interval(y, kind="percentile", n_resamples=20_000, rng=SEED)
    assert_within(found, direct(y, 2000, np.arange(60)), 20_000)


@pytest.mark.parametrize("kind", ["counts", "unequal runs", "scores"])
def test_ceilings_of_differences_from_scratch(kind: str) -> None:
    rng = np.random.default_rng(12)
    if kind == "scores":
        pair = [0.7 * rng.random((30, 1)) + 0.3 * rng.random((30, 4)) for _ in range(2)]
    else:
        p = rng.beta(0.8, 0.6, size=30)
        runs = [rng.integers(2, 5, size=30) if kind != "counts" else 4 for _ in range(2)]
        pair = [rows_of(rng.binomial(r, p), r) for r in runs]
    a, b = map(as_sample, pair)
    other = (as_sample(rng.integers(0, 4, 30), 3), as_sample(rng.integers(0, 3, 30), 2))
    limits_ = difference_ceiling_intervals([(a, b), other], n_resamples=20_000, seed=SEED)
    draws = []
    for index in np.random.default_rng(1).integers(30, size=(2000, 30)):
        c = difference_components(a.take(index), b.take(index))
        draws.append(c.ceiling if c.between > 1e-12 else math.inf)
    # Two Monte Carlo samples: three standard errors of a difference of shares.
    error = 3 * math.sqrt(0.025 * 0.975 * (1 / 2000 + 1 / 20_000))
    for q, limit in zip((0.025, 0.975), limits_[0], strict=True):
        assert (np.array(draws) < limit * (1 - 1e-9)).mean() <= q + error
        assert (np.array(draws) <= limit * (1 + 1e-9)).mean() >= q - error
    # A pair's limits do not depend on its companions or its place among them.
    again = difference_ceiling_intervals([other, (a, b)], n_resamples=20_000, seed=SEED)
    assert again[1] == pytest.approx(limits_[0], rel=1e-12)
    assert difference_ceiling_intervals([]) == []


def test_difference_with_one_run_has_no_ceiling() -> None:
    one, two = as_sample([0, 1, 1, 0], 1), as_sample([0, 1, 2, 3], 3)
    low, high = difference_ceiling_intervals([(one, two)])[0]
    assert math.isnan(low)
    assert math.isnan(high)


def test_pairs_with_single_runs() -> None:
    """Problems without a second run, in one side, in both, and in one pair of several."""
    rng = np.random.default_rng(13)
    p = rng.beta(0.8, 0.6, size=40)
    sides = [np.full(40, 3), np.where(np.arange(40) % 4, 1, 3), np.where(np.arange(40) % 3, 1, 4)]
    a, b, c = (as_sample(rng.binomial(r, p), r) for r in sides)
    pairs = [(a, a), (a, b), (b, c)]
    together = difference_ceiling_intervals(pairs, n_resamples=20_000, seed=SEED)
    indices = np.random.default_rng(1).integers(40, size=(2000, 40))
    # Two Monte Carlo samples: three standard errors of a difference of shares.
    error = 3 * math.sqrt(0.025 * 0.975 * (1 / 2000 + 1 / 20_000))
    for (one, two), limits in zip(pairs, together, strict=True):
        alone = difference_ceiling_intervals([(one, two)], n_resamples=20_000, seed=SEED)[0]
        assert alone == pytest.approx(limits, rel=1e-12)
        parts = [difference_components(one.take(i), two.take(i)) for i in indices]
        draws = np.array([c.ceiling if c.between > 1e-12 else math.inf for c in parts])
        for q, limit in zip((0.025, 0.975), limits, strict=True):
            assert (draws < limit * (1 - 1e-9)).mean() <= q + error
            assert (draws <= limit * (1 + 1e-9)).mean() >= q - error


def test_log_delta_beyond_500_problems() -> None:
    """Where no exact law is practical, the closed form agrees with resampling."""
    from repeval.stats.ceiling import ceiling_intervals

    rng = np.random.default_rng(2606)
    runs = rng.integers(2, 7, 3000)
    passes = rng.binomial(runs, rng.beta(0.6, 0.4, 3000))
    delta, bca = ceiling_intervals(passes, runs)
    drawn = ceiling_intervals(
        passes, runs, kinds=("percentile",), method="monte-carlo", n_resamples=20_000, rng=1
    )[0]
    assert delta.method == bca.method == "log-delta"
    width = drawn.high - drawn.low
    # Second-order terms are of the order of the skewness over root N: 5% of the width.
    assert delta.low == pytest.approx(drawn.low, abs=0.05 * width)
    assert delta.high == pytest.approx(drawn.high, abs=0.05 * width)
    assert delta.icc_low == 1 / delta.high


def test_no_log_delta_without_a_ceiling() -> None:
    passes = np.resize([2, 3], 1000)
    found = ceiling_interval(passes, 5, kind="percentile", method="auto")
    assert found.method != "log-delta"
    assert found.high == math.inf


def test_log_delta_where_some_problems_have_one_run() -> None:
    """Unknown v_i are filled from the known: without that cross term the interval is too short."""
    rng = np.random.default_rng(2606)
    runs = rng.integers(1, 4, 3000)
    passes = rng.binomial(runs, rng.beta(0.5, 0.5, 3000))
    delta = ceiling_interval(passes, runs, kind="percentile")
    drawn = ceiling_interval(
        passes, runs, kind="percentile", method="monte-carlo", n_resamples=20_000, rng=1
    )
    assert delta.method == "log-delta"
    # Second-order terms: 5% of the width; the cross term is over a fifth of it.
    width = drawn.high - drawn.low
    assert (delta.low, delta.high) == pytest.approx((drawn.low, drawn.high), abs=0.05 * width)


def test_no_log_delta_near_zero() -> None:
    """Where over 2.5% of resamples have no ceiling, the upper limit is infinite."""
    for seed in range(40):
        passes = np.random.default_rng(seed).binomial(5, 0.5, 600)
        if 0 < components(passes, 5).between < 0.002:
            break
    found = ceiling_interval(passes, 5, kind="percentile", rng=1)
    assert found.method != "log-delta"
    assert found.high == math.inf


OPTIONS = {"level": 0.95, "n_resamples": 4000}


@pytest.mark.parametrize(
    "sample",
    [
        from_counts([0, 1, 3, 4, 2, 4, 4, 0, 2, 1], 4),
        from_counts([0, 1, 1, 4, 2, 1, 4, 0, 2, 0], [1, 2, 1, 4, 4, 1, 5, 2, 3, 1]),
        from_scores(np.random.default_rng(2606).beta(1, 1, (10, 3))),
    ],
    ids=["counts", "unequal", "scores"],
)
def test_limits_are_quantiles_of_components_of_drawn_problems(sample):
    rng = np.random.default_rng(2606)
    drawn = [components(sample.take(rng.integers(10, size=10))) for _ in range(4000)]
    found = component_limits(sample, rng=rng, **OPTIONS)
    for row, name in zip(found, ("within", "between"), strict=True):
        # In a draw of problems that all had one run there is no run noise.
        values = np.array([v for c in drawn if not math.isnan(v := getattr(c, name))])
        for limit, q in zip(row, (0.025, 0.975), strict=True):
            # 5 standard errors of two shares of 4,000, and the steps of a discrete law.
            below, upto = (values < limit - 1e-9).mean(), (values <= limit + 1e-9).mean()
            assert below - 0.018 <= q <= upto + 0.018


def test_clusters_are_drawn_whole():
    passes, groups = np.repeat([0, 4, 2, 3], 10), np.repeat([0, 1, 2, 3], 10)
    sample = from_counts(passes, 4)
    rng = np.random.default_rng(2606)
    single = component_limits(sample, rng=rng, **OPTIONS)
    codes = as_clusters(groups, 40)
    whole = component_limits(sample, rng=rng, clusters=codes, **OPTIONS)
    assert np.ptp(whole[0]) > 1.5 * np.ptp(single[0])
