"""Where the texts' own figures disagree: the tables and sentences of that page.

Each function takes `Results`, or verdicts by id; what it says holds for the stand-in and for the
released outcomes alike. Comparisons of neighbours are in `neighbours`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from statistics import fmean, median

import pandas as pd

from repeval.companion.ledger.entries import SMALLER, anchors, disagreements, paper
from repeval.companion.ledger.judge import Verdict, agrees
from repeval.companion.ledger.results import Results, published
from repeval.companion.ledger.scorecard import here, place, says, table
from repeval.companion.ledger.vc import cost, median_ratio, ratio
from repeval.report.format import percent
from repeval.stats import allocation
from repeval.stats.allocation import inflation, width_factor

# Figures that are sensitive to the rounding of their input, with the input and the formula.
NOISE, ALIKE = "vc-s53-ratio-of-medians", "vc-s53-median-ratio"
UNROUNDED = {
    "vc-s52-narrowing-max": ("vc-s52-ceiling-max", lambda x: 1 - x**-0.5),
    "vc-s53-rstar-coef": (NOISE, math.sqrt),
    "vc-s53-breakeven": (NOISE, lambda x: 1 / x),
    "vc-s53-r5-optimal": (NOISE, lambda x: paper()["vc-s4-runs"].value ** 2 / x),
    "vc-s53-rstar-coef-alt": (ALIKE, math.sqrt),
    "vc-s53-r5-optimal-alt": (ALIKE, lambda x: paper()["vc-s4-runs"].value ** 2 / x),
}


def slug(model: str) -> str:
    """Return a model's name as ids of claims have it."""
    return re.sub(r"[^a-z0-9]", "", model.lower())


def printed(key: str) -> str:
    """Return what the paper prints for a claim."""
    return says(paper()[key])


