"""Run noise alone: scores measured again, problems that score lower, problems that separate."""

import itertools
import math

import numpy as np
import pytest

from repeval.stats.components import components
from repeval.stats.intervals import interval
from repeval.stats.pairs.reruns import chance_flips, rerun_interval, separated
from repeval.stats.sample import as_sample
from tests.samples import SEED, beta_binomial_data, mixed_scores


def beta_rates(rng, mean: float, rho: float, n: int):
    total = 1 / rho - 1
    return rng.beta(mean * total, (1 - mean) * total, size=n)


# ---- the same score again -----------------------------------------------------------------------


def test_root_two_as_wide() -> None:
    rng = np.random.default_rng(SEED)
    passes = beta_binomial_data(rng, 0.6, 0.5, 200, 4)
    again, endless = rerun_interval(passes, 4), interval(passes, 4, name="fixed_t")
    stats = pytest.importorskip("scipy.stats")
    # Degrees of freedom end at the number of problems, which is a permille of the width.
    assert again.width / endless.width == pytest.approx(math.sqrt(2), rel=3e-3)
    c = components(passes, 4)
    half = stats.t.ppf(0.975, 200) * math.sqrt(2 * c.within / 800)
    assert again.width / 2 == pytest.approx(half, rel=1e-9)
    scores = rerun_interval(mixed_scores())
    assert 0 <= scores.low < np.nanmean(mixed_scores(), axis=1).mean() < scores.high <= 1


def test_nothing_flipped() -> None:
    """The limits are those second scores that the score test of two equal rates allows."""
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for passes in ([3] * 20, [3] * 15 + [0] * 5):
        found = rerun_interval(passes, 3)
        x = sum(passes)
        for limit in {found.low, found.high} - {0.0, 1.0}:
            z, _ = proportion.proportions_ztest([x, 60 * limit], [60, 60])
            assert abs(z) == pytest.approx(1.959964, abs=1e-6)
    assert rerun_interval([3] * 20, 3).high == 1
    assert not rerun_interval([1, 0, 1], 1).exists


def _rerun_coverage(mean: float, rho: float, n: int, runs: int, sets: int):
    rng = np.random.default_rng([SEED, round(100 * mean), round(100 * rho), n, runs])
    again = endless = 0
    for _ in range(sets):
        p = beta_rates(rng, mean, rho, n)
        first, second = rng.binomial(runs, p), rng.binomial(runs, p).sum() / (n * runs)
        found = rerun_interval(first, runs)
        assert 0 <= found.low <= found.high <= 1
        # The second score is a fraction of whole numbers, the limits are not.
        again += found.low - 1e-9 <= second <= found.high + 1e-9
        plain = interval(first, runs, name="fixed_t")
        endless += plain.low <= second <= plain.high
    return again / sets, endless / sets


def test_a_rerun_falls_inside() -> None:
    again, endless = _rerun_coverage(0.6, 0.3, 99, 5, 400)
    # Two standard errors of 400 sets.
    assert again >= 0.94 - 0.022
    # 2Φ(1.96/√2) - 1, about the 84 to 85 % of statistics review 3; three standard errors.
    assert endless == pytest.approx(0.834, abs=0.056)
    again, _ = _rerun_coverage(0.97, 0.74, 30, 2, 400)
    assert again >= 0.94 - 0.022


@pytest.mark.full
@pytest.mark.parametrize("mean", [0.5, 0.8, 0.97])
@pytest.mark.parametrize("rho", [0.1, 0.6, 0.74, 0.95])
@pytest.mark.parametrize(("n", "runs"), [(30, 2), (99, 2), (99, 5)])
def test_a_rerun_falls_inside_in_full(mean: float, rho: float, n: int, runs: int) -> None:
    # Two standard errors of 4,000 sets.
    assert _rerun_coverage(mean, rho, n, runs, 4000)[0] >= 0.94 - 0.0075


# ---- problems that score lower ------------------------------------------------------------------


def by_permutation(passes_a: int, runs_a: int, passes_b: int, runs_b: int):
    """Every choice of A's runs among all runs, one as likely as another."""
    y = [1] * (passes_a + passes_b) + [0] * (runs_a + runs_b - passes_a - passes_b)
    signs = []
    for chosen in itertools.combinations(range(len(y)), runs_a):
        k = sum(y[i] for i in chosen)
        signs.append(np.sign(k * runs_b - (sum(y) - k) * runs_a))
    return np.mean(np.array(signs) > 0), np.mean(np.array(signs) < 0)


