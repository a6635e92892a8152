"""Many candidates against one baseline, told apart so that all verdicts hold together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from repeval.stats.components import filled_noise, paired
from repeval.stats.intervals import check_options
from repeval.stats.pairs.decision import FEWEST
from repeval.stats.pairs.hull import these_limits
from repeval.stats.pairs.margin import QUESTIONS, Pair, decided_new
from repeval.stats.resampling import DEFAULT_SEED, as_clusters, as_generator
from repeval.stats.sample import ROUNDING, FloatArray, IntArray

# Draws of the largest deviate: .0015 of standard error at 5 %.
DRAWS = 20_000
# Tails of K questions are K times as thin: so many resamples for each, where no law is exact.
RESAMPLES_EACH = 200
# Up to so many candidates the largest deviate is drawn (80 MB; memory grows with their number, the
# time for a root of their correlation with its cube). Of more, Šidák's bound stands for it.
MOST_DRAWN = 500
# Draws that are looked at together.
BLOCK = 1000


@dataclass(frozen=True, eq=False)
class Many:
    """K candidates against one baseline; differences are candidate minus baseline.

    Attributes
    ----------
    difference : (K,) float array
    low, high : (K,) float array
        Intervals that hold all together at `level`; NaN where there is none.
    p_value : (K,) float array
        Of each pair alone; see `repeval.compare`.
    p_adjusted : (K,) float array
        Of all together: the smallest 1 - level at which the two are told apart.
    verdict : (K,) float array
        -1 worse, 1 better, 0 not shown, NaN where nothing can be said.
    level : float
    level_each : float
        At which each interval is read alone, so that all hold together at `level`.
    """

    difference: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    verdict: FloatArray
    level: float
    level_each: float


def many_to_one(
    baseline: Any,
    candidates: Sequence[Any],
    *,
    question: str = "new",
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator | None = DEFAULT_SEED,
    clusters: ArrayLike | None = None,
) -> Many:
    """Compare K candidates with one baseline so that one wrong verdict among all is rare.

    Parameters
    ----------
    baseline, candidates
        On the same problems in the same order; see `repeval.as_sample`.
    question : {"new", "these"}
        By `paired` or by `paired_fixed`; see `repeval.compare`.
    level : float
        At most 1 - level of all families has an equal candidate that is told apart.
    n_resamples : int
        For scores, of each pair; at least 200 for each candidate.
    rng, clusters
        As in `repeval.compare`.

    Raises
    ------
    ValueError
        Without candidates, or where the problems are not the same.

    Notes
    -----
    Each pair has the p-value of its own careful procedure, as a normal deviate z. Together the
    deviates are taken for a normal law with the correlation that the baseline makes: that of the
    differences over problems or clusters, or on these problems v_b/√((v_b + v_j)(v_b + v_k)), v a
    score's run noise. This is max-t, brought to each pair's own law (at many problems
    Student's t).

    Intervals are the pairs' at the one level at which the largest |z| of all K stays inside. The
    verdicts step down: the clearest pair is held against the largest of all K deviates, the next
    against that of the K-1 left, and so on until one is not told apart. The family error is kept,
    for the largest of fewer deviates is never larger: before an equal candidate falls, the largest
    deviate of all that are equal must pass its own limit (closed testing). Nor is less told apart
    than by Holm: of k deviates the largest exceeds z in at most 1 - (1-p)^k <= k p of all cases,
    however they are correlated (Šidák), and no adjusted p-value is above that. A later step may
    tell a pair apart whose interval reaches zero.

    Of more than `MOST_DRAWN` candidates nothing is drawn: Šidák's bound stands for the share, in
    the steps and for the intervals. It is never tighter, and tells no pair apart that max-t would
    not.

    That a candidate which truly differs is put on the wrong side is no error of this kind; each
    pair alone has it in at most (1 - level)/2.

    References
    ----------
    Dunnett (1955) for many against one; Hothorn, Bretz and Westfall (2008), Biometrical Journal 50,
    346-363; Šidák (1967); Marcus, Peritz and Gabriel (1976) for closed testing.

    Examples
    --------
    >>> from repeval.stats.pairs.many import many_to_one
    >>> base = [3, 3, 1, 2, 3, 3, 2, 3] * 5, 3
    >>> worse, alike = [1, 2, 0, 0, 2, 1, 1, 1] * 5, [3, 2, 1, 3, 3, 3, 2, 3] * 5
    >>> found = many_to_one(base, [(worse, 3), (alike, 3)])
    >>> found.verdict.tolist(), found.p_adjusted.round(3).tolist()
    ([-1.0, 0.0], [0.0, 1.0])
    """
    if question not in QUESTIONS:
        raise ValueError(f"question must be new or these, not {question!r}")
    check_options(level, n_resamples=n_resamples)
    pairs = [paired(candidate, baseline) for candidate in candidates]
    if not pairs:
        raise ValueError("at least one candidate is needed")
    generator, n = as_generator(rng), len(pairs[0][0])
    groups = as_clusters(clusters, n) if question == "new" else None
    deviates = None
    if len(pairs) <= MOST_DRAWN:
        deviates = _deviates(_correlation(pairs, question, groups), generator)

    def limits(at: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        if question == "these":
            found, _ = these_limits(pairs, at)
            return found.low, found.high, found.p_value
        draws = max(n_resamples, RESAMPLES_EACH * len(pairs))
        rows = decided_new(pairs, at, groups, draws, np.random.default_rng(seed))
        return tuple(np.transpose([(row.low, row.high, p) for row, p in rows]))

    # Both levels read the same resamples.
    seed = int(generator.integers(2**32))
    p_value = limits(level)[2]
    known = ~np.isnan(p_value)
    p_adjusted = np.full(len(pairs), np.nan)
    if deviates is not None and not known.all():
        deviates = deviates[:, known]
    p_adjusted[known] = stepped_down(p_value[known], deviates)
    each = joint_level(deviates, level, int(known.sum())) if known.any() else level
    low, high, _ = limits(each)
    difference = np.array([(x.rate - y.rate).mean() for x, y in pairs])
    verdict = np.where(p_adjusted <= 1 - level, np.sign(difference), 0.0)
    verdict[~known | (question == "new" and n < FEWEST)] = np.nan
    return Many(difference, low, high, p_value, p_adjusted, verdict, level, each)


def stepped_down(p_values: FloatArray, deviates: FloatArray | None) -> FloatArray:
    """Return adjusted p-values by step-down max-t, none above Holm's.

    Parameters
    ----------
    p_values : (K,) float array
    deviates : (T, K) float array or None
        Draws of the absolute normal deviates of equal candidates; without, by Šidák's bound.
    """
    order = np.argsort(p_values, kind="stable")
    p, left = p_values[order], np.arange(len(order), 0, -1)
    # The share has a Monte Carlo error; the bounds have none.
    share = sidak = np.maximum(p, -np.expm1(left * np.log1p(-np.minimum(p, 1 - 1e-16))))
    if deviates is not None:
        limit, beyond = -special.ndtri(p / 2), np.zeros(len(p), dtype=int)
        for first in range(0, len(deviates), BLOCK):
            some = deviates[first : first + BLOCK, order[::-1]]
            largest = np.maximum.accumulate(some, axis=1)[:, ::-1]
            beyond += (largest >= limit).sum(axis=0)
        share = np.clip((beyond + 1) / (len(deviates) + 1), p, sidak)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(share)
    return adjusted


def joint_level(deviates: FloatArray | None, level: float, k: int) -> float:
    """Return the level of each of K intervals at which all hold together at `level`.

    Parameters
    ----------
    deviates : (T, K) float array or None
        See `stepped_down`.
    level : float
    k : int
        Intervals.
    """
    sidak = level ** (1 / k)
    if deviates is None:
        return sidak
    largest = np.sort(deviates.max(axis=1))[::-1]
    beyond = largest[max(0, int((1 - level) * (len(largest) + 1)) - 1)]
    return float(np.clip(1 - 2 * special.ndtr(-beyond), level, sidak))


def _deviates(correlation: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw absolute normal deviates of a correlation, which may be singular."""
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0))
    drawn = rng.standard_normal((DRAWS, len(values)))
    for first in range(0, DRAWS, BLOCK):
        some = drawn[first : first + BLOCK]
        np.abs(some @ root.T, out=some)
    return drawn


def _correlation(pairs: Sequence[Pair], question: str, groups: IntArray | None) -> FloatArray:
    """Return the (K, K) correlation of the differences of equal candidates.

    0 with a difference that does not vary: the largest of independent deviates is the largest.
    """
    if question == "these":
        base = (filled_noise(pairs[0][1]) / pairs[0][1].runs).mean()
        own = np.array([(filled_noise(x) / x.runs).mean() for x, _ in pairs])
        covariance = base + np.diag(own)
    else:
        d = np.stack([x.rate - y.rate for x, y in pairs])
        d -= d.mean(axis=1, keepdims=True)
        if groups is not None:
            sizes = np.bincount(groups)
            d = np.stack([np.bincount(groups, row) for row in d])
            d /= np.sqrt(1 - sizes / sizes.sum())
        covariance = d @ d.T / d.shape[1]
    variance = np.diag(covariance)
    varies: NDArray[np.bool_] = variance > ROUNDING**2
    scale = np.where(varies, np.sqrt(np.where(varies, variance, 1)), 1)
    correlation = np.where(varies[:, None] & varies, covariance / scale / scale[:, None], 0)
    np.fill_diagonal(correlation, 1)
    return correlation
