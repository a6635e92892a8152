"""Rows of one raw table to keys, outcomes and labels; bad rows are refused with their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from repeval.canonical import KEYS
from repeval.columns import ROLES, STATUS, resolve
from repeval.files import Table
from repeval.findings import TASK_COLUMNS
from repeval.notices import Notice, RepevalError
from repeval.values import error_rows, ids, join_ids, label, outcomes

__all__ = ["Part", "constant_labels", "part_of", "refuse_duplicates"]


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one table.

    Attributes
    ----------
    table : Table
    keys : DataFrame
        Text columns model, condition, problem, run; outcome (NaN: none); error (bool).
    labels : DataFrame
        All other columns, as text.
    problem : tuple of str
        Columns that make the problem's key.
    has_run : bool
        Whether there is a run column.
    notices : list of Notice
    """

    table: Table
    keys: pd.DataFrame
    labels: pd.DataFrame
    problem: tuple[str, ...]
    has_run: bool
    notices: list[Notice]

    @property
    def tasks(self) -> list[str]:
        """Columns that name tasks."""
        return [c for c in self.labels if c.lower() in TASK_COLUMNS]


def part_of(table: Table, mapping: Mapping[str, str]) -> Part:
    """Recognise the columns of a table and read its rows.

    Parameters
    ----------
    table : Table
    mapping : mapping of str to str
        Explicit columns by role.

    Raises
    ------
    RepevalError
        For a column or a row that cannot be used.
    """
    raw, name = table.frame, table.name
    if table.file.model and not any(str(c).strip().lower() == "model" for c in raw.columns):
        mapping = {"model": "", **mapping}
    roles, notices = resolve([str(c) for c in raw.columns], mapping, name)
    keys: dict[str, Any] = {}
    for role in KEYS:
        parts = [ids(table, role, column) for column in roles.get(role, ())]
        if parts:
            keys[role] = parts[0] if len(parts) == 1 else join_ids(parts, name, roles[role])
    if "model" not in keys:
        keys["model"] = table.file.model or table.file.stem
        if table.file.model is None:
            text = f"There is no model column: the model is called {keys['model']} after its file."
            notices.append(Notice("model-from-file", text))
    elif table.file.model is not None:
        there = list(dict.fromkeys(keys["model"]))
        if len(there) > 1:
            raise RepevalError(
                "several-models",
                f"{table.file.model}={name}: the file holds {len(there)} models "
                f"({', '.join(there[:3])}, ...), so it cannot be given one name. Give the path "
                "alone.",
            )
        keys["model"] = table.file.model
        if there != [table.file.model]:
            text = f"Model {there[0]} of {name} is called {table.file.model}."
            notices.append(Notice("model-renamed", text))
    if "condition" not in keys:
        keys["condition"] = "default"
        text = "There is no condition column: all rows have the condition default."
        notices.append(Notice("condition-default", text))
    if "run" not in keys:
        keys["run"] = "1"
        text = "There is no run column: every row is the only run of its problem."
        notices.append(Notice("no-run-column", text))
    flagged, error = error_rows(raw, roles.get("status", ()))
    keys["outcome"] = outcomes(table, roles["outcome"][0], bool(flagged))
    keys["error"] = error
    frame = pd.DataFrame(keys, index=pd.RangeIndex(len(raw)))
    _refuse_text_as_condition(frame, roles, mapping, name)
    single = {parts[0] for role, parts in roles.items() if len(parts) == 1}
    others = [c for c in raw.columns if str(c) not in single and str(c).lower() not in STATUS]
    # A label must not carry the name of a role: the canonical table has that column already.
    labels = {
        f"original_{c}" if c in ROLES else str(c): [label(v) for v in raw[c].to_numpy(object)]
        for c in others
    }
    return Part(
        table,
        frame,
        pd.DataFrame(labels, index=frame.index, dtype=object),
        roles["problem"],
        "run" in roles,
        notices,
    )


