"""Likelihood limits of the ICC: scipy's law, brute force, boundaries, scores and clusters."""

import math

import numpy as np
import pytest
from hypothesis import given
from scipy import special, stats

from repeval.stats import profile
from repeval.stats.ceiling import ceiling_interval, ceiling_intervals
from repeval.stats.components import components, difference_components
from repeval.stats.intervals import NEEDS_RUNS, NO_FLIP
from repeval.stats.noise_share import (
    NoiseShare,
    difference_profile_limits,
    noise_share,
    share_iccs,
    share_limits,
)
from repeval.stats.profile import (
    BetaBinomialLikelihood,
    icc_limits,
    narrowing_limits,
    profile_limits,
)
from repeval.stats.sample import as_sample, from_counts
from tests.oracles import QUIET, designs, passes_of
from tests.samples import SEED, beta_binomial_data, mixed_scores, unequal_runs

QWEN_PLUS = passes_of([24, 7, 6, 4, 6, 52])
# Half the 95% quantile of chi-square with one degree of freedom.
DROP = stats.chi2.ppf(0.95, 1) / 2
UNEVEN = ([1, 0, 3, 2, 0, 5, 1, 4], [1, 1, 3, 2, 4, 5, 2, 7])


def at(likelihood: BetaBinomialLikelihood, mean: float, rho: float) -> float:
    return float(likelihood.log(np.array([mean]), special.logit([rho]))[0])


# ---- the beta-binomial likelihood -------------------------------------------------------------


@pytest.mark.parametrize("data", [(QWEN_PLUS, 5), UNEVEN], ids=["equal", "unequal"])
@pytest.mark.parametrize("rho", [1e-6, 0.02, 0.4, 0.97])
@pytest.mark.parametrize("mean", [0.03, 0.5, 0.9])
def test_likelihood_is_that_of_the_beta_binomial_law(data, mean: float, rho: float) -> None:
    sample = as_sample(*data)
    a, b = mean * (1 / rho - 1), (1 - mean) * (1 / rho - 1)
    law = stats.betabinom.logpmf(sample.passes, sample.runs, a, b).sum()
    orders = np.log(special.comb(sample.runs, sample.passes)).sum()
    # scipy's log-gammas lose the digits of α+β = 10^6 that the products here keep.
    assert at(BetaBinomialLikelihood.of(sample), mean, rho) == pytest.approx(law - orders, rel=1e-8)


def test_likelihood_on_its_boundaries() -> None:
    sample = as_sample(*UNEVEN)
    likelihood = BetaBinomialLikelihood.of(sample)
    binomial = stats.binom.logpmf(sample.passes, sample.runs, 0.4).sum()
    orders = np.log(special.comb(sample.runs, sample.passes)).sum()
    # Sums of a dozen logarithms.
    assert at(likelihood, 0.4, 0) == pytest.approx(binomial - orders, rel=1e-13)
    assert at(likelihood, 0.4, 1) == -math.inf
    never_mixed = BetaBinomialLikelihood.of(from_counts([5, 0, 5], 5))
    assert at(never_mixed, 0.4, 1) == pytest.approx(2 * math.log(0.4) + math.log(0.6), rel=1e-13)


@pytest.mark.parametrize("rho", [0.05, 0.5, 0.9])
def test_slopes_are_those_of_the_likelihood(rho: float) -> None:
    likelihood = BetaBinomialLikelihood.of(as_sample(*UNEVEN))
    logit = special.logit([rho])
    mean = likelihood.best_mean(logit)
    steps = np.array([-1e-5, 1e-5])
    by_logit = likelihood.profile(logit + steps)
    # Central differences: h² and rounding over h, both about 1e-10.
    slope = np.diff(by_logit)[0] / 2e-5
    assert likelihood.profile_slope(logit)[0] == pytest.approx(slope, abs=1e-8)
    around = likelihood.log(mean + np.array([-1e-4, 0, 1e-4]), np.repeat(logit, 3))
    assert around.argmax() == 1


