"""More runs or more problems: what a budget buys, and how little the choice of R matters."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np

from repeval.companion.plots import style
from repeval.companion.plots.style import INK, Plot
from repeval.report.format import count
from repeval.report.sentences import price as _price
from repeval.stats import allocation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from repeval.report.analysis import Analysis

# Prices of a problem in runs, one curve each.
PRICES = {1: style.PURPLE, 10: style.SKY, 100: style.GREEN, 1000: style.NEW}
UNDEFINED = (
    "What a run buys cannot be drawn: that needs two runs of a problem, some run noise, and pass "
    "rates that differ between problems by more than this noise."
)
WIDER = "interval wider than the best, %"


@style.styled
def cost_curve(analysis: Analysis, condition: str) -> Plot:
    """Draw the interval width at equal budget against the number of runs, at four prices.

    References
    ----------
    VC sections 3 ("Optimal R") and 5.3.
    """
    ratio = analysis.summary[condition].noise_ratio
    if ratio is None:
        return style.empty(UNDEFINED)
    at_hand = runs_at_hand(analysis, condition)
    best = {price: allocation.optimal_integer_runs(ratio, price) for price in PRICES}
    top = max(20, 2.5 * max(best.values()), 1.5 * at_hand)
    fine = np.geomspace(1, top, 300)
    counts = np.unique([*range(1, int(min(top, 30)) + 1), *best.values()])
    figure, axes = style.canvas(rest=3.6)
    for price, colour in PRICES.items():
        dot = {"color": colour, "clip_on": False}
        axes.plot(fine, _excess(fine, ratio, price), color=colour, label=f"{price:,}")
        if (real := allocation.optimal_runs(ratio, price)) >= 1:
            axes.plot([real], [0], "D", mfc="white", ms=7, zorder=3, **dot)
        axes.plot([best[price]], _excess([best[price]], ratio, price), "o", zorder=4, **dot)
    _axes(axes, (1, top), 60, "runs of each problem, R", WIDER)
    if at_hand > 1:
        axes.axvline(at_hand, color=INK, lw=0.8, ls=":")
        axes.annotate(
            f"{_runs(at_hand)},\nas here", (at_hand, 0.98 * 60), (4, 0), va="top", fontsize=9,
            textcoords="offset points", bbox={"fc": "white", "ec": "none", "pad": 1},
        )  # fmt: skip
    figure.legend(
        loc="outside upper left", ncols=4, title="price of a problem, in runs", alignment="left"
    )
    found = "; ".join(f"{b} at a price of {p:,}" for p, b in best.items())
    return style.plot(
        figure,
        [
            {"cost_ratio": price, "runs": r, "relative_width": 1 + excess / 100}
            for price in PRICES
            for r, excess in zip(counts, _excess(counts, ratio, price), strict=True)
        ],
        "Width of the interval for new problems at equal budget.",
        f"The best whole number of runs: {found}. Dots are these numbers, diamonds the optimum R* "
        "that need not be whole.",
        "Four curves over the number of runs, one for each price of a problem.",
    )


@style.styled
def best_runs(analysis: Analysis, condition: str) -> Plot:
    """Draw the best number of runs against the price of a problem, real and whole.

    References
    ----------
    VC section 3 for R*; runs are whole, so R+1 beat R only above R(R+1)σ_b²/μ_w.
    """
    ratio = analysis.summary[condition].noise_ratio
    if ratio is None:
        return style.empty(UNDEFINED)
    second = allocation.break_even(ratio, 1)
    prices = np.geomspace(second / 20, second * 50, 400)
    real = np.array([allocation.optimal_runs(ratio, p) for p in prices])
    whole = np.array([allocation.optimal_integer_runs(ratio, p) for p in prices])
    figure, axes = style.canvas(rest=3.3)
    axes.plot(prices, real, color=style.GREY, ls="--", label="R*, not rounded")
    axes.step(prices, whole, color=style.NEW, where="mid", label="best whole number of runs")
    axes.axvline(second, color=INK, lw=0.8, ls=":")
    note = f" a second run pays\n above {_price(second)} runs"
    axes.annotate(note, (second, whole.max()), va="top", fontsize=9)
    axes.yaxis.get_major_locator().set_params(integer=True)
    _axes(axes, prices, whole.max() * 1.08, "price of a problem, in runs", "runs of each problem")
    axes.legend(loc="center left")
    return style.plot(
        figure,
        {"cost_ratio": prices, "optimal_runs": real, "optimal_integer_runs": whole},
        "How often to run each problem, by its price.",
        f"A second run pays when a problem costs more than {_price(second)} runs, a third above "
        f"{_price(allocation.break_even(ratio, 2))}. R* passes 1 already at "
        f"{_price(allocation.cost_ratio_for(ratio, 1))}, but half a run cannot be bought.",
        "A dashed curve that grows with the root of the price, and a staircase.",
    )


@style.styled
def flatness(analysis: Analysis, condition: str) -> Plot:
    """Draw what the runs at hand cost in width, against the true price of a problem.

    References
    ----------
    VC section 5.3 for a price ten times higher and ten times lower.
    """
    ratio = analysis.summary[condition].noise_ratio
    if ratio is None:
        return style.empty(UNDEFINED)
    runs = runs_at_hand(analysis, condition)
    right = allocation.cost_ratio_for(ratio, runs)
    prices = right * np.geomspace(1e-2, 1e2, 401)
    excess = np.array([_excess([runs], ratio, p)[0] for p in prices])
    figure, axes = style.canvas(rest=3.0)
    axes.plot(prices, excess, color=style.NEW)
    marks = {f: _excess([runs], ratio, right * f)[0] for f in (0.1, 1, 10)}
    for factor, value in marks.items():
        axes.plot([right * factor], [value], "o", color=INK, ms=5, clip_on=False, zorder=3)
        axes.annotate(
            f"{value:.1f} %", (right * factor, value), (0, 8), textcoords="offset points",
            ha="center" if factor > 0.5 else "left", fontsize=9,
        )  # fmt: skip
    _axes(axes, prices, max(excess.max() * 1.05, 1), "true price of a problem, in runs", WIDER)
    return style.plot(
        figure,
        {"cost_ratio": prices, "width_excess": excess / 100},
        f"What {_runs(runs)} a problem cost in width, by the true price of a problem.",
        f"{_runs(runs)} would be best if a problem cost {_price(right)} runs. If it costs ten "
        f"times that, the interval is {marks[10]:.1f} % wider than it could be (too few runs); if "
        f"it costs a tenth, {marks[0.1]:.1f} % (too many).",
        "A curve that touches zero at the price for which the runs are best.",
    )


def runs_at_hand(analysis: Analysis, condition: str) -> float:
    """Return the runs per problem: the common number, else the harmonic mean over systems."""
    return statistics.harmonic_mean([s.runs_harmonic for s in analysis.ranked(condition)])


def _excess(runs, ratio: float, price: float) -> np.ndarray:
    """Return by how many percent the interval is wider than with R* runs, or one if R* < 1."""
    floor = max(1.0, allocation.optimal_runs(ratio, price))
    wide = allocation.relative_width([*runs, floor], ratio, price)
    return 100 * (wide[:-1] / wide[-1] - 1)


def _axes(axes: Axes, x, top: float, xlabel: str, ylabel: str) -> None:
    style.log_axis(axes, x[0], x[-1])
    axes.set_ylim(0, top)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(axis="y")


def _runs(runs: float) -> str:
    return count(f"{runs:.1f}".removesuffix(".0"), "run")
