"""Neighbours compared in more ways than the paper's: what shows that its counts can be read anew.

Each function takes `Results`; what it says holds for the stand-in and the released outcomes alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repeval.companion.ledger.results import Results, published
from repeval.companion.ledger.vc import ratio
from repeval.report.format import percent
from repeval.stats import allocation
from repeval.stats.comparison import holm
from repeval.stats.intervals import normal_quantile

if TYPE_CHECKING:
    from repeval.report.rows import Law

# What may be taken for luck in the lead of one neighbour over the next.
RUNS, THESE, NEW, UNPAIRED = (
    "all runs, as independent", "runs of these problems", "problems, the same for both systems",
    "problems, others for each system",
)  # fmt: skip
LAW = "apart by the paper's law"


def leads(r: Results) -> pd.DataFrame:
    """Return each neighbour's lead, in points, and in standard errors by what is taken for luck.

    The columns `published` are from the earlier version's counts.
    """
    scores, cells, runs = {s.model: s for s in r.systems()}, published(r), r.n_runs
    rows = []
    for p in r.adjacent:
        a, b = scores[p.model_a], scores[p.model_b]
        c, d = cells.loc[p.model_a], cells.loc[p.model_b]
        noise = p.within / runs
        unpaired = sum(s.between + s.within / runs for s in (a, b))
        kinds = {THESE: noise, NEW: p.between + noise, UNPAIRED: unpaired}
        share = (c["n"] * c["mean"] + d["n"] * d["mean"]) / (c["n"] + d["n"])
        old = {
            RUNS: share * (1 - share) * (1 / c["n"] + 1 / d["n"]) / runs,
            THESE: (c["within"] / c["n"] + d["within"] / d["n"]) / runs,
        }
        gap = abs(c["mean"] - d["mean"])
        rows.append(
            {
                "pair": f"{p.model_a}, {p.model_b}",
                "lead": 100 * p.difference,
                RUNS: p.pooled.z,
                **{what: p.difference / math.sqrt(v / p.n_problems) for what, v in kinds.items()},
                **{f"published: {what}": gap / math.sqrt(v) for what, v in old.items()},
                LAW: p.two_level.resolved,
            }
        )
    return pd.DataFrame(rows)


def estimand(r: Results) -> str:
    """Say how many neighbours are told apart on exactly these problems, and on new ones."""
    z, found = normal_quantile(r.analysis.settings.level), leads(r)
    return (
        f"Of {len(found)} pairs of neighbours the paper's law leaves {(~found[LAW]).sum()} open, "
        "on new problems. On exactly these problems, where only the luck of the runs is in doubt, "
        f"{sum(p.fixed.resolved for p in r.adjacent)} are told apart. The counts that the earlier "
        "version printed, with the problem left out since, give "
        f"{(found[f'published: {THESE}'] > z).sum()}."
    )


def same_pairs(r: Results) -> str:
    """Say whether the pooled test and the paper's law tell the same pairs apart."""
    found = leads(r)
    pooled = found[RUNS] > normal_quantile(r.analysis.settings.level)
    same = "they are the same" if (pooled == found[LAW]).all() else "they are not all the same"
    return (
        f"The pooled test leaves {(~pooled).sum()} of {len(found)} pairs open, the paper's law "
        f"{(~found[LAW]).sum()}; {same}."
    )


def standard_errors(r: Results) -> pd.DataFrame:
    """Return the median standard error of a lead, and who is told apart, by what is luck."""
    z, found = normal_quantile(r.analysis.settings.level), leads(r)
    old = {what: found.get(f"published: {what}") for what in (RUNS, UNPAIRED, NEW, THESE)}
    return pd.DataFrame(
        {
            "taken for luck": what,
            "standard error, points (median)": (found["lead"] / found[what]).median(),
            "apart": f"{(found[what] > z).sum()} of {len(found)}",
            "by published counts": None if counts is None else f"{(counts > z).sum()}",
        }
        for what, counts in old.items()
    )


def two_ceilings(r: Results) -> pd.DataFrame:
    """Return what repeating buys for a score, and for the difference of two neighbours."""

    def row(what: str, ceilings: Sequence[float], ratio: float, left: Sequence[float], price: int):
        return {
            "of": what,
            "ceiling (median)": median(ceilings),
            "lowest": min(ceilings),
            "highest": max(ceilings),
            "endless runs narrow, from one": percent(1 - median(ceilings) ** -0.5),
            "from those at hand": percent(median(left)),
            # A repetition of a pair costs two runs.
            "R* over the root of the price": math.sqrt(ratio / price),
            "a second run pays above": price * allocation.break_even(ratio, 1),
        }

    scores, pairs = r.values("ceiling"), [p.ceiling for p in r.adjacent]
    left = [p.remaining_narrowing for p in r.adjacent]
    return pd.DataFrame(
        [
            row("a score", list(scores), ratio(r), list(r.values("remaining_narrowing")), 1),
            row("a difference of neighbours", pairs, median(pairs) - 1, left, 2),
        ]
    )


def pair_test(r: Results) -> pd.DataFrame:
    """Return how often two equally good systems are told apart, by both laws."""
    rows = []
    groups = r.study("pairsize").groupby(["null", "law"], sort=False)
    for (null, law), part in groups:
        n, share = part["datasets"].sum(), part["apart"].sum() / part["datasets"].sum()
        rows.append(
            {
                "two equal systems": null,
                "law": law.replace("_", "-"),
                "told apart": percent(share, 1),
                "standard error": percent(math.sqrt(share * (1 - share) / n), 2),
                "interval, points": 100 * part["width"].mean(),
            }
        )
    return pd.DataFrame(rows)


def corrected(r: Results) -> pd.DataFrame:
    """Return how many neighbours stay apart when asking about all at once (Holm), by law."""
    level, pairs = r.analysis.settings.level, r.adjacent
    half = [(p.fixed.interval[1] - p.fixed.interval[0]) / 2 for p in pairs]
    z = np.array([p.difference for p in pairs]) * normal_quantile(level) / np.array(half)
    p_values = {
        "new, the paper's law": [_two_sided(p.two_level) for p in pairs],
        "new, one-level": [_two_sided(p.one_level) for p in pairs],
        "new, this book": [p.p_value for p in pairs],
        "these": [math.erfc(abs(v) / math.sqrt(2)) for v in z],
    }
    return pd.DataFrame(
        {
            "problems": what,
            "apart": f"{sum(x < 1 - level for x in p)} of {len(p)}",
            "after correction": f"{(holm(p) < 1 - level).sum()} of {len(p)}",
            "smallest p": _small(min(p)),
            "corrected": _small(holm(p).min()),
        }
        for what, p in p_values.items()
    )


def _two_sided(law: Law) -> float:
    """Return twice the smaller share of resamples on one side of zero, ties included."""
    return min(1.0, 2 * min(law.p_greater + law.p_tie, 1 - law.p_greater))


def _small(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "<0.001"


def rank_sets(r: Results) -> str:
    """Say how much longer confidence sets for ranks are than intervals of resampled ranks."""
    rows = [row for row in r.analysis.ranks if row.condition == r.condition]
    spans = {
        "the paper's intervals": [row.two_level.rank_interval for row in rows],
        "confidence sets": [row.rank_set for row in rows],
    }
    told = [
        f"{what} give {sum(lo == hi for lo, hi in ends)} of {len(ends)} systems a single rank and "
        f"hold {fmean(hi - lo + 1 for lo, hi in ends):.1f} ranks on average"
        for what, ends in spans.items()
    ]
    said = "; ".join(told)
    return f"{said[0].upper()}{said[1:]}."
