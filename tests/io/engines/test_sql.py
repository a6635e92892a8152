"""The SQL of the page on formats, run as it stands there, gives counts that are read."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from repeval import components, load

PAGE = Path(__file__).resolve().parents[3] / "book" / "formats.md"
TWICE, COUNTS, SUMS = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


@pytest.fixture
def judged() -> pd.DataFrame:
    rng = np.random.default_rng(2606)
    runs = rng.integers(1, 6, 20)
    keys = [(m, "x", f"p{i}", r) for m in "ab" for i in range(20) for r in range(runs[i])]
    frame = pd.DataFrame(keys, columns=["model", "condition", "problem", "run"])
    return frame.assign(outcome=rng.integers(0, 2, len(frame)).astype(float))


def run(query: str, judged: pd.DataFrame) -> duckdb.DuckDBPyRelation:
    duckdb.register("judged", judged)
    return duckdb.sql(query)


def test_passes(judged):
    assert not run(TWICE, judged).fetchall()
    pd.testing.assert_frame_equal(load(run(COUNTS, judged)).counts(), load(judged).counts())


def test_sums_of_scores(judged):
    scores = judged.assign(outcome=judged["outcome"] / 4)
    one, two = load(run(SUMS, scores)), load(scores)
    pd.testing.assert_frame_equal(one.counts(), two.counts())
    for system in two.systems:
        found, wanted = (components(x.system(*system)) for x in (one, two))
        assert found.ceiling == pytest.approx(wanted.ceiling)


def test_runs_without_verdict_are_left_out_and_repeated_ones_found(judged):
    lost = judged.assign(outcome=judged["outcome"].where(judged.index > 2))
    assert load(run(COUNTS, lost)).counts()["runs"].sum() == len(judged) - 3
    twice = pd.concat([judged, judged.iloc[[5]]])
    (found,) = run(TWICE, twice).fetchall()
    assert found[-1] == 2
