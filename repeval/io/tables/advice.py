"""What is refused because columns are not clear or rows repeat, and what was tried instead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from repeval.io.checks import TASK_COLUMNS
from repeval.io.columns import COUNTED, JUDGES, RUNS, TIMES, Unclear, name_fits, plain
from repeval.io.files import Table
from repeval.io.keys import KEYS
from repeval.io.parse import Part, part_of
from repeval.io.tables.ways import Data, Way, silent
from repeval.io.verdicts import Scale
from repeval.messages import MESSAGES, Notice, RepevalError, refused, some

__all__ = ["judges_as_runs", "parts_of", "refuse_duplicates", "refuse_silent_labels"]

#: How many ways are shown.
SHOWN = 4

#: Names of columns with totals of runs, and with two models; cells of promptfoo's CSV.
TOTALS = re.compile(
    "(mean|avg|average)?(acc|accuracy|score|passrate|successrate|solverate|passat1|pass1)(mean|avg)?"
    "|(num|n|total|count)?(total|solved|correct|passed|failed|problems|tasks|samples|instances)"
    "(count|total)?"
)
PAIRS = (("model1", "model2"), ("modela", "modelb"), ("generator1", "generator2"))
CELL = re.compile(r"\[(PASS|FAIL|ERROR)\]")


def parts_of(
    tables: Sequence[Table],
    mapping: Mapping[str, str],
    notices: list[Notice],
    scale: Scale | None = None,
    fixed: Sequence[Mapping[str, str]] = (),
    retries: str | None = None,
) -> list[Part]:
    """Read tables by `part_of`; where that needs options, name those that read all of them.

    Raises
    ------
    RepevalError
        What `part_of` raises; of unclear columns and of outcomes outside the scale with the
        options, all that are needed at once, that were tried.
    """
    own = [{**mapping, **each} for each in fixed] or [mapping] * len(tables)
    for table, roles in zip(tables, own, strict=True):
        _refuse_totals(table, roles)
    parts: list[Part] = []
    try:
        for table, roles in zip(tables, own, strict=True):
            parts.append(part_of(table, roles, notices, scale))
        return parts
    except RepevalError as error:
        if isinstance(error, Unclear):
            _refuse_uncovered(tables[len(parts)], error.maybe)
        elif error.code != "outcome-range":
            raise
        data = Data(tables, mapping, scale, in_common(fixed))
        what = getattr(error, "what", error.text.removesuffix(MESSAGES[error.code].way_out).strip())
        if ways := data.solutions():
            maybe = error.maybe.get("run", []) if isinstance(error, Unclear) else []
            said = _retried(data, ways, maybe, retries) or _said(data, ways)
            said += _judges(tables)
        elif isinstance(error, Unclear) and (way := data.first_way(error)):
            said = f"{data.typed(way)} would not do. {_next_refusal(data, way)}"
        else:
            raise
        raise RepevalError(error.code, f"{what} {said}") from None


def _retried(data: Data, ways: Sequence[Way], maybe: Sequence[str], retries: str | None) -> str:
    """Say how attempts within runs can be read, where a way makes each of them a run."""
    runs = [c for c in maybe if plain(c) != "attempt"]
    both = [way for way in ways if set(way[0].get("run", "").split("+")) == set(maybe)]
    if not both or len(runs) != 1 or len(maybe) != 2:
        return ""
    columns, scale = both[0]
    one = f"{data.typed(({**columns, 'run': runs[0]}, scale))} --retries"
    if retries:
        return f"With --retries {retries} type {one} {retries}."
    return (
        f"If they are attempts at one run, type {one} last (or first, or best). If each attempt "
        f"is a run of its own, type {data.typed(both[0])}."
    )


def in_common(fixed: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return what layouts and names say of the columns of all tables."""
    first, *others = fixed or ({},)
    return {role: c for role, c in first.items() if all(o.get(role) == c for o in others)}


def _next_refusal(data: Data, way: Way) -> str:
    """Say what is refused if a way is typed."""
    trial = data.read(way)
    try:
        refuse_duplicates(trial.rows, trial.texts, trial.parts, data.after(way))
        return str(trial.trouble)
    except RepevalError as error:
        return str(error)


def _judges(tables: Sequence[Table]) -> str:
    """Say that judgments are not runs, where a column names judges."""
    judges = [c for table in tables for c in table.columns if JUDGES.fullmatch(plain(c))]
    if not judges:
        return ""
    return f" Column {judges[0]} names judges: several judgments of one answer are no runs."


def judges_as_runs(parts: Sequence[Part]) -> list[Notice]:
    """Say where runs are told apart by who judged, or when a judge did."""
    columns = {c for part in parts for c in part.table.columns if JUDGES.fullmatch(plain(c))}
    runs = {c for part in parts for c in part.roles.get("run", ())}
    if not columns or not any(
        JUDGES.fullmatch(plain(c)) or TIMES.fullmatch(plain(c)) for c in runs
    ):
        return []
    text = (
        f"Runs are told apart by column {some(sorted(runs))}, and column {some(sorted(columns))} "
        "names judges: if one answer was judged several times, what is called run noise here is "
        "the noise of judging."
    )
    return [Notice("judges-as-runs", text)]