def flat_side(r: Results) -> pd.DataFrame:
    """Return what a wrong number of runs costs, prices moved and prices kept."""
    runs, price, noise = r.n_runs, cost(r), ratio(r)
    moved = [("ten times dearer", 10 * price, runs), ("ten times cheaper", price / 10, runs)]
    kept = [("as assumed", price, runs * factor) for factor in (math.sqrt(10), math.sqrt(0.1))]
    rows = []
    for what, dear, made in moved + kept:
        best = allocation.optimal_runs(noise, dear)
        wider = float(allocation.relative_width(made, noise, dear)) - 1
        side = "many" if made > best else "few"
        rows.append(
            {
                "problems are": what, "best runs": f"{best:.1f}", "runs made": f"{made:.1f}",
                "too": side, "wider than the best": percent(wider, 1),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def whole_runs(r: Results) -> pd.DataFrame:
    """Return from which price on runs pay, R taken as continuous and as whole."""
    rows, price = [], paper()["vc-s53-r5-optimal"].value
    ratios = {"of medians": ratio(r), "median": median_ratio(r)}
    for what, noise in ratios.items():
        rows.append(
            {
                "ratio": what,
                "R* passes one at": allocation.cost_ratio_for(noise, 1),
                "a second run pays above": allocation.break_even(noise, 1),
                f"{r.n_runs} runs are best from": allocation.break_even(noise, r.n_runs - 1),
                "to": allocation.break_even(noise, r.n_runs),
                f"best at {price}": allocation.optimal_integer_runs(noise, price),
            }
        )
    return pd.DataFrame(rows)


def run_labels(r: Results) -> str:
    """Say how far the means of the run labels differ, against what run noise alone gives."""
    means = r.outcomes.frame.groupby(["model", "condition", "run"])["outcome"].mean().unstack()
    found = [
        means.loc[(s.model, s.condition)].var(ddof=1) * s.n_problems / s.within
        for s in r.analysis.systems
    ]
    return (
        f"Over {len(found)} systems, the means of the {r.n_runs} run labels vary on average "
        f"{fmean(found):.2f} times as much as run noise alone makes them (in variance). A run that "
        "meant the same for all problems would push this above one."
    )


def unrounded(found: Mapping[str, Verdict]) -> pd.DataFrame:
    """Return figures that hold for unrounded inputs only."""
    return pd.DataFrame(
        {
            "figure": found[key].claim.quantity,
            "printed": says(found[key].claim),
            "from printed inputs": f"{formula(found[given].claim.value):.4g}",
            "from unrounded inputs": f"{found[key].computed:.4g}",
        }
        for key, (given, formula) in UNROUNDED.items()
    )


def hold_unrounded(found: Mapping[str, Verdict]) -> str:
    """Say how many of them hold for unrounded inputs."""
    ours = [agrees(found[key].claim, found[key].computed) for key in UNROUNDED]
    return f"For unrounded inputs {sum(ours)} of {len(ours)} hold."


def first_version(r: Results) -> pd.DataFrame:
    """Return medians of the earlier version's run noise, without and with its factor R/(R-1)."""
    cells = published(r).loc[[s.model for s in r.clean()]]
    rows = []
    for what, within in {"as printed": cells["plain"], "as defined": cells["within"]}.items():
        ceiling = 1 + within / (cells["spread"] - within / r.n_runs)
        rows.append({"run noise": what, "median": within.median(), "ceiling": ceiling.median()})
    return pd.DataFrame(rows)


def opposite_advice(r: Results) -> pd.DataFrame:
    """Return what two levels add to a width, and what repeating takes off, at each text's ICC.

    References
    ----------
    VC Appendix D and BS "Hierarchical": the factors are those of `repeval.stats.allocation`.
    """
    places = {
        f"the paper, {model}": (c.value, r.n_runs)
        for model in r.outcomes.models
        if (c := paper().get(f"vc-t6-icc-{slug(model)}"))
    }
    ceiling = median(p.ceiling for p in r.adjacent)
    places["differences of neighbours, here"] = (1 / ceiling, r.n_runs)
    post = paper()["bs-nk-rho"].value, max(paper()["bs-nk-k-options"].value)
    places["the post, its simulation"] = post
    rows = []
    for what, (icc, runs) in places.items():
        rows.append(
            {
                "where": what, "icc": icc, "runs": runs,
                "two levels widen by": percent(float(inflation(icc, runs)) - 1, 1),
                "these runs narrow by": percent(1 - float(width_factor(icc, runs))),
                "endless runs narrow by": percent(1 - math.sqrt(icc)),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def never_negative(found: Mapping[str, Verdict]) -> pd.DataFrame:
    """Return the claims that count estimates of the difficulty spread by their sign."""
    keys = ("s53-never-negative", "s3-positive", "ae-positive", "ae-ref-nonpos", "ae-boot-pos",
            "ah-undefined")  # fmt: skip
    return table(found[f"vc-{key}"] for key in keys)


def invented(found: Mapping[str, Verdict]) -> list[Verdict]:
    """Return what differs for no fault of the texts: figures that the stand-in cannot give."""
    return [v for v in found.values() if v.verdict == "known" and v.claim.id not in anchors()]


def not_the_texts(found: Mapping[str, Verdict]) -> str:
    """Say whether figures differ for no fault of the texts."""
    if not (n := len(invented(found))):
        return "None differs here for such a reason."
    return f"Of {len(found)} claims {n} differ for such a reason; nothing is said against them."


def smaller(found: Mapping[str, Verdict]) -> pd.DataFrame:
    """Return the disagreements without a section of their own, each once."""
    rows: dict[str, dict[str, list[str]]] = {}
    for entry in disagreements():
        v = found.get(entry.get("id"))
        if "text" not in entry or (v and anchors()[v.claim.id] != SMALLER):
            continue
        kind = [entry.get("kind", "wording")]
        row = rows.setdefault(entry["text"], {"place": [], "kind": kind, "said": [], "here": []})
        row["place"].append(entry.get("place") or place(v.claim))
        if v:
            row["said"].append(says(v.claim))
            row["here"].append(here(v))
    return pd.DataFrame(
        {
            "where": ", ".join(dict.fromkeys(row["place"])),
            "kind": row["kind"][0],
            "what": text,
            "printed": "; ".join(dict.fromkeys(row["said"])) or None,
            "here": "; ".join(dict.fromkeys(row["here"])) or None,
        }
        for text, row in rows.items()
    )
