"""Many candidates against one baseline: closed testing, Dunnett's constants, Holm."""

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special

from repeval.stats.comparison import compare, holm
from repeval.stats.pairs import many
from repeval.stats.pairs.many import joint_level, many_to_one, stepped_down
from tests.stats.pairs.test_gate_size import REAL, most

SEED = 2606


def systems(rng, n, runs, m, gap=0.0, spread=1.0):
    """Passes of m systems on problems of common difficulty; the last ones are better by gaps."""
    ease = rng.normal(0.8, 2, n) + gap * np.arange(m)[:, None]
    p = 1 / (1 + np.exp(-(ease + rng.normal(0, spread, (m, n)))))
    return [(k, runs) for k in rng.binomial(runs, p)]


@pytest.mark.parametrize("question", ["new", "these"])
def test_one_candidate_is_a_pair(question):
    base, candidate = systems(np.random.default_rng(SEED), 60, 3, 2, gap=0.8)
    found = many_to_one(base, [candidate], question=question)
    pair = compare(candidate, base, name={"new": "paired", "these": "paired_fixed"}[question])
    assert found.p_adjusted[0] == found.p_value[0] == pytest.approx(pair.p_value)
    assert found.level_each == pytest.approx(0.95)
    assert (found.low[0], found.high[0]) == pytest.approx((pair.interval.low, pair.interval.high))
    assert bool(found.verdict[0]) == pair.resolved


@pytest.mark.parametrize(
    ("k", "constant"), [(1, 1.960), (2, 2.212), (4, 2.442), (6, 2.567), (9, 2.686)]
)
def test_the_limit_of_equal_noise_is_dunnetts(k, constant):
    """Dunnett (1964), two-sided, 5 %, endless degrees of freedom, correlation 1/2."""

    def inside(c):
        def each(x):
            both = special.ndtr((c + x * 0.5**0.5) / 0.5**0.5) - special.ndtr(
                (-c + x * 0.5**0.5) / 0.5**0.5
            )
            return both**k * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)

        return integrate.quad(each, -8, 8)[0]

    assert inside(constant) == pytest.approx(0.95, abs=1e-3)  # three decimals of the table
    alike = [([1, 2, 0, 3, 2, 1] * 20, 3)] * k
    pairs = [many.paired(x, alike[0]) for x in alike]
    correlation = many._correlation(pairs, "these", None)
    assert correlation == pytest.approx(np.full((k, k), 0.5) + np.eye(k) / 2)
    deviates = many._deviates(correlation, np.random.default_rng(SEED))
    limit = -special.ndtri((1 - joint_level(deviates, 0.95, deviates.shape[1])) / 2)
    # Three standard errors of 20,000 draws: .0015 at a density of the largest of .11 or more.
    assert limit == pytest.approx(constant, abs=3 * 0.0015 / 0.11)


def test_stepping_down_is_closed_testing():
    """An adjusted p-value is the largest of all families that the candidate is in."""
    rng = np.random.default_rng(SEED)
    for _ in range(20):
        p = rng.random(5) ** 4
        deviates = np.abs(rng.normal(size=(500, 1)) + rng.normal(size=(500, 5))) / 2**0.5
        expected = np.zeros(5)
        for size in range(1, 6):
            for family in map(list, itertools.combinations(range(5), size)):
                least = p[family].min()
                share = (deviates[:, family].max(axis=1) >= -special.ndtri(least / 2)).sum() + 1
                share = np.clip(share / 501, least, 1 - (1 - least) ** size)
                expected[family] = np.maximum(expected[family], share)
        assert stepped_down(p, deviates) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("question", ["new", "these"])
@pytest.mark.parametrize("kind", ["once", "three", "scores", "clusters"])
def test_never_less_is_told_apart_than_by_holm(question, kind):
    rng, more = np.random.default_rng(SEED), 0
    for i in range(3 if kind == "scores" else 12):
        runs = 1 if kind == "once" else 3
        found = systems(rng, 60, runs, 8, gap=rng.uniform(0, 0.3))
        if kind == "scores":
            found = [np.clip(rng.beta(2, 2, (60, 3)) * 0.3 + k[:, None] / 5, 0, 1)
                     for k, _ in found]  # fmt: skip
        groups = np.arange(60) // 4 if kind == "clusters" else None
        ours = many_to_one(found[0], found[1:], question=question, rng=i, clusters=groups)
        if kind == "once" and question == "these":
            assert np.isnan(ours.verdict).all()
            continue
        theirs = holm(ours.p_value)
        assert (ours.p_adjusted <= theirs + 1e-12).all()
        assert (ours.p_adjusted >= ours.p_value).all()
        assert (np.abs(ours.verdict) >= (theirs <= 0.05)).all()
        more += (ours.p_adjusted < theirs - 1e-4).any()
    assert more or (kind == "once" and question == "these")


