"""What is said of ranks is what the analysis holds."""

import re

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.companion.words import ranks as words
from repeval.report.analysis import analyze


@pytest.fixture(scope="module")
def about():
    analysis = analyze(repeval.load(), n_resamples=200)
    return analysis, analysis.condition


def test_reaches_and_table_are_those_of_the_rows(about):
    analysis, condition = about
    rows = [r for r in analysis.ranks if r.condition == condition]
    text, table = words.reaches(*about), words.two_level_table(*about)
    means = [float(m) for m in re.findall(r"mean ([\d.]+)", text)]
    for kind, mean in zip(words.KINDS, means, strict=True):
        wide = [high - low + 1 for low, high in (words.limits(r, kind) for r in rows)]
        assert mean == round(np.mean(wide), 1)
    assert table["model"].tolist() == [r.model for r in rows]
    first = rows[0].two_level
    assert table["interval"][0] == "{}-{}".format(*first.rank_interval)
    assert table["first in"][0] == f"{100 * first.p_first:.0f} %"


def test_shares_of_first_places_add_up_to_more_than_one(about):
    analysis, condition = about
    total = sum(r.two_level.p_first for r in analysis.ranks if r.condition == condition)
    assert total > 1
    assert f"add up to {total:.3f}" in words.ties(*about)


def test_one_model_has_no_rank(tidy):
    rows = [{"model": "a", "problem": p, "run": 1, "outcome": p % 2} for p in range(4)]
    about = analyze(repeval.load(tidy(rows)), n_resamples=50), "default"
    assert words.two_level_table(*about).empty
    assert "two models" in words.reaches(*about)
    assert words.ties(*about)


def test_coverage_is_counted_over_places():
    study = pd.DataFrame(
        [
            {"spread": spread, "kind": kind, "rank": i, "sets": 10, "held": held, "length": 2.0 + i}
            for spread in (0.01, 0.2) for kind in words.KINDS
            for i, held in enumerate([10, 10] if kind == "set" else [4, 8], 1)
        ]
    )  # fmt: skip
    table = words.coverage_table(study)
    assert table.iloc[0].tolist() == ["1.0", words.KINDS["two_level"], "60 %", "40 %", "3.5"]
    assert len(table) == 6
    text = words.coverage(study)
    assert "In 10 made-up data sets of 2 systems within 1.0 points" in text
    assert "rank set in 100 % of cases (worst place 100 %)" in text
