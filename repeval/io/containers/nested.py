"""JSON whose rows, or runs, lie deeper: rows by key, rows under one key, lists of outcomes."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from repeval.io.columns import SPELLINGS
from repeval.io.containers.words import Columns, array, is_verdict, plain, spelled, verdicts
from repeval.messages import refused, some

__all__ = ["inside", "keyed", "lists_as_runs", "refuse_lists"]

#: Names of lists that hold an outcome for each run.
LISTS = re.compile(
    "(all)?(trial|run|rollout|attempt|epoch|sample|repeat|outcome|result|score|verdict|reward|grade|pass)"
    "(e?s)?|correct|passed|resolved|success"
)


def keyed(value: Mapping[str, Any]) -> dict[str, dict[str, Any]] | None:
    """Return the rows of an object {id: row}, or of {a: {b: outcome}}: problems are the more."""
    if len(value) < 2 or not all(isinstance(row, dict) and row for row in value.values()):
        return None
    inside = dict.fromkeys(field for row in value.values() for field in row)
    known = set().union(*map(spelled, SPELLINGS))
    if all(map(verdicts, value.values())) and not known & set(map(plain, inside)):
        if len(value) < len(inside):
            turned: dict[str, dict[str, Any]] = {field: {} for field in inside}
            for a, row in value.items():
                for b, one in row.items():
                    turned[b][a] = one
            value = turned
    elif not all(next(iter(inside)) in row for row in value.values()):
        return None
    own = any(plain(field) in {"problem", *SPELLINGS["problem"]} for field in inside)
    return {key: row if own else {"problem": key, **row} for key, row in value.items()}


def refuse_lists(columns: Columns, name: str) -> None:
    """Refuse a column of objects of lists of numbers: nothing says what a place in them is."""
    for column, values in columns.items():
        inside = [value for value in values if value is not None]
        if not inside or not all(isinstance(value, dict) and value for value in inside):
            continue
        lists = [found for value in inside for found in value.values()]
        if all(isinstance(f, list) and f and all(map(_is_number, f)) for f in lists):
            keys = some(dict.fromkeys(key for value in inside for key in value))
            what = f"{name}: {column} holds lists of numbers for {keys}, such as {lists[0][:5]}"
            raise refused("lists-inside", f"{what}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def inside(value: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]] | None:
    """Return the one list, or object by key, of rows in an object, and its key.

    What names the model, condition or run beside it holds for all rows.
    """
    found = []
    for key, rows in value.items():
        if isinstance(rows, dict) and len(rows) > 1:
            rows = list((keyed(rows) or {}).values())
        if isinstance(rows, list) and len(rows) > 1 and all(isinstance(r, dict) for r in rows):
            names = {plain(name) for row in rows for name in row}
            if names & spelled("problem") and names & (spelled("outcome") | {*_lists(rows)}):
                found.append((key, rows))
    if len(found) != 1:
        return None
    key, rows = found[0]
    about = {
        name: one for name, one in value.items()
        if isinstance(one, str | int) and any(
            plain(name) in spelled(role) | ({"modelname", "modelid"} if role == "model" else set())
            for role in ("model", "condition", "run"))
    }  # fmt: skip
    return key, [{**about, **row} for row in rows]


def _lists(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    return {plain(name) for row in rows for name, one in row.items() if _listed(name, one)}


def _listed(name: str, value: Any) -> list[Any] | None:
    """Return a list of verdicts, which a text file holds as text; None where it is no such list."""
    if not LISTS.fullmatch(plain(name)):
        return None
    if isinstance(value, str) and value.strip()[:1] == "[":
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            value = ast.literal_eval(re.sub(r"\b(true|false)\b", lambda m: m[0].title(), value))
    good = isinstance(value, list) and value and all(map(is_verdict, value))
    return value if good else None


def lists_as_runs(
    columns: Columns, rows: np.ndarray, outcome: str | None
) -> tuple[str, Columns, np.ndarray] | None:
    """Return a row for each run where one column, named so, has a list of verdicts in each row.

    The column's name comes first; `outcome` is the column that was named as the outcome's.
    """
    found = {}
    for column, values in columns.items():
        if outcome not in (None, column) or not LISTS.fullmatch(plain(column)):
            continue
        lists = list(takewhile(bool, (_listed(column, value) for value in values)))
        if len(lists) == len(values):
            found[column] = lists
    # Counts beside the lists are read as counts; a run in another column is one already.
    taken = spelled("run") | {"n", "c", "runs", "passes", "numsamples", "numcorrect"}
    taken |= {"outcome", *SPELLINGS["outcome"]}
    if len(found) != 1 or taken & {plain(c) for c in columns if c not in found}:
        return None
    ((column, lists),) = found.items()
    sizes = [len(values) for values in lists]
    long = {c: np.repeat(values, sizes) for c, values in columns.items() if c != column}
    long["run"] = array([run for size in sizes for run in range(1, size + 1)])
    long[outcome or "outcome"] = array([y for values in lists for y in values])
    return column, long, np.repeat(rows, sizes)
