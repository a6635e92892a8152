"""Figures of run labels: whether it matters which run of a problem it was."""

from __future__ import annotations

import math
from collections.abc import Collection

from matplotlib.lines import Line2D

from repeval.companion.plots import style
from repeval.companion.plots.style import FAINT, GREY, INK, THESE, Plot
from repeval.companion.words import labels
from repeval.companion.words.labels import Labelled
from repeval.report.format import count
from repeval.stats.exchangeability import label_effect


@style.styled
def label_rates(found: Labelled, excluded: Collection[str] = ()) -> Plot:
    """Draw every label's pass rate about its model's, and the shift that could be found.

    References
    ----------
    VC Appendix G.
    """
    if not found.tables:
        return style.empty(labels.tested(found))
    models = [*found.tables][: style.MOST]
    effects = [label_effect(found.tables[m]) for m in models]
    figure, axes = style.canvas(len(models), each=0.27, rest=1.2)
    style.label_rows(axes, style.marked(models, excluded))
    axes.axvline(0, color=GREY, lw=0.8, zorder=0)
    about = [100 * (e.rates - e.rates.mean()) for e in effects]
    for y, (e, moved) in enumerate(zip(effects, about, strict=True)):
        if not math.isnan(e.detectable):
            half = 50 * e.detectable
            axes.plot([-half, half], [y, y], color=FAINT, lw=9, solid_capstyle="butt", zorder=0)
        axes.plot(moved[-1:], [y], "o", color=THESE, mfc="white", ms=5, zorder=3)
        axes.plot(moved[:1], [y], "o", color=THESE, ms=5, zorder=3)
        axes.plot(moved[1:-1], [y] * (len(moved) - 2), "|", color=INK, ms=8, zorder=2)
    axes.set_xlabel("pass rate of a run label less the model's, points")
    marks = [
        Line2D([], [], ls="", marker="o", color=THESE, label="first label"),
        Line2D([], [], ls="", marker="o", mfc="white", color=THESE, label="last"),
        Line2D([], [], color=FAINT, lw=9, label="smallest shift found"),
    ]
    if len(found.labels) > 2:
        marks.insert(1, Line2D([], [], ls="", marker="|", color=INK, label="others"))
    style.legend(figure, marks)
    wider = sum(e.gap > e.detectable for e in effects)
    return style.plot(
        figure,
        [
            {"model": m, "label": label, "pass_rate": rate, "detectable": e.detectable,
             "p_value": e.p_value}
            for m, e in zip(models, effects, strict=True)
            for label, rate in zip(found.labels, e.rates, strict=True)
        ],
        "Pass rates by run label, about each model's own. A bar is as long as the shift of one "
        "label that Cochran's Q finds four times in five for this model.",
        f"In {wider} of {count(len(models), 'model')} the labels lie further apart than that.",
        f"Dot plot of {count(len(found.labels), 'run label')} for {count(len(models), 'model')}.",
        style.starred(models, excluded),
        style.left_out(models, found.tables),
    )  # fmt: skip
