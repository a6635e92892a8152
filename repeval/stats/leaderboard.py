"""Ranks that hold for all systems of a leaderboard at once, and what luck adds to the first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from repeval.stats.clusters import cluster_df, score_variance
from repeval.stats.comparison import compare
from repeval.stats.intervals import check_options
from repeval.stats.pairs.decision import FEWEST
from repeval.stats.ranking import rank_sets, ranks_of, resampled_scores
from repeval.stats.resampling import as_clusters, as_generator
from repeval.stats.sample import ROUNDING, FloatArray, IntArray, Sample, as_sample

__all__ = ["JointRanks", "joint_ranks"]


@dataclass(frozen=True, eq=False)
class JointRanks:
    """Ranks of M systems, with sets that hold for all of them together.

    Attributes
    ----------
    score : (M,) float array
    rank : (M,) int array
        1 is best; equal scores share the better rank.
    low, high : (M,) int array
        Best and worst rank that the data cannot rule out, for all systems at once.
    may_be_best : (M,) bool array
        Systems that no other is surely above.
    p_first : (M,) float array
        How often a system comes first when problems are drawn anew: a description of the data,
        not the probability that it is the best.
    fall : float
        By how much the score of the first is expected to fall on new problems: of many scores the
        highest is so partly by luck; to no less than the mean of all systems.
    level : float
    critical : float
        Standard errors of a difference beyond which two systems are told apart; infinite where
        there are too few problems.

    Examples
    --------
    Three systems on eight problems, run four times:

    >>> import repeval
    >>> from repeval.stats.leaderboard import joint_ranks
    >>> passes = [4, 4, 3, 4, 2, 4, 4, 3], [4, 3, 3, 4, 1, 4, 4, 2], [1, 0, 0, 1, 0, 1, 0, 0]
    >>> ranks = joint_ranks([(k, 4) for k in passes], rng=2606)
    >>> ranks.low.tolist(), ranks.high.tolist(), ranks.may_be_best.tolist()
    ([1, 1, 3], [2, 2, 3], [True, True, False])
    """

    score: FloatArray
    rank: IntArray
    low: IntArray
    high: IntArray
    may_be_best: NDArray[np.bool_]
    p_first: FloatArray
    fall: float
    level: float
    critical: float


def joint_ranks(
    systems: Sequence[Any],
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator | None = None,
    clusters: ArrayLike | None = None,
) -> JointRanks:
    """Rank systems so that, at a level, no true rank lies outside its set.

    Parameters
    ----------
    systems : sequence of M systems
        On the same problems in the same order; see `repeval.as_sample`.
    level, n_resamples, rng, clusters
        As in `repeval.rank`.

    Notes
    -----
    All M(M-1)/2 differences are studentised, and the largest in a resample of the problems gives
    one critical value for all (max-t). It is read off the bootstrap, whose variance is (N-1)/N of
    s² and whose tails are a normal's, and brought to Student's t with N-1 degrees of freedom, or
    those of the clusters. With fewer than eight problems nothing is ruled out.

    `fall` is the mean over resamples of what the score of their first is above that system's own.
    It is held to S₁ - mean(S): were the M systems drawn alike, with true scores θ, the expected θ
    given the scores S rises with a system's score, so that of the first is no less than the mean of
    all; and mean(S), which nobody chose, is unbiased for mean(θ). Where all scores are equal, none
    was chosen, and nothing falls.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91, 476-518, simultaneous
    sets; Hesterberg (2015) for the expansion.
    """
    check_options(level, n_resamples=n_resamples)
    samples = [as_sample(s) for s in systems]
    if len({len(s) for s in samples}) != 1:
        raise ValueError("at least one system is needed, and all on the same problems")
    rates = np.stack([s.rate for s in samples])
    scores = rates.mean(axis=1)
    n, groups = rates.shape[1], as_clusters(clusters, rates.shape[1])
    draws = resampled_scores(samples, "one_level", n_resamples, as_generator(rng), groups)
    errors = _standard_errors(rates, groups)
    known = errors > ROUNDING
    df = n - 1 if groups is None else cluster_df(np.bincount(groups))
    critical = math.inf
    if n >= FEWEST and known.any():
        largest = np.zeros(n_resamples)
        for j in range(len(samples)):
            off = np.abs(draws - draws[:, [j]] - (scores - scores[j]))[:, known[j]]
            if off.size:
                np.maximum(largest, (off / errors[j, known[j]]).max(axis=1), out=largest)
        z = float(np.quantile(largest, level)) * math.sqrt(n / (n - 1))
        critical = float(special.stdtrit(df, special.ndtr(z)))
    apart = _apart(samples, scores, errors, critical, level)
    low, high = rank_sets(apart)
    ranks = ranks_of(draws)
    first = draws.argmax(axis=1)
    lucky = draws[np.arange(n_resamples), first] - scores[first]
    return JointRanks(
        scores, ranks_of(scores[None])[0], low, high, low == 1, (ranks == 1).mean(axis=0),
        min(max(0.0, float(lucky.mean())), float(scores.max() - scores.mean())), level, critical,
    )  # fmt: skip


def _standard_errors(rates: FloatArray, groups: IntArray | None) -> FloatArray:
    """Return the (M, M) standard errors of differences of scores."""
    if groups is None:
        n = rates.shape[1]
        covariance = np.cov(rates).reshape(len(rates), len(rates))
        variances = np.diag(covariance)
        squared = variances[:, None] + variances - 2 * covariance
        return np.sqrt(np.maximum(squared, 0) / n)
    return np.sqrt([[score_variance(a - b, groups)[0] for b in rates] for a in rates])


def _apart(
    samples: Sequence[Sample], scores: FloatArray, errors: FloatArray, critical: float, level: float
) -> IntArray:
    """Return, in column j, 1 for every system that is surely above j, -1 for those below."""
    gaps = scores[:, None] - scores
    beyond = np.abs(gaps) > critical * np.maximum(errors, ROUNDING)
    apart = (np.sign(gaps) * beyond * (errors > ROUNDING)).astype(int)
    # The same difference on every problem has no error; there the procedure for a pair decides.
    for i, j in zip(*np.nonzero((errors <= ROUNDING) & (np.abs(gaps) > ROUNDING)), strict=True):
        decided = compare(samples[i], samples[j], level=level).resolved
        apart[i, j] = int(np.sign(gaps[i, j])) if decided else 0
    return apart
