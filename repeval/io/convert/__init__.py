"""Logs or raw responses to a tidy table, logs or tables to records of Every Eval Ever.

Nothing is decided about runs without an outcome.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from repeval.io.columns import Columns, parse_columns
from repeval.io.convert.eee import QUESTION, newest, records
from repeval.io.files import read
from repeval.io.keys import KEYS
from repeval.io.load import every_run
from repeval.io.outputs import outputs
from repeval.io.readers import find, merge
from repeval.io.tables.choices import judged
from repeval.messages import Notice, RepevalError, refused, some

__all__ = ["convert", "convert_to_records"]


def convert(
    paths: str | Path | Iterable[str | Path],
    target: str | Path,
    *,
    scorer: str | None = None,
    format: str | None = None,
    choices: bool = False,
    columns: Columns = None,
) -> tuple[bytes, list[Notice]]:
    """Return logs, or raw responses, as the bytes of a CSV or Parquet table, and what was assumed.

    Parameters
    ----------
    paths : path or several
        As in `repeval.load`; tables are refused, or, with `choices`, logs.
    target : path
        Where the table is to be written; it tells the kind, and is refused if it is an input.
    scorer, format : str, optional
        As in `repeval.load`.
    choices : bool
        Read tables of responses to multiple-choice questions; see `choices.judged`.
    columns : str, mapping or iterable, optional
        As in `repeval.load`, for `choices`.

    Raises
    ------
    RepevalError
        As `repeval.load`, but scores may lie outside 0 to 1: `outcome` is as the logs have it.
    """
    target = Path(target)
    if target.suffix not in (".csv", ".parquet"):
        raise RepevalError("bad-option", f"-o {target}: the name must end in .csv or .parquet.")
    found = find(paths, format)
    if choices and (found.reader or scorer):
        raise refused("no-choices", f"{some(found.roots)}: --choices is not for logs and scorers.")
    if not choices and columns:
        raise RepevalError("bad-option", "--columns goes with --choices: logs need none.")
    if not choices and not found.reader:
        raise refused("no-logs", f"{some(found.roots)}: these are no logs.")
    outputs({"-o": target}, [path for path, _ in found.files])
    notices: list[Notice] = []
    if choices:
        raw = [read(path, model, format) for path, model in found.files]
        notices += [notice for table in raw for notice in table.notices]
        table = judged(raw, parse_columns(columns), notices)
    else:
        tables = merge.tables(found, scorer, notices)
        table = pd.concat([pd.DataFrame(table.columns) for table in tables], ignore_index=True)
    buffer = io.BytesIO()
    if target.suffix == ".csv":
        # A score of 1.0 is a pass; quotes keep a lone carriage return inside a name safe.
        whole = table["outcome"].isin([0.0, 1.0])
        table["outcome"] = table["outcome"].mask(whole, (table["outcome"] == 1).astype(int))
        table.to_csv(buffer, index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    else:
        try:
            table.astype({"outcome": float}).to_parquet(buffer, index=False)
        except ImportError:
            raise refused("needs-pyarrow", f"{target.name}: Parquet needs pyarrow.") from None
    return buffer.getvalue(), notices


def convert_to_records(
    paths: str | Path | Iterable[str | Path],
    target: str | Path,
    *,
    scorer: str | None = None,
    format: str | None = None,
    columns: Columns = None,
) -> tuple[dict[Path, bytes], list[Notice]]:
    """Return logs or tables as files of Every Eval Ever records, and what was assumed.

    Parameters
    ----------
    paths : path or several
        As in `repeval.load`.
    target : path
        A folder, or, for one model under one condition, a file that ends in ``.json``; see
        `eee.records`.
    scorer, format, columns
        As in `repeval.load`; `columns` for tables.

    Raises
    ------
    RepevalError
        As `repeval.load`; of logs scores may lie outside 0 to 1.
    """
    target, found, notices = Path(target), find(paths, format), []
    inputs = [path for path, _ in found.files]
    outputs({"-o": target}, inputs)
    if found.reader:
        if columns:
            raise RepevalError("bad-option", "--columns is for tables: logs need none.")
        tables = merge.tables(found, scorer, notices, questions=QUESTION)
        table = pd.concat([pd.DataFrame(t.columns) for t in tables], ignore_index=True)
        texts = [c for c in table if c not in ("outcome", QUESTION)]
        table[texts] = table[texts].fillna("")
    else:
        data = every_run(paths, columns=columns, format=format, scorer=scorer)
        notices += data.notices
        table = pd.concat([data.rows().assign(status=""), data.errored.assign(status="error")])
        table = table.sort_values(KEYS, kind="stable").join(data.labels, on="problem")
    name = Path(found.roots[0]).name.split(".")[0] or "data"
    library = found.reader.NAME if found.reader else ""
    about = {"scorer": scorer or "", "library": library, "written": newest(inputs)}
    return records(table.reset_index(drop=True), target, name=name, **about), notices
