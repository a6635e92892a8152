"""Whole sentences and short answers for terminal, Markdown, captions and pages.

All of it holds for any data: what they do not give is said. Nothing is computed here.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from repeval.messages import some
from repeval.report import summary
from repeval.report.format import (
    LOPSIDED,
    NEEDS_RUNS,
    NEW,
    NO_LIMIT,
    NOT_SHOWN,
    STEADY,
    TOO_FEW,
    count,
    limits,
    narrower,
    percent,
    points,
    reach,
    signed_limits,
)
from repeval.report.summary import width

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis
    from repeval.report.rows import Difference, Fixed, Flips, Limits, Pair, System


#: So few lopsided intervals are written out.
FEW = 3


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
    """Say how sure a score is, for both questions, and how near a rerun comes."""
    rows = analysis.ranked(condition)
    here, again = half_widths(rows, summary.THESE, NEEDS_RUNS), ""
    if any(s.rerun_interval for s in rows):
        here += ", over endless runs" * here.startswith("+")
        again = _spans([(s, s.rerun_interval) for s in rows])
        again += ", with as many runs" * again.startswith("+")
    answers = {these(analysis, condition): here, "the same, run again": again}
    return {k: v for k, v in answers.items() if v} | {NEW: half_widths(rows, summary.NEW)}


def apart(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say how many neighbours are told apart, for both questions."""
    pairs = analysis.adjacent(condition)
    at_hand = f"these {reach(p.n_problems for p in pairs)} problems"

    def told(rows: Sequence[Pair | Fixed]) -> str:
        resolved = [r.resolved for r in rows]
        yes = sum(map(bool, resolved))
        if set(resolved) == {None}:
            return TOO_FEW if rows[0].interval else _no_answer(pairs)
        return f"{yes} apart, {len(resolved) - yes} not"

    return {at_hand: told([p.fixed for p in pairs]), NEW: told(pairs)}


def pair_text(pair: Pair, candidate: str | None = None) -> dict[str, str]:
    """Say whether a pair is told apart, or its candidate got worse, for both questions."""

    def answer(row: Pair | Fixed) -> str:
        if row.interval is None:
            return _no_answer([pair])
        low, high = row.interval
        if candidate == pair.model_b:
            low, high = -high, -low
        if row.resolved is None:
            return f"{TOO_FEW} ({signed_limits((low, high))})"
        yes = "NO, BETTER" if candidate and high > 0 else "YES"
        return f"{yes if row.resolved else 'NOT SHOWN':<11}{signed_limits((low, high))}"

    return {f"these {pair.n_problems} problems": answer(pair.fixed), NEW: answer(pair)}


def half_widths(rows: Iterable[System], name: str, unknown: str = NOT_SHOWN) -> str:
    """Return half the widths of the systems' intervals, `+-1 to +-3 points`."""
    return _spans([(s, s.intervals[name]) for s in rows], unknown)


def _spans(scores: Iterable[tuple[System, Limits]], unknown: str = NOT_SHOWN) -> str:
    """Write intervals around scores as half widths; those that are lopsided as they are."""
    found = [(s, interval) for s, interval in scores if interval]
    even = [50 * (high - low) for s, (low, high) in found if _even(s.mean, low, high)]
    if not found:
        return unknown
    if len(even) < len(found) <= FEW:
        names = [f"{limits(i)} %" + f" ({s.model})" * (len(found) > 1) for s, i in found]
        return ", ".join(names)
    if not even:
        return LOPSIDED
    digits = 0 if min(even) >= 0.95 else 1
    ends = dict.fromkeys(f"+-{f(even):.{digits}f}" for f in (min, max))
    rest = len(found) - len(even)
    return f"{' to '.join(ends)} points" + f" ({rest} {LOPSIDED})" * bool(rest)


def _even(mean: float, low: float, high: float) -> bool:
    """Tell whether a score stands near enough to the middle of its interval to say `+-`."""
    below, above = mean - low, high - mean
    return max(below, above) <= 2 * min(below, above)


