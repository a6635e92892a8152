"""Files that were damaged anywhere: one sentence or an answer; with checksums never another one."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from repeval import RepevalError, load
from repeval.io.outcomes import Outcomes
from tests.io.engines.doors import DOORS, everything_is_large
from tests.io.readers.test_own_totals import WRITERS, inspect
from tests.io.test_doors import json_array, rows_of, xlsx

#: Quick and full numbers of cases.
QUICK, FULL = 1_000, 70_000
HOW = {"deadline": None, "suppress_health_check": list(HealthCheck), "phases": [Phase.generate]}

DATA = {name: [row[name] for row in rows_of()] for name in rows_of()[0]}


def checked_parquet(folder: Path) -> Path:
    pq.write_table(pa.table(DATA), folder / "t.parquet", write_page_checksum=True)
    return folder / "t.parquet"


TABLES = {
    **{name: functools.partial(DOORS[name], DATA) for name in ("csv", "tsv", "jsonl", "csv.gz")},
    "parquet": checked_parquet,
    "json": lambda folder: json_array(rows_of(), folder),
    "xlsx": lambda folder: xlsx(rows_of(), folder),
}
LOGS = {name: functools.partial(writer, change="") for name, writer in WRITERS.items()}
ARCHIVE = {"eval": functools.partial(inspect, change="", suffix=".eval")}
FILES = {**TABLES, **LOGS, **ARCHIVE}
#: Files in which the bytes of runs have a sum.
SUMMED = ("csv.gz", "parquet", "xlsx", "eval")


def outcomes(path: Path, large: bool = False) -> Outcomes | None:
    """Read a file; None where it is refused. Whatever else is raised fails the test."""
    engine = everything_is_large(give_up=True) if large else contextlib.nullcontext()
    with engine, contextlib.suppress(RepevalError):
        return load(path)
    return None


def mutated(data: bytes, rng: np.random.Generator, first: int, last: int) -> bytes:
    """Change a bit, put bytes in, take some out or twice, or cut the end off."""
    at, n = int(rng.integers(first, last)), int(rng.integers(1, 40))
    flipped = bytes([data[at] ^ 1 << int(rng.integers(8))])
    return [
        data[:at] + flipped + data[at + 1 :],
        data[:at] + rng.bytes(n) + data[at:],
        data[:at] + data[at + n :],
        data[: at + n] + data[at:],
        data[:at],
    ][int(rng.integers(5))]


@functools.cache
def whole(name: str) -> tuple[dict[str, bytes], str, pd.DataFrame]:
    """Return the files of a kind, what is to be read, and the counts in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = FILES[name](Path(folder))
        files = [p for p in sorted(path.rglob("*")) if p.is_file()] if path.is_dir() else [path]
        found = outcomes(path)
        assert found is not None
        contents = {str(p.relative_to(folder)): p.read_bytes() for p in files}
        return contents, str(path.relative_to(folder)), found.counts()


def damaged(name: str, seed: int, large: bool) -> None:
    files, given, expected = whole(name)
    rng = np.random.default_rng(seed)
    one = sorted(files)[int(rng.integers(len(files)))]
    # What describes a Parquet file has no sum: only pages are changed.
    last = len(data := files[one])
    if name == "parquet":
        last -= 8 + int.from_bytes(data[-8:-4], "little")
    changed = mutated(data, rng, 4 if name == "parquet" else 0, last)
    with tempfile.TemporaryDirectory() as folder:
        for at, content in (files | {one: changed}).items():
            Path(folder, at).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, at).write_bytes(content)
        found = outcomes(Path(folder, given), large and name in TABLES)
    if found is not None and name in SUMMED and len(changed) == len(data):
        assert found.counts().equals(expected), (name, seed)


CASES = given(st.sampled_from(sorted(FILES)), st.integers(0, 2**32), st.booleans())


@settings(max_examples=QUICK, **HOW)
@CASES
def test_damage_is_refused_or_harmless(name, seed, large):
    damaged(name, seed, large)


@pytest.mark.full
@settings(max_examples=FULL, **HOW)
@CASES
def test_damage_is_refused_or_harmless_in_many(name, seed, large):
    damaged(name, seed, large)


@pytest.mark.parametrize("name", ["eval", "xlsx"])
def test_no_length_in_the_directory_of_an_archive_hides_what_follows(name, tmp_path):
    files, given, expected = whole(name)
    ((one, data),) = files.items()
    lengths = [m.start() + at for m in re.finditer(b"PK\1\2", data) for at in range(28, 34)]
    read = 0
    for at, bit in itertools.product(lengths, range(8)):
        changed = bytearray(data)
        changed[at] ^= 1 << bit
        (tmp_path / one).write_bytes(changed)
        found = outcomes(tmp_path / given)
        read += found is not None
        assert found is None or found.counts().equals(expected), (at, bit)
    assert read < len(lengths)
