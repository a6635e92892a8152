"""Likelihood limits of a ceiling from two variances: that of the score and that of its run noise.

For graded scores, clusters and differences of systems, which have no beta-binomial likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from repeval.stats.clusters import score_variance
from repeval.stats.components import noise_terms, within
from repeval.stats.intervals import normal_quantile, satterthwaite
from repeval.stats.sample import (
    TOGETHER,
    FloatArray,
    IntArray,
    Pair,
    Sample,
    differences,
    variances,
)

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
    return noise_shares(values[None], [parts], clusters)[0]


def noise_shares(
    values: FloatArray, parts: Sequence[Sequence[Sample]], clusters: IntArray | None = None
) -> list[NoiseShare]:
    """Return the same for K scores, or differences, at once.

    Parameters
    ----------
    values : (K, N) float array
    parts : sequence of K sequences of Sample
    clusters : (N,) int array, optional
    """
    n = values.shape[1]
    noise = np.stack([sum(map(noise_terms, own)) for own in parts])
    off = values - values.mean(axis=1, keepdims=True)
    if clusters is None:
        units, spread, df = n, variances(values) / n, math.inf
    else:
        units = int(clusters.max()) + 1
        off = np.stack([np.bincount(clusters, row) for row in off])
        spread, df = np.transpose([score_variance(row, clusters) for row in values])
    run_noise = noise.mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = run_noise / (n * spread)
        runs = np.array([sum(map(within, own)) for own in parts]) / run_noise
    df_spread = np.minimum(np.minimum(df, units - 1), satterthwaite(off**2))
    most = [sum(part.all_runs - n for part in own) for own in parts]
    df_noise = np.minimum(most, _noise_df(noise, parts, clusters))
    columns = share, np.where(run_noise > 0, runs, math.nan), df_spread, df_noise
    return [NoiseShare(*row) for row in np.transpose(columns).tolist()]


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
    pairs: Sequence[Pair],
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
    repeated = [i for i, pair in enumerate(pairs) if min(s.distinct_runs[-1] for s in pair) > 1]
    sizes: dict[int, list[int]] = {}
    for i in repeated:
        sizes.setdefault(len(pairs[i][0]), []).append(i)
    shares: dict[int, NoiseShare] = {}
    for n, members in sizes.items():
        for first in range(0, len(members), step := max(1, TOGETHER // n)):
            some = [pairs[i] for i in members[first : first + step]]
            found = noise_shares(differences(some), some, clusters)
            shares.update(zip(members[first : first + step], found, strict=True))
    known = [(i, shares[i]) for i in repeated if shares[i].share > 0]
    iccs = share_iccs([share for _, share in known], level)
    for (i, _), (low, high) in zip(known, iccs.tolist(), strict=True):
        limits[i] = 1 / high, 1 / low if low else math.inf
    return limits


def _noise_df(
    noise: FloatArray, parts: Sequence[Sequence[Sample]], clusters: IntArray | None
) -> FloatArray:
    """Return the degrees of freedom that match the variance of a mean of noise terms."""
    if clusters is not None:
        mean = noise.mean(axis=1)
        squared = np.array([score_variance(row, clusters)[0] for row in noise])
    else:
        mean, squared = np.empty((2, len(noise)))
        for at, terms in _repeated(noise, parts):
            mean[at], squared[at] = terms.mean(axis=1), variances(terms) / terms.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squared > 0, np.maximum(1.0, 2 * mean**2 / squared), math.inf)


def _repeated(
    noise: FloatArray, parts: Sequence[Sequence[Sample]]
) -> Iterator[tuple[list[int], FloatArray]]:
    """Yield the terms of problems that somebody repeated, and whose they are.

    Those that nobody did are no terms; as parts of clusters they could not be left out.
    """
    whole = [any(part.distinct_runs[0] > 1 for part in own) for own in parts]
    if any(whole):
        yield [*np.flatnonzero(whole)], noise[np.array(whole)]
    for i in np.flatnonzero(~np.array(whole)):
        yield [i], noise[i : i + 1, np.any([part.runs > 1 for part in parts[i]], axis=0)]
