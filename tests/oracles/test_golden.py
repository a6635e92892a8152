"""The last version's numbers: what `golden.json` keeps, and how what moved is named."""

import json

import pytest

from tests import golden

TOLD = json.loads(golden.GOLDEN.read_text(encoding="utf-8"))
PAGE = "book-html-notebooks-ceiling.html"


def test_the_file_has_numbers_of_answer_claims_pages_and_tables():
    kept = {*TOLD["numbers"]}
    book = {name for name in TOLD["sums"] if name.startswith("book-")} - {"book-analysis.json"}
    drawn = {name for name in book if name.startswith("book-html-figures-")}
    assert kept == book - drawn | {"analyze", "claims"}
    assert sum(".csv" in name for name in kept) > 50
    assert sum(name.startswith("book-html-notebooks-") for name in kept) > 25
    assert len(TOLD["numbers"]["claims"]) == 622


LINES = [
    "How far can runs narrow it?",
    "Endless runs make the interval 14 % (2 % to 23 %) narrower.",
    "R = 1  : 100% of the width",
    "R = 2  : 84% of the width",
]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (LINES, []),
        ([*LINES[:2], "Said anew, with 3 numbers.", *LINES[2:]], []),
        ([LINES[0], LINES[1].replace("14", "15"), *LINES[2:]], ["[1]: 14 -> 15  in 'Endless runs"]),
        (
            ["new", *LINES[:3], "R = 2  : 85.5% of the width"],
            ["[3]: 84 -> 85.5  in 'R = 2  : 84% of the width'"],
        ),
        ([*LINES[:2], LINES[3]], ["[2]: 'R = 1  : 100% of the width': gone"]),
        (["Can runs narrow it?", *LINES[1:]], ["[0]: 'How far can runs narrow it?' -> 'Can runs"]),
    ],
)
def test_lines_of_a_page_are_named(lines, told):
    found = list(golden.moved({PAGE: LINES}, {PAGE: lines}))
    assert len(found) == len(told)
    for line, start in zip(found, told, strict=True):
        assert line.startswith(PAGE + start)


def test_numbers_of_a_page_are_found_by_the_words_of_their_line():
    assert golden.numbers(PAGE, LINES) == {
        "Endless runs make the interval t": "14 2 23",
        "R of the width": "1 100",
        "R of the width (2)": "2 84",
    }
    cells = ["model", "mean", "ceiling", "GPT-4.1", "0.62", "1.344", "o3", "0.8", "–", "7"]
    assert golden.numbers(PAGE, cells) == {
        "GPT": "4.1", "GPT (2)": "0.62", "GPT (3)": "1.344", "o": "0.8", "o (2)": "7",
    }  # fmt: skip
    rows = [["model", "ceiling"], ["GPT-4.1", "1.344"], ["o3 (high)", "−0.02", "1,234.5", "1e-07"]]
    assert golden.numbers("book-html-tables-x.csv", rows) == {
        "GPT": "4.1 1.344",
        "o high": "−0.02 1,234.5 1e-07",
    }


def test_the_order_of_sums_and_what_is_new_do_not_count():
    before = {"a": 0.1 + 0.2, "b": [1.0, 2e-17], "c": "3.000000001"}
    assert not list(golden.moved(before, {"a": 0.3, "b": [1.0, 0], "c": "3.0", "d": 5}))
    assert list(golden.moved(before, {"a": 0.3001, "b": [1.0, 0], "c": "3.0"}))


def test_since_the_last_version(tmp_path, capsys):
    told = {PAGE: LINES, "messages": ["one"], "build": 0}
    file, now = tmp_path / "golden.json", tmp_path / "now"
    file.write_text(golden.dumped(golden.golden(told)), encoding="utf-8")
    now.mkdir()
    found = {PAGE: [*LINES[:3], LINES[3].replace("84", "83")], "messages": ["two"]}
    for name, value in found.items():
        (now / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    assert golden.main(["compare", str(file), str(now)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{PAGE}: R of the width (2): 84 -> 83  in '2 84'",
        "messages: another sum; no number moved that is kept here",
    ]