def brute(passes, runs, level: float = 0.95) -> tuple[float, float, float]:
    """Limits on a fine grid of ρ and, for each, of m; and the width of a step of ρ."""
    sample = as_sample(passes, runs)
    rho, mean = np.linspace(0, 1, 401), np.linspace(0.0005, 0.9995, 1000)
    kinds, times = np.unique([sample.passes, sample.runs], axis=1, return_counts=True)
    logs = np.zeros((len(rho), len(mean)))
    with np.errstate(divide="ignore", invalid="ignore"):
        for (k, r), n in zip(kinds.T, times, strict=True):
            j = np.arange(r)
            base, step = mean * (1 - rho[:, None]), rho[:, None]
            other = (1 - mean) * (1 - rho[:, None])
            logs += n * sum(np.log(base + i * step) for i in range(k))
            logs += n * sum(np.log(other + i * step) for i in range(r - k))
            logs -= n * np.log(1 - rho + j[:, None] * rho).sum(axis=0)[:, None]
    logs[-1] = -np.inf if ((kinds[0] > 0) & (kinds[0] < kinds[1])).any() else (
        np.nanmax(logs[-2])
    )  # fmt: skip
    best = logs.max(axis=1)
    drop = stats.chi2.ppf(level, 1) / 2
    # Half a mixed problem more for the lower limit.
    with np.errstate(divide="ignore"):
        more = best + np.log(1 - rho) / 2
    return rho[more >= more.max() - drop][0], rho[best >= best.max() - drop][-1], rho[1]


@pytest.mark.parametrize(
    ("passes", "runs"),
    [(QWEN_PLUS, 5), UNEVEN, ([0, 1, 2, 2], 2), ([5, 5, 5, 5, 4, 0], 5), ([0, 3], 3), ([1, 2], 3),
     ([2, 3] * 10, 5), ([0, 5, 5, 0, 5, 5, 0, 5, 5, 0], 5)],
    ids=str,
)  # fmt: skip
def test_limits_by_brute_force(passes, runs) -> None:
    low, high, step = brute(passes, runs)
    found = icc_limits(as_sample(passes, runs))
    # The grid ends at most one step inside; its means are .001 apart, a second-order loss.
    assert found == pytest.approx((low, high), abs=1.05 * step)
    assert (found[0] == 0) == (low == 0)
    assert (found[1] == 1) == (high == 1)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("runs", [2, 5, 40])
def test_the_likelihood_falls_by_the_quantile_at_each_limit(level: float, runs: int) -> None:
    rng = np.random.default_rng([SEED, runs])
    sample = from_counts(beta_binomial_data(rng, 0.6, 0.4, 200, runs), runs)
    likelihood = BetaBinomialLikelihood.of(sample)
    logits = np.linspace(-6, 6, 12001)
    plain = likelihood.profile(logits)
    more = plain + np.log(special.expit(-logits)) / 2
    low, high = special.logit(icc_limits(sample, level))
    fall = [
        more.max() - likelihood.profile(low) - np.log(special.expit(-low)) / 2,
        plain.max() - likelihood.profile(high),
    ]
    # The grid misses the peak by h²/8 of a curvature of at most N/2.
    assert fall == pytest.approx([stats.chi2.ppf(level, 1) / 2] * 2, abs=2e-5)


@given(designs(max_problems=6, min_runs=2))
@QUIET
def test_limits_hold_the_estimate_and_grow_with_the_level(design) -> None:
    sample = as_sample(*design)
    likelihood = BetaBinomialLikelihood.of(sample)
    best = special.expit(profile.LOGITS[likelihood.profile(profile.LOGITS).argmax()])
    last = (1.0, 0.0)
    for level in (0.8, 0.95, 0.99):
        low, high = icc_limits(sample, level)
        assert 0 <= low <= high <= 1
        assert low <= best <= high or np.isclose(best, (low, high), atol=0.1).any()
        assert low <= last[0] + 1e-9
        assert high >= last[1] - 1e-9
        last = low, high
    mirrored = icc_limits(from_counts(sample.runs - sample.passes, sample.runs))
    # Each root stops within 1e-8.
    assert mirrored == pytest.approx(icc_limits(sample), abs=1e-7)


