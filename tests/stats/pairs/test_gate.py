"""The gate: its limits, its verdicts, and what it says of itself."""

import numpy as np
import pytest
from scipy import stats

import repeval
from repeval.stats.components import within
from repeval.stats.pairs.looks import exceeded, look_alpha
from repeval.stats.pairs.margin import drop_limits, lost_limit, whole_lost
from repeval.stats.pairs.noise import BASELINE, CANDIDATE, DIFFERENCES, noise_of
from repeval.stats.pairs.tried import LARGEST, Setup, chances, closed_form
from repeval.stats.sample import as_sample
from tests.samples import SEED, beta_binomial_data, mixed_pair, mixed_scores


def alike(n=120, runs=3, mean=0.8, icc=0.7, seed=SEED):
    """A baseline and a candidate with the same pass rates."""
    rng = np.random.default_rng(seed)
    total = 1 / icc - 1
    p = rng.beta(mean * total, (1 - mean) * total, n)
    return (rng.binomial(runs, p), runs), (rng.binomial(runs, p), runs)


# ---- limits and verdicts ------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["new", "these"])
@pytest.mark.parametrize("groups", [None, np.arange(60) % 12])
def test_limits_are_those_of_compare(question, groups) -> None:
    """One-sided at 5 % is two-sided at 90 %."""
    a, b = mixed_pair()
    name = {"new": "paired", "these": "paired_fixed"}[question]
    found = repeval.gate(a, b, margin=0.2, question=question, clusters=groups)
    known = repeval.compare(b, a, level=0.9, name=name, clusters=groups)
    assert found.difference == pytest.approx(known.difference)
    # From the other side: on the lattice by rounding alone.
    assert found.interval.low == pytest.approx(known.interval.low, abs=1e-12)
    assert found.interval.high == pytest.approx(known.interval.high, abs=1e-12)


def test_limits_of_scores_and_of_long_lattices_are_drawn() -> None:
    a, b = mixed_scores(), np.clip(mixed_scores() - 0.1, 0, 1)
    found = repeval.gate(a, b, margin=0.05, rng=7)
    known = repeval.compare(a, b, level=0.9, rng=7).interval
    assert (-found.interval.high, -found.interval.low) == (known.low, known.high)
    assert found.verdict == "fail"
    assert found.unchanged.trials == 0


@pytest.mark.parametrize("question", ["new", "these"])
def test_the_verdict_turns_at_the_limits(question) -> None:
    a, b = mixed_pair(shift=0.15)
    most = -repeval.gate(a, b, margin=0.5, question=question).interval.low
    least = -repeval.gate(a, b, margin=0.5, question=question).interval.high
    assert 0 < least < most
    for margin, verdict in [
        (most + 1e-6, "pass"), (most - 1e-6, "cannot tell"), (least + 1e-6, "cannot tell"),
        (least - 1e-6, "fail"),
    ]:  # fmt: skip
        found = repeval.gate(a, b, margin=margin, question=question)
        assert (found.verdict, found.passed) == (verdict, verdict == "pass")
        lenient = repeval.gate(a, b, margin=margin, question=question, unsure="pass")
        assert lenient.passed == (verdict != "fail")


def test_nothing_passes_for_want_of_problems() -> None:
    """Of thirty that all passed, a kind with a share of 9.5 % may be missing (.905^30 = .05)."""
    same = ([3] * 30, 3), ([3] * 30, 3)
    assert repeval.gate(*same, margin=0.09).verdict == "cannot tell"
    assert repeval.gate(*same, margin=0.1).verdict == "pass"
    assert 1 - lost_limit(0, 30, 0.05) == pytest.approx(0.05 ** (1 / 30))
    for margin in (0.01, 0.03, 0.2):
        n = repeval.gate(*same, margin=margin).fewest_problems
        assert lost_limit(0, n, 0.05) < margin
        assert n == 8 or lost_limit(0, n - 1, 0.05) >= margin
    # These very problems have no unseen kinds.
    assert repeval.gate(*same, margin=0.09, question="these").verdict == "pass"


