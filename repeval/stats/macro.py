"""The average of several tasks' scores, every task with the same weight."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from repeval.stats.intervals import check_options, normal_quantile, t_quantile, wilson

# With fewer failed (or passed) problems than this a variance says little.
FEW = 5


@dataclass(frozen=True)
class MacroAverage:
    """The mean of T scores, for new problems of exactly these tasks.

    Attributes
    ----------
    estimate : float
    standard_error : float
        √(ΣSE_t²)/T.
    low, high : float
        NaN, with the reason in `method`, where a task has no standard error.
    level : float
    method : str

    Examples
    --------
    >>> from repeval.stats.macro import macro
    >>> found = macro([0.9, 0.6], [0.0009, 0.0024], [100, 100])
    >>> round(found.estimate, 3), round(found.standard_error, 4)
    (0.75, 0.0287)
    >>> round(found.low, 3), round(found.high, 3)
    (0.689, 0.802)
    """

    estimate: float
    standard_error: float
    low: float
    high: float
    level: float
    method: str


def macro(
    means: ArrayLike, variances: ArrayLike, sizes: ArrayLike, *, level: float = 0.95
) -> MacroAverage:
    """Average the scores of tasks, with Wilson's interval at the effective sample size.

    Parameters
    ----------
    means : (T,) array of float
        Scores in [0, 1].
    variances : (T,) array of float
        Of the scores, for new problems: SE_t²; NaN where a task has none.
    sizes : (T,) array of float
        Problems of each task; under clusters the effective number of clusters.
    level : float

    Notes
    -----
    The effective size is that of independent trials with the same standard error, m(1-m)/SE², with
    Welch's degrees of freedom. Where a task has fewer than five failed or five passed problems its
    variance is too small as often as not: it counts as at least that of N_t trials at the rate
    (N_t m_t + 1)/(N_t + 2). Where all tasks together have so few, problems are trials at the
    average rate, T²/Σ(1/N_t) of them. `standard_error` is without either.
    """
    check_options(level)
    mean, squared, n = (np.asarray(x, dtype=float) for x in (means, variances, sizes))
    if mean.ndim != 1 or not mean.size or not mean.shape == squared.shape == n.shape:
        raise ValueError("macro needs one mean, one variance and one size for each task")
    estimate, total = float(mean.mean()), float(squared.sum())
    error = math.sqrt(total) / len(mean)
    if math.isnan(error):
        reason = "a task has no standard error"
        return MacroAverage(estimate, error, math.nan, math.nan, level, reason)
    rarer = n * np.minimum(mean, 1 - mean)
    if min(n @ mean, n @ (1 - mean)) < FEW or total == 0:
        effective = len(mean) ** 2 / float((1 / n).sum())
    else:
        rate = (n * mean + 1) / (n + 2)
        floor = np.where(rarer < FEW, rate * (1 - rate) / n, 0.0)
        known = np.maximum(squared, floor)
        df = float(known.sum() ** 2 / (known**2 / np.maximum(n - 1, 1)).sum())
        shrunk = (normal_quantile(level) / t_quantile(level, df)) ** 2
        effective = estimate * (1 - estimate) * len(mean) ** 2 / float(known.sum()) * shrunk
    how = f"Wilson at n = {effective:.1f}, {len(mean)} tasks"
    return MacroAverage(estimate, error, *wilson(estimate, effective, level), level, how)
