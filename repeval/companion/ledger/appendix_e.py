"""What a pilot of few runs knows (VC Appendix E and section 5.3), from the study `pilot`."""

from __future__ import annotations

from statistics import median

import pandas as pd

from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.vc import ends
from repeval.companion.studies import pilot

Ends = tuple[list[float], float]


def errors(r: Results, *runs: int) -> pd.DataFrame:
    """Return the rows of Table 7 with so many runs."""
    found = pilot.errors(r.study("pilot"))
    return found[found["runs"].isin(runs)]


def width(r: Results, runs: int) -> pd.Series:
    """Return what the study found on all problems with so many runs."""
    return pilot.widths(r.study("pilot")).set_index("runs").loc[runs]


def both(found: pd.DataFrame, name: str) -> Ends:
    """Return the smallest and the largest error, and the larger standard error."""
    return ends(found[name]), found[f"{name}_se"].max()


@claim("vc-ae-r{runs}-{figure}")
def component_error(r: Results, runs: str, figure: str) -> Ends:
    """Average over splits and systems, the reference from unused runs and from all in turn."""
    return both(errors(r, int(runs)), figure)


@claim("vc-ae-floor-{figure}", "vc-s53-floor-{figure}")
def floor(r: Results, figure: str) -> tuple[float, float]:
    """Average over splits and systems, all runs used on both halves."""
    (error, _), se = both(errors(r, r.n_runs), figure)
    return error, se


@claim("vc-s53-pilot-{figure}-mae")
def pilot_errors(r: Results, figure: str) -> Ends:
    """Take the smallest and the largest of the four mean errors of two and three runs."""
    return both(errors(r, 2, 3), figure)


@claim("vc-ae-positive")
def positive(r: Results) -> list[int]:
    """Count estimating halves with a positive component where they are fewest, and all."""
    found = errors(r, 2, 3, r.n_runs)
    fewest = (found["splits"] - found["estimates_undefined"]).min()
    return [int(fewest), int(found["splits"].max())]


@claim("vc-s53-never-negative")
def never_negative(r: Results) -> int:
    """Count estimating halves with a component at or below zero, over all numbers of runs."""
    return int((r.study("pilot")["estimate"] <= 0).sum())


@claim("vc-ae-ref-nonpos")
def references_undefined(r: Results) -> int:
    """Count reference halves at or below zero where two runs are left for them."""
    return int(errors(r, r.n_runs - 2)["references_undefined"].max())


@claim("vc-ae-boot-pos")
def resamples_positive(r: Results) -> float:
    """Sum the exact law of resampled problems, all of them, over systems and choices of runs."""
    return width(r, 2)["positive"]


@claim("vc-ae-ci-r{runs}")
def interval_width(r: Results, runs: str) -> tuple[float, float]:
    """Take the median of exact intervals on all problems; average over choices of runs."""
    found = width(r, int(runs))
    return found["width"], found["width_se"]


@claim("vc-ae-ci-gain")
def gain(_: Results) -> float:
    """Divide the two printed widths; the page's figure has those of the data."""
    return 1 - paper()["vc-ae-ci-r5"].value / paper()["vc-ae-ci-r3"].value


claim("vc-ae-median-excess")(lambda r: median(r.values("ceiling")) - 1)
claim("vc-ae-total-splits")(lambda r: len(r.clean()) * paper()["vc-ae-splits"].value)
