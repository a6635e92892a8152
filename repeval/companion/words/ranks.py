"""Words and tables on ranks: how far each kind of interval reaches, ties, and what it holds."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import pandas as pd

from repeval.messages import some
from repeval.report.format import count, percent, points, reach
from repeval.report.rows import Rank

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis

# How the kinds of interval are called, the paper's first.
KINDS = {
    "two_level": "two-level interval",
    "one_level": "one-level interval",
    "set": "rank set",
}


def limits(row: Rank, kind: str) -> tuple[int, int]:
    """Return the limits of one kind of interval."""
    return {
        "two_level": row.two_level.rank_interval,
        "one_level": row.rank_interval,
        "set": row.rank_set,
    }[kind]


def two_level_table(analysis: Analysis, condition: str) -> pd.DataFrame:
    """Return rank intervals and shares of high places by the two-level law, best first.

    References
    ----------
    VC Table 8.
    """
    return pd.DataFrame(
        {
            "model": r.model,
            "rank": r.rank,
            "interval": reach(r.two_level.rank_interval, "-"),
            "first in": percent(r.two_level.p_first),
            "in top three in": percent(r.two_level.p_top3),
        }
        for r in analysis.ranks
        if r.condition == condition
    )


def reaches(analysis: Analysis, condition: str) -> str:
    """Say how many ranks each kind of interval covers, and whose rank it settles."""
    rows = [r for r in analysis.ranks if r.condition == condition]
    said = []
    for kind, name in KINDS.items() if rows else ():
        ends = [limits(r, kind) for r in rows]
        settled = [r.model for r, (low, high) in zip(rows, ends, strict=True) if low == high]
        wide = [high - low + 1 for low, high in ends]
        said.append(
            f"The {name} covers {count(reach(wide), 'rank')} (mean {statistics.fmean(wide):.1f}) "
            f"and settles {some(settled) if settled else 'no rank'}."
        )
    return " ".join(said) or "Ranks take two models with problems in common."


def ties(analysis: Analysis, condition: str) -> str:
    """Say to what the shares of first places add up, and why."""
    rows = [r for r in analysis.ranks if r.condition == condition]
    if not rows:
        return "Without ranks nobody shares one."
    total = sum(r.two_level.p_first for r in rows)
    return (
        f"Over {count(len(rows), 'model')} the shares of first places add up to {total:.3f}: "
        "so many share the first place of a resample, on average."
    )


def coverage_table(study: pd.DataFrame) -> pd.DataFrame:
    """Return how often intervals held the true rank, for each spread of the true scores."""
    share = study.assign(share=study["held"] / study["sets"])
    grouped = share.groupby(["spread", "kind"])
    table = grouped.agg(worst=("share", "min"), mean=("share", "mean"), ranks=("length", "mean"))
    return pd.DataFrame(
        {
            "first less last, points": points(spread),
            "kind": KINDS[kind],
            "holds, mean": percent(row["mean"]),
            "worst place": percent(row["worst"]),
            "ranks covered": f"{row['ranks']:.1f}",
        }
        for spread in study["spread"].unique()
        for kind in KINDS
        for row in [table.loc[spread, kind]]
    )


def coverage(study: pd.DataFrame) -> str:
    """Say how rarely the intervals hold where systems are closest, and how large the study was."""
    close = study[study["spread"] == study["spread"].min()]
    share = close["held"].div(close["sets"]).groupby(close["kind"]).agg(["mean", "min"]).T
    says = {k: f"{percent(v['mean'])} of cases (worst place {percent(v['min'])})"
            for k, v in share.items()}  # fmt: skip
    return (
        f"In {close['sets'].iloc[0]} made-up data sets of {close['rank'].max()} systems within "
        f"{points(close['spread'].min())} points of each other, the one-level interval holds the "
        f"true rank in {says['one_level']}, the two-level interval in {says['two_level']}, and the "
        f"rank set in {says['set']}."
    )
