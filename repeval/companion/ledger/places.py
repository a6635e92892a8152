"""Which page computes a claim, and by what: read off the pages' cells, where its id stands."""

from __future__ import annotations

import ast
import functools
import re

import repeval
from repeval.io.registry import share_dir

CELL = re.compile(r"^```\{code-cell\}.*?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
OPTIONS = re.compile(r"\A(?::\w+:.*\n)+")


@functools.cache
def computed() -> dict[str, tuple[str, str, str]]:
    """Return pattern -> (page, cell, pattern) of every ``book.claim(id, ...)``.

    An f-string is a pattern, and so is an id as it stands.
    """
    found = {}
    for path in sorted((share_dir() / "notebooks").glob("*.md")):
        for code in _cells(path.stem):
            if "book.claim(" in code:
                found |= {pattern: (path.stem, code, pattern) for pattern in _patterns(code)}
    return found


def page_of(key: str) -> str | None:
    """Return the page that computes a claim, None where none does."""
    return cell_of(key)[0] if cell_of(key) else None


def cell_of(key: str) -> tuple[str, str, str] | None:
    """Return the page that computes a claim, its cell, and the pattern there.

    An id as it stands goes before an f-string.
    """
    if re.escape(key) in computed():
        return computed()[re.escape(key)]
    return next((place for p, place in computed().items() if re.fullmatch(p, key)), None)


def functions_of(key: str) -> list[str]:
    """Return the public functions of `repeval` that a claim's value comes from, in their order.

    From the claim's cell back: what it uses, and the cells before that make what it uses.
    """
    if (place := cell_of(key)) is None:
        return []
    page, cell, _ = place
    cells = _cells(page)
    wanted, found = set(), []
    for code in reversed(cells[: cells.index(cell) + 1]):
        made, used, called = _names(code)
        if code == cell or made & wanted:
            wanted |= used
            found += called
    names = (name.removeprefix("repeval.") for name in reversed(found))
    return list(dict.fromkeys(name for name in names if name in repeval.__all__))


@functools.cache
def _names(code: str) -> tuple[set[str], set[str], list[str]]:
    """Return what code makes, what else it uses, and what it calls of `repeval`."""
    nodes = list(ast.walk(ast.parse(code)))
    names = [n for n in nodes if isinstance(n, ast.Name)]
    made = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    calls = (ast.unparse(n.func) for n in nodes if isinstance(n, ast.Call))
    return made, {n.id for n in names} - made, [c for c in calls if c.startswith("repeval.")]


@functools.cache
def _cells(page: str) -> list[str]:
    text = (share_dir() / "notebooks" / f"{page}.md").read_text(encoding="utf-8")
    return [OPTIONS.sub("", cell) for cell in CELL.findall(text)]


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
