"""How often intervals cover the truth: the study `coverage` drawn, told and tabulated."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from repeval.companion.ledger.table6 import MISSES, accepted, cells, coverage
from repeval.companion.plots import style
from repeval.companion.plots.intervals import COLOURS, in_rows
from repeval.companion.plots.style import Plot
from repeval.companion.studies.coverage import LEVEL
from repeval.report.format import percent
from repeval.stats.intervals import ESTIMANDS, INTERVALS

TRUTHS = {"mu": "μ", "pbar": "p̄"}
ABOUT = {"mu": "new problems", "pbar": "these problems"}
# Coverages below are written at the edge.
LOWEST = 85


@style.styled
def covered(study: pd.DataFrame) -> Plot:
    """Draw how often each interval covers either truth, with two standard errors.

    References
    ----------
    VC Table 6.
    """
    rows, names = shares(study), in_rows()
    looks = dict(zip(rows["model"].unique(), "osD", strict=True))
    figure = Figure(figsize=(style.WIDTH, 5.2), layout="constrained")
    panels = dict(zip(TRUTHS, figure.subplots(1, 2, sharey=True), strict=True))
    for truth, axes in panels.items():
        axes.set_xlim(LOWEST, 101.5)
        axes.axvline(100 * LEVEL, color=style.INK, lw=0.8, ls="--", zorder=1)
        for row in rows.to_dict("records"):
            y = names.index(row["interval"]) + 0.27 * ([*looks].index(row["model"]) - 1)
            colour = COLOURS[ESTIMANDS[row["interval"]]]
            if row[truth] < LOWEST:
                style.at_edge(axes, y, "<", 0.03, color=colour, ms=5)
                place = axes.get_yaxis_transform()
                axes.text(0.09, y, f"{row[truth]:.0f}", va="center", fontsize=8, transform=place)
            else:
                twice, look = 2 * row[f"{truth}_se"], {"marker": looks[row["model"]], "ms": 4.5}
                axes.errorbar(row[truth], y, xerr=twice, color=colour, lw=1, **look)
        axes.set_xlabel(f"cover {TRUTHS[truth]}, %\n({ABOUT[truth]})")
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
    style.label_rows(panels["mu"], [INTERVALS[name].label for name in names])
    marks = [Line2D([], [], ls="", marker=m, color=style.INK, label=k) for k, m in looks.items()]
    style.legend(figure, marks)
    return style.plot(
        figure,
        rows,
        f"Share of the data sets whose {100 * LEVEL:g} % interval covers the mean of all problems "
        "(μ) and of those in the set (p̄), with two Monte Carlo standard errors.",
        "Orange intervals, for new problems, cover μ in "
        f"{reach(study, 'mu', 'superpopulation')} and p̄ in "
        f"{reach(study, 'pbar', 'superpopulation')}; blue ones, for these problems, cover p̄ in "
        f"{reach(study, 'pbar', 'fixed')} and μ in {reach(study, 'mu', 'fixed')}; the grey one, "
        f"which pools all runs, μ in {reach(study, 'mu', 'neither')} and p̄ in "
        f"{reach(study, 'pbar', 'neither')}.",
        "Two panels with one row for each interval and one mark for each system.",
        "A number at the edge is a share below the scale.",
    )


def shares(study: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the paper's procedures and of closed forms, coverage in points."""
    rows = study[study["method"] != "exact"].copy()
    for truth in TRUTHS:
        found = [coverage(*x) for x in rows[[truth, "datasets"]].itertuples(index=False)]
        rows[[truth, f"{truth}_se"]] = found
    return rows


def reach(study: pd.DataFrame, truth: str, kind: str) -> str:
    """Return the smallest and the largest coverage by the intervals of an estimand or a name."""
    rows = shares(study)
    found = rows.loc[rows["interval"].map(ESTIMANDS).eq(kind) | rows["interval"].eq(kind), truth]
    low, high = f"{found.min():.1f}", f"{found.max():.1f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def setting(study: pd.DataFrame) -> str:
    """Say which data sets were drawn."""
    first, icc = study.iloc[0], study.groupby("model", sort=False)["icc"].first()
    names = [f"{model} (ICC {rho:.2f})" for model, rho in icc.items()]
    return (
        f"Each Beta gives {first['datasets']:,} data sets of {first['problems']} problems with "
        f"{first['runs']} runs. They are matched to {', '.join(names[:-1])} and {names[-1]}."
    )


def hits(study: pd.DataFrame) -> str:
    """Say how often an end of an interval is the mean itself, and where most often."""
    top = study.loc[(study["ends"] / study["datasets"]).idxmax()]
    kind = INTERVALS[top["interval"]]
    return (
        f"This happens most often to {kind.letter or kind.words}, in "
        f"{percent(top['ends'] / top['datasets'], 1)} of the data sets of {top['model']}."
    )


def unchanged(study: pd.DataFrame) -> str:
    """Say in how many data sets no verdict changed."""
    n, of = study["datasets"].max(), study.drop_duplicates("model").set_index("model")["unchanged"]
    told = [f"{k} of {n:,} data sets of {model}" for model, k in of.items() if k]
    return f"No verdict changes between runs in {' and '.join(told) or 'none of the data sets'}."


def bootstraps(study: pd.DataFrame) -> pd.DataFrame:
    """Return what the bootstraps give beside their limits for endless resamples."""
    drawn, exact = by_method(study)
    table = []
    for name, model in drawn.index:
        truth = "pbar" if ESTIMANDS[name] == "fixed" else "mu"
        row = {"interval": INTERVALS[name].label, "system": model, "covers": TRUTHS[truth]}
        for head, rows in (("drawn", drawn), ("exact", exact)):
            found = rows.loc[name, model]
            row[f"{head}, %"] = f"{coverage(found[truth], found['datasets'])[0]:.1f}"
            row[f"{head}, width"] = f"{100 * found['width']:.2f}"
        table.append(row)
    return pd.DataFrame(table)


def narrower(study: pd.DataFrame) -> str:
    """Return by how much drawing narrows the bootstrap intervals, on average."""
    drawn, exact = by_method(study)
    return percent(float((1 - drawn["width"] / exact["width"]).mean()), 2)


def by_method(study: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows of drawn and of exact bootstraps, by interval and system."""
    place = study["interval"].map(in_rows().index)
    rows = study.loc[place.sort_values(kind="stable").index].set_index(["interval", "model"])
    return [rows[rows["method"] == method] for method in ("monte-carlo", "exact")]


def beside(study: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's table with ours before each cell; an asterisk where they miss."""
    heads = {**{k: f"{v}, %" for k, v in TRUTHS.items()}, "width": "width, points"}
    table = []
    for (name, model), part in cells(study).groupby(["interval", "model"], sort=False):
        row = {"interval": INTERVALS[name].label, "system": model}
        for c in part.to_dict("records"):
            text = f"{c['here']:.1f} ({c['paper']:.1f})" + " *" * (c["off"] > 2)
            row[heads[c["metric"]]] = text
        table.append(row)
    return pd.DataFrame(table)


def agreement(study: pd.DataFrame) -> str:
    """Say whether the cells agree with the paper's, by the rule fixed beforehand."""
    found = cells(study)
    return (
        f"{(found['off'] > 2).sum()} of {len(found)} cells are off by more than two combined "
        "standard errors and half a unit of the last printed decimal, the worst by "
        f"{found['off'].max():.1f}. The tables {'agree' if accepted(found) else 'do not agree'} by "
        f"a rule that allows {MISSES} such cells, and none beyond three."
    )
