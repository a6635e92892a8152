"""Variance components against the definition in fractions, and their identities."""

import math

import numpy as np
import pytest
from hypothesis import given

from repeval.stats import exact
from repeval.stats.components import components, difference_components
from repeval.stats.sample import as_sample
from tests import oracles
from tests.oracles import QUIET, designs
from tests.samples import rows_of

# Floats against exact fractions: a few dozen roundings of numbers near 1.
ROUNDING = {"rel": 1e-12, "abs": 1e-15}


@given(designs())
@QUIET
def test_definition(design) -> None:
    passes, runs = design
    c, exact = components(passes, runs), oracles.components(passes, runs)
    for name, value in exact.items():
        if value is None:
            assert math.isnan(getattr(c, name))
        else:
            assert getattr(c, name) == pytest.approx(float(value), **ROUNDING), name
    assert c.n_problems == len(passes)
    assert c.n_runs == (int(runs[0]) if len(set(runs.tolist())) == 1 else None)
    assert c.runs_range == (min(runs), max(runs))
    assert c.runs_mean == pytest.approx(sum(runs) / len(runs), **ROUNDING)
    assert c.runs_harmonic == pytest.approx(len(runs) / sum(1 / r for r in runs), **ROUNDING)


@given(designs())
@QUIET
def test_counts_and_arrays_agree_exactly(design) -> None:
    passes, runs = design
    # repr: NaN equals itself there.
    assert repr(components(passes, runs)) == repr(components(rows_of(passes, runs)))


@given(designs(min_runs=2))
@QUIET
def test_zero_is_decided_without_rounding(design) -> None:
    """The sign of sigma_b^2 decides whether a ceiling exists, so no 1e-19 may decide it."""
    exact = oracles.components(*design)["between"]
    c = components(*design)
    assert (c.between > 0, c.between < 0) == (exact > 0, exact < 0)
    # 0/0, where nothing varied at all, is no ceiling.
    assert (c.ceiling == math.inf) == (exact <= 0 and c.within > 0)


