import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.companion.plots import coverage
from repeval.companion.studies import coverage as study
from repeval.stats.intervals import ESTIMANDS, INTERVALS

from .made import drawn


@pytest.fixture(scope="module")
def table():
    size = {**study.SIZES["quick"], "datasets": 25, "resamples": 100}
    tasks = study.tasks(repeval.load(), **size)
    return pd.DataFrame([row for task in tasks for row in study.rows(task, 2606, **size)])


def test_the_figure_shows_the_papers_procedures_and_closed_forms(table):
    plot = drawn(coverage.covered(table))
    assert len(plot.data) == 3 * len(ESTIMANDS)
    assert "exact" not in set(plot.data["method"])
    row = plot.data[plot.data["interval"] == "fixed_t"].iloc[-1]
    source = table[table["interval"] == "fixed_t"].iloc[-1]
    assert row["pbar"] == pytest.approx(100 * source["pbar"] / source["datasets"])


def test_shares_below_the_scale_are_written(table):
    plot = coverage.covered(table)
    for axes, truth in zip(plot.figure.axes, ("mu", "pbar"), strict=True):
        below = plot.data.loc[plot.data[truth] < coverage.LOWEST, truth]
        assert sorted(t.get_text() for t in axes.texts) == sorted(f"{x:.0f}" for x in below)


def test_the_caption_gives_the_range_of_each_kind(table):
    rows = table[(table["method"] != "exact") & table["interval"].map(ESTIMANDS).eq("fixed")]
    share = 100 * rows["pbar"] / rows["datasets"]
    assert f"cover p̄ in {share.min():.1f} to {share.max():.1f} %" in coverage.covered(table).caption
    assert coverage.reach(table, "pbar", "clustered_wilson") == "100.0 %"


def test_sentences_follow_the_table(table):
    assert "25 data sets of 99 problems with 5 runs" in coverage.setting(table)
    made = table.assign(unchanged=0)
    assert coverage.unchanged(made).endswith("in none of the data sets.")
    made.loc[made["model"] == study.MODELS[-1], "unchanged"] = 2
    assert coverage.unchanged(made).endswith(f"in 2 of 25 data sets of {study.MODELS[-1]}.")
    last = made.index[made["interval"] == "fixed_t"][-1]
    made.loc[last, ["ends", "datasets"]] = 5, 10
    text = f"fixed_t, in 50.0 % of the data sets of {study.MODELS[-1]}."
    assert coverage.hits(made).endswith(text.replace("fixed_t", INTERVALS["fixed_t"].words))


def test_drawn_and_exact_are_compared_row_by_row(table):
    wider = table.copy()
    wider["width"] = np.where(table["method"] == "monte-carlo", 0.98, 1.0)
    assert coverage.narrower(wider) == "2.00 %"
    found = coverage.bootstraps(wider)
    assert len(found) == 9
    assert set(found["drawn, width"]) == {"98.00"}
    assert set(found["exact, width"]) == {"100.00"}
    assert (found["covers"] == "p̄").sum() == 3


def test_the_tables_disagree_where_cells_are_far_off(table):
    assert "do not agree" in coverage.agreement(table.assign(mu=0))
    assert coverage.beside(table.assign(mu=0))["μ, %"].str.endswith("*").all()
    assert coverage.beside(table).shape == (18, 5)
