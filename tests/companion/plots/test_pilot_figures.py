"""What the figures of pilots and subsets draw, against the tables they draw from."""

import math

import numpy as np
import pytest

import repeval
from repeval.companion.plots import pilot as figures
from repeval.companion.studies import pilot, result, subsets

from .made import drawn


@pytest.fixture(scope="module")
def tables():
    outcomes = repeval.load()
    return {name: result(name, outcomes) for name in ("pilot", "subsets")}


def xs(plot, marker):
    lines = [line for line in plot.figure.axes[0].lines if line.get_marker() == marker]
    return [np.asarray(line.get_xdata()).tolist() for line in lines]


def test_errors(tables):
    plot = drawn(figures.errors(tables["pilot"], 0.25))
    found = pilot.errors(tables["pilot"])
    assert xs(plot, "D") == [found["ceiling"].tolist()]
    single = xs(plot, "o")
    assert len(single) == 14
    # Systems have equal weight: their points average to the mean.
    assert np.mean(single, axis=0) == pytest.approx(found["ceiling"].to_numpy())
    (dashed,) = [line for line in plot.figure.axes[0].lines if line.get_linestyle() == "--"]
    assert dashed.get_xdata()[0] == 0.25
    assert "less one is 0.25" in plot.caption
    assert f"{found['ceiling'].iloc[-1]:.2f} with 5 runs" in plot.caption
    counted = f"1 of {found['splits'].iloc[0]} (2 runs against unused runs)"
    assert (counted in plot.caption) == (found["left_out"].iloc[0] == 1)
    labels = [t.get_text() for t in plot.figure.axes[0].get_yticklabels()]
    assert labels[0] == "2 runs against\nunused runs"


def test_nothing_left_out_is_not_told(tables):
    table = tables["pilot"].assign(estimate=0.5)
    assert "Left out" not in drawn(figures.errors(table, 0.25)).caption
    table.loc[0, "estimate"] = -1
    assert "Left out, as either half has no finite ceiling: 1 of 2800" in drawn(
        figures.errors(table, 0.25)
    ).caption  # fmt: skip


def test_interval_widths(tables):
    plot = drawn(figures.interval_widths(tables["pilot"]))
    pooled = pilot.widths(tables["pilot"])["width"].tolist()
    assert [x[0] for marker in "os^" for x in xs(plot, marker)] == pooled
    five = tables["pilot"].query("runs == 5").dropna(subset="width")["width"]
    (drawn_five,) = xs(plot, "^")
    assert drawn_five[1:] == sorted(five, reverse=True)
    assert plot.data[["2", "3", "5"]].to_numpy().T.tolist() == [
        xs(plot, marker)[0][1:] for marker in "os^"
    ]
    low, high = plot.figure.axes[0].get_xlim()
    assert low < plot.data.drop(columns="model").min().min()
    assert high > plot.data.drop(columns="model").max().max()


def test_subset_bands(tables):
    table = tables["subsets"]
    plot = drawn(figures.subset_bands(table))
    whole = table.drop_duplicates("model").set_index("model")["whole"]
    (diamonds,) = xs(plot, "D")
    assert diamonds == [
        whole[subsets.MEDIAN], *sorted(whole.drop(subsets.MEDIAN), reverse=True)
    ]  # fmt: skip
    bands = [x for x in xs(plot, "None") if len(x) == 2 and x != [0, 1]]
    assert sorted(map(tuple, bands)) == sorted(
        table[["low", "high"]].itertuples(index=False, name=None)
    )
    middle = table[table["model"] == subsets.MEDIAN].iloc[0]
    assert f"{middle['low']:.2f} to {middle['high']:.2f} with 30 problems" in plot.caption


def test_a_band_without_end_is_an_arrow(tables):
    table = tables["subsets"].copy()
    table.loc[(table["n"] == 30) & (table["model"] == "Gemini 3 Flash"), "high"] = math.inf
    plot = drawn(figures.subset_bands(table))
    assert len(xs(plot, ">")) == 1
