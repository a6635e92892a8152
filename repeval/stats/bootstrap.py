"""The bootstrap for repeated categorical predictions: five ways to resample inputs and runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from repeval.stats.agreement import (
    accuracy,
    accuracy_of,
    cohen_kappa,
    counts,
    encoded,
    kappa_of,
)
from repeval.stats.intervals import check_options
from repeval.stats.resampling import as_generator, shifted_levels
from repeval.stats.sample import ROUNDING, FloatArray, IntArray

STRATEGIES = ("iid", "single_draw", "cluster", "hierarchical", "mode_aggregate")
# Statistics of counts: computed for many resamples at once.
OF_COUNTS = {accuracy: accuracy_of, cohen_kappa: kappa_of}
# Pairs are drawn in blocks of at most this many (16 MB).
BLOCK = 2_000_000


class ConfidenceInterval(NamedTuple):
    """The two limits, on the scale of the statistic."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """What `bootstrap` returns, named as in `scipy.stats.bootstrap`.

    Attributes
    ----------
    confidence_interval : ConfidenceInterval
        `low` and `high`; both NaN, with the reason in `method`, if there is none.
    bootstrap_distribution : (n_resamples,) float array
        The statistic of every resample.
    standard_error : float
        Their standard deviation (ddof = 1).
    estimate : float
        The statistic of all N·k pairs; for `mode_aggregate` of the N aggregated ones.
    method : str
        How the interval was computed.

    Examples
    --------
    >>> import repeval
    >>> labels = ["yes", "no", "no"], [["yes", "yes"], ["no", "yes"], ["no", "no"]]
    >>> result = repeval.bootstrap(labels, repeval.accuracy, n_resamples=500, rng=2606)
    >>> round(result.estimate, 3), len(result.bootstrap_distribution), result.method
    (0.833, 500, 'percentile, 500 resamples')
    """

    confidence_interval: ConfidenceInterval
    bootstrap_distribution: FloatArray
    standard_error: float
    estimate: float
    method: str


def bootstrap(
    labels: tuple[ArrayLike, ArrayLike],
    statistic: Callable[[NDArray[Any], NDArray[Any]], float],
    strategy: str = "cluster",
    *,
    level: float = 0.95,
    n_resamples: int = 5000,
    method: str = "percentile",
    rng: int | np.random.Generator | None = None,
) -> BootstrapResult:
    """Return a bootstrap interval for a statistic of labels that were predicted k times.

    Parameters
    ----------
    labels : tuple of (N,) and (N, k) arrays
        True labels and predictions: numbers or text. Every input has k runs.
    statistic : callable
        `accuracy`, `cohen_kappa`, or any function of two flat arrays of equal length, true labels
        and predictions pair by pair, that returns a number; it is called once a resample.
    strategy : {"cluster", "iid", "single_draw", "hierarchical", "mode_aggregate"}
        What a resample is made of: N inputs drawn with replacement and

        - `cluster`: all runs of each. The one that is right for new inputs like these.
        - `iid`: their only run; k must be 1.
        - `single_draw`: one run of each, at random. Too wide.
        - `hierarchical`: k runs of each, drawn with replacement. Too wide.
        - `mode_aggregate`: the most frequent prediction of each, ties broken once, at random and
          before anything is resampled. The interval is one for majority votes.
    level : float
        What scipy calls `confidence_level`.
    n_resamples : int
    method : {"percentile", "bca"}
        BCa corrects for bias and skewness; the jackknife leaves out inputs. Where it is undefined,
        the percentile interval is returned, and `method` of the result says so.
    rng : int, numpy.random.Generator or None

    Raises
    ------
    ValueError
        If an input lacks a run, a label is missing, or an option is unknown.

    References
    ----------
    BS, "Bootstrap methods"; Efron (1987) for BCa.

    Examples
    --------
    >>> import repeval
    >>> truth = ["yes", "no", "yes", "no"]
    >>> predictions = [["yes", "yes"], ["no", "yes"], ["yes", "yes"], ["no", "no"]]
    >>> result = repeval.bootstrap((truth, predictions), repeval.accuracy, rng=2606)
    >>> [round(limit, 3) for limit in result.confidence_interval]
    [0.625, 1.0]
    """
    check_options(level, n_resamples=n_resamples)
    if strategy not in STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}; one of {', '.join(STRATEGIES)}")
    if method not in ("percentile", "bca", "BCa"):
        raise ValueError(f"method must be percentile or bca, not {method!r}")
    if len(labels) != 2:
        raise ValueError(f"labels are (truth, predictions), two arrays, not {len(labels)}")
    rng = as_generator(rng)
    true, predicted, names = encoded(*labels)
    if strategy == "mode_aggregate":
        predicted = modes(predicted, rng)[:, None]
    n, k = predicted.shape
    if n < 2:
        raise ValueError("at least two inputs are needed: one input says nothing about others")
    if strategy == "iid" and k > 1:
        raise ValueError(
            f"iid takes one run per input, not {k}: use cluster, or give one run, predictions[:, 0]"
        )
    value = _evaluator(statistic, np.repeat(true, k), predicted.ravel(), names)
    estimate = float(value(np.arange(n * k)[None])[0])
    draws = np.concatenate([value(index) for index in drawn(strategy, n, k, n_resamples, rng)])
    levels, how = np.array([(1 - level) / 2, (1 + level) / 2]), method.lower()
    if how == "bca":
        left_out = _left_out(statistic, true, predicted, names)
        shifted = bca_levels(draws, np.float64(estimate), left_out, level)
        if np.isnan(shifted).any():
            how = "percentile, as BCa is undefined here"
        else:
            levels = shifted
    low, high = map(float, np.quantile(draws, levels))
    how += f", {n_resamples} resamples"
    if undefined := int(np.isnan(draws).sum()):
        how = f"none: the statistic is undefined in {undefined} of {n_resamples} resamples"
    elif high - low < ROUNDING:
        low, high, how = np.nan, np.nan, "none: every resample gives the same value"
    error = float(draws.std(ddof=1)) if n_resamples > 1 else np.nan
    return BootstrapResult(ConfidenceInterval(low, high), draws, error, estimate, how)


def drawn(
    strategy: str, n: int, k: int, n_resamples: int, rng: np.random.Generator
) -> Iterator[IntArray]:
    """Draw what resamples are made of, block by block.

    Parameters
    ----------
    strategy : str
        Where each input has one run or one label, all strategies are `cluster`.
    n, k : int
        Inputs, and runs of each.

    Yields
    ------
    (b, N) or (b, N·k) int array
        Pairs of truth and prediction, run r of input i numbered i·k + r.
    """
    rows = max(1, BLOCK // (n * k))
    for done in range(0, n_resamples, rows):
        b = min(rows, n_resamples - done)
        if strategy == "single_draw":
            yield rng.integers(n * k, size=(b, n))
            continue
        runs = rng.integers(k, size=(b, n, k)) if strategy == "hierarchical" else np.arange(k)
        yield (rng.integers(n, size=(b, n, 1)) * k + runs).reshape(b, n * k)


def modes(predictions: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return the most frequent of (..., k) labels, ties broken at random among labels."""
    votes = (predictions[..., :, None] == predictions[..., None, :]).sum(axis=-1)
    # Tied labels have equally many runs: a run at random is a label at random.
    chosen = (votes + rng.random(votes.shape)).argmax(axis=-1)
    return np.take_along_axis(predictions, chosen[..., None], axis=-1)[..., 0]


