"""Count, page by page, the visible lines of code that compute: `python -m tests.notebooks.visible`.

A line that only imports, prints, or calls a helper of the book to show something does not count.
"""

import ast
import sys
from pathlib import Path

import jupytext

HOME = Path(__file__).resolve().parents[2] / "notebooks"
HIDDEN = {"remove-cell", "remove-input", "hide-input", "hide-cell"}
#: Pages that report on the book itself.
EXEMPT = {"scorecard", "errata", "access", "how-fast"}
LEAST = 15


def visible_cells(page: str) -> list[str]:
    """Return the sources of the cells whose code a reader sees."""
    cells = jupytext.read(HOME / f"{page}.md").cells
    return [
        cell.source
        for cell in cells
        if cell.cell_type == "code" and not HIDDEN & set(cell.metadata.get("tags", []))
    ]


def computing(source: str) -> int:
    """Count the lines of a cell that compute."""
    lines = set()
    text = source.split("\n")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom) or shows(node):
            continue
        lines |= set(range(node.lineno, node.end_lineno + 1))
    return sum(bool(text[n - 1].partition("#")[0].strip()) for n in lines)


def shows(node: ast.stmt) -> bool:
    """Tell whether a statement only prints, or only calls a helper of the book."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return False
    return ast.unparse(node.value.func).partition(".")[0] in ("print", "book", "display")


if __name__ == "__main__":
    total = 0
    for path in sorted(HOME.glob("*.md")):
        cells = visible_cells(path.stem)
        counts = [computing(source) for source in cells]
        idle = sum(not n for n in counts)
        total += sum(counts)
        note = "exempt" if path.stem in EXEMPT else "few" * (sum(counts) < LEAST)
        print(f"{path.stem:24}{sum(counts):5}{f'  {idle} cells only show' * bool(idle)}  {note}")
    sys.exit(print(f"{'all':24}{total:5}"))
