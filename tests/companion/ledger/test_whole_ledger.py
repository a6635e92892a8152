"""The whole ledger as the pages compute it; figures of the paper are never typed here."""

import dataclasses
import math
from statistics import median

import numpy as np
import pytest

import repeval
from repeval.cli import main
from repeval.companion.book.notebook import Book
from repeval.companion.book.pages import run_page
from repeval.companion.ledger import check, claims, counts, judge, legend, page_html, table
from repeval.companion.ledger.entries import anchors, differing, errata, fitted, paper
from repeval.companion.ledger.places import cell_of, computed, page_of
from repeval.companion.ledger.scorecard import place
from repeval.companion.ledger.verdicts import FORMULA
from repeval.io.registry import share_dir
from repeval.messages import RepevalError
from tests import oracles

# Each claim with those that say the same.
TWINS = {
    "vc-s4-models": ["vc-abs-models"],
    "vc-s4-runs": ["vc-abs-runs"],
    "vc-s4-n-common": ["vc-abs-problems", "vc-lim-n", "vc-ab-n"],
    "vc-s51-narrow-median": ["vc-abs-pooled-too-narrow", "vc-s1-narrow-median", "vc-s6-misstates"],
    "vc-s51-wide-median": ["vc-abs-pooled-too-wide", "vc-s1-wide-median"],
    "vc-s51-unresolved": [
        "vc-abs-unresolved", "vc-s1-unresolved", "vc-fig1-unresolved", "vc-s6-unresolved",
    ],
    "vc-s51-icc-median": ["vc-ab-detailed-icc"],
    "vc-s52-ceiling-median": [
        "vc-abs-ceiling-median", "vc-s1-ceiling-median", "vc-fig2-dashed",
        "vc-ab-detailed-ceiling",
    ],
    "vc-s52-narrowing-median": [
        "vc-abs-narrowing-median", "vc-s1-narrowing-median", "vc-s6-narrowing-median",
    ],
    "vc-s52-narrowing-max": ["vc-abs-narrowing-max", "vc-s6-narrowing-max"],
    "vc-s3-eq2": ["vc-abs-ceiling-formula"],
    "vc-s3-rstar": ["vc-abs-rstar", "vc-s1-rstar"],
    "vc-s3-r1-rule": ["vc-s1-r1-rule"],
}  # fmt: skip


@pytest.fixture(scope="module")
def book(recomputed):
    return recomputed[0]


@pytest.fixture(scope="module")
def found(recomputed):
    return recomputed[1]


def of_section(found, section):
    return [v for v in found.values() if v.claim.section == section]


def of_page(page, book, **changes):
    """The verdicts that a page gives on other outcomes."""
    outcomes = dataclasses.replace(book.outcomes, **changes)
    source = (share_dir() / f"notebooks/{page}.md").read_text(encoding="utf-8")
    other = dataclasses.replace(book, outcomes=outcomes, quiet=True)
    claimed = run_page(page, source, other)
    return {v.claim.id: v for v in judge(claimed, outcomes, [])}


def test_nothing_differs_that_is_not_explained(found):
    assert [v.claim.id for v in found.values() if v.verdict == "differs"] == []
    for v in (v for v in found.values() if v.verdict == "known"):
        limited = fitted().get(v.claim.id, ("",))[0] == "limits"
        assert limited or v.claim.id in differing(), v.claim.id


def test_every_claim_has_a_verdict_with_a_reason(found):
    assert list(found) == [c.id for c in claims()]
    assert all(v.reason.strip() for v in found.values())
    assert all(bool(v.evidence) == (v.verdict != "not checkable") for v in found.values())
    assert {v.basis for v in found.values()} == {repeval.load().source.basis}


def test_every_claim_of_a_page_is_an_entry_and_every_fitted_entry_is_claimed(found):
    keys = [c.id for c in claims()]
    stray = [p for p in computed() if not any(page_of(k) and p == cell_of(k)[2] for k in keys)]
    assert stray == []
    assert [key for key in fitted() if page_of(key) is None] == []
    # The page that the text says is the page that computes.
    assert [key for key in keys if (found[key].computed is not None) and not page_of(key)] == []


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
    lacking = {k for k, v in found.items() if v.verdict == "known" and k not in anchors()}
    assert others <= {*errata(), *lacking}


