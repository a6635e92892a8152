"""The simulated benchmark: its truth by other mathematics, its estimates by real data sets."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

import repeval
from repeval import components
from repeval.companion.studies import result, temperature
from tests.companion.plots.made import outcomes as made


def quadrature(function, spread, t):
    """Mean of a function of the chance, by adaptive integration over θ."""
    density = stats.norm(0, spread).pdf
    found = integrate.quad(
        lambda x: function(special.expit(x / t)) * density(x), -9 * spread, 9 * spread,
        points=[0], limit=500, epsabs=1e-13,
    )  # fmt: skip
    return found[0]


@pytest.mark.parametrize("spread", temperature.SPREADS)
@pytest.mark.parametrize("t", [0.125, 1.0, 4.0])
def test_truth_is_the_integral(spread, t):
    within, between = temperature.truth(spread, t)
    assert within == pytest.approx(quadrature(lambda p: p * (1 - p), spread, t), rel=1e-9)
    assert between == pytest.approx(quadrature(lambda p: (p - 0.5) ** 2, spread, t), rel=1e-9)


@pytest.mark.parametrize("runs", [1, 2, 5, 40])
def test_the_law_of_passes_is_the_integral(runs):
    law = temperature.passes_law(2.0, 0.7, runs)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    for k in (0, runs // 2, runs):
        mean = quadrature(lambda p, k=k: stats.binom.pmf(k, runs, p), 2.0, 0.7)
        assert law[k] == pytest.approx(mean, rel=1e-9)


def test_cold_decoding_leaves_no_run_noise_and_a_ceiling_of_one():
    # Near T = 0 run noise is T times the density at zero; the next term is of order T³.
    for spread in temperature.SPREADS:
        t = spread / 100
        within, between = temperature.truth(spread, t)
        assert within == pytest.approx(t / (spread * math.sqrt(2 * math.pi)), rel=1e-3)
        assert between == pytest.approx(0.25 - within, abs=1e-12)
        assert 1 + within / between < 1.02


def test_hot_decoding_leaves_no_spread():
    # expit(x) is 1/2 + x/4 near zero; the next term is x³/48.
    within, between = temperature.truth(2, 200)
    assert between == pytest.approx((2 / 200) ** 2 / 16, rel=1e-3)
    assert within == pytest.approx(0.25, rel=1e-4)


def test_only_the_ratio_of_spread_and_temperature_counts():
    assert temperature.truth(4, 2) == pytest.approx(temperature.truth(2, 1), rel=1e-12)


def test_the_size_is_that_of_the_data():
    data = repeval.load()
    tasks = temperature.tasks(data, datasets=1)
    assert {task[2:] for task in tasks} == {(99, 5)}
    assert [task[1] for task in tasks] == [*temperature.SPREADS]
    assert temperature.tasks(made(runs=(1,)), datasets=1)[0][2:] == (30, 2)
    assert temperature.tasks(made(runs=(1, 4, 7)), datasets=1)[0][2:] == (30, 4)


def test_estimates_are_those_of_components_on_drawn_problems():
    """Quantiles of 2,000 drawn data sets, against the study's by its own way of drawing."""
    spread, n, runs, datasets = 2.0, 40, 3, 2000
    row = temperature.rows(("x", spread, n, runs), 2606, 20_000)[6]
    t, rng = row["temperature"], np.random.default_rng(2606)
    p = special.expit(rng.normal(0, spread, (datasets, n)) / t)
    found = [components(k, runs) for k in rng.binomial(runs, p)]
    for name in ("within", "between", "ceiling"):
        drawn = np.array([getattr(c, name) for c in found])
        for end, q in (("low", 0.05), ("median", 0.5), ("high", 0.95)):
            # 4 standard errors of a share of 2,000, and steps of a discrete law.
            margin = 4 * math.sqrt(q * (1 - q) / datasets) + 0.01
            limit = row[f"{name}_{end}"]
            below, upto = (drawn < limit - 1e-9).mean(), (drawn <= limit + 1e-9).mean()
            assert below - margin <= q <= upto + margin
    share = np.mean([c.between <= 0 for c in found])
    assert row["undefined"] == pytest.approx(share, abs=0.01)


def test_a_large_benchmark_sees_the_truth():
    for row in temperature.rows(("x", 2.0, 10**6, 5), 2606, 50):
        for name in ("within", "between", "ceiling"):
            # At a million problems the relative error of the smallest spread is about 0.2%.
            assert row[f"{name}_median"] == pytest.approx(row[name], rel=0.01)


def test_without_a_spread_there_is_no_limit():
    rows = temperature.rows(("x", 2.0, 5, 2), 2606, 500)
    hot = rows[-1]
    assert hot["undefined"] > 0.05
    assert math.isinf(hot["ceiling_high"])
    assert math.isfinite(hot["ceiling"])


def test_the_quick_study_has_every_cell():
    table = result("temperature", repeval.load())
    assert len(table) == len(temperature.SPREADS) * len(temperature.TEMPERATURES)
    assert table["ceiling"].between(1, 20).all()
    assert table.drop(columns="ceiling_high").map(math.isfinite).all(axis=None)
