"""Figures and words on two conditions of each model, compared problem by problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from repeval.companion.ledger import bs
from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.mmlu import half_widths
from repeval.companion.plots import style
from repeval.companion.plots.style import GREY, INK, NEW, THESE, Plot
from repeval.companion.words.narrowing import condition_widths
from repeval.report.format import count, narrower, points
from repeval.stats import allocation
from repeval.stats.comparison import holm

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes
    from repeval.report.analysis import Analysis
    from repeval.report.rows import ConditionPair

NO_PAIR = "There is nothing to compare here: no model was run under two conditions."
ONE_RUN = (
    "How runs narrow these differences cannot be drawn: that takes two conditions, two runs of "
    "every problem, and a difference that varies."
)
# By rising number of runs.
COLOURS = (style.PURPLE, style.SKY, style.GREEN, NEW)


@style.styled
def differences(analysis: Analysis) -> Plot:
    """Draw the difference of two conditions for every model, with intervals for both questions.

    References
    ----------
    BS, "Performance on math and biology questions", by the paired cluster bootstrap; here
    `repeval.stats.pairs.decision`.
    """
    everyone = analysis.condition_pairs
    rows = everyone[: style.MOST]
    if not rows:
        return style.empty(NO_PAIR)
    adjusted = holm([r.p_value for r in everyone])[: style.MOST]
    figure, axes = style.canvas(len(rows), each=0.34, rest=1.2)
    ends = [100 * v for r in rows for i in (r.interval, r.fixed.interval) if i for v in i]
    ends += [0, *(100 * r.difference for r in rows)]
    style.set_room(axes, ends)
    style.label_rows(axes, labels(rows))
    axes.axvline(0, color=INK, lw=0.8, zorder=0)
    beside = {"textcoords": "offset points", "ha": "right", "fontsize": 9}
    for y, (r, p) in enumerate(zip(rows, adjusted, strict=True)):
        for shift, answer, colour in ((-0.15, r.fixed, THESE), (0.15, r, NEW)):
            thick = 3.2 if answer.resolved else 1.2
            style.span(axes, y + shift, answer.interval, colour, width=thick, unit=100)
        face = NEW if r.resolved and p < 1 - analysis.settings.level else "white"
        style.point(axes, y + 0.15, 100 * r.difference, "o", color=NEW, mfc=face)
        axes.annotate(
            "" if r.icc is None else f"{r.icc:.2f}", (1, y), (38, 0), va="center",
            xycoords=("axes fraction", "data"), **beside,
        )  # fmt: skip
    axes.annotate("ICC", (1, 1), (38, 4), xycoords="axes fraction", **beside)
    both = list(dict.fromkeys((r.condition_a, r.condition_b) for r in everyone))
    a, b = style.names(both[0], 16)
    axes.set_xlabel(f"{a} less {b}, points" if len(both) == 1 else "first less second, points")
    style.legend(
        figure,
        [
            Line2D([], [], color=THESE, lw=3, label="these problems"),
            Line2D([], [], color=NEW, lw=3, label="new ones like them"),
            Line2D([], [], color=GREY, lw=3, label="told apart"),
        ],
    )
    return style.plot(
        figure,
        {
            "model": [r.model for r in rows],
            "condition_a": [r.condition_a for r in rows],
            "condition_b": [r.condition_b for r in rows],
            "difference": [r.difference for r in rows],
            "icc": [r.icc for r in rows],
            "p_adjusted": adjusted,
            **style.limits("new_", [r.interval for r in rows]),
            **style.limits("these_", [r.fixed.interval for r in rows]),
        },
        f"Difference of two conditions with {style.level(analysis)} intervals, problem by problem: "
        "thick where it tells the two apart, leaving out zero. A filled dot would still be apart "
        f"if all {len(everyone)} questions were asked at once (Holm).",
        exploratory(analysis),
        f"Interval plot of {count(len(rows), 'difference')}.",
        "Right: ICC of the difference.",
        style.no_verdict(rows),
        style.left_out(rows, everyone, "differences"),
    )


@style.styled
def narrowing(analysis: Analysis, outcomes: Outcomes) -> Plot:
    """Draw how far runs narrow each difference, from the first runs and as the ICC predicts.

    References
    ----------
    BS, "Estimating ρ".
    """
    found = condition_widths(analysis, outcomes, style.MOST)
    if found.empty:
        return style.empty(ONE_RUN)
    rows = [r for r in analysis.condition_pairs if r.model in set(found["model"])][: style.MOST]
    place = {(r.model, r.condition_a, r.condition_b): y for y, r in enumerate(rows)}
    runs = sorted(found["runs"].unique())
    figure, axes = style.canvas(len(rows), each=0.3, rest=1.2)
    for r in found.itertuples():
        y, colour = place[r.model, r.condition_a, r.condition_b], COLOURS[runs.index(r.runs)]
        axes.plot([r.predicted] * 2, [y - 0.32, y + 0.32], color=colour, lw=1.8, zorder=1)
        axes.plot([r.observed], [y], "o", color=colour, ms=5, mec="white", mew=0.5)
    style.label_rows(axes, labels(rows))
    axes.set_xlim(0, max(1.02, 1.02 * found["observed"].max()))
    axes.axvline(1, color=GREY, lw=0.8, zorder=0)
    axes.set_xlabel("width, that from the first run = 1")
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    marks = [Line2D([], [], ls="", marker="o", color=c, label=count(k, "run"))
             for k, c in zip(runs, COLOURS, strict=False)]  # fmt: skip
    style.legend(figure, [*marks, Line2D([], [], ls="", marker="|", ms=10, color=INK,
                                         label="predicted")])  # fmt: skip
    off = (found["observed"] - found["predicted"]).abs()
    return style.plot(
        figure,
        found,
        "Length of the normal interval for new problems with the first so many runs (dots), and as "
        "the ICC of the difference predicts it (lines).",
        f"Observed and predicted differ by {off.median():.2f} in the median and by "
        f"{off.max():.2f} at most.",
        f"A row of dots and lines for each of {count(len(rows), 'difference')}.",
    )


def labels(rows: Sequence[ConditionPair]) -> list[str]:
    """Return the models' names, with both conditions where there are more than two."""
    kinds = {(r.condition_a, r.condition_b) for r in rows}
    models = style.names([r.model for r in rows])
    if len(kinds) == 1:
        return models
    return [f"{m}\n{style.name(f'{r.condition_a} less {r.condition_b}', 30)}"
            for m, r in zip(models, rows, strict=True)]  # fmt: skip


