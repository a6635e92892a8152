"""The package against whole numbers and fractions (integers.py) and 40 digits (decimals.py).

A check takes one row of the data. Each is also run on a package with one planted error, which it
must find: the errors are those that are easily made.
"""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from repeval import ceiling_interval, pass_at_k, pass_hat_k
from repeval.stats import (
    betabinomial,
    clusters,
    components,
    exact,
    exact_icc,
    exchangeability,
    sample,
)
from repeval.stats import intervals as intervals_
from repeval.stats.pairs import decision, margin, reruns
from repeval.stats.pairs import tango as tango_
from tests.oracles import DATA

ROWS = {
    section: rows
    for name in ("integers", "decimals")
    for section, rows in json.loads((DATA / f"{name}.json").read_text()).items()
    if section != "made_by"
}
TABLES = {t["table"]: sample.from_counts(t["passes"], t["runs"]) for t in ROWS["tables"]}
# Rounding: a few dozen operations on doubles, of which one is good to 1.1e-16.
CLOSE = {"rel": 1e-12, "abs": 1e-15}
LEVELS = (0.005, 0.025, 0.5, 0.975, 0.995)


def number(x: str) -> float:
    """A fraction, or 40 digits, to the nearest double."""
    return float(Fraction(x))


def same(found, told, **tolerance):
    told = number(told) if isinstance(told, str) else [number(x) for x in told]
    assert found == pytest.approx(told, **(tolerance or CLOSE))


# ---- checks of one row ----------------------------------------------------------------------


def law(row, found: exact.Law):
    places = found.start + np.arange(found.pmf.shape[-1])
    # Transforms misplace up to 1e-13 of the mass, anywhere on the lattice; 1e-12 is promised.
    mean, span = found.pmf @ places, max(len(places), int(np.abs(places).max()))
    for power, name in ((1, "mean"), (2, "variance"), (3, "third")):
        moment = mean if power == 1 else found.pmf @ (places - mean) ** power
        same(moment, row[name], abs=1e-13 * span**power)
    assert [round(float(found.quantile(q) / found.step)) for q in LEVELS] == row["quantiles"]
    same([found.below(x + 1) for x in row["quantiles"]], row["cdf"], abs=1e-13)


def laws(row):
    law(row, exact.mean_law(TABLES[row["table"]], row["law"]))


def pairs(row):
    a, b = (TABLES[row[x]].take(np.arange(row["n"])) for x in "ab")
    found = exact.difference_law([(a, b)], row["law"])
    one = exact.Law(found.pmf[0], found.start[0], found.step)
    law(row, one)
    same([1 - one.below(0) - one.at(0), one.at(0)], [row["greater"], row["tie"]], abs=1e-13)


def parts(row):
    s = TABLES[row["table"]]
    c = components.components(s)
    for name in {"mean", "spread", "within", "run_noise", "between", "icc", "ceiling"} & {*row}:
        # σ_b² is a difference, and what is divided by it is known no better.
        cancelled = 1 + c.spread / abs(c.between) if row.get("between", "0") != "0" else 1
        same(getattr(c, name), row[name], rel=1e-12 * cancelled, abs=1e-15)
    for method in ("moments", "paper"):
        fit = betabinomial.fit_beta_binomial(s, method=method)
        if method in row:
            same([fit.alpha, fit.beta], row[method], rel=1e-11)
        else:
            assert math.isnan(fit.alpha)
    if "clustered" in row:
        squared, _ = clusters.score_variance(s.rate, np.arange(len(s)) % 3)
        same(squared, row["clustered"], rel=1e-10, abs=1e-17)


def tries(row):
    s, k = TABLES[row["table"]], row["k"]
    same([pass_at_k(s, k=k), pass_hat_k(s, k=k)], [row["any"], row["all"]])


def iccs(row):
    found = ceiling_interval(row["passes"], row["runs"], kind="percentile", method="exact")
    same([found.icc_low, found.icc_high], [row["icc_low"], row["icc_high"]], rel=1e-9, abs=1e-12)
    same(found.undefined, row["undefined"])


