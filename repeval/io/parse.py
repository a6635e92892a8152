"""Rows of a raw table to keys, outcomes and labels; bad rows are refused with their numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from repeval.io.checks import TASK_COLUMNS
from repeval.io.columns import ROLES, STATUS, resolve
from repeval.io.files import Table
from repeval.io.outcomes import KEYS
from repeval.messages import Notice, RepevalError, refused, some

__all__ = [
    "SURROGATE", "Part", "constant_labels", "joined", "key_text", "label_text", "number", "part_of",
    "refuse_duplicates",
]  # fmt: skip

WORDS = {"0": 0.0, "1": 1.0, "true": 1.0, "false": 0.0, "c": 1.0, "i": 0.0, "pass": 1.0,
         "fail": 0.0}  # fmt: skip
EMPTY = {"", "nan", "null", "none", "na", "n/a"}
#: Halves of characters, which JSON can spell and no file can hold.
SURROGATE = re.compile("[\ud800-\udfff]")


class Part(NamedTuple):
    """The rows of one table: keys as text, outcome (NaN: none), error; all else are labels."""

    table: Table
    roles: dict[str, tuple[str, ...]]
    rows: pd.DataFrame
    labels: pd.DataFrame


def part_of(table: Table, mapping: Mapping[str, str], notices: list[Notice]) -> Part:
    """Recognise the columns of a table and read its rows; what was assumed goes to `notices`."""
    name = table.name
    if table.model and not any(c.strip().lower() == "model" for c in table.columns):
        mapping = {"model": "", **mapping}
    roles = resolve(list(table.columns), mapping, name, notices)
    rows: dict[str, Any] = {role: _key(table, role, roles[role]) for role in KEYS if role in roles}
    if table.model:
        models = list(dict.fromkeys(rows.get("model", [table.model])))
        if len(models) > 1:
            what = f"the file holds {len(models)} models ({some(models)}) and cannot get one name"
            raise refused("several-models", f"{table.model}={name}: {what}.")
        if models != [table.model]:
            text = f"Model {models[0]} of {name} is called {table.model}."
            notices.append(Notice("model-renamed", text))
        rows["model"] = table.model
    elif "model" not in rows:
        rows["model"] = name.removesuffix(".gz").rpartition(".")[0] or name
        after = "" if table.frame else " after its file"
        text = f"There is no model column: the model is called {rows['model']}{after}."
        notices.append(Notice("model-from-file", text))
    if "condition" not in rows:
        rows["condition"] = "default"
        text = "There is no condition column: all rows have the condition default."
        notices.append(Notice("condition-default", text))
    if "run" not in rows:
        rows["run"] = "1"
        text = "There is no run column: every row is the only run of its problem."
        notices.append(Notice("no-run-column", text))
    status = roles.get("status", ())
    rows["outcome"] = _outcomes(table, roles["outcome"][0], bool(status))
    rows["error"] = np.any([_errors(c, table.columns[c]) for c in status], axis=0)
    frame = pd.DataFrame(rows, index=range(len(table.rows)))
    if "condition" not in mapping:
        _refuse_text_as_condition(frame, roles, name)
    single = {parts[0] for parts in roles.values() if len(parts) == 1}
    # A label must not carry the name of a role: the canonical table has that column already.
    labels = {
        f"original_{c}" if c in ROLES else label_text(c): list(map(label_text, values))
        for c, values in table.columns.items()
        if c not in single and c.lower() not in STATUS
    }
    return Part(table, roles, frame, pd.DataFrame(labels, index=frame.index, dtype=object))


def _refuse_text_as_condition(frame: pd.DataFrame, roles: Mapping, name: str) -> None:
    """Refuse a `prompt` column that holds each problem's text: it is no condition."""
    (column,) = roles.get("condition", ("condition",))
    pairs = frame[["condition", "problem"]].drop_duplicates()
    alike = len(pairs) > 1 and pairs["condition"].is_unique and pairs["problem"].is_unique
    if column != "condition" and alike:
        raise RepevalError(
            "doubtful-column",
            f"{name}: column {column} has another value for every problem, so it is hardly a "
            f"condition. Type --columns condition= if there is none, or --columns "
            f"condition={column} if it is.",
        )


def _key(table: Table, role: str, columns: tuple[str, ...]) -> np.ndarray:
    """Return a key as text."""
    parts = [_ids(table, role, column) for column in columns]
    if len(parts) == 1:
        return parts[0]
    what = f"{table.name}: the columns {'+'.join(columns)}"
    return np.array(joined(list(zip(*parts, strict=True)), what), dtype=object)


def joined(keys: Sequence[tuple[str, ...]], what: str) -> list[str]:
    """Join the parts of keys by the first separator that keeps different keys apart."""
    for sep in ("/", "|", "::", " // "):
        texts = [sep.join(key) for key in keys]
        if len(set(texts)) == len(set(keys)):
            return texts
    raise refused("composite-key", f"{what} cannot be joined without confusion.")


