"""Figures of how well ceilings are known: from few runs, and from few problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D

from repeval.companion.plots import style
from repeval.companion.plots.style import GREY, INK, THESE, Plot
from repeval.companion.studies import pilot, subsets
from repeval.report.format import count

if TYPE_CHECKING:
    import pandas as pd

# By number of runs or problems, the smallest first.
LOOKS = (("o", style.NEW), ("s", style.SKY), ("^", style.GREEN))


@style.styled
def errors(table: pd.DataFrame, excess: float) -> Plot:
    """Draw how far ceilings from one half of the problems are from the other half's.

    Parameters
    ----------
    table : DataFrame
        Of the study `pilot`.
    excess : float
        The median ceiling less 1, which the errors are held against.

    References
    ----------
    VC Appendix E, Table 7.
    """
    found = pilot.errors(table)
    each = {m: pilot.errors(part)["ceiling"] for m, part in table.groupby("model")}
    figure, axes = style.canvas(len(found), each=0.5, rest=1.3)
    style.label_rows(
        axes, [f"{count(n, 'run')} against\n{reference} runs"
               for n, reference in found[["runs", "reference"]].itertuples(index=False)],
    )  # fmt: skip
    for values in each.values():
        axes.plot(values, range(len(values)), "o", color=GREY, ms=4, alpha=0.6, mew=0)
    axes.plot(found["ceiling"], range(len(found)), "D", color=THESE, ms=7)
    axes.axvline(excess, color=INK, lw=1, ls="--", zorder=0)
    axes.set_xlim(0)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel("mean absolute error of the ceiling")
    style.legend(
        figure,
        [
            Line2D([], [], ls="", marker="D", color=THESE, label="mean"),
            Line2D([], [], ls="", marker="o", color=GREY, label="one system"),
            Line2D([], [], color=INK, lw=1, ls="--", label="median ceiling less one"),
        ],
    )
    off = [
        f"{low:.2f}" + f" to {high:.2f}" * (f"{low:.2f}" != f"{high:.2f}") + f" with {n} runs"
        for n, low, high in found.groupby("runs")["ceiling"].agg(["min", "max"]).itertuples()
    ]
    out = found[found["left_out"] > 0]
    left = [
        f"{row.left_out} of {row.splits} ({count(row.runs, 'run')} against {row.reference} runs)"
        for row in out.itertuples()
    ]
    return style.plot(
        figure,
        found.assign(**each),
        "How far the ceiling from a few runs of one half of the problems is from the other half's, "
        "made from its unused or from all runs.",
        f"The mean error is {', '.join(off)}; the median ceiling less one is {excess:.2f}.",
        f"Dot plot of mean errors, {count(len(found), 'row')}.",
        f"Left out, as either half has no finite ceiling: {'; '.join(left)}." if left else "",
    )


@style.styled
def interval_widths(table: pd.DataFrame) -> Plot:
    """Draw how wide the ceiling's interval is for each system, by number of runs.

    Parameters
    ----------
    table : DataFrame
        Of the study `pilot`.

    References
    ----------
    VC Appendix E.
    """
    pooled = pilot.widths(table).set_index("runs")
    each = table.groupby(["model", "runs"])["width"].median().unstack()
    each = each.sort_values(each.columns[-1], ascending=False)
    figure, axes = style.canvas(len(each) + 1, rest=1.3)
    style.label_rows(axes, ["median of the systems", *style.names(each.index)])
    style.log_axis(axes, each.min().min() / 1.2, each.max().max() * 1.2)
    axes.axhline(0.5, color=style.FAINT, lw=0.8)
    marks = []
    for (runs, wide), (marker, colour) in zip(pooled["width"].items(), LOOKS, strict=True):
        axes.plot([wide, *each[runs]], range(len(each) + 1), marker, color=colour, ms=6)
        marks.append(Line2D([], [], ls="", marker=marker, color=colour, label=count(runs, "run")))
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel("width of the 95 % interval of the ceiling")
    style.legend(figure, marks)
    said = [f"{row.width:.2f} with {count(row.Index, 'run')}" for row in pooled.itertuples()]
    moves = [f"{sd:.2f} with {count(n, 'run')}" for n, sd in pooled["width_sd"].items() if sd > 0]
    return style.plot(
        figure,
        each.reset_index().rename(columns=str),
        "Width of the ceiling's interval on all problems, by the runs it is made from.",
        f"The median width is {', '.join(said)}. It depends on which runs are chosen: its "
        f"standard deviation from choice to choice is {', '.join(moves)}.",
        f"Dot plot of interval widths for {count(len(each), 'system')} and their median.",
    )


@style.styled
def subset_bands(table: pd.DataFrame) -> Plot:
    """Draw where the ceilings of random subsets of the problems lie, by size of the subset.

    Parameters
    ----------
    table : DataFrame
        Of the study `subsets`.

    References
    ----------
    VC Appendix H, Table 10.
    """
    middle = table[table["model"] == subsets.MEDIAN]
    rest = table[table["model"] != subsets.MEDIAN].sort_values("whole", ascending=False)
    models = [subsets.MEDIAN, *dict.fromkeys(rest["model"])]
    figure, axes = style.canvas(len(models), each=0.4, rest=1.3)
    style.label_rows(axes, [models[0].lower(), *style.names(models[1:])])
    finite = table["high"].replace(np.inf, np.nan).max()
    axes.set_xlim(0.95, 1.02 * finite)
    axes.axhline(0.5, color=style.FAINT, lw=0.8)
    marks = []
    sizes = table.groupby("n")
    for (n, part), (_, colour), up in zip(sizes, LOOKS, (-0.24, 0, 0.24), strict=True):
        limits = part.set_index("model")[["low", "high"]]
        for y, model in enumerate(models):
            style.span(axes, y + up, tuple(limits.loc[model]), colour, width=3)
        marks.append(Line2D([], [], color=colour, lw=3, label=f"{n}"))
    whole = table.drop_duplicates("model").set_index("model")["whole"]
    axes.plot(whole[models], range(len(models)), "D", color=INK, ms=5)
    marks.append(Line2D([], [], ls="", marker="D", color=INK, label="all problems"))
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_xlabel("ceiling")
    style.legend(figure, marks)
    said = [f"{subsets.band(row)} with {row['n']} problems" for _, row in middle.iterrows()]
    widest = table.loc[(table["high"] - table["low"]).idxmax()]
    return style.plot(
        figure,
        table,
        "Ceilings on random subsets of the problems, 5th to 95th percentile, by size.",
        f"The median of the systems is {', '.join(said)}. The widest band of a single system is "
        f"that of {widest['model']}, {subsets.band(widest)} with {widest['n']} problems.",
        f"Bands by size of subset for {count(len(models) - 1, 'system')} and their median.",
    )
