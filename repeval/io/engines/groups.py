"""Parts with the same columns, reduced together; their few different values read as rows are."""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from repeval.io.columns import resolve
from repeval.io.containers import attempts, first_attempts
from repeval.io.engines.parts import Part
from repeval.io.engines.reduced import Reduced, distinct, lookup, reduced, together
from repeval.io.files import Table
from repeval.io.frames import quiet
from repeval.io.keys import KEYS
from repeval.io.parse import Part as Parsed
from repeval.io.parse import key_of, part_of, roles_named, sample_column
from repeval.io.rules.nonruns import CACHED, cache_flags, hits
from repeval.io.verdicts import Scale
from repeval.messages import Notice, refused

__all__ = ["Group", "Packed", "grouped"]

#: Different run labels that are told apart.
MOST_LABELS = 10**6
#: Different scores that are read one by one; of more, those inside the scale are numbers.
MOST_SCORES = 10_000


@dataclass(eq=False)
class Packed:
    """Reduced rows: names of each role and codes in them, outcomes, and which runs they stand for.

    `cached` tells answers from a cache, `error` rows that say that there was an error.
    """

    names: dict[str, list[str]]
    codes: dict[str, np.ndarray]
    y: np.ndarray
    error: np.ndarray
    cached: np.ndarray
    chunk: np.ndarray
    mask: np.ndarray
    n: np.ndarray
    first: np.ndarray | None
    last: np.ndarray | None


