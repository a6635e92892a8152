"""The bootstrap post's model: its ICC, and the widths that follow."""

from __future__ import annotations

import math
import re
from typing import Any

from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.companion.studies.strategies import TABLE
from repeval.stats.agreement import influence_icc
from repeval.stats.allocation import width_factor


@claim("bs-nk-rho")
def icc(_: Results | None = None) -> float:
    """Divide the variance of accuracy between the true labels by that of a single run."""
    return influence_icc(TABLE)


claim("bs-nk-floor", "bs-nk-floor-pct")(lambda _: math.sqrt(icc()))


@claim("bs-nk-pred-k{k}")
def predicted(_: Results, k: str) -> float:
    """Put the model's ICC into sqrt(rho + (1-rho)/k)."""
    return float(width_factor(icc(), int(k)))


@claim("bs-nk-obs-k{k}")
def observed(r: Results, k: str) -> tuple[float, float]:
    """Divide the mean widths of the simulation here."""
    rows = simulated(r, int(k), "cluster"), simulated(r, 1, "iid")
    ratio = rows[0]["width"] / rows[1]["width"]
    return ratio, ratio * math.hypot(*(row["width_se"] / row["width"] for row in rows))


def simulated(r: Results, k: int, strategy: str) -> Any:
    """Return a row of the study `strategies`: accuracy, 200 inputs, percentile interval."""
    study = r.study("strategies").set_index(["statistic", "n", "k", "strategy", "interval"])
    return study.loc[("accuracy", 200, k, strategy, "percentile")]


def printed(pattern: str) -> dict[tuple[str, ...], float]:
    """Return what the post prints for the claims that match, by what varies in their ids."""
    found = ((re.fullmatch(pattern, key), c.value) for key, c in paper().items())
    return {match.groups(): value for match, value in found if match}