def test_many_problems_like_few() -> None:
    """A hundred times the problems: the same peak, a tenth of the width, no more time."""
    few, many = (icc_limits(from_counts(np.tile(QWEN_PLUS, times), 5)) for times in (1, 100))
    # The profile is nearly a parabola so close to its peak: skewness counts for a few per cent.
    assert (many[1] - many[0]) / (few[1] - few[0]) == pytest.approx(0.1, rel=0.05)
    assert few[0] < many[0] < many[1] < few[1]


def test_single_runs_inform_the_mean_alone() -> None:
    passes, runs = np.array([3, 0, 1, 2, 3]), np.full(5, 3)
    alone = icc_limits(from_counts(passes, runs))
    likelihood = BetaBinomialLikelihood.of(from_counts(np.r_[passes, 1, 0], np.r_[runs, 1, 1]))
    plain = BetaBinomialLikelihood.of(from_counts(passes, runs))
    for mean, rho in ((0.3, 0.2), (0.8, 0.9)):
        extra = at(likelihood, mean, rho) - at(plain, mean, rho)
        assert extra == pytest.approx(math.log(mean) + math.log(1 - mean), rel=1e-12)
    # Thirty failures more make another mean, and so another ρ.
    with_singles = icc_limits(from_counts(np.r_[passes, [0] * 30], np.r_[runs, [1] * 30]))
    assert with_singles != pytest.approx(alone, abs=1e-3)


# ---- the interval -----------------------------------------------------------------------------


def test_ceiling_is_the_reciprocal() -> None:
    passes = np.minimum(QWEN_PLUS, 2)
    found = ceiling_interval(passes, 2)
    low, high = icc_limits(from_counts(passes, 2))
    assert (found.icc_low, found.icc_high) == (low, high)
    assert (found.low, found.high) == (1 / high, 1 / low)
    assert (found.kind, found.method) == ("profile", "beta-binomial likelihood")
    assert math.isnan(found.undefined)
    assert found.low < components(passes, 2).ceiling < found.high
    together = ceiling_intervals(QWEN_PLUS, 5, kinds=("bca", "profile", "percentile"))
    assert [t.kind for t in together] == ["bca", "profile", "percentile"]
    assert (together[1].low, together[1].high) == tuple(
        1 / limit for limit in profile_limits(from_counts(QWEN_PLUS, 5))[1::-1]
    )
    assert repr(together[2]) == repr(ceiling_interval(QWEN_PLUS, 5, kind="percentile"))


def test_a_law_of_any_shape() -> None:
    """Two kinds of problems, 4,000 in all: no Beta law, and its likelihood misses the estimate."""
    rng = np.random.default_rng(SEED)
    passes = rng.binomial(5, np.repeat([0.07, 0.93], 2000))
    sample = from_counts(passes, 5)
    assert icc_limits(sample)[1] < components(sample).icc
    found = ceiling_interval(sample)
    assert found.method == "beta-binomial and two-level likelihoods"
    assert found.low < components(sample).ceiling < found.high
    # One mixed problem too few, or two runs: any shape fits.
    assert ceiling_interval([5, 0, 5, 0, 5, 0, 1, 2, 3, 4], 5).method == "beta-binomial likelihood"
    assert ceiling_interval(np.minimum(passes, 2), 2).method == "beta-binomial likelihood"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("passes", "runs", "low", "high"),
    [
        ([5, 5, 5], 5, 1, math.inf),
        ([0, 0], 2, 1, math.inf),
        ([0, 1], 2, None, math.inf),
        ([1, 1], 2, None, math.inf),
        ([0, 5, 5], 5, 1, None),
        ([1, 0, 1, 2], [1, 1, 1, 2], 1, math.inf),
        ([2, 3] * 20, 5, None, math.inf),
    ],
    ids=str,
)
def test_always_defined(passes, runs, low, high) -> None:
    """All pass, two problems, no run noise, one repeated problem, no difficulty spread."""
    found = ceiling_interval(passes, runs)
    assert 1 <= found.low < found.high
    assert low is None or found.low == low
    assert found.high == high if high else found.high < math.inf


