"""Every code has an explanation, and every explanation is of a code in use."""

from __future__ import annotations

import ast
from pathlib import Path

from repeval.notices import CODES, refused, some

PACKAGE = Path(__file__).resolve().parents[1] / "repeval"
MAKERS = {"RepevalError", "Notice", "refused", "refuse", "_check_names"}


def strings(node: ast.AST) -> set[str]:
    """All text constants under a node of a syntax tree."""
    return {
        n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }


TREES = [
    ast.parse(path.read_text(encoding="utf-8"))
    for path in PACKAGE.rglob("*.py")
    if path.name != "notices.py"
]


def test_codes_in_use_are_explained():
    calls = [n for tree in TREES for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args]
    made = [n for n in calls if getattr(n.func, "id", getattr(n.func, "attr", "")) in MAKERS]
    assert len(made) > 40
    assert set().union(*(strings(n.args[0]) for n in made)) <= set(CODES)


def test_explained_codes_are_in_use():
    assert set(CODES) <= set().union(*map(strings, TREES))


def test_explanations_are_sentences():
    for text in CODES.values():
        assert text[0].isupper() or text.startswith("--")
        assert text.endswith(".")


def test_a_refusal_says_what_is_wrong_and_the_way_out():
    error = refused("duplicate-column", "a.csv: two columns are called 'x'.")
    assert error.code == "duplicate-column"
    assert error.text == str(error) == f"a.csv: two columns are called 'x'. {CODES[error.code]}"


def test_some_names():
    assert some(["a", "b", "c"]) == "a, b, c"
    assert some("abcde", 2) == "a, b and 3 more"
