import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest

from repeval.cli import main
from repeval.companion.ledger import Claim, Verdict, entries, scorecard

HOSTILE = "<script>x</script> \"q\" & 's'"
SOURCE = SimpleNamespace(name=HOSTILE, basis="released", sha256="ab" * 32)


def entry(key="t-a", value=0.5, tolerance=None, **more):
    fields = {"section": "9", "quantity": "q", "unit": "fraction", "needs": "released-tensor"}
    return Claim(key, "d", value=value, tolerance=tolerance or {"round": 2}, **fields | more)


def made(verdict="holds", evidence="emergent", computed=0.5, reason="Look.", **more):
    return Verdict(entry(**more), computed, None, verdict, reason, evidence, "released")


class Elements(HTMLParser):
    """Collect start tags with their attributes, and check that all are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.found if name == tag]


def test_a_tally_keeps_agreement_by_construction_from_what_holds():
    found = [
        made(), made(evidence="independent"), made("calibrated", "calibrated"),
        made("pinned", "pinned"), made("known"), made("not checkable", ""),
    ]  # fmt: skip
    frame = scorecard.tally(found).set_index("verdict")
    assert frame.loc["holds"].to_list() == [1, 1, 0, 0, 2]
    assert frame.loc["differs"].to_list() == [0, 0, 0, 0, 0]
    assert frame.loc["differs, known"].to_list() == [0, 1, 0, 0, 1]
    assert frame.loc["agrees by construction"].to_list() == [0, 0, 1, 1, 2]
    assert frame.loc["not checked here"].to_list() == [0, 0, 0, 0, 1]
    said = scorecard.counted(found)
    assert said.startswith("Of 6 claims 2 hold, 1 differ for a known reason and 0 without one; 1 ")
    assert "Of those that hold, 1 need no outcomes, and 1 come from" in said
    assert "2 agree because the stand-in was made so, and are not counted as holding." in said
    assert "stand-in" not in scorecard.counted(found[:2])


@pytest.mark.parametrize(
    ("value", "more", "found"),
    [
        (1.34, {"unit": "ratio"}, ["1.34"]),
        (66.6, {"unit": "pp", "tolerance": {"round": 1}}, ["66.6", "66.6%"]),
        (0.23, {}, ["0.23", "23%"]),
        (0.064, {"tolerance": {"round": 3}}, ["0.064", "6.4%"]),
        ([1.05, 1.71], {"unit": "ratio"}, ["1.05 to 1.71", "1.05", "1.71"]),
        ([12, 15], {"unit": "count", "quantity": "unresolved"}, ["12 of 15", "12", "15"]),
        ("a = b", {"unit": "formula"}, []),
        (["A > B"], {"unit": "list"}, []),
    ],
)
def test_what_a_reader_types_to_find_a_number(value, more, found):
    assert scorecard.queries(entry(value=value, **more)) == ["t-a", *found]


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"section": "Table 6"}, "Table 6"),
        ({"quantity": "cells (Table 5)"}, "Table 5"),
        ({"note": "see Figure 2."}, "Figure 2"),
        ({"quantity": "a tablet"}, ""),
    ],
)
def test_a_claim_names_its_printed_table(more, name):
    assert scorecard.printed(entry(**more)) == name


def test_a_place_names_its_text():
    post = {"doc": "bootstrap-post", "section": "Limitations"}
    assert scorecard.place(Claim(**vars(entry()) | post)) == "Post: Limitations"
    assert scorecard.place(entry(section="limitations")) == "Limitations"
    assert scorecard.place(entry(section="5.1")) == "Section 5.1"


def test_rows_are_escaped_and_complete():
    found = [
        made(key="t-a", quantity=HOSTILE, reason=HOSTILE, section=HOSTILE, value=HOSTILE),
        made("not checkable", "", None, key="t-b", section="5.1", note=HOSTILE),
    ]
    html = Elements(scorecard.rows_html(found, SOURCE))
    assert "script" not in {tag for tag, _ in html.found}
    # As quantity, figure, reason, section, and once more as a choice of the filter.
    assert "".join(html.words).count(HOSTILE) == 5
    rows = [attrs for attrs in html.all("tr") if "id" in attrs]
    assert [row["id"] for row in rows] == ["t-a", "t-b"]
    assert rows[1]["data-section"] == "Section 5.1"
    assert rows[1]["data-verdict"] == "not checked here"
    assert rows[1]["data-find"] == "t-b|0.50|50%"
    assert {a["href"] for a in html.all("a")} == {"#t-a", "#t-b"}
    assert SOURCE.sha256 in html.all("table")[0]["data-cite"]


def test_every_choice_of_a_filter_is_labelled_and_matches_rows():
    found = [made(key=f"t-{i}", section=s) for i, s in enumerate(["3", "Table 6", "3"])]
    text = scorecard.rows_html(found, SOURCE)
    assert text.startswith('<form id="repeval-filter" hidden>')  # revealed by the script
    assert re.findall(r'<label>(.+)\n<select name="(\w+)"', text) == [
        ("Section", "section"), ("Table or figure", "table"), ("Verdict", "verdict"),
    ]  # fmt: skip
    options = re.findall("<option>(.+?)</option>", text)
    assert options == ["Section 3", "Table 6", "Table 6", "holds"]
    given = {v for a in Elements(text).all("tr") for k, v in a.items() if k.startswith("data-")}
    assert set(options) <= given


def test_known_rows_lead_to_the_disagreement(monkeypatch):
    monkeypatch.setattr(scorecard, "anchors", lambda: {"t-a": "flat-side", "t-b": "other"})
    found = [made("known"), made(key="t-b"), made("known", key="t-c")]
    text = scorecard.rows_html(found, SOURCE)
    # What is no fault of the texts, but the stand-in's, has a place of its own.
    assert re.findall(r'href="errata.html#([^"]+)"', text) == ["flat-side", entries.INVENTED]


def test_headlines_show_the_figure_and_what_stands_behind(monkeypatch):
    words = {"t-a": "At most {percent}, or {paper} <b>.", "t-b": "So it is."}
    monkeypatch.setattr(scorecard, "headlines", lambda: words)
    found = [made(computed=0.51), made("not checkable", "", None, "Needs runs.", key="t-b")]
    html = Elements(scorecard.headlines_html(found))
    text = " ".join("".join(html.words).split())
    assert "At most 50 %, or 0.50 <b>. holds (from outcomes" in text
    assert "The paper has 0.50, here it is 0.510." in text
    assert text.endswith("So it is. not checked here t-b Needs runs.")


def test_the_terminal_is_narrow_and_says_what_differs_first():
    long = "x" * 60
    found = [
        made(key="vc-" + "k" * 33, value=long, computed=long, section="abstract"),
        made("differs", reason="Because " * 30, key="t-d"),
        made("known", key="vc-s53-flat-side", value="left", computed="neither"),
    ]
    lines = scorecard.screen(found, "these data").splitlines()
    assert max(map(len, lines)) <= scorecard.WIDTH == 100
    heads = [line for line in lines if line.isupper()]
    assert heads == ["DIFFERS", "DIFFERS, FOR A KNOWN REASON", "ABSTRACT", "SECTION 9"]
    at = lines.index("DIFFERS")
    assert lines[at + 1].startswith("t-d: text 0.50, here 0.500. Because")
    assert " ".join(lines).count("Because") == 30
    known = lines[lines.index(heads[1]) + 1 :]
    assert known[0].startswith("vc-s53-flat-side: At given prices")
    assert known[1] == ""
    none = scorecard.screen(found[:1], "these data").splitlines()
    assert none[none.index("DIFFERS") + 1] == "nothing"


def test_a_record_has_what_a_program_needs():
    assert scorecard.record(made(unit="ratio")) == {
        "id": "t-a", "section": "9", "quantity": "q", "unit": "ratio", "paper": 0.5,
        "computed": 0.5, "se": None, "verdict": "holds", "evidence": "emergent",
        "basis": "released", "reason": "Look.",
    }  # fmt: skip


def test_ids_of_rows_are_anchors():
    assert all(re.fullmatch(r"[a-z][a-zA-Z0-9-]+", c.id) for c in entries.claims())


def test_the_commands_json(monkeypatch, capsys, tmp_path):
    found = [made("differs", key="vc-s53-flat-side", computed=np.float64(0.7))]
    monkeypatch.setattr("repeval.companion.book.notebook.Book.verdicts", lambda self: found)
    target = tmp_path / "claims.json"
    assert main(["claims", "--json", str(target)]) == 1
    assert "vc-s53-flat-side" in capsys.readouterr().out
    document = json.loads(target.read_text(encoding="utf-8"))
    assert (document["schema"], document["size"]) == ("repeval/claims/1", "quick")
    assert document["counts"] == {"differs": 1}
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", document["date"])
    assert {"python", "repeval", "numpy", "scipy", "pandas"} <= set(document["versions"])
    assert document["claims"][0]["computed"] == 0.7
    assert main(["claims", "--full", "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["size"] == "full"