def test_the_limit_of_whole_problems_lost_is_exact() -> None:
    for lost, n in [(0, 8), (1, 100), (9, 500), (100, 100)]:
        limit = float(lost_limit(lost, n, 0.05))
        assert stats.binom.cdf(lost, n, limit) == pytest.approx(0.05) or limit == 1
    d = np.array([[1, 1, -2 / 3, 1 / 2], [-1, -1, 0, 1], [2 / 3, 2 / 3, 2 / 3, -1 / 3]])
    assert whole_lost(d).tolist() == [1, 0, 2]
    # Nine of 500 lost, nothing else: the bootstrap alone would say 2.8 %.
    lost = np.r_[np.zeros(9, int), np.full(491, 3)]
    found = repeval.gate((np.full(500, 3), 3), (lost, 3), margin=0.03)
    assert found.verdict == "cannot tell"
    assert "whole problems lost" in found.interval.method
    assert repeval.compare((np.full(500, 3), 3), (lost, 3), level=0.9).interval.high < 0.03


def test_what_is_not_known_is_no_pass() -> None:
    few = repeval.gate(([3] * 7, 3), ([3] * 7, 3), margin=0.9)
    assert (few.verdict, few.unchanged.passes) == ("cannot tell", 0)
    once = repeval.gate(([1] * 90, 1), ([1] * 90, 1), margin=0.5, question="these")
    assert (once.verdict, once.unchanged.passes, once.interval.exists) == ("cannot tell", 0, False)
    assert once.designs[0].n_runs >= 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"margin": 0}, "margin must lie"),
        ({"margin": float("nan")}, "margin must lie"),
        ({"question": "old"}, "new or these"),
        ({"unsure": "maybe"}, "fail or pass"),
        ({"looks": 0}, "looks must be"),
        ({"looks": 2.5}, "looks must be"),
        ({"level": 0.5}, "level must"),
        ({"drop": 0.01}, "between the margin and 1"),
    ],
)
def test_refusals(options, words) -> None:
    with pytest.raises(ValueError, match=words):
        repeval.gate(*alike(), **{"margin": 0.05, **options})


# ---- looks --------------------------------------------------------------------------------------


def test_the_constant_of_looks() -> None:
    """Two looks, the second at twice the data, are Pocock's: 1.875 at a two-sided 10 %."""
    assert stats.norm.isf(look_alpha(0.05, 2)) == pytest.approx(1.875, abs=5e-4)
    assert look_alpha(0.05, 1) == 0.05
    for looks in (2, 4, 12):
        c = stats.norm.isf(look_alpha(0.05, looks))
        assert exceeded(c, looks) == pytest.approx(0.05, abs=1e-9)
        # Between one look and Šidák's for independent ones.
        assert 1.645 < c < stats.norm.isf(1 - 0.95 ** (1 / looks))


@pytest.mark.parametrize("growth", [1.2, 2.0])
def test_the_share_of_looks_that_exceed(growth) -> None:
    """Against drawn chains; 2 % of 40,000 has a standard error of .07 points."""
    rng = np.random.default_rng(SEED)
    z = rng.standard_normal(40_000)
    best = z
    for _ in range(3):
        z = z / growth**0.5 + rng.standard_normal(len(z)) * (1 - 1 / growth) ** 0.5
        best = np.maximum(best, z)
    share = exceeded(2.1, 4, growth)
    assert (best > 2.1).mean() == pytest.approx(share, abs=3 * (share / len(z)) ** 0.5)


# ---- what the gate says of itself ---------------------------------------------------------------


def test_run_noise_of_what_there_is() -> None:
    rng = np.random.default_rng(SEED)
    many, once = ((beta_binomial_data(rng, 0.8, 0.7, 400, r), r) for r in (4, 1))
    a, b = as_sample(many), as_sample(once)
    assert noise_of(a, b).source == noise_of(a, a).source == BASELINE
    assert noise_of(b, a).source == CANDIDATE
    found = noise_of(a, b)
    assert found.low < found.within == within(a) < found.high
    # Two single runs of one system differ twice as often as μ_w; here they are of two systems.
    assert noise_of(b, b).source == DIFFERENCES
    assert noise_of(b, b).within == 0 < noise_of(b, b).high
    first, second = (as_sample(x) for x in alike(4000, 1))
    # .2·.8·.3; its standard error is √(.096·.904/4000)/2 = .0023.
    assert noise_of(first, second).within == pytest.approx(0.048, abs=0.007)