def test_intervals_are_the_pairs_at_one_level_that_grows_with_their_number():
    found = systems(np.random.default_rng(SEED), 60, 3, 8)
    few, all_ = (many_to_one(found[0], found[1:k]) for k in (3, 8))
    assert 0.95 < few.level_each < all_.level_each < 1 - 0.05 / 7
    pair = compare(found[1], found[0], level=all_.level_each).interval
    assert (all_.low[0], all_.high[0]) == pytest.approx((pair.low, pair.high))
    # Told apart in a first step or not at all: the interval of the clearest agrees.
    first = all_.p_value.argmin()
    assert (all_.p_adjusted[first] <= 0.05) == (all_.low[first] > 0 or all_.high[first] < 0)


def test_no_verdict_without_enough_problems_or_runs():
    few = systems(np.random.default_rng(SEED), 7, 3, 3)
    assert np.isnan(many_to_one(few[0], few[1:]).verdict).all()
    assert not np.isnan(many_to_one(few[0], few[1:], question="these").verdict).any()
    found = systems(np.random.default_rng(SEED), 40, 3, 4)
    once = ((found[1][0] > 1).astype(int), 1)
    mixed = many_to_one(found[0], [once, *found[2:]], question="these")
    assert np.isnan(mixed.p_adjusted).tolist() == [True, False, False]
    alone = many_to_one(found[0], found[2:], question="these")
    assert mixed.p_value[1:] == pytest.approx(alone.p_value)


def test_a_copy_of_the_baseline_is_never_told_apart():
    found = systems(np.random.default_rng(SEED), 40, 3, 3, gap=0.6)
    copied = many_to_one(found[0], [found[0], *found[1:]])
    assert copied.verdict[0] == 0
    assert copied.p_adjusted[0] == pytest.approx(1)


def test_the_same_seed_gives_the_same_answer():
    found = systems(np.random.default_rng(SEED), 40, 3, 4)
    one, two, other = (many_to_one(found[0], found[1:], rng=seed) for seed in (1, 1, 2))
    assert (one.p_adjusted == two.p_adjusted).all()
    assert one.p_adjusted == pytest.approx(other.p_adjusted, abs=0.02)


def test_refusals():
    base = ([1, 2, 3], 3)
    with pytest.raises(ValueError, match="at least one candidate"):
        many_to_one(base, [])
    with pytest.raises(ValueError, match="same problems"):
        many_to_one(base, [([1, 2], 3)])
    with pytest.raises(ValueError, match="question must be"):
        many_to_one(base, [base], question="old")


def family_error(n, runs, question, spread, sets):
    """Share of data sets in which one of ten equal candidates is called worse or better."""
    rng, wrong = np.random.default_rng(SEED), 0
    for i in range(sets):
        base, *others = systems(rng, n, runs, 11, spread=spread)
        told = many_to_one(base, others, question=question, rng=i)
        wrong += bool(np.nansum(np.abs(told.verdict)))
    return wrong / sets


# Equal on average over all problems (1), and equal on every one (0).
CELLS = [(n, r, "new", spread) for n in (30, 100) for r in (1, 3) for spread in (1.0, 0.0)]
CELLS += [(n, 3, "these", 0.0) for n in (30, 100)]


@pytest.mark.parametrize(("n", "runs", "question", "spread"), [CELLS[2], CELLS[-2]])
def test_ten_equal_candidates(n, runs, question, spread):
    assert family_error(n, runs, question, spread, 40) <= most(0.06, 40)


@pytest.mark.full
@pytest.mark.parametrize(("n", "runs", "question", "spread"), CELLS)
def test_the_family_error_of_ten_equal_candidates(n, runs, question, spread):
    assert family_error(n, runs, question, spread, 4000) <= most(0.06, 4000)


