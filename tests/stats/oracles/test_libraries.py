"""The package against numbers of statsmodels and SciPy (libraries.py), whichever are installed."""

import json
import math

import numpy as np
import pytest
from scipy import special

from repeval import cohen_kappa, compare, components, interval
from repeval.stats import exact
from repeval.stats.agreement import kappa_standard_error
from repeval.stats.clusters import score_variance
from repeval.stats.comparison import holm
from repeval.stats.exchangeability import label_effect
from repeval.stats.intervals import wilson
from repeval.stats.pairs.decision import Limits
from repeval.stats.pairs.margin import lost_limit
from repeval.stats.resampling import shifted_levels
from repeval.stats.sample import as_sample, from_counts
from tests.oracles import DATA, passes_of, reaches

TOLD = json.loads((DATA / "libraries.json").read_text())
# Closed forms written twice: a few roundings, and quantiles to a dozen digits.
CLOSE = {"rel": 1e-11, "abs": 1e-14}


def rows(section):
    return pytest.mark.parametrize("row", TOLD[section], ids=range(len(TOLD[section])))


def sample_of(row):
    if "scores" in row:
        return as_sample(np.array(row["scores"]))
    return from_counts(passes_of(row["counts"]), row["runs"])


@rows("mixed")
def test_a_mixed_model_and_the_analysis_of_variance(row):
    c = components(sample_of(row))
    # MixedLM stops four to five digits before its optimum.
    for name in ("between", "within", "mean"):
        assert getattr(c, name) == pytest.approx(row[name], rel=1e-4)
    assert math.sqrt(c.variance) == pytest.approx(row["se"], rel=1e-4)
    assert c.n_runs * c.spread / c.within == pytest.approx(row["f"], **CLOSE)


@rows("intervals")
def test_wilson_and_clopper_and_pearson(row):
    x, n, level = row["x"], row["n"], row["level"]
    assert wilson(x / n, n, level) == pytest.approx((row["low"], row["high"]), **CLOSE)
    assert lost_limit(x, n, 1 - level) == pytest.approx(row["exact"], **CLOSE)


@rows("labels")
def test_cochran_and_friedman(row):
    if "scores" in row:
        # Q of ranks, brought into [0, 1], is Friedman's statistic.
        y = np.array(row["scores"], dtype=float)
        ranks = [((r[:, None] > r).sum(1) + ((r[:, None] == r).sum(1) + 1) / 2) / 4 for r in y]
        found = label_effect(np.array(ranks))
    else:
        found = label_effect([[int(x) for x in runs] for runs in row["outcomes"]])
    assert (found.statistic, found.p_value) == pytest.approx((row["q"], row["p"]), **CLOSE)
    assert found.df == row["df"]


@rows("single_runs")
def test_mcnemar_and_the_sign_test(row):
    won, lost, n = row["won"], row["lost"], row["n"]
    a, b = np.zeros((2, n), dtype=int)
    a[:won], b[won : won + lost] = 1, 1
    assert compare((a, 1), (b, 1)).p_value == pytest.approx(max(row["p"], row["signs"]), rel=1e-10)
    guard = Limits(*np.array([[0.1], [0.2], [0.0], [0.0]])).guarded([won + lost], 0.95)
    assert guard.p_value == pytest.approx([row["signs"]], **CLOSE)


@rows("kappas")
def test_kappa_and_its_standard_error(row):
    table = np.array(row["table"])
    truth, predicted = (np.repeat(x.ravel(), table.ravel()) for x in np.indices(table.shape))
    assert cohen_kappa(truth, predicted) == pytest.approx(row["kappa"], **CLOSE)
    assert float(kappa_standard_error(table)) == pytest.approx(row["se"], rel=1e-10)


@rows("holm")
def test_holm(row):
    assert holm(row["p"]).tolist() == pytest.approx(row["adjusted"], **CLOSE)


@rows("clusters")
def test_clusters_of_one_size(row):
    """The interval shown to users: Wilson at n·(z/t)², n from the cluster-robust variance."""
    g, passes = row["clusters"], np.array(row["passes"])
    labels = np.arange(len(passes)) % g
    squared, df = score_variance(passes / row["runs"], labels)
    assert squared == pytest.approx(row["variance"], rel=1e-10)
    assert df == g - 1
    found = interval(passes, row["runs"], name="clustered_wilson", clusters=labels)
    # Quantiles of t are inverted numerically, to ten digits at least.
    assert (found.low, found.high) == pytest.approx((row["low"], row["high"]), rel=1e-10)
    assert f"n = {row['n']:.1f}, {g} clusters" in found.method


@rows("bootstraps")
def test_problems_drawn_by_scipy(row):
    s, draws = sample_of(row), row["resamples"]
    law, mean = exact.mean_law(s, "one_level"), s.rate.mean()
    sd = math.sqrt(s.rate.var() / len(s))
    # Four standard errors of a nearly normal law's standard deviation.
    assert sd == pytest.approx(row["se"], rel=4 / math.sqrt(2 * draws))
    for end, level in enumerate((0.025, 0.975)):
        assert reaches(law, row["percentile"][end], level, draws)
        assert reaches(law, 2 * mean - row["basic"][end], 1 - level, draws)
    point = round(mean / law.step)
    z0 = special.ndtri(float(law.below(point) + law.at(point) / 2))
    left_out = (s.rate.sum() - s.rate) / (len(s) - 1)
    for limit, level in zip(row["BCa"], shifted_levels(z0, left_out, 0.95), strict=True):
        assert reaches(law, limit, float(level), draws, bias_corrected=True)


# ---- and each check can fail ------------------------------------------------------------------


def moved(told, by):
    """The same numbers, larger by a share and by as much."""
    if isinstance(told, list):
        return [moved(x, by) for x in told]
    return told * (1 + by) + by if isinstance(told, float) else told


def every_row(check, section, name, by):
    for row in TOLD[section]:
        check({**row, name: moved(row[name], by)} if name in row else row)


@pytest.mark.parametrize(
    ("check", "section", "told"),
    [
        (test_a_mixed_model_and_the_analysis_of_variance, "mixed", ("between", "f")),
        (test_wilson_and_clopper_and_pearson, "intervals", ("low", "exact")),
        (test_cochran_and_friedman, "labels", ("q", "p")),
        (test_mcnemar_and_the_sign_test, "single_runs", ("p", "signs")),
        (test_kappa_and_its_standard_error, "kappas", ("kappa", "se")),
        (test_holm, "holm", ("adjusted",)),
        (test_clusters_of_one_size, "clusters", ("variance", "low", "n")),
    ],
)
def test_a_number_that_moved_is_seen(check, section, told):
    for name in told:
        with pytest.raises(AssertionError):
            every_row(check, section, name, by=1e-3)


@pytest.mark.parametrize("name", ["percentile", "basic", "BCa", "se"])
def test_limits_that_moved_are_seen(name):
    with pytest.raises(AssertionError):
        every_row(test_problems_drawn_by_scipy, "bootstraps", name, by=0.03)
