"""Large tables to `Outcomes`: reduced by an engine, read and refused as rows are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from repeval.io.engines.groups import Group, grouped
from repeval.io.engines.labels import labels_of, silent_columns
from repeval.io.engines.packed import Whole, whole_of
from repeval.io.engines.parts import Part
from repeval.io.files import Table
from repeval.io.keys import KEYS, Policy, Source, in_order
from repeval.io.outcomes import Outcomes
from repeval.io.parse import refuse_text_as_condition
from repeval.io.rules.runs import Names, Runs, dense, frame_of
from repeval.io.rules.settle import check_enough, refuse_many_systems, settled, several_tasks
from repeval.io.tables.advice import judges_as_runs
from repeval.io.tables.names import Read
from repeval.messages import Notice, RepevalError, refused, some
from repeval.stats.sample import Sample, from_counts, from_values

__all__ = ["Doors", "read_large"]

#: Problems that a run is repeated in and that are looked at, further problems, and rows of them.
OFFENDERS, MORE_PROBLEMS, MOST_ROWS = 3, 20, 20_000
#: Rows with an offending value, and first rows, that are read to refuse them.
BAD_ROWS, FIRST_ROWS = 50, 200


class Doors(NamedTuple):
    """What the held reader does: arrange tables and name them, and read, or refuse, a few rows."""

    arranged: Callable[[Sequence[Table], list[Notice]], list[Read]]
    held: Callable[[Sequence[Table]], Any]


class _Cell(NamedTuple):
    """A system's problems, and its sample over them."""

    codes: np.ndarray
    sample: Sample | None


def read_large(
    parts: Sequence[Part], policy: Policy, name: str | None, doors: Doors, notices: list[Notice]
) -> Outcomes | None:
    """Read large tables.

    Returns
    -------
    None for what is no plain table of one row a run.

    Raises
    ------
    RepevalError
        As the held reader would.
    """
    heads = [part.head() for part in parts]
    if not all(len(head.rows) for head in heads):
        return None
    reads = doors.arranged(heads, notices)
    found = [_as_named(*three) for three in zip(parts, heads, reads, strict=True)]
    if not all(found):
        return None
    reader = _Reader(parts, found, reads, policy, doors, notices)
    return reader.outcomes(name)


def _as_named(part: Part, head: Table, read: Read) -> Part | None:
    """Return a part with what the name of its file says; None if its layout is another."""
    columns = read.table.columns
    if read.counts or set(part.columns) - set(columns) or len(read.table.rows) != len(head.rows):
        return None
    more = {name: columns[name][0] for name in columns if name not in part.columns}
    return replace(part, model=read.table.model, fixed=more)


