"""Ways to read tables whose columns are not clear, or whose rows repeat: tried on the data."""

from __future__ import annotations

import itertools
import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from repeval.io.checks import TASK_COLUMNS
from repeval.io.columns import (
    COUNTED,
    JUDGES,
    METRICS,
    RUNS,
    STATUS,
    SYSTEMS,
    TIMES,
    Unclear,
    parse_columns,
    plain,
    resolve,
)  # fmt: skip
from repeval.io.files import Table
from repeval.io.keys import KEYS
from repeval.io.parse import Part, key_text, part_of
from repeval.io.verdicts import PERCENT, Scale, fitting_scales, number, sentinel, vocabularies
from repeval.messages import RepevalError

__all__ = ["Data", "Way", "silent"]

#: How many ways are tried, and about how many rows are read for it.
TRIED, TRIED_ROWS = 60, 2 * 10**6

#: Names that outcomes, and problems, may have.
SCORE = re.compile("score|correct|pass|succe|grade|solved|accura|reward|verdict")
TASK = re.compile("id$|task|problem|question|item|test|case|example|puzzle|name")

#: Names of what ids may count within: part of a problem's key where it separates rows.
PARTS = re.compile(
    "turn|sub(ject|set|task)|split|suite|category|topic|domain|section|chapter|language|repo(sitory)?"
)

#: In which roles are typed.
ORDER = ("problem", "outcome", "status", "model", "condition", "run")

Way = tuple[dict[str, str], Scale | None]


