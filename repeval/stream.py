"""Tables too large to hold: batch by batch to passes and runs, in memory that grows with cells.

Duplicates are found exactly: a cell's run labels are summed as powers of two, and such a sum has
as many bits as it has terms only if no term occurs twice. Row numbers come from a second pass.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repeval.columns import resolve
from repeval.files import FORMATS, kind_of
from repeval.notices import Notice, RepevalError, refused
from repeval.records import number
from repeval.sample import Sample, from_counts

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Counted", "count", "is_large"]

#: Larger tables are streamed: bytes of CSV, rows of Parquet.
MANY_BYTES, MANY_ROWS = 64 * 2**20, 2 * 10**6
#: Run labels that fit the bits of a cell's sum.
MOST_RUNS = 62
#: Rows of partial counts before they are merged (130 MB).
MERGE_AT = 4 * 10**6
PROBLEM_BITS = 40


class Counted(NamedTuple):
    """Names of systems and problems, each system's problem codes and sample, and rows read."""

    problems: list[str]
    cells: dict[tuple[str, str], tuple[np.ndarray, Sample]]
    sha256: str
    n_rows: int


def is_large(path: Path, format: str | None) -> bool:
    """Tell whether a table should be streamed: large, of a kind and with a library that can."""
    kind = FORMATS[format] if format else kind_of(path)
    try:
        import pyarrow.parquet as pq
    except ImportError:
        return False
    if kind == "csv":
        packed = path.name.lower().endswith(".gz")
        return path.stat().st_size > MANY_BYTES // (8 if packed else 1)
    try:
        return kind == "parquet" and pq.read_metadata(path).num_rows > MANY_ROWS
    except (OSError, ValueError):
        return False


def count(
    path: Path, model: str | None, format: str | None, mapping: Mapping[str, str],
    notices: list[Notice],
) -> Counted:  # fmt: skip
    """Count passes and runs of every cell of a table of 0/1 outcomes."""
    reader = _Reader(path, model, format, mapping, notices)
    parts: list[np.ndarray] = []
    for keys, runs, passed, _ in reader.batches():
        one = np.ones(len(keys), dtype=np.int64)
        parts.append(_merged(keys, one, passed, np.int64(1) << runs))
        if sum(part.shape[1] for part in parts) > MERGE_AT:
            parts = [_merged(*np.concatenate(parts, axis=1))]
    if not parts:
        raise refused("empty-file", f"{path.name} has no rows.")
    keys, runs, passes, labels = _merged(*np.concatenate(parts, axis=1))
    if (twice := np.bitwise_count(labels) != runs).any():
        reader.refuse_duplicate(int(keys[twice][0]))
    names = list(reader.codes["problem"])
    system, problem = keys >> PROBLEM_BITS, keys & ((1 << PROBLEM_BITS) - 1)
    ends = [*np.flatnonzero(np.diff(system)) + 1, len(keys)]
    cells, start = {}, 0
    for end in ends:
        at = slice(start, end)
        cells[reader.system(int(system[start]))] = problem[at], from_counts(passes[at], runs[at])
        start = end
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Counted(names, cells, sha256, int(runs.sum()))


