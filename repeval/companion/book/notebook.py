"""What a notebook of the book needs: the data, its analysis, and ways to show results.

Everything that reaches a page from here is text or escaped HTML: names in data never act.
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from repeval.companion.book.data import is_paper, load_data
from repeval.companion.book.html import csv, figure_html, images, missing, table_html


@dataclass(frozen=True)
class Book:
    """The data of a book, the answer that every page reads its numbers from, and ways to show it.

    `name`, `size` (``quick`` or ``full``, of studies) and `seed` are the notebook's parameters,
    `folder` is where the data lie.
    """

    outcomes: object
    analysis: object
    name: str
    size: str
    seed: int
    folder: Path

    def text(self, name: str, value) -> None:
        """Keep a text for the same page's prose: ``{glue:text}`name` `` shows it as it is."""
        from myst_nb import glue

        glue(name, str(value), display=False)

    def number(self, name: str, value: float | None, spec: str = "") -> None:
        """Keep a number, formatted by `spec`, for the same page's prose; None is "undefined"."""
        self.text(name, "undefined" if missing(value) else format(value, spec))

    def show(self, plot, name: str) -> None:
        """Show a `companion.plots.Plot` with caption, alternative text and files to take away.

        The files are called `name`, unique in the book.
        """
        from IPython.display import display

        name = self.file_name(name) if plot.of_data else name
        svg, png = images(plot.figure)
        links = " ".join(
            f'<a href="../figures/{escape(name)}.{kind}" download>{kind.upper()}</a>'
            for kind in ("svg", "png", "csv")
        )
        bundle = {
            "text/html": figure_html(plot, svg, name, self.outcomes.source, links),
            "text/plain": plot.alt,
            "image/svg+xml": svg.decode(),
            "image/png": base64.b64encode(png).decode(),
        }
        files = {"figure": name, "csv": csv(plot.data)}
        display(bundle, raw=True, metadata={"repeval": files})

    def table(self, frame, caption: str | None = None, notes=()) -> None:
        """Show a data frame: column heads, no index, three decimals, every text escaped.

        The caption, unique in the book, stands above the table and is read out as its name; it
        also names the CSV file to take away. `notes` stand below.
        """
        from IPython.display import display

        if caption is None:
            return display({"text/html": table_html(frame, notes=notes)}, raw=True)
        name = re.sub(r"\W+", "-", caption.lower()).strip("-")
        if len(name) > 60:
            name = f"{name[:50]}-{hashlib.sha256(caption.encode()).hexdigest()[:8]}"
        name = self.file_name(name)
        link = f'<a href="../tables/{escape(name)}.csv" download>CSV</a>'
        bundle = {"text/html": table_html(frame, caption, notes, link), "text/plain": caption}
        display(bundle, raw=True, metadata={"repeval": {"table": name, "csv": csv(frame)}})

    def file_name(self, name: str) -> str:
        """Return the name of a file to take away: stand-in data are named in it."""
        return name + (".stand-in" if self.outcomes.source.basis == "stand-in" else "")

    def study(self, name: str):
        """Return the table of a study: the build's, else computed here.

        In a build the page's front matter declares it: ``studies: [NAME]``.
        """
        from repeval.companion import studies

        built = self.folder / "studies"
        if (built / f"{name}.json").exists():
            return studies.store.read(built / f"{name}.json")
        if built.exists():
            raise ValueError(f"the page's front matter does not declare it: studies: [{name}]")
        return studies.result(name, self.outcomes, size=self.size, seed=self.seed)

    def claims(self, section: str) -> None:
        """Show what a text says beside what the data give; nothing on other data."""
        if is_paper(self.outcomes):
            from repeval.companion.ledger import legend, place, table, verdicts

            found = verdicts(self.analysis, self.outcomes, section, study=self.study)
            entry = found[0].claim
            text = "the post" if entry.doc == "bootstrap-post" else "the paper"
            self.table(table(found), f"{place(entry)}: {text} says, we get", legend(found))


def open(data: str, name: str, size: str, seed: int) -> Book:
    """Open a book's data, a table's path from the working directory, and analyse them.

    The arguments are the parameters of every notebook; `size` is ``quick`` or ``full``.
    """
    from repeval.report.analysis import analyze

    if size not in ("quick", "full"):
        raise ValueError(f"size is 'quick' or 'full', not {size!r}")
    outcomes, options = load_data(Path(data), name)
    answer = analyze(outcomes, seed=seed, **options)
    return Book(outcomes, answer, name, size, seed, Path(data).parent)
