"""Figures that sentences and the screen work out, against statsmodels and algebra in fractions."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import repeval
from repeval.report import screen, sentences
from repeval.report.analysis import analyze
from repeval.report.format import percent
from repeval.report.summary import summarize
from repeval.stats import comparison
from repeval.stats.design import allocation
from tests import oracles


def pooled_z(passes, trials):
    """z of two systems with these passes in these numbers of runs, R the same for a system."""
    a, b = (([k - k // 2, k // 2], [n // 2, n // 2]) for k, n in zip(passes, trials, strict=True))
    return comparison.pooled_z(a, b)


@pytest.fixture(scope="module")
def default():
    return analyze(repeval.load(), n_resamples=100)


def said(text, case):
    """Return the number of points that stands for a case, `+-3.4`."""
    return float(re.search(rf"{case} +\+-(\S+)", text)[1])


@pytest.mark.parametrize(
    ("passes", "trials"), [((30, 240), (50, 500)), ((9, 40), (10, 400)), ((2, 700), (300, 1000))]
)
def test_pooled_z_of_unequal_numbers_of_runs(passes, trials):
    """Unequal N and shares far apart: weights of the pooled share and of its variance matter."""
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    z, _ = proportion.proportions_ztest(passes, trials)
    # The same closed form written twice, a few roundings apart.
    assert pooled_z(passes, trials) == pytest.approx(z, rel=1e-12)


@pytest.mark.parametrize(
    ("half", "difference", "times"),
    # (4/2)², (6/4)², and never fewer than there are.
    [(0.04, 0.02, 4.0), (0.06, 0.04, 2.25), (0.03, 0.04, 1.0), (0.03, 0.0, math.inf)],
)
def test_problems_needed_is_the_square_of_half_over_lead(half, difference, times):
    """A width falls with the root of the problems."""
    assert allocation.problems_factor(half, difference) == pytest.approx(times, rel=1e-15)


def test_what_would_help_a_pair_by_algebra(tidy):
    """Twice and endless runs change the run noise only, twice the problems everything."""
    rng = np.random.default_rng(2606)
    n, runs = 24, 3
    hard = rng.beta(0.7, 0.7, n)
    passes = {"a": rng.binomial(runs, hard), "b": rng.binomial(runs, np.clip(hard - 0.1, 0, 1))}
    rows = [
        {"model": m, "problem": f"q{i:02d}", "run": r, "outcome": int(r < k)}
        for m in passes for i, k in enumerate(passes[m]) for r in range(runs)
    ]  # fmt: skip
    outcomes = repeval.load(tidy(rows))
    analysis = analyze(outcomes, n_resamples=50)
    text = screen.one_screen(analysis, outcomes, pair=("a", "b"))
    # d_i in fractions: s²(d) = between + (within of both)/R.
    d = [Fraction(int(x - y), runs) for x, y in zip(*passes.values(), strict=True)]
    spread = sum((x - sum(d) / n) ** 2 for x in d) / (n - 1)
    within = sum(oracles.components(k, runs)["within"] for k in passes.values())
    between = spread - within / runs
    assert between > 0
    low, high = analysis.pairs[0].interval
    half = 50 * (high - low)
    expected = {
        "twice the runs of both": (between + within / (2 * runs)) / spread,
        "endless runs of both": between / spread,
        "twice the problems": Fraction(1, 2),
    }
    # Half a unit of the one digit that is printed.
    for case, share in expected.items():
        assert said(text, case) == pytest.approx(half * math.sqrt(share), abs=0.05 + 1e-9), case
    assert len({said(text, case) for case in expected}) == 3
    row = analysis.pairs[0]
    seen = re.search(r"if it is (\S+)\s+points \(these\s+problems\),\s+(\S+)\s+points", text)
    assert [float(x) for x in seen.groups()] == pytest.approx(
        [100 * row.fixed.mdd, 100 * row.mdd], abs=0.05 + 1e-9
    )


@pytest.mark.parametrize(
    ("ceiling", "narrower"),
    [(4.0, "50 % narrower"), (1.5625, "20 % narrower"), (None, "no limit is seen")],
)
def test_from_a_single_run_a_difference_narrows_by_its_own_ceiling(default, ceiling, narrower):
    """1 - 1/√ceiling: a half at 4, a fifth at 25/16, all where there is no ceiling."""
    condition = default.condition
    pair = replace(default.adjacent(condition)[0], ceiling=ceiling)
    found = summarize(default.ranked(condition), [pair])
    found = replace(found, max_narrowing=(0.1,) * 3)
    text = sentences.from_one_run(replace(default, summary={condition: found}), condition)
    assert text.endswith(f": 10 % narrower for a score, {narrower} for a difference.")


def test_percent_never_says_all_or_nothing_of_some():
    assert [percent(p) for p in (0, 0.001, 0.5, 0.999, 1)] == [
        "0 %", "<1 %", "50 %", ">99 %", "100 %",
    ]  # fmt: skip


def test_pooled_z_is_the_two_proportion_test(default):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    scores = {s.model: s for s in default.ranked(default.condition)}
    for pair in default.adjacent(default.condition):
        a, b = scores[pair.model_a], scores[pair.model_b]
        n = a.n_problems * a.n_runs
        z, p = proportion.proportions_ztest([round(a.mean * n), round(b.mean * n)], [n, n])
        # Counts are whole, so only rounding of the means differs.
        assert pair.pooled.z == pytest.approx(z, abs=1e-9)
        assert pair.pooled.resolved == (p < 0.05)


def test_pooled_z_is_not_for_scores(tidy):
    rows = [
        {"model": m, "problem": p, "run": r, "outcome": 0.1 + 0.2 * r}
        for m in "ab" for p in "xyz" for r in range(2)
    ]  # fmt: skip
    (pair,) = repeval.analyze(repeval.load(tidy(rows))).pairs
    assert (pair.pooled.z, pair.pooled.resolved) == (None, None)
