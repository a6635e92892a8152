"""Problems between always and never, and what their number does to a score's variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repeval.figures import style
from repeval.figures.style import Plot

if TYPE_CHECKING:
    from repeval.analysis import Analysis
    from repeval.outcomes import Outcomes
    from repeval.sample import FloatArray, Sample

MOST = 40
# Up to this many runs every number of passes has its own class.
MOST_RUNS = 8
BINS = np.array([0, 0.2, 0.4, 0.6, 0.8])
NEVER, ALWAYS = "#5F5F5F", style.FAINT


@style.styled
def polarisation(outcomes: Outcomes, condition: str, excluded: tuple[str, ...] = ()) -> Plot:
    """Draw, for each system, how many problems were passed on none, some and all runs.

    Parameters
    ----------
    outcomes : Outcomes
    condition : str
    excluded : tuple of str
        Models to mark with an asterisk.

    References
    ----------
    VC sections 5.2 and 5.4 (ii).
    """
    samples = {
        m: outcomes.system(m, condition) for m in outcomes.models if outcomes.has(m, condition)
    }
    ranked = sorted(samples, key=lambda m: (-samples[m].rate.mean(), m))
    shown = ranked[:MOST]
    classes, index = _classes([samples[m] for m in shown])
    shares = np.array([np.bincount(index(samples[m]), minlength=len(classes)) for m in shown])
    shares = shares / shares.sum(axis=1, keepdims=True)

    figure, axes = style.canvas(len(shown), rest=1.2)
    left = np.zeros(len(shown))
    colours = _colours(len(classes))
    for j in range(len(classes))[::-1]:
        axes.barh(
            range(len(shown)), 100 * shares[:, j], 0.82, 100 * left,
            color=colours[j], label=classes[j], edgecolor="white", lw=0.4,
        )  # fmt: skip
        left += shares[:, j]
    style.label_rows(axes, style.marked(shown, excluded))
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of problems, %")
    title = "passes" if classes[0] == "0" else "pass rate"
    figure.legend(loc="outside upper left", ncols=min(7, len(classes)), title=title,
                  columnspacing=1.0, handlelength=1.2, alignment="left")  # fmt: skip
    data = pd.DataFrame(
        [(m, c, s) for m, row in zip(shown, shares, strict=True)
         for c, s in zip(classes, row, strict=True)],
        columns=["model", title.replace(" ", "_"), "share"],
    )  # fmt: skip
    text = _finding(list(samples.values()))
    if len(shown) < len(ranked):
        text += f" The first {len(shown)} of {len(ranked)} systems by score are shown."
    if set(excluded) & set(shown):
        text += " * left out of medians."
    alt = f"Stacked bars of {_count(len(shown), 'system')}, the best score on top. {text}"
    return Plot(
        figure, f"Problems by {title} in their runs, the best score on top. {text}", alt, data
    )


@style.styled
def variance_split(analysis: Analysis, condition: str) -> Plot:
    """Draw which share of each score's variance is difficulty and which is run noise.

    References
    ----------
    VC Eq. 1: the parts are σ_b² and μ_w/R of their sum.
    """
    ranked = analysis.ranked(condition)
    shown = ranked[:MOST]
    known = [s for s in shown if s.aleatoric_share is not None]
    if not known:
        return style.empty(
            "The parts of a score's variance cannot be told apart here: that needs two runs of "
            "a problem, and scores that differ between problems.",
            ["model", "run_noise", "difficulty"],
        )
    figure, axes = style.canvas(len(shown), rest=1.2)
    # A noise above the whole spread makes the difficulty's estimate negative; the bar is full.
    noise = {s.model: min(s.aleatoric_share, 1.0) for s in known}
    rows = [i for i, s in enumerate(shown) if s.model in noise]
    parts = np.array([noise[shown[i].model] for i in rows])
    axes.barh(rows, 100 * parts, 0.7, color=style.THESE, label="run noise")
    axes.barh(rows, 100 * (1 - parts), 0.7, 100 * parts, color=style.FAINT, label="difficulty")
    for i, part in zip(rows, parts, strict=True):
        inside = part > 0.8
        axes.text(
            100 * part + (-1 if inside else 1), i, _share_text(shown[i].aleatoric_share),
            ha="right" if inside else "left", va="center", fontsize=8,
            color="white" if inside else style.INK,
        )  # fmt: skip
    for i in set(range(len(shown))) - set(rows):
        axes.text(1, i, "not identified", va="center", fontsize=8, color=style.GREY)
    style.label_rows(axes, style.marked([s.model for s in shown], analysis.excluded))
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the score's variance for new problems, %")
    figure.legend(loc="outside upper left", ncols=2)
    data = pd.DataFrame(
        [(s.model, s.runs_harmonic, s.aleatoric_share, 1 - s.aleatoric_share) for s in known],
        columns=["model", "runs_harmonic", "run_noise", "difficulty"],
    )
    text = _split_finding(analysis, condition, len(shown) < len(ranked))
    lead = "Run noise and difficulty in the variance of a score, at the runs at hand."
    return Plot(
        figure,
        f"{lead} {text}",
        f"Stacked bars of {_count(len(shown), 'system')}, the best score on top. {text}",
        data,
    )


def _classes(samples: list[Sample]):
    """Return names of the classes, never first, and the function that classes a sample."""
    runs = {int(r) for s in samples for r in s.runs}
    if all(s.binary for s in samples) and len(runs) == 1 and max(runs) <= MOST_RUNS:
        return [str(k) for k in range(runs.pop() + 1)], lambda s: s.passes
    inner = [f"to {100 * b:.0f} %" for b in BINS[1:]] + ["below 100 %"]

    def index(s: Sample) -> np.ndarray:
        place = np.searchsorted(BINS, s.rate, side="left").clip(1)
        return np.where(s.rate == 0, 0, np.where(s.rate == 1, len(BINS) + 1, place))

    return ["0 %", *inner, "100 %"], index


def _colours(classes: int) -> list:
    """Greys for never and always; the few between in colour, dark to light."""
    from matplotlib.colors import LinearSegmentedColormap

    warm = LinearSegmentedColormap.from_list("warm", ["#7F2704", style.NEW, "#FDBE85"])
    between = np.linspace(0, 1, max(classes - 2, 1))[: classes - 2]
    return [NEVER, *(warm(x) for x in between), ALWAYS]


def _finding(samples: list[Sample]) -> str:
    """Say how many problems lie between, on average over systems."""
    constant = float(np.mean([_same(s.rate, s).mean() for s in samples]))
    who = "" if len(samples) == 1 else f" (mean of {len(samples)} systems)"
    if all(s.runs.max() == 1 for s in samples):
        return "With one run of each problem nothing can be seen between never and always."
    what = (
        "were passed on every run or on none"
        if all(s.binary for s in samples)
        else "have score 0 on every run or score 1 on every run"
    )
    return f"{style.percent(constant)} of the problems{who} {what}."


def _same(rate: FloatArray, sample: Sample) -> np.ndarray:
    return (rate == 0) | (rate == 1)


def _split_finding(analysis: Analysis, condition: str, cut: bool) -> str:
    ranked = analysis.ranked(condition)
    counted = [s for s in ranked if s.model not in analysis.excluded]
    shares = [s.aleatoric_share for s in counted if s.aleatoric_share is not None]
    text = ""
    if len(shares) > 1:
        text = (
            f"The median share of run noise is {_share_text(float(np.median(shares)))} "
            f"(from {_share_text(min(shares))} to {_share_text(max(shares))})."
        )
    elif shares:
        text = f"The share of run noise is {_share_text(shares[0])}."
    if over := sum(s >= 1 for s in shares):
        text += (
            f" For {_count(over, 'system')} the run noise is as large as the whole spread of the "
            "pass rates, so that no spread of difficulty is left to see."
        )
    if unknown := len(counted) - len(shares):
        text += f" For {_count(unknown, 'system')} the parts are not identified."
    if cut:
        text += f" The first {MOST} of {len(ranked)} systems by score are shown."
    if any(s.model in analysis.excluded for s in ranked):
        text += " * left out of medians."
    return text.strip()


def _share_text(share: float) -> str:
    """Return a share with one decimal below ten percent."""
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
