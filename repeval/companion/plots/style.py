"""What all figures share: the result type, one look, and drawing of names and intervals.

Figures are drawn on `matplotlib.figure.Figure`, never through pyplot, so that none leaves a trace.
"""

from __future__ import annotations

import functools
import itertools
import math
import unicodedata
from collections.abc import Callable, Collection, Sequence, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from repeval.stats.pairs.decision import FEWEST

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from repeval.report.analysis import Analysis
    from repeval.report.rows import Difference, Limits, Pair

# Okabe and Ito's colours, told apart by all readers; the two questions have one each.
THESE, NEW = "#0072B2", "#D55E00"
GREEN, SKY, PURPLE = "#009E73", "#56B4E9", "#CC79A7"
INK, GREY, FAINT = "#222222", "#8A8A8A", "#DDDDDD"
MOST = 40  # rows that fit on a page
WIDTH = 5.4  # narrow, so that letters stay readable where a page is 390 pixels wide
NAME = 26

STYLE = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.unicode_minus": True,
    "figure.facecolor": "white",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 10,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",  # text stays text: any script is shown in the reader's own fonts
    "svg.hashsalt": "repeval",
    "text.color": INK,
    "text.parse_math": False,  # a "$" in a name is a dollar
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


@dataclass(frozen=True)
class Plot:
    """A figure with all that must stand beside it.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
    caption : str
        Plain text below the figure: what is shown, and what it shows.
    alt : str
        The same for who does not see it.
    data : pandas.DataFrame
        The numbers drawn, one row for each mark.
    source : str
        Full name of the function that drew it.
    of_data : bool
        Whether it shows the data of the book, not a model's or a simulation's figures.
    """

    figure: Figure
    caption: str
    alt: str
    data: pd.DataFrame
    source: str = ""
    of_data: bool = True


def styled(draw: Callable[..., Plot]) -> Callable[..., Plot]:
    """Decorate a figure function: it draws in the one style, and its name is kept."""

    @functools.wraps(draw)
    def drawn(*args, **kwargs) -> Plot:
        with mpl.rc_context(STYLE):
            plot = draw(*args, **kwargs)
        return replace(plot, source=f"{draw.__module__}.{draw.__qualname__}")

    return drawn


def canvas(rows: int = 0, *, each: float = 0.27, rest: float = 1.1) -> tuple[Figure, Axes]:
    """Return a figure of one width, `each` inch high for every row and `rest` around them."""
    figure = Figure(figsize=(WIDTH, rest + each * max(rows, 1)), layout="constrained")
    return figure, figure.subplots()


def name(text: str, width: int = NAME) -> str:
    """Return a name from data in one printable line, shortened in the middle.

    Chinese, Japanese and Korean letters count twice in `width`.
    """
    text = "".join(c if c.isprintable() else "?" for c in text)
    wide = [2 if unicodedata.east_asian_width(c) in "FW" else 1 for c in text]
    if sum(wide) <= width:
        return text
    letters = int(len(text) * width / sum(wide))
    tail = (letters - 1) // 3
    return f"{text[: letters - 1 - tail]}…{text[len(text) - tail :]}"


def names(texts: Sequence[str], width: int = NAME) -> list[str]:
    """Return names shortened so that they still differ: what all begin or end with goes first."""
    start = _shared(texts)
    end = _shared([t[start:][::-1] for t in texts])
    if len(set(texts)) > 1 and max(map(len, texts)) > width:
        if start > 4:
            texts = ["…" + t[start:] for t in texts]
        if end > 4 and max(map(len, texts)) > width:
            texts = [t[:-end] + "…" for t in texts]
    return [name(t, width) for t in texts]


def marked(texts: Sequence[str], excluded: Sequence[str]) -> list[str]:
    """Return names with an asterisk at those left out of medians."""
    return [n + " *" * (t in excluded) for n, t in zip(names(texts), texts, strict=True)]


def _shared(texts: Sequence[str]) -> int:
    """Count the letters that all begin with."""
    same = (len(set(letters)) == 1 for letters in zip(*texts, strict=False))
    return sum(itertools.takewhile(bool, same))


