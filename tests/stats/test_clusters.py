"""Clustered variances against matrix algebra, and how well they are known."""

import math

import numpy as np
import pytest

from repeval.stats.clusters import cluster_df, effective_number, score_variance
from tests.oracles import SEED

LAYOUTS = [(1, 1), (30, 1), (3, 3, 3, 3), (7, 1, 4, 2, 9), (60, 20, 5, 5, 1, 1)]


@pytest.mark.parametrize("sizes", LAYOUTS)
def test_cr2_by_matrix_algebra(sizes) -> None:
    """Bell and McCaffrey: residuals of each cluster times (I - H_gg)^(-1/2), squared."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    y = np.random.default_rng(SEED).random(sum(sizes))
    x = np.ones((len(y), 1))
    bread = np.linalg.inv(x.T @ x)
    hat = x @ bread @ x.T
    residual = y - hat @ y
    meat = 0.0
    for g in range(len(sizes)):
        own = labels == g
        values, vectors = np.linalg.eigh((np.eye(len(y)) - hat)[np.ix_(own, own)])
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        meat += ((x[own].T @ root @ residual[own]) ** 2).item()
    # An eigenvalue of 1/31 out of ones loses two digits of fifteen.
    expected = (bread * meat * bread).item()
    assert score_variance(y, labels)[0] == pytest.approx(expected, rel=1e-10)


def test_single_problems_and_equal_clusters() -> None:
    y = np.random.default_rng(SEED).random(24)
    plain, df = score_variance(y, None)
    assert (plain, df) == (y.var(ddof=1) / 24, math.inf)
    # Every problem its own cluster: s²/N, on N - 1 degrees of freedom.
    assert score_variance(y, np.arange(24)) == pytest.approx((plain, 23), rel=1e-12)
    # Clusters of one size are problems again: their means.
    means = y.reshape(6, 4).mean(axis=1)
    expected = (means.var(ddof=1) / 6, 5)
    assert score_variance(y, np.arange(24) // 4) == pytest.approx(expected, rel=1e-12)


def test_unbiased_where_problems_are_independent() -> None:
    """E Σ_g (Σ(d-d̄))²/(1-n_g/N) = σ² Σ n_g = N σ², whatever the sizes."""
    sizes = np.array([40, 8, 1, 1])
    labels = np.repeat(np.arange(4), sizes)
    draws = np.random.default_rng(SEED).standard_normal((4000, 50))
    found = np.array([score_variance(y, labels)[0] for y in draws])
    # Four standard errors of the mean of the draws themselves.
    assert found.mean() == pytest.approx(1 / 50, abs=4 * found.std() / 4000**0.5)


def test_equal_sums_have_no_variance() -> None:
    labels = np.array([0, 0, 1, 1, 2, 2])
    assert score_variance(np.array([0.1, 0.3, 0.3, 0.1, 0.2, 0.2]), labels)[0] == 0
    assert score_variance(np.full(6, 0.1), labels)[0] == 0


def test_effective_number() -> None:
    assert effective_number([5, 5, 5]) == pytest.approx(3, rel=1e-15)
    assert effective_number([4, 0, 0]) == 1
    assert effective_number([0, 0]) == 0
    # SWE-bench Verified: 231 of 500 problems are of one repository.
    sizes = [231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1]
    assert sum(sizes) == 500
    expected = 500**2 / sum(n * n for n in sizes)
    assert effective_number(sizes) == pytest.approx(expected, rel=1e-15)
    assert cluster_df(sizes) == pytest.approx(expected - 1, rel=1e-15)


@pytest.mark.parametrize("sizes", [(98, 1, 1), (999, 1), (1, 1), (60, 40)])
def test_one_cluster_that_holds_nearly_everything_has_one_degree_of_freedom(sizes) -> None:
    assert cluster_df(sizes) == 1
    y = np.random.default_rng(SEED).random(sum(sizes))
    variance, _ = score_variance(y, np.repeat(np.arange(len(sizes)), sizes))
    assert 0 < variance < 1