def _merged(keys: np.ndarray, *columns: np.ndarray) -> np.ndarray:
    """Add up columns over equal keys; rows of the result are the sorted keys and the sums."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    return np.stack([keys[first], *(np.add.reduceat(c[order], first) for c in columns)])


class _Reader:
    """Batches of a file as codes; codes are given in order of appearance."""

    def __init__(self, path, model, format, mapping, notices) -> None:
        self.path, self.model = path, model
        self.parquet = (FORMATS[format] if format else kind_of(path)) == "parquet"
        self.codes: dict[str, dict[str, int]] = {k: {} for k in ("system", "problem", "run")}
        if model:
            mapping = {"model": "", **mapping}
        self.roles = resolve(self._names(), mapping, path.name, notices)
        for role, text in (("model", f"after its file: {self._model()}"), ("run", "1")):
            if role not in self.roles and not (role == "model" and model):
                code = "model-from-file" if role == "model" else "no-run-column"
                notices.append(Notice(code, f"There is no {role} column: it is called {text}."))
        if "condition" not in self.roles:
            text = "There is no condition column: all rows have the condition default."
            notices.append(Notice("condition-default", text))

    def _model(self) -> str:
        return self.model or self.path.name.removesuffix(".gz").rpartition(".")[0]

    def system(self, code: int) -> tuple[str, str]:
        """Return the model and condition of a system's code."""
        model, condition = list(self.codes["system"])[code].split("\0")
        return model, condition

    def batches(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
        """Yield cell keys, run codes, outcomes, and how many rows came before."""
        before = 0
        for batch in self._raw():
            rows = batch.num_rows
            model = self._column(batch, "model", self._model())
            condition = self._column(batch, "condition", "default")
            system = self._coded("system", *_joined(model, condition, "\0"))
            problem = self._coded("problem", *self._column(batch, "problem", ""))
            run = self._coded("run", *self._column(batch, "run", "1"))
            if len(self.codes["run"]) > MOST_RUNS:
                what = f"{self.path.name} has over {MOST_RUNS} run labels"
                raise refused("too-many-runs", f"{what}.")
            yield (system << PROBLEM_BITS) | problem, run, self._outcome(batch, before), before
            before += rows

    def refuse_duplicate(self, key: int) -> None:
        """Read again up to the first repeated run of a cell, and name its rows."""
        seen: dict[int, int] = {}
        for keys, runs, _, before in self.batches():
            for i in np.flatnonzero(keys == key).tolist():
                run, row = int(runs[i]), self._row(before + i)
                if run in seen:
                    model, condition = self.system(key >> PROBLEM_BITS)
                    problem = list(self.codes["problem"])[key & ((1 << PROBLEM_BITS) - 1)]
                    label = list(self.codes["run"])[run]
                    of = repr(model) if condition == "default" else f"{model!r} ({condition})"
                    raise refused(
                        "duplicate-rows",
                        f"{self.path.name}: row {row} has the same model, condition, problem and "
                        f"run as row {seen[run]} ({of}, problem {problem!r}, run {label!r}).",
                    )
                seen[run] = row

    def _row(self, index: int) -> int:
        return index + (1 if self.parquet else 2)

    def _names(self) -> list[str]:
        if self.parquet:
            import pyarrow.parquet as pq

            return pq.read_schema(self.path).names
        return next(csv.reader([self._header()], delimiter=self._separator()))

    def _header(self) -> str:
        import pyarrow as pa

        with pa.input_stream(self.path) as stream:
            return stream.read(2**16).decode("utf-8-sig", "replace").split("\n")[0].rstrip("\r")

    def _separator(self) -> str:
        return max(",;\t", key=self._header().count)

    def _raw(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.csv as pc
        import pyarrow.parquet as pq

        wanted = [column for role in self.roles if role != "status" for column in self.roles[role]]
        try:
            if self.parquet:
                file = pq.ParquetFile(self.path)
                yield from file.iter_batches(2**20, columns=wanted)
                return
            with (
                pa.input_stream(self.path) as stream,
                pc.open_csv(
                    stream,
                    pc.ReadOptions(block_size=2**25, column_names=self._names(), skip_rows=1),
                    pc.ParseOptions(delimiter=self._separator()),
                    pc.ConvertOptions(
                        column_types=dict.fromkeys(self._names(), pa.string()),
                        include_columns=wanted,
                    ),
                ) as reader,
            ):
                yield from reader
        except (pa.ArrowException, OSError) as error:
            why = str(error).split("\n")[0]
            raise refused("unreadable-file", f"{self.path.name} cannot be read: {why}.") from None

    def _column(self, batch: pa.RecordBatch, role: str, default: str) -> tuple[np.ndarray, list]:
        """Return a key as codes of a batch's own names."""
        columns = [_encoded(batch.column(c)) for c in self.roles.get(role, ())]
        if not columns:
            return np.zeros(batch.num_rows, dtype=np.int64), [default]
        joined = columns[0]
        for column in columns[1:]:
            joined = _joined(joined, column, "/")
        if None in joined[1] or "" in joined[1]:
            raise refused("bad-key", f"{self.path.name}: an empty {role}.")
        return joined

    def _coded(self, role: str, local: np.ndarray, names: Sequence[str]) -> np.ndarray:
        known = self.codes[role]
        return np.array([known.setdefault(name, len(known)) for name in names])[local]

    def _outcome(self, batch: pa.RecordBatch, before: int) -> np.ndarray:
        codes, words = _encoded(batch.column(self.roles["outcome"][0]))
        values = np.array([number(word) for word in words])
        if (bad := ~np.isin(values, (0.0, 1.0))).any():
            at = int(np.flatnonzero(bad[codes])[0])
            where = f"row {self._row(before + at)} ({words[codes[at]]!r})"
            raise RepevalError(
                "large-table",
                f"{self.path.name}: the outcome in {where} is not passed or failed; so large a "
                "table is read as counts. Correct it, or split the table if it holds scores.",
            )
        return values[codes].astype(np.int64)


def _encoded(column: pa.Array) -> tuple[np.ndarray, list]:
    """Return codes and their texts."""
    import pyarrow as pa

    column = column.dictionary_encode() if not pa.types.is_dictionary(column.type) else column
    if column.null_count:
        column = column.cast(column.type.value_type).dictionary_encode("encode")
    texts = [
        v if v is None or isinstance(v, str) else _text(v) for v in column.dictionary.to_pylist()
    ]
    return column.indices.to_numpy(zero_copy_only=False).astype(np.int64), texts


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _joined(first, second, sep: str) -> tuple[np.ndarray, list[str]]:
    """Join two coded columns to one."""
    (a, names), (b, others) = first, second
    pairs, codes = np.unique(a * len(others) + b, return_inverse=True)
    texts = [f"{names[p // len(others)]}{sep}{others[p % len(others)]}" for p in pairs.tolist()]
    return codes, texts
