"""The whole ledger on the default data; figures of the paper are never typed here."""

import dataclasses

import pytest

from repeval import analyze, load
from repeval.companion.ledger import claims, counts, disagreements, legend, table, verdicts
from repeval.companion.ledger.entries import differing, errata, fitted
from repeval.companion.ledger.judge import _FUNCTIONS, FORMULA, _find
from repeval.messages import RepevalError


@pytest.fixture(scope="module")
def outcomes():
    return load()


@pytest.fixture(scope="module")
def analysis(outcomes):
    return analyze(outcomes)


@pytest.fixture(scope="module")
def found(analysis, outcomes):
    return {v.claim.id: v for v in verdicts(analysis, outcomes)}


def on_released(outcomes):
    source = dataclasses.replace(outcomes.source, basis="released")
    return dataclasses.replace(outcomes, source=source)


def test_nothing_differs_that_is_not_explained(found):
    assert [v.claim.id for v in found.values() if v.verdict == "differs"] == []
    for v in (v for v in found.values() if v.verdict == "known"):
        limited = fitted().get(v.claim.id, ("",))[0] == "limits"
        assert limited or v.claim.id in differing(), v.claim.id


def test_a_remark_alone_excuses_no_difference(analysis, outcomes):
    wide = [dataclasses.replace(s, max_narrowing=0.5) for s in analysis.systems]
    changed = dataclasses.replace(analysis, systems=tuple(wide))
    by_id = {v.claim.id: v for v in verdicts(changed, outcomes, "5.2")}
    assert by_id["vc-s52-narrowing-max"].verdict == "differs"
    assert errata()["vc-s52-narrowing-max"] in by_id["vc-s52-narrowing-max"].reason


def test_what_the_stand_in_was_made_to_meet_does_not_hold(found):
    made = {key for key, (group, _) in fitted().items() if group != "limits"}
    formulas = {key for key in made if found[key].claim.needs == "closed-form"}
    assert {found[key].verdict for key in made - formulas} == {"calibrated", "pinned"}
    # These are formulas of printed figures; the right answers are the ledger's own.
    for v in map(found.get, formulas):
        assert (v.verdict, v.evidence) == ("holds", "independent"), v.claim.id
        assert v.computed == pytest.approx(v.claim.recomputed, rel=0.01), v.claim.id
    assert found["vc-s51-narrow-median"].verdict == found["vc-s51-narrow-range"].verdict == "pinned"
    assert "functions of" in found["vc-s51-narrow-range"].reason


def test_nine_of_ten_claims_that_can_hold_without_the_released_outcomes_do(found):
    needs = ("simulation", "closed-form", "published-table")
    vc = {key: v for key, v in found.items() if key.startswith("vc-")}
    asked = {k for k, v in vc.items() if v.claim.needs in needs
             and v.claim.kind not in ("design", "recommendation")}  # fmt: skip
    assert len(asked) == 106
    asked |= {key for key, v in vc.items() if v.evidence == "emergent"}
    others = {key for key in asked if found[key].verdict != "holds"}
    assert len(others) < len(asked) / 10
    # Every other one is on the page of disagreements: in the errata, or what the stand-in lacks.
    assert others <= {*errata(), *(v.claim.id for v in disagreements.invented(found))}


def test_the_papers_own_table_is_no_recomputation(found):
    own = [v for key, v in found.items() if key.startswith("vc-ad-cov-")]
    assert all("its own Table 6, which is not recomputed" in v.reason for v in own)
    assert table(own)["Here"].str.startswith("the text's own table: ").all()
    assert legend(own) == ["Where a text is held against its own table, nothing is recomputed."]


def test_every_formula_is_confirmed(found):
    formulas = [v for v in found.values() if v.claim.kind == "formula"]
    assert formulas
    refuted = [v.claim.id for v in formulas if v.verdict != "holds" or v.computed is not True]
    assert refuted == ["bs-gen-mode-rho"]


def test_every_function_serves_a_claim_and_every_fitted_claim_has_a_function():
    matched = {_find(c.id)[0] for c in claims() if _find(c.id)}
    assert set(_FUNCTIONS.values()) == matched
    assert all(_find(key) for key in fitted())