def refuse_silent_labels(
    rows: pd.DataFrame, texts: pd.DataFrame, parts: Sequence[Part], data: Data
) -> None:
    """Refuse a column that tells systems apart within a problem and would be a mere label."""
    if not (found := silent(rows, texts, parts, data.mapping)):
        return
    ways = data.solutions()
    condition = "+".join(parts[0].roles.get("condition", ()))
    none = {"condition": condition}, None
    if not data.read(none).trouble:
        ways = [*ways[: SHOWN - 1], none]
    what = f"{parts[0].table.name}: rows of one problem differ in column {some(found)}"
    said = _said(data, ways) or "Name the condition: --columns condition=COLUMN."
    raise RepevalError("doubtful-column", f"{what}, which may tell systems apart. {said}")


def _said(data: Data, ways: Sequence[Way]) -> str:
    """Write ways as sentences."""
    texts = list(dict.fromkeys(data.typed(way) for way in ways))
    said = f"Type {some(texts, SHOWN, ' or ')}." if texts else ""
    if any(scale for _, scale in ways):
        said += " The ends of a scale are the ratings possible, whether or not they occur."
    if any(way[0].get("run") == COUNTED for way in ways):
        said += f" With run={COUNTED} rows of a problem are its runs, as they stand."
    if marks := [way[0]["status"] for way in ways if "status" in way[0]]:
        said += f" With status={marks[0]} its negative value marks errors, and --errors decides."
    return said


def refuse_duplicates(
    rows: pd.DataFrame,
    labels: pd.DataFrame,
    parts: Sequence[Part],
    data: Data | None = None,
) -> None:
    """Refuse a key that occurs twice; offer what tells such rows apart, and was tried."""
    if not len(rows) or not (again := rows.duplicated(KEYS)).any():
        return
    data = data or Data([part.table for part in parts])
    second = int(again.idxmax())
    model, condition, problem, run = key = rows.loc[second, KEYS]
    first = int((rows[KEYS] == key).all(axis=1).idxmax())
    ends = np.cumsum([len(part.rows) for part in parts])
    one, two = (parts[np.searchsorted(ends, i, side="right")] for i in (first, second))
    number = np.concatenate([part.table.rows for part in parts])
    with_run = "run" in two.roles
    same = f"{two.table.name}: row {number[second]} has the same model, condition, problem"
    of = "" if one is two else f" of {one.table.name}"
    system = repr(model) if condition == "default" else f"{model!r}, condition {condition!r}"
    where = f"as row {number[first]}{of} ({system}, problem {problem!r}"
    more = f" ({again.sum():,} such rows)" if again.sum() > 1 else ""
    if with_run:
        what = f"{same} and run {where}, run {run!r}){more}."
    else:
        what = f"{same} {where}){more}, and there is no run column."
    code = "duplicate-rows" if with_run else "no-run-column"
    if one is not two and one.table.sha256 == two.table.sha256:
        raise RepevalError(code, f"{what} The two files are identical: give one.")
    ways = data.solutions()
    tasks = [way[0].get("problem", "").partition("+")[0] for way in ways]
    if tasks and tasks[0].lower() in TASK_COLUMNS:
        way = f"Problem ids repeat across {tasks[0]}; type {data.typed(ways[0])}."
        raise RepevalError("duplicate-rows", f"{what} {way}")
    said = [_said(data, ways).removesuffix(".")] if ways else []
    if all("run" in way[0] for way in ways):
        said.append(
            "If they are attempts at one run, --retries last, --retries best or --retries first "
            "says which of them counts"
        )
    if not ways:
        said.append("If they are runs of their own, number them in a column run")
    said = ". ".join(said)
    raise RepevalError(code, f"{what} {said}.{_judges(data.tables)}")


def _refuse_uncovered(table: Table, maybe: Mapping[str, list[str]]) -> None:
    """Refuse a table, whose columns `maybe` says are unclear, where no option can help."""
    names = {plain(c): c for c in table.columns}
    winners = [c for text, c in names.items() if "winner" in text or "preference" in text]
    if "outcome" in maybe and winners and any(a in names and b in names for a, b in PAIRS):
        what = f"{table.name}: column {some(winners)} says which of two models won"
        raise refused("pairwise-verdicts", f"{what}, not whether each of them passed.")
    if "outcome" in maybe and (cells := [c for c in table.columns if _promptfoo(table, c)]):
        what = f"{table.name}: column {some(cells, 1)} mixes verdicts and answers"
        raise refused("promptfoo-table", f"{what}, as promptfoo's CSV does.")
    if maybe.get("problem") == []:
        others = [c for c in table.columns if not (_total(c) or RUNS.fullmatch(plain(c)))]
        totals = [c for c in table.columns if _total(c)]
        if totals and all(name_fits("model", c) or name_fits("condition", c) for c in others):
            _refuse_as_totals(table, totals)


def _refuse_totals(table: Table, mapping: Mapping[str, str]) -> None:
    """Refuse runs typed as problems whose outcomes are totals."""
    problem, outcome = mapping.get("problem", ""), mapping.get("outcome", "")
    if RUNS.fullmatch(plain(problem)) and not mapping.get("run"):
        names = [outcome] if outcome else table.columns
        if totals := [c for c in names if _total(c)]:
            _refuse_as_totals(table, totals)


def _refuse_as_totals(table: Table, totals: list[str]) -> None:
    what = f"{table.name}: column {some(totals)} has totals of whole runs"
    raise refused("totals-only", f"{what}, and no column names problems.")


def _total(column: str) -> bool:
    return bool(TOTALS.fullmatch(plain(column))) and not name_fits("outcome", column)


def _promptfoo(table: Table, column: str) -> bool:
    cells = [v for v in table.columns[column] if v]
    return bool(cells) and all(isinstance(v, str) and CELL.match(v) for v in cells)
