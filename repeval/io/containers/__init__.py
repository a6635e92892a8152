"""What JSON and .xlsx files hold to raw columns: rows, lists of columns, runs as objects."""

from __future__ import annotations

import io
import itertools
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from repeval.io.columns import SPELLINGS
from repeval.io.containers.nested import inside, keyed, refuse_lists
from repeval.io.containers.room import CELL, ROW, Room
from repeval.io.containers.words import (
    FAILS,
    VERDICTS,
    Columns,
    TwiceError,
    array,
    decoded,
    plain,
    spelled,
    verdicts,
)
from repeval.io.containers.zips import members
from repeval.messages import Notice, RepevalError, refused, some

__all__ = [
    "Columns", "Content", "array", "attempts", "damaged", "first_attempts", "json_table",
    "jsonl_table", "points", "twice", "with_header", "workbook_table",
]  # fmt: skip

ATTEMPTS = {"attempts", "numattempts", "nattempts", "tries"}
COMMA = re.compile(r"\s*[+-]?\d+(?:,\d+)?\s*%?\s*")

#: Columns, a number for each row as a person sees it, and what was assumed.
Content = tuple[Columns, Sequence[Any], list[Notice]]


def damaged(name: str, why: object) -> RepevalError:
    """Return the error of a file that cannot be read."""
    return refused("unreadable-file", f"{name} cannot be read: {why}.")


def with_header(header: Sequence[str], cells: Sequence[Any], name: str) -> Columns:
    """Return the columns of a table from its cells, row by row; no two may have one name."""
    if len(set(header)) < len(header):
        again = next(column for column, n in Counter(header).items() if n > 1)
        raise refused("duplicate-column", f"{name}: two columns are called {again!r}.")
    return dict(zip(header, array(cells).reshape(-1, len(header)).T, strict=True))


def points(columns: Columns, name: str) -> list[Notice]:
    """Write decimal commas as points, in place, in columns of numbers that are no keys."""
    keys = set().union(*(spelled(role) for role in ("model", "condition", "problem", "run")))
    changed = []
    for column, values in columns.items():
        texts = {t for t in values if any(map(str.isdigit, t))}
        if plain(column) in keys or not any("," in t for t in texts):
            continue
        if all(map(COMMA.fullmatch, texts)):
            columns[column] = array([value.replace(",", ".") for value in values])
            changed.append((column, min(t.strip() for t in texts if "," in t)))
    if not changed:
        return []
    (_, shown), names = changed[0], some(column for column, _ in changed)
    text = f"{name}: commas in column {names} are decimal ({shown} is {shown.replace(',', '.')})."
    return [Notice("decimal-comma", text)]


def first_attempts(
    columns: Columns, mapping: Mapping[str, str], name: str, weights: np.ndarray | None = None
) -> list[Notice]:
    """Make outcomes those of first attempts, in place, where rows tell how many it took.

    What passed after several attempts is no outcome of one run: trying stopped at the pass. With
    `weights`, each row stands for so many.
    """
    counts = attempts(columns)
    known = [c for c in columns if plain(c) in spelled("outcome")]
    verdicts = [mapping["outcome"]] if mapping.get("outcome") in columns else known
    if "run" in mapping or any(plain(c) in spelled("run") for c in columns):
        return []
    if len(counts) != 1 or len(verdicts) != 1:
        return []
    outcomes = columns[verdicts[0]]
    words = [str(value).strip().lower() for value in outcomes]
    tries = [str(value).strip() for value in columns[counts[0]]]
    # Numbers could be counts of passes; attempts of one number for all are no stopping.
    if not set(words) <= VERDICTS or not all(t.isdecimal() and int(t) for t in tries):
        return []
    several = np.array([int(t) > 1 for t in tries])
    if not several.any() or len(set(tries)) == 1:
        return []
    failed = [False if isinstance(y, bool) else FAILS.get(word, y)
              for y, word in zip(outcomes, words, strict=True)]  # fmt: skip
    columns[verdicts[0]] = np.where(several, array(failed), outcomes)
    weights = np.ones(len(several), dtype=int) if weights is None else weights
    text = (
        f"{name}: column {counts[0]} says that {several @ weights:,} of {weights.sum():,} rows "
        "took several attempts. If attempts stop at a pass, scores are biased: outcomes are those "
        "of first attempts only. Where a row is one run all the same, type --columns run= ."
    )
    return [Notice("adaptive-stopping", text)]


def attempts(columns: Iterable[str]) -> list[str]:
    """Return the columns that by their names tell how many attempts a row took."""
    return [c for c in columns if plain(c) in ATTEMPTS]


