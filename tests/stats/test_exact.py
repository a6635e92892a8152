"""Exact laws of bootstrap means against polynomial powers in whole numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from repeval.stats import exact
from repeval.stats.sample import as_sample
from tests import oracles
from tests.oracles import QUIET, designs, passes_of

# Absolute error of a distribution function promised by the module.
EXACT = 1e-12
NAMES = ("one_level", "two_level", "fixed_bootstrap")


def full(law: exact.Law, size: int) -> np.ndarray:
    """Distribution function on the whole lattice, from a law that may be a window."""
    start = int(law.start)
    pmf = np.zeros(size)
    pmf[start : start + law.pmf.shape[-1]] = law.pmf
    return np.cumsum(pmf)


def assert_same(law: exact.Law, truth: tuple[list[int], int], offset: int = 0) -> None:
    """Compare distribution functions and the quantiles that intervals need."""
    expected = oracles.cdf(truth)
    shifted = exact.Law(law.pmf, law.start + offset, law.step)
    np.testing.assert_allclose(full(shifted, len(expected)), expected, rtol=0, atol=EXACT)
    for q in (Fraction(1, 40), Fraction(39, 40), Fraction(1, 2)):
        point = oracles.quantile(truth, q) - offset
        # One multiplication of a whole number by the step.
        assert float(law.quantile(float(q))) == pytest.approx(point * law.step, rel=1e-14)


DESIGNS = {
    "polarised, N=99, R=5": (passes_of([24, 7, 6, 4, 6, 52]), 5),
    "nearly fixed, N=99, R=5": (passes_of([62, 2, 1, 0, 2, 32]), 5),
    "all mixed, N=200, R=8": (np.arange(200) * 7 % 9, 8),
    "one failure, N=150, R=3": (np.r_[[2], np.full(149, 3)], 3),
    "R=1": (np.arange(60) % 3 // 2, 1),
    "unequal R": (np.arange(40) % 3, np.where(np.arange(40) % 2, 2, 4)),
    "three and five runs": (np.arange(30) * 5 % 4, np.where(np.arange(30) % 3, 3, 5)),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("design", DESIGNS)
def test_mean_laws(design: str, name: str) -> None:
    passes, runs = DESIGNS[design]
    assert_same(exact.mean_law(as_sample(passes, runs), name), oracles.mean_law(passes, runs, name))


@pytest.mark.parametrize("name", ["one_level", "two_level"])
def test_largest_promised_design(name: str) -> None:
    passes = np.arange(200) * 13 % 21
    assert_same(exact.mean_law(as_sample(passes, 20), name), oracles.mean_law(passes, 20, name))


@given(designs())
@QUIET
def test_any_small_design(design) -> None:
    for name in NAMES:
        assert_same(exact.mean_law(as_sample(*design), name), oracles.mean_law(*design, name))


PAIRS = {
    "same runs": ((passes_of([24, 7, 6, 4, 6, 52])[::2], 5), (np.arange(50) * 3 % 6, 5)),
    "unequal runs": (
        (np.arange(24) % 3, np.where(np.arange(24) % 2, 2, 4)), (np.arange(24) * 5 % 4, 3)
    ),
    "one run": ((np.arange(30) % 2, 1), (np.arange(30) % 3 // 2, 1)),
    "identical": ((np.arange(20) % 4, 3), (np.arange(20) % 4, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", ["one_level", "two_level"])
@pytest.mark.parametrize("pair", PAIRS)
def test_difference_laws(pair: str, name: str) -> None:
    a, b = PAIRS[pair]
    law = exact.difference_law([(as_sample(a), as_sample(b))], name)
    expected = oracles.pair_law(a, b, name)
    one = exact.Law(law.pmf[0], law.start[0], law.step)
    zero = (len(expected[0]) - 1) // 2
    assert_same(one, expected, offset=zero)
    assert float(law.below(0)[0]) == pytest.approx(sum(expected[0][:zero]) / expected[1], abs=EXACT)
    assert float(law.at(0)[0]) == pytest.approx(expected[0][zero] / expected[1], abs=EXACT)


def test_a_batch_is_its_pairs_one_by_one() -> None:
    rng = np.random.default_rng(oracles.SEED)
    samples = [as_sample(rng.binomial(5, p, size=60), 5) for p in (0.02, 0.5, 0.9, 0.97)]
    pairs = [(a, b) for a in samples for b in samples]
    for name in ("one_level", "two_level"):
        batch = exact.difference_law(pairs, name)
        for row, pair in enumerate(pairs):
            alone = exact.difference_law([pair], name)
            for point in range(-300, 301, 25):
                # Both within the promised error.
                assert batch.below(point)[row] == pytest.approx(alone.below(point)[0], abs=EXACT)
            assert batch.quantile(0.025)[row] == alone.quantile(0.025)[0]


# ---- the window -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "histogram",
    [
        [3999, 1],
        [3990, 0, 0, 0, 0, 10],
        [999, 0, 0, 1],
        [1, 0, 0, 999],
        [2500, 0, 1000, 500],
        [0, 1, 0, 1999],
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["one_level", "two_level"])
def test_window_against_the_full_transform(histogram: list[int], name: str) -> None:
    """Rare and skewed laws, where a window by standard deviations would lose mass."""
    runs, passes = len(histogram) - 1, passes_of(histogram)
    n, law = len(passes), exact.mean_law(as_sample(passes, runs), name)
    one = np.zeros(runs + 1)
    for k, count in enumerate(histogram):
        one += count / n * np.array([float(x) for x in
                                     oracles.problem_law(k, runs, runs, name)])  # fmt: skip
    size = n * runs + 1
    length = 1 << size.bit_length()
    # Repeated squaring keeps the error of the oracle itself near 1e-13.
    phi = np.fft.rfft(one, length)
    whole = np.fft.irfft(np.exp(n * np.log(phi + (phi == 0) * 1e-300)), length)[:size]
    assert law.pmf.sum() == pytest.approx(1, abs=EXACT)
    np.testing.assert_allclose(full(law, size), np.cumsum(whole), rtol=0, atol=EXACT)


@pytest.mark.parametrize(("n", "k"), [(4000, 1), (20_000, 3), (20_000, 10_000), (9000, 8990)])
def test_one_run_is_the_binomial_law(n: int, k: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    passes = np.r_[np.ones(k, dtype=int), np.zeros(n - k, dtype=int)]
    law = exact.mean_law(as_sample(passes, 1), "one_level")
    start = int(law.start)
    x = start + np.arange(len(law.pmf))
    np.testing.assert_allclose(law.cdf, stats.binom.cdf(x, n, k / n), rtol=0, atol=EXACT)
    for q in (0.025, 0.975):
        assert round(float(law.quantile(q)) * n) == stats.binom.ppf(q, n, k / n)
    # The point of a window: few of the 20,001 lattice points are touched.
    assert len(x) < n / 2 or n < 5000


@pytest.mark.parametrize(
    ("n", "runs", "k"), [(600, 5, 1), (600, 5, 4), (2000, 1, 1), (1000, 20, 1)]
)
def test_a_lone_disagreement_is_binomial(n: int, runs: int, k: int) -> None:
    """A pair that differs on k problems: R/n times Binomial(n, k/n), rare jumps far from normal.

    Both tails lie inside the support, so that a window of a few standard deviations would not be
    cut off at its end, and would lose what Bernstein's linear term keeps.
    """
    stats = pytest.importorskip("scipy.stats")
    better = as_sample(np.r_[np.full(k, runs), np.zeros(n - k, dtype=int)], runs)
    same = as_sample(np.zeros(n, dtype=int), runs)
    law = exact.difference_law([(better, same), (same, better)], "one_level")
    x = law.start[:, None] + np.arange(law.pmf.shape[-1])
    assert x.shape[1] < 2 * n * runs + 1
    up = stats.binom.cdf(np.floor(x[0] / runs), n, k / n)
    down = stats.binom.sf(np.ceil(-x[1] / runs) - 1, n, k / n)
    np.testing.assert_allclose(law.cdf, [up, down], rtol=0, atol=EXACT)


def test_convolution_power_starts_where_it_says() -> None:
    pmf, start = exact.convolution_power(np.array([[0.25, 0.75]]), np.array([3]), -7)
    # (1/4 + 3/4 x)^3 by hand, from 3·(-7) on.
    assert int(start) == -21
    np.testing.assert_allclose(pmf, [1 / 64, 9 / 64, 27 / 64, 27 / 64], rtol=0, atol=EXACT)


# ---- parts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [1, 2, 5, 20, 60])
def test_binomial_table(runs: int) -> None:
    table = exact.binomial_table(runs)
    for k in range(runs + 1):
        expected = [float(x) for x in oracles.binomial(runs, Fraction(k, runs))]
        # 1 - k/R is off by an epsilon of up to R units in the last place, its R-th power by R².
        np.testing.assert_allclose(table[k], expected, rtol=3e-16 * (runs**2 + 4), atol=0)
    assert not table.flags.writeable


def test_binomial_table_at_the_limit_is_finite() -> None:
    table = exact.binomial_table(exact.RUNS_LIMIT)
    assert np.isfinite(table).all()
    # A thousand roundings a power.
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)
    j = np.arange(exact.RUNS_LIMIT + 1)
    np.testing.assert_allclose(table @ j, j, rtol=1e-11)


def test_quantile_rule() -> None:
    """Smallest x with F(x) >= q - 1e-12: a step that rounding leaves short still counts."""
    law = exact.Law(np.array([0.025 - 5e-13, 0.95, 0.025 + 5e-13]), np.array(-1), 0.5)
    assert law.interval(0.95) == (-0.5, 0.0)
    short = exact.Law(np.array([0.025 - 2e-12, 0.95, 0.025 + 2e-12]), np.array(-1), 0.5)
    assert short.interval(0.95) == (0.0, 0.5)
    assert law.quantile(0.0) == -0.5
    assert law.quantile(1.0) == 0.5


def test_quantile_rule_of_a_batch() -> None:
    """The same rule for every law of a batch, as pairs are read."""
    miss = np.array([[5e-13], [2e-12], [-5e-13], [0]])
    laws = exact.Law(np.array([0.025, 0.95, 0.025]) + miss * [-1, 0, 1], np.full(4, -1), 0.5)
    low, high = laws.interval(0.95)
    assert low.tolist() == [-0.5, 0.0, -0.5, -0.5]
    assert high.tolist() == [0.0, 0.5, 0.0, 0.0]
    assert laws.quantile(1.0).tolist() == [0.5] * 4
    # At q - 1e-12 itself the point still counts.
    edge = exact.Law(np.array([[0.025 - 1e-12, 0.975 + 1e-12]]), np.array([-1]), 0.5)
    assert edge.quantile(0.025).tolist() == [-0.5]


def test_below_and_at() -> None:
    law = exact.Law(np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]), np.array([-1, 5]), 0.1)
    assert law.below(0).tolist() == [0.2, 0.0]
    assert law.at(0).tolist() == [0.3, 0.0]
    assert law.at(7).tolist() == [0.0, 0.8]
    assert law.below(100).tolist() == [1.0, 1.0]


def test_what_has_an_exact_law() -> None:
    assert exact.is_exact(as_sample([1, 2], 3))
    assert not exact.is_exact(as_sample([[0.5, 1], [0, 0.2]]))
    # Ten million problems fit their window; unequal runs with a large multiple do not.
    assert exact.window(5, 10**7, 10**7 * 25 / 4) <= exact.POINT_LIMIT
    runs = np.resize(np.arange(1, 11), 4000)
    assert exact.is_exact(as_sample(np.zeros(100, dtype=int), runs[:100]))
    assert not exact.is_exact(as_sample(np.zeros(4000, dtype=int), runs))
    # Runs 1..40 on 40 problems: their common multiple has sixteen digits.
    huge = as_sample(np.zeros(40, dtype=int), np.arange(1, 41))
    assert huge.lattice == math.lcm(*range(1, 41))
    assert not exact.is_exact(huge)
    assert not exact.is_exact(as_sample([0, 1], exact.RUNS_LIMIT + 1))
    # A difference has twice the span and, being one of many, half the limit.
    a, b = (as_sample(np.zeros(3000, dtype=int), r) for r in (9, 140))
    assert exact.is_exact(a)
    assert exact.is_exact(b)
    assert not exact.is_exact(a, b)
