"""The variance of a mean over problems that come in clusters, and how well it is known."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats.sample import ROUNDING, FloatArray, IntArray, variance


def score_variance(values: FloatArray, clusters: IntArray | None) -> tuple[float, float]:
    """Return the variance of a mean over problems, and its degrees of freedom.

    Parameters
    ----------
    values : (N,) float array
        One value a problem: a rate, or a difference of two.
    clusters : (N,) int array or None
        Codes 0..G-1 with G >= 2; see `repeval.stats.resampling.as_clusters`.

    Returns
    -------
    variance : float
        Without clusters s²/N; with clusters CR2, Σ_g (Σ_i∈g (d_i - d̄))²/(1 - n_g/N)/N², unbiased
        where problems are independent, whatever the sizes n_g. Both agree where every cluster
        is one problem.
    df : float
        Without clusters infinite, the normal interval of the texts; with clusters see
        `cluster_df`.

    References
    ----------
    Bell and McCaffrey (2002), for a regression on a constant.
    """
    n = len(values)
    if clusters is None:
        return variance(values) / n, math.inf
    sizes = np.bincount(clusters)
    sums = np.bincount(clusters, values - values.mean())
    if np.abs(sums).max() <= ROUNDING:
        return 0.0, cluster_df(sizes)
    return float((sums**2 / (1 - sizes / n)).sum()) / n**2, cluster_df(sizes)


def clustering(values: FloatArray, clusters: IntArray) -> tuple[float, float]:
    """Return how much clusters widen a mean's standard error, and the p-value that they do not.

    Parameters
    ----------
    values : (N,) float array
    clusters : (N,) int array

    Returns
    -------
    factor : float
        √(clustered variance/plain variance); 1 where nothing varies.
    p_value : float
        Of the one-way F test: with few clusters a factor says little by itself.
    """
    plain, n = variance(values), len(values)
    if plain == 0:
        return 1.0, 1.0
    factor = math.sqrt(score_variance(values, clusters)[0] * n / plain)
    sizes = np.bincount(clusters)
    means = np.bincount(clusters, values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum())
    within = float(((values - means[clusters]) ** 2).sum())
    g = len(sizes)
    if within <= ROUNDING or n == g:
        return factor, 0.0 if n > g else 1.0
    f = between / (g - 1) / (within / (n - g))
    return factor, float(special.fdtrc(g - 1, n - g, f))


def effective_number(weights: ArrayLike) -> float:
    """Return (Σw)²/Σw², how many equal parts vary like these; 0 where all weights are 0.

    References
    ----------
    Kish (1965).
    """
    w = np.asarray(weights, dtype=float)
    squares = float((w**2).sum())
    return float(w.sum()) ** 2 / squares if squares > 0 else 0.0


def cluster_df(sizes: ArrayLike) -> float:
    """Return the degrees of freedom of a clustered variance, `effective_number` - 1.

    At least 1: two clusters of equal size have 1, and where one cluster holds nearly all problems
    its distance from the others is still one comparison. Student's t is then so wide (12.7 times
    the error at 95 %) that the interval of a score says next to nothing, as it should.
    """
    return max(1.0, effective_number(sizes) - 1)
