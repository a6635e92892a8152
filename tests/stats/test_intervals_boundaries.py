"""Intervals where the data say little: clusters, equal rates, no noise, no width."""

import math
import time

import numpy as np
import pytest
from hypothesis import given

from repeval.stats.components import components
from repeval.stats.intervals import ESTIMANDS, Interval, interval, wilson
from tests import oracles
from tests.oracles import QUIET, SEED, designs, passes_of
from tests.samples import mixed_scores

Z = oracles.NORMAL.inv_cdf(0.975)
QWEN_PLUS = passes_of([24, 7, 6, 4, 6, 52])
ROUNDING = {"rel": 1e-12, "abs": 1e-14}


def limits(found: Interval) -> tuple[float, float]:
    return found.low, found.high


@pytest.mark.parametrize(("runs", "k"), [(2, 1), (3, 1), (5, 3), (10, 7)])
def test_equal_rates_do_not_depend_on_rounding(runs: int, k: int) -> None:
    """Every problem at the same rate: s² = 0 whether or not k/R is a binary fraction."""
    passes = np.full(50, k)
    c = components(passes, runs)
    assert c.spread == 0
    # The limit of mean(1-mean)/(s²/N) is infinite, so all runs would be the other reading;
    # statistics note 1.7 says "this includes s² = 0".
    found = interval(passes, runs, name="clustered_wilson")
    assert limits(found) == pytest.approx(wilson(k / runs, 50, 0.95), **ROUNDING)
    for name in ("one_level", "clustered_normal"):
        assert not interval(passes, runs, name=name).exists
    # v is the same everywhere: nu is the number of problems, the noise s² = v an overestimate of
    # m(1-m) by R/(R-1) where rates are equal by chance, so that the bound may be narrower.
    stats = pytest.importorskip("scipy.stats")
    half = stats.t.ppf(0.975, 50) * math.sqrt(c.fixed_variance)
    bound = wilson(k / runs, 50 * runs, 0.95)
    expected = min((c.mean - half, c.mean + half), bound, key=lambda x: x[1] - x[0])
    assert limits(interval(passes, runs, name="fixed_t")) == pytest.approx(expected, rel=1e-9)


# ---- clusters -------------------------------------------------------------------------------


def test_cluster_robust_by_hand() -> None:
    labels = np.array(list("abacbbcada") * 4)
    sizes = {"a": 16, "b": 12, "c": 8, "d": 4}
    passes = np.arange(40) * 7 % 6
    p, n = passes / 5, 40
    sums = {g: sum(x - p.mean() for x, h in zip(p, labels, strict=True) if h == g) for g in "abcd"}
    variance = sum(x * x / (1 - sizes[g] / n) for g, x in sums.items()) / n**2
    df = n**2 / sum(x * x for x in sizes.values()) - 1
    stats = pytest.importorskip("scipy.stats")
    half = stats.t.ppf(0.975, df) * math.sqrt(variance)
    found = interval(passes, 5, name="clustered_normal", clusters=labels)
    assert limits(found) == pytest.approx((p.mean() - half, p.mean() + half), rel=1e-10)
    assert found.method.endswith("4 clusters")


def test_clusters_of_one_problem_are_no_clusters() -> None:
    """CR2 is s²/N where every problem is its own cluster; t with N-1 df is all that is added."""
    stats = pytest.importorskip("scipy.stats")
    codes = np.random.default_rng(1).permutation(99)
    t = stats.t.ppf(0.975, 98)
    alone = interval(QWEN_PLUS, 5, name="clustered_normal")
    grouped = interval(QWEN_PLUS, 5, name="clustered_normal", clusters=codes)
    assert grouped.width == pytest.approx(alone.width * t / Z, rel=1e-10)
    c = components(QWEN_PLUS, 5)
    effective = c.mean * (1 - c.mean) / c.variance * (Z / t) ** 2
    grouped = interval(QWEN_PLUS, 5, name="clustered_wilson", clusters=codes)
    assert limits(grouped) == pytest.approx(wilson(c.mean, effective, 0.95), rel=1e-10)


def test_student_never_ends() -> None:
    """No number of clusters switches from t to the normal: no jump, and no 30 that decides."""
    passes = np.arange(120) * 7 % 6
    for g in (20, 30, 40, 60):
        labels = np.arange(120) % g
        found = interval(passes, 5, name="clustered_normal", clusters=labels)
        p = passes / 5
        sums = np.array([(p - p.mean())[labels == i].sum() for i in range(g)])
        se = math.sqrt(g / (g - 1) * (sums**2).sum()) / 120
        stats = pytest.importorskip("scipy.stats")
        # Clusters of one size: CR2 is G/(G-1) Σ_g(...)²/N².
        assert found.width / 2 == pytest.approx(stats.t.ppf(0.975, g - 1) * se, rel=1e-10)


def test_clusters_are_resampled_whole() -> None:
    """Ten copies of ten problems, each a cluster, are ten problems."""
    ten = np.array([0, 1, 2, 5, 5, 3, 0, 5, 4, 5])
    passes, labels = np.repeat(ten, 10), np.repeat(np.arange(10), 10)
    exact = interval(ten, 5, name="one_level")
    found = interval(passes, 5, name="one_level", clusters=labels, n_resamples=40_000, rng=SEED)
    # Lattice of 1/50: a share off by less than .0023 = 3 s.e. moves a limit by a step at most.
    assert limits(found) == pytest.approx(limits(exact), abs=0.02 + 1e-9)
    assert found.method == "Monte Carlo, 40000 resamples, 10 clusters"
    alone = interval(passes, 5, name="one_level")
    assert found.width > 2 * alone.width


