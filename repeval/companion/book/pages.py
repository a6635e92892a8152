"""Run the pages in this process, for the claims that they compute."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repeval.companion.book.data import is_paper
from repeval.companion.book.stage import held, keep_passages
from repeval.io.registry import share_dir
from repeval.messages import refused

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

#: What the file of all claims, and a run of all pages, hold by id: value, error, printed, page.
Claimed = Mapping[str, tuple[Any, float | None, Any, str]]


def run_pages(book: Any, pages: Mapping[str, str] | None = None) -> Claimed:
    """Run the cells of the pages that compute claims, and return these.

    `book` is a `notebook.Book`, `pages` sources by name (default: those of the package). Nothing
    is shown.
    """
    import matplotlib as mpl

    if pages is None:
        found = sorted((share_dir() / "notebooks").glob("*.md"))
        pages = {path.stem: path.read_text(encoding="utf-8") for path in found}
    study = book.tables or functools.partial(_study, book=book)
    quiet = replace(book, quiet=True, tables=functools.cache(study))
    claimed: dict[str, tuple] = {}
    with mpl.rc_context({"backend": "Agg"}):
        for page, source in pages.items():
            if "book.claim(" not in source:
                continue
            for key, found in run_page(page, source, quiet).items():
                if key in claimed:
                    raise ValueError(f"{key} is computed on {claimed[key][-1]} and on {page}")
                claimed[key] = (*found, page)
    return claimed


def _study(name: str, book: Any) -> Any:
    return replace(book, tables=None).study(name)


def run_page(page: str, source: str, book: Any) -> dict[str, tuple]:
    """Run the cells of one page with an open book, and return the claims that it computed."""
    try:
        import jupytext
        from matplotlib import pyplot
    except ImportError as error:
        what = f"pages are run with {error.name}, which is missing"
        raise refused("book-extra", f"{what}.") from error
    space: dict[str, Any] = {"__name__": "__main__"}
    text = fitted(source, page, book.outcomes)
    for number, cell in enumerate(jupytext.reads(text, fmt="md:myst").cells):
        if cell.cell_type != "code":
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell.source, f"{page}, cell {number}", "exec"), space)
        if "parameters" in cell.metadata.get("tags", []):
            space |= {"data": book, "name": book.name, "size": book.size, "seed": book.seed}
    pyplot.close("all")
    return space["book"].claimed


def fitted(source: str, page: str, outcomes: Outcomes) -> str:
    """Return a page without the passages that are not for these data; other pages are all there."""
    paper = is_paper(outcomes)
    known = {"paper": paper, "other": not paper, **held(outcomes)}
    return keep_passages(source, page, lambda condition: known.get(condition, True))


def write_claims(claimed: Claimed, path: Path) -> None:
    """Keep the claims of all pages for the pages that judge them."""
    path.write_text(json.dumps(claimed), encoding="utf-8")


def read_claims(path: Path) -> Claimed:
    """Read back what `write_claims` wrote."""
    return {key: tuple(found) for key, found in json.loads(path.read_text("utf-8")).items()}
