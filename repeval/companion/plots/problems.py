"""Problems between always and never, and what their number does to a score's variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap

from repeval.companion.plots import style
from repeval.companion.plots import words as say
from repeval.companion.plots.style import Plot
from repeval.report import sentences
from repeval.report.format import NEEDS_RUNS, count, no_ceiling, percent

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes
    from repeval.report.analysis import Analysis
    from repeval.report.rows import System
    from repeval.stats.sample import Sample

# Up to this many runs every number of passes has its own class.
MOST_RUNS = 8
BINS = ["0 %", "to 20 %", "to 40 %", "to 60 %", "to 80 %", "below 100 %", "100 %"]
# Greys for never and always; the few between in colour, dark to light.
NEVER, ALWAYS = "#5F5F5F", style.FAINT
BETWEEN = LinearSegmentedColormap.from_list("warm", ["#7F2704", style.NEW, "#FDBE85"])


@style.styled
def polarisation(outcomes: Outcomes, condition: str, excluded: tuple[str, ...] = ()) -> Plot:
    """Draw, for each system, how many problems were passed on none, some and all runs.

    Models `excluded` from medians get an asterisk.

    References
    ----------
    VC sections 5.2 and 5.4 (ii).
    """
    samples = {
        m: outcomes.system(m, condition) for m in outcomes.models if outcomes.has(m, condition)
    }
    ranked = sorted(samples, key=lambda m: (-samples[m].rate.mean(), m))
    shown = ranked[: style.MOST]
    runs = {int(r) for m in shown for r in samples[m].runs}
    counted = outcomes.binary and len(runs) == 1 and max(runs) <= MOST_RUNS
    classes = [str(k) for k in range(max(runs) + 1)] if counted else BINS
    title = "passes" if counted else "pass rate" if outcomes.binary else "score"

    def place(s: Sample) -> np.ndarray:
        if counted:
            return s.passes
        inner = np.ceil(5 * s.rate - 1e-9).clip(1, 5).astype(int)
        return np.where(s.rate == 0, 0, np.where(s.rate == 1, 6, inner))

    shares = np.array([np.bincount(place(samples[m]), minlength=len(classes)) for m in shown])
    shares = shares / shares.sum(axis=1, keepdims=True)
    figure, axes = style.canvas(len(shown), rest=1.2)
    inner = BETWEEN(np.linspace(0, 1, max(len(classes) - 2, 1)))[: len(classes) - 2]
    left = np.zeros(len(shown))
    for part, colour, name in reversed(
        list(zip(100 * shares.T, [NEVER, *inner, ALWAYS], classes, strict=True))
    ):
        axes.barh(
            range(len(shown)), part, 0.82, left, color=colour, label=name, edgecolor="white", lw=0.4
        )
        left += part
    style.label_rows(axes, style.marked(shown, excluded))
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of problems, %")
    figure.legend(loc="outside upper left", ncols=min(7, len(classes)), title=title,
                  columnspacing=1.0, handlelength=1.2, alignment="left")  # fmt: skip
    constant = np.mean([np.isin(s.rate, (0, 1)).mean() for s in samples.values()])
    text = "With one run of each problem nothing can be seen between never and always."
    if max(s.runs.max() for s in samples.values()) > 1:
        who = f" (mean of {len(samples)} models)" if len(samples) > 1 else ""
        share = f"{percent(constant)} of the problems{who}"
        text = f"{share} were passed on every run or on none."
        if not outcomes.binary:
            has = f"{share} have" if constant else "No problem has"
            text = f"{has} score 0 on every run, or score 1 on every run."
    data = pd.DataFrame(shares, pd.Index(shown, name="model"), classes).reset_index()
    return style.plot(
        figure,
        data.melt("model", var_name=title.replace(" ", "_"), value_name="share"),
        f"Problems by {title} in their runs, the best score on top.",
        text,
        f"Stacked bars of {count(len(shown), 'model')}, the best score on top.",
        style.left_out(shown, ranked),
        style.starred(shown, excluded),
    )


@style.styled
def variance_split(analysis: Analysis, condition: str) -> Plot:
    """Draw which share of each score's variance is difficulty and which is run noise.

    References
    ----------
    VC Eq. 1: the parts are σ_b² and μ_w/R of their sum.
    """
    ranked = analysis.ranked(condition)
    shown = ranked[: style.MOST]
    noise = {s.model: _noise(s) for s in shown}
    known = [s for s in shown if noise[s.model] is not None]
    if not known:
        why = "nothing varied" if any(s.within == 0 for s in shown) else f"that {NEEDS_RUNS}"
        return style.empty(f"The parts of a score's variance cannot be told apart here: {why}.")
    figure, axes = style.canvas(len(shown), rest=1.2)
    # A noise above the whole spread makes the difficulty's estimate negative; the bar is full.
    parts = np.array([100 * min(noise[s.model] or 0, 1) for s in shown])
    rest = [100 - part if s in known else 0 for s, part in zip(shown, parts, strict=True)]
    axes.barh(range(len(shown)), parts, 0.7, color=style.THESE, label="run noise")
    axes.barh(range(len(shown)), rest, 0.7, parts, color=style.FAINT, label="difficulty")
    for i, (s, part) in enumerate(zip(shown, parts, strict=True)):
        share, place = noise[s.model], (part + 1, i)
        text, look = no_ceiling(s), {"ha": "left", "color": style.GREY}
        if share is not None:
            text, look["color"] = percent(share, int(share < 0.0995)), style.INK
        if part > 80:
            place, look = (part - 1, i), {"ha": "right", "color": "white"}
        axes.text(*place, text, va="center", fontsize=8, **look)
    models = [s.model for s in shown]
    style.label_rows(axes, style.marked(models, analysis.excluded))
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the score's variance for new problems, %")
    figure.legend(loc="outside upper left", ncols=2)
    counted = sentences.counted(analysis, condition)
    found = say.figures(counted, "aleatoric_share")
    if over := sum(s.between is not None and s.between <= 0 < s.within for s in counted):
        found += (
            f" For {count(over, 'model')} the run noise is as large as the whole spread of the "
            "pass rates, so that no spread of difficulty is left to see."
        )
    if unknown := sum(_noise(s) is None for s in counted):
        found += f" For {count(unknown, 'model')} there are no parts to tell apart."
    return style.plot(
        figure,
        {
            "model": [s.model for s in known],
            "runs_harmonic": [s.runs_harmonic for s in known],
            "run_noise": [noise[s.model] for s in known],
            "difficulty": [1 - noise[s.model] for s in known],
        },
        "Run noise and difficulty in the variance of a score, at the runs at hand.",
        found,
        f"Stacked bars of {count(len(shown), 'model')}, the best score on top.",
        style.left_out(shown, ranked),
        style.starred(models, analysis.excluded),
    )


def _noise(s: System) -> float | None:
    """Return the share of run noise: all of it where it is infinite, as no spread was seen."""
    return 1.0 if s.aleatoric_share is None and s.remaining_narrowing else s.aleatoric_share