def test_every_formula_is_confirmed(found):
    formulas = [v for v in found.values() if v.claim.kind == "formula"]
    assert formulas
    refuted = [v.claim.id for v in formulas if v.verdict != "holds" or v.computed is not True]
    assert refuted == ["bs-gen-mode-rho"]


def test_what_repeats_a_figure_gets_the_same_verdict(found):
    for original, repeats in TWINS.items():
        # A formula may be computed from printed figures, where the other needs outcomes.
        for key in (k for k in repeats if paper()[k].needs == paper()[original].needs):
            assert found[key].computed == found[original].computed, key
            assert found[key].verdict == found[original].verdict, key


def test_recomputed_values_agree_with_the_ledgers_own(found):
    """The compiler of the ledger recomputed some figures from published tables alone."""
    for v in found.values():
        if v.se is None and isinstance(v.computed, float) and isinstance(v.claim.recomputed, float):
            # Its inputs lack the dropped problem's outcomes: 2% is the largest gap to be expected.
            assert v.computed == pytest.approx(v.claim.recomputed, rel=0.02), v.claim.id


def exact(prompt):
    """ICC and ceiling of the clean systems, by fractions."""
    parts = [oracles.components(passes, 5) for passes in oracles.clean(prompt).values()]
    return [float(c["between"] / (c["between"] + c["within"])) for c in parts]


def test_components_are_those_of_fractions(found):
    here, there = exact("Detailed"), exact("Minimal")
    ceilings = [1 / icc for icc in there]
    assert found["vc-s52-ceiling-median"].computed == pytest.approx(median(1 / i for i in here))
    assert found["vc-s2-icc-range"].computed == pytest.approx([min(here), max(here)])
    assert found["vc-ab-minimal-icc"].computed == pytest.approx(median(there))
    assert found["vc-ab-minimal-ceiling"].computed == pytest.approx(median(ceilings))
    assert found["vc-ab-minimal-range"].computed == pytest.approx([min(ceilings), max(ceilings)])
    low, high = found["vc-s1-narrowing-range"].computed
    assert (low, high) == pytest.approx([1 - math.sqrt(max(here)), 1 - math.sqrt(min(here))])
    assert found["vc-lim-systems"].computed == [14, 2]


def test_the_largest_shape_is_that_of_the_moments(found):
    shapes = []
    for histogram in oracles.histograms().values():
        c = oracles.components(oracles.passes_of(histogram), 5)
        total = c["mean"] * (1 - c["mean"]) / c["between"] - 1
        shapes += [float(c["mean"] * total), float((1 - c["mean"]) * total)]
    assert found["vc-ab-beta-small"].computed == pytest.approx(max(shapes))
    assert found["vc-lim-beta"].computed == found["vc-ab-beta-small"].computed


def test_the_smallest_detectable_effect_is_that_of_the_differences(book, found):
    keys = ["model", "condition", "problem"]
    rates = book.outcomes.frame.groupby(keys)["outcome"].mean().unstack("condition")
    spread = (rates["Detailed"] - rates["Minimal"]).groupby("model").std()
    z = oracles.NORMAL.inv_cdf(0.975) + oracles.NORMAL.inv_cdf(0.8)
    effects = 100 * z * spread / math.sqrt(99)
    assert found["vc-lim-mde"].computed == pytest.approx(median(effects))


def test_the_released_outcomes_turn_agreement_by_construction_into_verdicts(book):
    stand_in = counts(of_page("ceiling", book).values())
    source = dataclasses.replace(book.outcomes.source, basis="released")
    released = counts(of_page("ceiling", book, source=source).values())
    assert stand_in["calibrated"] > 0
    assert released["calibrated"] == released["pinned"] == 0
    assert released["holds"] == stand_in["holds"] + stand_in["calibrated"] + stand_in["pinned"]


def test_other_outcomes_differ(book):
    frame = book.outcomes.frame
    flipped = np.random.default_rng(2606).random(len(frame)) < 0.2
    changed = frame.assign(outcome=np.where(flipped, 1 - frame["outcome"], frame["outcome"]))
    by_id = of_page("ceiling", book, frame=changed)
    assert by_id["vc-s52-ceiling-median"].verdict == by_id["vc-fig2-dashed"].verdict == "differs"
    # A remark alone excuses no difference.
    assert by_id["vc-s52-narrowing-max"].verdict == "differs"
    assert errata()["vc-s52-narrowing-max"] in by_id["vc-s52-narrowing-max"].reason


