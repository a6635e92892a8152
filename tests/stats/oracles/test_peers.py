"""The package beside others for repeated runs (peers.py), and who is right where they differ.

The same: the ICC of errorbars, groupeval and pingouin (equal runs), their design effects and
clustered errors; run noise of flakeval; pass@k and pass^k of scorio and evalpower; evalpower's
Clopper and Pearson limit; problems drawn by five of them, and runs of drawn problems by evalstats.

Not the same, and then ours is right for these reasons, each of which a test shows:

- evalstats calls the variance of pass rates the variance between problems. It holds run noise, too:
  E s²(p̂) = σ_b² + μ_w/R. Where all problems are equally hard its ICC is not 0 but 1/(1 + R).
- evalpower takes m(1 - m) for the variance of a single run. That is too small by the variance of m,
  so its ICC is too large by about 1 in N; with m(1 - m) + s²/N it is ours.
- errorbars and groupeval cut negative variances off at zero, which hides how far below it they are
  and biases any average of them.
- errorbars lets problems with more runs count more where runs are unequal, in the mean and in the
  run noise. What is asked for is a mean over problems: how often one was run is no part of it.
- flakeval tests a difference by flipping signs, which is another test: near ours, not the same.
"""

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from repeval import compare, components, difference_components, pass_at_k, pass_hat_k
from repeval.stats import exact
from repeval.stats.pairs.margin import lost_limit
from repeval.stats.sample import from_counts
from tests.oracles import DATA, passes_of, reaches

TOLD = json.loads((DATA / "peers.json").read_text())
# Closed forms written twice: a few roundings.
CLOSE = {"rel": 1e-11, "abs": 1e-13}
TAILS = (0.025, 0.975)


def rows(section):
    return pytest.mark.parametrize("row", TOLD[section], ids=range(len(TOLD[section])))


def sample_of(row):
    return from_counts(passes_of(row["counts"]), row["runs"])


@rows("components")
def test_components(row):
    c, n, runs = components(sample_of(row)), sum(row["counts"]), row["runs"]
    icc = c.icc
    assert row["pingouin"]["icc"] == pytest.approx(icc, **CLOSE)
    their = row["errorbars"]
    assert their["icc"] == pytest.approx(icc, **CLOSE)
    assert their["within"] == pytest.approx(c.within, **CLOSE)
    assert their["between"] == pytest.approx(max(0, c.between), **CLOSE)
    assert their["se"] == pytest.approx(math.sqrt(c.variance), **CLOSE)
    assert row["groupeval"]["icc"] == pytest.approx(max(0, icc), **CLOSE)
    assert row["groupeval"]["design_effect"] == pytest.approx(max(1, c.design_effect), **CLOSE)
    assert row["flakeval"]["se_run"] == pytest.approx(math.sqrt(c.fixed_variance), **CLOSE)
    of_m = c.mean * (1 - c.mean)
    for total, told in ((of_m, row["evalpower"]["icc"]), (of_m + c.spread / n, icc)):
        assert told == pytest.approx((c.spread / total * runs - 1) / (runs - 1), **CLOSE)
    assert row["evalpower"]["icc"] > icc
    if "evalstats" in row:
        assert row["evalstats"]["within"] == pytest.approx(c.within, **CLOSE)
        assert row["evalstats"]["input_var"] == pytest.approx(c.spread, **CLOSE)
        biased = c.spread / (c.spread + c.within)
        assert row["evalstats"]["icc"] == pytest.approx(biased, **CLOSE)


def test_what_the_variance_of_pass_rates_is_on_average():
    """Three problems of one difficulty, three runs: every outcome listed, with its probability."""
    p, runs, n = Fraction(1, 4), 3, 3
    law = [math.comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in range(runs + 1)]
    spread = between = single = of_m = 0.0
    for passes in product(range(runs + 1), repeat=n):
        share = float(math.prod(law[k] for k in passes))
        c = components(passes, runs)
        spread += share * c.spread
        between += share * c.between
        single += share * c.single_run
        of_m += share * c.mean * (1 - c.mean)
    noise = float(p * (1 - p))
    # Nothing differs between these problems: evalstats has noise/R for it, we have nothing.
    assert spread == pytest.approx(noise / runs, rel=1e-12)
    assert between == pytest.approx(0, abs=1e-15)
    # A single run varies by p(1 - p); m(1 - m) is too small by the variance of m.
    assert single == pytest.approx(noise, rel=1e-12)
    assert of_m == pytest.approx(noise - noise / (n * runs), rel=1e-12)


