"""What a notebook of the book needs: the data, its analysis, and ways to show results.

Everything that reaches a page from here is text or escaped HTML: names in data never act.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

from repeval.companion.book.data import is_paper, load_data
from repeval.companion.book.html import figure_html, images, missing, table_html
from repeval.report.tables import csv


@dataclass(frozen=True)
class Book:
    """The data of a book, the answer that every page reads its numbers from, and ways to show it.

    `name`, `size` (``quick`` or ``full``, of studies) and `seed` are the notebook's parameters,
    `folder` is where the data lie. `claimed` fills up with what the page computes of the texts'
    claims. With `quiet` nothing is shown: pages are then run for their claims alone, and `tables`
    has the studies.
    """

    outcomes: Any
    analysis: Any
    name: str
    size: str
    seed: int
    folder: Path
    claimed: dict[str, tuple[Any, float | None, Any, str]] = field(default_factory=dict)
    quiet: bool = False
    tables: Callable[[str], Any] | None = None

    def text(self, name: str, value) -> None:
        """Keep a text for the same page's prose: ``{glue:text}`name` `` shows it as it is."""
        from myst_nb import glue

        if not self.quiet:
            glue(name, str(value), display=False)

    def number(self, name: str, value: float | None, spec: str = "") -> None:
        """Keep a number, formatted by `spec`, for the same page's prose; None is "undefined"."""
        self.text(name, "undefined" if missing(value) else format(value, spec))

    def show(self, plot, name: str) -> None:
        """Show a `companion.plots.Plot` with caption, alternative text and files to take away.

        The files are called `name`, unique in the book.
        """
        from IPython.display import display

        if self.quiet:
            return
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

    def figure(
        self, figure: Any, name: str, *, caption: str, alt: str, data: Any, of_data: bool = True
    ) -> None:
        """Show a figure that the page drew from the frame `data`, as `show` does."""
        from matplotlib import pyplot

        from repeval.companion.plots.style import Plot

        self.show(Plot(figure, caption, alt, data, of_data=of_data), name)
        pyplot.close(figure)

    def table(self, frame, caption: str | None = None, notes=()) -> None:
        """Show a data frame: column heads, no index, three decimals, every text escaped.

        The caption, unique in the book, stands above the table and is read out as its name; it
        also names the CSV file to take away. `notes` stand below.
        """
        from IPython.display import display

        if self.quiet:
            return None
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

    def clusters(self, problems: Sequence[str]) -> Any:
        """Return the clusters of problems, None where the answer has none (``--cluster``)."""
        from repeval.report.compute import Answers

        return Answers(self.outcomes, self.analysis.settings).clusters(problems)

    def study(self, name: str):
        """Return the table of a study: the build's, else computed here.

        In a build the page's front matter declares it: ``studies: [NAME]``.
        """
        from repeval.companion import studies

        if self.tables:
            return self.tables(name)
        built = self.folder / "studies"
        if (built / f"{name}.json").exists():
            return studies.store.read(built / f"{name}.json")
        if built.exists():
            raise ValueError(f"the page's front matter does not declare it: studies: [{name}]")
        return studies.result(name, self.outcomes, size=self.size, seed=self.seed)

    def claim(
        self,
        key: str | Sequence[str],
        value: Any,
        se: float | None = None,
        *,
        printed: Any = None,
        why: str = "",
    ) -> None:
        """Hand a recomputed claim to the ledger, which holds entry, tolerance and verdict.

        Parameters
        ----------
        key : str or sequence of str
            The claim's id in ``data/claims.yaml``, or those of all claims that say the same.
        value : number, list of numbers, text, bool or None
            On the scale of the claim's unit; a bool says whether a formula holds; None, that these
            data cannot tell.
        se : float, optional
            Our own Monte Carlo standard error.
        printed : optional
            The value from figures that the text prints. A formula is held against these as long
            as the outcomes were fitted to the text's results.
        why : str, optional
            Why these data cannot tell.
        """
        for each in [key] if isinstance(key, str) else key:
            if each in self.claimed:
                raise ValueError(f"the page has computed the claim {each} before")
            self.claimed[each] = tuple(map(plain, (value, se, printed, why)))

    def says(self, key: str) -> Any:
        """Return what a text says: the value of a claim in ``data/claims.yaml``."""
        from repeval.companion.ledger.entries import paper

        return paper()[key].value

    def printed(self) -> Any:
        """Return components by model from the counts that the paper's first version prints.

        No outcome enters; see `repeval.companion.ledger.entries.printed`.
        """
        from repeval.companion.ledger.entries import printed

        return printed(self.analysis.condition, self.analysis.shape["n_runs"])

    def claims(self, *sections: str) -> None:
        """Show, folded, the claims that this page computed: what a text says, and what came out.

        With the entries of `sections` ("5.2", "Appendix D") that no page computes. On data other
        than the texts' nothing is shown.
        """
        from IPython.display import display

        from repeval.companion.ledger import judge, legend, page_html

        if self.quiet or not is_paper(self.outcomes):
            return
        found = judge(self.claimed, self.outcomes, sections)
        bundle = {
            "text/html": page_html(found, legend(found)),
            "text/plain": "The text says, we get",
        }
        display(bundle, raw=True, metadata={"repeval": {"claims": self.claimed}})

    def verdicts(self) -> list:
        """Return the verdicts on all claims, as all pages together compute them."""
        from repeval.companion.book.pages import read_claims, run_pages
        from repeval.companion.ledger import judge

        kept = self.folder / "claims.json"
        return judge(read_claims(kept) if kept.exists() else run_pages(self), self.outcomes)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: numbers and lists of Python, not of numpy."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value


def open(data: str | Book | None, name: str, size: str, seed: int) -> Book:
    """Open a book's data and analyse them.

    The arguments are the parameters of every notebook: `data` is a table's path from the working
    directory, None for the default data, or a book that is open; `size` is ``quick`` or ``full``.
    """
    from repeval import load
    from repeval.report.analysis import analyze

    if isinstance(data, Book):
        return replace(data, claimed={})
    if (data, name, size, seed) in _OPEN:
        return replace(_OPEN[data, name, size, seed], claimed={})
    if size not in ("quick", "full"):
        raise ValueError(f"size is 'quick' or 'full', not {size!r}")
    outcomes, options = (load(), {}) if data is None else load_data(Path(data), name)
    answer = analyze(outcomes, seed=seed, **options)
    return Book(outcomes, answer, name, size, seed, Path(data or ".").parent)


#: Books that the process which forks the pages has open.
_OPEN: dict[tuple, Book] = {}


def keep_open(data: str, name: str, size: str, seed: int) -> None:
    """Open a book for all pages whose processes are forked from this one."""
    _OPEN[data, name, size, seed] = open(data, name, size, seed)
