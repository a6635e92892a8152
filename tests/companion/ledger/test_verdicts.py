from types import SimpleNamespace

import pytest

from repeval.companion.ledger import Claim, Verdict, counts
from repeval.companion.ledger import judge as judge_all
from repeval.companion.ledger.scorecard import text
from repeval.companion.ledger.verdicts import FORMULA, _judge, accepted
from repeval.messages import RepevalError

MODULE = "repeval.companion.ledger.verdicts"


def entry(key="t-a", value=0.5, tolerance=None, **more):
    fields = {"doc": "d", "section": "9", "quantity": "q", "unit": "fraction"}
    fields |= {"needs": "released-tensor", "how": "Look it up."}
    return Claim(key, value=value, tolerance=tolerance or {"round": 2}, **fields | more)


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    fits = {
        "t-fit": ("calibrated", "chosen so"), "t-pin": ("pinned", "copied"),
        "t-limit": ("limits", "too light a tail"),
    }  # fmt: skip
    monkeypatch.setattr(f"{MODULE}.errata", lambda: {"t-known": "Because of rounding."})
    monkeypatch.setattr(f"{MODULE}.differing", lambda: {"t-known"})
    monkeypatch.setattr(f"{MODULE}.fitted", lambda: fits)


def judge(key, basis="released", answer=0.5, *, se=None, printed=0.5, why="", **more):
    return _judge(entry(key, **more), basis, answer, se, printed, why)


def test_holds_and_differs():
    assert judge("t-a") == Verdict(
        entry("t-a"), 0.5, None, "holds", "Look it up.", "emergent", "released"
    )
    assert judge("t-a", answer=0.51).verdict == "differs"


def test_a_listed_claim_that_differs_is_known_and_keeps_its_remark_when_it_agrees():
    found = judge("t-known", answer=0.6)
    assert (found.verdict, found.reason) == ("known", "Look it up. Because of rounding.")
    assert judge("t-known").verdict == "holds"
    assert judge("t-known").reason.endswith("Because of rounding.")


@pytest.mark.parametrize(("key", "group"), [("t-fit", "calibrated"), ("t-pin", "pinned")])
def test_agreement_by_construction_is_no_agreement(key, group):
    assert judge(key, "stand-in").verdict == group
    assert judge(key, "released").verdict == "holds"
    assert judge(key, "stand-in", answer=0.7).verdict == "differs"


def test_a_formula_is_held_against_printed_inputs_where_the_others_were_fitted():
    found = judge("t-fit", "stand-in", answer=0.7, needs="closed-form")
    assert (found.computed, found.verdict, found.evidence) == (0.5, "holds", "independent")
    assert found.reason == f"Look it up. {FORMULA}"
    found = judge("t-fit", "released", answer=0.7, needs="closed-form")
    assert (found.computed, found.verdict, found.evidence) == (0.7, "differs", "emergent")
    with pytest.raises(ValueError, match="t-fit needs its value from printed figures"):
        judge("t-fit", "stand-in", printed=None, needs="closed-form")


def test_a_limit_of_the_stand_in_is_known_there_only():
    assert judge("t-limit", "stand-in", answer=0.7).verdict == "known"
    assert judge("t-limit", "stand-in").verdict == "holds"
    assert judge("t-limit", "released", answer=0.7).verdict == "differs"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "study on 9's page"),
        ({"needs": "external-runs"}, "model calls"),
        ({"kind": "design"}, "setting"),
        ({"kind": "recommendation"}, "recommendation"),
        ({"kind": "recommendation", "note": "see Appendix Q"}, "not a figure: see Appendix Q"),
        ({"why": "no such column"}, "no such column"),
    ],
)
def test_not_checkable_says_why(more, words):
    found = judge("t-none", answer=None, **more)
    assert found.verdict == "not checkable"
    assert found.computed is None
    assert words in found.reason


