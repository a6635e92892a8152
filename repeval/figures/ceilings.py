"""The figure of ceilings: how much endless runs could narrow each score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.lines import Line2D

from repeval.figures import style
from repeval.figures.style import GREY, INK, NEW, THESE, Plot

if TYPE_CHECKING:
    from repeval.analysis import Analysis

TOP = 100.0
NEEDS_RUNS = "needs two runs of a problem"


@style.styled
def forest(analysis: Analysis, condition: str, other: str | None = None) -> Plot:
    """Draw every system's ceiling with its interval, the highest first.

    Parameters
    ----------
    analysis : Analysis
    condition : str
    other : str, optional
        A second condition, whose ceilings are drawn as points.

    References
    ----------
    VC Figure 2; percentile interval.
    """
    rows = sorted(
        analysis.ranked(condition),
        key=lambda s: (s.between is None, -(s.ceiling or math.inf), s.model),
    )
    if all(s.between is None for s in rows):
        return style.empty(f"A ceiling {NEEDS_RUNS}, and these data have one.")
    there = {s.model: s for s in analysis.systems if s.condition == other}
    points = [s.ceiling for s in (*rows, *there.values()) if s.ceiling is not None]
    ends = [v for s in rows if s.ceiling_interval for v in s.ceiling_interval if v is not None]
    highest = max(points, default=1.0)
    right = max(1.2, 1.05 * highest, min(max(ends, default=1.0), 4 * highest))
    figure, axes = style.canvas(len(rows), each=0.27, rest=1.25)
    if right > 6:
        axes.set_xscale("log")
        axes.set_xlim(0.95, min(right, TOP))
        style.log_ticks(axes, min(right, TOP))
    else:
        axes.set_xlim(1 - 0.04 * (right - 1), right + 0.03 * (right - 1))
    edge = axes.get_xlim()[1]
    style.name_rows(axes, [s.model for s in rows])
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    for y, s in enumerate(rows):
        colour = GREY if s.model in analysis.excluded else THESE
        style.span(axes, y, s.ceiling_interval, colour, width=1.6)
        if s.between is not None:
            style.point(axes, y, s.ceiling, "o", color=colour)
        else:
            axes.annotate(NEEDS_RUNS, (0.02, y), xycoords=("axes fraction", "data"), color=INK,
                          va="center", fontsize=9)  # fmt: skip
        if s.model in there and there[s.model].between is not None:
            ring = {"color": NEW if colour == THESE else GREY, "mfc": "none", "mew": 1.4}
            style.point(axes, y, there[s.model].ceiling, "D", **ring)
    middle = _middle(analysis, condition)
    if middle is not None:
        axes.axvline(middle, color=INK, lw=1, ls="--", zorder=0)
    axes.set_xlabel("ceiling: variance from one run over variance from endless runs")
    style.legend(figure, _marks(analysis, rows, condition, there, other, middle))
    return Plot(
        figure,
        " ".join(_caption(analysis, condition, rows, there, other, middle, edge)),
        _alt(rows, middle),
        pd.DataFrame(
            {
                "model": [s.model for s in rows],
                "excluded": [s.model in analysis.excluded for s in rows],
                "ceiling": [s.ceiling for s in rows],
                "low": [s.ceiling_interval[0] if s.ceiling_interval else None for s in rows],
                "high": [s.ceiling_interval[1] if s.ceiling_interval else None for s in rows],
                "undefined": [s.ceiling_undefined for s in rows],
                "other": [there[s.model].ceiling if s.model in there else None for s in rows],
            }
        ),
    )


def _middle(analysis: Analysis, condition: str) -> float | None:
    summary = analysis.summary[condition]
    return summary.ceiling[0] if summary.ceiling and summary.n_systems > 1 else None


def _marks(analysis, rows, condition, there, other, middle) -> list[Line2D]:
    marks = [Line2D([], [], marker="o", color=THESE, label=style.name(condition, 18))]
    if condition == "default":
        marks[0].set_label("ceiling")
    if there:
        label = style.name(other, 18)
        marks.append(Line2D([], [], ls="", marker="D", color=NEW, mfc="none", label=label))
    if any(s.model in analysis.excluded for s in rows):
        marks.append(Line2D([], [], marker="o", color=GREY, label="left out of the median"))
    if middle is not None:
        marks.append(Line2D([], [], color=INK, lw=1, ls="--", label="median"))
    return marks


def _caption(analysis, condition, rows, there, other, middle, edge) -> list[str]:
    text = [
        f"Each system's ceiling with its {style.level(analysis)} interval from resampled problems."
    ]
    if middle is not None:
        text.append(f"The dashed line is the median, {middle:.2f}.")
    if there:
        text.append(f"Diamonds: condition {other}.")
    if out := [s.model for s in rows if s.model in analysis.excluded]:
        text.append(f"Grey, and left out of the median: {', '.join(out)}.")
    if endless := [s.model for s in rows if s.ceiling is None and s.between is not None]:
        text.append(
            f"No difficulty spread was found, so there is no upper limit (hollow, at the edge): "
            f"{_list(endless)}."
        )
    if single := [s.model for s in rows if s.between is None]:
        text.append(f"Not measured, a ceiling {NEEDS_RUNS}: {_list(single)}.")
    if n := sum(s.ceiling_interval is not None and None in s.ceiling_interval for s in rows):
        text.append(f"Intervals without an upper limit: {n} of {len(rows)}.")
    if any(s.ceiling_interval and (s.ceiling_interval[1] or math.inf) > edge for s in rows):
        text.append("An arrow says that an interval goes on beyond the edge.")
    return text


def _alt(rows, middle) -> str:
    known = [s for s in rows if s.ceiling is not None]
    text = f"Forest plot of the ceilings of {len(rows)} {'system' if len(rows) == 1 else 'systems'}"
    if not known:
        return f"{text}; none has a finite ceiling."
    text += f", from {known[-1].ceiling:.2f} ({known[-1].model})"
    if len(known) > 1:
        text += f" to {known[0].ceiling:.2f} ({known[0].model})"
    return text + (f"; their median is {middle:.2f}." if middle is not None else ".")


def _list(names: list[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