def label_rows(axes: Axes, labels: Sequence[str]) -> None:
    """Write one label to each row as it is, the first on top."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def pair_rows(axes: Axes, pairs: Sequence[Pair]) -> None:
    """Write the two names of a pair to each row, and a line below it."""
    labels = names([m for p in pairs for m in (p.model_a, p.model_b)], 24)
    label_rows(axes, list(map("\n".join, zip(labels[::2], labels[1::2], strict=True))))
    for y in range(len(pairs) - 1):
        axes.axhline(y + 0.5, color=FAINT, lw=0.6, zorder=0)


def span(axes: Axes, y: float, limits: Limits, colour: str, *, width=2.0, unit=1) -> None:
    """Draw an interval; an end that is None or beyond the axis is an arrow at its edge.

    Set the limits of the axis first.
    """
    if limits is None:
        return
    left, right = axes.get_xlim()
    low, high = (math.inf if v is None else unit * v for v in limits)
    if low < right and high > left:
        ends = [max(low, left), min(high, right)]
        axes.plot(ends, [y, y], color=colour, lw=width, solid_capstyle="butt")
    for x, mark, out in ((0, "<", low < left), (1, ">", high > right)):
        if out:
            at_edge(axes, y, mark, x, color=colour, ms=6)


def at_edge(axes: Axes, y: float, marker: str, x: float = 0.965, **kwargs) -> None:
    """Draw a marker in row `y` at a share `x` of the width, whatever the scale."""
    place = axes.get_yaxis_transform()
    axes.plot([x], [y], marker, transform=place, clip_on=False, zorder=3, **kwargs)


def point(axes: Axes, y: float, value: float | None, marker: str, **kwargs) -> None:
    """Draw a value in row `y`; hollow at the edge where it is None, infinite, or lies beyond."""
    if value is not None and value <= axes.get_xlim()[1]:
        axes.plot([value], [y], marker, ms=6, zorder=3, **kwargs)
    else:
        at_edge(axes, y, marker, ms=6, **{**kwargs, "mfc": "white"})


def log_axis(axes: Axes, low: float, high: float) -> None:
    """Make the x axis logarithmic, with plain round numbers, few enough not to touch."""
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    decades = 10.0 ** np.arange(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 1.5, 2, 3, 5, 7), (1, 2, 3, 5), (1, 2, 5), (1,)):
        ticks = [t for t in np.outer(decades, steps).ravel() if low <= t <= high]
        if len(ticks) <= 9:
            break
    if len(ticks) < 2:
        ticks = [low, high]
    axes.set_xticks(ticks, [f"{t:,.3g}" if t < 10 else f"{t:,.0f}" for t in ticks])
    axes.minorticks_off()


def legend(figure: Figure, marks: Sequence[Line2D]) -> None:
    """Put a legend of one row above the axes."""
    figure.legend(
        handles=marks, loc="outside upper center", ncols=len(marks), handlelength=1.6,
        columnspacing=1.4, borderpad=0.2,
    )  # fmt: skip


def empty(text: str) -> Plot:
    """Return a figure that only says why there is nothing to draw."""
    figure, axes = canvas(rest=0.8)
    axes.set_axis_off()
    axes.text(0, 0.5, text, transform=axes.transAxes, va="center", wrap=True)
    return Plot(figure, text, text, pd.DataFrame())


def level(analysis: Analysis) -> str:
    """Return the level of the intervals, `95 %`."""
    return f"{100 * analysis.settings.level:g} %"


def plot(
    figure: Figure, data, lead: str, found: str, alt: str, *notes: str, of_data: bool = True
) -> Plot:
    """Join caption and alternative text: what is drawn, what that shows, notes on single marks."""
    caption = " ".join(filter(None, (lead, found, *notes)))
    return Plot(figure, caption, f"{alt} {found}", pd.DataFrame(data), of_data=of_data)


def left_out(shown: Sized, everyone: Sized, what: str = "models") -> str:
    """Say what is not drawn."""
    cut = len(shown) < len(everyone)
    return f"The first {len(shown)} of {len(everyone)} {what} are shown." if cut else ""


def no_verdict(shown: Sequence[Difference]) -> str:
    """Say where problems are too few for a verdict on new ones."""
    few = any(p.resolved is None for p in shown)
    return f"No verdict on new problems where there are fewer than {FEWEST}." if few else ""


def set_room(axes: Axes, values: Sequence[float]) -> None:
    """Let the x-axis reach from the least to the largest value, with a little room beside both."""
    room = 0.04 * (max(values) - min(values) or 1)
    axes.set_xlim(min(values) - room, max(values) + room)


def starred(shown: Collection[str], excluded: Collection[str]) -> str:
    """Say what an asterisk means, if there is one."""
    return "* left out of medians." if set(shown) & set(excluded) else ""


def limits(name: str, intervals: Sequence[Limits]) -> dict[str, list[float | None]]:
    """Return the ends of intervals as two columns."""
    low, high = zip(*(i or (None, None) for i in intervals), strict=True)
    return {f"{name}low": low, f"{name}high": high}