def jsonl_table(text: str, name: str, room: Room) -> Content:
    """Read JSON Lines: a row on each line, or a run as an object {problem: outcome}."""
    records, rows = [], []
    # Not splitlines(): JSON text may hold line separators other than \n.
    for row, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = decoded(line)
        except TwiceError as error:
            raise twice(f"{name}: row {row}", error.key) from None
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            shown = line.strip()[:40]
            raise refused("bad-json-line", f"{name}: row {row} is not a JSON object ({shown!r}).")
        records.append(record)
        rows.append(row)
    return _records(records, rows, name, room)


def json_table(text: str, name: str, room: Room) -> Content:
    """Read one JSON value: rows in a list or by key, columns and data, or runs."""
    try:
        value = decoded(text)
    except TwiceError as error:
        raise twice(name, error.key) from None
    except RecursionError:
        raise damaged(name, "it is nested too deeply") from None
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and text.lstrip().startswith("{"):
            return jsonl_table(text, name, room)
        raise damaged(name, f"row {error.lineno} is no JSON ({error.msg})") from None
    except ValueError as error:
        raise damaged(name, error) from None
    if _all_are(dict, value):
        return _records(value, range(1, len(value) + 1), name, room)
    if isinstance(value, dict):
        header, rows = value.get("columns"), value.get("data")
        if header and _all_are(str, header) and _all_are(list, rows):
            if wrong := [i for i, row in enumerate(rows, 1) if len(row) != len(header)]:
                what = f"there are {len(header)} columns, but row {wrong[0]} has others"
                raise refused("ragged-rows", f"{name}: {what}.")
            cells = [cell for row in rows for cell in row]
            return with_header(header, cells, name), range(1, len(rows) + 1), []
        if _runs([value]) is not None:
            return _records([value], [1], name, room)
        if found := keyed(value):
            where = [f"{i} ({key})" for i, key in enumerate(found, 1)]
            return _records(list(found.values()), where, name, room)
        if found := inside(value):
            key, rows = found
            columns, where, notices = _records(rows, range(1, len(rows) + 1), name, room)
            text = f"{name}: rows are those under {key}."
            return columns, where, [Notice("nested-read", text), *notices]
    raise refused("no-rows", f"{name} holds {_shape(value)}, and no rows.")


def workbook_table(data: bytes, name: str, room: Room) -> Content:
    """Read the one sheet of an .xlsx workbook that is not empty; of formulas, their values."""
    try:
        import openpyxl
    except ImportError:
        raise refused("needs-openpyxl", f"{name}: reading .xlsx needs openpyxl.") from None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            room.take(name, sum(member.file_size for member in members(archive)))
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheets = {sheet.title: _cells(sheet, name, room) for sheet in book.worksheets}
    except RepevalError:
        raise
    # The parts of a damaged workbook raise whatever their parsers do.
    except Exception as error:
        raise damaged(name, str(error).split("\n")[0] or type(error).__name__) from None
    full = {title: found for title, found in sheets.items() if found[1]}
    if len(full) > 1:
        raise refused("several-sheets", f"{name} has {len(full)} sheets: {some(full)}.")
    if not full:
        return {}, [], []
    ((cells, (first, *sizes), rows),) = full.values()
    header, width = cells[:first], max([first, *sizes])
    names = ["" if c is None else str(c).strip() for c in header] + [""] * (width - first)
    room.take(name, CELL * (width * len(sizes) - sum(sizes)))
    flat = cells[first:]
    if sum(sizes) < width * len(sizes):
        parts = zip(itertools.accumulate(sizes, initial=0), sizes, strict=False)
        flat = [c for at, n in parts for c in (*flat[at : at + n], *[None] * (width - n))]
    return with_header(names, flat, name), rows[1:], []


def _cells(sheet: Any, name: str, room: Room) -> tuple[list[Any], list[int], list[int]]:
    """Return the cells of a sheet, how many each row has that holds any, and the rows' numbers.

    Empty ends of rows are no cells. One flat list, as of a CSV: see `repeval.io.files`.
    """
    # The extent that a file states may be wrong.
    sheet.reset_dimensions()
    found, sizes, rows = [], [], []
    for row, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        end = len(cells)
        while end and cells[end - 1] in (None, ""):
            end -= 1
        if end:
            room.take(name, ROW + CELL * end)
            found += cells[:end]
            sizes.append(end)
            rows.append(row)
    return found, sizes, rows


def _records(
    records: Sequence[dict], rows: Sequence[int], name: str, room: Room
) -> Content:  # fmt: skip
    """Return objects as rows; or, where each is a run, a row for each outcome in it."""
    answers = _runs(records)
    if answers is not None:
        return _run_rows(records, answers, rows, name)
    names = dict.fromkeys(key for record in records for key in record)
    room.take(name, CELL * len(names) * len(records))
    columns = {c: array([record.get(c) for record in records]) for c in names}
    opened = _opened(columns, name, room)
    if opened is not columns:
        refuse_lists(opened, name)
    return opened, rows, []


