"""Figures of pairs: who is told apart, who leads, and how much repeating helps a difference."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from repeval import report
from repeval.figures import style
from repeval.figures.style import FAINT, GREY, INK, NEW, THESE, Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from repeval.analysis import Analysis
    from repeval.rows import Limits, Pair

MOST = 40
NO_PAIR = "There is no pair to compare: that takes two systems with two problems in common."
LEADS = LinearSegmentedColormap.from_list("leads", ["#D9A3C3", "white", "#63BFA3"])
TOP = 100.0


@style.styled
def adjacent_strip(analysis: Analysis, condition: str) -> Plot:
    """Draw the lead of every system over its neighbour, for both questions.

    Parameters
    ----------
    analysis : Analysis
    condition : str

    References
    ----------
    VC section 5.1; one-level law.
    """
    everyone = analysis.adjacent(condition)
    pairs = everyone[:MOST]
    if not pairs:
        return style.empty(NO_PAIR)
    figure, axes = style.canvas(len(pairs), each=0.43, rest=1.2)
    intervals = [i for p in pairs for i in (p.fixed.interval, p.interval) if i]
    ends = [100 * v for i in intervals for v in i] + [100 * p.difference for p in pairs]
    low, high = min(0, *ends), max(0, *ends)
    room = 0.04 * (high - low or 1)
    axes.set_xlim(low - room, high + room)
    _name_pairs(axes, pairs)
    axes.axvline(0, color=INK, lw=0.8, zorder=0)
    for y, p in enumerate(pairs):
        for shift, limits, resolved, colour in (
            (-0.17, p.fixed.interval, p.fixed.resolved, THESE),
            (0.17, p.interval, p.resolved, NEW),
        ):
            if limits is not None:
                _lead(axes, y + shift, p.difference, limits, bool(resolved), colour)
        axes.annotate(
            style.percent(p.p_greater), (1, y), (38, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", va="center", ha="right", fontsize=9,
        )  # fmt: skip
    axes.annotate(
        "leads in", (1, 1), (38, 4), xycoords="axes fraction", textcoords="offset points",
        ha="right", fontsize=9,
    )  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    axes.set_xlabel("lead of the upper name, points")
    marks = [
        Line2D([], [], color=THESE, lw=3, label="these problems"),
        Line2D([], [], color=NEW, lw=3, label="new ones like them"),
        Line2D([], [], color=GREY, lw=3, marker="o", label="told apart"),
        Line2D([], [], color=GREY, lw=1, marker="o", mfc="white", label="not"),
    ]
    style.legend(figure, marks)
    told = "; ".join(f"on {k}: {v}" for k, v in report.apart(analysis, condition).items())
    what = (
        f"Neighbours on the leaderboard, the upper name ahead: its lead with "
        f"{style.level(analysis)} intervals for two questions. Told apart, thick and "
        f"filled, means that the interval leaves out zero."
    )
    end = "Right: share of resamples of the problems in which the upper name leads."
    return Plot(
        figure,
        " ".join(filter(None, (what, f"{_capital(told)}.", end, _cut(pairs, everyone, "pairs")))),
        f"Strip plot of {len(pairs)} pairs of neighbours with two intervals each. "
        f"{_capital(told)}.",
        _table(pairs, "difference", "p_greater").assign(
            **_ends("these", [p.fixed.interval for p in pairs]),
            apart_these=[p.fixed.resolved for p in pairs],
            **_ends("new", [p.interval for p in pairs]),
            apart_new=[p.resolved for p in pairs],
        ),
    )


@style.styled
def leads_matrix(analysis: Analysis, condition: str) -> Plot:
    """Draw P(row > column) by the paper's two-level law for every pair.

    Parameters
    ----------
    analysis : Analysis
    condition : str

    References
    ----------
    VC Figure 1.
    """
    ranked = [s.model for s in analysis.ranked(condition)]
    place = {model: i for i, model in enumerate(ranked[:MOST])}
    pairs = [
        p for p in analysis.pairs
        if p.condition == condition and p.model_a in place and p.model_b in place
    ]  # fmt: skip
    if not pairs:
        return style.empty(NO_PAIR)
    n = len(place)
    leads = np.full((n, n), np.nan)
    for p in pairs:
        i, j = place[p.model_a], place[p.model_b]
        leads[i, j] = p.two_level.p_greater
        leads[j, i] = 1 - p.two_level.p_greater - p.two_level.p_tie
    figure, axes = style.canvas(n, each=max(0.155, min(0.45, 4.2 / n)), rest=1.3)
    image = axes.imshow(
        np.ma.masked_invalid(leads), cmap=LEADS, vmin=0, vmax=1, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    for p in pairs:
        i, j = place[p.model_a], place[p.model_b]
        if not p.two_level.resolved:
            for x, y in ((i, j), (j, i)):
                axes.text(x, y, "~", ha="center", va="center", fontsize=11 if n <= 20 else 7)
        if p.adjacent:
            for x, y in ((i, j), (j, i)):
                axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, ec=INK, lw=0.9))
    labels = enumerate(style.names(list(place)), 1)
    style.label_rows(axes, [f"{label}\u00a0\u00a0{i}" for i, label in labels])
    axes.set_ylim(n - 0.5, -0.5)
    ticks = range(0, n, 1 if n <= 20 else 5)
    axes.set_xticks(ticks, [str(i + 1) for i in ticks])
    axes.xaxis.tick_top()
    axes.tick_params(axis="x", length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, location="bottom", shrink=0.6, aspect=30, pad=0.02)
    bar.set_ticks([0, 0.5, 1], labels=["0", "one half", "1"])
    bar.set_label("share of resamples in which the row leads the column")
    bar.outline.set_visible(False)
    neighbours = [p for p in pairs if p.adjacent]
    open_ = sum(not p.two_level.resolved for p in neighbours)
    counts = (
        f"{open_} of {len(neighbours)} pairs of neighbours are not told apart, and "
        f"{sum(not p.two_level.resolved for p in pairs)} of all {len(pairs)} pairs"
    )
    return Plot(
        figure,
        f"How often the row leads the column when problems, then runs, are resampled (the paper's "
        f"two-level law), best system first; numbers are places. A tilde marks a pair not told "
        f"apart at {style.level(analysis)}, a frame marks neighbours. "
        f"On new problems {counts}. {_cut(place, ranked, 'systems')}".strip(),
        f"Matrix of {n} by {n} systems: by the two-level law {counts}.",
        pd.DataFrame(
            [(p.model_a, p.model_b, p.adjacent, p.two_level.p_greater, p.two_level.p_tie,
              p.two_level.resolved) for p in pairs],
            columns=["model_a", "model_b", "adjacent", "p_greater", "p_tie", "resolved"],
        ),
    )  # fmt: skip


@style.styled
def difference_ceilings(analysis: Analysis, condition: str) -> Plot:
    """Draw the ceiling of each neighbours' difference beside those of their two scores.

    Parameters
    ----------
    analysis : Analysis
    condition : str

    References
    ----------
    Equation 2 of VC, applied to the difference of pass rates on common problems.
    """
    everyone = analysis.adjacent(condition)
    pairs = everyone[:MOST]
    if not pairs:
        return style.empty(NO_PAIR)
    if all(p.between is None for p in pairs):
        return style.empty("A ceiling needs two runs of a problem, and these data have one.")
    scores = {s.model: s for s in analysis.ranked(condition)}
    own = [[scores[p.model_a].ceiling, scores[p.model_b].ceiling] for p in pairs]
    finite = [v for row in own for v in row if v] + [p.ceiling for p in pairs if p.ceiling]
    ends = [v for p in pairs if p.ceiling_interval for v in p.ceiling_interval if v]
    highest = max(finite, default=1)
    top = min(TOP, max(2.0, 1.25 * highest, min(max(ends, default=1), 4 * highest)))
    figure, axes = style.canvas(len(pairs), each=0.43, rest=1.2)
    axes.set_xscale("log")
    axes.set_xlim(0.94, top)
    style.log_ticks(axes, top)
    _name_pairs(axes, pairs)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    for y, (p, row) in enumerate(zip(pairs, own, strict=True)):
        style.span(axes, y, p.ceiling_interval, NEW, width=1.6)
        for value, model in zip(row, (p.model_a, p.model_b), strict=True):
            if scores[model].between is not None:
                style.point(axes, y, value, "o", color=THESE, mfc="white")
        if p.between is not None:
            style.point(axes, y, p.ceiling, "D", color=NEW)
    axes.set_xlabel("ceiling: variance from one run over variance from endless runs")
    marks = [
        Line2D([], [], ls="", marker="o", mfc="white", color=THESE, label="the two scores"),
        Line2D([], [], marker="D", color=NEW, label="their difference"),
    ]
    beyond = any(p.ceiling_interval and (p.ceiling_interval[1] or np.inf) > top for p in pairs)
    if beyond:
        marks.append(Line2D([], [], ls="", marker=">", color=NEW, label="goes on"))
    style.legend(figure, marks)
    edge = sum(p.between is not None and (p.ceiling or np.inf) > top for p in pairs)
    open_ = sum(p.ceiling_interval is not None and None in p.ceiling_interval for p in pairs)
    known = [p.ceiling or np.inf for p in pairs if p.between is not None]
    higher = sum(
        p.between is not None and None not in row and (p.ceiling or np.inf) > max(row)
        for p, row in zip(pairs, own, strict=True)
    )
    counts = f"{higher} of {len(pairs)} differences have a higher ceiling than both scores"
    middle = statistics.median(known)
    if np.isfinite(middle):
        counts += f"; their median is {middle:.2f}"
    caption = [
        "Ceilings of two neighbours' scores, and of their difference with its "
        f"{style.level(analysis)} interval, on a logarithmic scale.",
        f"{counts}.",
        f"Hollow, at the right edge: {edge} whose ceiling lies beyond it or has no upper limit."
        if edge else "",
        f"Intervals without an upper limit: {open_} of {len(pairs)}." if open_ else "",
        _cut(pairs, everyone, "pairs"),
    ]  # fmt: skip
    return Plot(
        figure,
        " ".join(filter(None, caption)),
        f"Dot plot of ceilings for {len(pairs)} pairs of neighbours. {counts}.",
        _table(pairs, "ceiling").assign(
            **_ends("ceiling", [p.ceiling_interval for p in pairs]),
            ceiling_a=[row[0] for row in own],
            ceiling_b=[row[1] for row in own],
        ),
    )


def _lead(axes: Axes, y: float, value: float, limits: Limits, apart: bool, colour: str) -> None:
    ends = None if limits is None else tuple(100 * v for v in limits)
    style.span(axes, y, ends, colour, width=3.2 if apart else 1.2)
    face = colour if apart else "white"
    axes.plot([100 * value], [y], "o", ms=6, color=colour, mfc=face, zorder=3)


def _name_pairs(axes: Axes, pairs: list[Pair]) -> None:
    labels = style.names([m for p in pairs for m in (p.model_a, p.model_b)], 24)
    style.label_rows(axes, list(map("\n".join, zip(labels[::2], labels[1::2], strict=True))))
    for y in range(len(pairs) - 1):
        axes.axhline(y + 0.5, color=FAINT, lw=0.6, zorder=0)


def _table(pairs: list[Pair], *keys: str) -> pd.DataFrame:
    return pd.DataFrame(
        {key: [getattr(p, key) for p in pairs] for key in ("model_a", "model_b", *keys)}
    )


def _ends(name: str, limits: list[Limits]) -> dict[str, list[float | None]]:
    both = [(None, None) if i is None else i for i in limits]
    return {f"{name}_low": [low for low, _ in both], f"{name}_high": [high for _, high in both]}


def _cut(shown, everyone, what: str) -> str:
    if len(shown) == len(everyone):
        return ""
    return f"Drawn are the first {len(shown)} of {len(everyone)} {what}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