@pytest.mark.full
@pytest.mark.parametrize(("kind", "sets"), [("clusters", 1500), ("scores", 600)])
def test_the_family_error_of_clusters_and_scores(kind, sets):
    rng, wrong, groups = np.random.default_rng(SEED), 0, None
    for i in range(sets):
        if kind == "clusters":
            groups = np.repeat(np.arange(20), 5)
            ease = rng.normal(0.5, 1.5, 20)[groups] + rng.normal(0, 1, 100)
            own = rng.normal(0, 1, (11, 20))[:, groups] + rng.normal(0, 0.5, (11, 100))
            found = [(k, 3) for k in rng.binomial(3, 1 / (1 + np.exp(-(ease + own))))]
        else:
            own = rng.normal(0, 0.15, (11, 60, 1)) + rng.normal(0, 0.1, (11, 60, 2))
            found = list(np.clip(rng.beta(2, 2, (60, 1)) + own, 0, 1))
        told = many_to_one(found[0], found[1:], rng=i, clusters=groups)
        wrong += bool(np.abs(told.verdict).sum())
    assert wrong / sets <= most(0.06, sets)


@pytest.mark.parametrize("name", REAL)
def test_real_runs_against_themselves(name, shared):
    """Runs of one system, dealt to a baseline and three or more candidates at random."""
    path = shared / "realdata" / name
    if not path.exists():
        pytest.skip(f"{name} is not there")
    model, problem, run, outcome = REAL[name]
    rng, deals, wrong, alone, families = np.random.default_rng(SEED), 8, 0, 0, 0
    for _, rows in pd.read_csv(path).groupby(model):
        y = rows.pivot(index=problem, columns=run, values=outcome).to_numpy(dtype=int)
        for i in range(deals):
            mixed = rng.permuted(y, axis=1)
            dealt = [(mixed[:, j : j + 2].sum(axis=1), 2) for j in range(0, y.shape[1] - 1, 2)]
            for question in ("new", "these"):
                found = many_to_one(dealt[0], dealt[1:], question=question, rng=i)
                wrong += bool(np.nansum(np.abs(found.verdict)))
                alone += found.p_value[0] <= 0.05
                families += 1
    assert wrong / families <= most(0.06, families)
    assert alone / families <= most(0.06, families)  # the first pair by itself


@pytest.mark.parametrize("question", ["new", "these"])
def test_of_very_many_the_bound_is_never_tighter_than_the_draws(question, monkeypatch):
    every = systems(np.random.default_rng(SEED), 60, 3, 13, gap=0.3)
    drawn = many_to_one(every[0], every[1:], question=question)
    monkeypatch.setattr(many, "MOST_DRAWN", 11)
    bound = many_to_one(every[0], every[1:], question=question)
    assert drawn.level_each < bound.level_each == pytest.approx(0.95 ** (1 / 12))
    assert (bound.low <= drawn.low).all()
    assert (bound.high >= drawn.high).all()
    # Šidák's steps by hand: the clearest is one of 12, the next one of 11, and so on.
    steps = 1 - (1 - np.sort(bound.p_value)) ** np.arange(12, 0, -1)
    assert np.sort(bound.p_adjusted) == pytest.approx(np.maximum.accumulate(steps))
    assert (bound.p_adjusted >= drawn.p_adjusted).all()
    assert (bound.p_adjusted <= holm(bound.p_value) + 1e-12).all()
    told = bound.verdict != 0
    assert 0 < told.sum() < 12
    assert (drawn.verdict[told] == bound.verdict[told]).all()


@pytest.mark.parametrize("k", [many.MOST_DRAWN, 4 * many.MOST_DRAWN])
def test_the_draws_are_held_once(k):
    """20,000 draws of 500 candidates are 80 MB; each copy would be as much again."""
    passes = np.random.default_rng(SEED).binomial(2, 0.6, (k + 1, 10))
    tracemalloc.start()
    try:
        many_to_one((passes[0], 2), [(row, 2) for row in passes[1:]], question="these")
        assert tracemalloc.get_traced_memory()[1] < 130e6
    finally:
        tracemalloc.stop()
