"""How far ceilings move with the problems: random subsets of them (VC Appendix H, Table 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from repeval.companion.studies.pilot import systems
from repeval.stats.ceiling import icc_from_means, moment_columns
from repeval.stats.resampling import keyed_generator
from repeval.stats.sample import FloatArray

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

SIZES = {
    "quick": {"sizes": (30, 50, 70), "draws": 10_000},
    "full": {"sizes": (30, 50, 70), "draws": 50_000},
}
LEVELS = (0.05, 0.95)
MEDIAN = "Median of the systems"


def tasks(
    outcomes: Outcomes, sizes: tuple[int, ...], draws: int
) -> list[tuple[int, list[str], FloatArray]]:
    """Return a piece for each size: it, the systems' names, (problems, systems, 4) moments."""
    samples = systems(outcomes)
    columns = np.stack([moment_columns(s.rate, [s]) for s in samples.values()], axis=1)
    return [(n, list(samples), columns) for n in sizes]


def rows(
    task: tuple[int, list[str], FloatArray], seed: int, sizes: tuple[int, ...], draws: int
) -> list[dict[str, Any]]:
    """Draw subsets of one size without replacement, each for all systems at once.

    Returns
    -------
    list of dict
        One row for each system: its ceiling on all problems (`whole`), the 5th and 95th percentile
        over subsets (`low`, `high`), the larger of their standard errors (`se`, NaN if one is
        infinite), and the share of subsets whose ceiling is infinite as σ_b² <= 0 (`undefined`);
        infinite ceilings are part of the percentiles. The last row is the median of the systems,
        with the share of subsets in which any system's ceiling is infinite.
    """
    n, models, columns = task
    # A random permutation of the problems is below n at n of them.
    order = keyed_generator(seed, "subsets", n).random((draws, len(columns))).argsort(axis=1)
    drawn = ceilings(np.tensordot(order < n, columns, axes=1) / n, n)
    infinite = np.isinf(drawn)
    margin = np.sqrt(LEVELS[0] * LEVELS[1] / draws)
    at = [q + d for d in (0, -margin, margin) for q in LEVELS]
    limits, below, above = np.quantile(drawn, at, axis=0, method="inverted_cdf").reshape(3, 2, -1)
    with np.errstate(invalid="ignore"):
        se = (above - below).max(axis=0) / 2
    found = {
        "model": [*models, MEDIAN],
        "whole": ceilings(columns.mean(axis=0), len(columns)),
        "low": limits[0],
        "high": limits[1],
        "se": se,
        "undefined": [*infinite.mean(axis=0)[:-1], infinite.any(axis=1).mean()],
    }
    table = [dict(zip(found, values, strict=True)) for values in zip(*found.values(), strict=True)]
    return [{"n": n, "draws": draws, **row} for row in table]


def ceilings(means: FloatArray, n: int) -> FloatArray:
    """Return the ceilings of n problems from (..., systems, 4) mean moments, then their median."""
    icc = icc_from_means(means, n)
    each = np.divide(1, icc, out=np.full_like(icc, np.inf), where=icc > 0)
    return np.append(each, np.median(each, axis=-1, keepdims=True), axis=-1)
