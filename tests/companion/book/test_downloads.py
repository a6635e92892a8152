"""What a reader takes away: notebooks with their texts in place, which run on their own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import repeval
from repeval.cli import main
from repeval.companion.book.downloads import citations, plain_markdown, resolved, tags

CHECKOUT = Path(__file__).resolve().parents[3]
ROLE_OR_FENCE = re.compile(r"\{[a-z:]+\}`|^(?:`{3,}|:{3,})\{|^\([\w-]+\)=$", re.MULTILINE)
RUN = """
import nbformat, sys
space = {"__name__": "__main__"}
for cell in nbformat.read(sys.argv[1], as_version=4).cells:
    if cell.cell_type == "code":
        exec(compile(cell.source, sys.argv[1], "exec"), space)
"""


def run(notebook, folder):
    """Run a notebook's cells in a folder, and the package alone at hand."""
    environment = os.environ | {
        "PYTHONPATH": str(Path(repeval.__file__).parents[1]), "MPLBACKEND": "Agg",
    }  # fmt: skip
    command = [sys.executable, "-c", RUN, str(notebook)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It is {glue:text}`n` long.", "It is 5 \\< \\*x\\* long."),
        ("Of the paper {cite:p}`a2026`.", "Of the paper (Zhou et al., 2026)."),
        ("The {term}`ceiling <variance ceiling>`", "The *ceiling*"),
        ("[here](other-page) and [there](../book/a.md#b)", "here and there"),
        ("[out](https://a.org/b) ![x](y.png)", "[out](https://a.org/b) ![x](y.png)"),
        ("(label)=\n## Head", "## Head"),
        ("```{exercise}\n:label: a\n\nDo it.\n```", "**Exercise**\n\nDo it."),
        (
            "````{solution} a\n:class: dropdown\n```python\n1\n```\n````",
            "<details><summary>Solution</summary>\n\n```python\n1\n```\n\n</details>",
        ),
        (":::{note} Mind\nThis.\n:::", "**Mind**\n\nThis."),
        ("`{glue}` and $x_{i}$ stay", "`{glue}` and $x_{i}$ stay"),
    ],
)
def test_markdown_that_any_viewer_shows(text, plain):
    works = {"a2026": "Zhou et al., 2026"}
    assert plain_markdown(text, {"n": r"5 \< \*x\*"}, works) == plain


def test_citations_name_who_and_when():
    bib = "@misc{a,\n  author = {Zhou, Y. and Choi, L. and Wen, J.},\n  year = {2026}\n}\n"
    bib += "@misc{b,\n  author = {{The {LLM} people}},\n  year = {2025}\n}\n"
    bib += "@article{c,\n  author = {At{\\i}l, B. and Roy, A.},\n  year = {2024}\n}\n"
    assert citations(bib) == {
        "a": "Zhou et al., 2026", "b": "The LLM people, 2025", "c": "Atıl and Roy, 2024",
    }  # fmt: skip


def test_downloads_of_a_book_are_whole_and_run_in_an_empty_folder(book, tmp_path):
    home, *_ = book
    paths = sorted((home / "html/_sources/notebooks").glob("*.ipynb"))
    assert len(paths) > 2
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        assert notebook == nbformat.read(home / "notebooks" / path.name, as_version=4)
        markdown = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
        assert not ROLE_OR_FENCE.search(markdown)
        assert sum("arameters" in "".join(tags(cell)) for cell in notebook.cells) == 1
        assert any(cell.get("outputs") for cell in notebook.cells)
        if path.stem == "claims":  # the whole ledger: with `make full`
            continue
        ran = run(path, tmp_path)
        assert ran.returncode == 0, ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_book_of_other_data_names_its_table():
    cell = nbformat.v4.new_code_cell('data = "data/mine.csv"\nname = "mine"')
    cell.metadata.tags = ["injected-parameters"]
    (found,) = resolved(nbformat.v4.new_notebook(cells=[cell]), {}, paper=False).cells
    assert found.source.startswith('data = "mine.csv"  # the book\'s table: data/mine.csv in its')
    (found,) = resolved(nbformat.v4.new_notebook(cells=[cell]), {}, paper=True).cells
    assert found.source.startswith("data = None")
    assert 'name = "mine"' in found.source


@pytest.mark.full
def test_all_downloads_run_in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["build"]) == 0
    (empty := tmp_path / "empty").mkdir()
    pages = sorted((tmp_path / "_build/paper/html/_sources/notebooks").glob("*.ipynb"))
    assert len(pages) == len(list((CHECKOUT / "notebooks").glob("*.md")))
    for path in pages:
        markdown = nbformat.read(path, as_version=4).cells
        text = "\n".join(cell.source for cell in markdown if cell.cell_type == "markdown")
        assert not ROLE_OR_FENCE.search(text), path.name
        ran = run(path, empty)
        assert ran.returncode == 0, f"{path.name}: {ran.stderr}"
    assert list(empty.iterdir()) == []
