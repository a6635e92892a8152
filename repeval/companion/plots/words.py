"""Sentences that figures and pages share; each holds for any data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repeval.messages import MESSAGES
from repeval.report.format import NEEDS_RUNS, NO_LIMIT, count, points, spread

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes
    from repeval.report.analysis import Analysis
    from repeval.report.rows import Pair, System

#: How a figure is said, where {} is the range of its values, and its unit.
FIGURES = {
    "within": ("run noise {}", "{:.4f}", 1),
    "between": ("difficulty spread {}", "{:.4f}", 1),
    "icc": ("correlation of two runs of a problem {}", "{:.2f}", 1),
    "design_effect": ("design effect {}", "{:.2f}", 1),
    "ceiling": ("ceiling {}", "{:.2f}", 1),
    "aleatoric_share": ("run noise as a share of the spread of scores {}", "{:.1f} %", 100),
    "max_narrowing": ("narrowing by endless runs instead of one {}", "{:.0f} %", 100),
    "remaining_narrowing": ("narrowing by endless runs from those at hand {}", "{:.0f} %", 100),
}
NO_PAIR = "There are no neighbours here: that takes two systems with problems in common."
RULES = ("dataset-rule", "dropped-problems", "filled-runs")


def figures(rows: Sequence[System | Pair], *keys: str) -> str:
    """Say figures of scores, or of the differences of pairs, as ranges with medians."""
    if not rows:
        return NO_PAIR
    who = count(len(rows), "pair" if hasattr(rows[0], "model_a") else "model")
    measured = [r for r in rows if r.between is not None]
    known = [r for r in measured if r.within or r.between]
    if not known:
        unknown = f"nothing is known about run noise, which {NEEDS_RUNS}"
        return _over(who, "nothing varied" if measured else unknown)
    if len(known) < len(rows):
        who = f"{len(known)} of {who} (elsewhere nothing varied, or there is one run)"
    said = []
    for key in keys:
        text, form, unit = FIGURES[key]
        found = [getattr(r, key) for r in known]
        # A ceiling that is not finite is no missing figure, and a narrowing by all has no limit.
        values = [
            None if v is None or (v >= 1 and "narrowing" in key) else unit * v
            for v in found
            if v is not None or key == "ceiling"
        ]
        if set(values) == {None}:
            said.append(text.format(NO_LIMIT).replace(f" {NO_LIMIT}", f": {NO_LIMIT}"))
        elif values:
            said.append(text.format(spread(values, form)))
    return _over(who, "; ".join(said))


def _over(who: str, said: str) -> str:
    """Say of how many a figure is, where it is of more than one."""
    if who.startswith("1 "):
        return f"{said[0].upper()}{said[1:]}."
    return f"Over {who}: {said}."


def stability(analysis: Analysis, condition: str, other: str | None) -> str:
    """Say how far the ceilings move between two conditions."""
    if other is None:
        return "There is one condition only, so whether the ceilings last cannot be seen."
    table = analysis.to_frame().pivot(index="model", columns="condition", values="ceiling")
    shifts = (table[condition] - table[other]).abs().drop(list(analysis.excluded)).dropna()
    if shifts.empty:
        return f"No model has a finite ceiling under both {condition} and {other}."
    return (
        f"From {condition} to {other} the ceiling of a model moves by {spread(shifts, '{:.2f}')}, "
        f"most for {shifts.idxmax()}."
    )


def warnings(analysis: Analysis) -> pd.DataFrame:
    """Return what limits the answers, one row for each notice, and what to do about it."""
    found = dict.fromkeys(n for n in analysis.notices if n.kind != "assumed")
    rows = [(n.code, n.text, MESSAGES[n.code].way_out) for n in found]
    return pd.DataFrame(rows, columns=["warning", "what was found", "what it means"])


def warned(analysis: Analysis) -> str:
    """Say how many warnings there are, and which."""
    codes = dict.fromkeys(warnings(analysis)["warning"])
    if not codes:
        return "Nothing in these data calls for a warning."
    return f"These data come with {count(len(codes), 'warning')}: {', '.join(codes)}."


def accounting(outcomes: Outcomes) -> str:
    """Say how many runs there could be, were judged and analysed, and what missing ones change."""
    notes = [n.text for n in outcomes.notices if n.code in RULES]
    models, conditions = count(len(outcomes.models), "model"), len(outcomes.conditions)
    if conditions > 1:
        models += f" under {conditions} conditions ({len(outcomes.systems)} systems)"
    judged, rates, runs = _cells(outcomes)
    analysed = judged, len(outcomes.problems)
    whole = outcomes.before or outcomes
    judged, rates, runs = _cells(whole)
    planned = [whole.planned_runs(*system) for system in runs.columns]
    lacks = np.array([whole.lacking(*system) for system in runs.columns]).any(axis=0)
    lacking = pd.Series(lacks, list(whole.problems)).reindex(runs.index)
    if not lacking.any():
        notes.append("No run is missing.")
    elif lacking.all():
        notes.append("Every problem lacks runs of some system.")
    else:
        changes = (rates[~lacking].mean() - rates.mean()).abs()
        changed = "changes" if len(whole.problems) > len(outcomes.problems) else "would change"
        notes.append(
            f"Leaving out {count(lacking.sum(), 'problem')} that some system lacks runs of "
            f"{changed} a score by at most {points(changes.max(), 2)} points "
            f"({', '.join(changes.idxmax())})."
        )
    text = f"{models} on {count(len(whole.problems), 'problem')}: {judged:,} runs were judged"
    most = sum(planned) * len(whole.problems)
    if judged < most:
        text += f", of {most:,} if every problem had as many as the one with most"
    if analysed != (judged, len(whole.problems)):
        text += f"; {analysed[0]:,} runs on {analysed[1]} problems are analysed"
    return " ".join([f"{text}.", *notes])


def _cells(outcomes: Outcomes) -> tuple[int, pd.DataFrame, pd.DataFrame]:
    """Return the number of judged runs, and pass rates and runs of problems by systems."""
    samples = {s: (outcomes.system_problems(*s), outcomes.system(*s)) for s in outcomes.systems}
    rates = pd.DataFrame({s: pd.Series(x.rate, list(ids)) for s, (ids, x) in samples.items()})
    runs = pd.DataFrame({s: pd.Series(x.runs, list(ids)) for s, (ids, x) in samples.items()})
    return int(runs.sum().sum()), rates, runs
