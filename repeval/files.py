"""Files to raw tables: CSV, JSON Lines and Parquet, as text wherever text is written."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from repeval.notices import RepevalError

__all__ = ["Input", "Table", "find", "read"]

KINDS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl",
         ".parquet": "parquet"}  # fmt: skip
FORMATS = {"csv": "csv", "tsv": "csv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet"}


@dataclass(frozen=True)
class Input:
    """A file to read, and the model that ``NAME=PATH`` gave it."""

    path: Path
    model: str | None = None

    @property
    def stem(self) -> str:
        """File name without ``.gz`` and extension."""
        name = self.path.name.removesuffix(".gz")
        return name.rpartition(".")[0] or name


@dataclass(frozen=True, eq=False)
class Table:
    """A raw table: columns as written, and where its rows stand in the file.

    Attributes
    ----------
    file : Input
    frame : DataFrame
        Text for CSV; the values of the file for the others.
    sha256 : str
        Of the bytes of the file.
    rows : (n,) int array or None
        Row numbers as a person sees them; None for consecutive ones.
    first : int
        Number of the first row.
    """

    file: Input
    frame: pd.DataFrame
    sha256: str
    rows: np.ndarray | None = None
    first: int = 1

    @property
    def name(self) -> str:
        """Name of the file, for messages."""
        return self.file.path.name

    def row(self, index: int) -> int:
        """Return the number of a row as a person sees it; a CSV header is row 1."""
        return int(index) + self.first if self.rows is None else int(self.rows[index])


def find(paths: str | Path | Iterable[str | Path], format: str | None = None) -> list[Input]:
    """List the files of paths, directories and ``NAME=PATH``.

    Raises
    ------
    RepevalError
        If a path does not exist or a directory holds no table.
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    files: list[Input] = []
    for given in paths:
        path, model = _split_name(os.fspath(given))
        if not path.is_dir():
            files.append(Input(path, model))
            continue
        inside = sorted(
            p for p in path.iterdir()
            if p.is_file() and not p.name.startswith(".") and (format or _kind(p))
        )  # fmt: skip
        if not inside:
            raise RepevalError(
                "no-tables",
                f"{path}: the directory holds no .csv, .tsv, .jsonl, .ndjson or .parquet file.",
            )
        files += [Input(p, model) for p in inside]
    return files


def _split_name(given: str) -> tuple[Path, str | None]:
    """Take ``NAME=PATH`` apart; names and paths may hold further equals signs."""
    try:
        if given and Path(given).exists():
            return Path(given), None
        for i, sign in enumerate(given):
            if sign == "=" and i and given[i + 1 :] and Path(given[i + 1 :]).exists():
                return Path(given[i + 1 :]), given[:i]
    except (OSError, ValueError):
        pass
    raise RepevalError(
        "file-not-found",
        f"{given}: there is no such file or directory. To name a model write NAME=PATH with a "
        "path that exists.",
    )


def _kind(path: Path) -> str | None:
    return KINDS.get(Path(path.name.lower().removesuffix(".gz")).suffix)