def _refuse_text_as_condition(frame, roles, mapping, name) -> None:
    """Refuse a `prompt` column that holds each problem's text: it is no condition."""
    if "condition" not in roles or "condition" in mapping or roles["condition"] == ("condition",):
        return
    pairs = frame[["condition", "problem"]].drop_duplicates()
    if len(pairs) > 1 and pairs["condition"].is_unique and pairs["problem"].is_unique:
        column = roles["condition"][0]
        raise RepevalError(
            "doubtful-column",
            f"{name}: column {column} has another value for every problem, so it is hardly a "
            f"condition. Type --columns condition= if there is none, or --columns "
            f"condition={column} if it is.",
        )


def constant_labels(problem: pd.Series, parts: list[Part]) -> pd.DataFrame:
    """Return the columns that have one value per problem, indexed by problem.

    Parameters
    ----------
    problem : (n,) Series of str
        Problem of every row of all parts.
    parts : list of Part
    """
    table = pd.concat([part.labels for part in parts], ignore_index=True)
    code, names = pd.factorize(problem)
    labels = {}
    for column in table:
        values = table[column].fillna("").to_numpy(object)
        seen = np.flatnonzero(values != "")
        value, distinct = pd.factorize(values[seen])
        _, first = np.unique(code[seen], return_index=True)
        if len(first) == len(np.unique(code[seen].astype(np.int64) * len(distinct) + value)):
            labels[column] = pd.Series(values[seen][first], index=names[code[seen][first]])
    index = pd.Index(names, dtype=object)
    return pd.DataFrame({c: v.reindex(index).fillna("") for c, v in labels.items()}, index=index)


def refuse_duplicates(rows: pd.DataFrame, parts: list[Part]) -> None:
    """Refuse a (model, condition, problem, run) that occurs twice.

    Parameters
    ----------
    rows : DataFrame
        All parts' keys, one after another.
    parts : list of Part

    Raises
    ------
    RepevalError
        Naming the rows and, where one column tells them apart, the option to type.
    """
    again = rows.duplicated(KEYS)
    if not again.any():
        return
    second = int(np.flatnonzero(again)[0])
    same = (rows[KEYS] == rows.loc[second, KEYS]).all(axis=1)
    first = int(np.flatnonzero(same)[0])
    start = np.cumsum([0, *(len(part.keys) for part in parts)])

    def place(index: int) -> tuple[Part, int]:
        at = int(np.searchsorted(start, index, side="right")) - 1
        return parts[at], parts[at].table.row(index - start[at])

    (one, row_one), (two, row_two) = place(first), place(second)
    key = rows.loc[second]
    where = f"row {row_one}" if one is two else f"row {row_one} of {one.table.name}"
    system = repr(key["model"])
    system += "" if key["condition"] == "default" else f", condition {key['condition']!r}"
    labels = pd.concat([part.labels for part in parts], ignore_index=True)
    apart = [
        c for c in sorted(labels, key=lambda c: c.lower() not in TASK_COLUMNS)
        if not pd.concat([rows[KEYS], labels[c]], axis=1).duplicated().any()
    ]  # fmt: skip
    task = apart[0] if apart and apart[0].lower() in TASK_COLUMNS else None
    more = f" ({int(again.sum()):,} such rows)" if again.sum() > 1 else ""
    text = f"{two.table.name}: row {row_two} has the same model, condition, problem"
    what = f"({system}, problem {key['problem']!r}"
    if task:
        way = (
            f"Problem ids repeat across {task}; type --columns "
            f"problem={'+'.join([task, *two.problem])}."
        )
    elif not two.has_run:
        raise RepevalError(
            "no-run-column",
            f"{text} as {where} {what}){more}, and there is no run column. Type --columns "
            f"run={apart[0] if apart else 'COLUMN'}, or number the runs of a problem in a column "
            "run.",
        )
    elif one.table is not two.table and one.table.sha256 == two.table.sha256:
        way = "The two files are identical: give one."
    else:
        way = "Keep one of them, or give repeated runs different run labels"
        way += f"; or is {apart[0]} part of the problem's key (--columns problem=" \
            f"{'+'.join([apart[0], *two.problem])})?" if apart else "."  # fmt: skip
    raise RepevalError(
        "duplicate-rows", f"{text} and run as {where} {what}, run {key['run']!r}){more}. {way}"
    )
