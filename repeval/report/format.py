"""Numbers in words, and short answers to both questions.

Terminal, Markdown, captions and pages take their words from here, from `report_tables` and from
`sentences`, so that a number is put into words once. All of it holds for any data: what they do
not give is said.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis
    from repeval.report.rows import Fixed, Limits, Pair, Summary, System

STAND_IN = (
    "STAND-IN DATA, not the paper's runs: rebuilt from published totals. Do not cite as a check "
    "of the paper. The real runs: repeval fetch leetcode-repeated-runs."
)
NOT_SHOWN = "not shown"
NO_LIMIT = "no limit is seen"
STEADY = f"{NOT_SHOWN}: no verdict changed between runs"
NEW = "new ones like them"
NEEDS_RUNS = "needs two runs of a problem"
NEEDS_CHANGE = f"{NEEDS_RUNS}, and a verdict that changed"


def points(value: float, digits: int = 1) -> str:
    """Return a fraction in points, with its sign where it is negative."""
    return f"{100 * value:.{digits}f}"


def percent(share: float, digits: int = 0) -> str:
    """Return a share in percent, `95 %`; some is never said to be nothing, or all."""
    shown = points(share, digits)
    if float(shown) in (0, 100) and 0 < share < 1:
        return "<1 %" if share < 0.5 else ">99 %"
    return f"{shown} %"


def count(n: float | str, what: str) -> str:
    """Return a number of things, `1 run` or `3 runs`."""
    return f"{n} {what}" if str(n) == "1" else f"{n} {what}s"


def reach(values: Iterable[int], to: str = " to ") -> str:
    """Return the range of whole numbers, `3 to 5` or `1`."""
    found = sorted(values)
    return to.join(dict.fromkeys((str(found[0]), str(found[-1]))))


def spread(values: Collection[float | None], form: str) -> str:
    """Return the range of values and their median, or the one value there is."""
    # A ceiling that is None has no upper limit: it is larger than any other.
    found = sorted(math.inf if v is None else v for v in values)
    low, middle, high = (
        "no limit" if v == math.inf else form.format(v)
        for v in (found[0], statistics.median(found), found[-1])
    )
    return low if low == high else f"{low} to {high} (median {middle})"


def narrower(share: float) -> str:
    """Say by how much endless runs narrow an interval."""
    return NO_LIMIT if share >= 1 else f"{percent(share)} narrower"


def no_ceiling(row: System | Pair) -> str:
    """Say why a row has no finite ceiling, nothing where it has one."""
    if row.ceiling is not None:
        return ""
    if row.between is None:
        return NEEDS_RUNS
    return "no upper limit" if row.within or row.between else "nothing varied"


def limits(interval: Limits) -> str:
    """Return an interval in points, `12.3-45.6`."""
    return NOT_SHOWN if interval is None or None in interval else "-".join(map(points, interval))


def signed_limits(interval: Limits) -> str:
    """Return the interval of a difference in words."""
    if interval is None or None in interval:
        return NOT_SHOWN
    low, high = interval
    if low >= 0:
        return f"{points(low)} to {points(high)} points higher"
    if high <= 0:
        return f"{points(-high)} to {points(-low)} points lower"
    return f"{points(-low)} lower to {points(high)} higher"


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


def counted(analysis: Analysis, condition: str) -> list[System]:
    """Return the systems that medians count, best first."""
    return [s for s in analysis.ranked(condition) if s.model not in analysis.excluded]


def shown_interval(system: System) -> str:
    """Name the interval for new problems that people are shown."""
    return "clustered_wilson" if system.intervals["clustered_wilson"] else "clustered_normal"


def width(system: System, name: str) -> float | None:
    """Return the width of a named interval, None where it does not exist."""
    limits = system.intervals[name]
    return limits and limits[1] - limits[0]


def half_widths(rows: Iterable[System], name: str, unknown: str = NOT_SHOWN) -> str:
    """Return half the widths of the systems' intervals, `+-1 to +-3 points`."""
    halves = [50 * w for s in rows if (w := width(s, name)) is not None]
    if not halves:
        return unknown
    digits = 0 if min(halves) >= 0.95 else 1
    return f"{' to '.join(dict.fromkeys(f'+-{f(halves):.{digits}f}' for f in (min, max)))} points"


def precision(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say how sure a score is, for both questions."""
    rows = analysis.ranked(condition)
    return {
        these(analysis, condition): half_widths(rows, "fixed_t", _no_answer(rows)),
        NEW: half_widths(rows, shown_interval(rows[0])),
    }


def apart(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say how many neighbours are told apart, for both questions."""
    pairs = analysis.adjacent(condition)

    def told(resolved: list[bool | None]) -> str:
        yes = sum(map(bool, resolved))
        none = set(resolved) == {None}
        return _no_answer(pairs) if none else f"{yes} apart, {len(resolved) - yes} not"

    return {
        these(analysis, condition): told([p.fixed.resolved for p in pairs]),
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


def pooled_ratio(summary: Summary) -> float | None:
    """Return μ_w/σ_b² as the ratio of medians, None where it is undefined.

    References
    ----------
    VC section 5.3.
    """
    if not summary.within or not summary.between or summary.between[0] <= 0:
        return None
    return summary.within[0] / summary.between[0] or None


def _no_answer(rows: Iterable[System | Pair]) -> str:
    """Say why there is no answer on these problems."""
    return NEEDS_CHANGE if all(r.within is None for r in rows) else STEADY
