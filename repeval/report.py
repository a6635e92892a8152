"""Sentences and tables for people: question first, then the number, then the method.

Terminal, Markdown and the pages of the book take their words from here, so that a number is
put into words once. Every sentence holds for any data: what the data do not give is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from repeval import allocation
from repeval.analysis import Analysis
from repeval.rows import Limits, Pair, Summary, System

if TYPE_CHECKING:
    import pandas as pd

STAND_IN = (
    "STAND-IN DATA, not the paper's runs: rebuilt from published totals. Do not cite as a check "
    "of the paper. Where data/released.csv.gz holds the real runs, they are used instead."
)
NOT_SHOWN = "not shown"


def points(value: float, digits: int = 1) -> str:
    """Return a fraction in points, with its sign where it is negative."""
    return f"{100 * value:.{digits}f}"


def limits(interval: Limits, digits: int = 1) -> str:
    """Return an interval in points, `12.3-45.6`."""
    if interval is None or None in interval:
        return NOT_SHOWN
    return "-".join(points(v, digits) for v in interval)


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


def ranks(interval: Sequence[int]) -> str:
    """Return a range of ranks, `3-5` or `1`."""
    low, high = interval
    return str(low) if low == high else f"{low}-{high}"


def shape(analysis: Analysis, condition: str) -> str:
    """Say how much was run."""
    rows = analysis.ranked(condition)
    text = f"{_count(len(rows), 'model')} x {_range(s.n_problems for s in rows)} problems x "
    runs = {r for s in rows for r in s.runs_range}
    text += _count(max(runs), "run") if len(runs) == 1 else f"{min(runs)} to {max(runs)} runs"
    others = [c for c in analysis.summary if c != condition]
    if others:
        return f"{text}, condition {condition} (others: --condition {' | '.join(others)})."
    return text + ("." if condition == "default" else f", condition {condition}.")


def these(analysis: Analysis, condition: str) -> str:
    """Name the problems at hand."""
    return f"these {_range(s.n_problems for s in analysis.ranked(condition))} problems"


def precision(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say how sure a score is, for both questions, `+-1 to +-3 points`."""
    rows = analysis.ranked(condition)
    return {
        these(analysis, condition): _half_widths(rows, "fixed_t"),
        "new ones like them": _half_widths(rows, shown_interval(rows[0])),
    }


def shown_interval(system: System) -> str:
    """Name the interval for new problems that people are shown."""
    return "clustered_wilson" if system.intervals["clustered_wilson"] else "clustered_normal"


def pooling(analysis: Analysis, condition: str) -> str:
    """Say what counting all runs as independent would claim, and how wrong it is."""
    rows = [s for s in analysis.ranked(condition) if s.model not in analysis.excluded]
    wide = _median_ratio(rows, shown_interval(rows[0]), "pooled_wilson")
    narrow = _median_ratio(rows, "pooled_wilson", "fixed_t")
    if wide is None:
        return ""
    text = f"Counting all runs as independent says {_half_widths(rows, 'pooled_wilson')}"
    if narrow is None or rows[0].n_runs == 1:
        return text + "."
    return (
        f"{text}: the interval for new problems is {wide:.1f} times that (median), and that is "
        f"{narrow:.1f} times the interval for these."
    )


