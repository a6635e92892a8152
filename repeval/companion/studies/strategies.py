"""How often bootstrap strategies cover the accuracy and kappa of a single run, known exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from repeval.stats.agreement import accuracy_of, kappa_of, kappa_standard_error, tallies
from repeval.stats.bootstrap import bca_levels, drawn, modes
from repeval.stats.resampling import keyed_generator
from repeval.stats.sample import FloatArray, IntArray

# True label (rows) and prediction: what BS calls the true confusion matrix.
TABLE = np.array([[120, 30, 5, 0], [25, 80, 20, 5], [5, 20, 70, 15], [0, 5, 20, 80]])
# Inputs and runs of the published cells, the longest first, so that processes end together.
GRID = ((400, 5), (200, 5), (200, 3), (100, 5), (200, 2), (400, 1), (200, 1), (100, 1))
PUBLISHED = {"grid": GRID, "table": TABLE.tolist()}
SIZES = {
    "quick": {"trials": 500, "n_resamples": 1000, **PUBLISHED},
    "full": {"trials": 2000, "n_resamples": 5000, **PUBLISHED},
}
LEVEL = 0.95
TAILS = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
STATISTICS = {"accuracy": accuracy_of, "kappa": kappa_of}
# So many trials share what is drawn for resamples; see `_piece`.
TOGETHER = 50
# The true accuracy is a possible value of a limit. Labels are counted exactly, but divided in
# single precision, in which equal values differ by less than this and others by more.
ALLOWANCE = 1e-6


def truths(table: FloatArray = TABLE) -> dict[str, float]:
    """Return accuracy and kappa of a confusion matrix."""
    parts = np.trace(table), table.sum(axis=1), table.sum(axis=0)
    return {name: float(of(*parts)) for name, of in STATISTICS.items()}


def mode_table(k: int) -> FloatArray:
    """Return the law of a true label and the mode of its k predictions, ties at random."""
    labels = len(TABLE)
    runs = np.indices((labels,) * k).reshape(k, -1)
    chance = np.prod((TABLE / TABLE.sum(axis=1, keepdims=True))[:, runs], axis=1)
    votes = (runs == np.arange(labels)[:, None, None]).sum(axis=1)
    modal = votes == votes.max(axis=0)
    return TABLE.sum(axis=1, keepdims=True) / TABLE.sum() * (chance @ (modal / modal.sum(0)).T)


def tasks(outcomes: object, grid: Sequence[tuple[int, int]], **_: Any) -> list[tuple[Any, ...]]:
    """Return the combinations of N inputs and k runs."""
    return [(f"N{n}-k{k}", n, k) for n, k in grid]


def rows(
    task: tuple[Any, ...], seed: int, trials: int, n_resamples: int, table: Any, **_: Any
) -> list[dict[str, Any]]:
    """Simulate trials of N inputs with k runs and score every interval.

    Returns
    -------
    list of dict
        One for each strategy, statistic and interval (percentile, bca, normal): how many percent
        of the intervals hold the value of a single run, `coverage`; how many end `below` it and
        begin `above` it; their mean `width`; and the standard errors of coverage and width. That
        of a coverage is taken at (x + 2)/(trials + 4), so that it is not zero at 0 or 100.

    References
    ----------
    BS, "Simulation" and the appendix on kappa.
    """
    (key, n, k), table = task, np.array(table)
    target, found = truths(table), defaultdict(list)
    for first in range(0, trials, TOGETHER):
        rng = keyed_generator(seed, "strategies", key, first)
        for name, limits in _piece(table, min(TOGETHER, trials - first), n, k, n_resamples, rng):
            found[name].append(limits)
    return [
        {"n": n, "k": k, **_row(*name, np.concatenate(each), target[name[1]])}
        for name, each in found.items()
    ]


def _row(
    strategy: str, statistic: str, interval: str, limits: FloatArray, target: float
) -> dict[str, Any]:
    """Score the (trials, 2) limits of one kind of interval."""
    (low, high), trials = limits.T, len(limits)
    covered = int(((low - ALLOWANCE <= target) & (target <= high + ALLOWANCE)).sum())
    below, above = (high + ALLOWANCE < target).sum(), (low - ALLOWANCE > target).sum()
    share = (covered + 2) / (trials + 4)
    return {
        "strategy": strategy,
        "statistic": statistic,
        "interval": interval,
        "trials": trials,
        "coverage": 100 * covered / trials,
        "below": 100 * int(below) / trials,
        "above": 100 * int(above) / trials,
        "coverage_se": 100 * np.sqrt(share * (1 - share) / (trials + 4)),
        "width": float((high - low).mean()),
        "width_se": float((high - low).std(ddof=1) / np.sqrt(trials)),
    }


def _piece(
    table: IntArray, trials: int, n: int, k: int, n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[tuple[str, str, str], FloatArray]]:
    """Yield the (trials, 2) limits of every kind of interval for a few trials.

    Notes
    -----
    How often an input, or a run, is in a resample does not depend on labels: the same numbers
    serve all these trials, and one matrix product counts their labels. Each trial has resamples
    that are independent and of the right law. Between trials, whose labels are unrelated, what a
    finite number of resamples adds to the errors of widths correlates by 1/N: their standard
    errors are up to 5% too small with 1,000 resamples, less with more.
    """
    size = len(table)
    truth, predictions = _simulated(table, trials, n, k, rng)
    pairs = _indicators(size, truth, predictions)
    inputs, clusters = list(_times("cluster", n, 1, n_resamples, rng)), pairs.sum(axis=-1)
    if k == 1:
        resampled = {"iid": (inputs, clusters)}
    else:
        aggregated = _indicators(size, truth, modes(predictions, rng)[..., None])
        runs = pairs.reshape(len(pairs), trials, n * k)
        resampled = {
            "single_draw": (_times("single_draw", n, k, n_resamples, rng), runs),
            "cluster": (inputs, clusters),
            "hierarchical": (_times("hierarchical", n, k, n_resamples, rng), runs),
            "mode_aggregate": (inputs, aggregated[..., 0]),
        }
    for strategy, (blocks, labels) in resampled.items():
        flat = labels.reshape(-1, labels.shape[-1])
        totals = np.hstack([flat @ times.T for times in blocks]).reshape(*labels.shape[:2], -1)
        for statistic in STATISTICS:
            draws = np.sort(_value(statistic, totals))
            yield (strategy, statistic, "percentile"), _quantiles(draws, TAILS)
            if strategy == "cluster":
                total = labels.sum(axis=-1, keepdims=True)
                estimate, left_out = (_value(statistic, x) for x in (total, total - labels))
                levels = bca_levels(draws, estimate[:, 0], left_out, LEVEL)
                levels = np.where(np.isnan(levels), TAILS, levels)
                yield (strategy, statistic, "bca"), _quantiles(draws, levels)
    z, strategy = special.ndtri(TAILS), "iid" if k == 1 else "cluster"
    means = clusters[0].astype(float) / k
    error = means.std(axis=1, ddof=1, keepdims=True) / np.sqrt(n)
    yield (strategy, "accuracy", "normal"), means.mean(axis=1, keepdims=True) + error * z
    if k == 1:
        tables = tallies(truth * size + predictions[..., 0], size**2).reshape(-1, size, size)
        kappa, error = _value("kappa", clusters.sum(axis=-1)), kappa_standard_error(tables)
        yield (strategy, "kappa", "normal"), kappa[:, None] + error[:, None] * z


def _simulated(
    table: IntArray, trials: int, n: int, k: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw (trials, N) true labels and (trials, N, k) predictions given them."""
    margin = table.sum(axis=1)
    truth = rng.choice(len(table), p=margin / margin.sum(), size=(trials, n))
    bounds = (table.cumsum(axis=1) / margin[:, None])[truth, :-1]
    return truth, (rng.random((trials, n, k, 1)) >= bounds[:, :, None]).sum(axis=-1)


