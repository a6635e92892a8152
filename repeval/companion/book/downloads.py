"""The pages to take away: executed notebooks, their texts resolved, that run again on their own."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

# Directives that Jupyter and Colab show as they are: kind, argument, options, text.
FENCE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<kind>[a-z-]+)\} *(?P<title>.*)\n(?P<options>(?::\w+:.*\n)*)"
    r"(?P<text>(?:.*\n)*?)(?P=fence)$",
    re.MULTILINE,
)
ROLE = re.compile(r"\{(?P<role>[a-z:]+)\}`(?P<text>[^`]+)`")
# A link to another page of the book: no scheme, no slash at the start.
PAGE = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|/)[^)\s]*\)")
LABEL = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
SPECIAL = re.compile(r"([\\`*_{}\[\]<>$|#~])")


def write_downloads(root: Path, paper: bool) -> None:
    """Put notebooks that run on their own in place of the built site's sources of pages."""
    import nbformat

    works = citations((root / "book" / "references.bib").read_text(encoding="utf-8"))
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        notebook = resolved(nbformat.read(path, as_version=4), works, paper)
        for target in (path, root / "_build" / "html" / "_sources" / "notebooks" / path.name):
            nbformat.write(notebook, target)


def resolved(notebook, works: Mapping[str, str], paper: bool):
    """Return an executed notebook with its texts in their places, and parameters of its own.

    Its data are the default ones, or with another book the table that lies beside it.
    """
    notebook = notebook.copy()
    texts, cells = {}, []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if glued := output.get("metadata", {}).get("scrapbook"):
                value = output["data"][f"{glued['mime_prefix']}text/plain"]
                texts[glued["name"]] = SPECIAL.sub(r"\\\1", ast.literal_eval(value))
    injected = any("injected-parameters" in tags(cell) for cell in notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell = cell.copy()
            cell.source = plain_markdown(cell.source, texts, works)
        elif "injected-parameters" in tags(cell):
            cell = cell.copy()
            cell.source = parameters(cell.source, paper)
        elif injected and "parameters" in tags(cell):
            continue
        elif "remove-output" in tags(cell):  # the answer to a check, before anything was tried
            cell = cell.copy()
            cell.outputs = []
        cells.append(cell)
    notebook.cells = cells
    return notebook


def tags(cell) -> list[str]:
    """Return a cell's tags."""
    return cell.metadata.get("tags", [])


def parameters(source: str, paper: bool) -> str:
    """Return the cell of parameters of a page that was taken away."""
    where = re.search(r'^data = ["\'](?:.*/)?(.*)["\']$', source, re.MULTILINE)
    line = "data = None  # the default data; or the path of a table of yours"
    if where and not paper:
        line = f'data = "{where[1]}"  # the book\'s table: data/{where[1]} in its folder'
    return re.sub(r"^data = .*$", lambda _: line, source, flags=re.MULTILINE)


def plain_markdown(text: str, texts: Mapping[str, str], works: Mapping[str, str]) -> str:
    """Return Markdown that any notebook viewer shows, instead of MyST's."""
    text = LABEL.sub("", text)
    while (plain := FENCE.sub(directive, text)) != text:
        text = plain
    text = ROLE.sub(partial(role, texts=texts, works=works), text)
    return PAGE.sub(r"\1", text)


def directive(found: re.Match) -> str:
    """Return a directive as a headed passage; a solution is folded."""
    kind, text = found["kind"], found["text"].strip("\n")
    if kind == "solution":
        return f"<details><summary>Solution</summary>\n\n{text}\n\n</details>"
    title = found["title"] or kind.capitalize()
    return f"**{title}**\n\n{text}"


def role(found: re.Match, texts: Mapping[str, str], works: Mapping[str, str]) -> str:
    """Return what a role stands for: a text of the page, a cited work, a word."""
    name, text = found["role"], found["text"]
    if name == "glue:text":
        return texts[text]
    if name.startswith("cite"):
        return f"({'; '.join(works[key.strip()] for key in text.split(','))})"
    return f"*{re.sub(r' *<[^>]*>$', '', text)}*"


def citations(bib: str) -> dict[str, str]:
    """Return key -> `Zhou et al., 2026` of a bibliography in BibTeX."""
    from pybtex.database import parse_string

    found = {}
    for key, entry in parse_string(bib, "bibtex").entries.items():
        people = [" ".join(map(str, p.rich_last_names)) for p in entry.persons["author"]]
        who = f"{people[0]} et al." if len(people) > 2 else " and ".join(people)
        found[key] = f"{who}, {entry.fields['year']}"
    return found
