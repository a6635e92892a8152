"""The eight intervals of a score: closed forms by hand, exact laws, boundary cases."""

import math
from fractions import Fraction
from statistics import median

import numpy as np
import pytest
from hypothesis import given

from repeval.stats.components import components
from repeval.stats.exact import mean_law
from repeval.stats.intervals import (
    ESTIMANDS,
    INTERVALS,
    Interval,
    fixed_noise,
    interval,
    wilson,
)
from repeval.stats.sample import as_sample
from tests import oracles
from tests.oracles import QUIET, SEED, clean, designs, passes_of
from tests.samples import mixed_scores, rerun_means, rows_of

Z = oracles.NORMAL.inv_cdf(0.975)
QWEN_PLUS = passes_of([24, 7, 6, 4, 6, 52])
# Closed forms written twice differ by a few roundings.
ROUNDING = {"rel": 1e-12, "abs": 1e-14}
LAWS = ("one_level", "two_level", "fixed_bootstrap")


def limits(found: Interval) -> tuple[float, float]:
    return found.low, found.high


# ---- closed forms ---------------------------------------------------------------------------


def test_pooled_wilson_is_wilson_on_all_runs() -> None:
    found = interval(QWEN_PLUS, 5, name="pooled_wilson")
    assert limits(found) == pytest.approx(wilson(315 / 495, 495, 0.95), **ROUNDING)
    assert found.estimand == "neither"
    # Unequal runs: centre at the mean of the rates, n = sum of the runs (statistics note 1.4).
    unequal = interval([1, 2, 5], [1, 4, 5], name="pooled_wilson")
    assert limits(unequal) == pytest.approx(wilson(2.5 / 3, 10, 0.95), **ROUNDING)


def test_normal_intervals_by_hand() -> None:
    passes, n, r = [0, 1, 3, 5, 5, 2], 6, 5
    p = [k / 5 for k in passes]
    m = sum(p) / n
    s2 = sum((x - m) ** 2 for x in p) / (n - 1)
    av = sum(5 / 4 * x * (1 - x) for x in p) / n
    expected = {
        "clustered_normal": Z * math.sqrt(s2 / n),
        "fixed_normal": Z * math.sqrt(av / (n * r)),
    }
    for name, half in expected.items():
        found = interval(passes, 5, name=name)
        assert limits(found) == pytest.approx((m - half, m + half), **ROUNDING)


def test_fixed_t_by_hand() -> None:
    stats = pytest.importorskip("scipy.stats")
    n, r = len(QWEN_PLUS), 5
    w = [5 / 4 * k / 5 * (1 - k / 5) for k in QWEN_PLUS.tolist()]
    av = sum(w) / n
    s2 = sum((x - av) ** 2 for x in w) / (n - 1)
    # Statistics note 1.8: nu = 2 N AV² / s²(w).
    df = 2 * n * av**2 / s2
    assert df < n
    half = stats.t.ppf(0.975, df) * math.sqrt(av / (n * r))
    found = interval(QWEN_PLUS, 5, name="fixed_t")
    mean = 315 / 495
    assert limits(found) == pytest.approx((mean - half, mean + half), rel=1e-10)
    assert f"{df:.1f} df" in found.method


@given(designs(max_problems=8))
@QUIET
def test_fixed_t_exists_wherever_something_was_repeated(design) -> None:
    """Within [0, 1], and never wider than Wilson's interval of as many coins as there were runs."""
    passes, runs = design
    found = interval(passes, runs, name="fixed_t")
    assert found.exists == (max(runs) > 1)
    if found.exists:
        assert 0 <= found.low < found.high <= 1
        low, high = wilson((passes / runs).mean(), len(runs) / (1 / runs).mean(), 0.95)
        assert found.width <= high - low + 1e-12


