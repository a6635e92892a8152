"""What moves the ceiling, by simulation: the truth, and what a benchmark of this size sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from repeval.companion.plots import style
from repeval.companion.plots.style import GREEN, NEW, PURPLE, Plot
from repeval.companion.studies import temperature
from repeval.report.format import percent

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLOURS = dict(zip(temperature.SPREADS, (PURPLE, GREEN, NEW), strict=True))
X = "temperature T of the simulation"
ENDS = ("low", "median", "high")


@style.styled
def truth() -> Plot:
    """Draw run noise, difficulty spread and ceiling against temperature, for each spread.

    References
    ----------
    VC section 5.4 (i) and (ii).
    """
    figure = style.Figure(figsize=(style.WIDTH, 6.4), layout="constrained")
    panels = figure.subplots(3, sharex=True)
    ends = temperature.TEMPERATURES[0], temperature.TEMPERATURES[-1]
    fine, data = np.geomspace(*ends, 60), []
    for spread, colour in COLOURS.items():
        within, between = np.array([temperature.truth(spread, t) for t in fine]).T
        curves = {"within": within, "between": between, "ceiling": 1 + within / between}
        for axes, curve in zip(panels, curves.values(), strict=True):
            axes.plot(fine, curve, color=colour, label=f"s = {spread:g}")
        data += [
            {"spread": spread, "temperature": t, **dict(zip(curves, values, strict=True))}
            for t, *values in zip(fine, *curves.values(), strict=True)
        ]
    titles = "run noise, μ_w", "difficulty spread, σ_b²", "ceiling"
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(title)
        axes.set_ylim(0)
        axes.grid()
    ceilings(panels[2], max(row["ceiling"] for row in data))
    style.log_axis(panels[2], *ends)
    panels[2].set_xlabel(X)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    cold = [row for row in data if row["temperature"] == fine[0]]
    found = "; ".join(f"{row['ceiling']:.2f} with s = {row['spread']:g}" for row in cold)
    return style.plot(
        figure,
        data,
        "The true components and ceiling in the model, for three spreads s of the difficulty.",
        f"Warmer decoding raises the run noise, lowers the spread of the chances and lifts the "
        f"ceiling. At T = {ends[0]:g} it has come down to {found}.",
        "Three panels of curves over temperature, one curve for each spread.",
    )


@style.styled
def estimates(study: pd.DataFrame) -> Plot:
    """Draw the ceilings that the study `temperature` estimates, around the true ones.

    Dots are medians, bars hold 90% of the estimates.
    """
    figure, axes = style.canvas(rest=4.0)
    top = 2 * study["ceiling"].max()
    for j, (spread, colour) in enumerate(COLOURS.items()):
        rows = study[study["spread"] == spread]
        axes.plot(rows["temperature"], rows["ceiling"], color=colour, lw=1, label=f"s = {spread:g}")
        x = rows["temperature"] * 1.05 ** (j - 1)
        low, middle, high = (rows[f"ceiling_{end}"].clip(upper=top) for end in ENDS)
        axes.vlines(x, low, high, colour, lw=2)
        axes.plot(x, middle, "o", color=colour, ms=4, clip_on=False)
        axes.plot(x[high == top], high[high == top], "^", color=colour, ms=6, clip_on=False)
    ceilings(axes, top)
    style.log_axis(axes, study["temperature"].min() / 1.1, study["temperature"].max() * 1.1)
    axes.set_xlabel(X)
    axes.set_ylabel("ceiling")
    axes.grid()
    figure.legend(loc="outside upper left", ncols=3)
    n, runs = study["n_problems"].iloc[0], study["n_runs"].iloc[0]
    endless = study["undefined"].max()
    return style.plot(
        figure,
        study,
        f"Ceilings estimated from {n} problems with {runs} runs (dots: medians; bars: 90 % of the "
        "estimates), and the true ones (lines).",
        "The higher the ceiling, the longer the bar. The estimate has no upper limit in at most "
        f"{percent(endless, 1)} of the data sets.",
        "Dots with bars around three rising curves.",
        "An arrow says that a bar goes on." if (study["ceiling_high"] > top).any() else "",
    )


def ceilings(axes: Axes, top: float) -> None:
    """Give ceilings a logarithmic axis from 1 up."""
    axes.set_yscale("log")
    axes.set_ylim(1, top)
    ticks = [t for t in (1, 1.5, 2, 3, 5, 10, 20, 50, 100) if t <= top]
    axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
