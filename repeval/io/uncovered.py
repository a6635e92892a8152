"""Tables that hold no single outcomes: pairwise verdicts, totals, and one harness's own CSV."""

from __future__ import annotations

import re
from collections.abc import Mapping

from repeval.io.columns import RUNS, name_fits, plain
from repeval.io.files import Table
from repeval.messages import refused, some

__all__ = ["refuse_totals", "refuse_uncovered"]

TOTALS = re.compile(
    "(mean|avg|average)?(acc|accuracy|score|passrate|successrate|solverate|passat1|pass1)(mean|avg)?"
    "|(num|n|total|count)?(total|solved|correct|passed|failed|problems|tasks|samples|instances)"
    "(count|total)?"
)
PAIRS = (("model1", "model2"), ("modela", "modelb"))
CELL = re.compile(r"\[(PASS|FAIL|ERROR)\]")


def refuse_uncovered(table: Table, maybe: Mapping[str, list[str]]) -> None:
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
        others = [c for text, c in names.items() if not _total_or_run(text)]
        totals = [c for text, c in names.items() if TOTALS.fullmatch(text)]
        if totals and all(name_fits("model", c) or name_fits("condition", c) for c in others):
            _refuse(table, totals)


def refuse_totals(table: Table, mapping: Mapping[str, str]) -> None:
    """Refuse runs typed as problems whose outcomes are totals."""
    problem, outcome = mapping.get("problem", ""), mapping.get("outcome", "")
    if RUNS.fullmatch(plain(problem)) and not mapping.get("run"):
        names = [outcome] if outcome else table.columns
        if totals := [c for c in names if TOTALS.fullmatch(plain(c))]:
            _refuse(table, totals)


def _refuse(table: Table, totals: list[str]) -> None:
    what = f"{table.name}: column {some(totals)} has totals of whole runs"
    raise refused("totals-only", f"{what}, and no column names problems.")


def _total_or_run(text: str) -> bool:
    return bool(TOTALS.fullmatch(text) or RUNS.fullmatch(text))


def _promptfoo(table: Table, column: str) -> bool:
    cells = [v for v in table.columns[column] if v]
    return bool(cells) and all(isinstance(v, str) and CELL.match(v) for v in cells)
