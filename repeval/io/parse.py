"""Rows of a raw table to keys, outcomes and labels; bad rows are refused with their numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from repeval.io.columns import COUNTED, ROLES, STATUS, name_fits, plain, resolve
from repeval.io.files import Table
from repeval.io.keys import KEYS
from repeval.io.verdicts import (
    EMPTY,
    NUMBERS,
    PERCENT,
    Scale,
    number,
    sentinel,
    vocabularies,
)
from repeval.messages import Notice, RepevalError, refused, some

__all__ = [
    "SURROGATE", "Part", "constant_labels", "joined", "key_of", "key_text", "label_text", "number",
    "part_of", "refuse_text_as_condition", "roles_named", "sample_column",
]  # fmt: skip

#: Halves of characters, which JSON can spell and no file can hold.
SURROGATE = re.compile("[\ud800-\udfff]")


class Part(NamedTuple):
    """The rows of one table: keys as text, outcome (NaN: none), error; all else are labels."""

    table: Table
    roles: dict[str, tuple[str, ...]]
    rows: pd.DataFrame
    labels: pd.DataFrame


def part_of(
    table: Table,
    mapping: Mapping[str, str],
    notices: list[Notice],
    scale: Scale | None = None,
) -> Part:
    """Recognise the columns of a table and read its rows; what was assumed goes to `notices`."""
    name = table.name
    column = sample_column(table.columns, mapping)
    repeats = column and len(set(map(key_text, table.columns[column]))) < len(table.rows)
    mapping = roles_named(table, mapping, column if repeats else "", notices)
    numbered = mapping.get("run") == COUNTED and COUNTED not in table.columns
    mapping = {**mapping, "run": ""} if numbered else mapping
    roles = resolve(list(table.columns), mapping, name, notices)
    rows: dict[str, Any] = {
        role: key_of(table, role, roles[role]) for role in KEYS if role in roles
    }
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
    if numbered:
        keys = pd.DataFrame({key: rows[key] for key in KEYS[:3]}, index=range(len(table.rows)))
        rows["run"] = (keys.groupby(KEYS[:3]).cumcount() + 1).astype(str).to_numpy(object)
        text = f"Runs are numbered in the order of the rows of {name} (--columns run={COUNTED})."
        notices.append(Notice("runs-counted", text))
    elif "run" not in rows:
        rows["run"] = "1"
        text = "There is no run column: every row is the only run of its problem."
        notices.append(Notice("no-run-column", text))
    status = roles.get("status", ())
    rows["outcome"] = _outcomes(table, roles["outcome"][0], status, scale, notices)
    rows["error"] = np.any([_errors(c, table.columns[c]) for c in status], axis=0)
    frame = pd.DataFrame(rows, index=range(len(table.rows)))
    if "condition" not in mapping and table.weights is None:
        refuse_text_as_condition(frame, roles, name)
    single = {parts[0] for parts in roles.values() if len(parts) == 1}
    # A label must not carry the name of a role: the canonical table has that column already.
    labels = {
        f"original_{c}" if c in ROLES else label_text(c): list(map(label_text, values))
        for c, values in table.columns.items()
        if c not in single and c.lower() not in STATUS
    }
    return Part(table, roles, frame, pd.DataFrame(labels, index=frame.index, dtype=object))


def sample_column(columns: Iterable[str], mapping: Mapping[str, str]) -> str:
    """Return a column sample_id that is the problem if its values repeat, where no other can be."""
    if "problem" in mapping or any(name_fits("problem", c) for c in columns):
        return ""
    column, *more = [c for c in columns if plain(c) == "sampleid"] or [""]
    return "" if more else column


def roles_named(
    table: Table, mapping: Mapping[str, str], sample: str, notices: list[Notice]
) -> Mapping[str, str]:
    """Return a mapping with what ``NAME=PATH`` and a repeated column `sample` say."""
    if table.model and not any(name_fits("model", c) for c in table.columns):
        mapping = {"model": "", **mapping}
    if sample:
        mapping = {"problem": sample, **mapping}
        text = f"problem is read from column {sample}, whose values repeat."
        notices.append(Notice("column-spelling", text))
    return mapping


def refuse_text_as_condition(frame: pd.DataFrame, roles: Mapping, name: str) -> None:
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


def key_of(table: Table, role: str, columns: tuple[str, ...]) -> np.ndarray:
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
            raise _at(
                column, np.flatnonzero(text == one), refused("mixed-types", f"{where} {what}.")
            )
    if bad := {t for t in set(text) if not t or SURROGATE.search(t)}:
        at = np.flatnonzero([t in bad for t in text])
        what = f"empty, or neither text nor a number, in {table.at(at)}"
        raise _at(column, at, refused("bad-key", f"{where} {what}."))
    return text


def _at(column: str, positions: np.ndarray, error: RepevalError) -> RepevalError:
    """Return an error that knows which values of which column are meant."""
    error.column, error.positions = column, positions
    return error


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


def _outcomes(
    table: Table, column: str, status: Collection[str], scale: Scale | None, notices: list[Notice]
) -> np.ndarray:
    """Return outcomes as numbers from 0 to 1, NaN where there is none.

    A status column that is the outcome's own says that one value outside the scale marks errors.
    """
    values = [str(v) if isinstance(v, list | dict) else v for v in table.columns[column]]
    codes, distinct = pd.factorize(np.array(values, dtype=object))
    read = np.array([*map(number, distinct), np.nan])

    def refuse(code: str, bad: np.ndarray, what: str) -> None:
        if bad.any():
            at = np.flatnonzero(bad)
            where = f"{table.at(at)} ({str(values[at[0]])[:40]!r})"
            text = f"{table.name}: outcome (column {column}) {what} in {where}."
            raise _at(column, at, refused(code, text))

    refuse("outcome-unreadable", np.isinf(read)[codes], "cannot be read")
    if not (said := vocabularies(distinct)):
        shown = some(sorted({str(v).strip() for v in distinct}), 8)
        what = f"outcome (column {column}) mixes words of several kinds ({shown})"
        raise refused("outcome-mixed", f"{table.name}: {what}.")
    if said == {PERCENT}:
        text = f"Outcomes (column {column}) are written with percent signs: 50 % is read as 0.5."
        notices.append(Notice("percent-signs", text))
    low, high = scale or (0.0, 1.0)
    if scale:
        if NUMBERS not in said and PERCENT not in said:
            what = f"--scale {low:g} {high:g}: outcomes (column {column}) are words, no ratings."
            raise RepevalError("bad-option", f"{table.name}: {what} Leave it out.")
        if said == {PERCENT}:
            read *= 100
        text = f"Ratings from {low:g} to {high:g} are mapped to 0 to 1 (--scale)."
        notices.append(Notice("scaled", text))
    mark = sentinel(read[:-1], (low, high))
    if mark is not None and column in status:
        n = int(
            np.dot(
                read[codes] == mark, np.ones(len(codes)) if table.weights is None else table.weights
            )
        )
        text = f"{mark:g} in column {column} marks errors: {n:,} rows have no outcome."
        notices.append(Notice("error-value", text))
        read[read == mark] = np.nan
    refuse(
        "outcome-range", ((read < low) | (read > high))[codes], f"is outside {low:g} to {high:g}"
    )
    out = ((read - low) / (high - low))[codes] if scale else read[codes]
    if not status:
        refuse("outcome-empty", np.isnan(out), "is empty or NaN")
    return out


def constant_labels(labels: pd.DataFrame, problem: pd.Series) -> pd.DataFrame:
    """Return the columns that have one value per problem, indexed by problem.

    Its ``attrs["varying"]`` has of each other column a problem and two of its values.
    """
    names = problem.to_numpy()
    groups = labels.where(labels != "").groupby(names, sort=False)
    table, varying = groups.first().fillna(""), {}
    for column in table:
        several = groups[column].nunique() > 1
        if several.any():
            values = labels.loc[names == (name := several.idxmax()), column]
            varying[column] = (name, *dict.fromkeys(values[values.fillna("") != ""]))[:3]
    table = table.drop(columns=list(varying))
    table.attrs["varying"] = varying
    return table
