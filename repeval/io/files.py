"""Files to raw tables: bytes, text and its encoding, CSV and Parquet; others in `tables`."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from repeval.io import containers
from repeval.io.containers import Columns, Content, damaged
from repeval.io.containers.room import Room, json_cost, text_cost
from repeval.io.formats import FORMATS
from repeval.messages import Notice, RepevalError, refused, some

__all__ = [
    "Table", "csv_records", "csv_separator", "kind_of", "lacks_rows", "read", "rows_text",
    "split_name",
]  # fmt: skip

SEPARATORS = ",;\t"

#: What content takes that was packed.
COSTS = {"csv": text_cost, "json": json_cost, "jsonl": json_cost}
#: Of each column it is asked what it stands for.
MOST_COLUMNS = 20_000
#: Longer lines are read as one text or not at all.
LONGEST = 2**21
#: How JSON that holds rows may begin, before all of it is read.
ROWS = re.compile(rb'[\xef\xbb\xbf\s]*(\[\s*\{|\{\s*"columns"\s*:\s*\[)')
#: Bytes of Western European text in Latin-1: letters with accents and common signs.
LATIN = re.compile(rb"[\xa0\xa1\xa3\xa7\xa9-\xab\xae\xb0-\xb5\xb7\xba-\xd6\xd8-\xf6\xf8-\xff]")
#: No such text: zeros, three such letters or four signs in a row, two letters that are a word
#: (other alphabets), and pairs as in UTF-8.
OTHER = re.compile(
    rb"\0|[\xc0-\xff]{3}|[\x80-\xff]{4}|(?<![A-Za-z])[\xc0-\xff]{2}(?![A-Za-z])"
    rb"|[\xc2-\xdf][\x80-\xbf]"
)


@dataclass(frozen=True, eq=False)
class Table:
    """A raw table.

    `columns` are object arrays: text for CSV, the values of the file for the others. `rows` are
    row numbers as a person sees them; a CSV header is row 1. `model` is what ``NAME=PATH`` says,
    `notices` what was assumed about the file, and `frame` tells what was no file. A table of
    different values, column by column, has `weights`: how often each of the outcomes occurs.
    """

    name: str
    model: str | None
    columns: Columns
    rows: np.ndarray
    sha256: str
    notices: tuple[Notice, ...] = ()
    frame: bool = False
    weights: np.ndarray | None = None

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


def read(
    path: Path, model: str | None = None, format: str | None = None, room: Room | None = None
) -> Table:
    """Read one file, by its extension or as `format` (one of `FORMATS`).

    `room` is what there is for it and for others that are held with it.
    """
    name, kind = path.name, FORMATS[format] if format else kind_of(path)
    try:
        data = path.read_bytes()
        sha256, room = hashlib.sha256(data).hexdigest(), room or Room(len(data))
        if name.lower().endswith(".gz"):
            data = room.unpacked(name, data)
            if kind in COSTS:
                room.take(name, COSTS[kind](data))
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(name, getattr(error, "strerror", None) or error) from None
    if not data.strip():
        raise refused("empty-file", f"{name} is empty.")
    columns, rows, notices = _content(data, kind, name, room)
    if not len(rows):
        raise refused("empty-file", f"{name} has no rows.")
    if len(columns) > MOST_COLUMNS:
        what = f"{name} has {len(columns):,} columns: {MOST_COLUMNS:,} are read at most"
        raise RepevalError("doubtful-layout", f"{what}. Give a row for each run instead.")
    return Table(name, model, columns, np.array(rows), sha256, tuple(notices))


def lacks_rows(path: Path) -> str:
    """Return why a JSON file is no table, "" where it is one or is not told by its start."""
    with suppress(OSError, EOFError, zlib.error):
        opener = gzip.open if path.name.lower().endswith(".gz") else open
        with opener(path, "rb") as file:
            head = file.read(2**16)
        if ROWS.match(head):
            return ""
    try:
        read(path)
    except RepevalError as error:
        return error.text if error.code == "no-rows" else ""
    return ""


def _content(data: bytes, kind: str, name: str, room: Room) -> Content:
    if kind == "parquet":
        return _parquet(data, name, room)
    if kind == "xlsx":
        return containers.workbook_table(data, name, room)
    text, notices = _decode(data, name)
    take = {"csv": _csv, "json": containers.json_table, "jsonl": containers.jsonl_table}[kind]
    columns, rows, more = take(text, name, room)
    return columns, rows, notices + more


def _csv(text: str, name: str, _: Room) -> Content:
    start = re.search(r"[^\r\n]*\S[^\r\n]*", text)
    first = [start[0] if start else ""]
    # One flat list: the garbage collector would walk a list for each row again and again.
    fields, sizes, rows, end = [], [], [], 0
    limit = csv.field_size_limit(len(text) + 1)
    try:
        sep = max(SEPARATORS, key=lambda d: len(next(csv.reader(first, delimiter=d))))
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
        for record in reader:
            # A table of one column has no separators; its blank records are no rows either.
            if len(record) > 1 or "".join(record).strip():
                fields += record
                sizes.append(len(record))
                rows.append(end + 1)
            end = reader.line_num
    except csv.Error as error:
        raise damaged(name, f"quotes do not pair up from row {end + 1} on ({error})") from None
    finally:
        csv.field_size_limit(limit)
    if not sizes:
        return {}, [], []
    width = sizes[0]
    header = [c.strip() for c in fields[:width]]
    wrong = [i for i, size in enumerate(sizes) if size != width]
    if wrong:
        have = f"has {sizes[wrong[0]]}" if len(wrong) == 1 else "have others"
        what = f"the header has {width} columns, but {rows_text(rows, wrong)} {have}"
        raise refused("ragged-rows", f"{name}: {what}.")
    columns = containers.with_header(header, fields[width:], name)
    return columns, rows[1:], containers.points(columns, name) if sep in ";\t" else []


def _parquet(data: bytes, name: str, room: Room) -> Content:
    try:
        import pyarrow as pa
    except ImportError:
        raise refused("needs-pyarrow", f"{name}: reading Parquet needs pyarrow.") from None
    from repeval.io.containers.parquet import parquet_columns

    try:
        columns, n_rows = parquet_columns(data, name, room)
    except RepevalError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError) as error:
        raise damaged(name, str(error).split("\n")[0]) from None
    return columns, range(1, n_rows + 1), []


def _decode(data: bytes, name: str) -> tuple[str, list[Notice]]:
    """Return text in UTF-8, or, where nothing speaks against it, in Latin-1, and say so."""
    if data.startswith(b"PK\3\4"):
        what = f"{name} is an archive and no text. A workbook is read by --format xlsx."
        raise RepevalError("not-utf8", what)
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        row = data[: error.start].count(b"\n") + 1
    if LATIN.sub(b"", data).isascii() and not OTHER.search(data):
        text = f"{name} is not UTF-8 (row {row}): it is read as Latin-1."
        return data.decode("latin-1"), [Notice("latin-1", text)]
    raise refused("not-utf8", f"{name}: row {row} is not UTF-8 text, nor surely Latin-1.")


def rows_text(rows: Sequence[int], at: Sequence[int]) -> str:
    """Write the row numbers at some positions: ``row 7``, ``rows 3, 4 and 9 more``."""
    numbers = dict.fromkeys(rows[i] for i in at)
    return f"row{'s' * (len(numbers) > 1)} {some(numbers, 5)}"


def csv_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield how many lines came before a record of a file, and the record; no blank ones."""
    separator = csv_separator(path)
    with _opened(path) as file:
        reader, end = csv.reader(_lines(file), delimiter=separator), 0
        for record in reader:
            if len(record) > 1 or "".join(record).strip():
                yield end, record
            end = reader.line_num


def csv_separator(path: Path) -> str:
    """Return what separates the fields of a file's first line that is not blank."""
    with _opened(path) as file:
        line = next((line for line in _lines(file) if line.strip()), "")
    return max(SEPARATORS, key=lambda mark: len(next(csv.reader([line], delimiter=mark))))


def _lines(file: IO[str]) -> Iterator[str]:
    while line := file.readline(LONGEST):
        if len(line) == LONGEST:
            raise ValueError("a line without end")
        yield line


def _opened(path: Path) -> IO[str]:
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8-sig", newline="", errors="replace")
