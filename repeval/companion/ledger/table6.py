"""The variance-ceiling paper's Appendix D and Table 6: simulated coverage of six intervals."""

from __future__ import annotations

import math
import re
from typing import Any

import pandas as pd

from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.vc import ends
from repeval.stats.betabinomial import fit_beta_binomial

# The paper's intervals, as ids of claims call them.
LETTERS = {
    "a": "pooled_wilson",
    "b": "two_level",
    "b1": "one_level",
    "b2": "clustered_normal",
    "c": "fixed_normal",
    "c1": "fixed_bootstrap",
}
# So many cells may be off by more than two combined standard errors.
MISSES = 3


def slug(model: str) -> str:
    """Return a model's name as ids of claims have it."""
    return re.sub(r"[^a-z0-9]", "", model.lower())


claim("vc-t6-mcse")(lambda _: 100 * math.sqrt(0.95 * 0.05 / paper()["vc-t6-datasets"].value))


@claim("vc-t6-icc-{model}")
def matched_icc(r: Results, model: str) -> float:
    """Match a Beta to the mean and the between-problem variance; ICC is 1/(1+alpha+beta)."""
    named = {slug(name): name for name in r.outcomes.models}
    beta = fit_beta_binomial(r.outcomes.system(named[model], r.condition), method="paper")
    return 1 / (1 + beta.alpha + beta.beta)


@claim("vc-ad-cov-{interval}")
def coverage_range(r: Results, interval: str) -> list[float]:
    """Compare the paper's text with its own Table 6, which is not recomputed here."""
    cell = rf"vc-t6-\w+-{interval}-{'pbar' if interval.startswith('c') else 'mu'}"
    return ends(c.value for key, c in paper().items() if re.fullmatch(cell, key))


@claim("vc-t6-{model}-{letter}-{metric}")
def cell(r: Results, model: str, letter: str, metric: str) -> tuple[float, float]:
    """Draw data sets from the matched Beta as the paper did; count covers, or average widths."""
    return estimate(simulated(r.study("coverage")).loc[model, letter], metric)


def simulated(study: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that follow the paper's procedure, by model and letter as in ids."""
    letters = {name: letter for letter, name in LETTERS.items()}
    rows = study[study["interval"].isin(letters) & (study["method"] != "exact")]
    return rows.set_index([rows["model"].map(slug), rows["interval"].map(letters)])


def estimate(row: Any, metric: str) -> tuple[float, float]:
    """Return a cell in points, and its standard error."""
    if metric == "width":
        return 100 * row["width"], 100 * row["width_se"]
    return coverage(row[metric], row["datasets"])


def coverage(covering: float, datasets: int) -> tuple[float, float]:
    """Return a coverage in points, and its standard error, which is not zero at 0 or 100."""
    share = (covering + 2) / (datasets + 4)
    return 100 * covering / datasets, 100 * math.sqrt(share * (1 - share) / (datasets + 4))


def cells(study: pd.DataFrame) -> pd.DataFrame:
    """Hold every printed cell against the study `coverage`.

    Returns
    -------
    DataFrame
        One row a cell: `model`, `interval`, `metric`; what the `paper` prints and what is found
        `here`, both in points; `off`, by how many combined standard errors they differ beyond half
        a unit of the last printed decimal. The paper's own errors are those of as many data sets as
        it drew.
    """
    rows, n, found = simulated(study), paper()["vc-t6-datasets"].value, []
    for key, entry in paper().items():
        if not (match := re.fullmatch(r"vc-t6-(\w+)-([abc]\d?)-(\w+)", key)):
            continue
        model, letter, metric = match.groups()
        row = rows.loc[model, letter]
        here, se = estimate(row, metric)
        printed = se * math.sqrt(row["datasets"] / n)
        if metric != "width":
            printed = coverage(entry.value / 100 * n, n)[1]
        beyond = abs(here - entry.value) - 0.5 * 10.0 ** -entry.tolerance["mc"]["round"]
        off = max(beyond, 0) / math.hypot(se, printed)
        found.append((row["model"], row["interval"], metric, entry.value, here, off))
    return pd.DataFrame(found, columns=["model", "interval", "metric", "paper", "here", "off"])


def accepted(found: pd.DataFrame) -> bool:
    """Decide whether `cells` agree: `MISSES` at most are off by more than 2, none by more than 3.

    Cells share data sets, so that misses come in groups.
    """
    return bool((found["off"] > 2).sum() <= MISSES and found["off"].max() <= 3)
