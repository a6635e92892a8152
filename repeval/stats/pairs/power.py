"""The smallest change that a comparison of two systems would detect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats.clusters import cluster_df
from repeval.stats.components import clustered_spread, paired
from repeval.stats.intervals import NEEDS_RUNS, NO_FLIP, normal_quantile
from repeval.stats.pairs.decision import FEWEST
from repeval.stats.pairs.hull import seen_noise
from repeval.stats.resampling import as_clusters
from repeval.stats.sample import FloatArray, IntArray, Pair, differences, of_pairs, variances

POWER = 0.8
LOST = "whole problems lost"
LOWER = "scores lower everywhere alike"
FEW_PROBLEMS = f"no verdict on fewer than {FEWEST} problems"
TOO_FEW_UNITS = "not even the loss of every problem would be found"
LOST_BY_CLUSTER = "whole problems lost, clustered as the differences are"


@dataclass(frozen=True, slots=True)
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
    return detectable_changes([(first, second)], groups, level=level, power=power)[0]


def detectable_changes(
    pairs: Sequence[Pair],
    groups: IntArray | None = None,
    *,
    level: float = 0.95,
    power: float = POWER,
    fixed: Sequence[Detectable] | None = None,
) -> list[Detectable]:
    """Return the same for many pairs on equally many problems, each in the same clusters.

    `fixed` are their `detectables_fixed`, where they are known.
    """
    n = len(pairs[0][0])
    if n < FEWEST:
        return [Detectable(math.nan, FEW_PROBLEMS, level, power)] * len(pairs)
    df = n - 1 if groups is None else cluster_df(np.bincount(groups))
    errors = float(reach(df, level, power))

    def some(pairs: Sequence[Pair]) -> FloatArray:
        d = differences(pairs)
        plain = variances(d)
        spread = plain if groups is None else [clustered_spread(row, groups) for row in d]
        return np.stack([plain, spread])

    plain, spread = of_pairs(some, pairs)
    # Without clusters the two are one; where nothing differs nothing is known of clusters.
    effect = np.maximum(1.0, np.divide(spread, plain, out=np.ones(len(pairs)), where=plain > 0))
    binary = np.array([a.binary and b.binary for a, b in pairs])
    value = np.where(binary, lost_problems(spread, n, errors, effect), errors * np.sqrt(spread / n))
    if fixed is None:
        fixed = detectables_fixed(pairs, level=level, power=power)
    value = np.fmax(value, [x.value for x in fixed])
    lost = LOST if groups is None else LOST_BY_CLUSTER
    return [
        Detectable(math.nan, TOO_FEW_UNITS, level, power) if x > 1
        else Detectable(x, lost if of_runs else LOWER, level, power)
        for x, of_runs in zip(value.tolist(), binary.tolist(), strict=True)
    ]  # fmt: skip


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
    return detectables_fixed([paired(a, b)], level=level, power=power)[0]


def detectables_fixed(
    pairs: Sequence[Pair],
    *,
    level: float = 0.95,
    power: float = POWER,
    noise: FloatArray | None = None,
) -> list[Detectable]:
    """Return the same for many pairs, of which `seen_noise` may be known."""
    _, error, df, won, lost, count = seen_noise(pairs) if noise is None else noise
    binary = np.array([a.binary and b.binary for a, b in pairs])
    z2 = normal_quantile(level) ** 2
    still = (z2 + np.sqrt(z2**2 + 4 * z2 * (won + lost))) / (2 * count)
    # The bound on run noise that stands where few degrees of freedom say less.
    most = (won + lost) / count - ((won - lost) / count) ** 2
    bound = lost_problems(most, count, float(reach(math.inf, level, power)))
    value = np.where(
        np.isnan(error), np.where(binary, still, math.nan),
        np.minimum(reach(df, level, power) * error, bound),
    )  # fmt: skip

    def found(value: float, df: float, binary: bool) -> Detectable:
        if math.isnan(df) or math.isnan(value):
            return Detectable(math.nan, NEEDS_RUNS if math.isnan(df) else NO_FLIP, level, power)
        if value > 1:
            return Detectable(math.nan, TOO_FEW_UNITS, level, power)
        return Detectable(value, LOST if binary else LOWER, level, power)

    return [*map(found, value.tolist(), df.tolist(), binary.tolist())]


def lost_problems(
    spread: ArrayLike, n: ArrayLike, errors: float, effect: ArrayLike = 1.0
) -> FloatArray:
    """Solve D = errors·√((s_d² + effect·(D - D²))/N): losing a share D of the problems.

    A lost problem moves its d_i from 0 to -1, so the variance grows with the very change that is
    to be found; where two systems hardly differ that is nearly all of it.

    Parameters
    ----------
    spread : (...) array
        s_d², N times the variance of the mean difference as it is.
    n : (...) array
        Problems.
    errors : float
        Standard errors between no change and a change that is found, z_a + z_b: `reach`.
    effect : (...) array
        What losses by cluster multiply their variance by.
    """
    spread, effect = np.asarray(spread), np.asarray(effect)
    k = errors**2 / n
    # (1 + k·effect) D² - k·effect D - k s_d² = 0.
    lost = k * effect
    return (lost + np.sqrt(lost**2 + 4 * (1 + lost) * k * spread)) / (2 * (1 + lost))


def reach(df: ArrayLike, level: float, power: float = POWER) -> FloatArray:
    """Return how many standard errors off zero a change is found with `power`.

    z_a + z_b with infinite degrees of freedom; else the non-centrality of the t test, which is
    more than t_a + t_b where there are few.
    """
    normal = normal_quantile(level) + float(special.ndtri(power))
    t = special.stdtrit(df, (1 + level) / 2)
    return np.where(np.isinf(df), normal, special.nctdtrinc(df, 1 - power, t))
