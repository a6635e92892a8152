"""Figures of pairs: who is told apart, and who leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from repeval.companion.plots import style
from repeval.companion.plots.style import GREY, INK, NEW, THESE, Plot
from repeval.companion.words import sentences as say
from repeval.report.format import count, percent

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis

LEADS = LinearSegmentedColormap.from_list("leads", ["#D9A3C3", "white", "#63BFA3"])


@style.styled
def adjacent_strip(analysis: Analysis, condition: str) -> Plot:
    """Draw the lead of every system over its neighbour, for both questions.

    References
    ----------
    VC section 5.1; `repeval.stats.pairs.decision` for the intervals.
    """
    everyone = analysis.adjacent(condition)
    pairs = everyone[: style.MOST]
    if not pairs:
        return style.empty(say.NO_PAIR)
    figure, axes = style.canvas(len(pairs), each=0.43, rest=1.2)
    intervals = [i for p in pairs for i in (p.fixed.interval, p.interval) if i]
    ends = [0, *(100 * v for i in intervals for v in i), *(100 * p.difference for p in pairs)]
    style.set_room(axes, ends)
    style.pair_rows(axes, pairs)
    axes.axvline(0, color=INK, lw=0.8, zorder=0)
    beside = {"textcoords": "offset points", "ha": "right", "fontsize": 9}
    for y, p in enumerate(pairs):
        for shift, answer, colour in ((-0.17, p.fixed, THESE), (0.17, p, NEW)):
            if answer.interval is not None:
                thick, face = (3.2, colour) if answer.resolved else (1.2, "white")
                style.span(axes, y + shift, answer.interval, colour, width=thick, unit=100)
                style.point(axes, y + shift, 100 * p.difference, "o", color=colour, mfc=face)
        axes.annotate(
            percent(p.p_greater), (1, y), (38, 0), xycoords=("axes fraction", "data"), va="center",
            **beside,
        )  # fmt: skip
    axes.annotate("leads in", (1, 1), (38, 4), xycoords="axes fraction", **beside)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.set_xlabel("lead of the upper name, points")
    both = any(p.fixed.interval for p in pairs)
    marks = [
        *[Line2D([], [], color=THESE, lw=3, label="these problems")] * both,
        Line2D([], [], color=NEW, lw=3, label="new ones like them"),
        Line2D([], [], color=GREY, lw=3, marker="o", label="told apart"),
        Line2D([], [], color=GREY, lw=1, marker="o", mfc="white", label="not"),
    ]
    style.legend(figure, marks)
    return style.plot(
        figure,
        {
            "model_a": [p.model_a for p in pairs],
            "model_b": [p.model_b for p in pairs],
            "difference": [p.difference for p in pairs],
            "p_greater": [p.p_greater for p in pairs],
            **style.limits("these_", [p.fixed.interval for p in pairs]),
            "apart_these": [p.fixed.resolved for p in pairs],
            **style.limits("new_", [p.interval for p in pairs]),
            "apart_new": [p.resolved for p in pairs],
        },
        "Neighbours on the leaderboard, the upper name ahead: its lead with "
        f"{style.level(analysis)} intervals for {'both questions' if both else 'new problems'}. "
        "Told apart (the interval leaves out zero) is thick and filled.",
        say.neighbours(analysis, condition),
        f"Strip plot of {count(len(pairs), 'pair')} of neighbours with intervals for "
        f"{'both questions' if both else 'new problems'}.",
        f"Right: how often the upper name leads when {say.units(analysis)} are drawn anew.",
        style.no_verdict(pairs),
        style.left_out(pairs, everyone, "pairs"),
    )


@style.styled
def leads_matrix(analysis: Analysis, condition: str) -> Plot:
    """Draw P(row > column) by the paper's two-level law for every pair.

    References
    ----------
    VC Figure 1.
    """
    ranked = [s.model for s in analysis.ranked(condition)]
    place = {model: i for i, model in enumerate(ranked[: style.MOST])}
    pairs = [
        p for p in analysis.pairs if p.condition == condition and {p.model_a, p.model_b} <= {*place}
    ]
    if not pairs:
        return style.empty(say.NO_PAIR)
    n = len(place)
    figure, axes = style.canvas(n, each=max(0.155, min(0.45, 4.2 / n)), rest=1.3)
    leads = np.full((n, n), np.nan)
    for p in pairs:
        i, j = place[p.model_a], place[p.model_b]
        leads[i, j] = p.two_level.p_greater
        leads[j, i] = 1 - p.two_level.p_greater - p.two_level.p_tie
        for x, y in ((i, j), (j, i)):
            if not p.two_level.resolved:
                axes.text(x, y, "~", ha="center", va="center", fontsize=11 if n <= 20 else 7)
            if p.adjacent:
                axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, ec=INK, lw=0.9))
    image = axes.imshow(
        np.ma.masked_invalid(leads), cmap=LEADS, vmin=0, vmax=1, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    labels = enumerate(style.names(list(place)), 1)
    style.label_rows(axes, [f"{label}\u00a0\u00a0{i}" for i, label in labels])
    axes.set_ylim(n - 0.5, -0.5)
    ticks = range(0, n, 1 if n <= 20 else 5)
    axes.set_xticks(ticks, [str(i + 1) for i in ticks])
    axes.xaxis.tick_top()
    axes.tick_params(axis="x", length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=30, pad=0.02)
    bar.set_ticks([0, 0.5, 1], labels=["0", "one half", "1"])
    bar.set_label("how often the row leads the column")
    bar.outline.set_visible(False)
    neighbours = [not p.two_level.resolved for p in pairs if p.adjacent]
    drawn = "problems, then runs, are resampled (the paper's two-level law)"
    if analysis.settings.cluster:
        drawn = "clusters of problems are drawn anew (by Student's t)"
    return style.plot(
        figure,
        [
            {
                "model_a": p.model_a,
                "model_b": p.model_b,
                "adjacent": p.adjacent,
                **vars(p.two_level),
            }
            for p in pairs
        ],
        f"How often the row leads the column when {drawn}, best model first; numbers are places. "
        f"A tilde marks a pair not told apart by this law at {style.level(analysis)}, a frame "
        "marks neighbours.",
        f"On new problems {sum(neighbours)} of {len(neighbours)} pairs of neighbours are not told "
        f"apart by it, and {sum(not p.two_level.resolved for p in pairs)} of all {len(pairs)} "
        "pairs.",
        f"Matrix of {n} by {n} models.",
        style.left_out(place, ranked),
    )
