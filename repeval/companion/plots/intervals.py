"""One score, two questions, and the widths of all intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repeval.companion.plots import style
from repeval.companion.plots.style import Plot
from repeval.report import sentences, summary
from repeval.report.format import count
from repeval.report.summary import width
from repeval.stats.intervals import INTERVALS

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis

# By estimand, in the order of a figure's rows.
COLOURS = {"neither": style.GREY, "superpopulation": style.NEW, "fixed": style.THESE}


def in_rows() -> list[str]:
    """Return the names of all intervals, those of one estimand together."""
    return sorted(INTERVALS, key=lambda name: [*COLOURS].index(INTERVALS[name].estimand))


@style.styled
def two_questions(analysis: Analysis, condition: str) -> Plot:
    """Draw each score with its interval for these problems and for new ones.

    The interval that counts all runs as independent is the thin grey line below.

    References
    ----------
    VC sections 3 ("Estimand caveat") and 5.1.
    """
    ranked = analysis.ranked(condition)
    shown = ranked[: style.MOST]
    lines = (
        (summary.THESE, "these problems", style.THESE, 6, -0.05),
        (summary.NEW, "new ones like them", style.NEW, 2.2, -0.05),
        ("pooled_wilson", "all runs as independent", style.GREY, 1.6, 0.27),
    )
    data = pd.DataFrame(
        [(s.model, s.mean, name, *s.intervals[name])
         for s in shown for name, *_ in lines if s.intervals[name]],
        columns=["model", "mean", "interval", "low", "high"],
    )  # fmt: skip
    figure, axes = style.canvas(len(shown), each=0.3, rest=1.15)
    means = [s.mean for s in shown]
    low, high = max(0.0, min(*means, data["low"].min())), min(1.0, max(*means, data["high"].max()))
    pad = 0.03 * max(high - low, 0.1)
    axes.set_xlim(100 * (low - pad), 100 * (high + pad))
    for i, s in enumerate(shown):
        for name, _, colour, lw, dy in lines:
            style.span(axes, i + dy, s.intervals[name], colour, width=lw, unit=100)
        axes.plot([100 * s.mean], [i - 0.05], "o", color="white", mec=style.INK, ms=4.5)
    models = [s.model for s in shown]
    style.label_rows(axes, style.marked(models, analysis.excluded))
    axes.set_xlabel(f"score, % (intervals at {style.level(analysis)})")
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    for name, word, colour, lw, _ in lines:
        if name in set(data["interval"]):
            axes.plot([], [], color=colour, lw=lw, label=word)
    figure.legend(loc="outside upper left", ncols=3, columnspacing=1.2, handlelength=1.6)
    sure = sentences.precision(analysis, condition).items()
    text = "; ".join(f"on {what}: {width.replace('+-', '±')}" for what, width in sure)
    return style.plot(
        figure,
        data,
        "Same scores, two questions:",
        f"{text}.",
        f"Scores of {count(len(shown), 'model')}, the best on top, with intervals for "
        f"{', '.join(word for name, word, *_ in lines if name in set(data['interval']))}:",
        style.left_out(shown, ranked),
        style.starred(models, analysis.excluded),
    )


@style.styled
def widths(analysis: Analysis, condition: str) -> Plot:
    """Draw the width of each named interval over that of the pooled one, a dot for a model.

    Scores that are not pass or fail have no pooled interval; the normal one over problems then
    takes its place.

    References
    ----------
    VC section 5.1 and Appendix D.
    """
    systems, names = sentences.counted(analysis, condition), in_rows()
    wide = pd.DataFrame(
        [[width(s, name) for name in names] for s in systems], columns=names, dtype=float
    )
    whole = wide.columns[wide.notna().all()]
    base = next((name for name in ("pooled_wilson", "clustered_normal") if name in whole), None)
    if base is None:
        return style.empty("No interval has a width to compare: no outcome differs.")
    wide = wide.div(wide[base], axis=0).dropna(axis="columns", how="all")
    middle = wide.median()
    figure, axes = style.canvas(len(middle), each=0.36, rest=1.0)
    for i, name in enumerate(wide):
        colour = COLOURS[INTERVALS[name].estimand]
        values = wide[name].dropna()
        axes.plot(values, np.full(len(values), i), "o", color=colour, alpha=0.5, ms=6, mew=0)
        axes.plot([middle[name]] * 2, [i - 0.3, i + 0.3], color=colour, lw=2.5)
        axes.annotate(
            f"{middle[name]:.2f}", (1.01, i), xycoords=("axes fraction", "data"), va="center",
            fontsize=9,
        )  # fmt: skip
    style.label_rows(axes, [INTERVALS[name].label for name in wide])
    axes.axvline(1, color=style.GREY, lw=0.8, zorder=0)
    low, high = wide.min(axis=None), wide.max(axis=None)
    style.log_axis(axes, min(0.45, low / 1.15), max(2.2, high * 1.15))
    letter = INTERVALS[base].letter
    axes.set_xlabel(f"width, where {letter} has 1")
    text = f"For new problems the median width is {middle[summary.NEW]:.2f} times that of {letter}"
    these = middle.get(summary.THESE)
    text += "." if these is None else f", for these problems {these:.2f} times."
    fixed = [name for name in wide if INTERVALS[name].estimand == "fixed"]
    blue = ", these problems blue" if fixed else ""
    if missing := len(names) - len(middle):
        text += f" {missing} of the {len(names)} intervals do not exist for these data."
    data = wide.assign(model=[s.model for s in systems])
    return style.plot(
        figure,
        data.melt("model", var_name="interval", value_name="relative_width").dropna(),
        f"Widths of the named intervals: new problems orange{blue}; a dot for each model, a bar "
        "and a number for the median.",
        text,
        f"One row of dots for each of {len(middle)} intervals.",
    )
