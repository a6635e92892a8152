"""How far more runs narrow a difference of two conditions: from the first runs, and predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repeval.io.keys import KEYS
from repeval.stats import allocation
from repeval.stats.sample import variance

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes
    from repeval.report.analysis import Analysis

COLUMNS = ["model", "condition_a", "condition_b", "runs", "predicted", "observed"]


def condition_widths(analysis: Analysis, outcomes: Outcomes, most: int) -> pd.DataFrame:
    """Return how far runs narrow the intervals of differences of two conditions.

    Parameters
    ----------
    most : int
        So many differences, the first ones.

    Returns
    -------
    DataFrame
        One row for each difference and up to four numbers of `runs`, from 2 to those that every
        problem has: the width `observed` with the first so many runs, of the normal interval over
        problems, and the one `predicted` by the ICC of the difference, zero if it is below zero.
        Both are over the width with the first run.

    References
    ----------
    BS, "Estimating ρ".
    """
    frame = outcomes.rows()
    groups = frame.groupby(KEYS[:3])["outcome"]
    runs, place = groups.size(), groups.cumcount()
    rows = [r for r in analysis.condition_pairs[:most] if r.icc is not None]
    least = [min(runs[r.model, c].min() for c in (r.condition_a, r.condition_b)) for r in rows]
    numbers = sorted({round(k) for k in np.geomspace(2, max([2, *least]), 4)})
    means = {k: frame[place < k].groupby(KEYS[:3])["outcome"].mean() for k in (1, *numbers)}

    def spread(r, k: int) -> float:
        difference = means[k][r.model, r.condition_a] - means[k][r.model, r.condition_b]
        return variance(difference.dropna().to_numpy())

    found = [
        (r.model, r.condition_a, r.condition_b, k, float(allocation.width_factor(max(r.icc, 0), k)),
         (spread(r, k) / spread(r, 1)) ** 0.5)
        for r, have in zip(rows, least, strict=True) if spread(r, 1) > 0
        for k in numbers if k <= have
    ]  # fmt: skip
    return pd.DataFrame(found, columns=COLUMNS)
