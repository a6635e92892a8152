"""What single problems are: passed by all, by none, or not the same from run to run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repeval.stats.sample import ROUNDING, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Items:
    """N problems that M systems were given.

    Attributes
    ----------
    always, never : (N,) bool array
        Every run of every system has 1, or 0.
    flaky : (M, N) bool array
        A system's own runs of the problem differ.
    seen : (M, N) bool array
        Whether that could be seen: the system ran the problem twice.
    telling : (N,) int array
        Problems in the order of what they tell: the largest distance between the pass rates of two
        systems first, then the most run noise.
    """

    always: NDArray[np.bool_]
    never: NDArray[np.bool_]
    flaky: NDArray[np.bool_]
    seen: NDArray[np.bool_]
    telling: IntArray


def items(rates: FloatArray, noise: FloatArray) -> Items:
    """Sort problems by what the runs of all systems say of them.

    Parameters
    ----------
    rates : (M, N) float array
        Pass rates or mean scores, NaN where a system was not given a problem.
    noise : (M, N) float array
        Variances of a problem's own runs, NaN where there are fewer than two.

    Examples
    --------
    Two systems on four problems; the second ran the last one once:

    >>> from repeval.stats.pairs.items import items
    >>> nan = float("nan")
    >>> found = items([[1, 0, 0.5, 1], [1, 0, 1, 0]], [[0, 0, 0.5, 0], [0, 0, 0, nan]])
    >>> found.always.tolist(), found.never.tolist()
    ([True, False, False, False], [False, True, False, False])
    >>> found.flaky.any(axis=0).tolist(), found.telling.tolist()
    ([False, False, True, False], [3, 2, 0, 1])
    """
    rates, noise = np.asarray(rates, dtype=float), np.asarray(noise, dtype=float)
    lowest, highest = np.nanmin(rates, axis=0), np.nanmax(rates, axis=0)
    seen = ~np.isnan(noise)
    known = np.where(seen, noise, 0.0)
    distance = np.round(highest - lowest, 12)
    return Items(
        lowest == 1, highest == 0, known > ROUNDING, seen,
        np.lexsort([-known.mean(axis=0), -distance]),
    )  # fmt: skip
