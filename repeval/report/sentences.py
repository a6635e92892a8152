"""Whole sentences for terminal, captions and pages; each holds for any data."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from repeval.report import format as report
from repeval.report.format import NEEDS_RUNS, count, counted, points, spread
from repeval.stats import allocation
from repeval.stats.intervals import normal_quantile

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis
    from repeval.report.rows import Difference, Pair, System

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


def figures(rows: Sequence[System | Pair], *keys: str) -> str:
    """Say figures of scores, or of the differences of pairs, as ranges with medians."""
    if not rows:
        return NO_PAIR
    who = count(len(rows), "pair" if hasattr(rows[0], "model_a") else "model")
    measured = [r for r in rows if r.between is not None]
    known = [r for r in measured if r.within or r.between]
    if not known:
        unknown = f"nothing is known about run noise, it {NEEDS_RUNS}"
        return f"Over {who}: {'nothing varied' if measured else unknown}."
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
        if values:
            said.append(text.format(spread(values, form)))
    return f"Over {who}: {'; '.join(said)}."


def two_level_inflation(analysis: Analysis, condition: str) -> str:
    """Say by how much redrawing runs within redrawn problems widens the intervals here.

    References
    ----------
    VC Appendix D: the added variance over s²(p̂) is (R-1)/R · (μ_w/R)/s²(p̂).
    """
    scores = [s.aleatoric_share for s in counted(analysis, condition)]
    left = [p.remaining_narrowing for p in analysis.adjacent(condition)]
    pairs = [None if v is None else 1 - (1 - v) ** 2 for v in left]
    runs = analysis.shape["n_runs"]
    grows = []
    for what, shares in (("these scores", scores), ("differences of neighbours", pairs)):
        known = [v for v in shares if v is not None]
        if known and runs:
            widths = [100 * (math.sqrt(1 + (1 - 1 / runs) * share) - 1) for share in known]
            grows.append(f"for {what} by {spread(widths, '{:.1f} %')}")
    if grows:
        return f"The width grows {', '.join(grows)}."
    return (
        "The formula says nothing here: it needs one number of runs for all problems, at least "
        "two, and pass rates that differ."
    )


def interval_methods(analysis: Analysis, condition: str) -> str:
    """Say how the bootstrap intervals at hand were computed."""
    ways = Counter(s.methods["two_level"] for s in analysis.ranked(condition))
    found = "; ".join(f"{way} ({count(n, 'model')})" for way, n in ways.items())
    return f"How the two-level intervals of this page were computed: {found}."


def pooling(analysis: Analysis, condition: str) -> str:
    """Say what counting all runs as independent would claim, and how wrong it is."""
    rows = counted(analysis, condition)
    named = (report.shown_interval(rows[0]), "pooled_wilson", "fixed_t")
    widths = pd.DataFrame([[report.width(s, name) for name in named] for s in rows], dtype=float)
    if widths[1].isna().all():
        return ""
    text = f"Counting all runs as independent says {report.half_widths(rows, 'pooled_wilson')}."
    if all(s.runs_range == (1, 1) for s in rows):
        return f"{text} With one run of each problem that is right for new problems."
    new, these = (f"{(widths[i] / widths[1]).median():.1f}" for i in (0, 2))
    middle = " (median)" if len(rows) > 1 else ""
    text += f" The interval for new problems is {new} times as wide{middle}"
    return text + ("." if widths[2].isna().all() else f", that for these {these} times.")


def conditions(analysis: Analysis) -> str:
    """Say for how many models two conditions are told apart, for both questions."""
    groups: dict[str, list] = {}
    for r in analysis.condition_pairs:
        groups.setdefault(f"{r.condition_a} and {r.condition_b}", []).append(r)
    text = []
    for pair, rows in groups.items():
        same = [r.fixed.resolved for r in rows if r.fixed.resolved is not None]
        text.append(
            f"{pair}: of {count(len(rows), 'model')}, a difference is shown for "
            f"{sum(same) if same else 'none can it be said'} on these problems and for "
            f"{sum(bool(r.resolved) for r in rows)} on new ones.{detectable(rows, 'difference')}"
        )
    nothing = "No model was run under two conditions here, so that there is nothing to compare."
    return " ".join(text) or nothing


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


def neighbours(analysis: Analysis, condition: str) -> str:
    """Say how many neighbours are told apart, for both questions, and which leads are found."""
    pairs = analysis.adjacent(condition)
    if not pairs:
        return NO_PAIR
    told = "; ".join(f"on {k}: {v}" for k, v in report.apart(analysis, condition).items())
    return f"Of {count(len(pairs), 'pair')} of neighbours, {told}.{detectable(pairs, 'lead')}"


def pooled_z(a: System, b: System) -> float | None:
    """Return z of the two-proportion test that counts all runs as independent.

    None where it is not defined: outcomes that are not pass or fail, unequal runs, no variance.
    """
    if None in (a.n_runs, b.n_runs, a.retry_free, b.retry_free):
        return None
    n, m = a.n_problems * a.n_runs, b.n_problems * b.n_runs
    share = (a.mean * n + b.mean * m) / (n + m)
    variance = share * (1 - share) * (1 / n + 1 / m)
    return (a.mean - b.mean) / math.sqrt(variance) if variance > 0 else None


def pooled_test(analysis: Analysis, condition: str) -> str:
    """Compare the neighbours told apart by the pooled test with those on new problems."""
    scores = {s.model: s for s in analysis.ranked(condition)}
    pairs = analysis.adjacent(condition)
    z = [pooled_z(scores[p.model_a], scores[p.model_b]) for p in pairs]
    if not pairs:
        return NO_PAIR
    if None in z:
        return (
            "The pooled test needs pass or fail, equal numbers of runs, and systems that "
            "neither passed nor failed every run."
        )
    apart = [abs(v) > normal_quantile(analysis.settings.level) for v in z]
    new = [bool(p.resolved) for p in pairs]
    return (
        f"The pooled test tells {sum(apart)} of {len(pairs)} apart, the resampled problems "
        f"{sum(new)}; {sum(map(all, zip(apart, new, strict=True)))} by both."
    )


def ranks(analysis: Analysis, condition: str) -> str:
    """Say how many systems have one rank only, and how many could be first."""
    sets = [r.rank_set for r in analysis.ranks if r.condition == condition]
    if not sets:
        return "There are no ranks here: that takes two systems with problems in common."
    return (
        f"Of {len(sets)} models, the data leave {sum(low == 1 for low, _ in sets)} that could be "
        f"first, and {sum(low == high for low, high in sets)} whose rank is settled."
    )


def problems_needed(analysis: Analysis, condition: str) -> str:
    """Say how many times the problems would separate the first pair not told apart."""
    for p in analysis.adjacent(condition):
        if p.resolved is False and p.difference > 0:
            half = (p.interval[1] - p.interval[0]) / 2
            times = max(1.0, (half / p.difference) ** 2)
            return (
                f"{p.model_a} and {p.model_b}: the lead is {points(p.difference)} points and half "
                f"the interval {points(half)}, which takes {times:.1f} times the {p.n_problems} "
                "problems."
            )
    return "No pair of neighbours with different scores is left to tell apart here."


def more_runs(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say what endless runs could narrow, from the runs at hand."""
    found = analysis.summary[condition]
    answers = {}
    if found.remaining_narrowing:
        middle, _, most = found.remaining_narrowing
        top = f"for some {report.NO_LIMIT}" if most >= 1 else f"at most {report.percent(most)}"
        range_ = f" (median{'' if middle >= 1 else f'; {top}'})" if found.n_systems > 1 else ""
        answers["a score"] = report.narrower(middle) + range_
    if (middle := found.adjacent_remaining_narrowing) is not None:
        which = " (median of neighbours)" if found.adjacent_total > 1 else ""
        answers["a difference of two"] = report.narrower(middle) + which
    return answers


