"""How far ceilings move with the problems (VC Appendix H), from the study `subsets`."""

from __future__ import annotations

import math

import pandas as pd

from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.companion.studies import subsets


def row(r: Results, n: str, model: str = subsets.MEDIAN) -> pd.Series:
    """Return what the study found for subsets of n problems."""
    return r.study("subsets").set_index(["n", "model"]).loc[int(n), model]


@claim("vc-ah-n{n}", "vc-s52-n{n}-band")
def band(r: Results, n: str, model: str = subsets.MEDIAN) -> tuple[list[float], float]:
    """Take percentiles over random subsets, each drawn once for all systems."""
    found = row(r, n, model)
    return [found["low"], found["high"]], found["se"]


SYSTEMS = {"turbo": "Qwen-Turbo", "flash": "Gemini 3 Flash"}
claim("vc-ah-{system}-n{n}")(lambda r, system, n: band(r, n, SYSTEMS[system]))


@claim("vc-ah-undefined")
def undefined(r: Results) -> tuple[float, float]:
    """Count subsets of the smallest size in which the ceiling of any system is infinite."""
    found = row(r, 30)
    share = found["undefined"]
    return share, math.sqrt(share * (1 - share) / found["draws"])
