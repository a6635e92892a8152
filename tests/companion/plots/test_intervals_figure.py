import warnings

import pytest

from repeval.companion.book.stage import with_lists
from repeval.companion.plots import intervals
from repeval.stats import intervals as statistics
from repeval.stats.intervals import ESTIMANDS, INTERVALS, Kind

from .made import CASES, analysed, drawn


@pytest.mark.parametrize("case", CASES)
def test_two_questions_on_any_data(case):
    _, analysis = analysed(case)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=RuntimeWarning)
        drawn(intervals.two_questions(analysis, "default"))


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
    assert set(plot.data["interval"]) == {"clustered_wilson"}
    assert "two questions" not in plot.caption
    assert "these problems," not in plot.alt
    assert "on these 30 problems: needs two runs of a problem; on" in plot.caption


def test_a_new_interval_reaches_answers_figures_and_glossary_by_one_entry(monkeypatch):
    new = Kind("fixed", "", "a new one")
    monkeypatch.setitem(INTERVALS, "new", new)
    monkeypatch.setitem(ESTIMANDS, "new", new.estimand)
    monkeypatch.setitem(statistics._CLOSED, "new", statistics._CLOSED["fixed_t"])
    _, analysis = analysed("three")
    assert analysis.systems[0].intervals["new"] == analysis.systems[0].intervals["fixed_t"]
    drawn(intervals.two_questions(analysis, "default"))
    page = with_lists("Some.\n\n% intervals\n\nMore.")
    assert "| a new one | these problems | `new` |\n\nMore." in page
