"""N problems with R runs each: what runs narrow and cost, and what a second level adds."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from repeval.companion.ledger.entries import paper
from repeval.companion.plots import style
from repeval.companion.plots.strategies import icc
from repeval.companion.plots.style import GREY, INK, Plot
from repeval.companion.studies.strategies import GRID
from repeval.report import sentences
from repeval.report.format import percent
from repeval.report.sentences import price
from repeval.stats import allocation

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis

ICCS = (0, 0.1, 0.3, 0.6, 0.9)
RUNS = np.arange(1, 11)
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


@style.styled
def narrowing(study: pd.DataFrame) -> Plot:
    """Draw what k runs leave of a width, for several ICCs, and what the study observed.

    References
    ----------
    BS, "Choosing N and k".
    """
    found, rho = observed(study), icc("accuracy")
    found = found[found["n"] == 200]
    figure, axes = style.canvas(rest=3.4)
    for value in (*ICCS, rho):
        post = value == rho
        colour, factor = (style.NEW if post else GREY), allocation.width_factor(value, RUNS)
        axes.plot(RUNS, factor, color=colour, lw=2 if post else 1.2)
        axes.plot([10.2, 10.7], [value**0.5] * 2, color=colour, lw=2 if post else 1.2)
        axes.annotate(
            f"ICC {value:.3f}" if post else f"ICC {value}", (10.8, value**0.5), fontsize=9,
            va="center", color=colour, annotation_clip=False,
        )  # fmt: skip
    axes.plot(found["k"], found["observed"], "o", color=INK, ms=5, zorder=3)
    axes.set_xlim(1, 10.7)
    axes.set_ylim(0, 1.04)
    axes.set_xticks([*RUNS, 10.45], [*RUNS, "∞"])
    axes.set_xlabel("runs of each input, k")
    axes.set_ylabel("width, that of one run = 1")
    axes.grid(axis="y")
    said = ", ".join(
        f"{row.predicted:.3f} and {row.observed:.3f} (k = {row.k})" for row in found.itertuples()
    )
    return style.plot(
        figure,
        [{"icc": v, "runs": k, "factor": allocation.width_factor(v, k)}
         for v in (*ICCS, rho) for k in RUNS],
        "Width of the interval by the number of runs, and its floor for endless runs. Orange is "
        "the post's simulation; the dots are widths by cluster over that by IID, observed with "
        "200 inputs.",
        f"Predicted and observed: {said}.",
        f"{len(ICCS) + 1} falling curves, the lower the smaller the ICC.",
        of_data=False,
    )  # fmt: skip


def observed(study: pd.DataFrame) -> pd.DataFrame:
    """Return predicted and observed width factors of the study, with the error of the latter."""
    rows = study.query("statistic == 'accuracy' and interval == 'percentile'")
    single = rows[rows["strategy"] == "iid"].set_index("n")
    table = []
    for row in rows[rows["strategy"] == "cluster"].sort_values(["n", "k"]).itertuples():
        base = single.loc[row.n]
        factor = row.width / base["width"]
        error = factor * np.hypot(row.width_se / row.width, base["width_se"] / base["width"])
        predicted = float(allocation.width_factor(icc("accuracy"), row.k))
        table.append((row.n, row.k, predicted, factor, error))
    return pd.DataFrame(table, columns=["n", "k", "predicted", "observed", "standard error"])


def misses(study: pd.DataFrame) -> str:
    """Say how far observed factors are from predicted ones."""
    found = observed(study)
    off = (found["observed"] - found["predicted"]).abs()
    worst = (off / found["standard error"]).max()
    return (
        f"The two differ by at most {percent((off / found['predicted']).max(), 1)} of a factor "
        f"and by at most {worst:.1f} Monte Carlo standard errors."
    )


@style.styled
def best_runs(analysis: Analysis, condition: str) -> Plot:
    """Draw the best number of runs against the price of a problem, at three ICCs.

    References
    ----------
    VC section 3 for R*; BS, "Choosing N and k".
    """
    figure, axes = style.canvas(rest=3.2)
    prices, said, rows = np.geomspace(0.02, 1000, 500), [], []
    colours = (style.NEW, style.THESE, style.SKY)
    for (what, (rho, systems)), colour in zip(_three(analysis, condition), colours, strict=False):
        # A repetition of a pair costs two runs.
        ratio = (1 / rho - 1) / systems
        best = [allocation.optimal_integer_runs(ratio, p) for p in prices]
        axes.step(prices, best, color=colour, where="mid", label=f"{what} ({rho:.2f})")
        second, low, high = (price(allocation.break_even(ratio, r)) for r in (1, 4, 5))
        said.append(
            f"ICC {rho:.2f}, {what}: a second run pays above {second} runs, five are best from "
            f"{low} to {high}"
        )
        rows.append(pd.DataFrame({"icc": rho, "cost_ratio": prices, "runs": best}))
    style.log_axis(axes, prices[0], prices[-1])
    axes.set_ylim(0, 21)
    axes.set_yticks([1, 5, 10, 15, 20])
    axes.set_xlabel("price of a problem, in runs")
    axes.set_ylabel("best number of runs")
    axes.grid(axis="y")
    axes.legend(loc="upper left", title="ICC of", alignment="left")
    return style.plot(
        figure,
        pd.concat(rows),
        "The best whole number of runs by the price of a problem, for figures with three ICCs.",
        f"{'; '.join(said)}.",
        "Rising staircases, the further to the left the smaller the ICC.",
    )


def _three(analysis: Analysis, condition: str) -> list[tuple[str, tuple[float, int]]]:
    """Return the ICC of the post's simulation, and the median ones of differences and scores."""
    found = analysis.summary[condition]
    ceilings = (
        ("differences here, by the median ceiling", found.adjacent_ceiling, 2),
        ("scores here, by the median ceiling", found.ceiling and found.ceiling[0], 1),
    )
    known = [(what, (1 / c, systems)) for what, c, systems in ceilings if c is not None and c > 1]
    return [("the post's simulation", (icc("accuracy"), 1)), *known]


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
    runs = statistics.harmonic_mean([s.runs_harmonic for s in analysis.ranked(condition)])
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