def test_without_the_incomplete_problem_section_4_stays_open(book):
    by_id = of_page("setup", book, before=None)
    assert by_id["vc-s4-judged"].verdict == "not checkable"
    assert "incomplete problem" in by_id["vc-s4-judged"].reason


def test_other_data_are_refused(book):
    some = book.outcomes.select(models=book.outcomes.models[:3])
    with pytest.raises(RepevalError, match="these data hold") as caught:
        check(book.analysis, some)
    assert caught.value.code == "claims-other-data"
    settings = dataclasses.replace(book.analysis.settings, level=0.9)
    with pytest.raises(RepevalError, match="95% intervals"):
        check(dataclasses.replace(book.analysis, settings=settings), book.outcomes)


def test_a_claim_is_made_once(book):
    page = dataclasses.replace(book, claimed={})
    page.claim(("vc-abs-runs", "vc-s4-runs"), np.int64(5))
    assert page.claimed == {key: (5, None, None, "") for key in ("vc-abs-runs", "vc-s4-runs")}
    with pytest.raises(ValueError, match="vc-s4-runs before"):
        page.claim("vc-s4-runs", 5)


def test_the_papers_own_table_is_no_recomputation(found):
    own = [v for key, v in found.items() if key.startswith("vc-ad-cov-")]
    assert all("its own Table 6, which is not recomputed" in v.reason for v in own)
    assert table(own)["Here"].str.startswith("the text's own table: ").all()
    assert legend(own) == ["Where a text is held against its own table, nothing is recomputed."]


def test_verdicts_are_short_and_their_reasons_stand_below_once(found):
    frame = table(found.values()).set_index("id")
    short = set(frame["Verdict"][~frame["Verdict"].str.startswith("not checked here: ")])
    assert short == {"holds", "agrees by construction", "differs, known"}
    row = frame.loc["vc-s52-ceiling-median"]
    assert len(row["Here"]) == len(row["Paper"]) + 1
    told = legend(of_section(found, "5.3"))
    assert told[0].startswith("vc-s53-flat-side: At given prices")
    assert told[-1].count("were chosen so that these components came out") == 1
    known = [v for v in of_section(found, "5.3") if v.verdict == "known"]
    assert told[-2].endswith(f"vc-s53-penalty-tenth: {FORMULA}")
    assert len(told) == len(known) + 2
    assert legend(of_section(found, "5.1"))[-1].count("these interval widths") == 1
    confirmed = [v for v in found.values() if v.computed is True]
    assert legend(confirmed) == []


def test_the_table_of_a_page_says_what_would_agree_and_sets_symbols(found):
    html = page_html([found["vc-ae-ref-nonpos"], found["vc-s3-muw"]], ["mu_w <= 1"])
    assert html.startswith('<details class="repeval-claims"><summary>The paper says, we get: ')
    assert "holds <small>(0.0 to" in html
    assert 'href="scorecard.html#vc-ae-ref-nonpos"' in html
    assert "<p>μ<sub>w</sub> ≤ 1</p>" in html
    assert "mu_w" not in html.replace("vc-s3-muw", "")


def test_places_are_named_as_in_the_texts(found):
    sections = ("5.2", "Appendix D", "limitations", "Limitations")
    entries = [next(c for c in claims() if c.section == s) for s in sections]
    assert list(map(place, entries)) == [
        "Section 5.2", "Appendix D", "Limitations", "Post: Limitations",
    ]  # fmt: skip


@pytest.mark.parametrize(("verdict", "code"), [("differs", 1), ("known", 0), ("holds", 0)])
def test_the_command_fails_on_an_unexplained_difference(verdict, code, monkeypatch, capsys, found):
    one = dataclasses.replace(found["vc-s53-flat-side"], verdict=verdict)
    monkeypatch.setattr(Book, "verdicts", lambda self: [one])
    assert main(["claims"]) == code
    assert "vc-s53-flat-side" in capsys.readouterr().out