def read(file: Input, format: str | None = None) -> Table:
    """Read one file.

    Parameters
    ----------
    file : Input
    format : {None, "csv", "tsv", "jsonl", "ndjson", "parquet"}
        None: by the extension.

    Raises
    ------
    RepevalError
        If the file cannot be read; the text names file, rows and the way out.
    """
    path = file.path
    if format is not None and format not in FORMATS:
        raise RepevalError("bad-option", f"--format {format}: must be one of {', '.join(FORMATS)}.")
    kind = FORMATS[format] if format else _kind(path)
    if kind is None:
        raise RepevalError(
            "unknown-format",
            f"{path.name}: the extension is not .csv, .tsv, .jsonl, .ndjson (each also .gz) or "
            ".parquet. Say what it is: --format csv, tsv, jsonl or parquet.",
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _damaged(path.name, error.strerror or str(error)) from None
    sha256 = hashlib.sha256(data).hexdigest()
    if path.name.lower().endswith(".gz"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise _damaged(path.name, f"gzip: {error}") from None
    if not data.strip():
        raise _empty(path.name)
    reader = {"csv": _csv, "jsonl": _jsonl, "parquet": _parquet}[kind]
    frame, rows, first = reader(data, path.name)
    if not len(frame):
        raise _empty(path.name, "has a header and no rows")
    return Table(file, frame, sha256, rows, first)


def _csv(data: bytes, name: str) -> tuple[pd.DataFrame, np.ndarray | None, int]:
    text = _decode(data, name)
    start = re.search(r"[^\r\n]*\S[^\r\n]*", text)
    sep = max(",;\t", key=lambda d: len(next(csv.reader([start[0] if start else ""], delimiter=d))))
    header, rows = _check_rows(text, sep, name)
    twice = [c for i, c in enumerate(header) if c in header[:i]]
    if twice:
        raise RepevalError(
            "duplicate-column", f"{name}: two columns are called {twice[0]!r}; rename one."
        )
    try:
        frame = pd.read_csv(io.StringIO(text), sep=sep, dtype=str, na_filter=False, index_col=False)
    except (ValueError, OverflowError) as error:
        why = str(error)
        why = "a quote is opened and not closed" if "EOF inside string" in why else why
        raise _damaged(name, why) from None
    if frame.shape != (len(rows), len(header)):
        raise _damaged(name, "quotes do not pair up")
    frame.columns = header
    plain = len(rows) == 0 or (rows[0] == 2 and rows[-1] == len(rows) + 1)
    return frame, None if plain else rows, 2


def _check_rows(text: str, sep: str, name: str) -> tuple[list[str], np.ndarray]:
    """Return the header and the line on which every record starts; refuse ragged rows."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        records = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
        size, end = [], []
        header: list[str] = []
        for record in records:
            if not header and any(map(str.strip, record)):
                header = [c.strip() for c in record]
            size.append(0 if len(record) == 1 and not record[0].strip() else len(record))
            end.append(records.line_num)
    except csv.Error as error:
        raise _damaged(name, str(error)) from None
    finally:
        csv.field_size_limit(limit)
    width, sizes = len(header), np.array(size)
    # A table of one column has no separators; its blank records are no rows either.
    start = np.concatenate([[1], np.array(end[:-1], int) + 1])[sizes > 0]
    wrong = sizes[sizes > 0] != width
    if wrong.any():
        found = sizes[sizes > 0][wrong]
        raise RepevalError(
            "ragged-rows",
            f"{name}: the header has {width} columns, but {rows_text(start[wrong])} "
            f"{'has' if len(found) == 1 else 'have'} {found[0] if len(found) == 1 else 'others'}. "
            "Put fields that contain the separator in quotes.",
        )
    return header, start[1:]


def _jsonl(data: bytes, name: str) -> tuple[pd.DataFrame, np.ndarray | None, int]:
    # Not splitlines(): JSON text may hold line separators other than \n.
    lines = [(i, s) for i, s in enumerate(_decode(data, name).split("\n"), 1) if s.strip()]
    records = []
    for i, line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            shown = line if len(line) <= 40 else line[:37] + "..."
            raise RepevalError(
                "bad-json-line",
                f"{name}: row {i} is not a JSON object ({shown.strip()!r}). JSON Lines holds one "
                "object per line.",
            )
        records.append(record)
    columns = dict.fromkeys(key for record in records for key in record)
    frame = pd.DataFrame({c: pd.Series([r.get(c) for r in records], dtype=object) for c in columns})
    return frame, np.array([i for i, _ in lines]), 1


def _parquet(data: bytes, name: str) -> tuple[pd.DataFrame, None, int]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise RepevalError(
            "needs-pyarrow",
            f"{name}: reading Parquet needs pyarrow: pip install repeval[logs], or convert the "
            "file to CSV.",
        ) from None
    try:
        frame = pq.read_table(pa.BufferReader(data)).to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(name, str(error).split("\n")[0]) from None
    return frame, None, 1


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data[: error.start].count(b"\n") + 1
        raise RepevalError(
            "not-utf8", f"{name}: row {row} is not UTF-8 text. Save the file as UTF-8."
        ) from None


def rows_text(rows: Sequence[int], n: int = 5) -> str:
    """Write row numbers: ``row 7``, ``rows 3, 4 and 9 more``."""
    rows = [int(r) for r in rows]
    if len(rows) == 1:
        return f"row {rows[0]}"
    more = f" and {len(rows) - n} more" if len(rows) > n else ""
    return f"rows {', '.join(map(str, rows[:n]))}{more}"


def _damaged(name: str, why: str) -> RepevalError:
    return RepevalError("unreadable-file", f"{name} cannot be read: {why}.")


def _empty(name: str, what: str = "is empty") -> RepevalError:
    return RepevalError(
        "empty-file",
        f"{name} {what}. A table has a header (model, condition, problem, run, outcome) and one "
        "row for each judged run.",
    )
