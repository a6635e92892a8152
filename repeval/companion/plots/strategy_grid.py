"""The study `strategies`: coverage and width of every interval, ours beside the post's."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from repeval.companion.ledger import bs
from repeval.companion.ledger.entries import paper
from repeval.companion.plots import style
from repeval.companion.plots.strategies import WORDS, icc, mode_accuracy
from repeval.companion.plots.style import GREY, INK, Plot
from repeval.companion.studies.strategies import LEVEL, SIZES, exact_accuracy_coverage, truths
from repeval.report.format import percent
from repeval.stats import allocation

# The kinds of interval in the post's order: their words and colours, and names in its claims.
KINDS = {
    ("iid", "percentile"): (*WORDS["iid"], "iid"),
    ("iid", "normal"): ("normal", INK, "normal"),
    ("single_draw", "percentile"): (*WORDS["single_draw"], "single"),
    ("cluster", "percentile"): (*WORDS["cluster"], "cluster"),
    ("cluster", "bca"): ("cluster, BCa", style.NEW, "bca"),
    ("hierarchical", "percentile"): (*WORDS["hierarchical"], "hier"),
    ("mode_aggregate", "percentile"): (*WORDS["mode_aggregate"], "mode"),
}
# What tells a cell of the tables from another.
CELL = ["n", "k", "strategy", "interval", "statistic"]
# Coverages below are written at the edge.
LOWEST = 90


def printed() -> pd.DataFrame:
    """Return the coverages and widths that the post prints, by N, k, kind and statistic."""
    kinds = {slug: kind for kind, (*_, slug) in KINDS.items()}
    found = bs.printed(r"bs-(acc|kappa)(?:byn)?-n(\d+)-k(\d)-(\w+)-(coverage|width)")
    rows = [
        (int(n), int(k), *kinds[slug], "accuracy" if family == "acc" else family, metric, value)
        for (family, n, k, slug, metric), value in found.items()
    ]
    table = pd.DataFrame(rows, columns=[*CELL, "metric", "value"])
    return table.pivot(index=CELL, columns="metric", values="value").reset_index()


def cells(study: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """Return what the post prints of a statistic, beside ours and what theory says.

    Returns
    -------
    DataFrame
        Coverages in points. `theory`: for accuracy by `iid` and `mode_aggregate` exact, for endless
        resamples; elsewhere for large samples, missing for kappa of modes of more than two. `off`:
        by how many combined standard errors the two coverages differ.
    """
    found = study.merge(printed(), on=CELL, suffixes=("", "_printed"))
    found = found[found["statistic"] == statistic].reset_index(drop=True)
    share = (found["coverage_printed"] / 100 * (t := paper()["bs-sim-trials"].value) + 2) / (t + 4)
    error = 100 * np.sqrt(share * (1 - share) / (t + 4))
    off = (found["coverage"] - found["coverage_printed"]) / np.hypot(found["coverage_se"], error)
    theory = [_theory(statistic, *row) for row in found[["strategy", "n", "k"]].itertuples(False)]
    return found.assign(theory=theory, off=off.abs())


def _theory(statistic: str, strategy: str, n: int, k: int) -> float:
    rho = icc(statistic)
    if strategy in ("single_draw", "hierarchical"):
        single = strategy == "single_draw"
        wider = 1 / allocation.width_factor(rho, k) if single else allocation.inflation(rho, k)
        return 100 * float(allocation.large_sample_coverage(wider, LEVEL))
    if statistic == "accuracy" and strategy != "cluster":
        rate = mode_accuracy(k)[0] if strategy == "mode_aggregate" else truths()["accuracy"]
        return 100 * exact_accuracy_coverage(n, rate)
    return np.nan if strategy == "mode_aggregate" and k > 2 else 100 * LEVEL


@style.styled
def by_runs(study: pd.DataFrame, statistic: str) -> Plot:
    """Draw coverage and width of every strategy with 200 inputs, by number of runs.

    References
    ----------
    BS, "N = 200 LLM inputs", and the appendix on kappa.
    """
    return _grid(cells(study, statistic).query("n == 200"), statistic, "k")


@style.styled
def by_inputs(study: pd.DataFrame, statistic: str) -> Plot:
    """Draw coverage and width of every strategy with five runs, or one, by number of inputs.

    References
    ----------
    BS, "Fixed k, varying number of LLM inputs", and the appendix on kappa.
    """
    return _grid(cells(study, statistic).query("k in (1, 5)"), statistic, "n")


def _grid(found: pd.DataFrame, statistic: str, by: str) -> Plot:
    """Draw cells, one row each: coverage on the left, width on the right."""
    kind = pd.MultiIndex.from_frame(found[["strategy", "interval"]])
    found = found.assign(order=pd.Index(KINDS).get_indexer(kind)).sort_values(["order", by])
    figure = Figure(figsize=(style.WIDTH, 1.25 + 0.235 * len(found)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[1.25, 1])
    left.set_xlim(LOWEST, 100.6)
    left.set_xticks(range(LOWEST, 101, 2))
    left.axvline(100 * LEVEL, color=INK, lw=0.8, ls="--", zorder=0)
    labels = []
    for y, row in enumerate(found.to_dict("records")):
        word, colour, _ = KINDS[row["strategy"], row["interval"]]
        labels.append(f"{word}, {by.upper() if by == 'n' else by} = {row[by]}")
        fill = "white" if row["interval"] == "bca" else colour
        ring = {"marker": "o", "ms": 8, "mfc": "none", "color": GREY, "ls": "", "zorder": 1}
        right.plot([row["width_printed"]], [y], **ring)
        right.plot([row["width"]], [y], "o", color=colour, mfc=fill, ms=4.5)
        if row["coverage"] < LOWEST:
            text = f"{row['coverage']:.1f} (post {row['coverage_printed']:.1f})"
            style.at_edge(left, y, "<", 0.03, color=colour, ms=5)
            left.text(0.08, y, text, va="center", fontsize=8, transform=left.get_yaxis_transform())
            continue
        left.plot([row["coverage_printed"]], [y], **ring)
        left.plot([row["theory"]], [y], "|", color=INK, ms=11)
        ends = row["coverage"] + 2 * row["coverage_se"] * np.array([-1, 1])
        left.plot(ends.clip(max=100), [y, y], color=colour, lw=1)
        left.plot([row["coverage"]], [y], "o", color=colour, mfc=fill, ms=4.5)
        if y and row["order"] != found["order"].iloc[y - 1]:
            for axes in (left, right):
                axes.axhline(y - 0.5, color=style.FAINT, lw=0.6, zorder=0)
    style.label_rows(left, labels)
    left.set_xlabel("coverage, %")
    right.set_xlim(0, 1.06 * found["width_printed"].max())
    right.set_xlabel("mean width")
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        axes.set_axisbelow(True)
    style.legend(
        figure,
        [
            Line2D([], [], ls="", marker="o", color=INK, ms=4.5, label="here"),
            Line2D([], [], ls="", marker="o", color=GREY, mfc="none", ms=8, label="the post"),
            Line2D([], [], ls="", marker="|", color=INK, ms=11, label="theory"),
        ],
    )
    what = {"n": "by number of inputs N (one run for IID and normal, else five)",
            "k": "with 200 inputs, by runs k of each"}[by]  # fmt: skip
    told = [
        f"{word} {_reach(part['coverage'])}"
        for order, (word, *_) in enumerate(KINDS.values())
        if len(part := found[found["order"] == order])
    ]
    some = found["coverage"].min() < LOWEST
    below = "A number at the edge is a coverage below the scale." if some else ""
    return style.plot(
        figure,
        found.drop(columns="order"),
        f"Intervals for {statistic} {what}: how many percent cover the value of a single run, with "
        "two Monte Carlo standard errors, and how long they are.",
        f"Coverage in percent: {'; '.join(told)}.",
        "Two panels with one row for each strategy and setting.",
        below,
        of_data=False,
    )


def setting(study: pd.DataFrame, size: str) -> str:
    """Say how much was simulated, here and in the post."""
    theirs, resamples = paper()["bs-sim-trials"].value, paper()["bs-sim-B"].value
    return (
        f"Here each setting has {study['trials'].max():,} trials with "
        f"{SIZES[size]['n_resamples']:,} resamples; the post has {theirs:,} with {resamples:,}."
    )


def agreement(study: pd.DataFrame, statistic: str, size: str) -> str:
    """Say how far the cells are from the printed ones."""
    found = cells(study, statistic)
    worst = found.loc[found["off"].idxmax()]
    kind = KINDS[worst["strategy"], worst["interval"]][0]
    theirs, ours = paper()["bs-sim-B"].value, SIZES[size]["n_resamples"]
    same = np.where(found["interval"] == "normal", 1, bs.narrowing(theirs) / bs.narrowing(ours))
    wide = same * found["width"] / found["width_printed"] - 1
    return (
        f"Of {len(found)} coverages, {(found['off'] > 2).sum()} are more than two combined "
        f"standard errors from what the post prints; the worst, {kind} with N = {worst['n']} and "
        f"k = {worst['k']}, by {worst['off']:.1f}. Widths, brought to as "
        f"many resamples, differ by {percent(wide.abs().max(), 1)} at most."
    )


def mode_of_three(study: pd.DataFrame) -> str:
    """Say how far the post's coverage of the mode of three is from the exact one."""
    row = cells(study, "accuracy").query("strategy == 'mode_aggregate' and k == 3").iloc[0]
    share = row["theory"] / 100
    error = 100 * np.sqrt(share * (1 - share) / paper()["bs-sim-trials"].value)
    return (
        f"For the mode of three runs the post prints {row['coverage_printed']:.1f} %. Exact, with "
        f"endless resamples, is {row['theory']:.2f} %, from which the printed figure is "
        f"{(row['coverage_printed'] - row['theory']) / error:.1f} standard errors away; here it is "
        f"{row['coverage']:.1f} %."
    )


