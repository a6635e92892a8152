"""How well "passes every time" is predicted: on held-out halves, and from fewer runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from repeval.companion.plots import style
from repeval.companion.plots.style import GREEN, GREY, PURPLE, Plot
from repeval.report.format import count

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis

# The two quantities of the study `halfsplits` that a Beta law predicts.
LOOKS = {"retry-free": ("o", PURPLE), "pass@3": ("s", GREEN)}


@style.styled
def held_out(study: pd.DataFrame, analysis: Analysis) -> Plot:
    """Draw predictions for held-out halves against what was observed there, model by model.

    Parameters
    ----------
    study : DataFrame
        Table of the study `halfsplits`.

    References
    ----------
    VC Figure 4, averaged over all seeds.
    """
    table = study.groupby(["model", "quantity"])[["predicted", "observed", "one_split"]].mean()
    table = (100 * table).reset_index()
    figure, axes = style.canvas(rest=4.6)
    axes.axline((0, 0), slope=1, color=GREY, lw=0.8)
    for quantity, (marker, colour) in LOOKS.items():
        rows = table[table["quantity"] == quantity]
        axes.errorbar(
            rows["observed"], rows["predicted"], rows["one_split"] * (quantity == "retry-free"),
            fmt=marker, color=colour, ms=5, elinewidth=0.7, label=quantity,
        )  # fmt: skip
    scores = pd.Series({s.model: s.mean**s.n_runs for s in analysis.ranked(analysis.condition)})
    rows = table[table["quantity"] == "retry-free"]
    floor = 100 * scores.loc[rows["model"]]
    axes.plot(rows["observed"], floor, "^", color=GREY, ms=5, label="one rate for all problems")
    axes.set(
        xlabel="observed on the held-out half, %", ylabel="predicted from the other half, %",
        xlim=(0, 100), ylim=(0, 100), aspect="equal",
    )  # fmt: skip
    axes.grid()
    axes.set_axisbelow(True)
    axes.legend(loc="upper left")
    means = table.groupby("quantity")["one_split"].mean()
    found = (
        "A single split misses the held-out half by "
        f"{means['retry-free']:.1f} points (retry-free) and {means['pass@3']:.1f} points (pass@3), "
        f"on average over {count(len(rows), 'model')}."
    )
    return style.plot(
        figure,
        table[table["quantity"].isin(LOOKS)].assign(power=table["model"].map(100 * scores)),
        "Share of problems passed on every run (circles) and at least once in three (squares): "
        "predicted and observed, averaged over all splits; a bar is as long as one split misses, "
        "up and down. Triangles: the score to the power of the runs.",
        found,
        f"Predicted against observed shares of {count(len(rows), 'model')}, around the diagonal.",
    )


@style.styled
def by_runs(table: pd.DataFrame) -> Plot:
    """Draw the in-sample error by the number of runs, for both readings of the score.

    Parameters
    ----------
    table : DataFrame
        `runs`, `all_runs` and `own`, of one group of systems; see `appendix_c.table5`.

    References
    ----------
    VC Table 5.
    """
    figure, axes = style.canvas(rest=3.2)
    looks = {"all_runs": ("score of all runs", PURPLE), "own": ("score of the subset", GREEN)}
    for shift, (column, (label, colour)) in zip((-0.2, 0.2), looks.items(), strict=True):
        bars = axes.bar(table["runs"] + shift, table[column], 0.38, color=colour, label=label)
        axes.bar_label(bars, fmt="%.2f", padding=2, fontsize=9)
    axes.margins(y=0.1)
    axes.set_xticks(table["runs"])
    axes.set_xlabel("runs that the spread of pass rates is estimated from")
    axes.set_ylabel("mean |error|, points")
    axes.legend()
    first, last = table.iloc[0], table.iloc[-1]
    return style.plot(
        figure,
        table,
        "Error of the predicted share passed on every run, by the number of runs used; predicted "
        "and observed on the same problems.",
        f"From {first['runs']:.0f} runs {first['all_runs']:.2f} or {first['own']:.2f} points, from "
        f"all {last['runs']:.0f} runs {last['own']:.2f}: what the family itself misses.",
        "Pairs of bars, one pair for each number of runs, one bar for each reading.",
    )
