"""Tables too large to hold: batch by batch to passes and runs, in memory that grows with cells.

Duplicates are found exactly: a cell's run labels are summed as powers of two, and such a sum has
as many bits as it has terms only if no term occurs twice. Row numbers come from a second pass.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repeval.io.columns import name_fits, resolve
from repeval.io.files import csv_records, csv_separator, kind_of
from repeval.io.formats import FORMATS
from repeval.io.keys import KEYS
from repeval.io.parse import key_text, number
from repeval.io.planned import planned
from repeval.io.verdicts import vocabularies
from repeval.messages import Notice, RepevalError, refused, some
from repeval.stats.sample import Sample, from_counts

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Counted", "count", "is_large"]

#: Larger tables are streamed: bytes of CSV, rows of Parquet.
MANY_BYTES, MANY_ROWS = 64 * 2**20, 2 * 10**6
#: Run labels that fit the bits of a cell's sum.
MOST_RUNS = 62
#: Rows of partial counts before they are merged (130 MB).
MERGE_AT = 4 * 10**6
#: A cell's key holds the codes of its model, condition and problem.
CONDITION_AT, CONDITION_BITS, MODEL_AT = 36, 12, 48
PROBLEMS, CONDITIONS = (1 << CONDITION_AT) - 1, (1 << CONDITION_BITS) - 1


class Counted(NamedTuple):
    """Names of problems; each system's problem codes, sample, and runs lacking; rows read."""

    problems: list[str]
    cells: dict[tuple[str, str], tuple[np.ndarray, Sample]]
    sha256: str
    n_rows: int
    lacking: dict[tuple[str, str], np.ndarray]


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
    models, conditions = reader.models(), reader.names("condition")
    if (twice := np.bitwise_count(labels) != runs).any():
        reader.refuse_duplicate(int(keys[twice][0]))
    names = reader.names("problem")
    system, problem = keys >> CONDITION_AT, keys & PROBLEMS
    ends = [*np.flatnonzero(np.diff(system)) + 1, len(keys)]
    cells, lacks, start = {}, {}, 0
    for end in ends:
        at = slice(start, end)
        where = models[system[start] >> CONDITION_BITS], conditions[system[start] & CONDITIONS]
        cells[where] = problem[at], from_counts(passes[at], runs[at])
        lacks[where] = _lacking(labels[at], runs[at], problem[at], len(names))
        start = end
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Counted(names, cells, sha256, int(runs.sum()), lacks)


def _lacking(
    labels: np.ndarray, runs: np.ndarray, problem: np.ndarray, n_problems: int
) -> np.ndarray:
    """Return how many runs each problem lacks (see `planned.lacking`), from sums of 2^label."""
    for have in (labels, (np.int64(1) << runs) - 1):
        held = np.array([np.count_nonzero(have >> bit & 1) for bit in range(MOST_RUNS)])
        wanted = planned(held, len(runs))
        if (held[wanted] > 1).any() or len(runs) == 1:
            break
    bits = np.int64(sum(1 << bit for bit in np.flatnonzero(wanted).tolist()))
    lacks = np.full(n_problems, wanted.sum())
    lacks[problem] -= np.bitwise_count(have & bits)
    return lacks