def other_intervals(study: pd.DataFrame, statistic: str) -> pd.DataFrame:
    """Return coverage and width of the percentile interval beside BCa and normal ones."""
    kept = study[study["strategy"].isin(["iid", "cluster"]) & (study["statistic"] == statistic)]
    wide = kept.sort_values(["n", "k"]).pivot(index=["n", "k"], columns="interval")
    table = wide.index.to_frame(index=False).rename(columns={"n": "N"})
    for metric, form in (("coverage", "{:.1f}"), ("width", "{:.4f}")):
        for name in ("percentile", "bca", "normal"):
            values = wide[metric].reindex(columns=[name])[name]
            head = f"{metric}{', %' * (metric == 'coverage')}, {name.replace('bca', 'BCa')}"
            table[head] = [None if np.isnan(v) else form.format(v) for v in values]
    return table


def bca_gain(study: pd.DataFrame, statistic: str) -> str:
    """Say what BCa changes, in points and in trials.

    Both intervals are from the same resamples of the same trials.
    """
    rows = study.query("strategy == 'cluster' and statistic == @statistic")
    plain, bca = (rows[rows["interval"] == i].set_index(["n", "k"]) for i in ("percentile", "bca"))
    gain, trials = (bca["coverage"] - plain["coverage"]).sort_index(), plain["trials"].max()
    each = ", ".join(f"{g:+.1f} (N = {n}, k = {k})" for (n, k), g in gain.items())
    most = (gain * trials / 100).abs().max()
    width = (bca["width"] / plain["width"] - 1).abs().max()
    return (
        f"The changes of coverage in points are {each}: {most:.0f} of {trials:,} trials at most. "
        f"The standard error of one coverage is {_reach(plain['coverage_se'])} points. Widths "
        f"change by at most {percent(width, 1)}."
    )