def test_fixed_t_of_few_repeated_problems_by_hand() -> None:
    """Twenty of a hundred problems run twice: their noise stands for all, and is known so well."""
    stats = pytest.importorskip("scipy.stats")
    runs = np.r_[np.full(20, 2), np.full(80, 1)]
    for mixed in (6, 20):
        passes = np.r_[np.full(mixed, 1), np.full(20 - mixed, 2), np.arange(80) % 2]
        # v = 2 · 1/4 where mixed; each stands for itself (v/2) and for four single runs (4 v).
        noise = np.r_[np.full(mixed, 0.5), np.zeros(20 - mixed)] * 4.5
        spread = noise.var(ddof=1)
        df = min(20, 2 * 20 * noise.mean() ** 2 / spread) if spread else 20
        half = stats.t.ppf(0.975, df) * math.sqrt(noise.sum()) / 100
        found = interval(passes, runs, name="fixed_t")
        mean = (passes / runs).mean()
        variance, known = fixed_noise(as_sample(passes, runs))
        assert variance == pytest.approx(components(passes, runs).fixed_variance, rel=1e-12)
        assert known == pytest.approx(df, rel=1e-12)
        bound = wilson(mean, 100 / (runs**-1.0).mean(), 0.95)
        expected = (mean - half, mean + half)
        if bound[1] - bound[0] < 2 * half:
            expected = bound
        assert limits(found) == pytest.approx(expected, rel=1e-9)
        assert ("Student" in found.method) is (expected != bound)


def test_fixed_t_where_nothing_flipped_is_wilson_on_all_runs() -> None:
    found = interval([0, 5, 5, 5], 5, name="fixed_t")
    assert limits(found) == pytest.approx(wilson(0.75, 20, 0.95), **ROUNDING)
    assert "upper bound" in found.method
    # Unequal runs: Σ 1/R_i counts, here 4/(1/2 + 1/4 + 1/4 + 1) = 2 runs a problem.
    found = interval([2, 4, 0, 1], [2, 4, 4, 1], name="fixed_t")
    assert limits(found) == pytest.approx(wilson(0.75, 8, 0.95), **ROUNDING)
    # Scores vary less than coins of the same mean.
    scores = np.array([[0.2, 0.2], [0.9, 0.9], [1, 1]])
    found = interval(scores, name="fixed_t")
    assert limits(found) == pytest.approx(wilson(0.7, 6, 0.95), **ROUNDING)
    # Rounding is no noise, and two of forty scores that change are too few to tell.
    for step in (0.0, 1e-17, 0.1):
        scores = np.repeat([[0.3, 0.3]], 40, axis=0)
        scores[:2, 1] += step
        found = interval(scores, name="fixed_t")
        assert limits(found) == pytest.approx(wilson(scores.mean(), 80, 0.95), **ROUNDING)
    scores[:, 1] += np.where(np.arange(40) % 2, 0.1, -0.1)
    assert interval(scores, name="fixed_t").method.startswith("Student's t")
    # Where a bound is narrower than Student's t, there is no need of Student's t.
    found = interval([1, 5, 5, 5, 5, 5, 5, 5, 5, 5], 5, name="fixed_t")
    assert limits(found) == pytest.approx(wilson(0.92, 50, 0.95), **ROUNDING)


def test_clustered_wilson_by_hand() -> None:
    c = components(QWEN_PLUS, 5)
    effective = c.mean * (1 - c.mean) / (c.spread / 99)
    assert 99 < effective < 495
    found = interval(QWEN_PLUS, 5, name="clustered_wilson")
    assert limits(found) == pytest.approx(wilson(c.mean, effective, 0.95), **ROUNDING)


def test_clustered_wilson_is_clamped() -> None:
    # Polarised: mean(1-mean)/(s²/N) falls to N-1; overdispersed beyond that is impossible.
    polarised = interval(np.repeat([0, 5], 20), 5, name="clustered_wilson")
    assert limits(polarised) == pytest.approx(wilson(0.5, 40, 0.95), **ROUNDING)
    # Rates closer together than coins would be: at most all runs.
    even = interval(np.tile([2, 3], 20), 5, name="clustered_wilson")
    assert limits(even) == pytest.approx(wilson(0.5, 200, 0.95), **ROUNDING)


@pytest.mark.parametrize("flip", [False, True])
def test_clustered_wilson_needs_five_of_the_rarer_kind(flip: bool) -> None:
    for rare, by_problem in ((4, True), (5, False)):
        passes = np.r_[np.full(60 - rare, 5), np.full(rare, 4)]
        found = interval(5 - passes if flip else passes, 5, name="clustered_wilson")
        mean = 1 - rare / 300
        low, high = wilson(mean, 60, 0.95)
        low, high = (1 - high, 1 - low) if flip else (low, high)
        assert (limits(found) == pytest.approx((low, high), **ROUNDING)) is by_problem