def _merged(keys: np.ndarray, *columns: np.ndarray) -> np.ndarray:
    """Add up columns over equal keys; rows of the result are the sorted keys and the sums."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    return np.stack([keys[first], *(np.add.reduceat(c[order], first) for c in columns)])


class _Reader:
    """Batches of a file as codes; codes are given in order of appearance."""

    def __init__(self, path, model, format, mapping, notices) -> None:
        self.path, self.model, self.notices = path, model, notices
        self.parquet = (FORMATS[format] if format else kind_of(path)) == "parquet"
        self.words: set[str] = set()
        self.codes: dict[str, dict[tuple, int]] = {role: {} for role in KEYS}
        self.columns, self.header_lines = self._header()
        if model and not any(name_fits("model", c) for c in self.columns):
            mapping = {"model": "", **mapping}
        self.roles = resolve(self.columns, mapping, path.name, notices)
        stem = path.name.removesuffix(".gz").rpartition(".")[0]
        self.absent = {"model": model or stem, "condition": "default", "run": "1"}
        for role, code, text in (
            ("model", "model-from-file", f"the model is called {stem} after its file"),
            ("condition", "condition-default", "all rows have the condition default"),
            ("run", "no-run-column", "every row is the only run of its problem"),
        ):
            if role not in self.roles and not (role == "model" and model):
                notices.append(Notice(code, f"There is no {role} column: {text}."))

    def names(self, role: str) -> list[str]:
        """Return the names behind a role's codes; parts of a key are joined without confusion."""
        keys = list(self.codes[role])
        for sep in ("/", "|", "::", " // "):
            joined = [sep.join(key) for key in keys]
            if len(set(joined)) == len(keys):
                return joined
        what = f"the columns {'+'.join(self.roles[role])} cannot be joined without confusion"
        raise refused("composite-key", f"{self.path.name}: {what}.")

    def models(self) -> list[str]:
        """Return the models' names, as NAME=PATH has it; a `prompt` text is no condition."""
        models = self.names("model")
        n, column = len(self.codes["condition"]), self.roles.get("condition", ("condition",))[0]
        if column != "condition" and n > 1 and n == len(self.codes["problem"]):
            what = f"{self.path.name}: column {column} has as many values as there are problems"
            raise RepevalError(
                "doubtful-column",
                f"{what}, so it is hardly a condition. Type --columns condition= if there is "
                f"none, or --columns condition={column} if it is.",
            )
        if not self.model:
            return models
        if len(models) > 1:
            what = f"the file holds {len(models)} models ({some(models)}) and cannot get one name"
            raise refused("several-models", f"{self.model}={self.path.name}: {what}.")
        if models != [self.model]:
            text = f"Model {models[0]} of {self.path.name} is called {self.model}."
            self.notices.append(Notice("model-renamed", text))
        return [self.model]

    def batches(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
        """Yield cell keys, run codes, outcomes, and how many rows came before."""
        import pyarrow as pa

        before = 0
        try:
            for batch in self._raw():
                model, condition, problem, run = (self._coded(batch, role, before) for role in KEYS)
                if len(self.codes["run"]) > MOST_RUNS:
                    what = f"{self.path.name} has over {MOST_RUNS} run labels"
                    raise refused("too-many-runs", f"{what}.")
                keys = (model << MODEL_AT) | (condition << CONDITION_AT) | problem
                yield keys, run, self._outcome(batch, before), before
                before += batch.num_rows
        except (pa.ArrowException, OSError, EOFError) as error:
            why = str(error).split("\n")[0].rstrip(".")
            raise refused("unreadable-file", f"{self.path.name} cannot be read: {why}.") from None

    def refuse_duplicate(self, key: int) -> None:
        """Read again up to the first repeated run of a cell, and name its rows."""
        seen: dict[int, int] = {}
        for keys, runs, _, before in self.batches():
            for i in np.flatnonzero(keys == key).tolist():
                run = int(runs[i])
                if run not in seen:
                    seen[run] = before + i
                    continue
                first, second = self._row(seen[run]), self._row(before + i)
                model, condition = (
                    self._named("model", key >> MODEL_AT),
                    self._named("condition", key >> CONDITION_AT & CONDITIONS),
                )
                of = repr(model) if condition == "default" else f"{model!r} ({condition})"
                what = (
                    f"{self.path.name}: row {second} has the same model, condition, problem and "
                    f"run as row {first} ({of}, problem {self._named('problem', key & PROBLEMS)!r}"
                )
                if "run" not in self.roles:
                    raise refused("no-run-column", f"{what}), and there is no run column.")
                label = self._named("run", run)
                raise refused("duplicate-rows", f"{what}, run {label!r}).")

    def _named(self, role: str, code: int) -> str:
        return "/".join(list(self.codes[role])[code])

    def _row(self, index: int) -> int:
        """Return the number of a row as a person sees it, in CSV by reading it again."""
        if self.parquet:
            return index + 1
        # The header is the first record.
        return next(itertools.islice(csv_records(self.path), index + 1, None))[0] + 1

    def _header(self) -> tuple[list[str], int]:
        """Return the columns and, for CSV, how many lines they take."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            if self.parquet:
                return pq.read_schema(self.path).names, 0
            records = csv_records(self.path)
            _, names = next(records, (0, []))
            columns = [name.strip() for name in names]
            lines = next(records, (1, []))[0]
        except (pa.ArrowException, OSError, EOFError, csv.Error) as error:
            raise refused("unreadable-file", f"{self.path.name} cannot be read: {error}.") from None
        if twice := [c for i, c in enumerate(columns) if c in columns[:i]]:
            what = f"{self.path.name}: two columns are called {twice[0]!r}"
            raise refused("duplicate-column", f"{what}.")
        return columns, lines

    def _raw(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.csv as pc
        import pyarrow.parquet as pq

        wanted = [column for role in self.roles if role != "status" for column in self.roles[role]]
        if self.parquet:
            yield from pq.ParquetFile(self.path).iter_batches(2**20, columns=wanted)
            return
        types = dict.fromkeys(self.columns, pa.string())
        with (
            pa.input_stream(self.path) as stream,
            pc.open_csv(
                stream,
                pc.ReadOptions(
                    block_size=2**25, column_names=self.columns, skip_rows=self.header_lines
                ),
                pc.ParseOptions(delimiter=csv_separator(self.path), newlines_in_values=True),
                pc.ConvertOptions(column_types=types, include_columns=wanted),
            ) as reader,
        ):
            yield from reader

    def _coded(self, batch: pa.RecordBatch, role: str, before: int) -> np.ndarray:
        """Return the codes of a key; a key of several columns is a tuple of texts."""
        known, columns = self.codes[role], self.roles.get(role, ())
        if not columns:
            known.setdefault((self.absent[role],), 0)
            return np.zeros(batch.num_rows, dtype=np.int64)
        codes, parts = np.zeros(batch.num_rows, dtype=np.int64), []
        for column in columns:
            local, texts = _encoded(batch.column(column))
            if not all(texts):
                bad = np.array([not text for text in texts])[local]
                row = self._row(before + int(np.flatnonzero(bad)[0]))
                what = f"{role} (column {column}) is empty, or neither text nor a number"
                raise refused("bad-key", f"{self.path.name}: {what}, in row {row}.")
            codes = codes * len(texts) + local
            parts.append(texts)
        if len(parts) == 1:
            return np.array([known.setdefault((text,), len(known)) for text in parts[0]])[codes]
        distinct, codes = np.unique(codes, return_inverse=True)
        found = []
        for code in distinct.tolist():
            key = []
            for texts in reversed(parts):
                code, at = divmod(code, len(texts))
                key.append(texts[at])
            found.append(known.setdefault(tuple(reversed(key)), len(known)))
        return np.array(found, dtype=np.int64)[codes]

    def _outcome(self, batch: pa.RecordBatch, before: int) -> np.ndarray:
        codes, words = _encoded(batch.column(self.roles["outcome"][0]))
        values = np.array([number(word or "") for word in words])
        self.words.update(filter(None, words))
        if not vocabularies(self.words):
            shown = some(sorted(self.words), 8)
            what = f"{self.path.name}: the outcome mixes words of several kinds ({shown})"
            raise refused("outcome-mixed", f"{what}.")
        if (bad := ~np.isin(values, (0.0, 1.0))).any():
            at = int(np.flatnonzero(bad[codes])[0])
            where = f"row {self._row(before + at)} ({words[codes[at]] or ''!r})"
            what = f"{self.path.name}: the outcome in {where} is not passed or failed"
            raise refused("large-table", f"{what}.")
        return values[codes].astype(np.int64)


def _encoded(column: pa.Array) -> tuple[np.ndarray, list[str | None]]:
    """Return codes and their texts, None for what is no text or number."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    column = column.dictionary_encode("encode")
    texts = [key_text(value) for value in column.dictionary.to_pylist()]
    return column.indices.to_numpy(zero_copy_only=False).astype(np.int64), texts