def test_bad_clusters() -> None:
    with pytest.raises(ValueError, match="at least two different labels"):
        interval([1, 2, 3], 3, name="one_level", clusters=["a"] * 3)
    with pytest.raises(ValueError, match="3 labels"):
        interval([1, 2, 3], 3, name="one_level", clusters=["a", "b"])


# ---- what does not exist ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (([0, 1, 1], 1), "fixed_normal", "needs two runs"),
        (([0, 1, 1], 1), "fixed_t", "needs two runs"),
        (([0, 1, 1], 1), "fixed_bootstrap", "needs two runs"),
        (([0, 5, 5], 5), "fixed_normal", "no problem changed its verdict"),
        (([0, 5, 5], 5), "fixed_bootstrap", "same score"),
        (([5, 5, 5], 5), "one_level", "same score"),
        (([5, 5, 5], 5), "two_level", "same score"),
        (([5, 5, 5], 5), "clustered_normal", "same score"),
        ((mixed_scores(),), "pooled_wilson", "needs pass/fail"),
    ],
)
def test_null_with_a_reason(data, name: str, reason: str) -> None:
    found = interval(*data, name=name, rng=SEED)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert not found.exists
    assert reason in found.method
    assert found.estimand == ESTIMANDS[name]


@given(designs())
@QUIET
def test_no_interval_is_a_point(design) -> None:
    passes, runs = design
    n, smallest = len(passes), 0.1 / (len(passes) * math.lcm(*runs.tolist()))
    for name in ESTIMANDS:
        found = interval(passes, runs, name=name)
        if found.exists:
            # Nothing below a lattice step is a width; rounding leaves 1e-17.
            assert found.width > smallest
            assert found.low <= components(passes, runs).mean + 1e-12
            assert found.high >= components(passes, runs).mean - 1e-12
    assert interval(passes, runs, name="clustered_wilson").exists
    groups = np.arange(n) // 2
    if n > 2:
        for name in ("one_level", "two_level", "clustered_normal"):
            found = interval(passes, runs, name=name, clusters=groups, n_resamples=50, rng=1)
            assert not found.exists or found.width > 1e-9


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("name", ["one_level", "two_level", "clustered_normal", "fixed_bootstrap"])
def test_equal_scores_have_no_interval(name: str, value: float) -> None:
    y = np.full((40, 3), value)
    groups = np.r_[np.arange(20), np.arange(20) % 7]
    for clusters in (None, groups):
        found = interval(y, name=name, clusters=clusters, n_resamples=200, rng=SEED)
        assert not found.exists


@given(designs(equal=True))
@QUIET
def test_mirror(design) -> None:
    """Failures instead of passes: every interval is reflected, up to one step of the lattice."""
    passes, runs = design
    step = 1 / (len(passes) * int(runs[0]))
    for name in ESTIMANDS:
        one, two = interval(passes, runs, name=name), interval(runs - passes, runs, name=name)
        assert one.exists == two.exists
        if one.exists:
            slack = step if name in ("one_level", "two_level", "fixed_bootstrap") else 1e-9
            assert limits(two) == pytest.approx((1 - one.high, 1 - one.low), abs=slack + 1e-12)


@pytest.mark.parametrize("name", ["one_level", "two_level", "fixed_bootstrap"])
def test_many_problems_cost_no_more(name: str) -> None:
    """Problems with equal counts are exchangeable: B draws of classes, whatever N is."""
    passes = np.repeat(QWEN_PLUS, 1000)
    start = time.perf_counter()
    found = interval(passes, 5, name=name, rng=SEED)
    # 10 ms here; two thousand times 99,000 single problems take half a minute.
    assert time.perf_counter() - start < 5
    c = components(passes, 5)
    variance = {
        "one_level": c.spread / 99_000,
        "two_level": (c.spread + 0.8 * c.within / 5) / 99_000,
        "fixed_bootstrap": 0.8 * c.fixed_variance,
    }[name]
    # At this size the law is normal; a width from 2,000 draws has a relative error of 2.7%, and
    # three of them.
    assert found.width == pytest.approx(2 * Z * math.sqrt(variance), rel=0.08)


@pytest.mark.parametrize("n_resamples", [0, -5])
def test_resamples_are_counted(n_resamples: int) -> None:
    with pytest.raises(ValueError, match="n_resamples"):
        interval(mixed_scores(), name="one_level", n_resamples=n_resamples)


@pytest.mark.parametrize("g", [2, 5, 29, 60])
def test_all_pass_in_few_clusters(g: int) -> None:
    """[n/(n+z²), 1] at n = G z²/t² is [G/(G+t²), 1], however many problems a cluster has."""
    stats = pytest.importorskip("scipy.stats")
    t = stats.t.ppf(0.975, g - 1)
    found = interval(np.full(4 * g, 3), 3, name="clustered_wilson", clusters=np.arange(4 * g) % g)
    # Two numerical quantiles of t.
    assert limits(found) == pytest.approx((g / (g + t * t), 1), rel=1e-10)
