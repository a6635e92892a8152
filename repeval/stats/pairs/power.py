"""The smallest change that a comparison of two systems would detect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats.clusters import cluster_df
from repeval.stats.components import clustered_spread, paired
from repeval.stats.intervals import (
    NEEDS_RUNS,
    NO_FLIP,
    normal_quantile,
    t_quantile,
)
from repeval.stats.pairs.decision import FEWEST
from repeval.stats.pairs.hull import coins, run_noise
from repeval.stats.resampling import as_clusters
from repeval.stats.sample import Sample, variance

POWER = 0.8
LOST = "whole problems lost"
LOWER = "scores lower everywhere alike"
FEW_PROBLEMS = f"no verdict on fewer than {FEWEST} problems"
TOO_FEW_UNITS = "not even the loss of every problem would be found"
LOST_BY_CLUSTER = "whole problems lost, clustered as the differences are"


@dataclass(frozen=True)
class Detectable:
    """The smallest true change that a test finds with a given power.

    Attributes
    ----------
    value : float
        On the scale of the score; NaN where it is not known.
    assumes : str
        What the change is made of; why there is no value, if there is none.
    level, power : float

    Examples
    --------
    >>> import repeval
    >>> from repeval.stats.pairs.power import detectable_change
    >>> a, b = ([3, 3, 0, 1, 2, 0, 3, 3], 3), ([3, 1, 0, 2, 0, 0, 3, 3], 3)
    >>> found = detectable_change(a, b)
    >>> round(found.value, 2), found.assumes
    (0.68, 'whole problems lost')
    """

    value: float
    assumes: str
    level: float
    power: float


def detectable_change(
    a: Any,
    b: Any,
    clusters: ArrayLike | None = None,
    *,
    level: float = 0.95,
    power: float = POWER,
) -> Detectable:
    """Return the smallest drop on new problems that the pair's own test finds.

    Parameters
    ----------
    a, b
        The two systems, in the same order of problems; see `repeval.as_sample`.
    clusters : (N,) array, optional
        Label of the cluster each problem belongs to.
    level, power : float

    Notes
    -----
    At the expanded level the quantile √(N/(N-1))·t of N-1 degrees of freedom meets the bootstrap
    variance (N-1)/N · s²(d)/N, which together are Student's t on s²(d)/N. The test holds the
    interval for these problems too, so the value is never below `detectable_fixed`.
    Losses are taken to gather in clusters as the differences do: a drop that hits one kind of
    problem varies by as much more than one that hits any. Scores change without whole problems
    lost: their drop is taken to be alike everywhere, which leaves the variance as it is.
    """
    first, second = paired(a, b)
    groups = as_clusters(clusters, len(first))
    d = first.rate - second.rate
    n = len(d)
    spread = clustered_spread(d, groups)
    if n < FEWEST:
        return Detectable(math.nan, FEW_PROBLEMS, level, power)
    errors = reach(n - 1 if groups is None else cluster_df(np.bincount(groups)), level, power)
    if not (first.binary and second.binary):
        value, assumes = errors * math.sqrt(spread / n), LOWER
    elif groups is None:
        value, assumes = lost_problems(spread, n, errors), LOST
    else:
        plain = variance(d)
        effect = max(1.0, spread / plain) if plain > 0 else 1.0
        value, assumes = lost_problems(spread, n, errors, effect), LOST_BY_CLUSTER
    value = float(np.fmax(value, detectable_fixed(first, second, level=level, power=power).value))
    if value > 1:
        value, assumes = math.nan, TOO_FEW_UNITS
    return Detectable(value, assumes, level, power)


def detectable_fixed(a: Any, b: Any, *, level: float = 0.95, power: float = POWER) -> Detectable:
    """Return the smallest drop on exactly these problems that their own interval finds.

    Notes
    -----
    A problem that is lost fails on every run: it moves the difference and adds no run noise, so
    the noise at hand is the noise of the test. Where nothing flipped nothing is left to chance:
    with L lost runs and m of problems that differ Tango's score L/√(L + m) has to reach z.

    Examples
    --------
    >>> from repeval.stats.pairs.power import detectable_fixed
    >>> a, b = ([3, 3, 0, 1, 2, 0, 3, 3], 3), ([3, 1, 0, 2, 0, 0, 3, 3], 3)
    >>> round(detectable_fixed(a, b).value, 2)
    0.27
    """
    first, second = paired(a, b)
    _, error, df = run_noise(first, second)
    still = math.isnan(error)
    if math.isnan(df):
        return Detectable(math.nan, NEEDS_RUNS, level, power)
    value = _still(first, second, level) if still else reach(df, level, power) * error
    if math.isnan(value):
        return Detectable(value, NO_FLIP, level, power)
    if not still:
        # The bound on run noise that stands where few degrees of freedom say less.
        won, lost, pairs = coins(first, second)
        most = (won + lost) / pairs - ((won - lost) / pairs) ** 2
        value = min(value, lost_problems(most, pairs, reach(math.inf, level, power)))
    if value > 1:
        return Detectable(math.nan, TOO_FEW_UNITS, level, power)
    return Detectable(value, LOST if first.binary and second.binary else LOWER, level, power)


def lost_problems(spread: float, n: float, errors: float, effect: float = 1.0) -> float:
    """Solve D = errors·√((s_d² + effect·(D - D²))/N): losing a share D of the problems.

    A lost problem moves its d_i from 0 to -1, so the variance grows with the very change that is
    to be found; where two systems hardly differ that is nearly all of it.

    Parameters
    ----------
    spread : float
        s_d², N times the variance of the mean difference as it is.
    n : float
        Problems.
    errors : float
        Standard errors between no change and a change that is found, z_a + z_b: `reach`.
    effect : float
        What losses by cluster multiply their variance by.
    """
    k = errors**2 / n
    # (1 + k·effect) D² - k·effect D - k s_d² = 0.
    lost = k * effect
    return (lost + math.sqrt(lost**2 + 4 * (1 + lost) * k * spread)) / (2 * (1 + lost))


def reach(df: float, level: float, power: float = POWER) -> float:
    """Return how many standard errors off zero a change is found with `power`.

    z_a + z_b with infinite degrees of freedom; else the non-centrality of the t test, which is
    more than t_a + t_b where there are few.
    """
    if math.isinf(df):
        return normal_quantile(level) + float(special.ndtri(power))
    return float(special.nctdtrinc(df, 1 - power, t_quantile(level, df)))


def _still(a: Sample, b: Sample, level: float) -> float:
    """Return the drop that is found for certain where every problem repeats itself."""
    if not (a.binary and b.binary):
        return math.nan
    won, lost, pairs = coins(a, b)
    z2 = normal_quantile(level) ** 2
    return (z2 + math.sqrt(z2**2 + 4 * z2 * (won + lost))) / (2 * pairs)
