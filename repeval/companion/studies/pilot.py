"""What a pilot of few runs knows: components from half the problems, held against the other half.

References
----------
VC Appendix E, Table 7.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from repeval.io import registry
from repeval.stats.allocation import cost_ratio_for, optimal_runs, relative_width
from repeval.stats.ceiling import ceiling_interval, icc_from_means
from repeval.stats.resampling import keyed_generator
from repeval.stats.sample import FloatArray, IntArray, Sample, from_counts

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

SIZES = {
    "quick": {"pilots": (2, 3), "splits": 200, "draws": 40},
    "full": {"pilots": (2, 3), "splits": 200, "draws": 200},
}


def systems(outcomes: Outcomes) -> dict[str, Sample]:
    """Return the paper's systems that pooled statistics count, on their common problems."""
    paper = registry.default_dataset()
    samples, _ = outcomes.common(paper["default_condition"])
    return {m: s for m, s in samples.items() if m not in paper["excluded_systems"]}


def tasks(outcomes: Outcomes, **_: Any) -> list[tuple[str, IntArray, int]]:
    """Return a piece for each system: name, passes, runs."""
    return [(m, s.passes, int(s.runs[0])) for m, s in systems(outcomes).items()]


def rows(
    task: tuple[str, IntArray, int], seed: int, pilots: tuple[int, ...], splits: int, draws: int
) -> list[dict[str, Any]]:
    """Split the problems of one system at random, and estimate from both halves.

    A run index means nothing across problems, so the runs of a pilot are drawn for each problem.

    Returns
    -------
    list of dict
        One row for each number of `runs` and split: the ICC from so many runs of the one half
        (`estimate`), and from the other half's `unused` runs (NaN if none are left) and from
        `all` of them. For the first `draws` also, on all problems, the `width` of the 95 %
        interval of the ceiling and the law's share of resamples with σ_b² <= 0 (`undefined`).
    """
    model, passes, runs = task
    rng = keyed_generator(seed, "pilot", model)
    shuffled = rng.permuted(np.tile(passes, (splits, 1)), axis=1)
    half = (len(passes) + 1) // 2
    here, there = shuffled[:, :half], shuffled[:, half:]

    def drawn(k: IntArray, used: int) -> IntArray:
        return rng.hypergeometric(k, runs - k, used)

    table = []
    for used in (*pilots, runs):
        left = runs - used
        found = {
            "estimate": icc(drawn(here, used), used),
            "unused": icc(drawn(there, left), left) if left else np.full(splits, math.nan),
            "all": icc(there, runs),
            "width": np.full(splits, math.nan),
            "undefined": np.full(splits, math.nan),
        }
        for i in range(draws if left else 1):
            whole = ceiling_interval(from_counts(drawn(passes, used), used), kind="percentile")
            found["width"][i], found["undefined"][i] = whole.high - whole.low, whole.undefined
        about = {"model": model, "runs": used, "split": range(splits)}
        table += pd.DataFrame(about | found).to_dict("records")
    return table


def icc(passes: IntArray, runs: int) -> FloatArray:
    """Return ρ of many samples, (splits, problems) passes out of so many runs each."""
    p = passes / runs
    v = p * (1 - p) * runs / (runs - 1)
    return icc_from_means(np.stack([p, p**2, v / runs, v], axis=-1).mean(axis=1), p.shape[1])


def errors(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean absolute error of ceiling and ICC by number of runs and reference.

    Systems have equal weight. Where σ_b² <= 0 on either half a ceiling is infinite: such splits
    are counted, and left out of the ceiling's error but not of the ICC's. Standard errors are
    those of the random splits, medians those of all errors.
    """
    found = []
    for runs, part in table.groupby("runs"):
        for reference in ("unused", "all"):
            one, other = part["estimate"], part[reference]
            if other.isna().all():
                continue
            finite = (one > 0) & (other > 0)
            row = {
                "runs": runs,
                "reference": reference,
                "splits": len(part),
                "estimates_undefined": int((one <= 0).sum()),
                "references_undefined": int((other <= 0).sum()),
                "left_out": int((~finite).sum()),
            }
            gaps = {"ceiling": (1 / one - 1 / other)[finite], "icc": one - other}
            for name, gap in gaps.items():
                each = gap.abs().groupby(part["model"])
                row[name] = each.mean().mean()
                row[f"{name}_median"] = gap.abs().median()
                row[f"{name}_se"] = math.sqrt((each.var() / each.count()).sum()) / each.ngroups
            found.append(row)
    return pd.DataFrame(found)


def table7(table: pd.DataFrame) -> pd.DataFrame:
    """Return `errors` in words for a page: Table 7 made anew."""
    found = errors(table)
    shown = found[["runs", "reference"]].astype(str)
    for name, label in (("ceiling", "ceiling off by"), ("icc", "ICC off by")):
        mean, se = (found[column].map("{:.3f}".format) for column in (name, f"{name}_se"))
        shown[label] = mean + " ± " + se
    shown.insert(3, "half within", found["ceiling_median"])
    none = found[["estimates_undefined", "references_undefined"]].astype(str)
    shown["no ceiling here, there"] = none.agg(", ".join, axis=1)
    return shown


def third_run(table: pd.DataFrame) -> str:
    """Say by how much the ceiling's error changes with a third run, against both references."""
    found = errors(table).set_index(["reference", "runs"])["ceiling"]
    less = {"unused": "unused runs", "all": "all runs"}
    told = [f"{found[key, 3] - found[key, 2]:+.2f} against {what}" for key, what in less.items()]
    return f"A third run changes the error by {' and '.join(told)}."


def planning_loss(ratio: float, error: float, runs: int) -> float:
    """Return how much wider an interval gets if R* is planned with μ_w/σ_b² off by `error`.

    A share, at equal budget, for the worse side, where `runs` would have been best.
    """
    price = cost_ratio_for(ratio, runs)
    planned = [max(1, optimal_runs(max(0, ratio + e), price)) for e in (error, -error)]
    return float(relative_width(planned, ratio, price).max()) - 1


def widths(table: pd.DataFrame) -> pd.DataFrame:
    """Return by number of runs the median `width` over systems, its mean over choices of runs.

    `width_sd` is its standard deviation from choice to choice, 0 where there is one choice;
    `width_se` that of the mean. `positive` is the share of resamples with σ_b² > 0.
    """
    found = []
    for runs, part in table.dropna(subset="width").groupby("runs"):
        medians = part.groupby("split")["width"].median()
        sd = medians.std() if len(medians) > 1 else 0.0
        found.append(
            {
                "runs": runs,
                "width": medians.mean(),
                "width_sd": sd,
                "width_se": sd / math.sqrt(len(medians)),
                "positive": 1 - part["undefined"].mean(),
            }
        )
    return pd.DataFrame(found)
