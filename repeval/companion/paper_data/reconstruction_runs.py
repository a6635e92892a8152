"""Which of a problem's runs pass: the run labels of the stand-in data.

The first placement is uniform. Then single problems are placed again, by annealing, until the
figures of Appendix G and of the first runs in the authors' run logs come out.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from scipy.special import chdtrc

from repeval.stats.sample import FloatArray, IntArray

MOVES, HOT, COLD = 20_000, 30.0, 0.02
# Misfits that count as one unit: p-values, pooled pass-rate gaps, agreement shares, passes.
P_UNIT, SMALLEST_P_UNIT, GAP_UNIT, AGREEMENT_UNIT, PASSES_UNIT = 0.005, 0.002, 2e-4, 5e-4, 0.3


def place_runs(
    counts: IntArray, runs: int, kept: np.ndarray, logs: FloatArray, targets: dict, rng: Generator
) -> IntArray:
    """Return outcomes (C, M, N+1, R) with the given passes; -1 where a problem was not run.

    The last problem of `counts`, (C, M, N+1) and -1 for "not run", counts for `logs`, not for the
    figures of the run labels; `kept` are the systems that enter pooled figures, `logs` as in
    `read_facts`, `targets` those of the run labels (arXiv 2606.00920v2, Appendix G).
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

    core, mixed = pattern[:, :, :-1], (counts > 0) & (counts < runs)
    pooled = mixed[:, :, :-1] & kept[:, None]
    pairs = pooled.sum() * np.array([near.sum(), (~near).sum()])
    square_sum = (counts[:, :, :-1] ** 2).sum(axis=2)
    columns = bits[core].sum(axis=2)
    agreed = agreements[core][pooled].sum(axis=0)
    passes = (logged[pattern] * (pattern >= 0)[..., None]).sum(axis=(0, 2))
    p, gap, agreement = ([*targets[key].values()] for key in ("cochran_p", "gap", "agreement"))
    known = np.isfinite(logs)

    def misfit(columns: IntArray, agreed: IntArray, passes: IntArray) -> float:
        total = columns.sum(axis=-1)
        top = (runs - 1) * (runs * (columns**2).sum(axis=-1) - total**2)
        q = top / (runs * total - square_sum)  # Cochran's
        pooled_p = chdtrc((runs - 1) * kept.sum(), q[:, kept].sum(axis=1))
        gaps = np.ptp(columns[:, kept].sum(axis=1), axis=1) / (kept.sum() * core.shape[2])
        each = chdtrc(runs - 1, q).ravel()
        parts = (
            (pooled_p - p) / P_UNIT,
            np.maximum(targets["smallest_p"] - each, 0) / SMALLEST_P_UNIT,
            (gaps - gap) / GAP_UNIT,
            (agreed / pairs - agreement) / AGREEMENT_UNIT,
            (passes - logs)[known] / PASSES_UNIT,
        )
        return float(sum((part**2).sum() for part in parts))

    best = misfit(columns, agreed, passes)
    places = np.argwhere(mixed)
    barrier = rng.exponential(size=MOVES) * np.geomspace(HOT, COLD, MOVES)
    chosen = places[rng.integers(len(places), size=MOVES)]
    for (c, m, i), limit in zip(chosen.tolist(), barrier.tolist(), strict=True):
        old, new = pattern[c, m, i], rng.choice(with_passes[counts[c, m, i]])
        moved, swapped, seen = columns.copy(), agreed, passes.copy()
        seen[m] += logged[new] - logged[old]
        if i < core.shape[2]:
            moved[c, m] += bits[new] - bits[old]
            if kept[m]:
                swapped = agreed + agreements[new] - agreements[old]
        now = misfit(moved, swapped, seen)
        if now - best <= limit:
            best, pattern[c, m, i] = now, new
            columns, agreed, passes = moved, swapped, seen
    return np.where(pattern[..., None] >= 0, bits[pattern], -1)