def test_clustered_wilson_of_scores_by_hand() -> None:
    """Wilson at n = m(1-m)/(s²/N) · (z/t)² with N-1 df, never below N."""
    stats = pytest.importorskip("scipy.stats")
    y = mixed_scores()
    p = np.nanmean(y, axis=1)
    n, m = len(p), p.mean()
    effective = m * (1 - m) * n / p.var(ddof=1) * (Z / stats.t.ppf(0.975, n - 1)) ** 2
    assert effective > n
    found = interval(y, name="clustered_wilson")
    # A numerical quantile of t.
    assert limits(found) == pytest.approx(wilson(m, effective, 0.95), rel=1e-9)
    # Scores at the ends vary as much as pass and fail; nearly equal ones may be very sure.
    ends = interval(np.repeat([[0.001], [1.0]], 20, axis=0), name="clustered_wilson")
    assert limits(ends) == pytest.approx(wilson(0.5005, 40, 0.95), **ROUNDING)
    close = interval(0.5 + 0.001 * np.arange(40.0)[:, None] / 39, name="clustered_wilson")
    assert close.width < 0.0003


@pytest.mark.parametrize("flip", [False, True])
def test_few_scores_that_hold_nearly_all_of_the_rarer_kind(flip: bool) -> None:
    """What was lost is lost on three problems: as many as say nothing about how much varies."""
    y = np.full((40, 1), 0.999)
    y[:3] = 0.2
    y = 1 - y if flip else y
    found = interval(y, name="clustered_wilson")
    assert limits(found) == pytest.approx(wilson(y.mean(), 40, 0.95), **ROUNDING)


@pytest.mark.parametrize("n", [2, 30, 99])
@pytest.mark.parametrize("runs", [1, 5])
def test_all_pass_and_all_fail(n: int, runs: int) -> None:
    """Statistics note 1.7: all pass gives [N/(N+z²), 1]."""
    found = interval(np.full(n, runs), runs, name="clustered_wilson")
    assert limits(found) == pytest.approx((n / (n + Z * Z), 1), **ROUNDING)
    found = interval(np.zeros(n, dtype=int), runs, name="clustered_wilson")
    assert limits(found) == pytest.approx((0, Z * Z / (n + Z * Z)), **ROUNDING)


# ---- laws -----------------------------------------------------------------------------------


@given(designs(max_problems=8))
@QUIET
def test_exact_limits_by_polynomials(design) -> None:
    passes, runs = design
    lattice = math.lcm(*runs.tolist()) * len(runs)
    for name in LAWS:
        found = interval(passes, runs, name=name)
        law = oracles.mean_law(passes, runs, name)
        expected = [oracles.quantile(law, q) for q in (Fraction(1, 40), Fraction(39, 40))]
        if found.exists:
            # Whole numbers of lattice steps.
            assert [x * lattice for x in limits(found)] == pytest.approx(expected, abs=1e-9)
        else:
            assert expected[0] == expected[1] or max(runs) == 1


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    "data",
    [(QWEN_PLUS, 5), (np.arange(60) % 3, np.where(np.arange(60) % 2, 2, 4))],
    ids=["equal runs", "unequal runs"],
)
def test_monte_carlo_agrees_with_the_law(data, name: str) -> None:
    law = mean_law(as_sample(*data), name)
    found = interval(*data, name=name, method="monte-carlo", n_resamples=20_000, rng=SEED)
    # Three standard errors of a share of 2.5% among 20,000; the exact law says which points
    # have such a share.
    error = 3 * math.sqrt(0.025 * 0.975 / 20_000)
    for limit, q in zip(limits(found), (0.025, 0.975), strict=True):
        assert law.quantile(q - error) - 1e-9 <= limit <= law.quantile(q + error) + 1e-9


def test_monte_carlo_of_scores_from_scratch() -> None:
    """Two-level and fixed bootstrap draw single scores with replacement."""
    y, rng = mixed_scores(), np.random.default_rng(7)
    for name in ("two_level", "fixed_bootstrap"):
        index = np.broadcast_to(np.arange(40), (20_000, 40))
        if name == "two_level":
            index = rng.integers(40, size=index.shape)
        draws = rerun_means(y, index, rng).mean(axis=1)
        found = interval(y, name=name, n_resamples=20_000, rng=SEED)
        # Two Monte Carlo samples: three standard errors of the difference of shares.
        error = 3 * math.sqrt(0.025 * 0.975 * 2 / 20_000)
        for limit, q in zip(limits(found), (0.025, 0.975), strict=True):
            assert (draws < limit).mean() == pytest.approx(q, abs=error)


