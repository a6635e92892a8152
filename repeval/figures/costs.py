"""More runs or more problems: what a budget buys, and how little the choice of R matters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repeval import allocation
from repeval.figures import style
from repeval.figures.style import Plot
from repeval.report import pooled_ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from repeval.analysis import Analysis

# Prices of a problem in runs, one curve each.
PRICES = (1, 10, 100, 1000)
COLOURS = (style.PURPLE, style.SKY, style.GREEN, style.NEW)
UNDEFINED = (
    "What a run buys cannot be drawn: that needs two runs of a problem, some run noise, and pass "
    "rates that differ between problems by more than this noise."
)
TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 100_000)


@style.styled
def cost_curve(analysis: Analysis, condition: str) -> Plot:
    """Draw the interval width at equal budget against the number of runs, at four prices.

    References
    ----------
    VC sections 3 ("Optimal R") and 5.3.
    """
    columns = ["cost_ratio", "runs", "relative_width"]
    ratio = pooled_ratio(analysis.summary[condition])
    if ratio is None:
        return style.empty(UNDEFINED, columns)
    at_hand = runs_at_hand(analysis, condition)
    best = [allocation.optimal_integer_runs(ratio, p) for p in PRICES]
    top = max(20, 2.5 * best[-1], 1.5 * at_hand)
    fine = np.geomspace(1, top, 300)
    figure, axes = style.canvas(rest=3.6)
    data = []
    for price, whole, colour in zip(PRICES, best, COLOURS, strict=True):
        axes.plot(fine, _excess(fine, ratio, price), color=colour, label=f"{price:,}")
        real = allocation.optimal_runs(ratio, price)
        if real >= 1:
            axes.plot([real], [0], "D", mfc="white", color=colour, ms=7, clip_on=False, zorder=3)
        axes.plot(
            [whole], _excess([whole], ratio, price), "o", color=colour, clip_on=False, zorder=4
        )
        counts = np.unique(np.append(np.arange(1, min(top, 30) + 1), best))
        width = 1 + _excess(counts, ratio, price) / 100
        data += [(price, int(r), w) for r, w in zip(counts, width, strict=True)]
    axes.set_xscale("log")
    axes.set_xlim(1, top)
    axes.set_ylim(0, 60)
    _ticks(axes, 1, top)
    axes.set_xlabel("runs of each problem, R")
    axes.set_ylabel("interval wider than the best, %")
    axes.grid(axis="y")
    if at_hand > 1:
        _mark_runs(axes, at_hand)
    figure.legend(
        loc="outside upper left", ncols=4, title="price of a problem, in runs", alignment="left"
    )
    found = "; ".join(f"{b} at a price of {p:,}" for b, p in zip(best, PRICES, strict=True))
    text = (
        f"The best whole number of runs: {found}. Dots are these numbers, diamonds the optimum R* "
        "that need not be whole."
    )
    return Plot(
        figure,
        f"Width of the interval for new problems at equal budget. {text}",
        f"Four curves over the number of runs, one for each price of a problem. {text}",
        pd.DataFrame(data, columns=columns),
    )


@style.styled
def best_runs(analysis: Analysis, condition: str) -> Plot:
    """Draw the best number of runs against the price of a problem, real and whole.

    References
    ----------
    VC section 3 for R*; runs are whole, so R+1 beat R only above R(R+1)σ_b²/μ_w.
    """
    columns = ["cost_ratio", "optimal_runs", "optimal_integer_runs"]
    ratio = pooled_ratio(analysis.summary[condition])
    if ratio is None:
        return style.empty(UNDEFINED, columns)
    second = allocation.break_even(ratio, 1)
    low, high = second / 20, second * 50
    prices = np.geomspace(low, high, 400)
    real = np.array([allocation.optimal_runs(ratio, p) for p in prices])
    whole = np.array([allocation.optimal_integer_runs(ratio, p) for p in prices])
    figure, axes = style.canvas(rest=3.3)
    axes.plot(prices, real, color=style.GREY, ls="--", label="R*, not rounded")
    axes.step(prices, whole, color=style.NEW, where="mid", label="best whole number of runs")
    axes.axvline(second, color=style.INK, lw=0.8, ls=":")
    axes.annotate(
        f" a second run pays\n above {_price(second)} runs", (second, whole.max()), va="top",
        fontsize=9,
    )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(0, whole.max() * 1.08)
    axes.yaxis.get_major_locator().set_params(integer=True)
    _ticks(axes, low, high)
    axes.set_xlabel("price of a problem, in runs")
    axes.set_ylabel("runs of each problem")
    axes.grid(axis="y")
    axes.legend(loc="center left")
    first = allocation.cost_ratio_for(ratio, 1)
    text = (
        f"A second run pays when a problem costs more than {_price(second)} runs, a third above "
        f"{_price(allocation.break_even(ratio, 2))}. R* passes 1 already at {_price(first)}, "
        "but half a run cannot be bought."
    )
    return Plot(
        figure,
        f"How often to run each problem, by its price. {text}",
        f"A dashed curve that grows with the root of the price, and a staircase. {text}",
        pd.DataFrame({"cost_ratio": prices, "optimal_runs": real, "optimal_integer_runs": whole}),
    )


@style.styled
def flatness(analysis: Analysis, condition: str) -> Plot:
    """Draw what the runs at hand cost in width, against the true price of a problem.

    References
    ----------
    VC section 5.3 for a price ten times higher and ten times lower.
    """
    columns = ["cost_ratio", "width_excess"]
    ratio = pooled_ratio(analysis.summary[condition])
    if ratio is None:
        return style.empty(UNDEFINED, columns)
    runs = runs_at_hand(analysis, condition)
    right = allocation.cost_ratio_for(ratio, runs)
    prices = right * np.geomspace(1e-2, 1e2, 401)
    excess = np.array([_excess([runs], ratio, p)[0] for p in prices])
    figure, axes = style.canvas(rest=3.0)
    axes.plot(prices, excess, color=style.NEW)
    marks = {f: _excess([runs], ratio, right * f)[0] for f in (0.1, 1, 10)}
    for factor, value in marks.items():
        axes.plot([right * factor], [value], "o", color=style.INK, ms=5, clip_on=False, zorder=3)
        axes.annotate(
            f"{value:.1f} %", (right * factor, value), (0, 8), textcoords="offset points",
            ha="center" if factor > 0.5 else "left", fontsize=9,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(prices[0], prices[-1])
    axes.set_ylim(0, max(excess.max() * 1.05, 1))
    _ticks(axes, prices[0], prices[-1])
    axes.set_xlabel("true price of a problem, in runs")
    axes.set_ylabel("interval wider than the best, %")
    axes.grid(axis="y")
    text = (
        f"{_runs(runs)} would be best if a problem cost {_price(right)} runs. If it costs ten "
        f"times that, the interval is {marks[10]:.1f} % wider than it could be (too few runs); if "
        f"it costs a tenth, {marks[0.1]:.1f} % (too many)."
    )
    return Plot(
        figure,
        f"What {_runs(runs)} a problem cost in width, by the true price of a problem. {text}",
        f"A curve that touches zero at the price for which the runs are best. {text}",
        pd.DataFrame({"cost_ratio": prices, "width_excess": excess / 100}),
    )


def runs_at_hand(analysis: Analysis, condition: str) -> float:
    """Return the runs per problem: the common number, else the harmonic mean over systems."""
    runs = [s.runs_harmonic for s in analysis.ranked(condition)]
    return len(runs) / math.fsum(1 / r for r in runs)


def _excess(runs, ratio: float, price: float) -> np.ndarray:
    """Return by how many percent the interval is wider than with R* runs, or one if R* < 1."""
    floor = max(1.0, allocation.optimal_runs(ratio, price))
    wide = allocation.relative_width([*runs, floor], ratio, price)
    return 100 * (wide[:-1] / wide[-1] - 1)


def _mark_runs(axes: Axes, runs: float) -> None:
    axes.axvline(runs, color=style.INK, lw=0.8, ls=":")
    axes.annotate(
        f"{_runs(runs)},\nas here", (runs, 0.98 * axes.get_ylim()[1]), (4, 0), va="top", fontsize=9,
        textcoords="offset points", bbox={"fc": "white", "ec": "none", "pad": 1},
    )  # fmt: skip


def _ticks(axes: Axes, low: float, high: float) -> None:
    """Write plain numbers on a logarithmic axis, few enough not to touch."""
    ticks = [t / 1000 for t in TICKS[:9]] + list(TICKS)
    ticks = sorted({t for t in ticks if low <= t <= high})
    if len(ticks) > 9:
        ticks = [t for t in ticks if math.log10(t).is_integer()]
    if len(ticks) < 2:
        ticks = [low, high]
    axes.set_xticks(ticks, [f"{t:,.3g}" if t < 1 else f"{t:,.0f}" for t in ticks])
    axes.minorticks_off()


def _price(price: float) -> str:
    """Return a price with about two digits."""
    return f"{price:.2g}" if price < 10 else f"{price:,.0f}"


def _runs(runs: float) -> str:
    whole = abs(runs - round(runs)) < 1e-9
    number = f"{runs:.0f}" if whole else f"{runs:.1f}"
    return f"{number} run" if number == "1" else f"{number} runs"
