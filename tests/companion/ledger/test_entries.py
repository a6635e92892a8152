import re
import sys

import pytest

from repeval.companion.ledger import Claim, claims, entries
from repeval.companion.ledger.entries import errata, fitted
from repeval.companion.ledger.verdicts import agrees
from repeval.io import registry
from repeval.messages import RepevalError


def entry(value, tolerance, **more):
    fields = {"section": "1", "quantity": "q", "unit": "ratio", "needs": "released-tensor"}
    return Claim("x", "d", value=value, tolerance=tolerance, **fields | more)


@pytest.mark.parametrize(
    ("value", "tolerance", "computed", "expected"),
    [
        (1.34, {"round": 2}, 1.3449, True),
        (1.34, {"round": 2}, 1.345, True),  # a trailing 5 may go either way
        (1.34, {"round": 2}, 1.3451, False),
        (1.34, {"round": 2}, 1.3349, False),
        (16, {"round": 0}, 15.8, True),
        (16, {"round": 0}, 15, False),
        ([1.05, 1.71], {"round": 2}, [1.051, 1.707], True),
        ([1.05, 1.71], {"round": 2}, [1.051, 1.717], False),
        ([16, 16], {"round": 0}, 16, False),
        (1.34, {"round": 2}, float("nan"), False),
        ([12, 15], {"range": [12, 13]}, [13, 15], True),
        ([12, 15], {"range": [12, 13]}, [14, 15], False),
        ([12, 15], {"range": [12, 13]}, [12, 14], False),
        ([2, 4], {"range": [2, 4]}, [3, 4], True),
        ([2, 4], {"range": [2, 4]}, [1, 4], False),
        ("some", {"range": [1, 15]}, 1, True),
        ("some", {"range": [1, 15]}, 0, False),
        (["A > B"], {"exact": True}, ["A > B"], True),
        (["A > B"], {"exact": True}, ["B > A"], False),
        ("left", {"exact": True}, "neither", False),
        ("a = b", {"exact": True}, True, True),
        ("a = b", {"exact": True}, False, False),
    ],
)
def test_tolerances(value, tolerance, computed, expected):
    assert agrees(entry(value, tolerance), computed) is expected


def test_monte_carlo_tolerance_adds_both_errors_and_half_a_unit():
    claim = entry(2.05, {"mc": {"se": 0.03, "k": 2, "round": 2}})
    assert agrees(claim, 2.05 + 0.065)  # 2 * 0.03 + 0.005
    assert not agrees(claim, 2.05 + 0.0651)
    assert agrees(claim, 2.05 - 0.105, 0.04)  # 2 * 0.05 + 0.005
    assert not agrees(claim, 2.05 - 0.1051, 0.04)
    pair = entry([1.94, 2.22], {"mc": {"se": 0.03, "k": 2, "round": 2}})
    assert agrees(pair, [1.88, 2.22])
    assert not agrees(pair, [1.87, 2.22])


def test_the_ledger_is_well_formed():
    ids = [c.id for c in claims()]
    assert len(ids) == len(set(ids))
    for c in claims():
        (rule,) = c.tolerance
        assert rule in ("round", "range", "exact", "mc")
        if rule == "mc":
            assert set(c.tolerance["mc"]) == {"se", "k", "round"}
        assert c.needs in (
            "released-tensor", "simulation", "closed-form", "published-table", "external-runs",
        )  # fmt: skip
    assert set(fitted()) <= set(ids)
    assert set(errata()) <= set(ids)
    assert {group for group, _ in fitted().values()} <= {"calibrated", "pinned", "limits"}


def test_no_claim_is_in_two_lists():
    groups = entries._read("calibration.yaml")
    ids = [key for name in groups for group in groups[name] for key in group["ids"]]
    assert len(ids) == len(set(ids))


def test_the_ledger_has_the_reference_figures(shared):
    import yaml

    text = (shared / "reference" / "claims.yaml").read_text(encoding="utf-8")
    reference = {e["id"]: e for e in yaml.safe_load(text)}
    for c in claims():
        assert (c.value, c.unit, c.tolerance, c.needs) == tuple(
            reference[c.id][key] for key in ("value", "unit", "tolerance", "needs")
        )
        quote = str(reference[c.id].get("quote", ""))
        assert len(quote.split()) < 6 or quote not in f"{c.quantity} {c.note}"
    sections = {(c.doc, c.section) for c in claims()}
    wanted = {key for key, e in reference.items() if (e["doc"], e["section"]) in sections}
    assert wanted == {c.id for c in claims()}


def test_disagreements_have_a_place_on_their_page():
    page = (registry.share_dir() / "notebooks" / "errata.md").read_text(encoding="utf-8")
    anchors = re.findall(r"^\((.+)\)=\n## ", page, re.MULTILINE)
    assert set(entries.anchors()) == set(errata())
    assert set(entries.anchors().values()) <= set(anchors)
    for entry in entries.disagreements():
        assert {"id", "place", "items"} & set(entry)
        assert entry.get("anchor", anchors[0]) in anchors
    # Each section says first what kind of disagreement it is, but for the table of the rest.
    opened = re.findall(r"\n## .+\n\n(\S+)", page)[: len(anchors) - 1]
    words = ("Conflict", "Rounding", "Wording", "Open")
    assert all(word.strip("*.,") in words for word in opened)


def test_headlines_are_claims_in_plain_words():
    assert len(entries.headlines()) == 12
    known = {c.id: c for c in claims()}
    assert set(entries.headlines()) <= set(known)
    for key, text in entries.headlines().items():
        assert not re.search(r"\d", text), "the figure comes from the ledger"
        assert ("{" in text) != (known[key].kind == "formula")


def test_missing_pyyaml_is_said_plainly(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(RepevalError, match=r"repeval\[book\]") as caught:
        entries._read("claims.yaml")
    assert caught.value.code == "claims-need-pyyaml"