def test_mostly_single_runs() -> None:
    """Ten of sixty problems repeated: as sure as those ten make it, and the same every time."""
    rng = np.random.default_rng(SEED)
    runs = np.repeat([3, 1], [10, 50])
    passes = rng.binomial(runs, rng.beta(0.8, 0.6, 60))
    few = passes[:10], runs[:10]
    found, alone = ceiling_interval(passes, runs), ceiling_interval(*few)
    assert repr(found) == repr(ceiling_interval(passes, runs, rng=1))
    assert 1 < found.low < components(passes, runs).ceiling < found.high
    # The fifty say where the mean is, which is all that the ten lack: some of the width.
    assert 0.5 < (found.icc_high - found.icc_low) / (alone.icc_high - alone.icc_low) < 1.5


def test_one_run_has_none() -> None:
    found = ceiling_interval([0, 1, 1], 1)
    assert math.isnan(found.low)
    assert found.method == NEEDS_RUNS


# ---- scores, clusters and differences -----------------------------------------------------------


def test_two_variances_by_brute_force() -> None:
    """The likelihood of two mean squares, maximised over their size on a grid."""
    s, n, q = 9.0, 20.0, 0.3
    found = share_limits([NoiseShare(q, 5, s, n)])[0]
    size = np.exp(np.linspace(-4, 4, 2001))
    shares = np.exp(np.linspace(-5, 0, 1501))[:, None]
    logs = stats.gamma.logpdf(1, s / 2, scale=2 * size / s)
    logs = (logs + stats.gamma.logpdf(q, n / 2, scale=2 * size * shares / n)).max(axis=1)
    inside = shares[logs >= logs.max() - DROP, 0]
    # One step of the grid is 1/300 in ln q.
    assert found == pytest.approx((inside[0], inside[-1]), rel=1 / 290)


def test_no_difference_between_problems() -> None:
    """With q̂ infinite the log-likelihood is ν_s/2 · ln q: it falls by the quantile at once."""
    for share in (math.inf, 1e15):
        low, high = share_limits([NoiseShare(share, 5, 9, 20)])[0]
        # q̂ is read as 1e12.
        assert low == pytest.approx(math.exp(-2 * DROP / 9), rel=1e-9)
        assert high == 1
    icc = share_iccs([NoiseShare(math.inf, 5, 9, 20)])[0]
    assert icc[0] == 0
    assert icc[1] == pytest.approx((1 - low) / (1 - low + 5 * low), rel=1e-9)
    assert share_iccs([]).shape == (0, 2)


def test_share_is_that_of_the_components() -> None:
    y = np.where(np.arange(40)[:, None] % 4 + np.arange(5) < 6, unequal_runs(), np.nan)
    for outcomes in (mixed_scores(), unequal_runs(), y):
        sample, c = as_sample(outcomes), components(outcomes)
        found = noise_share(sample.rate, [sample])
        # Quotients of the same sums in another order.
        assert found.share == pytest.approx(c.aleatoric_share, rel=1e-12)
        assert found.runs == pytest.approx(c.within / c.run_noise, rel=1e-12)
        assert 1 <= found.df_spread <= len(sample) - 1
        assert 1 <= found.df_noise <= (sample.runs - 1).sum()
    pair = as_sample(unequal_runs()), from_counts(np.resize([0, 1, 2, 3, 4], 40), 4)
    c = difference_components(*pair)
    found = noise_share(pair[0].rate - pair[1].rate, pair)
    assert found.share == pytest.approx(c.aleatoric_share, rel=1e-12)
    assert found.runs == pytest.approx(c.within / c.run_noise, rel=1e-12)