def test_chance_flips_by_permutation() -> None:
    problems = [(3, 3, 1, 4), (0, 2, 1, 4), (2, 3, 2, 4), (1, 1, 0, 1), (2, 2, 5, 5), (3, 3, 1, 4)]
    a, b = ((np.array(x), np.array(r)) for x, r in
            (([p[0] for p in problems], [p[1] for p in problems]),
             ([p[2] for p in problems], [p[3] for p in problems])))  # fmt: skip
    expected = np.sum([by_permutation(*p) for p in problems], axis=0)
    found = chance_flips(a, b)
    # Gamma functions of small numbers.
    assert (found.lower, found.higher) == pytest.approx(tuple(expected), rel=1e-12)
    assert math.isnan(chance_flips(mixed_scores(), mixed_scores()).lower)


def test_two_identical_systems_flip_as_often_as_expected() -> None:
    rng = np.random.default_rng(SEED)
    excess = []
    for _ in range(500):
        p = rng.choice([0.0, 0.2, 0.9, 1.0], size=80)
        a, b = rng.binomial(2, p), rng.binomial(5, p)
        found = chance_flips((a, 2), (b, 5))
        excess.append(((b / 5 < a / 2).sum() - found.lower, (b / 5 > a / 2).sum() - found.higher))
    # Three standard errors.
    assert (np.abs(np.mean(excess, axis=0)) < 3 * np.std(excess, axis=0) / math.sqrt(500)).all()


def test_tasks(shared) -> None:
    """Two identical systems of which one "scored lower" on 72 problems, the other on 62."""
    pd = pytest.importorskip("pandas")
    d = pd.read_csv(shared / "field/statistics/tasks.csv")
    table = d.pivot_table(index="problem", columns="model", values="outcome", aggfunc="sum")
    a, b = ((table[m].to_numpy(int), 2) for m in "AB")
    found = chance_flips(a, b)
    assert ((a[0] > b[0]).sum(), (a[0] < b[0]).sum()) == (72, 62)
    assert found.lower == pytest.approx(found.higher, rel=1e-12)  # equal runs
    assert found.lower == pytest.approx(65.33, abs=0.005)
    named = separated(a, b)
    assert not (named.a_better | named.b_better).any()


# ---- problems that separate ---------------------------------------------------------------------


def test_p_values_are_fishers() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(SEED)
    runs = rng.integers(1, 12, size=(2, 60))
    a, b = rng.binomial(runs, rng.random((2, 60)))
    p = separated((a, runs[0]), (b, runs[1])).p_value
    for i in range(60):
        table = [[a[i], runs[0][i] - a[i]], [b[i], runs[1][i] - b[i]]]
        assert p[i] == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)


def test_few_runs_separate_nothing_and_five_separate_everything() -> None:
    found = separated(([3] * 10, 3), ([0] * 10, 3))
    assert found.p_value == pytest.approx(0.1, rel=1e-12)
    assert not found.a_better.any()
    # Nine problems that nobody fails cannot separate, and cost the tenth nothing.
    found = separated(([5] * 10, 5), ([5] * 9 + [0], 5))
    assert np.flatnonzero(found.a_better).tolist() == [9]
    assert found.by_chance == pytest.approx(2 / 252, rel=1e-9)
    assert not found.b_better.any()
    # At most 1 - level of the named is there by chance.
    assert not separated(([5] * 10, 5), ([5] * 9 + [0], 5), level=0.995).a_better.any()
    with pytest.raises(ValueError, match="pass/fail"):
        separated(mixed_scores(), mixed_scores())


def _false_names(rho: float, runs: int, lost: int, sets: int) -> float:
    """Share of false names among all, zero where there is none."""
    rng = np.random.default_rng([SEED, round(100 * rho), runs, lost])
    shares = []
    for _ in range(sets):
        p = beta_rates(rng, 0.8, rho, 99)
        q = p.copy()
        p[:lost], q[:lost] = 1, 0
        found = separated(*(as_sample(rng.binomial(runs, x), runs) for x in (p, q)))
        named = found.a_better | found.b_better
        shares.append(named[lost:].sum() / max(1, named.sum()))
    return float(np.mean(shares))


@pytest.mark.parametrize(("rho", "runs", "lost"), [(0.7, 5, 0), (0.5, 10, 8)])
def test_false_names_are_rare(rho: float, runs: int, lost: int) -> None:
    # Two standard errors of 300 sets at 5 %.
    assert _false_names(rho, runs, lost, 300) <= 0.05 + 0.025


@pytest.mark.full
@pytest.mark.parametrize("rho", [0.3, 0.7])
@pytest.mark.parametrize("runs", [5, 10, 20])
@pytest.mark.parametrize("lost", [0, 8])
def test_false_names_are_rare_in_full(rho: float, runs: int, lost: int) -> None:
    # Two standard errors of 4,000 sets at 5 %.
    assert _false_names(rho, runs, lost, 4000) <= 0.05 + 0.007