def _indicators(
    size: int, truth: IntArray, predictions: IntArray
) -> NDArray[np.float32]:  # fmt: skip
    """Return what `counts` sums: agreement, true label, predicted label of every pair, as 0/1."""
    truth = np.broadcast_to(truth[..., None], predictions.shape)
    each = np.arange(size).reshape(-1, 1, 1, 1)
    parts = [(truth == predictions)[None], truth == each, predictions == each]
    return np.concatenate(parts).astype(np.float32)


def _value(statistic: str, totals: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a statistic from sums of indicators, kept on the first axis."""
    true, predicted = np.split(np.moveaxis(totals[1:], 0, -1), 2, axis=-1)
    return STATISTICS[statistic](totals[0], true, predicted)


def _times(
    strategy: str, n: int, k: int, n_resamples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.float32]]:
    """Draw how often each of the N·k pairs is in each resample, block by block."""
    for index in drawn(strategy, n, k, n_resamples, rng):
        yield tallies(index, n * k).astype(np.float32)


def _quantiles(draws: NDArray[np.float32], levels: FloatArray) -> FloatArray:
    """Read rows of sorted draws at two levels, linear in between as `numpy.quantile` is."""
    place = np.broadcast_to(levels, (len(draws), 2)) * (draws.shape[1] - 1)
    below = np.minimum(place.astype(int), draws.shape[1] - 2)
    low, high = (np.take_along_axis(draws, i, axis=1).astype(float) for i in (below, below + 1))
    return low + (place - below) * (high - low)
