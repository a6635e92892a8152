"""The procedure `paired`: its parts, its dual p-value, coherence, monotonicity, few problems."""

import csv
import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from repeval.stats.comparison import compare, exact_comparisons
from repeval.stats.pairs.decision import expanded_tail, shrunk_p
from repeval.stats.pairs.tango import tango_limits
from repeval.stats.sample import as_sample
from tests import oracles
from tests.oracles import QUIET, SEED, designs
from tests.samples import beta_binomial_data, mixed_pair

LEVELS = (0.8, 0.9, 0.95, 0.99)


def partner(design):
    passes, runs = design
    return runs - passes[::-1] % (runs + 1), runs


def lost(n: int, runs: int, k: int):
    """Two systems that pass everything, but for k problems that the second one loses."""
    return (np.full(n, runs), runs), (np.where(np.arange(n) < k, 0, runs), runs)


# ---- parts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 8, 30, 99, 5000])
def test_the_expanded_level_is_hesterbergs(n: int) -> None:
    for level in LEVELS:
        expected = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf((1 + level) / 2, n - 1))
        assert expanded_tail(n, level) == pytest.approx(expected, rel=1e-9)
        assert float(shrunk_p(expected, n)) == pytest.approx(1 - level, rel=1e-9)


def test_the_law_is_read_at_the_expanded_level() -> None:
    """Every part by hand: fractions for the law, scipy for t; the hull is their union."""
    rng = np.random.default_rng(SEED)
    for n, runs in ((9, 3), (12, 2)):
        a, b = ((beta_binomial_data(rng, m, 0.5, n, runs), np.full(n, runs)) for m in (0.7, 0.4))
        law, total = oracles.pair_law(a, b, "one_level")
        tail = stats.norm.cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1))
        cdf = np.cumsum([x / total for x in law])
        read = [(int((cdf < q).sum()) - n * runs) / (n * runs) for q in (tail, 1 - tail)]
        fixed = compare(a, b, name="paired_fixed").interval
        found = compare(a, b).interval
        assert found.low == pytest.approx(min(read[0], fixed.low), abs=1e-12)
        assert found.high == pytest.approx(max(read[1], fixed.high), abs=1e-12)


def test_one_run_is_tango() -> None:
    rng = np.random.default_rng(SEED)
    for n in (30, 99):
        a, b = rng.random((2, n)) < 0.7
        found = compare((a, 1), (b, 1))
        won, gone = int((a & ~b).sum()), int((b & ~a).sum())
        limits = [float(x) for x in tango_limits(won, gone, n, 0.95)]
        # Square roots of arrays and of single numbers differ in the last bit.
        assert [found.interval.low, found.interval.high] == pytest.approx(limits, abs=1e-14)
        score = (won - gone) / math.sqrt(won + gone)
        assert found.p_value == pytest.approx(2 * stats.norm.sf(abs(score)), rel=1e-12)
        assert found.interval.method == "Tango's score interval"
        assert found.p_greater == compare((a, 1), (b, 1), name="one_level").p_greater


