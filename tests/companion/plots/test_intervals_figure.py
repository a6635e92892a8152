import itertools
import warnings

import pytest

from repeval.companion.book.stage import with_lists
from repeval.companion.plots import intervals
from repeval.stats import intervals as statistics
from repeval.stats.intervals import ESTIMANDS, INTERVALS, Kind

from .made import CASES, analysed, drawn


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("figure", [intervals.two_questions, intervals.widths])
def test_figures_of_intervals_on_any_data(case, figure):
    _, analysis = analysed(case)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=RuntimeWarning)
        drawn(figure(analysis, "default"))


def test_two_questions_draws_the_intervals_of_the_analysis():
    _, analysis = analysed("three")
    plot = intervals.two_questions(analysis, "default")
    assert set(plot.data["interval"]) == {"fixed_t", "clustered_wilson", "pooled_wilson"}
    for row in plot.data.itertuples():
        system = analysis.system(row.model, "default")
        assert (row.low, row.high) == system.intervals[row.interval]
    half = [50 * (i[1] - i[0]) for s in analysis.systems if (i := s.intervals["fixed_t"])]
    assert f"on these 30 problems: ±{min(half):.0f} to ±{max(half):.0f} points" in plot.caption


def test_one_run_has_no_interval_for_these_problems():
    _, analysis = analysed("one run")
    plot = intervals.two_questions(analysis, "default")
    assert set(plot.data["interval"]) == {"clustered_wilson", "pooled_wilson"}
    assert "these problems," not in plot.alt
    assert "blue" not in intervals.widths(analysis, "default").caption
    assert "on these 30 problems: needs two runs of a problem; on" in plot.caption


def test_widths_are_relative_to_pooling():
    _, analysis = analysed("three")
    data = intervals.widths(analysis, "default").data
    assert set(data["interval"]) == set(INTERVALS)
    assert (data.loc[data["interval"] == "pooled_wilson", "relative_width"] == 1).all()
    low, high = analysis.system("m01", "default").intervals["one_level"]
    a, b = analysis.system("m01", "default").intervals["pooled_wilson"]
    row = data[(data["interval"] == "one_level") & (data["model"] == "m01")]
    assert row["relative_width"].item() == pytest.approx((high - low) / (b - a))


def test_scores_are_compared_with_the_normal_interval():
    _, analysis = analysed("scores")
    plot = intervals.widths(analysis, "default")
    assert f"1 of the {len(INTERVALS)} intervals do not exist" in plot.caption
    assert (plot.data.loc[plot.data["interval"] == "clustered_normal", "relative_width"] == 1).all()


def rows_of(plot):
    """The names of a figure's rows, from the top."""
    return [text.get_text() for text in plot.figure.axes[0].get_yticklabels()]


def test_rows_have_the_words_of_the_list_grouped_by_estimand():
    _, analysis = analysed("three")
    rows = rows_of(intervals.widths(analysis, "default"))
    assert sorted(rows) == sorted(kind.label for kind in INTERVALS.values())
    estimands = [ESTIMANDS[name] for name in intervals.in_rows()]
    assert [k for k, _ in itertools.groupby(estimands)] == ["neither", "superpopulation", "fixed"]


def test_a_new_interval_reaches_answers_figures_and_glossary_by_one_entry(monkeypatch):
    new = Kind("fixed", "", "a new one")
    monkeypatch.setitem(INTERVALS, "new", new)
    monkeypatch.setitem(ESTIMANDS, "new", new.estimand)
    monkeypatch.setitem(statistics._CLOSED, "new", statistics._CLOSED["fixed_t"])
    _, analysis = analysed("three")
    assert analysis.systems[0].intervals["new"] == analysis.systems[0].intervals["fixed_t"]
    assert new.words in rows_of(drawn(intervals.widths(analysis, "default")))
    drawn(intervals.two_questions(analysis, "default"))
    page = with_lists("Some.\n\n% intervals\n\nMore.")
    assert "| a new one | these problems |  | `new` |\n\nMore." in page
