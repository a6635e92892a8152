"""Which tables are too large to hold."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from repeval.io.containers import footer
from repeval.io.files import kind_of
from repeval.io.formats import FORMATS
from repeval.messages import refused

__all__ = ["is_hopeless", "is_large"]

#: Larger tables are reduced by an engine: bytes of text, all parts together, and rows.
MANY_BYTES, MANY_ROWS = 64 * 2**20, 2 * 10**6
#: What is held all the same where no engine can read it.
MOST_BYTES, MOST_ROWS = 2**30, 3 * 10**7

Files = Sequence[tuple[Path, str | None]]


def is_large(files: Files, format: str | None) -> bool:
    """Tell whether tables should be reduced by an engine: large, and of kinds that it reads."""
    size, n_rows = _extent(files, format)
    if size <= MANY_BYTES and n_rows <= MANY_ROWS:
        return False
    try:
        import duckdb  # noqa: F401
    except ImportError:
        if is_hopeless(files, format):
            what = f"{files[0][0].name}: so large a table is read by DuckDB, which is not installed"
            raise refused("needs-fast", f"{what}.") from None
        return False
    return True


def is_hopeless(files: Files, format: str | None) -> bool:
    """Tell whether tables are too large to be held in any case."""
    size, n_rows = _extent(files, format)
    return size > MOST_BYTES or n_rows > MOST_ROWS


def _extent(files: Files, format: str | None) -> tuple[int, int]:
    """Return bytes of text, and rows of others; none where a file is of a kind that is held."""
    size = n_rows = 0
    for path, _ in files:
        kind = FORMATS[format] if format else kind_of(path)
        packed = path.name.lower().endswith(".gz")
        if kind in ("csv", "jsonl"):
            size += path.stat().st_size * (8 if packed else 1)
        elif kind == "parquet" and not packed and find_spec("pyarrow"):
            try:
                n_rows += footer.head(path)[1]
            except (OSError, ValueError):
                return 0, 0
        else:
            return 0, 0
    return size, n_rows
