"""The bootstrap post's simulation: coverage, widths, and what it makes of them."""

from __future__ import annotations

import math
import re
from typing import Any

from scipy import special

from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.vc import ends
from repeval.companion.studies.strategies import (
    SIZES,
    TABLE,
    TAILS,
    exact_accuracy_coverage,
    mode_table,
    truths,
)
from repeval.stats.agreement import influence_icc

# The strategies, as ids of claims call them; the others have their own names.
NAMES = {"single": "single_draw", "hier": "hierarchical", "mode": "mode_aggregate"}

claim("bs-sim-accuracy")(lambda _: truths()["accuracy"])
claim("bs-kappa-true")(lambda _: truths()["kappa"])


@claim("bs-gen-rho")
def icc(_: Results | None = None) -> float:
    """Divide the variance of accuracy between the true labels by that of a single run."""
    return influence_icc(TABLE)


@claim("bs-sim-se", "bs-bca-acc-se")
def coverage_error(_: Results | None = None) -> float:
    """Put the post's number of trials into sqrt(c(1-c)/n), c = 95%."""
    return 100 * math.sqrt(0.95 * 0.05 / paper()["bs-sim-trials"].value)


claim("bs-sim-noise-band")(lambda _: 2 * coverage_error())


# The cells of the tables


@claim(
    "bs-acc-n{n}-k1-iid-coverage", "bs-accbyn-n{n}-k1-iid-coverage",
    "bs-acc-n{n}-k{k}-mode-coverage", "bs-accbyn-n{n}-k{k}-mode-coverage",
)  # fmt: skip
def exact_coverage(_: Results, n: str, k: str = "1") -> float:
    """Sum the exact law of right labels over all intervals that cover, for endless resamples."""
    return 100 * exact_accuracy_coverage(int(n), truths(mode_table(int(k)))["accuracy"])


@claim("bs-{table}-n{n}-k{k}-{kind}-{metric}", "bs-kappa-n100-{kind}")
def cell(
    r: Results, kind: str, table: str = "kappa", n: str = "100", k: str = "5",
    metric: str = "coverage",
) -> tuple[float, float]:  # fmt: skip
    """Simulate as the post did; widths are brought to what its number of resamples gives."""
    statistic = "kappa" if table.startswith("kappa") else "accuracy"
    row = simulated(r, statistic, int(n), int(k), kind)
    scale = 1.0
    if metric == "width" and kind != "normal":
        drawn = next(s["n_resamples"] for s in SIZES.values() if s["trials"] == row["trials"])
        scale = narrowing(paper()["bs-sim-B"].value) / narrowing(drawn)
    return scale * row[metric], scale * row[f"{metric}_se"]


def narrowing(n_resamples: int) -> float:
    """Return a percentile width over that of endless resamples, on average.

    Notes
    -----
    To second order, for normal draws: of n sorted ones the r-th is at a level that is Beta(r,
    n + 1 - r), and the normal quantile z bends by z/phi(z)^2.
    """
    level = (1 + (n_resamples - 1) * TAILS[0]) / (n_resamples + 1)
    z = special.ndtri(level)
    bend = z * 2 * math.pi * math.exp(z**2)
    return float((z + bend * level * (1 - level) / (n_resamples + 2) / 2) / special.ndtri(TAILS[0]))


def simulated(r: Results, statistic: str, n: int, k: int, kind: str) -> Any:
    """Return a row of the study `strategies`, by the kind of interval as in ids."""
    interval = kind if kind in ("bca", "normal") else "percentile"
    strategy = NAMES.get(kind, "cluster" if k > 1 else "iid")
    study = r.study("strategies").set_index(["statistic", "n", "k", "strategy", "interval"])
    return study.loc[(statistic, n, k, strategy, interval)]


@claim("bs-bca-acc-diff")
def bca_gain_accuracy(r: Results) -> float:
    """Simulate both intervals on the same data; of all settings the largest change, in points."""
    study = r.study("strategies")
    rows = study[(study["strategy"] == "cluster") & (study["statistic"] == "accuracy")]
    by = rows.pivot(index=["n", "k"], columns="interval", values="coverage")
    return float(max(by["bca"] - by["percentile"], key=abs))


# What the post makes of its tables


def printed(pattern: str) -> dict[tuple[str, ...], float]:
    """Return what the post prints for the claims that match, by what varies in their ids."""
    found = ((re.fullmatch(pattern, key), c.value) for key, c in paper().items())
    return {match.groups(): value for match, value in found if match}


@claim("bs-take-half")
def below_half(_: Results) -> float:
    """Divide the printed widths at each N; of the ratios the largest."""
    iid, cluster = (printed(rf"bs-accbyn-n(\d+)-{kind}-width") for kind in ("k1-iid", "k5-cluster"))
    return max(cluster[n] / width for n, width in iid.items())


@claim("bs-take-25pct")
def narrower(_: Results) -> float:
    """Compare the printed widths in each setting; of the shares that furthest from the claim."""
    cluster, both = (printed(rf"bs-acc\w*-n(\d+)-k(\d)-{k}-width") for k in ("cluster", "hier"))
    says = paper()["bs-take-25pct"].value
    return max((1 - cluster[at] / both[at] for at in both), key=lambda share: abs(share - says))


@claim("bs-kappa-bca-gain")
def bca_gain(_: Results) -> list[float]:
    """Subtract the printed coverages in each setting."""
    plain, bca = (
        printed(rf"bs-kappa\w*-n(\d+)-k(\d)-{kind}-coverage") for kind in ("cluster", "bca")
    )
    return ends(bca[at] - plain[at] for at in bca)
