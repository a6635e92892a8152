"""Every code has an explanation, and every explanation is of a code in use."""

from __future__ import annotations

import ast
from pathlib import Path

from repeval.notices import CODES

PACKAGE = Path(__file__).resolve().parents[1] / "repeval"


def used_codes() -> set[str]:
    """First arguments of RepevalError, Notice and functions called refuse."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in ("RepevalError", "Notice", "refuse"):
                found |= {
                    n.value for n in ast.walk(node.args[0])
                    if isinstance(n, ast.Constant) and isinstance(n.value, str)
                }  # fmt: skip
    return found


def test_codes_in_use_are_explained_and_the_reverse():
    assert used_codes() - set(CODES) == set()
    assert set(CODES) - used_codes() == set()


def test_explanations_are_sentences():
    for title, text in CODES.values():
        assert title[0].isupper() or title[0] == "`"
        assert not title.endswith(".")
        assert text.endswith((".", "}."))