def test_shares_are_those_of_the_one_level_law() -> None:
    pair = mixed_pair()
    labels = np.arange(60) // 3
    for options in (
        {}, {"method": "monte-carlo", "rng": SEED}, {"clusters": labels},
        {"clusters": labels // 2, "rng": SEED},
    ):  # fmt: skip
        one, two = compare(*pair, **options), compare(*pair, name="one_level", **options)
        assert (one.p_greater, one.p_tie) == (two.p_greater, two.p_tie)


def test_clusters_are_students_t_and_run_noise() -> None:
    a, b = mixed_pair()
    labels = np.arange(60) // 7
    plain = compare(a, b, name="clustered_normal", clusters=labels).interval
    fixed = compare(a, b, name="fixed_t").interval
    found = compare(a, b, clusters=labels).interval
    assert found.low == pytest.approx(min(plain.low, fixed.low), rel=1e-12)
    assert found.high == pytest.approx(max(plain.high, fixed.high), rel=1e-12)


def test_clusters_that_agree_are_not_certain() -> None:
    a, b = lost(40, 5, 40)
    found = compare(b, a, clusters=np.arange(40) // 4)
    z = oracles.NORMAL.inv_cdf(0.975)
    # Ten clusters, none like the rest: Tango's interval for none of ten.
    assert found.interval.low == -1
    assert found.interval.high == pytest.approx(-1 + 2 * z * z / (10 + z * z), rel=1e-9)


# ---- the p-value is the dual of the interval ----------------------------------------------------


def excludes_zero(a, b, level, **options) -> bool:
    limits = compare(a, b, level=level, **options).interval
    return limits.low > 0 or limits.high < 0


@given(designs(max_problems=9))
@QUIET
def test_p_value_is_the_level_at_which_zero_leaves(design) -> None:
    other = partner(design)
    p = compare(design, other).p_value
    assert 2.0 ** (1 - len(design[0])) <= p <= 1
    for factor, excluded in ((1 + 1e-6, True), (1 - 1e-6, False)):
        if 1e-8 < p * factor <= 0.5:
            assert excludes_zero(design, other, 1 - p * factor) is excluded


@pytest.mark.parametrize("options", [{"rng": SEED}, {"clusters": np.arange(24) // 3}])
def test_p_value_of_scores_is_the_dual_too(options) -> None:
    rng = np.random.default_rng(SEED)
    for shift in (0.05, 0.15, 0.3):
        a = np.clip(rng.random((24, 2)) + shift, 0, 1)
        b = rng.random((24, 2))
        p = compare(a, b, **options).p_value
        for factor, excluded in ((1 + 1e-6, True), (1 - 1e-6, False)):
            if p * factor <= 0.5:
                assert excludes_zero(a, b, 1 - p * factor, **options) is excluded


@pytest.mark.parametrize("resamples", [100, 2000])
def test_resampling_never_claims_more_than_it_drew(resamples: int) -> None:
    a, b = np.full((40, 1), 0.9), np.linspace(0.1, 0.4, 40)[:, None]
    found = compare(a, b, rng=SEED, n_resamples=resamples)
    assert found.p_value >= 1 / (resamples + 1)
    assert compare(a, b, rng=SEED, n_resamples=resamples, level=0.999999).interval.low == -1


@pytest.mark.parametrize("runs", [1, 5])
def test_few_problems_give_no_verdict(runs: int) -> None:
    for n in range(2, 12):
        found = compare(*lost(n, runs, n))
        assert found.resolved is (None if n < 8 else True)
        assert ("no verdict" in found.interval.method) == (n < 8)
        # All n signs alike: the exact sign-flip test has 2/2^n.
        assert found.p_value >= 2.0 ** (1 - n)
        assert compare(*lost(n, runs, n), name="one_level").resolved is not None


def test_five_problems_that_differ_are_no_proof() -> None:
    """The exact sign test of five has p = 1/16; the law alone would be sure."""
    for k, told in ((4, False), (5, False), (6, True)):
        found = compare(*lost(99, 5, k))
        assert found.resolved is told
        assert found.p_value >= 2.0 ** (1 - k)
    assert compare(*lost(99, 5, 5), name="one_level").resolved


def test_three_problems_by_their_signs() -> None:
    """The exact sign-flip test has p = .25; problems unlike the three ask for a little more."""
    found = compare(([5, 3, 1], 5), ([4, 1, 0], 5))
    # The largest difference is .4: z²/(n + z²) = .4/1.4 where the limit reaches zero.
    unseen = 2 * oracles.NORMAL.cdf(-math.sqrt(3 * 0.4))
    assert found.p_value == pytest.approx(max(0.25, unseen), rel=1e-9)
    # Scores have no such ends: the signs are all that is left.
    rows = np.array([[5, 3, 1], [4, 1, 0]])[:, :, None] / 5.5
    assert compare(*rows, rng=SEED).p_value == pytest.approx(0.25, rel=1e-12)


# ---- coherence ----------------------------------------------------------------------------------


def assert_coherent(a, b) -> None:
    found, fixed = compare(a, b), compare(a, b, name="paired_fixed")
    if fixed.interval.exists and compare(a, b, name="fixed_t").interval.exists:
        assert found.interval.low <= max(-1, fixed.interval.low)
        assert found.interval.high >= min(1, fixed.interval.high)
        assert not (found.resolved and not fixed.resolved)


def test_a_pair_that_was_told_apart_on_new_problems_only() -> None:
    """Statistics review B1: `incoh.csv`, told apart on new problems and not on these."""
    path = oracles.CELLS.parents[2] / "shared/field/statistics/incoh.csv"
    if not path.exists():
        pytest.skip("shared material is not here")
    passes: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            passes[row["model"]][row["problem"]].append(int(row["outcome"]))
    a, b = (np.array([*passes[m].values()], dtype=float) for m in sorted(passes))
    assert compare(a, b, name="one_level").resolved
    assert compare(a, b).resolved is False
    assert_coherent(a, b)


@given(designs())
@QUIET
def test_new_problems_never_tell_apart_what_these_do_not(design) -> None:
    assert_coherent(design, partner(design))


@pytest.mark.parametrize("runs", [2, 5])
@pytest.mark.parametrize("n", [8, 12])
def test_these_problems_are_told_apart_where_nothing_flipped(n: int, runs: int) -> None:
    """No limit is missing, and none contradicts the verdict on new problems."""
    for won in range(n + 1):
        for gone in range(n + 1 - won):
            a = np.repeat([runs, 0, runs], [won, gone, n - won - gone])
            b = np.repeat([0, runs, runs], [won, gone, n - won - gone])
            these = compare((a, runs), (b, runs), name="paired_fixed")
            limits = tango_limits(runs * won, runs * gone, runs * n, 0.95)
            # Square roots of arrays and of single numbers differ in the last bit.
            assert these.interval.low == pytest.approx(float(limits[0]), abs=1e-14)
            assert these.interval.high == pytest.approx(float(limits[1]), abs=1e-14)
            new = compare((a, runs), (b, runs))
            assert not (new.resolved and not these.resolved)
            assert not compare((a, runs), (b, runs), name="fixed_t").interval.exists


def test_these_problems_with_run_noise_are_fixed_t() -> None:
    pair = mixed_pair()
    one, two = (compare(*pair, name=name) for name in ("paired_fixed", "fixed_t"))
    assert (one.interval.low, one.interval.high) == (two.interval.low, two.interval.high)
    assert one.p_value == two.p_value
    # Half of one run in two problems: a standard error over .3 with few degrees of freedom. Of
    # four pairs of runs the coins win (1/2 + 1/2) 2 and lose none.
    few = compare(([1, 2], 2), ([0, 1], 2), name="paired_fixed").interval
    assert [few.low, few.high] == pytest.approx(
        list(map(float, tango_limits(2, 0, 4, 0.95))), abs=1e-12
    )


def repeated_some(repeated: int, seed: int = SEED):
    """Two systems run once on 60 problems, and a second time, with another outcome, on some."""
    rng = np.random.default_rng(seed)
    once = rng.random((2, 60)) < 0.7
    runs = np.where(np.arange(60) < repeated, 2, 1)
    return [(np.where(runs > 1, 1, x), runs) for x in once]


@pytest.mark.parametrize("repeated", [1, 2, 5])
def test_few_repeated_problems_do_not_spoil_a_comparison_of_single_runs(repeated: int) -> None:
    """A few degrees of freedom say less of run noise than that it is noise of coins."""
    for name in ("paired", "paired_fixed"):
        for seed in range(SEED, SEED + 20):
            once = compare(*repeated_some(0, seed)).interval.width
            assert compare(*repeated_some(repeated, seed), name=name).interval.width < 1.25 * once


@pytest.mark.parametrize("p", [0.3, 0.55])
def test_the_bound_of_few_degrees_of_freedom_is_the_dual_of_its_p_value(p: float) -> None:
    pair = repeated_some(3, int(100 * p))
    p_value = compare(*pair, name="paired_fixed").p_value
    for factor, excluded in ((1 + 1e-6, True), (1 - 1e-6, False)):
        level = 1 - p_value * factor
        if level >= 0.5:
            assert excludes_zero(*pair, level, name="paired_fixed") is excluded


def test_nothing_flipped_in_unequal_runs() -> None:
    """A three times, B five: three runs side by side."""
    a, b = np.repeat([1, 0, 1], [6, 1, 13]), np.repeat([0, 1, 1], [6, 1, 13])
    found = compare((3 * a, 3), (5 * b, 5), name="paired_fixed")
    assert [found.interval.low, found.interval.high] == pytest.approx(
        list(map(float, tango_limits(18, 3, 60, 0.95))), abs=1e-12
    )
    assert found.resolved
    # Without limits there is no verdict.
    assert compare((a, 1), (b, 1), name="paired_fixed").resolved is None


def test_run_noise_is_known_from_repeated_problems_alone() -> None:
    """Of 100 problems A repeats 20 and B 10: Welch's df, never more than the repeated ones."""
    rng = np.random.default_rng(SEED)
    runs = [np.where(np.arange(100) < k, 3, 1) for k in (20, 10)]
    pair = [(rng.binomial(r, 0.6), r) for r in runs]
    squared, known = [], []
    for (passes, r), k in zip(pair, (20, 10), strict=True):
        p = passes[:k] / 3
        noise = 3 / 2 * p * (1 - p)
        # A third of it on a repeated problem, all of it on the single ones at the mean.
        terms = noise / 3 + noise * (100 - k) / k
        squared.append(terms.sum() / 100**2)
        known.append(min(k, 2 * k * terms.mean() ** 2 / terms.var(ddof=1)))
        assert len(r) == 100
    total = sum(squared)
    df = total**2 / sum(v * v / f for v, f in zip(squared, known, strict=True))
    found = compare(*pair, name="fixed_t").interval
    assert found.width / 2 == pytest.approx(stats.t.ppf(0.975, df) * math.sqrt(total), rel=1e-9)
    assert df < 30


# ---- one more lost problem ----------------------------------------------------------------------


@pytest.mark.parametrize("runs", [1, 2, 5])
@pytest.mark.parametrize("n", [8, 10, 30, 99])
def test_one_more_lost_problem_never_lowers_the_drop(n: int, runs: int) -> None:
    pairs = [tuple(map(as_sample, lost(n, runs, k))) for k in range(n + 1)]
    found = [x.interval for x in exact_comparisons(pairs, "paired", 0.95)]
    upper = [x.high for x in found]
    assert upper == sorted(upper)
    assert all(-1 <= x.low < x.high <= 1 for x in found)
    # Nothing lost leaves Wilson's limit for none of n.
    z = oracles.NORMAL.inv_cdf(0.975)
    assert upper[0] == pytest.approx(z * z / (n + z * z), rel=1e-9)
    assert found[0].low == pytest.approx(-upper[0], rel=1e-9)


@pytest.mark.parametrize("n", [8, 10, 30])
def test_all_tables_of_single_runs_are_monotone(n: int) -> None:
    """The upper limit rises if a tie is lost, or a won problem tied."""
    won, gone = (x.ravel() for x in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    kept = won + gone <= n
    high = np.full((n + 1, n + 1), np.nan)
    high[won[kept], gone[kept]] = tango_limits(gone[kept], won[kept], n, 0.95)[1]
    more_lost, fewer_won = np.diff(high, axis=1), -np.diff(high, axis=0)
    # Halving ends within the spacing of floats near 1.
    assert np.nanmin(more_lost) > -1e-15
    assert np.nanmin(fewer_won) > -1e-15


def test_one_more_lost_problem_among_noisy_ones() -> None:
    """Ten problems flip and stay as they are; the others are passed by both, and then lost."""
    rng = np.random.default_rng(SEED)
    for runs, n in itertools.product((2, 5), (20, 60)):
        noisy = rng.binomial(runs, 0.6, (2, 10))
        upper = []
        for k in range(n - 10 + 1):
            (a, _), (b, _) = lost(n - 10, runs, k)
            pair = (np.r_[noisy[0], a], runs), (np.r_[noisy[1], b], runs)
            upper.append(compare(*pair).interval.high)
        assert upper == sorted(upper)


def test_one_run_lost_never_lowers_the_drop() -> None:
    """A slate of passes loses run after run: from none to one of five, to a whole problem."""
    upper = []
    for k in range(41):
        b = np.full(8, 5) - np.clip(k - 5 * np.arange(8), 0, 5)
        law = compare((np.full(8, 5), 5), (b, 5)).interval
        fixed = compare((np.full(8, 5), 5), (b, 5), name="fixed_t").interval
        # Run noise of the problem that is being lost comes and goes; the rest must not fall.
        if not (fixed.exists and min(1, fixed.high) == law.high):
            upper.append(law.high)
    assert upper == sorted(upper)
    assert len(upper) > 9


# ---- batches ------------------------------------------------------------------------------------


def test_many_pairs_are_the_pairs_one_by_one() -> None:
    samples = [
        tuple(map(as_sample, mixed_pair(seed=s, n=n))) for s, n in ((1, 30), (2, 40), (3, 30))
    ]
    samples += [tuple(map(as_sample, lost(30, 1, 4))), tuple(map(as_sample, lost(30, 4, 0)))]
    together = exact_comparisons(samples, "paired", 0.95)
    for found, (a, b) in zip(together, samples, strict=True):
        alone = compare(a, b)
        assert found.interval == alone.interval
        # Laws in windows of different length round differently, to 1e-12.
        assert found.p_value == pytest.approx(alone.p_value, rel=1e-6)
