"""Five bootstrap strategies by their exact laws: what each resamples, and what it estimates."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from repeval.companion.plots import style
from repeval.companion.plots.style import GREY, INK, Plot
from repeval.companion.studies.strategies import LEVEL, TABLE, mode_table, truths
from repeval.report.format import percent, points
from repeval.stats import allocation, exact
from repeval.stats.agreement import influence_icc
from repeval.stats.sample import from_counts

# Their words and colours.
WORDS = {
    "iid": ("IID", INK),
    "single_draw": ("single-draw", style.SKY),
    "cluster": ("cluster", style.NEW),
    "hierarchical": ("hierarchical", style.THESE),
    "mode_aggregate": ("mode-aggregate", style.PURPLE),
}
RUNS = np.arange(1, 8)
# Twenty inputs with three runs, right about as often as the post's model gives on average: seven
# three times, nine twice, three once, and one never. Each run is right for fourteen of them.
EXAMPLE = np.array([[1, 1, 1]] * 7 + [[0, 1, 1], [1, 0, 1], [1, 1, 0]] * 3 + [*np.eye(3), [0] * 3])


def icc(statistic: str) -> float:
    """Return the ICC of what one run adds to a statistic, for inputs of the post's model."""
    return influence_icc(TABLE, statistic)


def example_laws() -> dict[str, exact.Law]:
    """Return the law of the resampled accuracy of `EXAMPLE` by each strategy."""
    n, k = EXAMPLE.shape
    right = EXAMPLE.sum(axis=1).astype(int)
    first, modes = EXAMPLE[:, 0].astype(int), (2 * right > k).astype(int)
    # A draw is one of all N·k runs: N draws have the law of a sum of N such runs.
    one = np.bincount(EXAMPLE.ravel().astype(int), minlength=2) / EXAMPLE.size
    single = exact.convolution_power(one[None], np.array([n]), 0)
    return {
        "iid": exact.mean_law(from_counts(first, 1), "one_level"),
        "single_draw": exact.Law(*single, 1 / n),
        "cluster": exact.mean_law(from_counts(right, k), "one_level"),
        "hierarchical": exact.mean_law(from_counts(right, k), "two_level"),
        "mode_aggregate": exact.mean_law(from_counts(modes, 1), "one_level"),
    }


@style.styled
def five_laws() -> Plot:
    """Draw twenty inputs with three runs, and the law of the score by each strategy.

    References
    ----------
    BS, "Bootstrap methods".
    """
    n, k = EXAMPLE.shape
    figure = Figure(figsize=(style.WIDTH, 5.4), layout="constrained")
    top, axes = figure.subplots(2, 1, height_ratios=[1, 4])
    shown = np.vstack([EXAMPLE.T, 2 * EXAMPLE.sum(axis=1) > k])
    for (run, i), right in np.ndenumerate(shown):
        colour = style.PURPLE if run == k else INK
        top.plot([i], [run], "s", ms=7, color=colour, mfc=colour if right else "white")
    style.label_rows(top, [*(f"run {r + 1}" for r in range(k)), "most frequent"])
    top.set_xticks([])
    top.set_xlabel(f"{n} inputs; filled: right")
    top.spines[:].set_visible(False)
    rows, found = [], {}
    every = example_laws()
    tallest = max(law.pmf.max() / law.step for law in every.values())
    for y, (name, law) in enumerate(every.items()):
        colour, x = WORDS[name][1], (law.start + np.arange(law.pmf.size)) * law.step
        axes.bar(x, -0.75 * law.pmf / law.step / tallest, law.step, y, color=colour, alpha=0.6)
        low, high = law.interval(LEVEL)
        axes.plot([low, high], [y + 0.1] * 2, color=colour, lw=3, solid_capstyle="butt")
        sd = np.sqrt(law.pmf @ x**2 - (law.pmf @ x) ** 2)
        axes.annotate(points(sd), (1.02, y), xycoords=("axes fraction", "data"), fontsize=9)
        found[name] = points(high - low, 0)
        rows += [{"strategy": name, "score": s, "probability": p}
                 for s, p in zip(x, law.pmf, strict=True) if p > 1e-6]  # fmt: skip
    axes.annotate("s.d.", (1.02, -0.75), xycoords=("axes fraction", "data"), fontsize=9)
    axes.axvline(EXAMPLE.mean(), color=INK, lw=0.8, ls="--", zorder=0)
    style.label_rows(axes, [word for word, _ in WORDS.values()])
    axes.set_ylim(len(every) - 0.6, -0.95)
    axes.set_xlim(0.28, 1.02)
    ticks = np.arange(0.3, 1.01, 0.1)
    axes.set_xticks(ticks, [points(t, 0) for t in ticks])
    axes.set_xlabel("accuracy of a resample, %")
    said = ", ".join(f"{WORDS[name][0]} {width}" for name, width in found.items())
    return style.plot(
        figure,
        rows,
        f"{n} inputs with {k} runs each, and the exact law of the accuracy of a resample by each "
        f"strategy. The bar below a law is its {percent(LEVEL)} interval, the dashed line the "
        "accuracy of all runs, s.d. the standard deviation in points.",
        f"Lengths of the intervals in points: {said}. Most frequent answers are right for "
        f"{percent(shown[-1].mean())} of the inputs, single ones in {percent(EXAMPLE.mean())}.",
        "A grid of right and wrong runs, and five bar charts, one below the other.",
        of_data=False,
    )