def sides(study: pd.DataFrame, statistic: str) -> str:
    """Say at which end intervals miss, all settings of cluster together."""
    rows = study.query("strategy == 'cluster' and statistic == @statistic and k > 1")
    ends = rows.groupby("interval")[["below", "above"]].mean()
    trials = rows.loc[rows["interval"] == "bca", "trials"].sum()
    tail = (1 - LEVEL) / 2
    error = 100 * np.sqrt(tail * (1 - tail) / trials)
    plain, bca = ends.loc["percentile"], ends.loc["bca"]
    return (
        f"Of all {trials:,} percentile intervals {plain['below']:.1f} % lie wholly below the true "
        f"value and {plain['above']:.1f} % wholly above it; of those by BCa {bca['below']:.1f} % "
        f"and {bca['above']:.1f} %. The promise is {100 * tail:.1f} % at each end; the standard "
        f"error of such a share is {error:.1f}."
    )


def printed_gain() -> str:
    """Say what BCa changes of kappa's coverage by the post's own tables."""
    rows = printed().query("statistic == 'kappa' and strategy == 'cluster'")
    plain, bca = (
        rows[rows["interval"] == i].set_index(["n", "k"])["coverage"] for i in ("percentile", "bca")
    )
    gain, most = bca - plain, plain.idxmax()
    return (
        f"By the post's own tables BCa adds {gain.min():.1f} to {gain.max():.1f} points, where one "
        f"coverage has a standard error of {paper()['bs-sim-se'].value} points. With N = {most[0]} "
        f"it moves {plain[most]:.1f} % to {bca[most]:.1f} %."
    )


def _reach(values: pd.Series) -> str:
    ends = dict.fromkeys((f"{min(values):.1f}", f"{max(values):.1f}"))
    return " to ".join(ends)
