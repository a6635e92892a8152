"""What a pilot of few runs knows: components from half the problems, and from the other half.

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
