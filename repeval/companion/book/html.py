"""What reaches a page: pictures, tables and files, every text of the data escaped."""

import base64
import io
import warnings
from html import escape

import numpy as np

#: Longer tables scroll in a box of their own.
MOST = 40


def images(figure) -> tuple[bytes, bytes]:
    """Return SVG and PNG of a matplotlib figure, the same bytes each time."""
    import matplotlib as mpl

    from repeval.companion.plots.style import STYLE

    svg, png = io.BytesIO(), io.BytesIO()
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        # The SVG leaves text to the reader's fonts; only the PNG lacks such letters.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(svg, format="svg", bbox_inches="tight", metadata={"Date": None})
        figure.savefig(png, format="png", bbox_inches="tight", dpi=200)
    return svg.getvalue(), png.getvalue()


def figure_html(plot, svg: bytes, name: str, source, links: str = "") -> str:
    """HTML of a figure: the picture, its caption, and what it was drawn by and from."""
    caption, origin = plot.caption, ""
    drawn = f"<code>{escape(plot.source)}</code>" if plot.source else "the code above"
    if plot.of_data:
        caption += " Stand-in data." * (source.basis == "stand-in")
        origin = f" from {escape(source.name)} (SHA-256 {escape(source.sha256[:12])})"
    return (
        f'<figure class="repeval-figure" id="fig-{escape(name)}">'
        f'<img src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}" '
        f'alt="{escape(plot.alt)}">'
        f"<figcaption>{escape(caption)}"
        f'<span class="repeval-source">Drawn by {drawn}{origin}. '
        f"{links}</span>"
        "</figcaption></figure>"
    )


def missing(value) -> bool:
    """None or not a number."""
    return value is None or value != value


def table_html(frame, caption: str | None = None, notes=(), link: str = "") -> str:
    """HTML of a frame in a box that scrolls sideways on narrow screens, and of notes below it.

    Numbers have three decimals, fewer where all of a column need no more.
    """
    kinds = [
        ' class="number"' if k.kind in "iuf" else ' class="text-nowrap small"' * (name == "id")
        for name, k in frame.dtypes.items()
    ]

    digits = [_decimals(values) for _, values in frame.items()]

    def cell(value, kind: str, digits: int) -> str:
        if missing(value):
            return "<td>–</td>"
        if isinstance(value, bool | np.bool_):
            value = "yes" if value else "no"
        shown = f"{value:.{digits}f}" if isinstance(value, float) else str(value)
        return f"<td{kind}>{escape('no limit' if shown == 'inf' else shown)}</td>"

    head = "".join(f'<th scope="col">{escape(str(column))}</th>' for column in frame.columns)
    rows = "".join(
        "<tr>" + "".join(map(cell, row, kinds, digits)) + "</tr>"
        for row in frame.itertuples(index=False, name=None)
    )
    label = escape(caption or "Table")
    title = f"<caption>{label}</caption>" if caption else ""
    long = " repeval-long" * (len(frame) > MOST)
    return (
        f'<div class="repeval-scroll{long}" role="region" aria-label="{label}" tabindex="0">'
        f'<table class="table">{title}<thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        + "".join(f"<p>{escape(n)}</p>" for n in notes)
        + f'<p class="repeval-source">{link}</p>' * bool(link)
    )


def _decimals(values) -> int:
    """Return how many decimals the numbers of a column need, three at most."""
    numbers = [v for v in values if isinstance(v, float) and np.isfinite(v)]
    exact = (d for d in range(3) if np.allclose(numbers, np.round(numbers, d), rtol=0, atol=1e-9))
    return next(exact, 3)
