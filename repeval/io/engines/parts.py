"""Large files and frames as lazy frames of an engine, their columns named by position."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from repeval.io.containers import array, footer, parquet, points, twice
from repeval.io.containers import room as room_of
from repeval.io.containers.room import Room, json_cost
from repeval.io.engines import size
from repeval.io.files import Table, csv_records, csv_separator, kind_of
from repeval.io.formats import FORMATS
from repeval.io.frames import NAME, native_of, plain_values, quiet
from repeval.messages import Notice

if TYPE_CHECKING:
    import duckdb
    import narwhals.stable.v2 as nw

__all__ = ["Part", "frame_part", "opened"]

#: What DuckDB may take of memory, in MiB, before it uses the disk.
MEMORY = 480
#: What believes the least and greatest values that a Parquet file says it has: rows would be lost.
BELIEVING = "filter_pushdown,join_filter_pushdown,statistics_propagation"
#: Engines that lazy frames are reduced in; others are computed.
ENGINES = ("duckdb", "polars", "dask")
#: How many columns, and kinds of objects in JSON, an engine is asked about.
MOST_COLUMNS, MOST_LAYOUTS = 1000, 1000
#: How many rows tell what a table is like.
HEAD = 1000


@dataclass(frozen=True, eq=False)
class Part:
    """A file, or a frame, that an engine reads.

    `frame` has the columns c0, c1, ... for `columns`; `fixed` are further columns, of one value.
    """

    name: str
    model: str | None
    kind: str
    columns: tuple[str, ...]
    frame: nw.LazyFrame
    path: Path | None = None
    sha256: str = ""
    fixed: dict[str, str] = field(default_factory=dict)
    room: Room = field(default_factory=lambda: Room(math.inf))

    def at(self, column: str) -> str:
        """Return what a column is called in `frame`."""
        return f"c{self.columns.index(column)}"

    def numbered(self) -> nw.LazyFrame:
        """Return the frame with its rows counted from 0, in a column called row."""
        import narwhals.stable.v2 as nw

        native = self.frame.to_native()
        if self.engine == "duckdb":
            native = native.select("*, row_number() over () - 1 as row")
        elif self.engine == "polars":
            native = native.with_row_index("row")
        else:
            native = native.assign(row=1)
            native = native.assign(row=native["row"].cumsum() - 1)
        with quiet():
            return nw.from_native(native)

    @property
    def engine(self) -> str:
        """The engine that the frame is of, one of `ENGINES`."""
        return str(self.frame.implementation.value)

    def values(self, raw: Sequence[Any]) -> list[Any]:
        """Return values that an engine gave as the held reader has them."""
        if self.kind == "csv":
            return ["" if value is None else value for value in raw]
        if self.kind == "jsonl":
            texts = [value for value in raw if value is not None]
            self.room.hold(self.name, json_cost("".join(texts).encode()))
            return [None if value is None else json.loads(value) for value in raw]
        return list(raw)

    def fetched(self, frame: nw.LazyFrame) -> dict[str, list[Any]]:
        """Compute a small frame, and return its columns as lists."""
        plain = plain_values if self.kind == "frame" else lambda column: column.to_list()
        with quiet():
            return {column.name: plain(column) for column in frame.collect().iter_columns()}

    def table(self, columns: dict[str, list[Any]], rows: Sequence[int], **more: Any) -> Table:
        """Return some of the rows, or values, as a raw table; decimal commas become points."""
        found = {name: array(values) for name, values in columns.items()}
        for name, value in self.fixed.items():
            found[name] = array([value] * len(rows))
        notices: list[Notice] = []
        if self.kind == "csv" and csv_separator(self.path) in ";\t":
            notices = points(found, self.name)
        return Table(
            self.name, self.model, found, np.array(rows), self.sha256, tuple(notices),
            self.kind == "frame", **more,
        )  # fmt: skip

    def rows(self, frame: nw.LazyFrame) -> Table:
        """Fetch the few rows of a frame that `numbered` gave, with their numbers."""
        found = self.fetched(frame)
        order = np.argsort(found["row"])
        at = np.array(found["row"])[order]
        columns = {
            name: self.values([found[f"c{i}"][k] for k in order])
            for i, name in enumerate(self.columns)
        }
        return self.table(columns, self._numbers(at.tolist()))

    def head(self) -> Table:
        """Return the first rows."""
        found = self.fetched(self.frame.head(HEAD))
        columns = {name: self.values(found[f"c{i}"]) for i, name in enumerate(self.columns)}
        return self.table(columns, range(1, len(found["c0"]) + 1))

    def _numbers(self, at: list[int]) -> list[int]:
        """Return the numbers of rows as a person sees them, in text by reading it again."""
        if self.kind == "csv":
            # The header is the first record.
            lines = (line + 1 for line, _ in itertools.islice(csv_records(self.path), 1, None))
        elif self.kind == "jsonl":
            lines = _full_lines(self.path)
        else:
            return [i + 1 for i in at]
        wanted, last = set(at), max(at, default=-1)
        some = (line for i, line in enumerate(itertools.islice(lines, last + 1)) if i in wanted)
        return list(some)


def frame_part(data: Any) -> Part | None:
    """Return a large frame of a known engine as a part; None for what is small, or no frame."""
    import narwhals.stable.v2 as nw

    with quiet():
        try:
            frame = nw.from_native(native_of(data), pass_through=True)
            if isinstance(frame, nw.DataFrame):
                if len(frame) <= size.MANY_ROWS:
                    return None
                frame = frame.lazy(backend="polars")
            if not isinstance(frame, nw.LazyFrame):
                return None
            names = frame.collect_schema().names()
            columns = tuple(str(name).strip() for name in names)
            part = Part(NAME, None, "frame", columns, frame)
            if part.engine not in ENGINES or len(set(columns)) < len(columns):
                return None
            if int(part.fetched(frame.select(nw.len()))["len"][0]) <= size.MANY_ROWS:
                return None
            found = frame.select(*(nw.col(name).alias(f"c{i}") for i, name in enumerate(names)))
            return Part(NAME, None, "frame", columns, found)
        # Whatever is the matter, the held reader finds it, too, and has words for it.
        except Exception:
            return None


@contextmanager
def opened(files: Sequence[tuple[Path, str | None]], format: str | None) -> Iterator[list[Part]]:
    """Open files in DuckDB."""
    import duckdb

    size = sum(path.stat().st_size for path, _ in files)
    room, memory = Room(size), min(MEMORY, 64 + 20 * size // 2**20)
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as engine:
        engine.execute("set enable_progress_bar = false")
        engine.execute(f"set memory_limit = '{memory}MiB'")
        engine.execute(f"set temp_directory = '{folder}'")
        engine.execute(f"set disabled_optimizers = '{BELIEVING}'")
        engine.execute(f"set threads = {1 if memory < MEMORY else os.cpu_count() or 1}")
        yield [_part(engine, path, model, format, room) for path, model in files]


def _part(
    engine: duckdb.DuckDBPyConnection, path: Path, model: str | None, format: str | None,
    room: Room,
) -> Part:  # fmt: skip
    import narwhals.stable.v2 as nw

    if set("*?[") & set(str(path)):
        raise ValueError("a pattern of several names for DuckDB")
    kind = FORMATS[format] if format else kind_of(path)
    read = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet}[kind]
    # DuckDB holds no checksums against what it reads.
    if path.name.lower().endswith(".gz"):
        room_of.verify(path, room)
    elif kind == "parquet":
        parquet.verify(path, room)
    columns, relation = read(engine, path)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Part(path.name, model, kind, columns, nw.from_native(relation), path, sha256, room=room)


def _csv(engine: duckdb.DuckDBPyConnection, path: Path) -> tuple[tuple[str, ...], Any]:
    records = csv_records(path)
    try:
        _, header = next(records)
        lines, _ = next(records)
    except (StopIteration, csv.Error) as error:
        raise ValueError("no rows") from error
    columns = tuple(name.strip() for name in header)
    if len(set(columns)) < len(columns):
        raise ValueError("a column twice")
    types = ", ".join(f"c{i}: 'VARCHAR'" for i in range(len(columns)))
    return columns, engine.sql(
        f"select * from read_csv({_text(path)}, columns = {{{types}}}, auto_detect = false, "
        f"header = false, skip = {lines}, delim = {_text(csv_separator(path))}, "
        "quote = '\"', escape = '\"')"
    )


def _parquet(engine: duckdb.DuckDBPyConnection, path: Path) -> tuple[tuple[str, ...], Any]:
    columns = tuple(footer.head(path)[0])
    if len(set(columns)) < len(columns):
        raise ValueError("a column twice")
    named = ", ".join(f"#{i + 1} as c{i}" for i in range(len(columns)))
    file = f"read_parquet({_text(path)}, hive_partitioning = false)"
    return columns, engine.sql(f"select {named} from {file}")


def _jsonl(engine: duckdb.DuckDBPyConnection, path: Path) -> tuple[tuple[str, ...], Any]:
    lines = f"read_ndjson_objects({_text(path)})"
    (first,) = engine.sql(f"select json from {lines} limit 1").fetchall()[0]
    layouts = f"select distinct json_keys(json) from {lines} limit {MOST_LAYOUTS}"
    found = engine.sql(layouts).fetchall()
    keys = {key for (keys,) in found for key in keys}
    if len(found) == MOST_LAYOUTS or len(keys) > MOST_COLUMNS:
        raise ValueError("objects of many kinds")
    for (names,) in found:
        if len(set(names)) < len(names):
            _refuse_twice(engine, path, lines, names)
    columns = tuple(dict.fromkeys([*json.loads(first), *sorted(keys)]))
    if any(name != name.strip() for name in columns):
        raise ValueError("a name with spaces")
    pointers = ["/" + name.replace("~", "~0").replace("/", "~1") for name in columns]
    found = ", ".join(f"json_extract(json, {_text(p)}) as c{i}" for i, p in enumerate(pointers))
    return columns, engine.sql(f"select {found} from {lines}")


def _refuse_twice(
    engine: duckdb.DuckDBPyConnection, path: Path, lines: str, keys: Sequence[str]
) -> NoReturn:
    """Refuse lines that have a key twice, with the first of them."""
    rows = f"select json_keys(json) as keys, row_number() over () - 1 as row from {lines}"
    query = f"select min(row) from ({rows}) where keys = $1"
    ((at,),) = engine.execute(query, [list(keys)]).fetchall()
    row = next(itertools.islice(_full_lines(path), at, None))
    raise twice(f"{path.name}: row {row}", next(key for key in keys if keys.count(key) > 1))


def _text(value: object) -> str:
    """Write a text in SQL."""
    return "'" + str(value).replace("'", "''") + "'"


def _full_lines(path: Path) -> Iterator[int]:
    import gzip

    opener = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "rb") as file:
        yield from (number for number, line in enumerate(file, 1) if line.strip())