def _ids(table: Table, role: str, column: str) -> np.ndarray:
    """Return a key column as text, exactly as written."""
    values = text = table.columns[column]
    where = f"{table.name}: {role} (column {column}) is"
    if set(map(type, values)) != {str}:
        text = np.array(list(map(key_text, values)), dtype=object)
        written = np.array([isinstance(value, str) for value in values])
        if both := set(text[written]) & set(text[~written]):
            one = min(both)
            number, string = (table.at(np.flatnonzero((text == one) & kind)[:1])
                              for kind in (~written, written))  # fmt: skip
            what = f'the number {one} in {number} and the text "{one}" in {string}'
            raise refused("mixed-types", f"{where} {what}.")
    if bad := {t for t in set(text) if not t or SURROGATE.search(t)}:
        at = np.flatnonzero([t in bad for t in text])
        what = f"empty, or neither text nor a number, in {table.at(at)}"
        raise refused("bad-key", f"{where} {what}.")
    return text


def key_text(value: Any) -> str | None:
    """Return one id as text; None where it is no id."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    return None if value is None or isinstance(value, float | list | dict) else str(value)


def label_text(value: Any) -> str:
    """One label as text; nothing gives an empty text."""
    if isinstance(value, str):
        return value if value.isascii() else SURROGATE.sub("?", value)
    return str(value) if isinstance(value, list | dict) else key_text(value) or ""


def _errors(column: str, values: Iterable[Any]) -> list[bool]:
    """Tell which rows a status column, or one called error, calls an error."""
    words = [label_text(value).strip().lower() for value in values]
    if column.lower() == "error":
        return [word not in EMPTY | {"false", "0"} for word in words]
    return [word in ("error", "errored") for word in words]


def _outcomes(table: Table, column: str, has_status: bool) -> np.ndarray:
    """Return outcomes as numbers, NaN where there is none."""
    values = [str(v) if isinstance(v, list | dict) else v for v in table.columns[column]]
    codes, distinct = pd.factorize(np.array(values, dtype=object))
    out = np.array([*map(number, distinct), np.nan])[codes]

    def refuse(code: str, bad: np.ndarray, what: str) -> None:
        if bad.any():
            at = np.flatnonzero(bad)
            where = f"{table.at(at)} ({str(values[at[0]])[:40]!r})"
            raise refused(code, f"{table.name}: outcome (column {column}) {what} in {where}.")

    refuse("outcome-unreadable", np.isinf(out), "cannot be read")
    refuse("outcome-range", (out < 0) | (out > 1), "is outside 0 to 1")
    if not has_status:
        refuse("outcome-empty", np.isnan(out), "is empty or NaN")
    return out


def number(value: Any) -> float:
    """Read one outcome; NaN if empty, infinite if unreadable."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in WORDS:
            return WORDS[word]
        if word in EMPTY:
            return math.nan
        if "_" in word or "inf" in word:
            return math.inf
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.inf


def constant_labels(labels: pd.DataFrame, problem: pd.Series) -> pd.DataFrame:
    """Return the columns that have one value per problem, indexed by problem."""
    groups = labels.where(labels != "").groupby(problem.to_numpy(), sort=False)
    table = groups.first().fillna("")
    return table[[c for c in table if (groups[c].nunique() <= 1).all()]]


def refuse_duplicates(rows: pd.DataFrame, labels: pd.DataFrame, parts: list[Part]) -> None:
    """Refuse a key that occurs twice; say which column, if any, tells such rows apart."""
    again = rows.duplicated(KEYS)
    if not again.any():
        return
    second = int(again.idxmax())
    model, condition, problem, run = key = rows.loc[second, KEYS]
    first = int((rows[KEYS] == key).all(axis=1).idxmax())
    ends = np.cumsum([len(part.rows) for part in parts])
    one, two = (parts[np.searchsorted(ends, i, side="right")] for i in (first, second))
    number = np.concatenate([part.table.rows for part in parts])
    apart = [
        c for c in sorted(labels, key=lambda c: c.lower() not in TASK_COLUMNS)
        if not rows[KEYS].assign(label=labels[c]).duplicated().any()
    ]  # fmt: skip
    tell = next(iter(apart), "COLUMN")
    composite = f"--columns problem={'+'.join([tell, *two.roles['problem']])}"
    same = f"{two.table.name}: row {number[second]} has the same model, condition, problem"
    of = "" if one is two else f" of {one.table.name}"
    system = repr(model) if condition == "default" else f"{model!r}, condition {condition!r}"
    where = f"as row {number[first]}{of} ({system}, problem {problem!r}"
    more = f" ({again.sum():,} such rows)" if again.sum() > 1 else ""
    if tell.lower() in TASK_COLUMNS:
        way = f"Problem ids repeat across {tell}; type {composite}."
    elif "run" not in two.roles:
        raise RepevalError(
            "no-run-column",
            f"{same} {where}){more}, and there is no run column. Type --columns run={tell}, or "
            "number the runs of a problem in a column run.",
        )
    elif one is not two and one.table.sha256 == two.table.sha256:
        way = "The two files are identical: give one."
    else:
        way = "Keep one of them, or give repeated runs different run labels"
        way += f"; or is {tell} part of the problem's key ({composite})?" if apart else "."
    raise RepevalError("duplicate-rows", f"{same} and run {where}, run {run!r}){more}. {way}")
