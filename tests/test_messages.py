"""Every code has an explanation, and every explanation is of a code in use."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from repeval.companion.book.stage import messages_page
from repeval.messages import KINDS, MESSAGES, TABLE, Notice, refused, some

PACKAGE = Path(__file__).resolve().parents[1] / "repeval"
REFUSERS = {"RepevalError", "refused", "refuse", "_check_names"}
#: Said where it is harmless, refused where it is not.
BOTH = {"no-run-column"}


def strings(node: ast.AST) -> set[str]:
    """All text constants under a node of a syntax tree."""
    return {
        n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }


TABLES = {PACKAGE / "messages" / f"{name}.py" for name in ("answering", "reading")}
TREES = [ast.parse(path.read_text(encoding="utf-8")) for path in {*PACKAGE.rglob("*.py")} - TABLES]


def made(by: set[str]) -> set[str]:
    """The first arguments of all calls of these functions."""
    calls = [n for tree in TREES for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args]
    fit = [n for n in calls if getattr(n.func, "id", getattr(n.func, "attr", "")) in by]
    assert len(fit) > 20
    return set().union(*(strings(n.args[0]) for n in fit))


def test_codes_in_use_are_explained():
    assert made({*REFUSERS, "Notice"}) <= set(MESSAGES)


def test_explained_codes_are_in_use():
    assert set(MESSAGES) <= set().union(*map(strings, TREES))


def test_no_code_stands_twice():
    assert [row[0] for rows in TABLE.values() for row in rows] == [*MESSAGES]


def test_every_code_is_of_the_kind_that_it_is_used_as():
    kinds = {code: message.kind for code, message in MESSAGES.items()}
    assert set(kinds.values()) == set(KINDS)
    refusals = {code for code, kind in kinds.items() if kind == "refused"}
    assert made(REFUSERS) - BOTH == refusals
    assert not refusals & made({"Notice"})
    assert Notice("few-clusters", "").kind == "first"


def test_what_is_refused_comes_first_in_a_group():
    for rows in TABLE.values():
        said = [kind != "refused" for _, kind, *_ in rows]
        assert said == sorted(said)


def test_the_messages_import_nothing_of_the_package():
    trees = [ast.parse(f.read_text(encoding="utf-8")) for f in (PACKAGE / "messages").glob("*.py")]
    imports = [n for t in trees for n in ast.walk(t) if isinstance(n, ast.Import | ast.ImportFrom)]
    assert imports
    theirs = {ast.unparse(n) for n in imports if "repeval" in ast.unparse(n)}
    assert theirs == {
        "from repeval.messages import answering, reading",
        "from repeval.messages import RepevalError, clipped, printable, refused",
        "from repeval._version import __version__",
    }


def test_the_page_of_messages_has_each_with_its_anchor_and_what_is_typed_as_typed():
    text = messages_page()
    for code in MESSAGES:
        assert text.count(f"\n\n({code})=\n`{code}`\n: ") == 1
    bare = re.sub(r"`[^`]*`", "", text)
    assert "--" not in bare
    assert "pip install" not in bare
    assert "`--columns run=COLUMN`" in text
    assert "`pip install 'repeval[logs]'`" in text
    # No sentence needs escaping: the page has no other mark-up.
    assert not re.search(r"[<>$|{}\[\]_]|\*(?!\*)(?<!\*\*)", re.sub(r"\w_\w", "", bare))


def test_explanations_are_sentences():
    for text in (text for m in MESSAGES.values() for text in (m.meaning, m.way_out)):
        assert text[0].isupper() or text.startswith("--")
        assert text.endswith(".")


def test_a_refusal_says_what_is_wrong_and_the_way_out():
    error = refused("duplicate-column", "a.csv: two columns are called 'x'.")
    way = MESSAGES["duplicate-column"].way_out
    assert error.code == "duplicate-column"
    assert error.text == str(error) == f"a.csv: two columns are called 'x'. {way}"


def test_some_names():
    assert some(["a", "b", "c"]) == "a, b, c"
    assert some("abcde", 2) == "a, b and 3 more"
