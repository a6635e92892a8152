"""Resampling at any size: what is summed, or drawn at once, has the law of what it stands for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from repeval.stats import resampling
from repeval.stats.pairs import apart
from repeval.stats.ranking import rank
from repeval.stats.resampling import rerun_means, rerun_variances, weighted_means
from repeval.stats.sample import Sample, as_sample, from_values

SEED = 2606


def ragged(n: int, most: int, seed: int = SEED) -> Sample:
    """Scores of problems with 1 to `most` runs."""
    rng = np.random.default_rng(seed)
    runs = rng.integers(1, most + 1, n)
    return from_values(rng.random(runs.sum()).round(2), runs)


def test_scores_by_the_number_of_runs_are_those_of_a_padded_array():
    s = ragged(50, 12)
    y = s.scores
    np.testing.assert_allclose(s.rate, np.nanmean(y, axis=1), rtol=1e-14)
    several = s.runs > 1
    np.testing.assert_allclose(s.noise[several], np.nanvar(y[several], axis=1, ddof=1), atol=1e-14)
    assert np.isnan(s.noise[~several]).all()
    index = np.random.default_rng(SEED).permutation(50)[:20]
    np.testing.assert_array_equal(s.take(index).values, y[index][~np.isnan(y[index])])
    np.testing.assert_allclose(s.sums(), np.nansum([y, y**2], axis=2), rtol=1e-14)


@pytest.mark.parametrize("values", [[[0.1, 0.4, 0.9], [0.3, 0.3, 1.0]], [[1, 0, 1], [0, 0, 1]]])
def test_variances_of_reruns_by_enumeration(values):
    """The mean of R draws with replacement, all R^R of them equally likely."""
    s = as_sample(np.array(values, dtype=float))
    found = [np.var([np.mean(d) for d in itertools.product(row, repeat=3)]) for row in values]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "NEAR", 10.0)
        np.testing.assert_allclose(rerun_variances(s), found, rtol=1e-12)
    # Six draws are no normal law.
    assert rerun_variances(s) is None


def test_many_reruns_have_the_law_of_single_draws(monkeypatch):
    """Shares differ by the bound and by what two empirical laws do (level 1e-6), no more."""
    s, n = as_sample(np.random.default_rng(SEED).random((200, 30))), 4000
    clusters = np.arange(200) // 3
    for groups, problems in ((None, True), (None, False), (clusters, True)):
        one = rerun_means([s], np.random.default_rng(SEED), n, groups, problems)[:, 0]
        with monkeypatch.context() as patch:
            patch.setattr(resampling, "MANY_RUNS", 100)
            patch.setattr(resampling, "_rerun_totals", None)
            many = rerun_means([s], np.random.default_rng(SEED + 1), n, groups, problems)[:, 0]
        both = np.sort(np.concatenate([one, many]))
        shares = [np.searchsorted(np.sort(x), both, side="right") / n for x in (one, many)]
        by_chance = np.sqrt(np.log(2 / 1e-6) / n)
        assert np.abs(np.subtract(*shares)).max() < resampling.NEAR + by_chance
        # A law of half the variance would differ by some 8 %, twice what is allowed.
        assert by_chance < 0.07


def test_noise_of_few_problems_is_drawn_run_by_run():
    """However many runs never differ: a sum that one problem moves is not normal."""
    values = np.r_[np.full(30_000, 0.5), 0.1, 0.9]
    s = from_values(values, np.r_[np.full(15_000, 2), 2])
    assert rerun_variances(s) is None
    found = rerun_means([s], np.random.default_rng(SEED), 40, problems=False)[:, 0]
    assert len(np.unique(found.round(9))) <= 3


def test_sums_of_clusters_are_those_of_their_problems(monkeypatch):
    columns, clusters = np.random.default_rng(SEED).random((60, 2)), np.arange(60) // 7
    one = weighted_means(columns, np.random.default_rng(SEED), 50, clusters)
    monkeypatch.setattr(resampling, "MANY_RUNS", 10)
    many = weighted_means(columns, np.random.default_rng(SEED), 50, clusters)
    np.testing.assert_allclose(many, one, rtol=1e-12)


def test_parts_draw_what_one_block_draws(monkeypatch):
    s, clusters = ragged(40, 6), np.arange(40) // 2
    one = rerun_means([s, s], np.random.default_rng(SEED), 100, clusters)
    monkeypatch.setattr(resampling, "PART", 100)
    np.testing.assert_allclose(
        rerun_means([s, s], np.random.default_rng(SEED), 100, clusters), one, rtol=1e-12
    )


@pytest.mark.parametrize("clusters", [None, np.arange(30) // 4])
def test_the_largest_t_by_loops(clusters):
    rng = np.random.default_rng(SEED)
    rates, draws = rng.random((5, 30)), rng.random((70, 5))
    rates[4] = rates[0]
    scores, units = rates.mean(axis=1), apart.unit_rates(rates, clusters)
    found = apart.largest(draws, scores, units)
    for j, b in itertools.product(range(5), range(70)):
        t = []
        for i in range(5):
            d = rates[i] - rates[j]
            squared = apart_variance(d, clusters)
            if squared > 1e-20:
                off = draws[b, i] - draws[b, j] - d.mean()
                t.append(abs(off) / np.sqrt(squared))
        assert found[j, b] == pytest.approx(max(t), rel=1e-10)


def apart_variance(d, clusters):
    """The variance of a mean: s²/N, or CR2 written out."""
    if clusters is None:
        return d.var(ddof=1) / len(d)
    groups = [np.flatnonzero(clusters == g) for g in range(clusters.max() + 1)]
    off = d - d.mean()
    return sum(off[g].sum() ** 2 / (1 - len(g) / len(d)) for g in groups) / len(d) ** 2


@pytest.mark.parametrize("clusters", [None, np.arange(40) // 2])
def test_of_many_systems_no_rank_is_ruled_out_that_was_not(monkeypatch, clusters):
    """Bonferroni's t is never below the largest t of the resamples, and errors are the same."""
    rng = np.random.default_rng(SEED)
    skill = np.linspace(0.1, 0.9, 12)[:, None]
    systems = [as_sample((rng.random((40, 3)) < p).astype(float)) for p in skill]
    few = rank(systems, rng=SEED, clusters=clusters)
    monkeypatch.setattr(apart, "MOST_DRAWN", 5)
    monkeypatch.setattr("repeval.stats.ranking.MOST_DRAWN", 5)
    many = rank(systems, rng=SEED, clusters=clusters)
    for field in ("rank", "low", "high", "p_first", "p_top3"):
        np.testing.assert_array_equal(getattr(many, field), getattr(few, field))
    assert (many.set_low <= few.set_low).all()
    assert (many.set_high >= few.set_high).all()
    assert (many.set_high - many.set_low).max() < 11