@dataclass(eq=False)
class Group:
    """Parts that one query reads, and which columns play which role in them."""

    parts: list[Part]
    mapping: Mapping[str, str]
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    extras: list[str] = field(default_factory=list)
    runs: Any = None
    run_texts: list[str] = field(default_factory=list)
    run_values: list[list[Any]] = field(default_factory=list)
    raw: dict[str, list[Any]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    parsed: Parsed | None = None
    reduced: Reduced | None = None
    n_rows: int = 0

    @property
    def part(self) -> Part:
        """The first part: all have the same columns."""
        return self.parts[0]

    def inside(self, *roles: str) -> list[str]:
        """Return the columns of some roles that are in the engine."""
        found = [c for role in roles for c in self.roles.get(role, ())]
        return [c for c in dict.fromkeys(found) if c in self.part.columns]

    def find_roles(self, head: Table) -> None:
        """Find the columns of all roles.

        Raises
        ------
        RepevalError
            Where they are not clear.
        """
        sample = sample_column(head.columns, self.mapping)
        repeats = sample and self._repeats(sample)
        mapping = roles_named(head, self.mapping, sample if repeats else "", [])
        self.roles = resolve(list(head.columns), mapping, head.name, [])
        cached = [c for c in self.part.columns if c.strip().lower().replace(" ", "_") in CACHED]
        tries = attempts(self.part.columns) if "run" not in self.roles else []
        taken = self.inside(*KEYS, "outcome", "status")
        self.extras = [c for c in (*cached, *tries) if c not in taken]

    def _repeats(self, column: str) -> bool:
        at = self.part.at(column)
        counts = together(self.parts).group_by(at).agg(nw.len().alias("n"))
        return self.part.fetched(counts.select(nw.col("n").max()))["n"][0] > 1

    @property
    def readable(self) -> bool:
        """Whether runs are told apart by columns of their own."""
        return not set(self.inside("run")) & set(self.keys)

    @property
    def keys(self) -> list[str]:
        """The columns by which rows are grouped, besides those of runs."""
        return [
            *dict.fromkeys([*self.inside("model", "condition", "problem", "outcome", "status"),
                            *self.extras])
        ]  # fmt: skip

    def find_runs(self) -> None:
        """Find all run labels."""
        columns = self.inside("run")
        self.run_texts = ["1"]
        if not self.roles.get("run"):
            return
        if columns:
            frame = together(self.parts)
            at = [self.part.at(c) for c in columns]
            self.runs, self.run_values = distinct(self.part, frame, at, MOST_LABELS + 1)
            if len(self.run_values[0]) > MOST_LABELS:
                what = f"{self.part.name}: there are over {MOST_LABELS:,} run labels"
                raise refused("too-many-runs", f"{what} (column {'+'.join(columns)}).")
            self.raw.update(zip(columns, self.run_values, strict=True))
        size = len(self.run_values[0]) if columns else 1
        values = dict(zip(columns, map(self.part.values, self.run_values), strict=True))
        table = self.part.table(values, range(1, size + 1))
        self.run_texts = list(key_of(table, "run", self.roles["run"]))

    def reduce(self, place: Mapping[str, int], numbered: bool) -> None:
        """Reduce the rows; `place` gives every run's."""
        at = [self.part.at(c) for c in self.inside("run")]
        codes = np.array([place[text] for text in self.run_texts])
        places = lookup(self.part, self.runs, codes) if at else int(codes[0])
        frame = together(self.parts, numbered)
        keys = [self.part.at(c) for c in self.keys]
        (outcome,) = self.roles["outcome"]
        self.reduced = reduced(self.part, frame, keys, at, places, self.part.at(outcome), numbered)
        self.n_rows = int(self.reduced.n.sum())

    def read(self, scale: Scale | None, notices: list[Notice]) -> Packed:
        """Read the different values of every column as the rows of a table are read.

        Raises
        ------
        RepevalError
            Without rows' numbers: with the column and the places of its values.
        """
        found = self.reduced
        (outcome,) = self.roles["outcome"]
        sets = [self.inside(role) for role in KEYS[:3]]
        sets.append(list(dict.fromkeys([*self.inside("outcome", "status"), *self.extras])))
        spread = _numbers(found, self.part.at(outcome), scale)
        joint = [self._joint(columns) for columns in _merged(sets)]
        size = max([len(at) for _, at, _ in joint] + [len(self.run_texts)])
        size += self.n_rows > size
        weights = np.zeros(size, dtype=int)
        columns: dict[str, list] = dict.fromkeys(self.part.columns, self.part.values([None]) * size)
        of = {}
        for names, at, inverse in joint:
            for name in names:
                codes = found.columns[self.part.at(name)]
                self.raw[name] = [codes.values[i] for i in codes.codes[at]]
                values = self.part.values(self.raw[name])
                columns[name] = values + values[:1] * (size - len(values))
                of[name] = inverse
            if outcome in names:
                weights[: len(at)] = np.bincount(inverse, found.n)
        for name, raw in zip(self.inside("run"), self.run_values, strict=True):
            values = self.part.values(raw)
            columns[name] = values + values[:1] * (size - len(values))
        table = self.part.table(columns, range(1, size + 1), weights=weights)
        notices += [
            *table.notices,
            *first_attempts(table.columns, self.mapping, table.name, weights),
        ]
        self.parsed = part = part_of(table, self.mapping, notices, scale)
        packed_names, packed_codes = {}, {}
        one = np.zeros(len(found.n), dtype=np.int32)
        for role in KEYS[:3]:
            inside = self.inside(role)
            inverse = of[inside[0]] if inside else one
            texts = part.rows[role].to_numpy()[: inverse.max() + 1]
            place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
            packed_names[role] = list(place)
            if role == "problem":
                self.problems = texts.tolist()
            packed_codes[role] = np.array([place[t] for t in texts], dtype=np.int32)[inverse]
        inverse = of[outcome]
        y = part.rows["outcome"].to_numpy(float)[inverse]
        if spread is not None:
            y = np.where(np.isnan(spread), y, spread)
        if part.table.model:
            packed_names["model"] = [part.table.model]
        cached = np.zeros(len(table.rows), dtype=bool)
        for column in cache_flags(part.labels):
            cached |= hits(part.labels[column]).to_numpy()
        error = part.rows["error"].to_numpy(bool)[inverse]
        return Packed(
            packed_names, packed_codes, y, error, cached[inverse], found.chunk, found.mask,
            found.n, found.first, found.last,
        )  # fmt: skip

    def texts(self, role: str, columns: Mapping[str, Sequence[Any]], size: int) -> np.ndarray:
        """Return a key as text, from values of its columns as the engine has them."""
        constant = role not in self.roles or (role == "model" and self.part.model)
        if constant:
            return np.full(size, self.parsed.rows[role].iloc[0], dtype=object)
        values = {c: self.part.values(columns[c]) for c in self.inside(role)}
        return key_of(self.part.table(values, range(1, size + 1)), role, self.roles[role])

    def offending(self, column: str, positions: Sequence[int]) -> nw.Expr | None:
        """Return the condition of rows with the values of a column that were refused."""
        if column not in self.raw:
            return None
        raw = self.raw[column]
        values = dict.fromkeys(raw[i] if i < len(raw) else raw[0] for i in positions[:5])
        return any_of([_is(self.part.at(column), value) for value in values])

    def has_problem(self, wanted: Collection[str]) -> nw.Expr:
        """Return the condition of rows of some problems."""
        columns = self.inside("problem")
        found = []
        for i, text in enumerate(self.problems):
            if text in wanted and columns:
                alike = [_is(self.part.at(c), self.raw[c][i]) for c in columns]
                found.append(functools.reduce(operator.and_, alike))
        return any_of(found)

    def _joint(self, columns: Sequence[str]) -> tuple[Sequence[str], np.ndarray, np.ndarray]:
        """Return columns, where each combination of their values is, and which one a row has."""
        if len(columns) == 1:
            codes, values = self.reduced.columns[self.part.at(columns[0])]
            at = np.zeros(len(values), dtype=np.int64)
            at[codes] = np.arange(len(codes))
            return columns, at, codes
        key = np.zeros(len(self.reduced.n), dtype=np.int64)
        for column in columns:
            codes = self.reduced.columns[self.part.at(column)]
            key = key * max(len(codes.values), 1) + codes.codes
            key = np.unique(key, return_inverse=True)[1]
        _, at, inverse = np.unique(key, return_index=True, return_inverse=True)
        return columns, at, inverse


def any_of(conditions: Sequence[nw.Expr]) -> nw.Expr:
    """Return the condition that one of some holds."""
    return functools.reduce(operator.or_, conditions, nw.lit(False))


def _is(column: str, value: Any) -> nw.Expr:
    return nw.col(column).is_null() if value is None else nw.col(column) == nw.lit(value)


def _merged(sets: Sequence[Sequence[str]]) -> list[list[str]]:
    """Join the sets of columns that share one."""
    found: list[list[str]] = []
    for columns in filter(None, sets):
        shared = [one for one in found if set(one) & set(columns)]
        found = [one for one in found if one not in shared]
        found.append(list(dict.fromkeys([*(c for one in shared for c in one), *columns])))
    return found


def _numbers(found: Reduced, outcome: str, scale: Scale | None) -> np.ndarray | None:
    """Return many different scores inside the scale as outcomes, NaN for the others.

    One of them then stands for all in the codes of the outcome.
    """
    numbers, (low, high) = found.numbers, scale or (0.0, 1.0)
    if numbers is None:
        return None
    inside = (numbers > low) & (numbers < high)
    distinct = np.unique(numbers[inside])
    if len(distinct) <= MOST_SCORES:
        inside[:] = False
    kept = np.where(inside, distinct[0] if len(distinct) else 0.0, numbers)
    values, codes = np.unique(kept, return_inverse=True)
    column = found.columns[outcome]
    column.values[:] = [None if v != v else v for v in values.tolist()]
    column.codes[:] = codes
    if not inside.any():
        return None
    y = (numbers - low) / (high - low) if scale else numbers
    return np.where(inside, y, np.nan)


def grouped(parts: Sequence[Part], mappings: Sequence[Mapping[str, str]]) -> list[Group]:
    """Put the parts that one query can read together."""
    found: dict[tuple, Group] = {}
    for part, mapping in zip(parts, mappings, strict=True):
        with quiet():
            types = tuple(map(str, part.frame.collect_schema().values()))
        about = (part.kind, part.columns, types, part.model, *part.fixed.items(), *mapping.items())
        found.setdefault(about, Group([], mapping)).parts.append(part)
    return list(found.values())
