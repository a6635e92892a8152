"""Labels of problems, and columns that tell systems apart in silence, of large tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import pandas as pd

from repeval.io.checks import TASK_COLUMNS
from repeval.io.columns import STATUS, SYSTEMS, plain
from repeval.io.engines.groups import Group
from repeval.io.engines.parts import Part
from repeval.io.engines.reduced import distinct, together
from repeval.io.frames import quiet
from repeval.io.keys import KEYS
from repeval.io.parse import constant_labels, label_text
from repeval.io.rules.nonruns import cache_flags
from repeval.io.tables.ways import silent

__all__ = ["Labels", "labels_of", "silent_columns"]

#: Rows that may tell that a column is no label, before all of them are asked.
TRIED_PROBLEMS, TRIED_ROWS = 20, 20_000


class Labels(NamedTuple):
    """Labels of problems, and tasks that share problems: column, how many, columns of problems."""

    frame: pd.DataFrame
    tasks: list[tuple[str, int, tuple[str, ...]]]


def labels_of(groups: Sequence[Group]) -> Labels:
    """Return the columns that have one value per problem, and task columns that do not."""
    ends = [_ends(group) for group in groups]
    frame = pd.concat(ends, ignore_index=True)
    labels = constant_labels(frame.drop(columns="problem"), frame["problem"])
    for one in ends:
        labels.attrs["varying"] |= one.attrs["varying"]
    tasks = []
    names = dict.fromkeys(name for group in groups for name in _columns(group).values())
    for name in names:
        if name.lower() in TASK_COLUMNS and name not in labels:
            values = set().union(*(_distinct(group, name) for group in groups))
            tasks.append((name, len(values), groups[0].roles["problem"]))
    return Labels(labels, tasks)


def silent_columns(groups: Sequence[Group]) -> list[str]:
    """Return columns that tell systems apart by name, and separate rows of one problem."""
    rows = []
    for group in groups:
        columns = {c: n for c, n in _columns(group).items() if SYSTEMS.fullmatch(plain(n))}
        if not columns:
            continue
        keys = group.inside(*KEYS[:3])
        for column, name in columns.items():
            at = [*keys, column] if column in group.part.columns else keys
            found = dict(zip(at, distinct(group.part, *_frame(group, at))[1], strict=True))
            size = len(found[at[0]])
            texts = {role: group.texts(role, found, size) for role in KEYS[:3]}
            rows.append(pd.DataFrame({**texts, name: _texts(group, column, found, size)}))
    if not rows:
        return []
    frame = pd.concat(rows, ignore_index=True)
    parsed = [group.parsed for group in groups]
    return silent(frame[KEYS[:3]], frame.drop(columns=KEYS[:3]), parsed, groups[0].mapping)


def _columns(group: Group) -> dict[str, str]:
    """Return the columns that could be labels, and what they are then called."""
    single = {parts[0] for parts in group.roles.values() if len(parts) == 1}
    table = group.parsed.table.columns
    found = [c for c in table if c not in single and c.lower() not in STATUS]
    names = dict(zip(found, group.parsed.labels.columns, strict=True))
    flags = cache_flags(group.parsed.labels)
    return {c: name for c, name in names.items() if name not in flags}


def _frame(group: Group, columns: Sequence[str]) -> tuple[nw.LazyFrame, list[str]]:
    return together(group.parts), [group.part.at(c) for c in columns]


def _texts(group: Group, column: str, found: Mapping[str, Sequence[Any]], size: int) -> list[str]:
    """Return a column as labels are written; a fixed one has one value."""
    if column in group.part.fixed:
        return [group.part.fixed[column]] * size
    return list(map(label_text, group.part.values(found[column])))


def _distinct(group: Group, name: str) -> set[str]:
    column = next((c for c, n in _columns(group).items() if n == name), None)
    if column is None or column in group.part.fixed:
        return {group.part.fixed[column]} if column else set()
    (values,) = distinct(group.part, *_frame(group, [column]))[1]
    return set(map(label_text, group.part.values(values)))


def _ends(group: Group) -> pd.DataFrame:
    """Return the least and the greatest value of every label of every problem, and the problem."""
    names, part = _columns(group), group.part
    schema = part.frame.collect_schema()
    inside = [c for c in names if c in part.columns and not schema[part.at(c)].is_nested()]
    keys = group.inside("problem")
    inside, varying = _constant(group, [c for c in inside if c not in keys], keys)
    at = {c: part.at(c) for c in inside}
    with quiet():
        frame = together(group.parts)
        if not keys:
            found = {}
        elif inside:
            whole = [_no_empty(part, name, schema[name]).alias(name) for name in at.values()]
            by = [part.at(c) for c in keys]
            ends = frame.select(*by, *whole).group_by(*by).agg(
                *(nw.col(name).min().alias(f"{name}low") for name in at.values()),
                *(nw.col(name).max().alias(f"{name}high") for name in at.values()),
            )  # fmt: skip
            found = part.fetched(ends)
        else:
            found = {part.at(c): group.raw[c] for c in keys}
    size = len(next(iter(found.values()), [None]))
    problem = group.texts("problem", {c: found[part.at(c)] for c in keys}, size)
    rows = []
    for end in ("low", "high"):
        values = {part.at(c): found[f"{name}{end}"] for c, name in at.items()}
        texts = {
            name: _texts(group, c, {c: values[part.at(c)]} if c in at else {}, size)
            for c, name in names.items() if c in at or c in part.fixed
        }  # fmt: skip
        for c in keys:
            if c in names:
                texts[names[c]] = _texts(group, c, {c: found[part.at(c)]}, size)
        rows.append(pd.DataFrame({"problem": problem, **texts}, dtype=object))
    frame = pd.concat(rows, ignore_index=True)
    frame = frame[["problem", *(n for n in names.values() if n in frame)]]
    frame.attrs["varying"] = {names[c]: found for c, found in varying.items()}
    return frame


def _constant(
    group: Group, columns: list[str], keys: Sequence[str]
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Return the columns that are the same in all rows of a few problems, and where others vary."""
    if not columns or not keys:
        return [], {}
    few = group.has_problem(set(group.problems[:TRIED_PROBLEMS]))
    frame, at = _frame(group, [*keys, *columns])
    found = group.part.fetched(frame.filter(few).select(*at).head(TRIED_ROWS))
    size = len(found[at[0]])
    values = {c: found[group.part.at(c)] for c in (*keys, *columns)}
    texts = pd.DataFrame({c: _texts(group, c, values, size) for c in columns}, dtype=object)
    problem = pd.Series(group.texts("problem", values, size))
    labels = constant_labels(texts, problem)
    return list(labels), labels.attrs["varying"]


def _no_empty(part: Part, name: str, dtype: Any) -> nw.Expr:
    """Return a column with nulls for what is no value."""
    column = nw.col(name)
    if part.kind == "jsonl":
        return nw.when(~column.is_in(["null", '""'])).then(column)
    if dtype.is_float():
        return nw.when(~column.is_nan()).then(column)
    if isinstance(dtype, nw.Categorical | nw.Enum):
        column = column.cast(nw.String())
    elif dtype != nw.String:
        return column
    return nw.when(column != "").then(column)