@dataclass(frozen=True)
class Data:
    """Tables and how they are to be read: what ways are tried on; `fixed` columns are not typed."""

    tables: Sequence[Table]
    mapping: Mapping[str, str] = field(default_factory=dict)
    scale: Scale | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)

    def typed(self, way: Way) -> str:
        """Write the options of a way, and the --columns that were typed before."""
        text = self._columns(way)
        parts = [f"--columns {shlex.quote(text)}"] if way[0] else []
        return " ".join(parts + ["--scale {:g} {:g}".format(*s) for s in [way[1]] if s])

    def read(self, way: Way) -> Trial:
        """Read the tables as if a way were typed."""
        # From the text: a column may be called so that it cannot be typed.
        mapping = parse_columns(self._columns(way))
        return _trial(self.tables, {**mapping, **self.fixed}, way[1] or self.scale)

    def _columns(self, way: Way) -> str:
        columns = {**self.mapping, **way[0]}
        return ",".join(f"{role}={columns[role]}" for role in ORDER if role in columns)

    def after(self, way: Way) -> Data:
        """Return the data with the options of a way typed."""
        return replace(self, mapping={**self.mapping, **way[0]}, scale=way[1] or self.scale)

    def first_way(self, unclear: Unclear) -> Way | None:
        """Return the first columns that the names of a table suggest, None if none do."""
        return next(((choice, None) for choice in _choices(self.tables[0], unclear)), None)

    def solutions(self, way: Way = ({}, None)) -> list[Way]:
        """Return ways that read all tables, begun with `way`; those with repeated problems first.

        Each refusal on the way is met with what could mend it, the whole is tried again.
        """
        found: list[tuple[bool, Way]] = []
        waiting, seen, tried = [way], set(), 0
        most = min(TRIED, max(6, TRIED_ROWS // sum(len(table.rows) for table in self.tables)))
        while waiting and tried < most:
            way, tried = waiting.pop(0), tried + 1
            if (key := self.typed(way)) in seen:
                continue
            seen.add(key)
            try:
                trial = self.read(way)
            except RepevalError:
                continue
            if not trial.trouble:
                again = trial.rows.duplicated(KEYS[:3]).any()
                found.append((bool(again), way))
            else:
                waiting += [more for more in trial.mended(way) if more != way]
        # A condition that a column could be the model of says nothing more than the model.
        found = [(a, w) for a, w in found if w[0].get("model") != "" or "condition" not in w[0]]
        repeated = any(again for again, _ in found)
        return [way for again, way in found if again or not repeated]


@dataclass(frozen=True)
class Trial:
    """Tables as read: their rows and labels, or what is in the way."""

    tables: Sequence[Table]
    trouble: RepevalError | str | None
    mapping: Mapping[str, str]
    scale: Scale | None = None
    parts: Sequence[Part] = ()
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    texts: pd.DataFrame = field(default_factory=pd.DataFrame)

    def mended(self, way: Way) -> Iterator[Way]:
        """Yield ways that could mend the trouble."""
        columns, scale = way
        if isinstance(self.trouble, Unclear):
            for choice in _choices(self.tables[0], self.trouble):
                yield {**columns, **choice}, scale
        elif isinstance(self.trouble, RepevalError):
            if self.trouble.code == "outcome-range":
                for more, fit in _scales(self.tables, self.mapping, self.scale):
                    yield {**columns, **more}, fit or scale
        elif self.trouble == "silent":
            for column in silent(self.rows, self.texts, self.parts, self.mapping):
                for more in _roles_for(column, self.parts[0].roles, ("condition", "model")):
                    yield {**columns, **more}, scale
        elif self.trouble == "repeats":
            for more in _apart(self.rows, self.texts, self.parts):
                yield {**columns, **more}, scale


def _trial(tables: Sequence[Table], mapping: Mapping[str, str], scale: Scale | None) -> Trial:
    try:
        parts = [part_of(table, mapping, [], scale) for table in tables]
    except RepevalError as error:
        return Trial(tables, error, mapping, scale)
    rows, texts = _together(parts)
    trouble: RepevalError | str | None = None
    if rows["problem"].nunique() < 2:
        trouble = RepevalError("one-problem", "Then there is only one problem.")
    elif rows.duplicated(KEYS).any():
        trouble = "repeats"
    elif silent(rows, texts, parts, mapping):
        trouble = "silent"
    return Trial(tables, trouble, mapping, scale, parts, rows, texts)


def _together(parts: Sequence[Part]) -> tuple[pd.DataFrame, pd.DataFrame]:
    return tuple(
        pd.concat([getattr(part, what) for part in parts], ignore_index=True)
        for what in ("rows", "labels")
    )


def _choices(table: Table, unclear: Unclear) -> Iterator[dict[str, str]]:
    """Yield columns for all unclear roles at once, those with fitting names first."""
    known = {c for found in unclear.maybe.values() for c in found}
    free = [c for c in table.columns if c not in known and c not in unclear.taken]
    roles = []
    for role, maybe in unclear.maybe.items():
        found = list(maybe)
        if role == "outcome" and not maybe:
            found = [c for c in free if _reads_as_outcome(table.columns[c])]
            found = _best(found, SCORE, lambda c: len(set(table.columns[c])) <= 3)
        elif role == "problem" and not maybe:
            found = [c for c in free if not _tells_systems_or_runs(c)]
            found = _best(found, TASK, lambda c: not _reads_as_outcome(table.columns[c]))
        # A table may have no column for these.
        roles.append([(role, c) for c in found] + [(role, "")] * (role in ("model", "run")))
    for choice in itertools.islice(itertools.product(*roles), TRIED // 2):
        columns = [column for _, column in choice if column]
        if len(set(columns)) == len(columns):
            yield dict(choice)


def _best(found: list[str], name: re.Pattern, fits: Callable[[str], bool]) -> list[str]:
    """Return the columns with a fitting name; else those whose values fit; else all."""
    named = [c for c in found if name.search(plain(c))]
    return named or [c for c in found if fits(c)] or found


def _tells_systems_or_runs(column: str) -> bool:
    kinds = (SYSTEMS, RUNS, JUDGES, METRICS, TIMES, re.compile("|".join(STATUS)))
    return any(kind.fullmatch(plain(column)) for kind in kinds)


def _reads_as_outcome(values: np.ndarray) -> bool:
    """Tell whether a column could hold outcomes: words of one kind or shares, not all the same."""
    if any(isinstance(value, list | dict) for value in values):
        return False
    distinct = set(values)
    known = (x for x in map(number, distinct) if not np.isnan(x))
    fits = [0 <= x <= 1 for x in itertools.islice(known, 2)]
    # The first that does not fit ends it: of ids there may be millions.
    if len(fits) < 2 or not all(fits) or not all(0 <= x <= 1 for x in known):
        return False
    return bool(vocabularies(distinct))


def _scales(
    tables: Sequence[Table], mapping: Mapping[str, str], scale: Scale | None
) -> Iterator[tuple[dict[str, str], Scale | None]]:
    """Yield scales that hold the outcomes; one negative value among them may mark errors."""
    (column,) = resolve(list(tables[0].columns), mapping, tables[0].name, [])["outcome"]
    written = {v for table in tables for v in table.columns.get(column, ()) if key_text(v)}
    times = 100 if vocabularies(written) == {PERCENT} else 1
    found = {number(v) * times for v in written}
    found = {v for v in found if math.isfinite(v)}
    rest = {v for v in found if v >= 0}
    status = {"status": column}
    if sentinel(found, scale or (0.0, max(found))) is not None:
        if scale or max(rest) <= 1:
            yield status, None
        else:
            yield from ((status, fit) for fit in fitting_scales(rest))
    elif not scale:
        yield from (({}, fit) for fit in fitting_scales(found))


def _roles_for(
    column: str, roles: Mapping[str, tuple[str, ...]], wanted: Iterable[str]
) -> Iterator[dict[str, str]]:
    """Yield a column as further part of each of some roles."""
    for role in wanted:
        before = roles.get(role, ())
        parts = (column, *before) if role == "problem" else (*before, column)
        yield {role: "+".join(parts)}


def _apart(
    rows: pd.DataFrame, texts: pd.DataFrame, parts: Sequence[Part]
) -> Iterator[dict[str, str]]:
    """Yield roles for the column, or two, that tell repeated rows apart.

    What tells systems apart is offered as condition or part of the model, what numbers or times
    runs as run: neither is ever part of a problem's key. Where few problems have repeated rows
    these are retries, no runs.
    """
    roles, n = parts[0].roles, len(rows)
    used = {column for part in parts for found in part.roles.values() for column in found}
    columns = [c for c in texts if c not in used and c in parts[0].table.columns]
    columns.sort(key=lambda c: c.lower() not in TASK_COLUMNS)
    values = {c: texts[c].fillna("").to_numpy() for c in columns}
    columns = [c for c in columns if len(set(values[c])) > 1]
    few = (rows.groupby(KEYS[:3]).size() > 1).mean() < 0.5

    def kinds(column: str) -> tuple[str, ...]:
        name = plain(column)
        if column.lower() in TASK_COLUMNS or PARTS.fullmatch(name):
            return ("problem",)
        if METRICS.fullmatch(name):
            return ("condition",)
        if SYSTEMS.fullmatch(name):
            return "condition", "model"
        # A value that only one problem has is no setting and no kind of problem.
        alone = (pd.Series(rows["problem"]).groupby(values[column]).nunique() == 1).all()
        if alone or any(kind.fullmatch(name) for kind in (RUNS, JUDGES, TIMES)):
            return () if few else ("run",)
        coarse = len(set(values[column])) <= n / 4
        return (*(("run",) if not few else ()), *(("condition", "model", "problem") * coarse))

    def separate(*some_columns: str) -> bool:
        more = {f" {i}": values[c] for i, c in enumerate(some_columns)}
        return not rows[KEYS].assign(**more).duplicated().any()

    single = [c for c in columns if separate(c)]
    for column in single:
        yield from _roles_for(column, roles, kinds(column))
    if single:
        return
    found = False
    for a, b in itertools.permutations(columns[:12], 2):
        if not separate(a, b) or "run" not in kinds(b):
            continue
        found = True
        (second,) = _roles_for(b, roles, ("run",))
        for role in kinds(a):
            if role != "run":
                (first,) = _roles_for(a, roles, (role,))
                yield {**first, **second}
            elif columns.index(a) < columns.index(b):
                yield {"run": f"{next(_roles_for(a, roles, ('run',)))['run']}+{b}"}
    numbered = any(RUNS.fullmatch(plain(c)) for c in parts[0].table.columns)
    if not (found or few or numbered or "run" in roles):
        yield {"run": COUNTED}


def silent(
    rows: pd.DataFrame, texts: pd.DataFrame, parts: Sequence[Part], mapping: Mapping[str, str]
) -> list[str]:
    """Return columns that tell systems apart by name, and separate rows of one problem.

    A condition that was named, or said to be none, answers the question.
    """
    if "condition" in mapping:
        return []
    used = {column for part in parts for found in part.roles.values() for column in found}
    cells = [rows[key].to_numpy() for key in KEYS[:3]]
    found = []
    for column in (c for c in texts if c not in used and SYSTEMS.fullmatch(plain(c))):
        values = texts[column].where(texts[column] != "")
        problems = rows["problem"].groupby(values).nunique()
        # A text of its own for each problem, or row, is no setting.
        if len(problems) > 1 and problems.min() > 1 and (values.groupby(cells).nunique() > 1).any():
            found.append(column)
    return found