def apart(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say how many neighbours are told apart, for both questions."""
    pairs = analysis.adjacent(condition)
    answers = {}
    for what, resolved in (
        (these(analysis, condition), [p.fixed.resolved for p in pairs]),
        ("new ones like them", [p.resolved for p in pairs]),
    ):
        if all(r is None for r in resolved):
            answers[what] = "needs two runs of a problem"
            continue
        yes = sum(bool(r) for r in resolved)
        answers[what] = f"{yes} apart, {len(resolved) - yes} not"
    return answers


def resolved_names(analysis: Analysis, condition: str) -> str:
    """Name the neighbours told apart on new problems."""
    found = [p for p in analysis.adjacent(condition) if p.resolved]
    if not found:
        return "No neighbours are told apart on new problems."
    if len(found) > 4:
        return f"{len(found)} neighbours are told apart on new problems."
    names = "; ".join(f"{p.model_a} above {p.model_b}" for p in found)
    survive = sum(p.p_adjusted < 1 - analysis.settings.level for p in found)
    return (
        f"On new problems: {names}. Corrected for asking {len(analysis.adjacent(condition))} "
        f"questions at once (Holm), {survive} of these stay apart."
    )


def more_runs(analysis: Analysis, condition: str) -> dict[str, str]:
    """Say what endless runs could narrow, from the runs at hand."""
    summary = analysis.summary[condition]
    answers = {}
    if summary.remaining_narrowing:
        middle, _, most = summary.remaining_narrowing
        several = summary.n_systems > 1
        answers["a score"] = f"{100 * middle:.0f} % narrower" + (
            f" (median; at most {100 * most:.0f} %)" if several else ""
        )
    if summary.adjacent_remaining_narrowing is not None:
        several = summary.adjacent_total > 1
        answers["a difference of two"] = (
            f"{100 * summary.adjacent_remaining_narrowing:.0f} % narrower"
            + (" (median of neighbours)" if several else "")
        )
    return answers


def from_one_run(analysis: Analysis, condition: str) -> str:
    """Say what endless runs could narrow, seen from a single run."""
    summary = analysis.summary[condition]
    if not summary.max_narrowing:
        return ""
    text = f"From a single run: a score {100 * summary.max_narrowing[0]:.0f} %"
    if summary.adjacent_ceiling is not None:
        text += f", a difference {100 * (1 - summary.adjacent_ceiling**-0.5):.0f} %"
    return text + "."


def pooled_ratio(summary: Summary) -> float | None:
    """Return μ_w/σ_b² as the ratio of medians, None where it is undefined.

    References
    ----------
    VC section 5.3.
    """
    if not summary.within or not summary.between or summary.between[0] <= 0:
        return None
    return summary.within[0] / summary.between[0] or None


def allocation_rule(analysis: Analysis, condition: str) -> str:
    """Say from which price of a problem on repetition pays."""
    ratio = pooled_ratio(analysis.summary[condition])
    if ratio is None:
        return "When repetition pays cannot be said: the components are not identified."
    price = _count(f"{allocation.break_even(ratio, 1):.0f}", "run")
    text = f"A second run pays when a new problem costs over {price}"
    runs = {s.n_runs for s in analysis.ranked(condition)}
    if len(runs) == 1 and (r := runs.pop()) and r > 1:
        low, high = allocation.break_even(ratio, r - 1), allocation.break_even(ratio, r)
        text += f"; {r} runs are best from {low:.0f} to {high:.0f}"
    return text + ". Otherwise buy problems."


def pair_text(pair: Pair) -> dict[str, str]:
    """Say what a pair's data show about both questions."""
    return {
        f"these {pair.n_problems} problems": _verdict(pair.fixed.resolved, pair.fixed.interval),
        "new ones like them": _verdict(pair.resolved, pair.interval),
    }


def leaderboard(analysis: Analysis, condition: str) -> pd.DataFrame:
    """Return the table of a condition: scores, both intervals, rank set."""
    import pandas as pd

    rank_sets = {r.model: ranks(r.rank_set) for r in analysis.ranks if r.condition == condition}
    rows = analysis.ranked(condition)
    table = pd.DataFrame(
        {
            "model": [s.model + (" *" if s.model in analysis.excluded else "") for s in rows],
            "score": [points(s.mean) for s in rows],
            these(analysis, condition).removesuffix(" problems"): [
                limits(s.intervals["fixed_t"]) for s in rows
            ],
            "new ones": [limits(s.intervals[shown_interval(s)]) for s in rows],
            "rank": [rank_sets.get(s.model, "") for s in rows],
            "all right": ["" if s.retry_free is None else f"{s.retry_free * s.n_problems:.0f}"
                          for s in rows],
        }
    )  # fmt: skip
    return table.loc[:, (table != "").any()]


def group_table(
    pooled: Analysis, groups: Mapping[str, Analysis], by: str, condition: str
) -> pd.DataFrame:
    """Return one row for each group and model, then the macro and the micro score."""
    import pandas as pd

    def row(group: str, s: System) -> dict[str, str]:
        return {
            by: group,
            "model": s.model,
            "problems": str(s.n_problems),
            "score": points(s.mean),
            "these": limits(s.intervals["fixed_t"]),
            "new ones": limits(s.intervals[shown_interval(s)]),
            "ceiling": _ceiling(s),
        }

    rows = []
    for s in pooled.ranked(condition):
        own = [
            (value, r)
            for value, a in groups.items()
            for r in a.systems
            if (r.model, r.condition) == (s.model, condition)
        ]
        rows += [row(value, r) for value, r in own]
        if not own:
            continue
        macro = sum(r.mean for _, r in own) / len(own)
        rows.append(dict.fromkeys(rows[-1], "") | {by: "macro", "score": points(macro)})
        rows.append(row("micro", s))
    table = pd.DataFrame(rows)
    return table if table["model"].nunique() > 2 else table.drop(columns="model")


def component_table(analysis: Analysis, condition: str) -> pd.DataFrame:
    """Return the variance components of a condition's systems, best first."""
    import pandas as pd

    def ceiling_limits(interval: Limits) -> str:
        if interval is None:
            return NOT_SHOWN
        return " to ".join("no limit" if v is None else f"{v:.2f}" for v in interval)

    rows = analysis.ranked(condition)
    return pd.DataFrame(
        {
            "model": [s.model for s in rows],
            "within": [_number(s.within) for s in rows],
            "between": [_number(s.between) for s in rows],
            "icc": [_number(s.icc) for s in rows],
            "ceiling": [_ceiling(s) for s in rows],
            "interval": [ceiling_limits(s.ceiling_interval_bca) for s in rows],
        }
    )


def _number(value: float | None) -> str:
    return NOT_SHOWN if value is None else f"{value:.4f}"


def _ceiling(system: System) -> str:
    if system.ceiling is None and system.between is not None:
        return "no upper limit"
    return _number(system.ceiling)


def _verdict(resolved: bool | None, interval: Limits) -> str:
    if resolved is None:
        return "needs two runs of a problem, and a verdict that changed"
    return ("YES        " if resolved else "NOT SHOWN  ") + signed_limits(interval)


def _half_widths(rows: Iterable[System], name: str) -> str:
    widths = [(i[1] - i[0]) / 2 for s in rows if (i := s.intervals[name])]
    if not widths:
        return "needs two runs of a problem"
    low, high = (f"{100 * w:.{0 if 100 * min(widths) >= 0.95 else 1}f}" for w in
                 (min(widths), max(widths)))  # fmt: skip
    return f"+-{low} points" if low == high else f"+-{low} to +-{high} points"


def _median_ratio(rows: Sequence[System], wide: str, narrow: str) -> float | None:
    ratios = sorted(
        (a[1] - a[0]) / (b[1] - b[0])
        for s in rows
        if (a := s.intervals[wide]) and (b := s.intervals[narrow])
    )
    middle = len(ratios) // 2
    if not ratios:
        return None
    return ratios[middle] if len(ratios) % 2 else (ratios[middle - 1] + ratios[middle]) / 2


def _count(n: int | str, what: str) -> str:
    return f"{n} {what}" if str(n) == "1" else f"{n} {what}s"


def _range(values: Iterable[int]) -> str:
    found = sorted(set(values))
    return str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"
