"""Files to raw tables: CSV, JSON Lines and Parquet, as text wherever text is written."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from repeval.io.formats import FORMATS
from repeval.messages import RepevalError, refused, some

__all__ = [
    "Table", "csv_records", "csv_separator", "kind_of", "read", "rows_text", "split_name",
]  # fmt: skip

SEPARATORS = ",;\t"

#: What a file may unpack to, or a hundred times its size: a small one can hold endless zeros.
LARGEST = 2**28

Columns = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Table:
    """A raw table.

    `columns` are object arrays: text for CSV, the values of the file for the others. `rows` are
    row numbers as a person sees them; a CSV header is row 1. `model` is what ``NAME=PATH`` says.
    `frame` tells what was no file.
    """

    name: str
    model: str | None
    columns: Columns
    rows: np.ndarray
    sha256: str
    frame: bool = False

    def at(self, positions: Sequence[int]) -> str:
        """Write the row numbers at some positions, see `rows_text`."""
        return rows_text(self.rows, positions) + " of the frame" * self.frame


def split_name(given: str) -> tuple[Path, str | None]:
    """Take ``NAME=PATH`` apart; names and paths may hold further equals signs."""
    cuts = [i for i, sign in enumerate(given) if sign == "=" and i]
    for path, model in [(given, None), *((given[i + 1 :], given[:i]) for i in cuts)]:
        with suppress(OSError, ValueError):
            if path and Path(path).exists():
                return Path(path), model
    raise refused("file-not-found", f"{given}: there is no such file or directory.")


def kind_of(path: Path) -> str | None:
    """Return the kind of a table by its extension, one of `FORMATS`' values."""
    return FORMATS.get(Path(path.name.lower().removesuffix(".gz")).suffix[1:])


def read(path: Path, model: str | None = None, format: str | None = None) -> Table:
    """Read one file, by its extension or as `format` (one of `FORMATS`)."""
    name, kind = path.name, FORMATS[format] if format else kind_of(path)
    try:
        data = path.read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        if name.lower().endswith(".gz"):
            with gzip.open(io.BytesIO(data)) as unpacked:
                most = max(LARGEST, 100 * len(data))
                data = unpacked.read(most + 1)
            if len(data) > most:
                raise refused("member-too-large", f"{name} unpacks to over {most:,} bytes.")
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(name, getattr(error, "strerror", None) or error) from None
    if not data.strip():
        raise refused("empty-file", f"{name} is empty.")
    columns, rows = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet}[kind](data, name)
    if not len(rows):
        raise refused("empty-file", f"{name} has no rows.")
    return Table(name, model, columns, np.array(rows), sha256)


def _csv(data: bytes, name: str) -> tuple[Columns, Sequence[int]]:
    text = _decode(data, name)
    start = re.search(r"[^\r\n]*\S[^\r\n]*", text)
    first = [start[0] if start else ""]
    sep = max(SEPARATORS, key=lambda d: len(next(csv.reader(first, delimiter=d))))
    # One flat list: the garbage collector would walk a list for each row again and again.
    fields, sizes, rows, end = [], [], [], 0
    limit = csv.field_size_limit(len(text) + 1)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
        for record in reader:
            # A table of one column has no separators; its blank records are no rows either.
            if len(record) > 1 or "".join(record).strip():
                fields += record
                sizes.append(len(record))
                rows.append(end + 1)
            end = reader.line_num
    except csv.Error as error:
        raise _damaged(name, f"quotes do not pair up from row {end + 1} on ({error})") from None
    finally:
        csv.field_size_limit(limit)
    if not sizes:
        return {}, []
    width = sizes[0]
    header = [c.strip() for c in fields[:width]]
    twice = [c for i, c in enumerate(header) if c in header[:i]]
    if twice:
        raise refused("duplicate-column", f"{name}: two columns are called {twice[0]!r}.")
    wrong = [i for i, size in enumerate(sizes) if size != width]
    if wrong:
        have = f"has {sizes[wrong[0]]}" if len(wrong) == 1 else "have others"
        what = f"the header has {width} columns, but {rows_text(rows, wrong)} {have}"
        raise refused("ragged-rows", f"{name}: {what}.")
    return dict(zip(header, _array(fields).reshape(-1, width)[1:].T, strict=True)), rows[1:]


def _jsonl(data: bytes, name: str) -> tuple[Columns, Sequence[int]]:
    records, rows = [], []
    # Not splitlines(): JSON text may hold line separators other than \n.
    for row, line in enumerate(_decode(data, name).split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            shown = line.strip()[:40]
            raise refused("bad-json-line", f"{name}: row {row} is not a JSON object ({shown!r}).")
        records.append(record)
        rows.append(row)
    names = dict.fromkeys(key for record in records for key in record)
    return {c: _array([record.get(c) for record in records]) for c in names}, rows


def _parquet(data: bytes, name: str) -> tuple[Columns, Sequence[int]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise refused("needs-pyarrow", f"{name}: reading Parquet needs pyarrow.") from None
    try:
        table = pq.read_table(pa.BufferReader(data))
        columns = {c: _array(values) for c, values in table.to_pydict().items()}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(name, str(error).split("\n")[0]) from None
    return columns, range(1, table.num_rows + 1)


def _array(values: Sequence[Any]) -> np.ndarray:
    """Return values as they are; `np.array` would make lists in them a second dimension."""
    return np.fromiter(values, dtype=object, count=len(values))


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data[: error.start].count(b"\n") + 1
        raise refused("not-utf8", f"{name}: row {row} is not UTF-8 text.") from None


def rows_text(rows: Sequence[int], at: Sequence[int]) -> str:
    """Write the row numbers at some positions: ``row 7``, ``rows 3, 4 and 9 more``."""
    return f"row{'s' * (len(at) > 1)} {some([rows[i] for i in at], 5)}"


def _damaged(name: str, why: object) -> RepevalError:
    return refused("unreadable-file", f"{name} cannot be read: {why}.")


def csv_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield how many lines came before a record of a file, and the record; no blank ones."""
    separator = csv_separator(path)
    with _opened(path) as file:
        reader, end = csv.reader(file, delimiter=separator), 0
        for record in reader:
            if len(record) > 1 or "".join(record).strip():
                yield end, record
            end = reader.line_num


def csv_separator(path: Path) -> str:
    """Return what separates the fields of a file's first line that is not blank."""
    with _opened(path) as file:
        line = next((line for line in file if line.strip()), "")
    return max(SEPARATORS, key=lambda mark: len(next(csv.reader([line], delimiter=mark))))


def _opened(path: Path) -> IO[str]:
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8-sig", newline="", errors="replace")
