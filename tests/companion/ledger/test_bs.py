"""The post's claims; its figures come from the ledger, right answers from algebra."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from repeval import analyze, load
from repeval.companion.ledger import bs, bs_formulas, formulas, mmlu, verdicts
from repeval.companion.ledger.entries import claims, errata, paper
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.verdicts import _FUNCTIONS, _find, _judge
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


def test_the_posts_tables_agree_where_they_print_the_same():
    for (model, prompt, subject), value in mmlu_table("correct").items():
        assert 100 * value == pytest.approx(paper()[f"bs-mmlu-{subject}-{model}-{prompt}"].value)
        assert value <= mmlu_table("format")[model, prompt, subject]


def mmlu_table(what):
    return bs.printed(rf"bs-format-(\w+)-(cot|da)-(math|bio)-{what}")


def test_intervals_fit_accuracies_iccs_and_numbers_of_questions():
    found = mmlu.half_widths()
    assert len(found) == 10
    assert (found["least"] < found["printed"]).all()
    assert (found["printed"] < found["independent"]).all()
    assert found["implies"].between(0, 1).all()
    # Ends, and the difference, are rounded to 0.1.
    assert (found["off"].abs() <= 0.1 + 1e-9).all()
    row = found[(found["subject"] == "math") & found["model"].str.startswith("Qwen 3 8B")].iloc[0]
    run = 1.959964**2 * (0.02 + 0.98 / 5) / 1351
    cot, direct = 0.905 * 0.095, 0.915 * 0.085
    assert row["independent"] == pytest.approx(100 * math.sqrt(run * (cot + direct)))
    assert row["least"] == pytest.approx(100 * math.sqrt(run * 0.01 * 0.99))
    share = 1 - (row["printed"] / row["independent"]) ** 2
    assert row["implies"] == pytest.approx(share * (cot + direct) / 2 / math.sqrt(cot * direct))


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
