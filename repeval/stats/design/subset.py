"""The score on all problems from a random part of them, by what older systems did on all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats.components import components
from repeval.stats.intervals import check_options, t_quantile
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, as_sample, variance

# On fewer problems, or with fewer of the rarer outcome, the interval covers too seldom.
FEWEST = 50
FEWEST_MIXED = 5
# So many problems for each direction in which older systems differ.
PER_COVARIATE = 25
# A random part is refused as often, by each check.
ALPHA = 0.001
# Groups expected to have fewer problems in the part are taken together.
EXPECTED = 5


@dataclass(frozen=True)
class SubsetScore:
    """A score on all problems, from a part of them.

    Attributes
    ----------
    score, low, high : float
        By regression on older systems: the mean over all problems, over endless runs.
    alone, alone_low, alone_high : float
        What the part says by itself, by Student's t.
    n_chosen, n_problems, n_covariates : int
    level : float

    Examples
    --------
    >>> from repeval.stats.design.subset import subset_score
    >>> older = [[1.0], [0.5], [0.5], [0.0]] * 40
    >>> found = subset_score([3, 2, 1, 0] * 20, 3, chosen=range(80), older=older)
    >>> round(found.score, 3), round(found.high - found.low, 3)
    (0.5, 0.053)
    >>> round(found.alone_high - found.alone_low, 3)
    0.167
    """

    score: float
    low: float
    high: float
    alone: float
    alone_low: float
    alone_high: float
    n_chosen: int
    n_problems: int
    n_covariates: int
    level: float

    @property
    def worth(self) -> float:
        """Return how many random problems would give as narrow an interval by themselves."""
        narrow, wide = self.high - self.low, self.alone_high - self.alone_low
        return self.n_chosen * (wide / narrow) ** 2 if narrow > 0 else math.inf


def subset_score(
    outcomes: Any,
    runs: ArrayLike | None = None,
    *,
    chosen: ArrayLike,
    older: ArrayLike,
    older_noise: float | None = None,
    level: float = 0.95,
) -> SubsetScore:
    """Estimate the score on all N problems from a random part of n.

    Parameters
    ----------
    outcomes, runs
        Of the n problems; see `repeval.as_sample`. One run each is enough.
    chosen : (n,) array of int
        Which of the N problems they are.
    older : (N, K) float array
        Pass rates of K older systems on all problems.
    older_noise : float, optional
        Run noise μ_w of the noisiest older system, which stands for this one's where it has one
        run of each problem.
    level : float

    Returns
    -------
    SubsetScore

    Raises
    ------
    ValueError
        Where the part is no part, or has fewer than 50 problems, or 5 of the rarer outcome.

    Notes
    -----
    The regression of p̂ on what older systems did, read at their mean over all problems:
    ȳ + β'(X̄ - x̄), with the standard error s_e·√(x'(X'X)⁻¹x). What is left over varies between
    problems and between runs, s_e² = b + v; of b the share n/N is known and no error, so that
    n/N · b/n is taken off. Where v is not known nothing is. Covariates are the first principal
    components of the older pass rates, one for every 25 problems: they are found without looking
    at the new system.

    References
    ----------
    Cochran (1977), Sampling Techniques, chapter 7.
    """
    check_options(level)
    sample, where = as_sample(outcomes, runs), np.asarray(chosen)
    x = np.asarray(older, dtype=float)
    n, total = len(sample), len(x)
    if len(where) != n or len(np.unique(where)) != n or not 0 <= where.min() <= where.max() < total:
        raise ValueError(f"chosen must name {n} different problems of {total}")
    if n == total:
        raise ValueError("the part holds all problems")
    y = sample.rate
    rarer = min((y < 1).sum(), (y > 0).sum())
    if n < FEWEST or rarer < FEWEST_MIXED:
        what = f"these are {n}, with {rarer}"
        raise ValueError(
            f"a part needs {FEWEST} problems and {FEWEST_MIXED} of the rarer outcome; {what}"
        )
    x = np.column_stack([np.ones(total), principal(x, max(1, n // PER_COVARIATE))])
    mine, at = x[where], x.mean(axis=0)
    inverse = np.linalg.pinv(mine.T @ mine)
    slope = inverse @ mine.T @ y
    df = n - x.shape[1]
    left = float(((y - mine @ slope) ** 2).sum()) / df
    repeated = sample.runs.max() > 1
    noise = components(sample).run_noise if repeated else older_noise
    known = 0.0 if noise is None else max(left - noise, 0.0) / total
    score = float(at @ slope)
    half = t_quantile(level, df) * math.sqrt(max(left * float(at @ inverse @ at) - known, 0.0))
    mean, by_itself = float(y.mean()), t_quantile(level, n - 1) * math.sqrt(variance(y) / n)
    ends = (score - half, score + half, mean - by_itself, mean + by_itself)
    low, high, alone_low, alone_high = (min(max(v, 0.0), 1.0) for v in ends)
    return SubsetScore(
        min(max(score, 0.0), 1.0), low, high, mean, alone_low, alone_high, n, total,
        x.shape[1] - 1, level,
    )  # fmt: skip


def principal(rates: FloatArray, most: int) -> FloatArray:
    """Return the problems' places along the directions in which systems differ most.

    Parameters
    ----------
    rates : (N, K) float array
    most : int
        Directions; fewer where the rates have no more.

    Returns
    -------
    (N, L) float array
        Centred, L <= most.
    """
    u, sizes, _ = np.linalg.svd(rates - rates.mean(axis=0), full_matrices=False)
    kept = sizes[:most] > ROUNDING * max(float(sizes.max(initial=0)), 1.0)
    return (u[:, :most] * sizes[:most])[:, kept]


def why_not_random(
    chosen: ArrayLike,
    total: int,
    *,
    difficulty: ArrayLike,
    labels: Mapping[str, ArrayLike] | None = None,
) -> str:
    """Return what tells a part of the problems from a random one, "" where nothing does.

    Parameters
    ----------
    chosen : (n,) array of int
        Positions in the order of the problems.
    total : int
        N.
    difficulty : (N,) float array
        Mean pass rate of older systems.
    labels : mapping of str to (N,) array, optional
        Labels of the problems.

    Returns
    -------
    str
        "order": it comes in blocks, or from one end; "difficulty": older systems score otherwise
        on it than on all; or the name of a label whose values it holds in other shares.

    Notes
    -----
    Each check refuses one random part in a thousand. The number of blocks that m of N random
    places form is hypergeometric, as m draws from N of which N - m + 1 count.

    Examples
    --------
    >>> import numpy as np
    >>> from repeval.stats.design.subset import why_not_random
    >>> rates = np.tile([0.2, 0.9, 0.6, 0.4, 0.8], 100)
    >>> drawn = np.random.default_rng(2606).choice(500, 100, replace=False)
    >>> why_not_random(range(100), 500, difficulty=rates)
    'order'
    >>> why_not_random(np.arange(1, 500, 5), 500, difficulty=rates)
    'difficulty'
    >>> why_not_random(drawn, 500, difficulty=rates)
    ''
    """
    inside = np.zeros(total, dtype=bool)
    inside[np.asarray(chosen)] = True
    if _in_blocks(inside) < ALPHA or _differs(np.arange(total), inside) < ALPHA:
        return "order"
    if _differs(np.asarray(difficulty, dtype=float), inside) < ALPHA:
        return "difficulty"
    for name, values in (labels or {}).items():
        if _shares_differ(np.unique(np.asarray(values), return_inverse=True)[1], inside) < ALPHA:
            return name
    return ""


def _in_blocks(inside: np.ndarray) -> float:
    """Return how seldom so few blocks of neighbours come up at random."""
    smaller = inside if inside.sum() * 2 <= len(inside) else ~inside
    n, m = len(inside), int(smaller.sum())
    blocks = int(smaller[0]) + int((smaller[1:] & ~smaller[:-1]).sum())
    b = np.arange(1, blocks + 1)
    with np.errstate(divide="ignore"):
        log = _log_choose(m - 1, b - 1) + _log_choose(n - m + 1, b) - _log_choose(n, m)
    return float(np.exp(log).sum())


def _log_choose(n: float, k: Any) -> Any:
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)


def _differs(values: np.ndarray, inside: np.ndarray) -> float:
    """Return how seldom the mean of a random part is as far off, by the normal law."""
    n, total, spread = int(inside.sum()), len(inside), variance(values)
    if spread == 0:
        return 1.0
    error = math.sqrt((1 - n / total) * spread / n)
    return float(2 * special.ndtr(-abs(values[inside].mean() - values.mean()) / error))


def _shares_differ(groups: IntArray, inside: np.ndarray) -> float:
    """Return how seldom groups have shares so different, by the chi-squared law."""
    sizes, seen = np.bincount(groups), np.bincount(groups, inside)
    n, total = int(inside.sum()), len(inside)
    rare = sizes * min(n, total - n) < EXPECTED * total
    sizes, seen = (np.append(x[~rare], x[rare].sum()) for x in (sizes, seen))
    sizes, seen = sizes[sizes > 0], seen[sizes > 0]
    if len(sizes) < 2:
        return 1.0
    expected = sizes * n / total
    squares = ((seen - expected) ** 2 / expected).sum() * (total - 1) / (total - n)
    return float(special.chdtrc(len(sizes) - 1, squares))
