import math

import numpy as np
import pytest

from repeval.companion.plots import runs, style
from repeval.companion.words.labels import labelled
from repeval.stats.exchangeability import label_effect

from .made import CASES, drawn, outcomes


@pytest.mark.parametrize("case", CASES)
def test_rates_by_label_on_any_data(case):
    data = outcomes(**CASES[case])
    found = labelled(data, "default")
    plot = drawn(runs.label_rates(found))
    assert plot.data.empty == (case in ("one run", "unequal runs"))
    assert ("nothing to test" in plot.caption) == plot.data.empty
    assert len(plot.data) == len(found.labels) * min(len(found.tables), style.MOST)


def test_dots_are_rates_about_the_models_and_bars_what_could_be_found():
    found = labelled(outcomes(models=2, runs=(4,)), "default")
    plot = runs.label_rates(found, excluded=("m01",))
    lines = plot.figure.axes[0].lines
    for y, table in enumerate(found.tables.values()):
        e = label_effect(table)
        here = [line for line in lines if set(line.get_ydata()) == {y}]
        (bar,) = (line for line in here if line.get_color() == style.FAINT)
        assert np.ptp(bar.get_xdata()) == pytest.approx(100 * e.detectable)
        dots = [x for line in here if line is not bar for x in line.get_xdata()]
        assert sorted(dots) == pytest.approx(sorted(100 * (e.rates - table.mean())))
    rows = plot.data[plot.data["model"] == "m00"]
    assert rows["pass_rate"].tolist() == found.tables["m00"].mean(axis=0).tolist()
    assert "* left out" in plot.caption


def test_a_wide_gap_is_counted():
    found = labelled(outcomes(models=2, runs=(4,)), "default")
    found.tables["m00"] = np.tile([1.0, 0, 0, 0], (30, 1))
    assert "In 1 of 2 models" in runs.label_rates(found).caption
    found.tables["m00"] = np.ones((30, 4))
    plot = runs.label_rates(found)
    assert math.isnan(plot.data["p_value"][0])
    assert "In 0 of 2 models" in plot.caption
