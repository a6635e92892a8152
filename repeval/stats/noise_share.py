"""Likelihood limits of a ceiling from two variances: that of the score and that of its run noise.

For graded scores, clusters and differences of systems, which have no beta-binomial likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from repeval.stats.clusters import score_variance
from repeval.stats.components import noise_terms, within
from repeval.stats.intervals import normal_quantile, satterthwaite
from repeval.stats.sample import FloatArray, IntArray, Sample

# Newton's steps: it starts within a few of its roots.
STEPS = 60


@dataclass(frozen=True)
class NoiseShare:
    """How much of a score's variance is run noise, and how well its two variances are known.

    Attributes
    ----------
    share : float
        q̂, the variance from run noise over the whole variance between problems, or clusters;
        above 1 where σ_b² < 0, infinite where scores do not differ.
    runs : float
        μ_w over the run noise: R, or its harmonic mean.
    df_spread, df_noise : float
        Degrees of freedom of the whole variance and of that from run noise.
    """

    share: float
    runs: float
    df_spread: float
    df_noise: float


def noise_share(
    values: FloatArray, parts: Sequence[Sample], clusters: IntArray | None = None
) -> NoiseShare:
    """Estimate the share of run noise in the variance of a score, or of a difference of two.

    A normal two-level model has N-1 and Σ(R_i-1) degrees of freedom; outcomes near 0 and 1
    have fewer, namely those that match the variance of each mean square over problems.

    Parameters
    ----------
    values : (N,) float array
        p̂_i of one system, or the differences of two.
    parts : sequence of Sample
        The one system, or the two, each with a problem of two runs at least.
    clusters : (N,) int array, optional
        Codes 0..G-1; the variance is then that between clusters.
    """
    n = len(values)
    noise = sum(map(noise_terms, parts))
    groups = np.arange(n) if clusters is None else clusters
    squares = np.bincount(groups, values - values.mean()) ** 2
    variance, df = score_variance(values, clusters)
    run_noise = noise.mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        share = float(np.divide(run_noise, n * variance))
    return NoiseShare(
        share=share,
        runs=sum(map(within, parts)) / run_noise if run_noise else math.nan,
        df_spread=min(df, len(squares) - 1, satterthwaite(squares)),
        df_noise=min(
            sum(int((part.runs - 1).sum()) for part in parts),
            _noise_df(noise, parts, clusters),
        ),
    )


def share_limits(shares: Sequence[NoiseShare], level: float = 0.95) -> FloatArray:
    """Return the profile-likelihood limits of each share of run noise, within [0, 1].

    Returns
    -------
    (len(shares), 2) float array

    Notes
    -----
    Of two independent mean squares with ν_s and ν_n degrees of freedom, the log-likelihood of
    their expectations' ratio q, maximised over their size, is up to a constant
    ν_s/2 · v - (ν_s+ν_n)/2 · ln(1+e^v) with v = ln(q/q̂ · ν_s/ν_n): concave in v.
    """
    s = np.array([x.df_spread for x in shares])
    n = np.array([x.df_noise for x in shares])
    # Beyond 1e12 the likelihood is that of scores which do not differ at all.
    zero = np.log(s / n) - np.log(np.minimum([x.share for x in shares], 1e12))
    top = np.minimum(np.log(s / n), zero)

    def value(v: FloatArray) -> FloatArray:
        return s / 2 * v - (s + n) / 2 * np.logaddexp(0, v)

    drop = normal_quantile(level) ** 2 / 2
    floor = value(top) - drop
    limits = []
    for side in (-1, 1):
        start = top if side < 0 else np.log(s / n)
        v = start + side * np.sqrt(2 * drop * (2 / s + 2 / n))
        # Newton's method on a concave function comes from outside, whatever its start.
        for _ in range(STEPS):
            step = (value(v) - floor) / (s / 2 - (s + n) / 2 * special.expit(v))
            v = v - step
            if (np.abs(step) <= 1e-12).all():
                break
        limits.append(np.exp(np.minimum(v - zero, 0)))
    return np.stack(limits, axis=1)


def share_iccs(shares: Sequence[NoiseShare], level: float = 0.95) -> FloatArray:
    """Return the limits of the ICC that belong to `share_limits`, low and high.

    With q = ((1-ρ)/R)/(ρ+(1-ρ)/R), ρ = (1-q)/(1-q+Rq) falls in q.
    """
    if not shares:
        return np.empty((0, 2))
    q = share_limits(shares, level)[:, ::-1]
    runs = np.array([[share.runs] for share in shares])
    return (1 - q) / (1 - q + runs * q)


def difference_profile_limits(
    pairs: Sequence[tuple[Sample, Sample]],
    *,
    level: float = 0.95,
    clusters: IntArray | None = None,
) -> list[tuple[float, float]]:
    """Return profile-likelihood intervals of the ceiling of many differences at once.

    The normal two-level likelihood of d_i = p̂_iA - p̂_iB, or of its clusters.

    Returns
    -------
    list of (low, high)
        NaN where a side has one run only or no verdict of either changed; `high` may be infinite.
    """
    limits = [(math.nan, math.nan)] * len(pairs)
    repeated = [i for i, pair in enumerate(pairs) if min(s.runs.max() for s in pair) > 1]
    shares = [
        noise_share(a.rate - b.rate, [a, b], clusters) for a, b in (pairs[i] for i in repeated)
    ]
    known = [(i, share) for i, share in zip(repeated, shares, strict=True) if share.share > 0]
    iccs = share_iccs([share for _, share in known], level)
    for (i, _), (low, high) in zip(known, iccs.tolist(), strict=True):
        limits[i] = 1 / high, 1 / low if low else math.inf
    return limits


def _noise_df(noise: FloatArray, parts: Sequence[Sample], clusters: IntArray | None) -> float:
    """Return the degrees of freedom that match the variance of a mean of noise terms."""
    if clusters is None:
        # Problems that nobody repeated are no terms; as parts of clusters they cannot be left out.
        noise = noise[np.any([part.runs > 1 for part in parts], axis=0)]
    squared, _ = score_variance(noise, clusters)
    return max(1.0, 2 * noise.mean() ** 2 / squared) if squared > 0 else math.inf
