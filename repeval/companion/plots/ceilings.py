"""Figures of ceilings: how much endless runs could narrow a score, or a difference of two."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D

from repeval.companion.plots import style
from repeval.companion.plots import words as say
from repeval.companion.plots.style import GREY, INK, NEW, THESE, Plot
from repeval.messages import some
from repeval.report import sentences
from repeval.report.format import NEEDS_RUNS, count, no_ceiling

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from repeval.report.analysis import Analysis
    from repeval.report.rows import Pair, System

    Row = Pair | System

TOP = 100.0
ARROW = "An arrow says that an interval goes on beyond the edge."


@style.styled
def forest(analysis: Analysis, condition: str, other: str | None = None) -> Plot:
    """Draw every system's ceiling with its interval, the highest first.

    The ceilings of a second condition, `other`, are drawn as points.

    References
    ----------
    VC Figure 2; `repeval.stats.profile` for the intervals.
    """
    rows = sorted(
        analysis.ranked(condition),
        key=lambda s: (not _drawn(s), -(s.ceiling or math.inf), s.model),
    )
    if not any(map(_drawn, rows)):
        return style.empty(_unknown(rows))
    there = {s.model: s for s in analysis.systems if s.condition == other}
    figure, axes = style.canvas(len(rows), each=0.27, rest=1.25)
    _axis(axes, rows, there.values(), log_above=6)
    style.label_rows(axes, style.names([s.model for s in rows]))
    for y, s in enumerate(rows):
        colour, ring = (GREY, GREY) if s.model in analysis.excluded else (THESE, NEW)
        if not _drawn(s):
            axes.annotate(no_ceiling(s), (0.02, y), xycoords=("axes fraction", "data"), color=INK,
                          va="center", fontsize=9)  # fmt: skip
        _draw(axes, y, s, "o", color=colour)
        if s.model in there and _drawn(there[s.model]):
            value = there[s.model].ceiling
            style.point(axes, y, value, "D", color=ring, mfc="none", mew=1.4)
    label = "ceiling" if condition == "default" else style.name(condition, 18)
    marks = [Line2D([], [], marker="o", color=THESE, label=label)]
    if there:
        ring = {"ls": "", "marker": "D", "color": NEW, "mfc": "none"}
        marks.append(Line2D([], [], **ring, label=style.name(other, 18)))
    grey = [s.model for s in rows if s.model in analysis.excluded]
    if grey:
        marks.append(Line2D([], [], marker="o", color=GREY, label="left out of the median"))
    summary = analysis.summary[condition]
    if summary.n_systems > 1 and summary.ceiling and summary.ceiling[0] is not None:
        axes.axvline(summary.ceiling[0], color=INK, lw=1, ls="--", zorder=0)
        marks.append(Line2D([], [], color=INK, lw=1, ls="--", label="median"))
    style.legend(figure, marks)
    return style.plot(
        figure,
        {
            "model": [s.model for s in rows],
            "excluded": [s.model in analysis.excluded for s in rows],
            "ceiling": [s.ceiling for s in rows],
            **style.limits("", [s.ceiling_interval for s in rows]),
            "undefined": [s.ceiling_undefined for s in rows],
            "other": [there[s.model].ceiling if s.model in there else None for s in rows],
        },
        f"Each model's ceiling with its {style.level(analysis)} interval by likelihood.",
        say.figures(sentences.counted(analysis, condition), "ceiling"),
        f"Forest plot of {count(len(rows), 'model')}.",
        f"Diamonds: condition {other}." if there else "",
        f"Grey, and left out of the median: {', '.join(grey)}." if grey else "",
        *_notes(axes, {s.model: s for s in rows}),
    )


@style.styled
def difference_ceilings(analysis: Analysis, condition: str) -> Plot:
    """Draw the ceiling of each neighbours' difference beside those of their two scores.

    References
    ----------
    Equation 2 of VC, applied to the difference of pass rates on common problems.
    """
    everyone = analysis.adjacent(condition)
    pairs = everyone[: style.MOST]
    if not pairs:
        return style.empty(say.NO_PAIR)
    if not any(map(_drawn, pairs)):
        return style.empty(_unknown(pairs))
    scores = {s.model: s for s in analysis.ranked(condition)}
    own = [(scores[p.model_a], scores[p.model_b]) for p in pairs]
    figure, axes = style.canvas(len(pairs), each=0.43, rest=1.2)
    _axis(axes, pairs, [s for both in own for s in both])
    style.pair_rows(axes, pairs)
    for y, (p, both) in enumerate(zip(pairs, own, strict=True)):
        for s in both:
            if _drawn(s):
                style.point(axes, y, s.ceiling, "o", color=THESE, mfc="white")
        _draw(axes, y, p, "D", color=NEW)
    marks = [
        Line2D([], [], ls="", marker="o", mfc="white", color=THESE, label="the two scores"),
        Line2D([], [], marker="D", color=NEW, label="their difference"),
    ]
    notes = list(_notes(axes, {f"{p.model_a} and {p.model_b}": p for p in pairs}))
    if ARROW in notes:
        marks.append(Line2D([], [], ls="", marker=">", color=NEW, label="goes on"))
    style.legend(figure, marks)
    higher = sum(
        _drawn(p) and _value(p) > max(_value(a), _value(b)) < math.inf
        for p, (a, b) in zip(pairs, own, strict=True)
    )
    found = f"With a higher ceiling than both scores: {higher} of {len(pairs)} differences."
    if len(pairs) == 1:
        found = f"The difference has {'a' if higher else 'no'} higher ceiling than both scores."
    return style.plot(
        figure,
        {
            "model_a": [p.model_a for p in pairs],
            "model_b": [p.model_b for p in pairs],
            "ceiling": [p.ceiling for p in pairs],
            **style.limits("ceiling_", [p.ceiling_interval for p in pairs]),
            "ceiling_a": [a.ceiling for a, _ in own],
            "ceiling_b": [b.ceiling for _, b in own],
        },
        "Ceilings of two neighbours' scores, and of their difference with its "
        f"{style.level(analysis)} interval, on a logarithmic scale.",
        f"{found} {say.figures(pairs, 'ceiling')}",
        f"Dot plot of ceilings for {count(len(pairs), 'pair')} of neighbours.",
        *notes,
        style.left_out(pairs, everyone, "pairs"),
    )


def _axis(axes: Axes, rows: Sequence[Row], points: Iterable[Row], log_above: float = 0) -> None:
    """Make room for all ceilings, and for their intervals up to four times the highest one."""
    ends = [v for r in rows for v in r.ceiling_interval or () if v is not None]
    highest = max((r.ceiling for r in (*rows, *points) if r.ceiling is not None), default=1.0)
    right = max(1.2, 1.05 * highest, min(max(ends, default=1.0), 4 * highest))
    if right > log_above:
        style.log_axis(axes, 0.95, min(right, TOP))
    else:
        axes.set_xlim(1 - 0.04 * (right - 1), right + 0.03 * (right - 1))
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel("ceiling: variance from one run over variance from endless runs")


def _draw(axes: Axes, y: float, row: Row, marker: str, **kwargs) -> None:
    style.span(axes, y, row.ceiling_interval, kwargs["color"], width=1.6)
    if _drawn(row):
        style.point(axes, y, row.ceiling, marker, **kwargs)


def _notes(axes: Axes, rows: dict[str, Row]) -> Iterator[str]:
    """Say what is at the edge, what has no limit, and what is not measured."""
    edge = axes.get_xlim()[1]
    beyond = [n for n, r in rows.items() if _drawn(r) and _value(r) > edge]
    if beyond:
        which = some(beyond, 6)
        yield f"Hollow, at the edge, where there is no upper limit or one beyond: {which}."
    if single := [n for n, r in rows.items() if r.between is None]:
        yield f"Not measured, a ceiling {NEEDS_RUNS}: {some(single, 6)}."
    if steady := [n for n, r in rows.items() if r.between is not None and not _drawn(r)]:
        yield f"Nothing varied, so no ceiling: {some(steady, 6)}."
    ends = [r.ceiling_interval[1] for r in rows.values() if r.ceiling_interval]
    if None in ends:
        yield f"Intervals without an upper limit: {ends.count(None)} of {len(rows)}."
    if any(v is None or v > edge for v in ends):
        yield ARROW


def _drawn(row: Row) -> bool:
    """Tell whether there is a ceiling, finite or not."""
    return no_ceiling(row) in ("", "no upper limit")


def _unknown(rows: Sequence[Row]) -> str:
    known = any(r.between is not None for r in rows)
    return f"There is no ceiling here: {'nothing varied' if known else f'it {NEEDS_RUNS}'}."


def _value(row: Row) -> float:
    return math.inf if row.ceiling is None else row.ceiling