def fisher(row):
    a, b = (([x[0]] * 2, x[1]) for x in (row["a"], row["b"]))
    same(reruns.separated(a, b).p_value[0], row["p"])
    found = reruns.chance_flips(a, b)
    # Two such problems; the second system is lower where the first leads.
    same([found.lower / 2, found.higher / 2], [row["more"], row["less"]])


def neighbours(row):
    same(
        exchangeability.run_agreement([[int(x) for x in runs] for runs in row["outcomes"]]).p_value,
        row["p"],
    )


def betas(row):
    model = betabinomial.BetaBinomial(number(row["alpha"]), number(row["beta"]), "moments")
    a, b, k = model.alpha, model.beta, row["k"]
    # Logarithms of gamma functions up to 115, to an ulp or two: 1e-13 once they are exponents.
    same([model.retry_free(k), model.pass_at_k(k)], [row["all"], row["any"]], rel=1e-12, abs=1e-13)
    mean = a / (a + b)
    power = betabinomial.expected_power(mean, mean * (1 - mean) / (1 + a + b), k)
    same(power, row["all"])


def lost(row):
    same(margin.lost_limit(row["lost"], row["n"], number(row["alpha"])), row["limit"])


def quantiles(row):
    level = number(row["level"])
    same(intervals_.normal_quantile(level), row["z"])
    for df, t in row["t"].items():
        # SciPy's inverse of Student's t stops short of rounding.
        same(intervals_.t_quantile(level, float(df)), t, rel=1e-10)
    for n, tail in row["tail"].items():
        same(decision.expanded_tail(int(n), level), tail, rel=1e-9)


def tango(row):
    found = tango_.tango_limits(row["won"], row["lost"], row["n"], 0.95)
    same([float(x) for x in found], [row["low"], row["high"]])


def wilson(row):
    same(intervals_.wilson(row["x"] / row["n"], row["n"], 0.95), [row["low"], row["high"]])


CHECKS = (
    laws,
    pairs,
    parts,
    tries,
    iccs,
    fisher,
    neighbours,
    betas,
    lost,
    quantiles,
    tango,
    wilson,
)


def every_row(check):
    for row in ROWS[check.__name__]:
        check(row)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_row(check):
    every_row(check)


def test_every_section_is_checked():
    assert {*ROWS} == {check.__name__ for check in CHECKS} | {"tables"}


# ---- and each check can fail ------------------------------------------------------------------


def coin(binomial):
    """Runs redrawn by a coin instead of the problem's own rate."""
    return lambda runs: np.tile(binomial(runs)[runs // 2], (runs + 1, 1))


def stirling(x):
    return (x - 0.5) * np.log(x) - x + math.log(2 * math.pi) / 2 + 1 / (12 * x)


PLANTED = {
    laws: (exact, "binomial_table", coin),
    pairs: (exact, "_places", lambda f: lambda r1, r2, lattice: f(r1, r2, lattice)[::-1]),
    parts: (components, "variances", lambda f: lambda rows: rows.var(axis=-1)),
    tries: (betabinomial, "_ratio_of_binomials", lambda f: lambda k, runs, n: (k / runs) ** n),
    iccs: (exact_icc, "power", lambda f: lambda base, n: f(base, n - 1)),
    fisher: (reruns, "AS_LIKELY", lambda f: 1 - 1e-7),
    neighbours: (exchangeability, "_agreeing", lambda f: lambda k, runs: f(k, runs)[::-1]),
    betas: (special, "gammaln", lambda f: stirling),
    lost: (special, "betaincinv", lambda f: lambda a, b, x: f(a, b + 1, x)),
    quantiles: (special, "stdtrit", lambda f: lambda df, p: f(df + 1, p)),
    tango: (tango_, "HALVINGS", lambda f: 30),
    wilson: (intervals_, "normal_quantile", lambda f: lambda level: round(f(level), 2)),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_planted_error_is_found(check, monkeypatch):
    reruns._table.cache_clear()
    module, name, wrong = PLANTED[check]
    monkeypatch.setattr(module, name, wrong(getattr(module, name)))
    with pytest.raises(AssertionError):
        every_row(check)
    reruns._table.cache_clear()
