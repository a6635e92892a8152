"""One score, two questions, and the widths of all intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repeval import report
from repeval.figures import style
from repeval.figures.style import Plot

if TYPE_CHECKING:
    from repeval.analysis import Analysis
    from repeval.rows import System

MOST = 40
# Plain words, with the letters of VC Appendix D.
WORDS = {
    "pooled_wilson": "(a) all runs as independent",
    "two_level": "(b) problems and runs redrawn",
    "one_level": "(b′) problems redrawn",
    "clustered_normal": "(b″) normal, over problems",
    "clustered_wilson": "Wilson at effective size",
    "fixed_normal": "(c) normal, run noise",
    "fixed_bootstrap": "(c′) runs redrawn",
    "fixed_t": "Student's t, run noise",
}
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
# The three lines of `two_questions`, and their widths.
SHORT = ("these problems", "new ones like them", "all runs as independent")
LINES = (6, 2.2, 1.6)
FIXED = ("fixed_normal", "fixed_bootstrap", "fixed_t")


@style.styled
def two_questions(analysis: Analysis, condition: str) -> Plot:
    """Draw each score with its interval for these problems and for new ones.

    The interval that counts all runs as independent is the thin grey line below.

    References
    ----------
    VC sections 3 ("Estimand caveat") and 5.1.
    """
    ranked = analysis.ranked(condition)
    shown = ranked[:MOST]
    new = report.shown_interval(shown[0])
    drawn = (("fixed_t", style.THESE), (new, style.NEW), ("pooled_wilson", style.GREY))
    figure, axes = style.canvas(len(shown), each=0.3, rest=1.15)
    axes.set_xlim(*_reach(shown, [name for name, _ in drawn]))
    for i, system in enumerate(shown):
        for (name, colour), dy, lw in zip(drawn, (-0.05, -0.05, 0.27), LINES, strict=True):
            limits = system.intervals[name]
            style.span(axes, i + dy, limits and [100 * v for v in limits], colour, width=lw)
        axes.plot([100 * system.mean], [i - 0.05], "o", color="white", mec=style.INK, ms=4.5)
    style.label_rows(axes, style.marked([s.model for s in shown], analysis.excluded))
    axes.set_xlabel(f"score, % (intervals at {_level(analysis)})")
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    for (name, colour), word, lw in zip(drawn, SHORT, LINES, strict=True):
        if any(s.intervals[name] for s in shown):
            axes.plot([], [], color=colour, lw=lw, label=word)
    figure.legend(loc="outside upper left", ncols=3, columnspacing=1.2, handlelength=1.6)
    text = _widths_text(shown, new)
    count = "1 system" if len(shown) == 1 else f"{len(shown)} systems"
    if len(shown) < len(ranked):
        text += f" The first {len(shown)} of {len(ranked)} systems by score are shown."
    if any(s.model in analysis.excluded for s in shown):
        text += " * left out of medians."
    data = pd.DataFrame(
        [(s.model, s.mean, name, *s.intervals[name])
         for s in shown for name, _ in drawn if s.intervals[name]],
        columns=["model", "mean", "interval", "low", "high"],
    )  # fmt: skip
    return Plot(
        figure,
        f"Same scores, two questions, two widths. {text}",
        f"Scores of {count}, the best on top, with thick lines for "
        f"these problems, thin ones for new problems and grey ones for pooled runs. {text}",
        data,
    )


@style.styled
def widths(analysis: Analysis, condition: str) -> Plot:
    """Draw the width of each named interval over that of the pooled one, a dot for a system.

    Scores that are not pass or fail have no pooled interval; the normal one over problems then
    takes its place.

    References
    ----------
    VC section 5.1 and Appendix D.
    """
    systems = [s for s in analysis.ranked(condition) if s.model not in analysis.excluded]
    base = next(
        (n for n in ("pooled_wilson", "clustered_normal") if all(s.intervals[n] for s in systems)),
        None,
    )
    columns = ["model", "interval", "relative_width"]
    if base is None:
        return style.empty("No interval has a width to compare: no outcome differs.", columns)
    data = pd.DataFrame(
        [(s.model, name, _width(s, name) / _width(s, base))
         for name in WORDS for s in systems if s.intervals[name]],
        columns=columns,
    )  # fmt: skip
    names = [n for n in WORDS if n in set(data["interval"])]
    figure, axes = style.canvas(len(names), each=0.36, rest=1.0)
    for i, name in enumerate(names):
        values = data.loc[data["interval"] == name, "relative_width"]
        colour = style.THESE if name in FIXED else style.NEW
        colour = style.GREY if name == "pooled_wilson" else colour
        axes.plot(values, np.full(len(values), i), "o", color=colour, alpha=0.5, ms=6, mew=0)
        axes.plot([values.median()] * 2, [i - 0.3, i + 0.3], color=colour, lw=2.5)
        axes.annotate(
            f"{values.median():.2f}", (1.01, i), xycoords=("axes fraction", "data"), va="center",
            fontsize=9,
        )  # fmt: skip
    style.label_rows(axes, [WORDS[n] for n in names])
    axes.axvline(1, color=style.GREY, lw=0.8, zorder=0)
    axes.set_xscale("log")
    low = min(0.45, data["relative_width"].min() / 1.15)
    high = max(2.2, data["relative_width"].max() * 1.15)
    axes.set_xlim(low, high)
    ticks = [t for t in TICKS if low <= t <= high]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.set_xlabel(f"width, where {_letter(base)} has 1")
    middle = data.groupby("interval")["relative_width"].median()
    new = "clustered_wilson" if "clustered_wilson" in middle else "clustered_normal"
    text = f"For new problems the median width is {middle[new]:.2f} times that of {_letter(base)}"
    if "fixed_t" in middle:
        text += f", for these problems {middle['fixed_t']:.2f} times"
    text += "."
    if missing := len(WORDS) - len(names):
        text += f" {missing} of the {len(WORDS)} intervals do not exist for these data."
    return Plot(
        figure,
        "Widths of the named intervals: new problems orange, these problems blue; a dot for each "
        f"system, a bar and a number for the median. {text}",
        f"One row of dots for each of {len(names)} intervals. {text}",
        data,
    )


def _width(system: System, name: str) -> float:
    low, high = system.intervals[name]
    return high - low


def _letter(name: str) -> str:
    return WORDS[name].split()[0]


def _level(analysis: Analysis) -> str:
    return f"{100 * analysis.settings.level:g} %"


def _reach(systems: list[System], names: list[str]) -> tuple[float, float]:
    """Return the limits of the axis in percent."""
    ends = [v for s in systems for n in names if s.intervals[n] for v in s.intervals[n]]
    ends += [s.mean for s in systems]
    low, high = max(0.0, min(ends)), min(1.0, max(ends))
    pad = 0.03 * max(high - low, 0.1)
    return 100 * (low - pad), 100 * (high + pad)


def _widths_text(systems: list[System], new: str) -> str:
    """Say the two half-widths, over the systems shown."""

    def reach(name: str) -> str | None:
        halves = [50 * _width(s, name) for s in systems if s.intervals[name]]
        if not halves:
            return None
        low, high = f"{min(halves):.1f}", f"{max(halves):.1f}"
        return f"±{low} points" if low == high else f"±{low} to ±{high} points"

    fresh, same = reach(new), reach("fixed_t")
    text = f"For new problems like these a score is uncertain by {fresh}" if fresh else ""
    if text and same:
        return f"{text}, for these problems {same}."
    reason = "An interval for these problems needs a verdict that changed between two runs."
    return f"{text}. {reason}" if text else reason