@pytest.mark.parametrize("runs", [2, 5])
def test_run_noise_has_limits_that_cover(runs) -> None:
    covered = []
    for seed in range(300):
        a, _ = alike(100, runs, seed=seed)
        found = noise_of(as_sample(a), as_sample(a))
        covered.append(found.low <= 0.048 <= found.high)
    # 95 %, by a normal law for the logarithm: with the error of 300 draws, from 91 % on.
    assert np.mean(covered) > 0.91


def test_single_answers_are_reproducible_and_scale() -> None:
    a, b = alike()
    found = repeval.gate(a, b, margin=0.05)
    assert found == repeval.gate(a, b, margin=0.05)
    low, high = found.unchanged_limits
    assert low <= found.unchanged.passes <= high
    for c in (found.unchanged, found.dropped):
        assert c.passes + c.fails + c.cannot_tell == pytest.approx(1)
    assert found.unchanged_passes == found.unchanged.passes
    assert found.drop_caught == pytest.approx(1 - found.dropped.passes)
    lenient = repeval.gate(a, b, margin=0.05, unsure="pass")
    assert lenient.unchanged_passes == pytest.approx(1 - found.unchanged.fails)
    assert lenient.drop_caught == pytest.approx(found.dropped.fails)


def test_the_closed_form_stands_in_for_large_ones() -> None:
    """Where both exist they differ by the error of 500 candidates and a point or two."""
    a, b = map(as_sample, alike(400, 3))
    for margin, drop in [(0.02, 0.0), (0.03, 0.0), (0.02, 0.02), (0.02, 0.04)]:
        setup = Setup(a, b, margin, 0.05, "new", None, SEED)
        tried = chances(setup, drop)
        form = closed_form(setup, setup.noise().within, 400, (3, 3), drop)
        assert tried.trials == 500
        assert tried.passes == pytest.approx(form[0], abs=0.08)
        assert tried.fails == pytest.approx(form[1], abs=0.08)
    a, b = map(as_sample, alike(LARGEST + 1, 3))
    assert chances(Setup(a, b, 0.01, 0.05, "new", None, SEED)).trials == 0


@pytest.mark.parametrize("question", ["new", "these"])
def test_the_designs_named_are_enough_and_hardly_more(question) -> None:
    a, b = alike(150, 2)
    found = repeval.gate(a, b, margin=0.04, question=question)
    by_runs, by_problems = found.designs
    assert by_runs.n_problems == 150 < by_problems.n_problems
    assert by_problems.n_runs == 2
    noise = within(as_sample(a))
    for design in found.designs:
        assert design.passes > 0.93
        # z_.95 + z_.95 standard errors make the margin; the hull asks for up to a third more.
        error = np.sqrt(2 * noise / (design.n_problems * design.n_runs))
        assert 2.9 < 0.04 / error < 4.2


def test_clusters_and_scores_have_chances_too() -> None:
    a, b = alike(120, 3)
    groups = repeval.gate(a, b, margin=0.08, clusters=np.arange(120) % 20)
    assert 0.3 < groups.unchanged.passes <= 1
    assert groups.designs[1] is not None
    scores = repeval.gate(mixed_scores(), mixed_scores(), margin=0.04)
    assert 0 < scores.unchanged.passes < 1
    assert scores.fewest_problems == 1


def test_the_student_law_stands_in_for_the_exact_one() -> None:
    """On the same pairs: verdicts that differ are few (2 %), and limits are near."""
    pairs = [tuple(map(as_sample, alike(100, 3, seed=s))) for s in range(200)]
    exact, student = (drop_limits(pairs, 0.05, law=law)[1] for law in ("auto", "student"))
    assert np.mean((exact < 0.03) != (student < 0.03)) <= 0.03
    np.testing.assert_allclose(exact, student, atol=0.006)


def test_the_made_up_drop_is_at_most_the_score() -> None:
    low, high = ([1, 0, 0, 0] * 15, 2), ([2, 2, 1, 0] * 15, 2)
    assert repeval.gate(low, low, margin=0.1).drop == pytest.approx(0.125)  # not twice
    assert repeval.gate(high, high, margin=0.1).drop == 0.2
    assert repeval.gate(low, low, margin=0.2).drop_caught is None
    assert repeval.gate(low, low, margin=0.1, drop=0.125).drop_caught is not None
    with pytest.raises(ValueError, match=r"at most the baseline's score, 0\.125"):
        repeval.gate(low, low, margin=0.1, drop=0.15)
