"""One score, two questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from repeval.companion.plots import style
from repeval.companion.plots.style import Plot
from repeval.report import sentences, summary
from repeval.report.format import count

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis


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
    lines = [
        (summary.THESE, "these problems", style.THESE, 6, -0.05),
        (summary.NEW, "new ones like them", style.NEW, 2.2, -0.05),
        ("pooled_wilson", "all runs as independent", style.GREY, 1.6, 0.27),
    ]
    # Single runs of problems are independent: the last two are then one.
    if all(s.runs_range == (1, 1) for s in shown) and not analysis.settings.cluster:
        lines.pop()
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
        "Same scores, two questions:" if summary.THESE in set(data["interval"]) else "Scores:",
        f"{text}.",
        f"Scores of {count(len(shown), 'model')}, the best on top, with intervals for "
        f"{', '.join(word for name, word, *_ in lines if name in set(data['interval']))}:",
        style.left_out(shown, ranked),
        style.starred(models, analysis.excluded),
    )
