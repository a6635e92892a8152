"""The figure of every system's components."""

import math

import numpy as np
import pytest

import repeval
from repeval.companion.plots.systems import plane
from repeval.companion.words import systems

from .made import CASES, analysed, drawn, outcomes


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
