"""The variance-ceiling paper's figures (VC 1 to 6, Appendix B) from an analysis."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np

from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.stats.allocation import cost_ratio_for, optimal_runs, relative_width
from repeval.stats.comparison import minimum_detectable
from repeval.stats.components import difference_components


def ends(values: Any) -> list[Any]:
    """Return the smallest and the largest value."""
    values = list(values)
    return [min(values), max(values)]


# How prices move, by the words of the ids.
AS_DEAR = {"10x": 10, "tenth": 0.1}


# Section 5.3: what to buy, always from unrounded ratios


@claim("vc-s53-ratio-of-medians")
def ratio(r: Results) -> float:
    """Divide the medians over the clean systems."""
    return median(r.values("within")) / median(r.values("between"))


@claim("vc-s53-median-ratio")
def median_ratio(r: Results) -> float:
    """Take the median over the clean systems."""
    return median(1 / r.values("icc") - 1)


@claim("vc-s53-r5-optimal")
def cost(r: Results) -> float:
    """Find the cost ratio at which R* is the number of runs made."""
    return cost_ratio_for(ratio(r), r.n_runs)


claim("vc-s53-rstar-coef")(lambda r: optimal_runs(ratio(r), 1))
claim("vc-s53-rstar-coef-alt")(lambda r: optimal_runs(median_ratio(r), 1))
claim("vc-s53-breakeven")(lambda r: cost_ratio_for(ratio(r), 1))
claim("vc-s53-r5-optimal-alt")(lambda r: cost_ratio_for(median_ratio(r), r.n_runs))
claim("vc-s53-rstar-{as_dear}")(
    lambda r, as_dear: optimal_runs(ratio(r), AS_DEAR[as_dear] * cost(r))
)
claim("vc-s53-penalty-{as_dear}")(
    lambda r, as_dear: float(relative_width(r.n_runs, ratio(r), AS_DEAR[as_dear] * cost(r))) - 1
)


@claim("vc-s53-flat-side")
def flat_side(r: Results) -> str:
    """Compare the excess width at R* times, and R* divided by, 2, 3 and 10."""
    factors = np.array([2.0, 3.0, 10.0])
    over, under = (relative_width(r.n_runs * f, ratio(r), cost(r)) for f in (factors, 1 / factors))
    if np.allclose(over, under, rtol=1e-9):
        return "neither: symmetric in log(R/R*) at given prices"
    return "over-repetition" if (over < under).all() else "under-repetition"


# Limitations


def detectable(r: Results) -> list[float]:
    """Return 2.8 standard errors, the paper's formula, of each model's difference of conditions."""
    pairs = (
        r.outcomes.pair((p.model, p.condition_a), (p.model, p.condition_b))
        for p in r.analysis.condition_pairs
    )
    level = r.analysis.settings.level
    return [minimum_detectable(difference_components(a, b).variance, level) for a, b, _ in pairs]


claim("vc-lim-mde")(lambda r: 100 * median(detectable(r)))