@pytest.mark.parametrize(("n", "runs"), [(10, 3), (99, 5), (200, 5), (50, 3), (500, 10)])
def test_a_single_failure_leaves_no_between_variance(n: int, runs: int) -> None:
    """One failed run in all: s^2 = 1/(N R^2) = run noise, whatever N and R are."""
    for passes in (np.full(n, runs), np.zeros(n, dtype=int)):
        passes[n // 2] = runs - 1 if passes[0] else 1
        c = components(passes, runs)
        assert c.between == 0
        assert c.ceiling == math.inf


@given(designs(min_runs=2, equal=True))
@QUIET
def test_identities_of_equal_runs(design) -> None:
    passes, runs = design
    c, n, r = components(passes, runs), len(passes), int(runs[0])
    # Unbiased m(1-m): N R-1 in one pool has it plus nothing else (VC section 3).
    unbiased = c.mean * (1 - c.mean) + c.spread / n
    assert c.between + c.within == pytest.approx(unbiased, **ROUNDING)
    if c.between > 1e-9:
        assert c.icc == pytest.approx(1 / c.ceiling, **ROUNDING)
        assert c.max_narrowing == pytest.approx(1 - math.sqrt(c.icc), **ROUNDING)
    if abs(c.between + c.within) > 1e-9:
        # ANOVA ICC from the mean squares.
        ms_between, ms_within = r * c.spread, c.within
        anova = (ms_between - ms_within) / (ms_between + (r - 1) * ms_within)
        assert c.icc == pytest.approx(anova, rel=1e-9, abs=1e-12)
        assert c.design_effect == pytest.approx(1 + (r - 1) * c.icc, **ROUNDING)
    if c.spread > 0:
        assert c.aleatoric_share == pytest.approx(c.within / r / c.spread, **ROUNDING)
        # Exactly 1 where nothing but run noise is left: the root would blow up its rounding.
        left = max(0.0, 1 - c.aleatoric_share) if c.between > 0 or c.within == 0 else 0.0
        assert c.remaining_narrowing == pytest.approx(1 - math.sqrt(left), **ROUNDING)
    assert c.variance == pytest.approx(c.spread / n, **ROUNDING)
    assert c.fixed_variance == pytest.approx(c.within / (n * r), **ROUNDING)


def test_unequal_runs_by_hand() -> None:
    # Rates 1/2, 2/4, 1/1 -> mean 2/3; v = 1/2, 1/3, (5/12); statistics note 1.4.
    c = components([1, 2, 1], [2, 4, 1])
    assert c.mean == pytest.approx(2 / 3, **ROUNDING)
    assert c.within == pytest.approx(5 / 12, **ROUNDING)
    noise = (1 / 4 + 1 / 12 + 5 / 12) / 3
    assert c.run_noise == pytest.approx(noise, **ROUNDING)
    assert c.spread == pytest.approx(1 / 12, **ROUNDING)
    assert c.between == pytest.approx(1 / 12 - noise, **ROUNDING)
    rho = c.icc
    assert c.design_effect == pytest.approx(7 / 3 * (rho + (1 - rho) * 1.75 / 3), **ROUNDING)
    assert c.fixed_variance == pytest.approx(noise / 3, **ROUNDING)


def test_scores_by_loops() -> None:
    y = [[0.2, 0.4, 0.9], [0.5, 0.5], [1.0], [0.0, 0.3, 0.1]]
    table = np.array([row + [np.nan] * (3 - len(row)) for row in y])
    means = [sum(row) / len(row) for row in y]
    v = [
        sum((x - m) ** 2 for x in row) / (len(row) - 1) if len(row) > 1 else None
        for row, m in zip(y, means, strict=True)
    ]
    within = sum(x for x in v if x is not None) / 3
    noise = sum((within if x is None else x) / len(row) for x, row in zip(v, y, strict=True)) / 4
    middle = sum(means) / 4
    spread = sum((m - middle) ** 2 for m in means) / 3
    c = components(table)
    for name, value in {
        "mean": middle, "within": within, "spread": spread, "between": spread - noise
    }.items():  # fmt: skip
        assert getattr(c, name) == pytest.approx(value, **ROUNDING)


def test_one_run_identifies_no_components() -> None:
    c = components([0, 1, 1], 1)
    assert c.mean == pytest.approx(2 / 3, **ROUNDING)
    assert c.spread == pytest.approx(1 / 3, **ROUNDING)
    for name in (
        "within", "between", "icc", "ceiling", "max_narrowing", "remaining_narrowing",
        "aleatoric_share", "design_effect", "run_noise", "fixed_variance",
    ):  # fmt: skip
        assert math.isnan(getattr(c, name)), name


def test_data_without_run_noise() -> None:
    c = components([0, 5, 5, 0], 5)
    assert (c.within, c.icc, c.ceiling, c.max_narrowing) == (0, 1, 1, 0)
    assert (c.aleatoric_share, c.remaining_narrowing, c.design_effect) == (0, 0, 5)


def test_all_pass() -> None:
    c = components([5, 5, 5], 5)
    assert (c.mean, c.within, c.between, c.spread) == (1, 0, 0, 0)
    assert math.isnan(c.icc)
    assert math.isnan(c.aleatoric_share)
    assert math.isnan(c.remaining_narrowing)


# ---- differences --------------------------------------------------------------------------


@given(designs(min_runs=2))
@QUIET
def test_difference_by_definition(design) -> None:
    passes, runs = design
    other = (runs - passes[::-1] % (runs + 1), runs)
    c = difference_components((passes, runs), other)
    a, b = (oracles.components(*x) for x in ((passes, runs), other))
    d = [k / r - j / s for k, r, j, s in zip(passes, runs, *other, strict=True)]
    middle = sum(d) / len(d)
    spread = sum((x - middle) ** 2 for x in d) / (len(d) - 1)
    assert c.mean == pytest.approx(float(a["mean"] - b["mean"]), **ROUNDING)
    assert c.within == pytest.approx(float(a["within"] + b["within"]), **ROUNDING)
    noise = float(a["run_noise"] + b["run_noise"])
    assert c.between == pytest.approx(spread - noise, rel=1e-11, abs=1e-14)
    back = difference_components(other, (passes, runs))
    assert back.mean == pytest.approx(-c.mean, **ROUNDING)
    assert (back.within, back.between) == pytest.approx((c.within, c.between), **ROUNDING)


def test_a_constant_difference_has_no_spread() -> None:
    # 3/5 - 2/5 and 1/5 - 0 differ in the last bit.
    a = np.array([3, 4, 1, 3, 2])
    c = difference_components((a, 5), (a - 1, 5))
    assert c.spread == 0
    assert c.aleatoric_share == math.inf
    assert c.remaining_narrowing == 1
    assert c.ceiling == math.inf


def test_pairs_need_the_same_problems() -> None:
    with pytest.raises(ValueError, match="3 against 2"):
        difference_components(([1, 2, 3], 3), ([1, 2], 3))


@pytest.mark.parametrize("runs", [2, 3])
def test_two_levels_widen_as_the_exact_laws_do(runs: int) -> None:
    sample = as_sample([0, 1, 1, 2, 0, runs, runs - 1, runs, 1], runs)

    def spread(name: str) -> float:
        law = exact.mean_law(sample, name)
        x = (law.start + np.arange(law.pmf.size)) * law.step
        return np.sqrt(law.pmf @ x**2 - (law.pmf @ x) ** 2)

    # The bootstrap's variance is that with N, not N-1, in s²: the share is smaller by (N-1)/N.
    n = len(sample)
    ratio = spread("two_level") / spread("one_level")
    expected = np.sqrt(1 + (ratio**2 - 1) * (n - 1) / n) - 1
    assert components(sample).two_level_inflation == pytest.approx(expected)
