"""The figure of the ceilings of differences."""

import io

import matplotlib as mpl

from repeval.companion.plots import ceilings, style
from repeval.companion.plots import words as say
from repeval.report.rows import Pair, columns

from .conftest import plain


def svg(figure):
    with mpl.rc_context(style.STYLE):
        file = io.BytesIO()
        figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    return file.getvalue().decode()


def test_differences_have_their_own_ceiling(default):
    condition = default.condition
    plot = ceilings.difference_ceilings(default, condition)
    table = plot.data
    higher = (table["ceiling"] > table[["ceiling_a", "ceiling_b"]].max(axis=1)).sum()
    assert f"{higher} of {len(table)} differences" in plot.caption
    assert f"{table['ceiling'].median():.2f}" in plot.alt


def test_no_limit_stands_at_the_edge(made):
    analysis = made(plain("a", "b"), problems=8)
    (pair,) = analysis.pairs
    values = columns(pair) | {"ceiling": None, "ceiling_interval": (1.5, None)}
    object.__setattr__(analysis, "pairs", (Pair(**values),))
    plot = ceilings.difference_ceilings(analysis, "default")
    assert "no upper limit or one beyond: a and b." in plot.caption
    assert "Intervals without an upper limit: 1 of 1" in plot.caption
    ends = [line.get_marker() for line in plot.figure.axes[0].lines]
    assert ends.count(">") == 1
    assert plot.data["ceiling"].isna().all()


def test_one_system_has_no_pair(made):
    plot = ceilings.difference_ceilings(made(plain("solo")), "default")
    assert plot.caption == plot.alt == say.NO_PAIR
    assert len(plot.data) == 0


def test_one_run_says_what_is_missing(made):
    analysis = made(plain("a", "b"), runs=1)
    assert "needs two runs" in ceilings.difference_ceilings(analysis, "default").caption


def test_many_systems_are_cut_and_it_says_so(made):
    analysis = made(plain(*(f"model-{i:02}" for i in range(44))), problems=6)
    plot = ceilings.difference_ceilings(analysis, "default")
    assert "first 40 of 43 pairs" in plot.caption
    assert plot.figure.get_figheight() < 20


def test_same_bytes_and_no_trace(made):
    from matplotlib import pyplot

    analysis = made(plain("<script>x</script>|*_", "$\\frac$ a"))
    plots = [ceilings.difference_ceilings(analysis, "default") for _ in range(2)]
    one, two = (svg(plot.figure) for plot in plots)
    assert one == two
    assert "<script" not in one
    assert "$\\frac$ a" in one
    assert pyplot.get_fignums() == []
    assert plots[0].source == "repeval.companion.plots.ceilings.difference_ceilings"
