"""The post's claims; its figures come from the ledger, right answers from algebra."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from repeval import analyze, load
from repeval.companion.ledger import bs, bs_formulas, formulas, verdicts
from repeval.companion.ledger.entries import claims, errata, paper
from repeval.companion.ledger.judge import _FUNCTIONS, _find, _judge
from repeval.companion.ledger.results import Results
from repeval.companion.studies import result, strategies
from repeval.messages import RepevalError
from repeval.stats.bootstrap import STRATEGIES

POST = [c for c in claims() if c.doc == "bootstrap-post"]
FORMULAS = {k: f for k, f in _FUNCTIONS.items() if f.__module__ == bs_formulas.__name__}
# Found to disagree before this code was written, but for the one on mode-aggregate.
KNOWN = {
    "bs-take-25pct", "bs-gen-mode-rho", "bs-mmlu-math-gemma3-diff", "bs-mmlu-bio-qwen25-diff",
    "bs-mmlu-bio-qwen35-diff",
}  # fmt: skip


def results(study):
    outcomes = SimpleNamespace(source=SimpleNamespace(basis="stand-in"))
    return Results(None, outcomes, lambda name: study if name == "strategies" else None)


def judged(study):
    return {c.id: _judge(c, results(study)) for c in POST}


@pytest.fixture(scope="module")
def quick():
    return result("strategies", None)


@pytest.fixture(scope="module")
def as_printed():
    """A study that found what the post prints; cells that it does not print are NaN."""
    kinds = {
        "iid": ("iid", "percentile"), "single": ("single_draw", "percentile"),
        "cluster": ("cluster", "percentile"), "bca": ("cluster", "bca"),
        "hier": ("hierarchical", "percentile"), "mode": ("mode_aggregate", "percentile"),
    }  # fmt: skip
    rows = {}
    for key, c in paper().items():
        if not (match := re.fullmatch(r"bs-(\w+)-n(\d+)-k(\d)-(\w+)-(\w+)", key)):
            continue
        table, n, k, kind, metric = match.groups()
        statistic = "kappa" if "kappa" in table else "accuracy"
        normal = ("iid" if k == "1" else "cluster", "normal")
        at = (statistic, int(n), int(k), *kinds.get(kind, normal))
        rows.setdefault(at, {"trials": 2000})[metric] = c.value
    names = ["statistic", "n", "k", "strategy", "interval"]
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis(names).reset_index()
    return frame.assign(coverage_se=0.0, width_se=0.0)


def check(found):
    assert {key for key, v in found.items() if v.verdict == "known"} == KNOWN
    assert [key for key, v in found.items() if v.verdict == "differs"] == []
    # Those that a simulation, algebra or the post's own tables can decide.
    core = [
        v for v in found.values()
        if v.claim.needs != "external-runs" and v.claim.kind in (None, "formula")
    ]  # fmt: skip
    assert len(core) == 211
    assert [v.verdict for v in core].count("holds") >= 0.9 * len(core)
    for v in core:
        quoted = re.fullmatch(r"bs-wang-\w+-(cot|da)", v.claim.id)
        assert v.verdict == "holds" or v.claim.id in KNOWN or quoted, v.claim.id
        assert not quoted or v.reason == "quoted from another text"


def test_every_claim_has_a_verdict_and_none_differs_unexplained(quick):
    check(judged(quick))


@pytest.mark.full
def test_none_differs_unexplained_at_full_size():
    check(judged(result("strategies", None, size="full", jobs=2)))


def test_what_was_found_inconsistent_is_listed():
    assert set(errata()) > KNOWN
    assert _find("bs-rho-bio-qwen3-obs") is None
    remark = _judge(paper()["bs-rho-bio-qwen3-obs"], results(None)).reason
    assert remark.endswith("Here they differ by about a tenth.")


def test_settings_are_copied_and_therefore_not_counted(quick):
    full, value = strategies.SIZES["full"], {c.id: c.value for c in POST}
    assert value["bs-sim-labels"] == len(strategies.TABLE)
    for row, counts in enumerate(strategies.TABLE.tolist()):
        assert value[f"bs-sim-confusion-row{row}"] == counts
    assert value["bs-kappa-trials"] == [full["trials"], full["n_resamples"]]
    assert value["bs-kappa-trials"] == [value["bs-sim-trials"], value["bs-sim-B"]]
    assert value["bs-intro-strategies"] == len(STRATEGIES)
    assert value["bs-intro-percentiles"] == pytest.approx(list(100 * strategies.TAILS))
    designs = [c for c in POST if (c.kind, c.needs) == ("design", "simulation")]
    assert len(designs) == 10
    for v in (_judge(c, results(quick)) for c in designs):
        assert (v.verdict, v.reason) == (
            "not checkable", "a stated setting, which the simulation here copies"
        )  # fmt: skip


def cells(study):
    r = results(study)
    keys = [c.id for c in POST if re.search(r"-n\d+-", c.id)]
    simulated = [key for key in keys if _find(key)[0] is bs.cell]
    assert len(keys) == 138
    assert {_find(key)[0] for key in set(keys) - set(simulated)} == {bs.exact_coverage}
    return [_judge(paper()[key], r) for key in simulated]


def test_each_cell_is_compared_with_its_own(as_printed):
    found = cells(as_printed)
    assert len(found) == 128
    assert all(v.computed == pytest.approx(v.claim.value, rel=1e-12) for v in found)
    turned = as_printed.copy()
    other = turned["strategy"].replace({"cluster": "hierarchical", "hierarchical": "cluster"})
    turned["strategy"] = other.where(turned["interval"] == "percentile", turned["strategy"])
    swapped = [v for v in cells(turned) if v.verdict != "holds"]
    # Each width, and each coverage that is 99% by one and 95% by the other.
    touched = [v for v in swapped if re.search("cluster|hier", v.claim.id)]
    assert swapped == touched
    assert len(touched) > 40


def test_fewer_resamples_narrow_an_interval():
    for b in (1000, 5000):
        place = 0.025 * (b - 1)
        below, share = int(place), place % 1
        ends = [
            integrate.quad(
                lambda z, r=r, b=b: z * stats.norm.pdf(z)
                * stats.beta.pdf(stats.norm.cdf(z), r, b - r + 1),
                -4, -1, epsabs=1e-10,
            )[0]
            for r in (below + 1, below + 2)
        ]  # fmt: skip
        exact = ((1 - share) * ends[0] + share * ends[1]) / stats.norm.ppf(0.025)
        # The next terms are 1/(b q), a few percent, of these: of 0.5% and 0.1%.
        assert 1 - bs.narrowing(b) == pytest.approx(1 - exact, rel=0.1)


def test_exact_coverages_are_those_found_before():
    """Computed elsewhere, before this code."""
    said = {("100", "1"): 95.02, ("200", "1"): 95.50, ("400", "1"): 95.56, ("200", "3"): 5.25}
    for (n, k), percent in said.items():
        assert bs.exact_coverage(None, n, k) == pytest.approx(percent, abs=0.03)


def test_constants_of_the_model():
    assert bs.icc() == pytest.approx(0.02506505, abs=5e-9)
    assert bs_formulas.majority(0.7) == pytest.approx(0.784)


@pytest.mark.parametrize("key", sorted(FORMULAS.keys() - KNOWN - {"bs-take-mode3"}))
def test_identities(key, quick):
    assert FORMULAS[key](results(quick)) is True


@pytest.mark.parametrize(
    ("module", "name", "key"),
    [
        (formulas, "MU_W", "bs-nk-var"),
        (bs_formulas, "RHO", "bs-nk-sd"),
        (bs_formulas, "MU_W", "bs-nk-icc-def"),
        (bs_formulas, "RHO", "bs-gen-deficit"),
        (bs_formulas, "Z", "bs-norm-formula"),
    ],
)
def test_identities_fail_when_a_constant_is_off(monkeypatch, module, name, key):
    monkeypatch.setattr(module, name, getattr(module, name) * 1.01)
    assert FORMULAS[key](None) is False


@pytest.mark.parametrize(
    ("name", "wrong", "key"),
    [
        ("accuracy", lambda *_: 0.71, "bs-nk-y"),
        ("width_factor", lambda rho, k: np.sqrt(1 / np.asarray(k)), "bs-nk-width"),
        ("width_factor", lambda rho, k: np.sqrt(1 / np.asarray(k)), "bs-nk-floor-def"),
        ("majority", lambda p: p**3, "bs-take-mode3-formula"),
        ("mode_table", lambda k: strategies.mode_table(3), "bs-take-mode2"),
        ("spread", lambda name: formulas.spread("one_level"), "bs-gen-deficit"),
        ("N", 9, "bs-rho-anova"),
        ("cohen_kappa", bs_formulas.accuracy, "bs-kappa-formula"),
        ("kappa_of", lambda agreed, true, _: agreed / true.sum(axis=-1), "bs-kappa-fce"),
    ],
)
def test_identities_fail_when_a_part_is_wrong(monkeypatch, quick, name, wrong, key):
    monkeypatch.setattr(bs_formulas, name, wrong)
    assert FORMULAS[key](results(quick)) is False


def test_a_mode_may_be_as_accurate_as_a_single_run():
    """Two kinds of input: 12 d^2 = 4 p (1 - p)(2 p - 1)/(2 (2 p - 1)), ICC 1/3 at p = 0.7."""
    d = math.sqrt(0.07)
    assert np.mean(bs_formulas.majority(0.7 + d * np.array([-1, 1]))) == pytest.approx(0.7)
    assert d**2 / 0.21 == pytest.approx(1 / 3)


def test_a_takeaway_is_held_against_all_settings():
    assert bs.narrower(None) == pytest.approx(1 - 0.0904 / 0.1101)
    assert bs.below_half(None) == pytest.approx(0.0835 / 0.1776)
    assert bs.bca_gain(None) == pytest.approx([0.2, 0.5])


@pytest.fixture(scope="module")
def some():
    data = load()
    outcomes = data.select(models=data.models[:1])
    return analyze(outcomes), outcomes


def test_the_post_is_checked_on_any_data(some):
    found = verdicts(*some, "Estimating rho")
    assert {v.verdict for v in found} == {"holds", "not checkable"}
    assert {v.evidence for v in found} == {"independent", ""}
    with pytest.raises(RepevalError, match="these data hold"):
        verdicts(*some, "5.1")


def test_few_functions():
    functions = {_find(c.id)[0] for c in POST if _find(c.id)}
    assert len(functions) < 40