def from_one_run(analysis: Analysis, condition: str) -> str:
    """Say what endless runs could narrow, seen from a single run."""
    found = analysis.summary[condition]
    if not found.max_narrowing:
        return ""
    text = f"From a single run: {report.narrower(found.max_narrowing[0])} for a score"
    if found.adjacent_remaining_narrowing is not None:
        # Where differences have components and no ceiling, the ceiling is infinite.
        pair = 1 - (found.adjacent_ceiling or math.inf) ** -0.5
        text += f", {report.narrower(pair)} for a difference"
    return text + "."


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


def price(runs: float) -> str:
    """Return a price in runs with two digits or more, `0.67`, `7.1` or `106`."""
    return f"{runs:,.{max(1 - math.floor(math.log10(runs)), 0)}f}"


def allocation_rule(analysis: Analysis, condition: str) -> str:
    """Say from which price of a problem on repetition pays."""
    found = analysis.summary[condition]
    ratio = report.pooled_ratio(found)
    if ratio is None:
        why = f"that {NEEDS_RUNS}"
        if found.within:
            why = "no difficulty spread was seen" if found.within[0] else "no run noise was seen"
        return f"When repetition pays cannot be said: {why}."
    second = price(allocation.break_even(ratio, 1))
    text = f"A second run pays when a new problem costs over {second} runs"
    runs = {s.n_runs for s in analysis.ranked(condition)}
    if len(runs) == 1 and (r := runs.pop()) and r > 1:
        low, high = (price(allocation.break_even(ratio, n)) for n in (r - 1, r))
        text += f"; {r} runs are best from {low} to {high}"
    return text + ". The cheaper problems are, the fewer runs and the more problems."


def pair_allocation(analysis: Analysis, condition: str) -> str:
    """Say from which price of a problem a second run pays where systems are compared."""
    ceiling = analysis.summary[condition].adjacent_ceiling
    if ceiling is None or ceiling <= 1:
        return "From when repetition pays for a comparison cannot be said here."
    # A repetition of a pair costs two runs, and its ratio of run noise to difficulty is its own.
    second = price(2 * allocation.break_even(ceiling - 1, 1))
    return (
        "For the median difference of two neighbours a second run of both pays when a problem "
        f"costs over {second} runs."
    )
