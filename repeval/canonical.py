"""The canonical table: what `Outcomes.to_csv` writes and `load` reads back identically."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from repeval.outcomes import Outcomes

__all__ = ["KEYS", "write_csv"]

KEYS = ["model", "condition", "problem", "run"]


def write_csv(data: Outcomes, path: str | Path) -> None:
    """Write outcomes with their labels; rows without an outcome get a status.

    Parameters
    ----------
    data : Outcomes
    path : path
        With ``.gz`` at its end the file is compressed, always to the same bytes.
    """
    table = data.frame.copy()
    table["outcome"] = table["outcome"].astype(int if data.binary else float).astype(object)
    if len(data.errored):
        rows = data.errored.assign(outcome="", status="error")
        table = pd.concat([table.assign(status=""), rows]).sort_values(KEYS, kind="stable")
    table = table.join(data.labels, on="problem")
    # A lone carriage return is only safe in quotes, which the csv module does not add.
    quoted = any(table[c].astype(str).str.contains("\r", regex=False).any() for c in table)
    text = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    table.to_csv(text, index=False, lineterminator="\n", quoting=quoting)
    content = text.getvalue().encode()
    path = Path(path)
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