@pytest.mark.parametrize(
    ("key", "needs", "stand_in", "released"),
    [
        ("t-a", "released-tensor", "emergent", "emergent"),
        ("t-a", "closed-form", "independent", "independent"),
        ("t-a", "simulation", "independent", "independent"),
        ("t-a", "published-table", "independent", "independent"),
        # What the stand-in was made to meet is a figure of outcomes, whatever it is said to need.
        ("t-fit", "simulation", "calibrated", "emergent"),
        ("t-pin", "released-tensor", "pinned", "emergent"),
        ("t-limit", "released-tensor", "emergent", "emergent"),
    ],
)
def test_what_a_comparison_rests_on(key, needs, stand_in, released):
    for basis, evidence in (("stand-in", stand_in), ("released", released)):
        for answer in (0.5, 0.9):
            found = judge(key, basis, answer, needs=needs)
            assert (found.evidence, found.basis) == (evidence, basis)


def test_the_papers_simulations_draw_from_laws_matched_to_outcomes():
    assert judge("t-a", needs="simulation", doc="variance-ceiling").evidence == "emergent"
    assert judge("t-a", needs="simulation", doc="bootstrap-post").evidence == "independent"


def test_our_own_standard_error_widens_the_tolerance():
    tolerance = {"mc": {"se": 0.01, "k": 1, "round": 2}}
    assert judge("t-se", answer=0.53, se=0.0, tolerance=tolerance).verdict == "differs"
    found = judge("t-se", answer=0.53, se=0.03, tolerance=tolerance)
    assert (found.verdict, found.se) == ("holds", 0.03)


@pytest.mark.parametrize(
    ("value", "tolerance", "unit", "said"),
    [
        (3, {"range": [0, 7]}, "count", "0 to 7"),
        (0.5, {"round": 2}, "fraction", "0.495 to 0.505"),
        ([1.0, 2.0], {"round": 1}, "ratio", "0.95 to 1.05 and 1.95 to 2.05"),
        (0.5, {"mc": {"se": 0.03, "k": 2, "round": 2}}, "fraction", "0.395 to 0.605"),
        ("a > b", {"exact": True}, "text", ""),
    ],
)
def test_the_values_that_would_agree_are_said(value, tolerance, unit, said):
    # With our own error of .04 the combined one is .05, by 3-4-5.
    assert accepted(entry(value=value, tolerance=tolerance, unit=unit), 0.04) == said


def test_what_is_said_to_agree_does_and_beyond_it_does_not():
    c = entry(tolerance={"mc": {"se": 0.03, "k": 2, "round": 2}})
    low, high = map(float, accepted(c, 0.04).split(" to "))
    for value, verdict in ((low, "holds"), (high, "holds"), (low - 0.001, "differs")):
        assert _judge(c, "released", value, 0.04, None, "").verdict == verdict


def test_unknown_ids_and_sections_are_refused():
    outcomes = SimpleNamespace(source=SimpleNamespace(basis="released"))
    with pytest.raises(RepevalError, match="no claim is called 'vc-no-such'"):
        judge_all({"vc-no-such": (1, None, None, "")}, outcomes)
    with pytest.raises(RepevalError, match=r"'7'; one of abstract, 1, 2"):
        judge_all({}, outcomes, ["7"])


def test_counts_keep_agreement_by_construction_apart():
    found = [judge("t-a"), judge("t-a"), judge("t-fit", "stand-in"), judge("t-none", answer=None)]
    assert counts(found) == {
        "holds": 2, "differs": 0, "known": 0, "calibrated": 1, "pinned": 0, "not checkable": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "more", "shown"),
    [
        (0.744, {}, "0.744"),
        ([12, 15], {"unit": "count", "quantity": "pairs unresolved"}, "12 of 15"),
        ([2, 4], {"unit": "count"}, "2 to 4"),
        ([12, 15], {"unit": "count", "key": "t-unresolved"}, "12 of 15"),
        ([14, 2], {"unit": "count"}, "14 and 2"),
        ([20, 2048], {"unit": "count", "kind": "design"}, "20 and 2048"),
        ([18, 55, 27], {"unit": "count"}, "18, 55, 27"),
        (0.72, {"unit": "pp"}, "0.720 pp"),
        (["A > B", "C > D"], {}, "A > B; C > D"),
        (True, {}, "identity confirmed"),
        (False, {}, "identity fails"),
        (None, {}, "—"),
    ],
)
def test_numbers_as_text(value, more, shown):
    assert text(entry(**more), value, 3) == shown
