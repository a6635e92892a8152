import io
import itertools
from dataclasses import replace

import pytest
from matplotlib.colors import to_hex

from repeval.companion.plots import ceilings, style
from repeval.report.format import NEEDS_RUNS

from .conftest import plain


def markers(plot, kind):
    return [line for line in plot.figure.axes[0].lines if line.get_marker() == kind]


def test_points_median_and_colours(default):
    condition = default.condition
    other = next(c for c in default.summary if c != condition)
    plot = ceilings.forest(default, condition, other)
    rows = {s.model: s for s in default.ranked(condition)}
    drawn = plot.data["model"].tolist()
    assert [rows[m].ceiling for m in drawn] == sorted(
        (s.ceiling for s in rows.values()), reverse=True
    )
    points = markers(plot, "o")
    assert [p.get_xdata()[0] for p in points] == [rows[m].ceiling for m in drawn]
    grey = [
        m for m, p in zip(drawn, points, strict=True) if to_hex(p.get_color()) == style.GREY.lower()
    ]
    assert sorted(grey) == sorted(default.excluded)
    diamonds = {m: p.get_xdata()[0] for m, p in zip(drawn, markers(plot, "D"), strict=True)}
    assert diamonds == {m: default.system(m, other).ceiling for m in drawn}
    (dashed,) = [line for line in plot.figure.axes[0].lines if line.get_linestyle() == "--"]
    assert dashed.get_xdata()[0] == default.summary[condition].ceiling[0]
    assert f"{dashed.get_xdata()[0]:.2f}" in plot.caption
    assert all(m in plot.caption for m in default.excluded)


def test_undefined_ceilings_are_listed(made):
    analysis = made(plain("a", "b", "c"))
    a, b, c = analysis.systems
    endless = replace(a, between=-0.01, ceiling=None, ceiling_interval=(1.4, None))
    finite = replace(c, ceiling=1.5, ceiling_interval=(1.2, 1.9))
    single = replace(b, within=None, between=None, ceiling=None, ceiling_interval=None)
    object.__setattr__(analysis, "systems", (endless, single, finite))
    plot = ceilings.forest(analysis, "default")
    assert "Hollow, at the edge, where there is no upper limit or one beyond: a." in plot.caption
    assert "needs two runs of a problem: b." in plot.caption
    assert "Intervals without an upper limit: 1 of 3." in plot.caption
    assert [t.get_text() for t in plot.figure.axes[0].texts] == [NEEDS_RUNS]
    assert len(markers(plot, ">")) == 1
    assert plot.data["model"].tolist() == ["a", "c", "b"]


def test_one_system_has_no_median(made):
    plot = ceilings.forest(made(plain("solo")), "default")
    assert "median" not in plot.caption + plot.alt
    assert "1 model" in plot.alt


def test_one_run_has_no_ceiling(made):
    plot = ceilings.forest(made(plain("a", "b"), runs=1), "default")
    assert "needs two runs" in plot.caption


def test_a_model_that_is_always_right_has_no_ceiling(made):
    analysis = made(plain("a", "b"))
    a, b = analysis.systems
    steady = replace(a, within=0.0, between=0.0, ceiling=None, ceiling_interval=None)
    object.__setattr__(analysis, "systems", (steady, b))
    plot = ceilings.forest(analysis, "default")
    assert "Nothing varied, so no ceiling: a." in plot.caption
    assert "upper limit or one beyond: a" not in plot.caption
    assert [t.get_text() for t in plot.figure.axes[0].texts] == ["nothing varied"]


@pytest.mark.parametrize("n", [1, 40])
def test_height_follows_the_systems_and_nothing_is_cut(made, n):
    analysis = made(plain(*(f"m{i}" for i in range(n))), problems=4)
    plot = ceilings.forest(analysis, "default")
    assert plot.figure.get_figheight() == pytest.approx(1.25 + 0.27 * n)
    plot.figure.savefig(io.BytesIO(), dpi=20)  # lays out
    boxes = [label.get_window_extent() for label in plot.figure.axes[0].get_yticklabels()]
    # The first row is on top; a pixel of rounding.
    assert all(low.y1 <= high.y0 + 1 for high, low in itertools.pairwise(boxes))
    assert min(box.x0 for box in boxes) >= 0
