"""One data set through every door, held in memory and reduced by an engine."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from repeval import RepevalError, analyze, load
from repeval.io.engines import size
from repeval.io.outcomes import Outcomes

Data = dict[str, list]


def texts(data: Data) -> list[list[str]]:
    """The rows as people write them: nothing for None, no point in whole numbers."""

    def text(value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        whole = isinstance(value, float) and value.is_integer()
        return "" if value is None else str(int(value) if whole else value)

    return [[text(v) for v in row] for row in zip(*data.values(), strict=True)]


def _csv(data: Data, path: Path, mark: str = ",") -> Path:
    cells = [list(data), *texts(data)]
    quoted = [[f'"{c}"' if set(c) & set(',;\t"\n\r') else c for c in row] for row in cells]
    text = "\n".join(mark.join(row) for row in quoted) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def _jsonl(data: Data, path: Path) -> Path:
    rows = (dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _parquet(data: Data, path: Path) -> Path:
    pq.write_table(pa.table(data), path)
    return path


DOORS = {
    "csv": lambda data, folder: _csv(data, folder / "t.csv"),
    "tsv": lambda data, folder: _csv(data, folder / "t.tsv", "\t"),
    "csv.gz": lambda data, folder: _csv(data, folder / "t.csv.gz"),
    "jsonl": lambda data, folder: _jsonl(data, folder / "t.jsonl"),
    "parquet": lambda data, folder: _parquet(data, folder / "t.parquet"),
    "pandas": lambda data, folder: pd.DataFrame(data),
    "polars": lambda data, folder: pl.DataFrame(data),
    "polars-lazy": lambda data, folder: pl.LazyFrame(data),
    "pyarrow": lambda data, folder: pa.table(data),
    "duckdb": lambda data, folder: duckdb.from_arrow(pa.table(data)),
}


@contextlib.contextmanager
def everything_is_large(give_up: bool = False) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(size, "MANY_BYTES", 0)
        patch.setattr(size, "MANY_ROWS", 0)
        # A fault of the engine's way must not be hidden by the other.
        if not give_up:
            patch.setattr(sys.modules["repeval.io.load"], "GIVE_UP", ())
        yield


def outcome_of(given: Any, **options: Any) -> Outcomes | RepevalError:
    try:
        return load(given, **options)
    except RepevalError as error:
        return error


def held_and_reduced(given: Any, **options: Any) -> tuple[Any, Any]:
    """Read twice; the second time by an engine, or not at all."""
    held = outcome_of(given, **options)
    with everything_is_large():
        found = outcome_of(given, **options)
    return held, found


def answer(outcomes: Outcomes) -> str:
    """The JSON but for what names the source."""
    try:
        found = analyze(outcomes, n_resamples=20).to_dict()
    except RepevalError as error:
        return error.text
    assert found["data"].pop("name")
    assert len(found["data"].pop("sha256")) == 64
    return json.dumps(found)


def assert_same(held: Any, found: Any, about: Any = "") -> None:
    """Hold two readings against each other, whole."""
    if isinstance(held, RepevalError) or isinstance(found, RepevalError):
        assert isinstance(held, RepevalError), (about, found)
        assert isinstance(found, RepevalError), (about, held)
        assert held.code == found.code, (about, held, found)
        # How many more such rows there are is not counted; of several repeated runs any is named;
        # what helps was tried on some rows.
        if " such rows)" not in held.text:
            one, two = (re.sub(r" and [\d,]+ more| Type .*", "", e.text) for e in (held, found))
            assert one == two, about
        return
    assert found.frame.empty, about
    for name in ("models", "conditions", "problems", "systems", "notices"):
        assert getattr(held, name) == getattr(found, name), (about, name)
    pd.testing.assert_frame_equal(
        held.labels, found.labels, obj=str(about), check_names=False, check_column_type=False
    )
    pd.testing.assert_frame_equal(held.counts(), found.counts())
    assert (held.policy, held.source.n_rows) == (found.policy, found.source.n_rows)
    for system in held.systems:
        assert held.lacking(*system).tolist() == found.lacking(*system).tolist(), about
        assert held.planned_runs(*system) == found.planned_runs(*system), about
    assert (held.before is None) == (found.before is None)
    assert answer(held) == answer(found), about
    pd.testing.assert_frame_equal(held.rows(), found.rows())
    pd.testing.assert_frame_equal(held.errored, found.errored)