def exploratory(analysis: Analysis) -> str:
    """Say how many differences are shown, asked one by one and all at once."""
    rows = analysis.condition_pairs
    if not rows:
        return NO_PAIR
    alpha = 1 - analysis.settings.level
    p = np.array([r.p_value for r in rows])
    resolved = np.array([bool(r.resolved) for r in rows])
    one, still = resolved.sum(), (resolved & (holm(p) < alpha)).sum()
    least = (resolved & (p < alpha / len(rows))).sum()
    return (
        f"Of {count(len(rows), 'difference')} {one} would be shown on new problems, were each the "
        f"only one asked about; {still} still {'is' if still == 1 else 'are'} after Holm's "
        f"correction for asking about all, {least} after Bonferroni's. If conditions never "
        f"mattered, about {alpha * len(rows):.1f} at most would be shown by luck."
    )


def pairing(outcomes: Outcomes) -> str:
    """Say whether the data know how two conditions go together on one problem."""
    if outcomes.source.basis == "stand-in":
        return (
            "These data are a stand-in, rebuilt from published totals, which do not say which "
            "problems were passed. For the first prompt that was chosen so that the paper's "
            "figures of pairs come out; how the second goes together with it is a guess. So the "
            "differences of scores are the paper's, and intervals and ICCs show the method only."
        )
    return (
        "Each model is compared with itself, on the problems that it has under both conditions, so "
        "that difficulty cancels."
    )


def components(analysis: Analysis) -> pd.DataFrame:
    """Return the components of the differences of two conditions."""
    rows = analysis.condition_pairs[: style.MOST]
    table = pd.DataFrame(
        {
            "model": r.model,
            "conditions": f"{r.condition_a} less {r.condition_b}",
            "points": points(r.difference),
            "within": r.within,
            "between": r.between,
            "ICC": r.icc,
            "endless runs": r.remaining_narrowing and narrower(r.remaining_narrowing),
        }
        for r in rows
    )
    return (
        table
        if len(rows) and table["conditions"].nunique() > 1
        else table.drop(columns="conditions", errors="ignore")
    )


def post_factors() -> pd.DataFrame:
    """Return the post's ICCs of differences, and the width factors they predict, as it prints them.

    References
    ----------
    BS, "Estimating ρ".
    """
    found = bs.printed(r"bs-rho-(\w+)-(\w+)-(rho|pred|obs)")
    runs = paper()["bs-mmlu-k"].value
    return pd.DataFrame(
        {
            "subject": subject,
            "model": paper()[f"bs-rho-{subject}-{model}-rho"].quantity.split(",")[0],
            "ICC": f"{icc:.2f}",
            "from it": f"{allocation.width_factor(icc, runs):.3f}",
            "predicted": f"{found[subject, model, 'pred']:.2f}",
            "observed": f"{found[subject, model, 'obs']:.2f}",
        }
        for (subject, model, what), icc in found.items() if what == "rho"
    )  # fmt: skip


def post_misses() -> str:
    """Say how far the post's observed factors are from those of its ICCs."""
    table = post_factors()
    off = (table["observed"].astype(float) - table["from it"].astype(float)).abs()
    worst = table.loc[off.idxmax()]
    return (
        f"Observed factors differ from these by {off.median():.2f} in the median, and most by "
        f"{off.max():.2f} ({worst['model']}, {worst['subject']}). Where two prompts rarely "
        "disagree, a width from single runs is itself uncertain by several percent."
    )


def post_intervals() -> str:
    """Say whether the post's intervals are possible."""
    found = half_widths()
    inside = found["printed"].between(found["least"], found["independent"])
    return (
        f"{inside.sum()} of {len(found)} intervals lie between both bounds, with correlations of "
        f"{found['implies'].min():.2f} to {found['implies'].max():.2f}; their middles are off by "
        f"{found['off'].abs().max():.2f} points at most, where a tenth is rounding."
    )
