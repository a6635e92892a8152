"""Which of a problem's runs pass: the run labels of the stand-in data.

The first placement is uniform. Then single problems are placed again, by annealing, until the
figures of Appendix G and of the first runs in the authors' run logs come out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOVES = 20_000
# Misfits that count as one unit: p-values, pooled pass-rate gaps, agreement shares, passes.
P_UNIT, SMALLEST_P_UNIT, GAP_UNIT, AGREEMENT_UNIT, PASSES_UNIT = 0.005, 0.002, 2e-4, 5e-4, 0.3
HOT, COLD = 30.0, 0.02


def _cochran_q(columns: IntArray, square_sum: IntArray) -> FloatArray:
    """Return Cochran's Q from passes per run label (..., R) and sum_i k_i^2 (...)."""
    runs, total = columns.shape[-1], columns.sum(axis=-1)
    top = (runs - 1) * (runs * (columns**2).sum(axis=-1) - total**2)
    return top / (runs * total - square_sum)


def place_runs(
    counts: IntArray,
    runs: int,
    kept: NDArray[np.bool_],
    logs: FloatArray,
    targets: dict[str, Any],
    rng: np.random.Generator,
) -> IntArray:
    """Return outcomes (C, M, N+1, R) with the given passes; -1 where a problem was not run.

    Parameters
    ----------
    counts : (C, M, N+1) int array
        Passes by condition, model and problem; -1 for "not run". The last problem counts for the
        logs only, not for the run-label figures.
    runs : int
        R.
    kept : (M,) bool array
        Systems that enter pooled figures.
    logs : (M, 2) float array
        First-run passes and problems passed in the first three runs, NaN where unknown.
    targets : dict
        Target p-values, gaps and agreements of the run labels.
    rng : numpy.random.Generator
        Random numbers.

    References
    ----------
    arXiv 2606.00920v2, Appendix G.
    """
    bits = (np.arange(2**runs)[:, None] >> np.arange(runs)) & 1
    with_passes = [np.flatnonzero(bits.sum(axis=1) == k) for k in range(runs + 1)]
    one, two = np.triu_indices(runs, 1)
    agree, near = bits[:, one] == bits[:, two], two - one == 1
    agreements = np.stack([agree[:, near].sum(1), agree[:, ~near].sum(1)], axis=1)
    logged = np.stack([bits[:, 0], bits[:, :3].any(axis=1)], axis=1)

    pattern = np.full(counts.shape, -1)
    for k, choices in enumerate(with_passes):
        pattern[counts == k] = rng.choice(choices, size=(counts == k).sum())

    core = pattern[:, :, :-1]
    mixed = (counts > 0) & (counts < runs)
    pooled_mixed = (mixed[:, :, :-1] & kept[:, None]).sum()
    pairs = pooled_mixed * np.array([near.sum(), (~near).sum()])
    square_sum = (counts[:, :, :-1] ** 2).sum(axis=2)
    n_pooled = kept.sum() * core.shape[2]
    columns = bits[core].sum(axis=2)
    agreed = agreements[core][mixed[:, :, :-1] & kept[:, None]].sum(axis=0)
    passes = (logged[pattern] * (pattern >= 0)[..., None]).sum(axis=(0, 2))
    wanted_p = np.array([*targets["cochran_p"].values()])
    wanted_gap = np.array([*targets["gap"].values()])
    wanted_agreement = np.array([*targets["agreement"].values()])
    known = np.isfinite(logs)

    def misfit(columns: IntArray, agreed: IntArray, passes: IntArray) -> float:
        q = _cochran_q(columns, square_sum)
        each = chdtrc(runs - 1, q)
        pooled_p = chdtrc((runs - 1) * kept.sum(), q[:, kept].sum(axis=1))
        gap = np.ptp(columns[:, kept].sum(axis=1), axis=1) / n_pooled
        parts = (
            (pooled_p - wanted_p) / P_UNIT,
            np.maximum(targets["smallest_p"] - each.ravel(), 0) / SMALLEST_P_UNIT,
            (gap - wanted_gap) / GAP_UNIT,
            (agreed / pairs - wanted_agreement) / AGREEMENT_UNIT,
            (passes - logs)[known] / PASSES_UNIT,
        )
        return float(sum((part**2).sum() for part in parts))

    best = misfit(columns, agreed, passes)
    places = np.argwhere(mixed)
    barrier = rng.exponential(size=MOVES) * np.geomspace(HOT, COLD, MOVES)
    chosen = places[rng.integers(len(places), size=MOVES)]
    for (c, m, i), limit in zip(chosen.tolist(), barrier.tolist(), strict=True):
        old, new = pattern[c, m, i], rng.choice(with_passes[counts[c, m, i]])
        inside = i < core.shape[2]
        moved, swapped, seen = columns.copy(), agreed, passes.copy()
        seen[m] += logged[new] - logged[old]
        if inside:
            moved[c, m] += bits[new] - bits[old]
            if kept[m]:
                swapped = agreed + agreements[new] - agreements[old]
        now = misfit(moved, swapped, seen)
        if now - best <= limit:
            best, pattern[c, m, i] = now, new
            columns, agreed, passes = moved, swapped, seen
    return np.where(pattern[..., None] >= 0, bits[pattern], -1)
