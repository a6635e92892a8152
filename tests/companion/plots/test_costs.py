import dataclasses
import math

import numpy as np
import pytest

from repeval.companion.plots import costs

from .made import CASES, analysed, drawn

FIGURES = (costs.cost_curve, costs.best_runs, costs.flatness)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("figure", FIGURES)
def test_figures_of_costs_on_any_data(case, figure):
    _, analysis = analysed(case)
    plot = drawn(figure(analysis, "default"))
    undefined = analysis.summary["default"].noise_ratio is None
    assert plot.data.empty == undefined
    assert ("cannot be drawn" in plot.caption) == undefined


@pytest.fixture(scope="module")
def analysis():
    """An analysis whose ratio of medians is a quarter, with five runs."""
    _, found = analysed("one system")
    summary = dataclasses.replace(found.summary["default"], noise_ratio=0.25)
    return dataclasses.replace(found, summary={"default": summary})


def width(runs, price, ratio=0.25):
    """Width at equal budget, up to a factor: root of variance times the price of N."""
    return math.sqrt((1 + ratio / runs) * (price + runs))


def test_curves_are_widths_at_equal_budget(analysis):
    for row in costs.cost_curve(analysis, "default").data.itertuples():
        best = max(1, math.sqrt(0.25 * row.cost_ratio))
        assert row.relative_width == pytest.approx(
            width(row.runs, row.cost_ratio) / width(best, row.cost_ratio)
        )


def test_staircase_is_the_best_whole_number(analysis):
    data = costs.best_runs(analysis, "default").data
    for row in data.iloc[::40].itertuples():
        assert row.optimal_integer_runs == min(range(1, 60), key=lambda r: width(r, row.cost_ratio))
        assert row.optimal_runs == pytest.approx(math.sqrt(0.25 * row.cost_ratio))
    # A second run pays above 2/ratio, not where R* passes 1.
    assert data.loc[data["cost_ratio"] < 8 * 0.999, "optimal_integer_runs"].max() == 1
    assert data.loc[data["cost_ratio"] > 8 * 1.001, "optimal_integer_runs"].min() == 2
    assert "more than 8.0 runs" in costs.best_runs(analysis, "default").caption


def test_flatness_touches_zero_at_the_right_price(analysis):
    plot = costs.flatness(analysis, "default")
    best = plot.data.loc[plot.data["width_excess"].idxmin()]
    assert best["cost_ratio"] == pytest.approx(25 / 0.25)
    assert best["width_excess"] == pytest.approx(0, abs=1e-12)
    for factor, words in ((10, "(too few runs)"), (0.1, "(too many)")):
        star = 5 * math.sqrt(factor)
        excess = width(5, 100 * factor) / width(star, 100 * factor) - 1
        assert f"{100 * excess:.1f} %" in plot.caption.split(words)[0]


def test_at_one_price_both_sides_cost_the_same(analysis):
    # Erratum: the excess depends on |log(R/R*)| alone.
    for factor in (1.5, 3.0):
        pair = costs._excess([20 * factor, 20 / factor], 0.25, 1600)
        assert pair[0] == pytest.approx(pair[1])


def test_unequal_runs_enter_by_their_harmonic_mean():
    data, analysis = analysed("unequal runs")
    runs = np.array([data.frame[data.frame["model"] == m].groupby("problem").size()
                     for m in data.models], dtype=float)  # fmt: skip
    assert costs.runs_at_hand(analysis, "default") == pytest.approx(1 / (1 / runs).mean())
