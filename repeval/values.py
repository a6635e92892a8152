"""Values of one table: ids as text, labels, outcomes; bad ones are refused with their rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from repeval.files import Table, rows_text
from repeval.notices import RepevalError

__all__ = ["error_rows", "ids", "join_ids", "label", "outcomes"]

WORDS = {"0": 0.0, "1": 1.0, "true": 1.0, "false": 0.0, "c": 1.0, "i": 0.0, "pass": 1.0,
         "fail": 0.0}  # fmt: skip
EMPTY = {"", "nan", "null", "none", "na", "n/a"}


def ids(table: Table, role: str, column: str) -> np.ndarray:
    """Return a key column as text, exactly as written.

    Raises
    ------
    RepevalError
        If a field is empty, not text or number, or both ways of writing one id occur.
    """
    series = table.frame[column]
    values = series.to_numpy(object)
    kinds = set(map(type, values))
    if kinds <= {str}:
        text = values
    else:
        text = np.array([_text(v) for v in values], dtype=object)
        strings = {v for v in values if isinstance(v, str)}
        both = strings & {t for t, v in zip(text, values, strict=True) if not isinstance(v, str)}
        if both:
            one = min(both)
            at = [np.flatnonzero([t == one and isinstance(v, str) is is_text
                                  for t, v in zip(text, values, strict=True)])[0]
                  for is_text in (False, True)]  # fmt: skip
            raise RepevalError(
                "mixed-types",
                f"{table.name}: {role} (column {column}) is the number {one} in row "
                f'{table.row(at[0])} and the text "{one}" in row {table.row(at[1])}. One {role} '
                "or two? Write them alike.",
            )
    bad = np.array([t is None or t == "" for t in text], dtype=bool)
    if not bad.any():
        try:
            "".join(dict.fromkeys(text)).encode()
        except UnicodeEncodeError:
            bad = np.array([_unencodable(t) for t in text])
    if bad.any():
        at = np.flatnonzero(bad)
        raise RepevalError(
            "bad-key",
            f"{table.name}: {role} (column {column}) is empty, or neither text nor a number, in "
            f"{rows_text([table.row(i) for i in at])}. Fill it or take the rows out.",
        )
    return text


def _text(value: Any) -> str | None:
    """One id as text; None where it is no id."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            return None
        return str(int(value)) if value == int(value) else repr(float(value))
    if value is None or value is pd.NaT or isinstance(value, list | dict | tuple | np.ndarray):
        return None
    return str(value)


def label(value: Any) -> str:
    """Return the text of one label; nothing gives an empty text."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode() if _unencodable(value) else value
    if isinstance(value, list | dict | tuple | np.ndarray):
        return str(value)
    return _text(value) or ""


def _unencodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def join_ids(parts: list[np.ndarray], name: str, columns: tuple[str, ...]) -> np.ndarray:
    """Return a composite key; its separator is the first that keeps different keys apart."""
    distinct = list(dict.fromkeys(zip(*parts, strict=True)))
    for sep in ("/", "|", "::", " // "):
        joined = {key: sep.join(key) for key in distinct}
        if len(set(joined.values())) == len(distinct):
            return np.array([joined[key] for key in zip(*parts, strict=True)], dtype=object)
    raise RepevalError(
        "composite-key",
        f"{name}: the columns {'+'.join(columns)} cannot be joined without confusion; write one "
        "id column.",
    )


def error_rows(raw: pd.DataFrame, columns: tuple[str, ...]) -> tuple[bool, np.ndarray]:
    """Return whether errors are told at all, and which rows say that they are one."""
    error = np.zeros(len(raw), dtype=bool)
    for column in columns:
        text = [label(v).strip().lower() for v in raw[column].to_numpy(object)]
        if column.lower() == "error":
            error |= np.array([t not in EMPTY | {"false", "0"} for t in text])
        else:
            error |= np.array([t in {"error", "errored"} for t in text])
    return bool(columns), error


def outcomes(table: Table, column: str, has_status: bool) -> np.ndarray:
    """Return outcomes as numbers, NaN where there is none."""
    values = table.frame[column]
    if values.dtype == object:
        values = values.map(lambda v: v if np.isscalar(v) or v is None else str(v))
    codes, distinct = pd.factorize(values)
    numbers = np.array([_number(v) for v in distinct] + [np.nan])
    words = [str(v) for v in distinct]
    out = numbers[codes]

    def refuse(code: str, bad: np.ndarray, what: str, way: str) -> None:
        at = np.flatnonzero(bad)
        if not len(at):
            return
        shown = words[codes[at[0]]] if codes[at[0]] >= 0 else ""
        value = f" ({shown[:40]!r})" if shown else ""
        raise RepevalError(
            code,
            f"{table.name}: outcome (column {column}) {what} in "
            f"{rows_text([table.row(i) for i in at])}{value}. {way}",
        )

    refuse(
        "outcome-unreadable", np.isinf(out), "cannot be read",
        "Use 0/1, true/false, C/I, pass/fail, or a score from 0 to 1.",
    )  # fmt: skip
    refuse(
        "outcome-range", (out < 0) | (out > 1), "is outside 0 to 1",
        "Divide scores by the largest possible score.",
    )  # fmt: skip
    if not has_status:
        refuse(
            "outcome-empty", np.isnan(out), "is empty or NaN",
            "Take the rows out (missing runs), or add a status column that says why: then "
            "--errors missing or fail decides.",
        )  # fmt: skip
    return out


def _number(value: Any) -> float:
    """One outcome; NaN if empty, infinite if unreadable."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in WORDS:
            return WORDS[word]
        if word in EMPTY:
            return math.nan
        if "_" in word or "inf" in word:
            return math.inf
        value = word
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.inf
