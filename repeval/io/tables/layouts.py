"""Tables that are not one row a run: a column per run, model or condition, or counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from repeval.io.checks import TASK_COLUMNS
from repeval.io.columns import SYSTEMS, plain, resolve
from repeval.io.containers.nested import lists_as_runs
from repeval.io.files import Table
from repeval.io.keys import KEYS
from repeval.io.parse import key_text, number, part_of
from repeval.io.tables.counts import counts_of
from repeval.io.tables.names import RUN_WORD, Read
from repeval.io.verdicts import numbers
from repeval.messages import Notice, RepevalError, refused, some

__all__ = ["WIDE", "arranged"]

#: What the columns of a wide table can be, and the role that their names then play.
WIDE = {"runs": "run", "models": "model", "conditions": "condition", "problems": "problem"}

RUN_NAME = re.compile(rf"^(?:(?P<of>.+?)[ _.\-:/]+)?{RUN_WORD}[ _.\-#:=]*(?P<run>\d+)$", re.I)
OTHER_NAME = {
    "models": re.compile(r"^(?:model|system|llm)[ _.\-:=]+(?P<name>.+)$", re.I),
    "conditions": re.compile(
        r"^(?:condition|prompt|temperature|temp)[ _.\-:=]+(?P<name>.+)$", re.I
    ),
}
#: What says that a column holds an outcome, and nothing about whose.
OUTCOME_WORDS = {
    "outcome", "score", "verdict", "correct", "accepted", "passed", "pass", "resolved", "reward",
    "result", "success", "acc", "accuracy", "grade", "label",
}  # fmt: skip
#: The first word of a column's name that tells what its values are.
KEY_WORDS = {
    "problem": {"problem", "question", "item", "task", "test", "case", "instance", "sample",
                "example", "doc"},
    "model": {"model", "system", "agent", "harness", "llm"},
}  # fmt: skip
ID_WORDS = {"id", "ids", "name", "key", "no", "nr", "number", "path", "or"}


def arranged(read: Read, wide: str | None, notices: list[Notice]) -> Read:
    """Bring a table into one row a run where it is not, or say which columns count what.

    Parameters
    ----------
    read : Read
        The table as it is in the file, and the roles that were named.
    wide : {None, "runs", "models", "conditions", "problems"}
        What the columns stand for. None: recognised where they hold 0/1 or outcome words and their
        names say it.

    Raises
    ------
    RepevalError
        Several columns hold outcomes and no name says whose: the message has the ways to read
        them, each tried.
    """
    table, mapping = read.table, read.mapping
    if found := lists_as_runs(table.columns, table.rows, mapping.get("outcome")):
        column, columns, rows = found
        text = f"{table.name}: {column} holds the outcomes of a row's runs, numbered as they stand."
        notices.append(Notice("nested-read", text))
        return read._replace(table=replace(table, columns=columns, rows=rows))
    if wide is None and (counts := counts_of(table, mapping)):
        return _counted(read, counts, notices)
    found = _run_columns(table, mapping, asked=wide is not None)
    if wide is not None:
        columns = found or _outcome_columns(table, mapping, strict=False)
        return _stacked(read, columns, wide, notices)
    if "outcome" in mapping:
        if left := [c for c in found if c != mapping["outcome"]][: len(found) - 1]:
            text = f"Only {mapping['outcome']} is read; {some(left)} look like further runs"
            if mapping["outcome"] in found:
                notices.append(Notice("wide-left", f"{text} (--wide runs reads them all)."))
        return read
    if found and "run" not in _roles(read, [*table.columns]):
        if _has_outcome(table):
            what = f"{table.name}: there are an outcome and runs beside it ({some(found)})"
            _refuse(read, ["runs"], what)
        return _stacked(read, found, "runs", notices)
    if _has_outcome(table):
        return read
    columns = _outcome_columns(table, mapping, strict=True)
    runs = _run_columns(table, mapping, asked=True)
    scores = [column for column in runs if _holds(table, column, strict=False)]
    free = "run" not in _roles(read, [*table.columns])
    if free and len(scores) > 1 and len(scores) >= len(runs) - 1:
        what = f"{table.name}: by their names {some(runs, 5)} are runs, and they hold scores"
        _refuse(read, ["runs"], what)
        # No way to read them: one holds what is no outcome, which is refused with its row.
        return _stacked(read, runs, "runs", notices)
    if len(columns) < 2:
        _refuse_scores(read)
        return read
    for kind, pattern in OTHER_NAME.items():
        if all(pattern.match(column) for column in columns):
            return _stacked(read, columns, kind, notices)
    what = f"{table.name}: columns {some(columns, 5)} hold outcomes, and no name says whose"
    _refuse(read, list(WIDE), what)
    return read


def _refuse_scores(read: Read) -> None:
    """Refuse a table of scores in which nothing but its columns could be the problems."""
    scores = _outcome_columns(read.table, read.mapping, strict=False)
    roles = _roles(read, [*read.table.columns])
    known = {column for columns in roles.values() for column in columns}
    if len(scores) > 2 and "problem" not in roles and known.union(scores) == {*read.table.columns}:
        what = f"{read.table.name}: columns {some(scores, 5)} hold scores, and no column names"
        _refuse(read, ["problems"], f"{what} problems")


def _refuse(read: Read, kinds: Sequence[str], what: str) -> None:
    """Refuse a table that could be wide, with the options that can be typed, if there are any."""
    ways = []
    for kind in kinds:
        try:
            new = arranged(read, kind, [])
            rows = part_of(new.table, new.mapping, []).rows
        except RepevalError:
            continue
        if not rows.duplicated(KEYS).any():
            ways.append(f"--wide {kind}")
    if ways:
        way = f"Type {', '.join(ways[:-1])}{' or ' * (len(ways) > 1)}{ways[-1]}"
        only = "if one of them is the outcome of its row: --columns outcome=COLUMN"
        raise RepevalError("doubtful-layout", f"{what}. {way}; {only}.")


def _run_columns(table: Table, mapping: Mapping[str, str], asked: bool) -> list[str]:
    """Return the columns whose names say that they are runs, if all of them hold outcomes.

    Where it was asked for runs, columns that hold none are refused later, with their rows.
    """
    used = {part.strip() for role, column in mapping.items() if role != "outcome"
            for part in (column, *column.split("+"))}  # fmt: skip
    groups: dict[str, list[str]] = {}
    for column in table.columns:
        if column not in used and (match := RUN_NAME.match(column)):
            groups.setdefault((match["of"] or "").lower(), []).append(column)
    hold = {of: all(_holds(table, c, strict=not asked) for c in g) for of, g in groups.items()}
    # Columns of times or tokens beside those of outcomes are labels.
    if any(hold.values()):
        groups = {of: group for of, group in groups.items() if hold[of]}
    elif not asked:
        return []
    found = [column for group in groups.values() for column in group]
    return found if len(found) > 1 else []


def _outcome_columns(table: Table, mapping: Mapping[str, str], strict: bool) -> list[str]:
    """Return the columns that hold outcomes and are no key by their name."""
    used = {part.strip() for column in mapping.values() for part in (column, *column.split("+"))}
    roles = _roles(Read(table, mapping), [*table.columns])
    used |= {column for parts in roles.values() for column in parts}
    return [
        column for column in table.columns
        if column not in used and not any(_is_key(column, role) for role in KEY_WORDS)
        and column.lower() not in ("status", "error") and _holds(table, column, strict)
    ]  # fmt: skip


def _holds(table: Table, column: str, strict: bool) -> bool:
    """Tell whether a column holds outcomes only; `strict`: words and 0/1, no scores."""
    values = [str(v) if isinstance(v, list | dict) else v for v in table.columns[column]]
    read = map(number, pd.unique(np.array(values, dtype=object)))
    known = (x for x in read if not np.isnan(x))
    # The first that does not fit ends it: of ids there may be millions.
    fits = (x in (0.0, 1.0) if strict else 0 <= x <= 1 for x in known)
    return next(fits, False) and all(fits)


def _stacked(read: Read, columns: list[str], wide: str, notices: list[Notice]) -> Read:
    """Put the outcomes of `columns` below each other, with what their names say beside them."""
    table, role = read.table, WIDE[wide]
    if len(columns) < 2:
        what = f"{table.name}: --wide {wide} needs two columns or more that hold outcomes"
        raise refused("not-wide", f"{what}; {some(columns) if columns else 'none'} does.")
    names = {column: _named(column, role) for column in columns}
    owners = list(dict.fromkeys(of for of, _ in names.values()))
    rest = [column for column in table.columns if column not in names]
    roles = _roles(read, rest)
    # Where runs have owners, these are models unless a column or the option says otherwise.
    owned = len(owners) > 1 or (owners[0] and owners[0].lower() not in OUTCOME_WORDS)
    owner = "condition" if role == "condition" or "model" in roles else "model"
    added = {"run": [run for _, run in names.values()]} if all(r for _, r in names.values()) else {}
    if added and owned:
        added[owner] = [of for of, _ in names.values()]
    elif role != "run" or not added:
        added = {role: [of if role != "run" else c for c, (of, _) in names.items()]}
    if clash := [r for r in added if r in roles or (r == "model" and table.model)]:
        what = f"{table.name}: the columns would name the {clash[0]}, and so does "
        what += table.model or f"column {'+'.join(roles[clash[0]])}"
        raise refused("not-wide", f"{what}.")
    m, n = len(columns), len(table.rows)
    outcome = np.empty((n, m), dtype=object)
    for j, column in enumerate(columns):
        outcome[:, j] = table.columns[column]
    long = {column: np.repeat(table.columns[column], m) for column in rest}
    values = {r: np.tile(np.array(labels, dtype=object), n) for r, labels in added.items()}
    keys = _keys(table, rest, read.mapping, added)
    mapping = {**read.mapping, **keys}
    if "run" not in added and "run" not in roles:
        mapping.setdefault("run", "")
    none = np.isnan(numbers(outcome.ravel()))
    if none.any() and "status" not in mapping:
        # A field that was left blank is a run that has no outcome.
        values["status"] = np.where(none, "error", "").astype(object)
    # Messages on outcomes name their column.
    shown = f"{columns[0]} to {columns[-1]}" if m > 3 else ", ".join(columns)
    long[shown], mapping["outcome"] = outcome.ravel(), shown
    for r, column in values.items():
        name = r if r not in long else f"{r} of the column"
        long[name], mapping[r] = column, name
    shown += "".join(f"; {role} in column {column}" for role, column in keys.items())
    what = " and ".join(f"{r}s" for r in ("model", "condition", "problem", "run") if r in added)
    notices.append(Notice("wide-read", f"{m} columns of {table.name} as {what}: {shown}."))
    new = replace(table, columns=long, rows=np.repeat(table.rows, m))
    return read._replace(table=new, mapping=mapping)


def _named(column: str, role: str) -> tuple[str, str]:
    """Return whose column it is, and which run, as its name says; "" for what it does not say."""
    if role == "problem":
        return column, ""
    if match := RUN_NAME.match(column):
        return match["of"] or "", match["run"]
    pattern = OTHER_NAME["models"]
    if role == "model" and (match := pattern.match(column)) and not match["name"].isdigit():
        return match["name"], ""
    return column, ""


def _counted(read: Read, counts: tuple[str, ...], notices: list[Notice]) -> Read:
    """Say which columns count; the outcome of a row is the mean of its runs."""
    table = read.table
    rest = [column for column in table.columns if column not in counts]
    keys = _keys(table, rest, read.mapping, ())
    mapping = {"run": "", **read.mapping, **keys}
    runs, total = (numbers(table.columns[c]) for c in counts[:2])
    name = "outcome" if "outcome" not in rest else "outcome of the counts"
    with np.errstate(all="ignore"):
        rate = (total / runs).astype(object)
    mapping["outcome"] = name
    what = ("runs", "passes") if len(counts) == 2 else ("runs", "sums", "sums of squares")
    said = zip((*what, *keys), (*counts, *keys.values()), strict=True)
    text = ", ".join(f"{a} in column {b}" for a, b in said)
    text = f"{table.name} as counts: {text}. What single runs tell cannot be seen in counts: runs "
    text += "that were replayed, failed everywhere, stopped at a pass or are missing."
    if len(counts) > 2:
        text += " Where single scores are drawn, others of the same mean and variance stand in."
    notices.append(Notice("counts-read", text))
    columns = {column: table.columns[column] for column in rest} | {name: rate}
    columns |= {column: table.columns[column] for column in counts}
    return read._replace(table=replace(table, columns=columns), mapping=mapping, counts=counts)


def _keys(
    table: Table, rest: Sequence[str], mapping: Mapping[str, str], added: Sequence[str]
) -> dict[str, str]:
    """Return the columns that are problem and model, where the layout leaves no doubt of them.

    A row holds all runs of a problem, so what tells rows of one problem apart is a system.
    """
    roles, found = _roles(Read(table, mapping), rest), {}
    for role in ("problem", "model"):
        if role in roles or role in mapping or role in added or (role == "model" and table.model):
            continue
        names = [column for column in rest if _is_key(column, role)]
        taken = {c for parts in roles.values() for c in parts} | set(found.values())
        free = [column for column in rest if column not in taken]
        if role == "problem" and not names and len(free) == 1 and _unique(table, free):
            names = [c for c in free if not SYSTEMS.fullmatch(plain(c))]
        if len(names) == 1:
            found[role] = names[0]
    if not {"problem"} & {*roles, *mapping, *found, *added}:
        _refuse_problem(table, rest, {**roles, **{r: (c,) for r, c in found.items()}})
    return found


def _refuse_problem(table: Table, rest: Sequence[str], roles: Mapping) -> None:
    """Refuse a table whose problem is not told, with the columns that tell rows apart."""
    system = [column for parts in roles.values() for column in parts]
    free = [c for c in rest if c not in system and all(map(key_text, table.columns[c]))]
    free = [c for c in free if not _is_key(c, "model")]
    likely = [c for c in free if _is_key(c, "problem")] or free
    ways = [c for c in likely if _unique(table, [*system, c])]
    # Ids that repeat across tasks: the task comes first.
    pairs = [(a, b) for a in likely if a.lower() in TASK_COLUMNS for b in likely if b != a]
    ways = ways or ["+".join(pair) for pair in pairs if _unique(table, [*system, *pair])]
    if ways:
        typed = " or ".join(f"--columns problem={way}" for way in ways[:3])
        what = f"{table.name}: no column is surely the problem. Type {typed}."
        raise RepevalError("doubtful-column", what)


def _is_key(column: str, role: str) -> bool:
    """Tell whether a name is like ``question``, ``testName`` or ``Question ID``."""
    words = re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column).lower())
    if words == ["id"]:
        return role == "problem"
    return bool(words) and words[0] in KEY_WORDS[role] and {*words[1:]} <= ID_WORDS


def _unique(table: Table, columns: Sequence[str]) -> bool:
    keys = list(zip(*(map(str, table.columns[column]) for column in columns), strict=True))
    return len(set(keys)) == len(keys)


def _roles(read: Read, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return which of some columns are model, condition, problem or run, beyond doubt."""
    roles = {}
    for role in KEYS:
        mapping = {**dict.fromkeys(KEYS, ""), "problem": " ", "outcome": "  "}
        mapping.pop(role)
        if role in read.mapping:
            mapping[role] = read.mapping[role]
        try:
            found = resolve([*names, " ", "  "], mapping, read.table.name, [])
        except RepevalError:
            continue
        if role in found:
            roles[role] = found[role]
    return roles


def _has_outcome(table: Table) -> bool:
    """Tell whether a column is, or could be, that of outcomes by its name."""
    aside = {**dict.fromkeys(KEYS, ""), "problem": " "}
    try:
        resolve([*table.columns, " "], aside, table.name, [])
    except RepevalError as error:
        return error.code != "missing-column"
    return True
