"""N problems with R runs each: what runs narrow and cost, and what a second level adds."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from repeval.companion.ledger.entries import paper
from repeval.companion.plots import style
from repeval.companion.plots.costs import runs_at_hand
from repeval.companion.plots.strategies import icc
from repeval.companion.plots.style import INK, Plot
from repeval.companion.studies.strategies import GRID
from repeval.report import sentences
from repeval.report.format import percent
from repeval.stats import allocation

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis

# Runs of the curves of `two_levels`, and their colours.
CURVES = {2: "#C4C4C4", 3: "#A0A0A0", 5: "#6A6A6A", 10: INK}
# Who reports which kind of figure, and the colour of the mark.
PLACES = {
    "the paper, scores": style.NEW,
    "the post, its simulation": style.PURPLE,
    "the post, differences": style.GREEN,
    "here, scores": style.SKY,
    "here, differences": style.THESE,
}


def places(analysis: Analysis, condition: str) -> pd.DataFrame:
    """Return the ICCs of both texts and of the data at hand, and what two levels add there.

    Returns
    -------
    DataFrame
        One row a figure: `where`, a key of `PLACES`; `icc`, as estimated; `runs`, for the data at
        hand the harmonic mean; `inflation` by the formula, an ICC below zero taken as zero.
    """
    ledger = paper()
    printed = {
        "the paper, scores": ("vc-t6-icc-", ledger["vc-s4-runs"].value),
        "the post, differences": ("bs-rho-", ledger["bs-mmlu-k"].value),
    }
    rows = [
        (where, entry.value, runs)
        for where, (start, runs) in printed.items()
        for key, entry in ledger.items()
        if key.startswith(start) and (key.endswith("-rho") or start == "vc-t6-icc-")
    ]
    rows.append(("the post, its simulation", icc("accuracy"), max(k for _, k in GRID)))
    runs = runs_at_hand(analysis, condition)
    own = {"here, scores": sentences.counted(analysis, condition),
           "here, differences": analysis.adjacent(condition)}  # fmt: skip
    rows += [(w, r.icc, runs) for w, found in own.items() for r in found if r.icc is not None]
    table = pd.DataFrame(rows, columns=["where", "icc", "runs"])
    table["inflation"] = allocation.inflation(table["icc"].clip(0, 1), table["runs"])
    return table


@style.styled
def two_levels(analysis: Analysis, condition: str) -> Plot:
    """Draw what a second level of resampling adds to a width against the ICC, and who is where.

    References
    ----------
    VC Appendix D; BS, "How general are these results?".
    """
    found = places(analysis, condition)
    shown = {w: part for w in PLACES if len(part := found[found["where"] == w])}
    figure = Figure(figsize=(style.WIDTH, 5.0), layout="constrained")
    top, axes = figure.subplots(2, 1, sharex=True, height_ratios=[2.2, 1])
    fine = np.linspace(0, 1, 201)
    for runs, colour in CURVES.items():
        wider = 100 * (allocation.inflation(fine, runs) - 1)
        top.plot(fine, wider, color=colour, lw=1.5, label=str(runs), zorder=1)
    said = []
    for y, (where, part) in enumerate(shown.items()):
        colour, x = PLACES[where], part["icc"].clip(0, 1)
        axes.plot(x, np.full(len(x), y), "o", color=colour, ms=5, alpha=0.8, mew=0, clip_on=False)
        middle = part["inflation"].median() - 1
        rho = statistics.median(x)
        mark = {"color": colour, "mec": INK, "ms": 8, "zorder": 3, "clip_on": False}
        top.plot([rho], [100 * (allocation.inflation(rho, part["runs"].iloc[0]) - 1)], "D", **mark)
        note = f"+{percent(middle, 1)}"
        axes.annotate(
            note, (1.02, y), xycoords=("axes fraction", "data"), va="center", fontsize=9
        )  # fmt: skip
        said.append(f"{where} {percent(middle, 1)}")
    style.label_rows(axes, [*shown])
    axes.set_xlim(0, 1)
    axes.set_xlabel("ICC")
    axes.grid(axis="x")
    top.set_ylim(0)
    top.set_ylabel("wider by two levels, %")
    top.grid(axis="y")
    figure.legend(loc="outside upper left", ncols=5, title="runs of each problem", alignment="left")
    negative = int((found["icc"] < 0).sum())
    return style.plot(
        figure,
        found,
        "By how much redrawing runs as well widens an interval for new problems, by the ICC of the "
        "figure. Dots are single figures, a diamond is the median of each row.",
        f"Median widening: {'; '.join(said)}.",
        "Falling curves over the ICC for four numbers of runs, and below them a row of dots for "
        "each kind of figure.",
        f"Below zero, and drawn at zero: {negative}." * bool(negative),
    )


def level_table(analysis: Analysis, condition: str) -> pd.DataFrame:
    """Return what two levels do to intervals, by text and kind of figure."""
    found, rows = places(analysis, condition), []
    level = analysis.settings.level
    for where in PLACES:
        if (part := found[found["where"] == where]).empty:
            continue
        wider, rho = part["inflation"].median(), part["icc"]
        rows.append(
            {
                "figure": where,
                "number": len(part),
                "ICC": " to ".join(dict.fromkeys(f"{v:.2f}" for v in (rho.min(), rho.max()))),
                "wider by": percent(wider - 1, 1),
                "at most": percent(part["inflation"].max() - 1, 1),
                f"covers, for {percent(level)}": percent(
                    float(allocation.large_sample_coverage(wider, level)), 1
                ),
                "problems lost": percent(1 - wider**-2),
            }
        )
    return pd.DataFrame(rows)


def advice(analysis: Analysis, condition: str) -> str:
    """Say what a second level adds here, to a score and to a difference."""
    found = places(analysis, condition)
    said = []
    for where, what in (("here, scores", "a score"), ("here, differences", "a difference")):
        if len(part := found[found["where"] == where]):
            wider = part["inflation"].median()
            said.append(
                f"the interval of {what} would be {percent(wider - 1, 1)} longer, as long as with "
                f"{percent(1 - wider**-2)} fewer problems"
            )
    if not said:
        return "For these data nothing can be said: it takes two runs of a problem."
    middle = " (medians)" if len(found[found["where"].str.startswith("here")]) > len(said) else ""
    return f"With two levels {'; '.join(said)}{middle}."