def flips(found: Flips, swapped: bool) -> list[str]:
    """Say on how many problems the second system of a pair scored lower and higher than the first.

    `swapped`: the second is the one that leads.
    """
    lower, higher = found.a_better, found.b_better
    down, up = found.a_separated, found.b_separated
    if swapped:
        lower, higher, down, up = higher, lower, up, down
    alone = ""
    if found.by_chance is not None:
        alone = f" (run noise alone gives about {found.by_chance:.0f} each way)"
    counts = f"Problems that scored lower: {lower}, higher: {higher}{alone}"
    said = [f"{counts}, the same: {found.same}."]
    told = [f"{way}: {some(names, 5)}" for way, names in (("lower", down), ("higher", up)) if names]
    if told:
        said.append(f"By more than run noise, {'; '.join(told)}.")
    return said


def counted(analysis: Analysis, condition: str) -> list[System]:
    """Return the systems that medians count, best first."""
    return [s for s in analysis.ranked(condition) if s.model not in analysis.excluded]


def pooling(analysis: Analysis, condition: str) -> str:
    """Say what counting all runs as independent would claim, and how wrong it is."""
    rows, found = counted(analysis, condition), analysis.summary[condition]
    if all(width(s, "pooled_wilson") is None for s in rows):
        return ""
    says = half_widths(rows, "pooled_wilson")
    text = f"Counting all runs as independent says {says}."
    if all(s.runs_range == (1, 1) for s in rows) and not analysis.settings.cluster:
        return f"{text} With one run of each problem that is right for new problems."
    new, these = found.over_pooled
    middle = " (median)" if len(rows) > 1 else ""
    wrong = "wrong for" if new >= 1.05 else "near enough for"
    text += f" That is {wrong} new problems, whose interval is {new:.1f} times as wide{middle}"
    if these is None:
        return f"{text}."
    valid = "valid but conservative"
    if these > 0.95:
        valid = "near enough" if these <= 1.05 else "too short"
    return f"{text}, and {valid} for these: theirs is {these:.1f} times as wide."


def more_runs(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say what endless runs could narrow, from the runs at hand."""
    found = analysis.summary[condition]
    answers = {}
    if found.remaining_narrowing:
        middle, limit = found.remaining_narrowing[0], found.remaining_narrowing_limit
        which = "median" if found.n_systems > 1 else ""
        answers["a score"] = narrower(middle) + _at_most(which, middle, limit, analysis)
    if (middle := found.adjacent_remaining_narrowing) is not None:
        which = "median of neighbours" if found.adjacent_total > 1 else ""
        limit = found.adjacent_remaining_narrowing_limit
        answers["a difference of two"] = narrower(middle) + _at_most(which, middle, limit, analysis)
    return answers


def _at_most(which: str, middle: float, limit: float | None, analysis: Analysis) -> str:
    """Say in brackets of what an estimate is, and how high the limit of its interval is."""
    told = [which] * bool(which)
    if limit is not None and middle < 1:
        least = f"at most {percent(limit)}{' for any' * bool(which)}"
        if limit >= 1:
            least = f"{'for some ' * bool(which)}{NO_LIMIT}"
        told.append(f"{least} at {percent(analysis.settings.level)}")
    return f" ({'; '.join(told)})" * bool(told)


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
    by = " (by the ratio of medians)" if found.n_systems > 1 else ""
    text = f"From scratch a second run pays when a new problem costs over {second} runs{by}"
    if found.best_between:
        low, high = map(price, found.best_between)
        runs = counted(analysis, condition)[0].n_runs
        text += f"; {runs} runs are best from {low} to {high}"
        here = price(found.break_even.from_here)
        text += f". With the {runs} at hand one more of them pays above {here}"
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
    return NEEDS_RUNS if all(r.within is None for r in rows) else STEADY
