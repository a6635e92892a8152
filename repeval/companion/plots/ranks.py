"""The figure of ranks: three kinds of interval for every model's place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from repeval.companion.plots import style
from repeval.companion.plots.style import GREEN, INK, NEW, SKY, Plot
from repeval.companion.words import ranks
from repeval.report.format import count

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis

LOOKS = {"set": (-0.22, NEW, 4.0), "one_level": (0.03, SKY, 2.4), "two_level": (0.24, GREEN, 2.4)}


@style.styled
def rank_limits(analysis: Analysis, condition: str) -> Plot:
    """Draw each model's rank with its rank set and its percentile intervals by both laws.

    References
    ----------
    VC Table 8 for the intervals of the two-level law.
    """
    everyone = [r for r in analysis.ranks if r.condition == condition]
    if not everyone:
        return style.empty(ranks.reaches(analysis, condition))
    rows = everyone[: style.MOST]
    figure, axes = style.canvas(len(rows), each=0.36, rest=1.2)
    ends = {kind: [ranks.limits(r, kind) for r in rows] for kind in LOOKS}
    axes.set_xlim(0.4, max(max(ranks.limits(r, k)) for r in rows for k in LOOKS) + 0.6)
    style.label_rows(axes, style.names([r.model for r in rows]))
    for kind, (shift, colour, width) in LOOKS.items():
        for y, (low, high) in enumerate(ends[kind]):
            # A single rank is as wide as its place on the axis.
            style.span(axes, y + shift, (low - 0.25, high + 0.25), colour, width=width)
    axes.plot([r.rank for r in rows], range(len(rows)), "o", color=INK, ms=4, zorder=3)
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel("rank")
    names = {"set": "rank set", "one_level": "one-level interval", "two_level": "two-level"}
    marks = [Line2D([], [], color=LOOKS[k][1], lw=LOOKS[k][2], label=names[k]) for k in LOOKS]
    style.legend(figure, [Line2D([], [], ls="", marker="o", color=INK, label="rank"), *marks])
    return style.plot(
        figure,
        {
            "model": [r.model for r in rows],
            "rank": [r.rank for r in rows],
            **{k: v for kind in LOOKS for k, v in style.limits(f"{kind}_", ends[kind]).items()},
        },
        f"Ranks with rank sets and percentile intervals, each at {style.level(analysis)}.",
        ranks.reaches(analysis, condition),
        f"Ranks of {count(len(rows), 'model')}, three bars each.",
        style.left_out(rows, everyone),
    )