class _Reader:
    """One reading of large tables."""

    def __init__(
        self, given: Sequence[Part], parts: Sequence[Part], reads: Sequence[Read], policy: Policy,
        doors: Doors, notices: list[Notice],
    ) -> None:  # fmt: skip
        self.parts, self.policy, self.doors, self.notices = parts, policy, doors, notices
        # As files, and names, are given: the held reader finds out itself what the names tell.
        self.given = given
        self.heads = {id(part): read.table for part, read in zip(parts, reads, strict=True)}
        self.groups = grouped(parts, [read.mapping for read in reads])
        self.group_of = {id(part): group for group in self.groups for part in group.parts}

    def outcomes(self, name: str | None) -> Outcomes | None:
        """Read everything."""
        for group in self.groups:
            try:
                group.find_roles(self.heads[id(group.part)])
            except RepevalError as error:
                self._refuse(error, [part.head() for part in self.given])
            if not group.readable:
                return None
        for group in self.groups:
            try:
                group.find_runs()
            except RepevalError as error:
                self._refuse_values(group, error)
        labels = in_order(text for group in self.groups for text in group.run_texts)
        # A file that is given twice is no retry.
        alone = len({part.sha256 for part in self.parts}) == len(self.parts)
        retries = self.policy.retries if alone else None
        whole = self._whole(labels, retries, numbered=retries is not None)
        if whole is None:
            whole = self._whole(labels, retries, numbered=True)
        if offenders := whole.repeated(OFFENDERS):
            self._refuse_repeated(whole, offenders)
        if found := silent_columns(self.groups):
            what = f"{self.parts[0].name}: rows of one problem differ in column {some(found)}"
            text = f"{what}, which may tell systems apart. Name the condition: --columns condition="
            error = RepevalError("doubtful-column", f"{text}COLUMN, or condition= for none.")
            self._refuse(error, self._some_problems(whole, []))
        return self._settled(whole, name)

    def _whole(self, labels: Sequence[str], retries: str | None, numbered: bool) -> Whole | None:
        place = {label: i for i, label in enumerate(labels)}
        packed, said = [], []
        for group in self.groups:
            group.reduce(place, numbered)
            try:
                packed.append(group.read(self.policy.scale, said))
            except RepevalError as error:
                self._refuse_values(group, error)
            self._refuse_text(group, packed[-1])
            group.reduced = None
        whole = whole_of(packed, tuple(labels), retries, said)
        self.notices += said if whole is not None else []
        return whole

    def _refuse_text(self, group: Group, packed: Any) -> None:
        """Refuse a `prompt` column that holds each problem's text: it is no condition."""
        if "condition" in group.mapping or len(packed.names["condition"]) == 1:
            return
        pairs = np.unique(np.stack([packed.codes[k] for k in ("condition", "problem")]), axis=1)
        frame = pd.DataFrame(pairs.T, columns=["condition", "problem"])
        refuse_text_as_condition(frame, group.roles, group.part.name)

    def _settled(self, whole: Whole, name: str | None) -> Outcomes:
        rows = enumerate(np.bincount(whole.system, whole.n).astype(int).tolist())
        refuse_many_systems(self.parts[0].name, {whole.name(i): n for i, n in rows if n})
        self.notices += judges_as_runs([group.parsed for group in self.groups])
        labels = labels_of(self.groups)
        between = [several_tasks(*task) for task in labels.tasks]
        policy = self.policy
        if policy.pass_at is not None:
            text = f"Scores of at least {policy.pass_at:g} pass."
            between.append(Notice("pass-threshold", text))
        after, before = settled(whole.systems, whole.names, policy, self.notices, between, _cell)
        names = np.array(whole.names.problems, dtype=object)
        first = self.parts[0].name
        any_judged = any(cell.sample is not None for cell in after.systems.values())
        check_enough(first, any_judged, names[after.problems])
        n_rows = sum(group.n_rows for group in self.groups)
        roots = some(dict.fromkeys(part.name for part in self.parts))
        source = Source(name or roots, self._sha256(whole), n_rows=n_rows)

        def built(done: Any, rule: str, **more: Any) -> Outcomes:
            place = np.cumsum(done.problems) - 1
            cells = {s: (place[c.codes], c.sample) for s, c in done.systems.items() if c.sample}
            return Outcomes.from_cells(
                names[done.problems].tolist(), cells, source=source,
                policy=replace(policy, missing=rule),
                lacks={s: x.moved(place) for s, x in done.lacks.items() if done.systems[s].sample},
                labels=labels.frame, **more,
            )  # fmt: skip

        def rows(rule: str) -> tuple[pd.DataFrame, pd.DataFrame]:
            found, _ = settled(
                whole.systems, whole.names, replace(policy, missing=rule), [], [], lambda x, _: x
            )
            frame = frame_of(found.systems.values(), found.names)
            judged = frame["outcome"].notna()
            return frame[judged], frame.loc[~judged, KEYS]

        said = list(dict.fromkeys(self.notices))
        earlier = before and built(before, "keep", rows=lambda: rows("keep"))
        rule = policy.missing
        return built(after, rule, notices=said, before=earlier, rows=lambda: rows(rule))

    def _sha256(self, whole: Whole) -> str:
        """Return the sum of the files' bytes; of a frame, that of what it was reduced to."""
        if not all(part.sha256 for part in self.parts):
            return whole.sha256()
        sums = sorted(part.sha256 for part in self.parts)
        return sums[0] if len(sums) == 1 else hashlib.sha256("".join(sums).encode()).hexdigest()

    def _refuse(self, error: RepevalError, tables: Sequence[Table]) -> NoReturn:
        """Refuse with what the held reader says of some of the rows, if it refuses them, too."""
        try:
            self.doors.held(tables)
        except RepevalError as found:
            if found.code == error.code:
                raise found from None
        raise error

    def _refuse_values(self, group: Group, error: RepevalError) -> NoReturn:
        """Refuse values, with the numbers of the first of their rows."""
        bad = group.offending(error.column, error.positions) if hasattr(error, "column") else None
        self._refuse(error, [
            _first_rows(given, bad if part in group.parts else None)
            for given, part in zip(self.given, self.parts, strict=True)
        ])  # fmt: skip

    def _refuse_repeated(self, whole: Whole, offenders: Sequence[tuple[int, int]]) -> NoReturn:
        system, problem = offenders[0]
        model, condition = whole.name(system)
        of = repr(model) if condition == "default" else f"{model!r}, condition {condition!r}"
        what = f"{self.parts[0].name}: several rows have the same model, condition, problem and run"
        text = f"{what} ({of}, problem {whole.names.problems[problem]!r})."
        labelled = any(group.roles.get("run") for group in self.groups)
        error = refused("duplicate-rows" if labelled else "no-run-column", text)
        self._refuse(error, self._some_problems(whole, [p for _, p in offenders]))

    def _some_problems(self, whole: Whole, first: Sequence[int]) -> list[Table]:
        """Fetch the rows of some problems, and of a few more."""
        size = np.bincount(whole.problem, whole.n).astype(int)
        wanted = list(dict.fromkeys(first))
        total = size[wanted].sum()
        for problem in range(len(size)):
            if len(wanted) >= MORE_PROBLEMS or total > MOST_ROWS:
                break
            if problem not in wanted and total + size[problem] <= MOST_ROWS:
                wanted.append(problem)
                total += size[problem]
        texts = {whole.names.problems[p] for p in wanted}
        found = [
            given.numbered().filter(self.group_of[id(part)].has_problem(texts))
            for given, part in zip(self.given, self.parts, strict=True)
        ]
        if total > MOST_ROWS:
            found = [frame.sort("row").head(MOST_ROWS) for frame in found]
        tables = [given.rows(frame) for given, frame in zip(self.given, found, strict=True)]
        return [table for table in tables if len(table.rows)]


def _first_rows(part: Part, bad: nw.Expr | None) -> Table:
    """Fetch the first rows of a part, and the first ones that are bad."""
    frame = part.numbered()
    found = [frame.filter(nw.col("row") < FIRST_ROWS)]
    if bad is not None:
        rest = frame.filter(bad).filter(nw.col("row") >= FIRST_ROWS)
        found.append(rest.sort("row").head(BAD_ROWS))
    return part.rows(nw.concat(found))


def _cell(runs: Runs, names: Names) -> _Cell:
    """Return a system's sample; scores of a problem stand in the order of its runs."""
    done = runs.where(runs.judged)
    if not len(done):
        return _Cell(np.arange(0), None)
    codes, problem = dense(done.problem)
    counts = np.bincount(problem)
    if ((done.y == 0) | (done.y == 1)).all():
        passes = np.bincount(problem, done.y).astype(np.int64)
        return _Cell(codes, from_counts(passes, counts))
    return _Cell(codes, from_values(done.y[np.lexsort((done.run, problem))], counts))
