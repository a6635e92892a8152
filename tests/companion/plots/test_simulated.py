"""Figures of the simulated temperature, and of every system's components."""

import math

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.companion.plots import temperature
from repeval.companion.plots.systems import plane
from repeval.companion.studies import temperature as study
from repeval.companion.words import systems

from .made import CASES, analysed, drawn, outcomes


def test_truth_is_drawn_for_each_spread():
    data = drawn(temperature.truth()).data
    assert sorted(data["spread"].unique()) == sorted(study.SPREADS)
    for row in data.iloc[::17].itertuples():
        within, between = study.truth(row.spread, row.temperature)
        assert (row.within, row.between) == pytest.approx((within, between))
        assert row.ceiling == pytest.approx(1 + within / between)


@pytest.mark.parametrize(("n", "runs", "endless"), [(99, 5, True), (4, 2, True), (5000, 3, False)])
def test_estimates_of_any_size(n, runs, endless):
    rows = [row for s in study.SPREADS for row in study.rows(("x", s, n, runs), 2606, 300)]
    plot = drawn(temperature.estimates(pd.DataFrame(rows)))
    assert f"{n} problems with {runs} runs" in plot.caption
    assert ("An arrow" in plot.caption) == endless
    assert len(plot.data) == len(rows)


@pytest.mark.parametrize("case", CASES)
def test_the_plane_of_any_data(case):
    data, analysis = analysed(case)
    cells = systems.cells(analysis, data)
    plot = drawn(plane(analysis, cells))
    assert plot.data.empty == (case == "one run")


def test_the_plane_names_its_ends():
    data = outcomes(models=4, n=60, runs=(4,))
    analysis = repeval.analyze(data, n_resamples=100)
    cells = systems.cells(analysis, data)
    plot = plane(analysis, cells)
    ceilings = {s.model: s.ceiling for s in analysis.systems}
    for end in (min, max):
        model = end(ceilings, key=ceilings.get)
        assert f"ceiling {ceilings[model]:.2f} for {model}" in plot.caption
    (axes,) = plot.figure.axes
    rays = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_xdata()[0] == 0]
    labels = [text.get_text() for text in axes.texts]
    for ray, label in zip(rays, labels, strict=True):
        x, y = (float(np.asarray(v)[-1]) for v in (ray.get_xdata(), ray.get_ydata()))
        assert math.isclose(1 + x / y, float(label))
