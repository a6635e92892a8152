"""The variance-ceiling paper's Appendix C: how well "passes every time" is predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.verdicts import refusal
from repeval.companion.studies import halfsplits
from repeval.messages import some
from repeval.stats.betabinomial import leave_one_out, subset_errors


def groups(r: Results) -> dict[str, list[str]]:
    """Return the models of the two groups that the paper may mean: it names neither."""
    return {"clean": [s.model for s in r.clean()], "all": [s.model for s in r.systems()]}


def split_errors(r: Results) -> pd.DataFrame:
    """Return the errors of half-splits in points, by quantity and group of systems.

    Returns
    -------
    DataFrame
        `one_split` is the error of a single split and `averaged` that of the mean over a seed's
        splits, both means over models and seeds, with their standard errors; `lowest` and
        `highest` are the ends of `averaged` over as many seeds as the paper has (the mean of
        several such ranges, where the study has more).
    """
    study, rows = r.study("halfsplits"), []
    for group, models in groups(r).items():
        errors = halfsplits.errors(study[study["model"].isin(models)])
        for quantity in halfsplits.QUANTITIES:
            found = errors.loc[quantity]
            ranges = found["averaged"].to_numpy().reshape(-1, paper()["vc-ac-seeds"].value)
            ends = ranges.min(axis=1).mean(), ranges.max(axis=1).mean()
            rows.append((quantity, group, *found.mean(), *found.sem(), *ends))
    names = ["one_split", "averaged", "one_split_se", "averaged_se", "lowest", "highest"]
    return pd.DataFrame(rows, columns=["quantity", "systems", *names])


def undefined(r: Results) -> str:
    """Say how many first halves no Beta law fits, and whose."""
    study = r.study("halfsplits")
    rows = study[study["quantity"] == halfsplits.QUANTITIES[0]]
    by_model = rows.groupby("model")["undefined"].sum().sort_values(ascending=False)
    whose = some([f"{model} {n:,}" for model, n in by_model.items() if n], len(by_model))
    of = f"{by_model.sum():,} of {rows['splits'].sum():,} first halves"
    return f"No Beta law fits {of}{f' ({whose})' * bool(whose)}."


def table5(r: Results) -> pd.DataFrame:
    """Return the mean |error| in points over all subsets of runs, by group and number of runs.

    Columns `all_runs` and `own`: with the score of all runs, and with that of the subset.
    """
    frame, rows = r.outcomes.rows(), []
    for model, runs in frame[frame["condition"] == r.condition].groupby("model"):
        y = runs["outcome"].to_numpy().reshape(-1, r.n_runs)
        for n in range(2, r.n_runs + 1):
            rows.append((model, n, *(100 * np.abs(e).mean() for e in subset_errors(y, n))))
    found = pd.DataFrame(rows, columns=["model", "runs", "all_runs", "own"]).set_index("model")
    tables = {
        group: found.loc[models].groupby("runs").mean() for group, models in groups(r).items()
    }
    return pd.concat(tables, names=["systems"]).reset_index()


def baselines(r: Results) -> pd.DataFrame:
    """Return the mean |error| in points, over all systems, of predictions for all problems."""
    here, everywhere = (
        np.array([(s.mean, s.retry_free) for s in systems]).T
        for systems in (r.systems(), r.analysis.systems)
    )
    power = "the score to the power of the runs"
    rows = [
        ("a line through the other models", r.condition, leave_one_out(*here)),
        (power, r.condition, here[0] ** r.n_runs - here[1]),
        (power, "all conditions", everywhere[0] ** r.n_runs - everywhere[1]),
    ]
    return pd.DataFrame(
        [(*about, 100 * np.abs(errors).mean()) for *about, errors in rows],
        columns=["prediction", "of", "error"],
    )


# Quantities of the study by the words of the ids.
QUANTITIES = {"cov": "retry-free", "pass3": "pass@3", "carryover": "carry-over"}


def clean(r: Results, quantity: str) -> Any:
    """Return the errors of a quantity over the clean systems."""
    return split_errors(r).set_index(["systems", "quantity"]).loc["clean", quantity]


def one_split(r: Results, quantity: str) -> tuple[float, float]:
    """Return the error of single splits, and its standard error over seeds."""
    found = clean(r, quantity)
    return found["one_split"], found["one_split_se"]


claim("vc-ac-loo-mae")(lambda r: baselines(r)["error"][0])
claim("vc-ac-{of}-mae")(lambda r, of: one_split(r, QUANTITIES[of]))
claim("vc-ac-{of}-bias")(lambda r, of: clean(r, QUANTITIES[of])["averaged"])
claim("vc-ac-{of}-bias-range")(
    lambda r, of: clean(r, QUANTITIES[of])[["lowest", "highest"]].tolist()
)


@claim("vc-ac-cov-bias-released", "vc-ac-pass3-bias-released", "vc-fn1-cov", "vc-fn1-pass3")
def one_draw(r: Results) -> float:
    """Refuse a figure of one draw of splits."""
    raise refusal(
        "one draw of splits, which needs the authors' seed and generator; how far draws differ is "
        "in the range over seeds"
    )


claim("vc-ac-halves")(lambda _: [-(-(n := paper()["vc-s4-n-common"].value) // 2), n // 2])
claim("vc-ac-loo-others")(lambda r: len(r.systems()) - 1)
claim("vc-ac-homog")(lambda r: baselines(r)["error"][2])


def subset_error(r: Results, n: int) -> float:
    """Return Table 5's error for n runs: clean systems, score of all runs."""
    return table5(r).set_index(["systems", "runs"]).loc[("clean", n), "all_runs"]


claim("vc-ac-t5-r{n}")(lambda r, n: subset_error(r, int(n)))
claim("vc-ac-t5-floor")(lambda r: subset_error(r, r.n_runs))