def _opened(columns: Columns, name: str, room: Room) -> Columns:
    """Give numbers inside objects columns of their own where no column is an outcome."""
    known = [columns[column] for column in columns if plain(column) in spelled("outcome")]
    if any(not isinstance(value, dict) for values in known for value in values):
        return columns
    opened: Columns = {}
    for column, values in columns.items():
        inside = [value for value in values if value is not None]
        names = dict.fromkeys(key for one in inside if isinstance(one, dict) for key in one)
        whole = inside and names and all(isinstance(one, dict) for one in inside)
        if whole and all(isinstance(v, int | float) for one in inside for v in one.values()):
            room.take(name, CELL * len(names) * len(values))
            for key in names:
                opened[f"{column}.{key}"] = array([(value or {}).get(key) for value in values])
        else:
            opened[column] = values
    return opened


def _runs(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping]] | None:
    """Return where each object holds {problem: outcome} ("": it is one itself); None for rows.

    More objects than keys are no runs: they may be problems, and the keys models.
    """
    found: list[tuple[str, Mapping]] = []
    for record in records:
        answers = _answers(record)
        if answers is None or answers[0] != (found or [answers])[0][0]:
            return None
        found.append(answers)
    problems = {problem for _, answers in found for problem in answers}
    return found if len(problems) >= max(2, len(records)) else None


def _answers(record: Mapping[str, Any]) -> tuple[str, Mapping] | None:
    names = set(map(plain, record))
    if names & spelled("problem"):
        return None
    if verdicts(record):
        known = set().union(*map(spelled, SPELLINGS))
        return None if names & known else ("", record)
    inside = [(key, value) for key, value in record.items() if verdicts(value)]
    return inside[0] if len(inside) == 1 else None


def _run_rows(
    records: Sequence[Mapping[str, Any]],
    answers: Sequence[tuple[str, Mapping]],
    rows: Sequence[int],
    name: str,
) -> Content:
    """Return a row for each outcome of each run; what else a run holds is repeated."""
    key = answers[0][0]
    single = [f for f in dict.fromkeys(f for record in records for f in record) if f != key]
    if not key:
        single = []
    single = [f for f in single if not any(isinstance(r.get(f), list | dict) for r in records)]
    of_system = [f for f in single if plain(f) in spelled("model") | spelled("condition")]
    systems = [tuple(str(record.get(f)) for f in of_system) for record in records]
    of_run = [f for f in single if plain(f) in spelled("run")]
    said = f"{name}: {len(records)} object{'s' * (len(records) > 1)} {{problem: outcome}}"
    said += f" under {key}" * bool(key)
    labels: list[Any] | None = None
    if len(of_run) == 1 and all(record.get(of_run[0]) is not None for record in records):
        labels = [record[of_run[0]] for record in records]
        said += f", each a run called by its {of_run[0]}."
        if len({(*s, str(run)) for s, run in zip(systems, labels, strict=True)}) < len(records):
            labels = None
    if labels is None:
        of_run, seen = [], Counter()
        labels = [(seen.update([s]), seen[s])[1] for s in systems]
        said = said.partition(", each")[0] + ", each a run, numbered in the order of the file."
    taken = spelled("problem") | spelled("outcome") | spelled("run")
    lengths = [len(verdicts) for _, verdicts in answers]

    def spread(values: Iterable[Any]) -> np.ndarray:
        return np.repeat(array(list(values)), lengths)

    columns = {
        f"original_{f}" if plain(f) in taken else f: spread(record.get(f) for record in records)
        for f in single if f not in of_run
    }  # fmt: skip
    columns["problem"] = array([problem for _, verdicts in answers for problem in verdicts])
    # One object without a label is a run whose name may be that of its file.
    if len(records) > 1 or of_run:
        columns["run"] = spread(labels)
    columns["outcome"] = array([v for _, verdicts in answers for v in verdicts.values()])
    where = [f"{row} ({problem})" for row, (_, verdicts) in zip(rows, answers, strict=True)
             for problem in verdicts]  # fmt: skip
    return columns, where, [Notice("runs-as-objects", said)]


def _all_are(kind: type, values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with the keys {some(value, 5)}" if value else "an empty object"
    return f"a list of {len(value)}" if isinstance(value, list) else f"the value {value!r:.40}"


def twice(where: str, key: str) -> RepevalError:
    """Return the refusal of an object that has a key twice."""
    return refused("duplicate-column", f"{where}: an object has {key!r} twice.")
