"""Books of people's own data speak of these data, and of the two texts as references only."""

import re

import pytest

import repeval
from repeval.companion.book.stage import stage
from repeval.io.registry import share_dir

from .test_notebooks import made

# `the paper {cite…` is a reference.
TEXTS = re.compile(
    r"\b(?:the|that|this)\s(?:paper|post)\b(?!\s\{cite)|\bboth texts|leetcode|stand-in"
    r"|\b(?:16|sixteen) models|\b99 problems",
    re.IGNORECASE,
)
TWO_CONDITIONS = [(m, c, *rest) for c in ("cold", "warm") for m, _, *rest in made(["a", "b", "c"])]
BOOKS = {
    "many": TWO_CONDITIONS,
    "scores": made(["a", "b"], score=True),
    "single": made(["solo"], runs=1),
}
# What is about the software, its commands, messages and functions, names the default data.
SOFTWARE = {"api", "checked", "commands", "drawings", "messages", "trust"}


@pytest.mark.parametrize("key", BOOKS)
def test_the_texts_are_references_only(key, tmp_path):
    names = ("model", "condition", "problem", "run", "outcome")
    outcomes = repeval.load(dict(zip(names, zip(*BOOKS[key], strict=True), strict=True)))
    analysis = repeval.analyze(outcomes, n_resamples=50)
    pages, notebooks, _ = stage(outcomes, analysis, tmp_path, share_dir(), "mine")
    found = {}
    for page in set(pages) - {f"book/{name}" for name in SOFTWARE}:
        text = notebooks.get(page) or (tmp_path / f"{page}.md").read_text(encoding="utf-8")
        found |= {page: TEXTS.findall(text)} if TEXTS.search(text) else {}
    assert found == {}
    captions = (tmp_path / "_toc.yml").read_text(encoding="utf-8")
    assert "aper" not in captions


def test_styles_and_scripts_take_no_heading_for_their_own():
    # Sphinx makes `repeval-claims` of the heading `repeval claims`.
    static = share_dir() / "book" / "_static"
    styles = (static / "repeval.css").read_text(encoding="utf-8")
    assert re.findall(r"(?<![\w])#repeval-\w+", styles) == []
    assert 'querySelector("table#repeval-claims")' in (static / "scorecard.js").read_text("utf-8")
