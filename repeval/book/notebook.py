"""What a notebook of the book needs: the data, its analysis, and ways to show results.

Everything that reaches a page from here is text or escaped HTML: names in data never act.
"""

import base64
import io
import warnings
from dataclasses import dataclass
from html import escape
from pathlib import Path

from repeval.book.stage import is_paper, load_data

__all__ = ["Book", "open"]


@dataclass(frozen=True)
class Book:
    """The data of a book and the means to show results on its pages.

    Attributes
    ----------
    outcomes : repeval.Outcomes
        The data.
    analysis : repeval.analysis.Analysis
        The answer that every page reads its numbers from.
    name : str
        Name of the book.
    size : str
        ``quick`` or ``full``: the size of studies.
    seed : int
        Seed of every resampling.
    """

    outcomes: object
    analysis: object
    name: str
    size: str
    seed: int

    @property
    def stand_in(self) -> bool:
        """Whether the data stand in for the paper's."""
        return self.outcomes.source.basis == "stand-in"

    @property
    def paper(self) -> bool:
        """Whether the data are the paper's, released or rebuilt."""
        return is_paper(self.outcomes)

    @property
    def level(self) -> float:
        """Confidence level of the analysis."""
        return self.analysis.settings.level

    def text(self, name: str, value) -> None:
        """Keep a text for the same page's prose: ``{glue:text}`name` `` shows it as it is."""
        from myst_nb import glue

        glue(name, str(value), display=False)

    def number(self, name: str, value: float | None, spec: str = "") -> None:
        """Keep a number, formatted by `spec`, for the same page's prose; None is "undefined"."""
        self.text(name, "undefined" if missing(value) else format(value, spec))

    def show(self, plot, name: str) -> None:
        """Show a figure with its caption, alternative text, data and files to take away.

        Parameters
        ----------
        plot : repeval.figures.Plot
            Figure, caption, alt and data.
        name : str
            Base name of its files, unique in the book; stand-in data are named in it.
        """
        from IPython.display import display

        name += ".stand-in" if self.stand_in else ""
        svg, png = images(plot.figure)
        links = " ".join(
            f'<a href="../figures/{escape(name)}.{kind}" download>{kind.upper()}</a>'
            for kind in ("svg", "png", "csv")
        )
        html = figure_html(plot, svg, name, self.outcomes.source, links)
        bundle = {
            "text/html": html,
            "text/plain": plot.alt,
            "image/svg+xml": svg.decode(),
            "image/png": base64.b64encode(png).decode(),
        }
        files = {"figure": name, "csv": plot.data.to_csv(index=False)}
        display(bundle, raw=True, metadata={"repeval": files})

    def table(self, frame, caption: str | None = None) -> None:
        """Show a table: column heads, no index, three decimals, every text escaped.

        Parameters
        ----------
        frame : pandas.DataFrame
            Columns are shown under their names; format numbers that want other digits.
        caption : str, optional
            Shown above the table and read out as its name.
        """
        from IPython.display import HTML, display

        display(HTML(table_html(frame, caption)))

    def claims(self, section: str) -> None:
        """Show what the paper says beside what the data give; nothing on other data."""
        if not self.paper:
            return
        from repeval.claims import table

        frame = table(self.analysis, self.outcomes, section)
        self.table(frame, f"Section {section}: the paper says, we get")


def open(data: str, name: str, size: str, seed: int) -> Book:
    """Open a book's data and analyse them.

    Parameters
    ----------
    data : str
        Path of a table, relative to the working directory.
    name : str
        Name of the book.
    size : str
        ``quick`` or ``full``.
    seed : int
        Seed of every resampling.
    """
    from repeval.analysis import analyze

    if size not in ("quick", "full"):
        raise ValueError(f"size is 'quick' or 'full', not {size!r}")
    outcomes, options = load_data(Path(data), name)
    return Book(outcomes, analyze(outcomes, seed=seed, **options), name, size, seed)


def images(figure) -> tuple[bytes, bytes]:
    """Return SVG and PNG of a matplotlib figure, the same bytes each time."""
    import matplotlib as mpl

    from repeval.figures.style import STYLE

    svg, png = io.BytesIO(), io.BytesIO()
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # The SVG leaves text to the reader's fonts; only the PNG lacks such letters.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(svg, format="svg", bbox_inches="tight", metadata={"Date": None})
        figure.savefig(png, format="png", bbox_inches="tight", dpi=200)
    return svg.getvalue(), png.getvalue()


def figure_html(plot, svg: bytes, name: str, source, links: str = "") -> str:
    """HTML of a figure: the picture, its caption, and what it was drawn by and from."""
    caption = f"{plot.caption} Stand-in data." if source.basis == "stand-in" else plot.caption
    return (
        f'<figure class="repeval-figure" id="fig-{escape(name)}">'
        f'<img src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}" '
        f'alt="{escape(plot.alt)}">'
        f"<figcaption>{escape(caption)}"
        f'<span class="repeval-source">Drawn by <code>{escape(plot.source)}</code> from '
        f"{escape(source.name)} (SHA-256 {escape(source.sha256[:12])}). {links}</span>"
        "</figcaption></figure>"
    )


def missing(value) -> bool:
    """None or not a number."""
    return value is None or value != value


def table_html(frame, caption: str | None = None) -> str:
    """HTML of a frame in a box that scrolls sideways on narrow screens."""
    numeric = [kind.kind in "iuf" for kind in frame.dtypes]
    right = ' class="number"'

    def cell(value, number: bool) -> str:
        if missing(value):
            return "<td>–</td>"
        if isinstance(value, bool) or str(type(value)) == "<class 'numpy.bool'>":
            value = "yes" if value else "no"
        shown = f"{value:.3f}" if isinstance(value, float) else str(value)
        return f"<td{right if number else ''}>{escape(shown)}</td>"

    head = "".join(f'<th scope="col">{escape(str(column))}</th>' for column in frame.columns)
    rows = "".join(
        "<tr>" + "".join(map(cell, row, numeric)) + "</tr>"
        for row in frame.itertuples(index=False, name=None)
    )
    label = escape(caption or "Table")
    title = f"<caption>{label}</caption>" if caption else ""
    return (
        f'<div class="repeval-scroll" role="region" aria-label="{label}" tabindex="0">'
        f'<table class="table">{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
