import io

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.patches import Rectangle
from statsmodels.stats.proportion import proportions_ztest

import repeval
from repeval.companion.plots import ceilings, pairs, style
from repeval.companion.words import sentences as say
from repeval.report.format import percent
from repeval.report.rows import Pair

from .conftest import plain

FIGURES = [pairs.adjacent_strip, pairs.leads_matrix, ceilings.difference_ceilings]


def svg(figure):
    with mpl.rc_context(style.STYLE):
        file = io.BytesIO()
        figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    return file.getvalue().decode()


def texts(axes):
    return [t.get_text() for t in axes.texts]


def test_strip_fills_what_is_told_apart(default):
    condition = default.condition
    plot = pairs.adjacent_strip(default, condition)
    neighbours = default.adjacent(condition)
    filled = [
        line for line in plot.figure.axes[0].lines
        if line.get_marker() == "o" and line.get_markerfacecolor() == line.get_color()
    ]  # fmt: skip
    told = [bool(r) for p in neighbours for r in (p.fixed.resolved, p.resolved)]
    assert len(filled) == sum(told)
    assert plot.data["apart_these"].tolist() == told[::2]
    assert plot.data["new_low"].tolist() == [p.interval[0] for p in neighbours]
    assert f"{sum(told[::2])} apart" in plot.caption
    assert f"{sum(told[1::2])} apart" in plot.caption
    shares = [t for t in texts(plot.figure.axes[0]) if t.endswith("%")]
    assert shares == [percent(p.p_greater) for p in neighbours]


def test_matrix_marks_unresolved_and_neighbours(default):
    condition = default.condition
    plot = pairs.leads_matrix(default, condition)
    axes = plot.figure.axes[0]
    image = np.asarray(axes.images[0].get_array())
    rows = [p for p in default.pairs if p.condition == condition]
    names = [s.model for s in default.ranked(condition)]
    for p in rows:
        i, j = names.index(p.model_a), names.index(p.model_b)
        law = p.two_level
        assert image[i, j] == law.p_greater
        # The three shares sum to one.
        assert image[j, i] + image[i, j] + law.p_tie == pytest.approx(1, abs=1e-12)
    unresolved = [p for p in rows if not p.two_level.resolved]
    assert texts(axes).count("~") == 2 * len(unresolved)
    neighbours = len(names) - 1
    assert sum(isinstance(a, Rectangle) for a in axes.patches) == 2 * neighbours
    count = sum(p.adjacent for p in unresolved)
    assert f"{count} of {neighbours} pairs of neighbours" in plot.caption


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
    values = vars(pair) | {"ceiling": None, "ceiling_interval": (1.5, None)}
    object.__setattr__(analysis, "pairs", (Pair(**values),))
    plot = ceilings.difference_ceilings(analysis, "default")
    assert "no upper limit or one beyond: a and b." in plot.caption
    assert "Intervals without an upper limit: 1 of 1" in plot.caption
    ends = [line.get_marker() for line in plot.figure.axes[0].lines]
    assert ends.count(">") == 1
    assert plot.data["ceiling"].isna().all()


@pytest.mark.parametrize("figure", FIGURES)
def test_one_system_has_no_pair(figure, made):
    plot = figure(made(plain("solo")), "default")
    assert plot.caption == plot.alt == say.NO_PAIR
    assert len(plot.data) == 0


def test_one_run_says_what_is_missing(made):
    analysis = made(plain("a", "b"), runs=1)
    plot = pairs.adjacent_strip(analysis, "default")
    assert "needs two runs" in plot.caption
    assert "both questions" not in plot.caption + plot.alt
    assert "needs two runs" in ceilings.difference_ceilings(analysis, "default").caption


def test_many_systems_are_cut_and_it_says_so(made):
    analysis = made(plain(*(f"model-{i:02}" for i in range(44))), problems=6)
    for figure, total, what in zip(
        FIGURES, (43, 44, 43), ("pairs", "models", "pairs"), strict=True
    ):
        plot = figure(analysis, "default")
        assert f"first 40 of {total} {what}" in plot.caption
        assert plot.figure.get_figheight() < 20


@pytest.mark.parametrize("figure", FIGURES)
def test_same_bytes_and_no_trace(figure, made):
    from matplotlib import pyplot

    analysis = made(plain("<script>x</script>|*_", "$\\frac$ a"))
    plots = [figure(analysis, "default") for _ in range(2)]
    one, two = (svg(plot.figure) for plot in plots)
    assert one == two
    assert "<script" not in one
    assert "$\\frac$ a" in one
    assert pyplot.get_fignums() == []
    assert plots[0].source == f"{figure.__module__}.{figure.__name__}"


def test_names_stay_different_and_printable():
    many = [f"vendor/some-very-long-model-name-{i:02}-instruct" for i in range(40)]
    assert len(set(style.names(many))) == 40
    assert max(map(len, style.names(many))) <= style.NAME
    assert style.name("a\nb\x1b") == "a?b?"
    assert len(style.name("模" * 40)) <= style.NAME // 2
    assert style.names(["same", "same"]) == ["same", "same"]


def test_percent_never_says_all_or_nothing_of_some():
    assert [percent(p) for p in (0, 0.001, 0.5, 0.999, 1)] == [
        "0 %", "<1 %", "50 %", ">99 %", "100 %",
    ]  # fmt: skip


def test_pooled_z_is_the_two_proportion_test(default):
    scores = {s.model: s for s in default.ranked(default.condition)}
    for pair in default.adjacent(default.condition):
        a, b = scores[pair.model_a], scores[pair.model_b]
        n = a.n_problems * a.n_runs
        z, p = proportions_ztest([round(a.mean * n), round(b.mean * n)], [n, n])
        # Counts are whole, so only rounding of the means differs.
        assert pair.pooled.z == pytest.approx(z, abs=1e-9)
        assert pair.pooled.resolved == (p < 0.05)


def test_pooled_z_is_not_for_scores(tidy):
    rows = [
        {"model": m, "problem": p, "run": r, "outcome": 0.1 + 0.2 * r}
        for m in "ab" for p in "xyz" for r in range(2)
    ]  # fmt: skip
    (pair,) = repeval.analyze(repeval.load(tidy(rows))).pairs
    assert (pair.pooled.z, pair.pooled.resolved) == (None, None)