def bca_levels(
    draws: FloatArray, estimate: FloatArray, left_out: FloatArray, level: float
) -> FloatArray:
    """Return the two levels at which BCa reads the bootstrap distribution; NaN if undefined.

    Parameters
    ----------
    draws : (..., B) float array
        The statistic of every resample.
    estimate : (...) float array
    left_out : (..., N) float array
        The statistic without each input in turn.

    Returns
    -------
    (..., 2) float array

    References
    ----------
    Efron (1987); draws that equal the estimate count one half.
    """
    point = estimate[..., None]
    z0 = special.ndtri(((draws < point).mean(axis=-1) + (draws <= point).mean(axis=-1)) / 2)
    varied = np.ptp(left_out, axis=-1) > ROUNDING
    return np.where(varied[..., None], shifted_levels(z0, left_out, level), np.nan)


def percentile_width(n_resamples: int, level: float = 0.95) -> float:
    """Return the width of a percentile interval over that of endless resamples, on average.

    Notes
    -----
    To second order, for normal draws: of n sorted ones the r-th is at a level that is Beta(r,
    n + 1 - r), and the normal quantile z bends by z/phi(z)^2.
    """
    tail = (1 - level) / 2
    place = (1 + (n_resamples - 1) * tail) / (n_resamples + 1)
    z = special.ndtri(place)
    bend = z * 2 * math.pi * math.exp(z**2)
    wide = z + bend * place * (1 - place) / (n_resamples + 2) / 2
    return float(wide / special.ndtri(tail))


def _left_out(
    statistic: Callable[..., float], true: IntArray, predicted: IntArray, names: NDArray[Any]
) -> FloatArray:
    """Return the (N,) values of the statistic without each input in turn."""
    n, k = predicted.shape
    if of_counts := OF_COUNTS.get(statistic):
        # The counts without an input are the total less its own.
        pairs, rows = (true[:, None].repeat(k, axis=1), predicted), max(1, BLOCK // len(names))
        total = counts(*(each.reshape(1, -1) for each in pairs), len(names))
        blocks = (
            counts(*(each[i : i + rows] for each in pairs), len(names)) for i in range(0, n, rows)
        )
        less = (map(np.subtract, total, own) for own in blocks)
        return np.concatenate([of_counts(*left) for left in less])
    without = ((np.delete(each, i, axis=0) for each in (true, predicted)) for i in range(n))
    return np.array([float(statistic(names[t].repeat(k), names[p].ravel())) for t, p in without])


def _evaluator(
    statistic: Callable[..., float], true: IntArray, predicted: IntArray, names: NDArray[Any]
) -> Callable[[IntArray], FloatArray]:
    """Return the function from (b, m) drawn pairs to the (b,) values of the statistic."""
    if of_counts := OF_COUNTS.get(statistic):
        return lambda index: of_counts(*counts(true[index], predicted[index], len(names)))
    pairs = names[true], names[predicted]
    return lambda index: np.array([float(statistic(*(a[i] for a in pairs))) for i in index])
