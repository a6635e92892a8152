"""Figures over the systems of a condition: medians, ranges, and how many neighbours are apart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

from repeval.report.rows import BreakEven, Pair, Spread, Summary, System
from repeval.stats.design.allocation import break_even, break_even_from_here

__all__ = ["NEW", "THESE", "summarize", "width"]

#: The intervals that people are shown, for new problems and for these.
NEW, THESE = "clustered_wilson", "fixed_t"


def summarize(systems: Sequence[System], pairs: Sequence[Pair]) -> Summary:
    """Summarize the systems of one condition that count, and its pairs of neighbours."""
    within, between = _spread(systems, "within"), _spread(systems, "between")
    ceiling, remaining = _median(pairs, "ceiling"), _median(pairs, "remaining_narrowing")
    ratio = within[0] / between[0] or None if within and between and between[0] > 0 else None
    varied = [s for s in systems if s.within is not None and (s.within or s.between > 0)]
    ratios = [s.within / s.between if s.between > 0 else math.inf for s in varied]
    runs = {s.n_runs for s in systems}
    runs_each = next(iter(runs)) if len(runs) == 1 else None
    return Summary(
        n_systems=len(systems),
        fewest_runs=min(s.runs_range[0] for s in systems),
        mean=_spread(systems, "mean"),
        within=within,
        between=between,
        icc=_spread(systems, "icc"),
        ceiling=_spread(systems, "ceiling"),
        max_narrowing=_spread(systems, "max_narrowing"),
        remaining_narrowing=_spread(systems, "remaining_narrowing"),
        remaining_narrowing_limit=_highest(systems),
        adjacent_resolved=sum(bool(p.resolved) for p in pairs),
        adjacent_total=len(pairs),
        adjacent_resolved_fixed=sum(bool(p.fixed.resolved) for p in pairs),
        adjacent_ceiling=ceiling,
        adjacent_remaining_narrowing=remaining,
        adjacent_remaining_narrowing_limit=_highest(pairs),
        # Where differences have components and no ceiling, the ceiling is infinite.
        adjacent_max_narrowing=None if remaining is None else 1 - (ceiling or math.inf) ** -0.5,
        adjacent_mdd=_median([p for p in pairs if p.mdd], "mdd"),
        noise_ratio=ratio,
        break_even=BreakEven(
            ratio and break_even(ratio, 1),
            _finite(break_even(statistics.median(ratios), 1)) if ratios else None,
            # A repetition of a pair costs two runs, and its ratio is its own.
            2 * break_even(ceiling - 1, 1) if ceiling is not None and ceiling > 1 else None,
            break_even_from_here(ratio, runs_each) if ratio and runs_each else None,
        ),
        best_between=(break_even(ratio, runs_each - 1), break_even(ratio, runs_each))
        if ratio and runs_each and runs_each > 1
        else None,
        over_pooled=(_over_pooled(systems, NEW), _over_pooled(systems, THESE)),
    )


def width(system: System, name: str) -> float | None:
    """Return the width of a named interval, None where it does not exist."""
    limits = system.intervals[name]
    return limits and limits[1] - limits[0]


def _over_pooled(systems: Sequence[System], name: str) -> float | None:
    """Return the median width of an interval over that of the pooled interval."""
    pairs = [(width(s, name), width(s, "pooled_wilson")) for s in systems]
    ratios = [a / b for a, b in pairs if a is not None and b is not None]
    return statistics.median(ratios) if ratios else None


def _highest(rows: Sequence[Any]) -> float | None:
    ends = [r.remaining_narrowing_interval[1] for r in rows if r.remaining_narrowing_interval]
    return max(ends) if ends else None


def _values(rows: Sequence[Any], name: str) -> list[float]:
    # What has no limit is not missing but larger than any other, and has no half.
    if name == "ceiling":
        varied = [r.ceiling for r in rows if r.ceiling is not None or r.within]
        return [math.inf if v is None else v for v in varied]
    values = [v for r in rows if (v := getattr(r, name)) is not None]
    return [math.inf if v >= 1 else v for v in values] if "narrowing" in name else values


def _shown(name: str, value: float) -> float | None:
    return min(value, 1.0) if "narrowing" in name else _finite(value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _spread(rows: Sequence[Any], name: str) -> Spread | None:
    values = _values(rows, name)
    if not values:
        return None
    middle, low, high = (_shown(name, f(values)) for f in (statistics.median, min, max))
    return middle, low, high


def _median(rows: Sequence[Any], name: str) -> float | None:
    values = _values(rows, name)
    return _shown(name, statistics.median(values)) if values else None
