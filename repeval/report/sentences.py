"""Whole sentences and short answers for terminal, Markdown, captions and pages.

All of it holds for any data: what they do not give is said. Nothing is computed here.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from repeval.report import summary
from repeval.report.format import (
    NEEDS_CHANGE,
    NEEDS_RUNS,
    NEW,
    NO_LIMIT,
    NOT_SHOWN,
    STEADY,
    count,
    narrower,
    percent,
    points,
    reach,
    signed_limits,
)
from repeval.report.summary import width

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis
    from repeval.report.rows import Difference, Fixed, Pair, System


def shape(analysis: Analysis, condition: str) -> str:
    """Say how much was run."""
    rows = analysis.ranked(condition)
    runs = count(reach(r for s in rows for r in s.runs_range), "run")
    text = f"{count(len(rows), 'model')} x {reach(s.n_problems for s in rows)} problems x {runs}"
    others = [c for c in analysis.summary if c != condition]
    if others:
        return f"{text}, condition {condition} (others: --condition {' | '.join(others)})."
    return text + ("." if condition == "default" else f", condition {condition}.")


def these(analysis: Analysis, condition: str) -> str:
    """Name the problems at hand."""
    return f"these {reach(s.n_problems for s in analysis.ranked(condition))} problems"


def precision(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say how sure a score is, for both questions."""
    rows = analysis.ranked(condition)
    return {
        these(analysis, condition): half_widths(rows, summary.THESE, NEEDS_RUNS),
        NEW: half_widths(rows, summary.NEW),
    }


def apart(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say how many neighbours are told apart, for both questions."""
    pairs = analysis.adjacent(condition)
    at_hand = f"these {reach(p.n_problems for p in pairs)} problems"

    def told(resolved: list[bool | None]) -> str:
        yes = sum(map(bool, resolved))
        none = set(resolved) == {None}
        return _no_answer(pairs) if none else f"{yes} apart, {len(resolved) - yes} not"

    return {
        at_hand: told([p.fixed.resolved for p in pairs]),
        NEW: told([p.resolved for p in pairs]),
    }


def pair_text(pair: Pair, candidate: str | None = None) -> dict[str, str]:
    """Say whether a pair is told apart, or its candidate got worse, for both questions."""

    def answer(row: Pair | Fixed) -> str:
        if row.resolved is None:
            return _no_answer([pair])
        low, high = row.interval
        if candidate == pair.model_b:
            low, high = -high, -low
        yes = "NO, BETTER" if candidate and high > 0 else "YES"
        return f"{yes if row.resolved else 'NOT SHOWN':<11}{signed_limits((low, high))}"

    return {f"these {pair.n_problems} problems": answer(pair.fixed), NEW: answer(pair)}


def half_widths(rows: Iterable[System], name: str, unknown: str = NOT_SHOWN) -> str:
    """Return half the widths of the systems' intervals, `+-1 to +-3 points`."""
    halves = [50 * w for s in rows if (w := width(s, name)) is not None]
    if not halves:
        return unknown
    digits = 0 if min(halves) >= 0.95 else 1
    return f"{' to '.join(dict.fromkeys(f'+-{f(halves):.{digits}f}' for f in (min, max)))} points"


def counted(analysis: Analysis, condition: str) -> list[System]:
    """Return the systems that medians count, best first."""
    return [s for s in analysis.ranked(condition) if s.model not in analysis.excluded]


def pooling(analysis: Analysis, condition: str) -> str:
    """Say what counting all runs as independent would claim, and how wrong it is."""
    rows, found = counted(analysis, condition), analysis.summary[condition]
    if all(width(s, "pooled_wilson") is None for s in rows):
        return ""
    text = f"Counting all runs as independent says {half_widths(rows, 'pooled_wilson')}."
    if all(s.runs_range == (1, 1) for s in rows):
        return f"{text} With one run of each problem that is right for new problems."
    new, these = found.over_pooled
    middle = " (median)" if len(rows) > 1 else ""
    text += f" The interval for new problems is {new:.1f} times as wide{middle}"
    return text + ("." if these is None else f", that for these {these:.1f} times.")


def more_runs(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say what endless runs could narrow, from the runs at hand."""
    found = analysis.summary[condition]
    answers = {}
    if found.remaining_narrowing:
        middle, _, most = found.remaining_narrowing
        top = f"for some {NO_LIMIT}" if most >= 1 else f"at most {percent(most)}"
        range_ = f" (median{'' if middle >= 1 else f'; {top}'})" if found.n_systems > 1 else ""
        answers["a score"] = narrower(middle) + range_
    if (middle := found.adjacent_remaining_narrowing) is not None:
        which = " (median of neighbours)" if found.adjacent_total > 1 else ""
        answers["a difference of two"] = narrower(middle) + which
    return answers


def from_one_run(analysis: Analysis, condition: str) -> str:
    """Say what endless runs could narrow, seen from a single run."""
    found = analysis.summary[condition]
    if not found.max_narrowing:
        return ""
    text = f"From a single run: {narrower(found.max_narrowing[0])} for a score"
    if found.adjacent_max_narrowing is not None:
        text += f", {narrower(found.adjacent_max_narrowing)} for a difference"
    return text + "."


def allocation_rule(analysis: Analysis, condition: str) -> str:
    """Say from which price of a problem on repetition pays."""
    found = analysis.summary[condition]
    if found.noise_ratio is None:
        why = f"that {NEEDS_RUNS}"
        if found.within:
            why = "no difficulty spread was seen" if found.within[0] else "no run noise was seen"
        return f"When repetition pays cannot be said: {why}."
    second = price(found.break_even.ratio_of_medians)
    text = f"A second run pays when a new problem costs over {second} runs"
    if found.best_between:
        low, high = map(price, found.best_between)
        runs = counted(analysis, condition)[0].n_runs
        text += f"; {runs} runs are best from {low} to {high}"
    return text + ". The cheaper problems are, the fewer runs and the more problems."


def resolved_names(analysis: Analysis, condition: str) -> str:
    """Name the neighbours told apart on new problems, and count them after correction."""
    pairs = analysis.adjacent(condition)
    found = [p for p in pairs if p.resolved]
    if not found:
        return "No neighbours are told apart on new problems."
    leads = "; ".join(f"{p.model_a} above {p.model_b}" for p in found)
    said = f"{leads}." if len(found) <= 4 else f"{len(found)} told apart."
    stay = sum(p.p_adjusted < 1 - analysis.settings.level for p in found)
    return (
        f"On new problems: {said} Still apart when corrected for asking "
        f"{count(len(pairs), 'question')} at once (Holm): {stay}."
    )


def detectable(rows: Sequence[Difference], what: str) -> str:
    """Say which true difference is found on new problems, nothing where none varied."""
    found = [r.mdd for r in rows if r.mdd]
    middle = " (median)" if len(found) > 1 else ""
    return (
        f" A true {what} on new problems is found four times in five if it is "
        f"{points(statistics.median(found))} points{middle}."
        if found
        else ""
    )


def price(runs: float) -> str:
    """Return a price in runs with two digits or more, `0.67`, `7.1` or `106`."""
    return f"{runs:,.{max(1 - math.floor(math.log10(runs)), 0)}f}"


def _no_answer(rows: Iterable[System | Pair]) -> str:
    """Say why there is no answer on these problems."""
    return NEEDS_CHANGE if all(r.within is None for r in rows) else STEADY
