"""The bootstrap post's formulas, each tested on a small design or on the model that it simulates.

As in `formulas`, a claim holds if the identity does for the package's own estimators. There a
problem is what the post calls an input, and R is its k.
"""

from __future__ import annotations

import numpy as np

from repeval.companion.ledger.bs import icc
from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.formulas import (
    FOUND,
    MU,
    MU_W,
    RHO,
    SAMPLE,
    SIGMA_B2,
    N,
    R,
    Z,
    averages,
    binomial,
    pair,
    same,
    spread,
    total,
    variances,
)
from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.companion.studies.strategies import TABLE, mode_table
from repeval.stats.agreement import accuracy, cohen_kappa, kappa_of, kappa_standard_error
from repeval.stats.allocation import width_factor
from repeval.stats.intervals import interval

# The confusion matrix as inputs with one prediction each.
TRUTH, PREDICTED = np.repeat(np.argwhere(TABLE >= 0), TABLE.ravel(), axis=0).T
# Simulated widths follow a formula for large N up to 1/N and Monte Carlo noise, 1% at N = 100;
# without rho the formula is off by 5% at k = 5.
LARGE_SAMPLES = 0.02


@claim("bs-nk-y")
def outcome(_: Results) -> bool:
    """Average, over the confusion matrix, whether a prediction is the true label."""
    return same(accuracy(TRUTH, PREDICTED), (TRUTH == PREDICTED).mean())


@claim("bs-nk-var", "bs-lim-var")
def variance(_: Results) -> bool:
    """Enumerate three inputs drawn at random, with one, two and three runs."""
    return same(variances(1, 2, 3), total(1, 2, 3) / 3)


@claim("bs-nk-sd")
def deviation(_: Results) -> bool:
    """Enumerate that variance, and compare its root with the product of both factors."""
    factors = np.sqrt(MU * (1 - MU) / 3) * width_factor(RHO, [1, 2, 3])
    return same(np.sqrt(variances(1, 2, 3)), factors)


@claim("bs-nk-width")
def width(r: Results) -> bool:
    """Divide the widths simulated here by the formula, to 2%."""
    study = r.study("strategies")
    rows = study[
        study["strategy"].isin(["iid", "cluster"])
        & (study["statistic"] == "accuracy")
        & (study["interval"] == "percentile")
    ]
    ratio = rows["width"] * np.sqrt(rows["n"]) / width_factor(icc(), rows["k"])
    return bool(ratio.max() / ratio.min() < 1 + LARGE_SAMPLES)


@claim("bs-nk-icc-def")
def intraclass(_: Results) -> bool:
    """Correlate two runs of a random input; add up the two variances."""
    correlation = (pair(1, 1) - MU**2) / (MU * (1 - MU))
    return same(correlation, SIGMA_B2 / (SIGMA_B2 + MU_W)) and same(MU * (1 - MU), SIGMA_B2 + MU_W)


@claim("bs-nk-floor-def")
def floor(_: Results) -> bool:
    """Compare the factor at a million million runs with the bound, and see it above it before."""
    few, many = width_factor(RHO, np.arange(1, 101)), width_factor(RHO, 1e12)
    return same(many, np.sqrt(RHO)) and bool((few > many).all())


def majority(p: np.ndarray) -> np.ndarray:
    """Return how often two or three of three runs are right, each being right with p."""
    return binomial(np.asarray(p), 3)[..., 2:].sum(axis=-1)


@claim("bs-take-mode3-formula")
def mode_of_three(_: Results) -> bool:
    """Enumerate three runs at every p in steps of 1%."""
    p = np.arange(101) / 100
    return same(majority(p), p**3 + 3 * p**2 * (1 - p))


@claim("bs-take-mode3")
def mode_of_three_here(_: Results) -> float:
    """Enumerate three runs at the post's accuracy."""
    return float(majority(paper()["bs-take-mode-p"].value))


@claim("bs-take-mode2")
def mode_of_two(_: Results) -> bool:
    """Enumerate two runs of every label of the model: the law of truth and mode is the matrix."""
    return same(mode_table(2), TABLE / TABLE.sum())


@claim("bs-gen-mode-rho")
def another_quantity(_: Results) -> bool:
    """Move half the inputs up and half down from the post's accuracy, and compare at each step."""
    single = paper()["bs-take-mode-p"].value
    apart = np.linspace(0, 1 - single, 101)
    gap = (majority(single + apart) + majority(single - apart)) / 2 - single
    return bool((gap > 0).all() or (gap < 0).all())


@claim("bs-gen-deficit")
def deficit(_: Results) -> bool:
    """Compare exact laws on one data set; run noise is (1-rho) of a run's variance on average."""
    single = FOUND.mean * (1 - FOUND.mean) / N - spread("one_level")
    two_level = spread("two_level") - spread("one_level")
    return (
        same(averages(lambda c: c.within, R), (1 - RHO) * MU * (1 - MU))
        and same(single, FOUND.within / N * (1 - 1 / R))
        and same(two_level, FOUND.within / N * (R - 1) / R**2)
    )


@claim("bs-norm-formula")
def normal_interval(_: Results) -> bool:
    """Compare the limits with the means of inputs and their standard deviation."""
    found = interval(SAMPLE, name="clustered_normal")
    half = Z * SAMPLE.rate.std(ddof=1) / np.sqrt(N)
    return same([found.low, found.high], [SAMPLE.rate.mean() - half, SAMPLE.rate.mean() + half])


@claim("bs-rho-anova")
def anova(_: Results) -> bool:
    """Compute the mean squares from single outcomes; compare with the ratio of components."""
    y = (np.arange(R) < SAMPLE.passes[:, None]).astype(float)
    means = y.mean(axis=1)
    msb = R * ((means - y.mean()) ** 2).sum() / (N - 1)
    msw = ((y - means[:, None]) ** 2).sum() / (N * (R - 1))
    return same(FOUND.icc, (msb - msw) / (msb + (R - 1) * msw))


@claim("bs-kappa-formula")
def kappa(_: Results) -> bool:
    """Count agreement over the inputs of the confusion matrix, and over all pairs of them."""
    agreed, expected = (TRUTH == PREDICTED).mean(), (TRUTH[:, None] == PREDICTED).mean()
    return same(cohen_kappa(TRUTH, PREDICTED), (agreed - expected) / (1 - expected))


@claim("bs-kappa-fce")
def kappa_error(_: Results) -> bool:
    """Differentiate kappa by every cell of the confusion matrix, as the delta method does."""
    # Of a quotient of polynomials a tiny imaginary step gives the derivative to all digits.
    step, p = 1e-30j, TABLE / TABLE.sum()
    moved = p.ravel() + step * np.eye(p.size)
    tables = moved.reshape(-1, *p.shape)
    values = kappa_of(np.trace(tables, axis1=1, axis2=2), tables.sum(axis=2), tables.sum(axis=1))
    # Kappa does not depend on the total, so that its influence has mean zero.
    influence = values.imag / step.imag
    return same(kappa_standard_error(TABLE) ** 2, p.ravel() @ influence**2 / TABLE.sum())