def test_every_verdict_tells_how(found):
    assert [key for key, v in found.items() if not v.reason] == []
    told = [c for c in claims() if c.how]
    assert all(_find(c.id) and not _find(c.id)[0].__doc__ for c in told)


def test_recomputed_values_agree_with_the_ledgers_own(found):
    """The compiler of the ledger recomputed some figures from published tables alone."""
    for v in found.values():
        if v.se is None and isinstance(v.computed, float) and isinstance(v.claim.recomputed, float):
            # Its inputs lack the dropped problem's outcomes: 2% is the largest gap to be expected.
            assert v.computed == pytest.approx(v.claim.recomputed, rel=0.02), v.claim.id


@pytest.mark.parametrize("section", ["3", "5.1", "Appendix D", "Appendix G", "Table 6"])
def test_a_section_is_part_of_the_whole(analysis, outcomes, found, section):
    part = verdicts(analysis, outcomes, section)
    assert part
    assert all(v == found[v.claim.id] for v in part)


def test_the_released_outcomes_turn_agreement_by_construction_into_verdicts(analysis, outcomes):
    stand_in = counts(verdicts(analysis, outcomes, "5.2"))
    released = counts(verdicts(analysis, on_released(outcomes), "5.2"))
    assert stand_in["calibrated"] > 0
    assert released["calibrated"] == released["pinned"] == 0
    assert released["holds"] == stand_in["holds"] + stand_in["calibrated"] + stand_in["pinned"]


def test_other_components_differ(analysis, outcomes):
    doubled = [dataclasses.replace(s, ceiling=2 * s.ceiling - 1) for s in analysis.systems]
    changed = dataclasses.replace(analysis, systems=tuple(doubled))
    by_id = {v.claim.id: v.verdict for v in verdicts(changed, outcomes, "5.2")}
    assert by_id["vc-s52-ceiling-median"] == by_id["vc-s52-shift-max"] == "differs"


def test_other_data_are_refused(analysis, outcomes):
    some = outcomes.select(models=outcomes.models[:3])
    with pytest.raises(RepevalError, match="these data hold") as caught:
        verdicts(analysis, some)
    assert caught.value.code == "claims-other-data"


def test_another_level_is_refused(analysis, outcomes):
    settings = dataclasses.replace(analysis.settings, level=0.9)
    with pytest.raises(RepevalError, match="95% intervals"):
        verdicts(dataclasses.replace(analysis, settings=settings), outcomes)


def test_without_the_incomplete_problem_section_4_stays_open(analysis, outcomes):
    other = dataclasses.replace(outcomes, before=None)
    by_id = {v.claim.id: v for v in verdicts(analysis, other, "4")}
    assert by_id["vc-s4-judged"].verdict == "not checkable"
    assert "incomplete problem" in by_id["vc-s4-judged"].reason


def test_an_unknown_section_is_refused_with_the_known_ones(analysis, outcomes):
    with pytest.raises(RepevalError, match=r"'7'; one of abstract, 1, 2"):
        verdicts(analysis, outcomes, "7")


def of_section(found, section):
    return [v for v in found.values() if v.claim.section == section]


def test_the_table_shows_one_decimal_more_than_the_paper(found):
    frame = table(of_section(found, "5.2")).set_index("id")
    assert list(frame.columns) == ["Quantity", "Paper", "Here", "Verdict"]
    row = frame.loc["vc-s52-ceiling-median"]
    assert len(row["Here"]) == len(row["Paper"]) + 1


def test_verdicts_are_short_and_their_reasons_stand_below_once(found):
    frame = table(found.values()).set_index("id")["Verdict"]
    short = set(frame[~frame.str.startswith("not checked here: ")])
    assert short == {"holds", "agrees by construction", "differs, known"}
    told = legend(of_section(found, "5.3"))
    assert told[0].startswith("vc-s53-flat-side: At given prices")
    assert told[-1].count("were chosen so that these components came out") == 1
    known = [v for v in of_section(found, "5.3") if v.verdict == "known"]
    assert told[-2].endswith(f"vc-s53-penalty-tenth: {FORMULA}")
    assert len(told) == len(known) + 2
    assert legend(of_section(found, "5.1"))[-1].count("these interval widths") == 1
    confirmed = [v for v in found.values() if v.computed is True]
    assert legend(confirmed) == []