@rows("unequal_runs")
def test_unequal_runs(row):
    k, r, their = np.array(row["passes"]), np.array(row["runs"]), row["errorbars"]
    c, v = components(k, r), r / (r - 1) * (k / r) * (1 - k / r)
    assert (c.mean, c.within) == pytest.approx((np.mean(k / r), np.mean(v)), **CLOSE)
    # Theirs are of a random run, not of a random problem.
    assert their["mean"] == pytest.approx(np.average(k / r, weights=r), **CLOSE)
    assert their["within"] == pytest.approx(np.average(v, weights=r - 1), **CLOSE)
    # Twice the runs of the harder half: their score falls although no outcome is another.
    twice = np.where(r == 8, 2, 1)
    assert np.average(k / r, weights=r * twice) < their["mean"] - 0.02
    assert components(k * twice, r * twice).mean == pytest.approx(c.mean, **CLOSE)


@rows("tries")
def test_pass_at_k_and_pass_hat_k(row):
    s, k = sample_of(row), row["k"]
    assert [pass_at_k(s, k=k), pass_hat_k(s, k=k)] == pytest.approx(row["scorio"], **CLOSE)
    assert pass_hat_k(s, k=k) == pytest.approx(row["evalpower"], **CLOSE)


@rows("lost")
def test_the_exact_limit_of_what_is_lost(row):
    # Its bisection ends at 1e-12.
    assert lost_limit(row["lost"], row["n"], 0.05) == pytest.approx(row["evalpower"], abs=1e-11)


@rows("drawn")
def test_what_is_drawn(row):
    s, c = sample_of(row), components(sample_of(row))
    n, runs = len(s), row["runs"]
    sd = {"one_level": math.sqrt(c.variance * (n - 1) / n)}
    # Runs that are drawn again add (R - 1)/R of the run noise.
    sd["two_level"] = math.sqrt(sd["one_level"] ** 2 + c.fixed_variance * (1 - 1 / runs))
    for name in sd:
        law = exact.mean_law(s, name)
        for who, told in row[name].items():
            draws = 5000 if who == "evalpower" else row["resamples"]
            for limit, level in zip(told["limits"], TAILS, strict=True):
                assert reaches(law, limit, level, draws), who
            # Four standard errors of a nearly normal law's standard deviation.
            close = {"rel": 4 / math.sqrt(2 * draws)}
            assert told.get("se", sd[name]) == pytest.approx(sd[name], **close), who


@rows("pairs")
def test_a_pair(row):
    a, b = ((row[x], row["runs"]) for x in "ba")
    their, c, n = row["flakeval"], difference_components(a, b), len(row["a"])
    assert their["difference"] == pytest.approx(c.mean, **CLOSE)
    assert their["se_run"] == pytest.approx(math.sqrt(c.fixed_variance), **CLOSE)
    sd = math.sqrt(c.variance * (n - 1) / n)
    assert their["se"] == pytest.approx(sd, rel=4 / math.sqrt(2 * row["resamples"]))
    law = exact.difference_law([(from_counts(*a), from_counts(*b))], "one_level")
    one = exact.Law(law.pmf[0], law.start[0], law.step)
    for limit, level in zip(their["limits"], TAILS, strict=True):
        assert reaches(one, limit, level, row["resamples"])
    # Signs flipped at random are another test of the same: what lies exactly as far counts in whole
    # there. One point of the lattice has 1 % on either side, and resampling adds .002.
    assert compare(a, b).p_value == pytest.approx(their["p"], abs=0.02)


# ---- and each check can fail ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "section", "where"),
    [
        (test_components, "components", ("errorbars", "within")),
        (test_components, "components", ("groupeval", "design_effect")),
        (test_components, "components", ("pingouin", "icc")),
        (test_components, "components", ("evalpower", "icc")),
        (test_components, "components", ("flakeval", "se_run")),
        (test_components, "components", ("evalstats", "input_var")),
        (test_unequal_runs, "unequal_runs", ("errorbars", "within")),
        (test_what_is_drawn, "drawn", ("two_level", "evalstats", "se")),
        (test_what_is_drawn, "drawn", ("one_level", "flakeval", "se")),
        (test_a_pair, "pairs", ("flakeval", "se_run")),
    ],
)
def test_a_number_that_moved_is_seen(check, section, where):
    row = json.loads(json.dumps(TOLD[section][0]))
    *path, last = where
    place = row
    for name in path:
        place = place[name]
    place[last] *= 1.05
    with pytest.raises(AssertionError):
        check(row)


@pytest.mark.parametrize("name", ["scorio", "evalpower"])
def test_other_tries_are_seen(name):
    two, three = TOLD["tries"][1:3]
    with pytest.raises(AssertionError):
        test_pass_at_k_and_pass_hat_k({**two, name: three[name]})


def test_runs_drawn_too_are_told_from_problems_drawn_alone():
    row = TOLD["drawn"][1]
    with pytest.raises(AssertionError):
        test_what_is_drawn({**row, "two_level": row["one_level"]})
