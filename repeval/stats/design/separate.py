"""What it takes to tell two systems apart: the variance at which a difference is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repeval.stats.clusters import effective_number
from repeval.stats.components import clustered_spread, components, difference_components, paired
from repeval.stats.design.plan import Plan, planned
from repeval.stats.design.whole import Design, Prices, Stock, cheapest, noise_left
from repeval.stats.intervals import NEEDS_RUNS
from repeval.stats.pairs.decision import FEWEST
from repeval.stats.pairs.looks import look_alpha
from repeval.stats.pairs.power import POWER, detectable_change, reach
from repeval.stats.resampling import as_clusters
from repeval.stats.sample import FloatArray, IntArray, Sample, variance

# By Student's t what is bought decides how sure a test is, and so what has to be bought: the first
# purchase, by the normal law, is too small, and the next of too few degrees of freedom too large.
PASSES = 4


@dataclass(frozen=True)
class Separation:
    """What it takes to see a difference of two systems on new problems.

    Attributes
    ----------
    difference : float
    now : float
        The smallest difference that the problems and runs at hand see; NaN where there is none.
    plan : Plan
        A run is one of both systems, and the variance of a purchase is that where they differ so.
    """

    difference: float
    now: float
    plan: Plan


def sample_stock(*systems: Sample, clusters: ArrayLike | None = None) -> Stock:
    """Return what there is to plan with: of one system, or of the difference of two.

    Parameters
    ----------
    *systems : Sample
        One, or two on the same problems.
    clusters : (N,) array, optional
        New problems are then taken to come in new clusters like these.
    """
    whole = (components if len(systems) == 1 else difference_components)(
        *systems, clusters=clusters
    )
    if math.isnan(whole.within):
        raise ValueError(NEEDS_RUNS)
    parts = [noise_left(s.runs, components(s).run_noise) for s in systems]
    length = min(map(len, parts))
    return Stock(
        whole.within, max(whole.between, 0.0), sum(p[:length] for p in parts), whole.n_problems,
        whole.runs_mean,
    )  # fmt: skip


def separation(
    a: Any,
    b: Any,
    difference: float,
    prices: Prices,
    *,
    level: float = 0.95,
    power: float = POWER,
    looks: int = 1,
    clusters: ArrayLike | None = None,
) -> Separation:
    """Return the cheapest ways to see a difference of two systems, with a given power.

    Parameters
    ----------
    a, b
        The two systems, in the same order of problems; see `repeval.as_sample`.
    difference : float
        That is to be seen, above 0 and below 1.
    prices : Prices
        Of a problem, and of one run of both systems.
    level, power : float
    looks : int
        How often you will look in all; see `repeval.stats.pairs.looks`. The power is that of the
        last look.
    clusters : (N,) array, optional

    Notes
    -----
    A difference D is seen if it is so many standard errors as `repeval.stats.pairs.power.reach`
    says. If it consists of whole problems lost, as for passed and failed it is taken to, it adds
    D - D² to the variance between problems, times what clusters multiply a variance by.

    Examples
    --------
    >>> from repeval.stats.design.separate import separation
    >>> from repeval.stats.design.whole import Prices
    >>> a, b = ([3, 3, 0, 1, 2, 0, 3, 3] * 10, 3), ([3, 1, 0, 2, 0, 0, 3, 3] * 10, 3)
    >>> found = separation(a, b, 0.1, Prices(5, 2))
    >>> round(found.now, 2), found.plan.next.new_problems, found.plan.next.new_runs
    (0.16, 92, 2)
    """
    if not 0 < difference < 1:
        raise ValueError(f"difference must lie between 0 and 1, not {difference}")
    if not 0 < power < 1:
        raise ValueError(f"power must lie between 0 and 1, not {power}")
    first, second = paired(a, b)
    groups = as_clusters(clusters, len(first))
    d = first.rate - second.rate
    sure = 1 - 2 * look_alpha((1 - level) / 2, looks)
    at_hand = replace(sample_stock(first, second, clusters=groups), fewest=FEWEST)
    lost = _clustering(d, groups) if first.binary and second.binary else 0.0
    added = lost * (difference - difference**2)
    parts = len(d) if groups is None else effective_number(np.bincount(groups))

    def buy(what: Stock, **kinds: bool) -> Design | None:
        what, n, found = replace(what, between=what.between + added), math.inf, None
        for _ in range(PASSES):
            # With more problems there are as many more clusters.
            errors = float(reach(max(1.0, parts * n / len(d) - 1), sure, power))
            target = (difference / errors) ** 2
            found = cheapest(what, prices, target, **kinds)
            if found is None:
                break
            n = found.n_problems
        return found

    return Separation(
        difference=difference,
        now=detectable_change(first, second, groups, level=sure, power=power).value,
        plan=planned(at_hand, prices, buy, level=level),
    )


def _clustering(d: FloatArray, groups: IntArray | None) -> float:
    """Return what clusters multiply the variance of a mean by, 1 without and at least."""
    plain = variance(d)
    if groups is None or plain == 0:
        return 1.0
    return max(1.0, clustered_spread(d, groups) / plain)