def test_scores() -> None:
    y, c = mixed_scores(), components(mixed_scores())
    found = ceiling_interval(y)
    assert found.method == "normal two-level likelihood"
    assert 1 < found.low < c.ceiling < found.high
    assert ceiling_interval(np.full((4, 3), 0.5)).method == "nothing varied"
    steady = ceiling_interval(np.repeat([[0.2], [0.4], [0.9]], 3, axis=1))
    assert math.isnan(steady.low)
    assert steady.method == NO_FLIP


def test_clusters_are_the_units() -> None:
    """Copies of ten problems as clusters say what the ten problems say."""
    rng = np.random.default_rng(SEED)
    passes = np.repeat(beta_binomial_data(rng, 0.6, 0.5, 12, 4), 5)
    labels = np.repeat(np.arange(12), 5)
    found = ceiling_interval(passes, 4, clusters=labels)
    assert found.method == "normal two-level likelihood, 12 clusters"
    plain = noise_share(passes / 4, [from_counts(passes, 4)])
    clustered = noise_share(passes / 4, [from_counts(passes, 4)], labels)
    # Five times the variance of the mean, but for (N-1)/N against (G-1)/G.
    ratio = plain.share / clustered.share
    assert ratio == pytest.approx(5 * (12 / 11) * (59 / 60), rel=1e-12)
    assert clustered.df_spread <= 11
    assert clustered.df_noise < plain.df_noise
    assert found.high < ceiling_interval(passes, 4).high
    # Run noise seen in a single cluster is a single comparison.
    runs = np.where(labels == 0, 4, 1)
    single = from_counts(np.where(labels == 0, [1, 2, 3, 2, 1] * 12, passes > 1), runs)
    one = noise_share(single.rate, [single], labels)
    assert one.df_noise < 3
    assert ceiling_interval(single, clusters=labels).low >= 1


def test_differences() -> None:
    rng = np.random.default_rng(SEED)
    p = rng.beta(0.8, 0.6, size=60)
    a, b, single = (from_counts(rng.binomial(r, p), r) for r in (3, 5, 1))
    steady = from_counts(np.where(p > 0.5, 3, 0), 3)
    found = difference_profile_limits([(a, b), (a, single), (steady, steady), (b, a)])
    low, high = found[0]
    assert 1 < low < difference_components(a, b).ceiling < high
    assert found[3] == pytest.approx((low, high), rel=1e-9)
    assert np.isnan(found[1:3]).all()
    labels = np.arange(60) // 4
    clustered = difference_profile_limits([(a, b)], clusters=labels)[0]
    assert clustered != pytest.approx((low, high), rel=1e-3)
    assert difference_profile_limits([]) == []


# ---- what more runs buy ---------------------------------------------------------------------


def test_narrowing_falls_with_the_icc() -> None:
    c = components(QWEN_PLUS, 5)
    for runs, expected in ((1, c.max_narrowing), (5, c.remaining_narrowing)):
        # Read at the estimate itself: the same quotient in another order.
        assert narrowing_limits(c.icc, c.icc, runs) == pytest.approx([expected] * 2, rel=1e-12)
        low, high = narrowing_limits(*icc_limits(from_counts(QWEN_PLUS, 5)), runs)
        assert 0 < low < expected < high < 1
    assert narrowing_limits(0, 1, 5) == (0, 1)
    assert narrowing_limits(-0.2, 1, 5) == (0, 1)
    assert np.isnan(narrowing_limits(math.nan, math.nan, 5)).all()


def test_parts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = from_counts([3, 40, 17, 0, 25], [40, 40, 31, 7, 40])
    whole = profile_limits(sample)
    monkeypatch.setattr("repeval.stats.profile.PART", 100)
    assert profile_limits(sample) == whole
