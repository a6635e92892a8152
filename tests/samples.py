"""Made-up outcomes for tests, and resampling from scratch."""

from __future__ import annotations

import numpy as np

SEED = 2606


def rows_of(passes, runs) -> np.ndarray:
    """An (N, max R) 0/1 array with NaN for runs that a problem does not have."""
    runs = np.broadcast_to(runs, len(passes))
    y = np.full((len(passes), max(runs)), np.nan)
    for i, (k, r) in enumerate(zip(passes, runs, strict=True)):
        y[i, :r] = [1] * k + [0] * (r - k)
    return y


def mixed_scores(n: int = 40) -> np.ndarray:
    """Scores of three or four runs a problem."""
    rng = np.random.default_rng(SEED)
    y = 0.7 * rng.beta(0.6, 0.5, (n, 1)) + 0.3 * rng.random((n, 4))
    y[::5, 3] = np.nan
    return y


def unequal_runs() -> np.ndarray:
    """Forty problems of two to five runs."""
    rng = np.random.default_rng(SEED)
    runs = rng.integers(2, 6, size=40)
    return rows_of(rng.binomial(runs, rng.beta(0.8, 0.6, size=40)), runs)


def mixed_pair(seed: int = SEED, n: int = 60, shift: float = 0.05):
    """Two systems of unequal runs on problems of shared difficulty."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 0.6, size=n)
    runs = rng.integers(2, 5, size=n)
    return (
        (rng.binomial(runs, p), runs),
        (rng.binomial(4, np.clip(p - shift, 0, 1)), np.full(n, 4)),
    )


def rerun_means(y: np.ndarray, index: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Mean of R_i runs drawn with replacement, anew for every drawn problem in `index` (B, N)."""
    runs = (~np.isnan(y)).sum(axis=1)
    packed = np.take_along_axis(y, np.argsort(np.isnan(y), axis=1, kind="stable"), axis=1)
    slot = np.arange(y.shape[1])
    drawn = (rng.random((*index.shape, len(slot))) * runs[index][..., None]).astype(int)
    values = packed[index[..., None], drawn]
    return np.where(slot < runs[index][..., None], values, 0).sum(axis=2) / runs[index]


def beta_binomial_data(rng, mean: float, rho: float, n: int, runs: int) -> np.ndarray:
    """Passes of n problems whose rates are Beta with this mean and ICC."""
    total = 1 / rho - 1
    return rng.binomial(runs, rng.beta(mean * total, (1 - mean) * total, size=n))
