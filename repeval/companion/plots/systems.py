"""Every system as a point: its run noise against its difficulty spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from repeval.companion.plots import style
from repeval.companion.plots.style import GREY, NEW, THESE, Plot
from repeval.report.format import NEEDS_RUNS, count

if TYPE_CHECKING:
    import pandas as pd

    from repeval.report.analysis import Analysis

CEILINGS = (1.1, 1.2, 1.5, 2, 3, 5, 10)


@style.styled
def plane(analysis: Analysis, cells: pd.DataFrame) -> Plot:
    """Draw the systems of `words.systems.cells` by their components, on lines of equal ceiling.

    References
    ----------
    VC Tables 2 and 3.
    """
    known = cells[cells["within"].notna()]
    if known.empty:
        return style.empty(f"No components to draw: that {NEEDS_RUNS}.")
    figure, axes = style.canvas(rest=4.2)
    right = max(1.15 * known["within"].max(), 0.01)
    low, high = known["between"].min(), max(known["between"].max(), 0.01)
    bottom, top = min(0.0, 1.2 * low), 1.12 * high
    axes.set(xlim=(0, right), ylim=(bottom, top))
    for ceiling in CEILINGS:
        slope = 1 / (ceiling - 1)
        x = min(right, top / slope)
        axes.plot([0, x], [0, slope * x], color=style.FAINT, lw=1, zorder=0)
        axes.annotate(f"{ceiling:g}", (x, slope * x), (2, 2), color=GREY, fontsize=8,
                      textcoords="offset points", annotation_clip=False)  # fmt: skip
    first = known["condition"] == analysis.condition
    shown = "systems" if first.all() else style.name(analysis.condition)
    for rows, look, label in (
        (known[first], {"color": NEW}, shown),
        (known[~first], {"color": THESE, "mfc": "none"}, "other conditions"),
    ):
        if len(rows):
            axes.plot(rows["within"], rows["between"], "o", clip_on=False, label=label, **look)
    axes.set_xlabel("run noise, μ_w")
    axes.set_ylabel("difficulty spread, σ_b²")
    figure.legend(loc="outside upper left", ncols=2, handletextpad=0.2)
    finite = known[known["ceiling"].notna()].sort_values("ceiling", kind="stable")
    ends = finite.iloc[np.unique([0, len(finite) - 1])] if len(finite) else finite
    found = "; ".join(
        f"ceiling {row.ceiling:.2f} for {style.name(row.model, 60)}"
        + ("" if first.all() else f" ({style.name(row.condition, 60)})")
        for row in ends.itertuples()
    )
    return style.plot(
        figure,
        cells,
        "Every system by its two components. On a grey line all have the ceiling that it names.",
        f"From one end to the other: {found}." if found else "No system has a finite ceiling.",
        f"Scatter plot of {count(len(known), 'system')} over rays from the origin.",
        "Below zero the spread is an estimate without a ceiling." if low < 0 else "",
    )
