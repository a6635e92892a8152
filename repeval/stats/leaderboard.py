"""Ranks that hold for all systems of a leaderboard at once, and what luck adds to the first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from repeval.stats.comparison import compare
from repeval.stats.intervals import check_options, t_quantile
from repeval.stats.pairs.apart import degrees, largest, told_apart, unit_rates
from repeval.stats.pairs.decision import FEWEST
from repeval.stats.ranking import drawn_ranks, rank_sets, ranks_of
from repeval.stats.resampling import as_clusters, as_generator
from repeval.stats.sample import FloatArray, IntArray, as_sample

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
    one critical value for all (max-t; of more than 1,000 systems Bonferroni's t). It is read off
    the bootstrap, whose variance is (N-1)/N of s² and whose tails are a normal's, and brought to
    Student's t with N-1 degrees of freedom, or those of the clusters. With fewer than eight
    problems nothing is ruled out.

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
    drawn = drawn_ranks(samples, "one_level", n_resamples, as_generator(rng), groups)
    units, df, critical = unit_rates(rates, groups), degrees(n, groups), math.inf
    if n >= FEWEST and drawn.scores is None:
        critical = t_quantile(1 - (1 - level) / math.comb(len(samples), 2), df)
    elif n >= FEWEST and (most := largest(drawn.scores, scores, units).max(axis=0)).any():
        z = float(np.quantile(most, level)) * math.sqrt(n / (n - 1))
        critical = float(special.stdtrit(df, special.ndtr(z)))
    apart = told_apart(
        samples, scores, units, critical, lambda a, b: compare(a, b, level=level).resolved
    )
    low, high = rank_sets(apart)
    lucky = drawn.best - scores[drawn.first]
    return JointRanks(
        scores, ranks_of(scores[None])[0], low, high, low == 1, drawn.share(1),
        min(max(0.0, float(lucky.mean())), float(scores.max() - scores.mean())), level, critical,
    )  # fmt: skip