def test_scores_use_the_same_formulas() -> None:
    y = mixed_scores()
    p = np.array([row[~np.isnan(row)].mean() for row in y])
    v = np.array([row[~np.isnan(row)].var(ddof=1) for row in y])
    runs = (~np.isnan(y)).sum(axis=1)
    half = Z * p.std(ddof=1) / math.sqrt(40)
    found = interval(y, name="clustered_normal")
    assert limits(found) == pytest.approx((p.mean() - half, p.mean() + half), **ROUNDING)
    # Statistics note 1.4: variance of the fixed score = Σ v_i/R_i / N².
    half = Z * math.sqrt((v / runs).sum()) / 40
    found = interval(y, name="fixed_normal")
    assert limits(found) == pytest.approx((p.mean() - half, p.mean() + half), **ROUNDING)
    low, high = limits(interval(y, name="one_level", rng=SEED))
    assert low < p.mean() < high


def test_every_interval_is_listed_once_with_words_of_its_own() -> None:
    assert len({kind.label for kind in INTERVALS.values()}) == len(INTERVALS)
    assert set(ESTIMANDS.values()) == {"superpopulation", "fixed", "neither"}
    assert all(f"`{name}`" in interval.__doc__ for name in INTERVALS)


def test_higher_level_is_wider() -> None:
    for name in ESTIMANDS:
        widths = [interval(QWEN_PLUS, 5, name=name, level=x).width for x in (0.5, 0.8, 0.95, 0.99)]
        assert (np.diff(widths) > 0).all()


@pytest.mark.parametrize("level", [0, 0.3, 1, 95, -0.95, math.nan])
def test_bad_levels(level: float) -> None:
    with pytest.raises(ValueError, match="level must lie in"):
        interval([1, 2], 3, name="one_level", level=level)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="unknown interval 'wilson'; one of pooled_wilson"):
        interval([1, 2], 3, name="wilson")
    with pytest.raises(ValueError, match="method must be"):
        interval([1, 2], 3, name="one_level", method="fast")
    with pytest.raises(ValueError, match="no exact law"):
        interval(mixed_scores(), name="one_level", method="exact")
    with pytest.raises(ValueError, match="no exact law"):
        interval([1, 2, 2], 3, name="one_level", method="exact", clusters=[0, 0, 1])
    with pytest.raises(TypeError, match="rng must be"):
        interval(mixed_scores(), name="one_level", rng=np.random.RandomState(1))


def test_large_common_multiple_falls_back_to_monte_carlo() -> None:
    runs = np.arange(1, 41)
    found = interval(runs // 2, runs, name="two_level", rng=SEED)
    assert found.method.startswith("Monte Carlo")
    assert found.low < components(runs // 2, runs).mean < found.high


def test_same_seed_same_bytes() -> None:
    for name in LAWS:
        first, second = (interval(mixed_scores(), name=name, rng=SEED) for _ in range(2))
        assert first == second
        other = interval(mixed_scores(), name=name, rng=SEED + 1)
        assert other != first


# ---- published figures ------------------------------------------------------------------------


def test_published_widths() -> None:
    """reconstruction.md section 3: exact two-level/Wilson, Wilson/fixed, of 14 systems."""
    width = {
        name: [interval(k, 5, name=name).width for k in clean().values()]
        for name in ("two_level", "pooled_wilson", "fixed_normal")
    }
    ratios = [b / a for b, a in zip(width["two_level"], width["pooled_wilson"], strict=True)]
    # Half a unit of the last digit printed there.
    expected = pytest.approx((2.042, 1.911, 2.199), abs=5e-4)
    assert (median(ratios), min(ratios), max(ratios)) == expected
    over_fixed = [a / c for a, c in zip(width["pooled_wilson"], width["fixed_normal"], strict=True)]
    assert median(over_fixed) == pytest.approx(1.964, abs=5e-4)


# ---- one sample, two forms -------------------------------------------------------------------


def test_array_and_counts_give_the_same_interval() -> None:
    y = rows_of(QWEN_PLUS, 5)
    for name in ESTIMANDS:
        assert interval(y, name=name) == interval(QWEN_PLUS, 5, name=name)
