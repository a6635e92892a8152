"""Which page computes a claim: read off the pages' cells, where its id stands."""

from __future__ import annotations

import ast
import functools
import re

from repeval.io.registry import share_dir

CELL = re.compile(r"^```\{code-cell\}.*?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@functools.cache
def computed() -> dict[str, tuple[str, str]]:
    """Return pattern -> (page, cell) of every ``book.claim(id, ...)``; f-strings are patterns."""
    found = {}
    for path in sorted((share_dir() / "notebooks").glob("*.md")):
        for cell in CELL.findall(path.read_text(encoding="utf-8")):
            if "book.claim(" in cell:
                code = re.sub(r"\A(?::\w+:.*\n)+", "", cell)
                found |= {pattern: (path.stem, code) for pattern in _patterns(code)}
    return found


def page_of(key: str) -> str | None:
    """Return the page that computes a claim, None where none does."""
    return cell_of(key)[0] if cell_of(key) else None


def cell_of(key: str) -> tuple[str, str] | None:
    """Return the page that computes a claim, and its cell; a literal id goes before a pattern."""
    if re.escape(key) in computed():
        return computed()[re.escape(key)]
    return next((place for p, place in computed().items() if re.fullmatch(p, key)), None)


def _patterns(code: str) -> list[str]:
    """Return the ids of a cell's claims as regular expressions."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "book.claim"):
            continue
        keys = node.args[0].elts if isinstance(node.args[0], ast.Tuple) else node.args[:1]
        for key in keys:
            pieces = key.values if isinstance(key, ast.JoinedStr) else [key]
            texts = [re.escape(p.value) if isinstance(p, ast.Constant) else ".+" for p in pieces]
            found.append("".join(texts))
    return found
