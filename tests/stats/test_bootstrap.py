"""The five strategies: their laws, their intervals, and scipy's bootstrap as a second opinion."""

import dataclasses
import itertools
import time

import numpy as np
import pytest
from scipy import integrate, stats

from repeval import accuracy, bootstrap, cohen_kappa
from repeval.stats.bootstrap import STRATEGIES, bca_levels, modes, percentile_width
from tests.samples import SEED

WORDS = np.array(["cat", "dog", "owl"])


def labelled(n=60, k=3, seed=SEED):
    """Labels of a system that finds some inputs harder than others."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n)
    right = rng.random((n, k)) < rng.beta(2, 1, size=(n, 1))
    return truth, np.where(right, truth[:, None], rng.integers(3, size=(n, k)))


def number(truth, prediction):
    """A statistic that tells nearly all samples of pairs apart, whatever their order."""
    return float(np.sum((3 * truth + prediction + 1.0) ** 2.5) / len(truth))


TRUTH, PREDICTIONS = np.array([0, 1]), np.array([[0, 1], [1, 2]])


def law(strategy):
    """All equally likely resamples of two inputs with two runs each, and their values."""
    values = []
    for inputs in itertools.product(range(2), repeat=2):
        if strategy == "cluster":
            runs = [((0, 1), (0, 1))]
        elif strategy == "single_draw":
            runs = itertools.product(*[[(0,), (1,)]] * 2)
        else:
            runs = itertools.product(itertools.product(range(2), repeat=2), repeat=2)
        for chosen in runs:
            drawn = [(i, r) for i, each in zip(inputs, chosen, strict=True) for r in each]
            at = tuple(np.array(drawn).T)
            values.append(round(number(TRUTH[at[0]], PREDICTIONS[at]), 9))
    return dict(zip(*np.unique(values, return_counts=True), strict=True)), len(values)


@pytest.mark.parametrize("strategy", ["cluster", "single_draw", "hierarchical"])
def test_every_resample_has_its_probability(strategy):
    expected, total = law(strategy)
    b = 20_000
    got = bootstrap((TRUTH, PREDICTIONS), number, strategy, n_resamples=b, rng=SEED)
    values, seen = np.unique(np.round(got.bootstrap_distribution, 9), return_counts=True)
    assert set(values) == set(expected)
    p = np.array([expected[v] for v in values]) / total
    # Five standard errors of a share: 1 false alarm in 50,000 over the 30-odd values.
    assert (np.abs(seen / b - p) < 5 * np.sqrt(p * (1 - p) / b)).all()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_variances_are_those_of_theory(strategy):
    truth, predictions = labelled(80, 1 if strategy == "iid" else 4)
    n, k = predictions.shape
    rate, b = (predictions == truth[:, None]).mean(axis=1), 20_000
    got = bootstrap((truth, predictions), accuracy, strategy, n_resamples=b, rng=SEED)
    p = got.estimate
    variance = {
        "cluster": rate.var() / n,
        "hierarchical": rate.var() / n + np.mean(rate * (1 - rate)) / (n * k),
    }.get(strategy, p * (1 - p) / n)
    if strategy != "mode_aggregate":
        assert p == pytest.approx(rate.mean(), rel=1e-12)
    # Four standard errors of a mean and, nearly normal, of a variance.
    assert got.bootstrap_distribution.mean() == pytest.approx(p, abs=4 * np.sqrt(variance / b))
    assert got.standard_error**2 == pytest.approx(variance, rel=4 * np.sqrt(2 / b))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", [accuracy, cohen_kappa])
def test_counting_gives_what_calling_gives(strategy, method, statistic):
    truth, predictions = labelled(25, 1 if strategy == "iid" else 3)
    options = {"strategy": strategy, "method": method, "n_resamples": 200, "rng": SEED}
    fast = bootstrap((truth, predictions), statistic, **options)
    called = lambda t, p: statistic(t, p)  # noqa: E731  (another object than the known statistic)
    slow = bootstrap((WORDS[truth], WORDS[predictions]), called, **options)
    np.testing.assert_array_equal(fast.bootstrap_distribution, slow.bootstrap_distribution)
    assert fast.confidence_interval == slow.confidence_interval
    assert (fast.estimate, fast.method) == (slow.estimate, slow.method)


def test_the_jackknife_of_counts_takes_time_with_inputs_not_with_their_square():
    options = {"n_resamples": 20, "rng": SEED}
    seconds = []
    for method in ("percentile", "BCa"):
        before = time.process_time()
        result = bootstrap(labelled(10_000, 5), cohen_kappa, method=method, **options)
        seconds.append(time.process_time() - before)
    assert result.method == "bca, 20 resamples"
    # Drawing takes 0.1 s, leaving out 0.02 s; by resampling the rest it would be 15 s.
    assert seconds[1] < seconds[0] + 1


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("statistic", [accuracy, cohen_kappa])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_limits_are_those_of_scipy_for_the_same_resamples(k, statistic, level):
    truth, predictions = labelled(40, k)
    strategy = "iid" if k == 1 else "cluster"

    def of_inputs(i):
        i = i.astype(int)
        return statistic(truth[i], predictions[i])

    data = (np.arange(40.0),)
    theirs = stats.bootstrap(data, of_inputs, n_resamples=9, vectorized=False)
    for method in ("percentile", "bca"):
        ours = bootstrap(
            (truth, predictions), statistic, strategy,
            level=level, method=method, n_resamples=999, rng=SEED,
        )  # fmt: skip
        same = dataclasses.replace(theirs, bootstrap_distribution=ours.bootstrap_distribution)
        again = stats.bootstrap(
            data, of_inputs, n_resamples=0, vectorized=False, confidence_level=level,
            method=method, bootstrap_result=same,
        )  # fmt: skip
        # Sums in another order.
        assert ours.confidence_interval == pytest.approx(again.confidence_interval, abs=1e-9)
        assert ours.standard_error == pytest.approx(again.standard_error, rel=1e-12)


def test_the_distribution_is_that_of_scipy():
    truth, predictions = labelled(40, 3)
    right = (predictions == truth[:, None]).mean(axis=1)
    b = 20_000
    ours = bootstrap((truth, predictions), accuracy, n_resamples=b, rng=SEED)
    theirs = stats.bootstrap((right,), np.mean, n_resamples=b, rng=np.random.default_rng(SEED))
    # Both are multiples of 1/120; 1.95 √(2/B) is the 0.1% point of Kolmogorov and Smirnov.
    grids = [np.rint(120 * r.bootstrap_distribution) for r in (ours, theirs)]
    assert stats.ks_2samp(*grids).statistic < 1.95 * np.sqrt(2 / b)


def test_one_run_makes_strategies_equal():
    truth, predictions = labelled(40, 1)
    results = [
        bootstrap((truth, p), cohen_kappa, strategy, n_resamples=100, rng=SEED)
        for strategy in ("iid", "cluster")
        for p in (predictions, predictions[:, 0])
    ]
    assert len({r.confidence_interval for r in results}) == 1


def test_modes_win_and_ties_are_broken_evenly():
    rng = np.random.default_rng(SEED)
    rows = np.array([["a", "b", "a"], ["c", "c", "c"]])
    assert modes(rows, rng).tolist() == ["a", "c"]
    # 2-2-1: half and half, never the single one. Four standard errors of a share of 10,000.
    drawn = modes(np.tile([0, 1, 2, 1, 0], (10_000, 1)), rng)
    assert set(drawn) == {0, 1}
    assert np.mean(drawn) == pytest.approx(1 / 2, abs=4 * 0.005)
    three = modes(np.tile([2, 0, 1], (100, 100, 1)), rng)
    assert np.bincount(three.ravel()) / 10_000 == pytest.approx([1 / 3] * 3, abs=4 * 0.0048)


def test_functions_get_flat_arrays_of_the_labels_themselves():
    seen = []

    def first(truth, prediction):
        seen.append((truth, prediction))
        return len(set(truth))

    for truth, predictions in (["x", "y"], [["x", "z"]] * 2), ([1, 3], [[1.5, 3]] * 2):
        bootstrap((truth, predictions), first, "single_draw", n_resamples=1, rng=SEED)
        pairs, resample = seen[-2:]
        assert list(zip(*pairs, strict=True)) == [(t, p) for t in truth for p in predictions[0]]
        assert pairs[0].dtype == np.array(truth + predictions[0]).dtype
        assert [len(a) for a in resample] == [2, 2]


def test_seeds_and_generators():
    data = labelled()
    first, again, other = (
        bootstrap(data, accuracy, "hierarchical", n_resamples=50, rng=rng)
        for rng in (7, np.random.default_rng(7), None)
    )
    np.testing.assert_array_equal(first.bootstrap_distribution, again.bootstrap_distribution)
    assert (first.bootstrap_distribution != other.bootstrap_distribution).any()


def test_blocks_do_not_change_the_law(monkeypatch):
    data = labelled(30, 2)
    whole = bootstrap(data, cohen_kappa, method="bca", n_resamples=3000, rng=SEED)
    monkeypatch.setattr("repeval.stats.bootstrap.BLOCK", 7 * 60)
    parts = bootstrap(data, cohen_kappa, method="bca", n_resamples=3000, rng=SEED)
    np.testing.assert_array_equal(whole.bootstrap_distribution, parts.bootstrap_distribution)
    assert whole.confidence_interval == parts.confidence_interval


def test_fewer_resamples_narrow_an_interval():
    for b in (1000, 5000):
        place = 0.025 * (b - 1)
        below, share = int(place), place % 1
        ends = [
            integrate.quad(
                lambda z, r=r, b=b: z * stats.norm.pdf(z)
                * stats.beta.pdf(stats.norm.cdf(z), r, b - r + 1),
                -4, -1, epsabs=1e-10,
            )[0]
            for r in (below + 1, below + 2)
        ]  # fmt: skip
        exact = ((1 - share) * ends[0] + share * ends[1]) / stats.norm.ppf(0.025)
        # The next terms are 1/(b q), a few percent, of these: of 0.5% and 0.1%.
        assert 1 - percentile_width(b) == pytest.approx(1 - exact, rel=0.1)


def test_bca_falls_back_to_percentiles_and_says_so():
    data = np.arange(30), np.arange(30)
    # No resample has as many labels as the data: z0 is infinite.
    result = bootstrap(data, lambda t, p: len(np.unique(t)), method="bca", rng=SEED)
    assert result.method == "percentile, as BCa is undefined here, 5000 resamples"
    plain = np.quantile(result.bootstrap_distribution, [0.025, 0.975])
    assert tuple(plain) == result.confidence_interval
    # No spread in the jackknife; with symmetry there is nothing to correct.
    draws, point = np.arange(9.0), np.float64(4)
    assert np.isnan(bca_levels(draws, point, np.ones(5), 0.95)).all()
    assert bca_levels(draws, point, np.array([1.0, 0, -1]), 0.95) == pytest.approx([0.025, 0.975])


def test_without_an_interval_the_reason_is_given():
    perfect = bootstrap(([0, 1, 1], [[0, 0], [1, 1], [1, 1]]), accuracy, rng=SEED)
    assert np.isnan(perfect.confidence_interval).all()
    assert perfect.method == "none: every resample gives the same value"
    assert (perfect.estimate, perfect.standard_error) == (1, 0)
    undefined = bootstrap(([0, 1], [0, 1]), cohen_kappa, method="bca", rng=SEED)
    assert np.isnan(undefined.confidence_interval).all()
    assert "kappa" not in undefined.method
    lost = int(np.isnan(undefined.bootstrap_distribution).sum())
    assert f"undefined in {lost} of 5000 resamples" in undefined.method


@pytest.mark.parametrize(
    ("data", "options", "told"),
    [
        (labelled(), {"strategy": "clusters"}, "unknown strategy 'clusters'; one of iid"),
        (labelled(), {"method": "basic"}, "method must be percentile or bca"),
        (labelled()[1], {}, "two arrays, not 60"),
        ((*labelled(), 0), {}, "two arrays, not 3"),
        ((np.ma.masked_equal([0, 1], 1), [0, 1]), {}, "none missing"),
        (labelled(), {"level": 95}, "level must lie in"),
        (labelled(), {"n_resamples": 0}, "n_resamples must be at least 1"),
        (labelled(), {"strategy": "iid"}, r"one run per input, not 3: use cluster, or .*\[:, 0\]"),
        (labelled(1), {}, "at least two inputs"),
        (([0, 1], [[0, 1], [0]]), {}, "keep the first 1 of each"),
        (([0, 1], [[0, None], [0, 1]]), {"strategy": "mode_aggregate"}, "label of its own"),
    ],
)
def test_refusals_say_what_to_do(data, options, told):
    with pytest.raises(ValueError, match=told):
        bootstrap(data, accuracy, **options)
