from types import SimpleNamespace

import pytest

from repeval.companion.ledger import Claim, Verdict, counts
from repeval.companion.ledger import judge as judging
from repeval.companion.ledger.judge import claim
from repeval.companion.ledger.scorecard import text
from repeval.messages import RepevalError


def entry(key="t-a", value=0.5, tolerance=None, **more):
    fields = {"doc": "d", "section": "9", "quantity": "q", "unit": "fraction"}
    fields["needs"] = "released-tensor"
    return Claim(key, value=value, tolerance=tolerance or {"round": 2}, **fields | more)


def results(basis="released", answer=0.5):
    source = SimpleNamespace(basis=basis)
    printed = SimpleNamespace(answer=0.5)
    return SimpleNamespace(outcomes=SimpleNamespace(source=source), answer=answer, printed=printed)


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    monkeypatch.setattr(judging, "_FUNCTIONS", {})
    monkeypatch.setattr(judging, "errata", lambda: {"t-known": "Because of rounding."})
    monkeypatch.setattr(judging, "differing", lambda: {"t-known"})
    monkeypatch.setattr(judging, "fitted",
        lambda: {"t-fit": ("calibrated", "chosen so"), "t-pin": ("pinned", "copied"),
                 "t-limit": ("limits", "too light a tail")},
    )  # fmt: skip

    @claim("t-a", "t-known", "t-fit", "t-pin", "t-limit")
    def answer(r):
        """Look it up."""
        return r.answer


def judge(key, basis="released", answer=0.5, **more):
    return judging._judge(entry(key, **more), results(basis, answer))


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
    assert found.reason == f"Look it up. {judging.FORMULA}"
    found = judge("t-fit", "released", answer=0.7, needs="closed-form")
    assert (found.computed, found.verdict, found.evidence) == (0.7, "differs", "emergent")


def test_a_limit_of_the_stand_in_is_known_there_only():
    assert judge("t-limit", "stand-in", answer=0.7).verdict == "known"
    assert judge("t-limit", "stand-in").verdict == "holds"
    assert judge("t-limit", "released", answer=0.7).verdict == "differs"


@pytest.mark.parametrize(
    ("key", "more", "words"),
    [
        ("t-none", {}, "study on 9's page"),
        ("t-none", {"needs": "external-runs"}, "model calls"),
        ("t-none", {"kind": "design"}, "setting"),
        ("t-none", {"kind": "recommendation"}, "recommendation"),
    ],
)
def test_not_checkable_says_why(key, more, words):
    found = judge(key, **more)
    assert found.verdict == "not checkable"
    assert found.computed is None
    assert words in found.reason


def test_a_refusal_inside_a_function_becomes_the_reason():
    @claim("t-refuse")
    def refuse(r):
        """Refuse."""
        raise RepevalError("claims-other-data", "no such column")

    found = judge("t-refuse")
    assert (found.verdict, found.reason) == ("not checkable", "no such column")


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
        ("t-none", "released-tensor", "", ""),
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


def test_a_recommendation_says_what_stands_behind_it():
    found = judge("t-none", kind="recommendation", note="see Appendix Q")
    assert found.reason == "a recommendation, not a figure: see Appendix Q"


def test_other_errors_are_not_hidden():
    @claim("t-bug")
    def bug(r):
        """Divide by zero."""
        return 1 / 0

    with pytest.raises(ZeroDivisionError):
        judge("t-bug")


def test_our_own_standard_error_widens_the_tolerance():
    tolerance = {"mc": {"se": 0.01, "k": 1, "round": 2}}

    @claim("t-se")
    def estimate(r):
        """Simulate."""
        return 0.53, r.answer

    assert judge("t-se", answer=0.0, tolerance=tolerance).verdict == "differs"
    found = judge("t-se", answer=0.03, tolerance=tolerance)
    assert (found.verdict, found.se) == ("holds", 0.03)


def test_a_function_without_words_is_told_by_the_ledger():
    claim("t-short")(lambda r: r.answer)
    assert judge("t-short", how="Look twice.").reason == "Look twice."


def test_placeholders_reach_the_function():
    @claim("t-{model}-width")
    def width(r, model):
        """Name it."""
        return model

    found = judge("t-abc-width", value="abc", tolerance={"exact": True})
    assert (found.verdict, found.computed) == ("holds", "abc")
    assert judge("t-a-b-width").verdict == "not checkable"


def test_an_id_goes_before_patterns():
    claim("t-{model}-width")(lambda r, model: model)
    claim("t-abc-width")(lambda r: "exact")
    found = judge("t-abc-width", value="exact", tolerance={"exact": True}, how="Ask.")
    assert found.computed == "exact"


def test_two_functions_for_one_claim_are_refused():
    with pytest.raises(ValueError, match="two functions for t-a"):
        claim("t-a")(lambda r: 1)


def test_counts_keep_agreement_by_construction_apart():
    found = [judge("t-a"), judge("t-a"), judge("t-fit", "stand-in"), judge("t-none")]
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