@style.styled
def spreads() -> Plot:
    """Draw the variance of a resampled accuracy against k, for the post's model.

    References
    ----------
    BS, "How general are these results?".
    """
    rho, single = icc("accuracy"), truths()["accuracy"]
    curves = {
        "single_draw": np.ones(len(RUNS)),
        "mode_aggregate": np.array([_mode_variance(k) for k in RUNS]) / (single * (1 - single)),
        "hierarchical": allocation.variance_factor(rho, RUNS, 2),
        "cluster": allocation.variance_factor(rho, RUNS),
    }
    figure, axes = style.canvas(rest=3.2)
    for name, values in curves.items():
        word, colour = WORDS[name]
        axes.plot(RUNS, values, "o-", color=colour, ms=5, lw=2.5 if name == "cluster" else 1.5)
        axes.annotate(
            word, (RUNS[-1], values[-1]), (9, -3), color=colour, textcoords="offset points",
            fontsize=9, annotation_clip=False,
        )  # fmt: skip
    axes.set_xlim(0.8, RUNS[-1] + 0.2)
    axes.set_ylim(0, 1.08)
    axes.set_xlabel("runs of each input, k")
    axes.set_ylabel("variance, that of single runs = 1")
    axes.grid(axis="y")
    k = 5
    cluster, two = (curves[name][k - 1] for name in ("cluster", "hierarchical"))
    return style.plot(
        figure,
        {"runs": RUNS, **curves},
        f"Variance of the accuracy of a resample, for the post's model (ICC {rho:.3f}). That of "
        "cluster is the variance that the score really has.",
        f"With {k} runs hierarchical has {two / cluster:.2f} times, single-draw {1 / cluster:.1f} "
        "times this variance.",
        "Four lines over the number of runs; those of hierarchical and cluster fall.",
        "Mode-aggregate is the score of another system.",
        of_data=False,
    )


def mode_accuracy(k: int) -> tuple[float, float]:
    """Return how often the most frequent of k runs is right: in the post's model, with two labels.

    Notes
    -----
    With two labels and no difference between inputs it is right if more than half the runs are;
    at half of them a tie is broken at random.
    """
    p, j = truths()["accuracy"], np.arange(k + 1)
    one = np.array([[1 - p, p]])
    right, _ = exact.convolution_power(one, np.array([k]), 0)
    return truths(mode_table(k))["accuracy"], float(right @ ((2 * j > k) + (2 * j == k) / 2))


@style.styled
def modes() -> Plot:
    """Draw the accuracy of the most frequent of k runs.

    References
    ----------
    BS, "Why does mode-aggregate bootstrap's coverage go to zero?".
    """
    four, two = 100 * np.array([mode_accuracy(k) for k in RUNS]).T
    single = 100 * truths()["accuracy"]
    figure, axes = style.canvas(rest=2.9)
    axes.axhline(single, color=INK, lw=0.8, ls="--")
    axes.plot(RUNS, four, "o-", color=style.PURPLE, label="the post's model, four labels")
    axes.plot(RUNS, two, "o--", color=GREY, mfc="white", label="two labels, all inputs alike")
    axes.set_ylim(single - 3, 100)
    axes.set_xlabel("runs of each input, k")
    axes.set_ylabel("most frequent answer right, %")
    axes.grid(axis="y")
    axes.legend(loc="upper left")
    said = "; ".join(f"k = {k}: {four[k - 1]:.1f} %, {two[k - 1]:.1f} %" for k in (2, 3, 5))
    return style.plot(
        figure,
        {"runs": RUNS, "four_labels": four / 100, "two_labels": two / 100},
        "How often the most frequent of k answers is right; the dashed line is a single run.",
        f"Four labels, then two: {said}.",
        "Two rising lines over the number of runs, that of four labels above that of two.",
        of_data=False,
    )


def _mode_variance(k: int) -> float:
    a = mode_accuracy(int(k))[0]
    return a * (1 - a)
