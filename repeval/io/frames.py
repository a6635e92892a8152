"""Frames of any kind that narwhals knows, and mappings of columns, to the raw table of a file."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from repeval.io.files import Table
from repeval.io.parse import label_text
from repeval.messages import refused

__all__ = ["may_be_frame", "native_of", "plain_values", "quiet", "table_of"]

#: What a frame is called where a file has its name.
NAME = "frame"

#: Short floats, by the name of their type, which are read as the digits that they are shown with:
#: 0.7 in 32 bits is 0.699999988 in 64, and would fail a threshold of 0.7.
SHORT = {"Float16": np.float16, "Float32": np.float32}


def table_of(data: object) -> Table | None:
    """Return a frame as a raw table with rows counted from 1; None for what is no frame.

    A frame is what narwhals knows, or a mapping of names to columns. Lazy ones are computed.
    Named levels of a pandas index are columns. Nothing of an engine's types is left: a value is
    None (for every kind of null), a bool, int, float or str, or has its text.
    """
    if data is None or isinstance(data, str | bytes | os.PathLike):
        return None
    found = data if isinstance(data, Mapping) else _computed(data)
    if found is None:
        return None
    columns: dict[str, np.ndarray] = {}
    for name, values in found.items():
        column = str(name).strip()
        if column in columns:
            raise refused("duplicate-column", f"{NAME}: two columns are called {column!r}.")
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            what = f"{NAME}: column {column} is no list of values, but {type(values).__name__}"
            raise refused("unreadable-frame", f"{what}.")
        plain = [_plain(value) for value in values]
        columns[column] = np.fromiter(plain, dtype=object, count=len(plain))
    sizes = {len(values) for values in columns.values()}
    if len(sizes) > 1:
        what = f"columns have from {min(sizes)} to {max(sizes)} values"
        raise refused("unreadable-frame", f"{NAME}: {what}.")
    if not sizes or sizes == {0}:
        raise refused("empty-file", f"The {NAME} has no rows.")
    rows = np.arange(1, sizes.pop() + 1)
    return Table(NAME, None, columns, rows, _sha256(columns), frame=True)


def may_be_frame(data: object) -> bool:
    """Tell whether something could be a frame that an engine has, not yet which."""
    return not isinstance(data, str | bytes | os.PathLike | Mapping | Sequence | type(None))


def _computed(data: Any) -> dict[Any, Sequence[Any]] | None:
    """Return the columns of what narwhals knows."""
    import narwhals.stable.v2 as nw

    try:
        with quiet():
            frame = nw.from_native(native_of(data), pass_through=True)
            if isinstance(frame, nw.LazyFrame):
                frame = frame.collect()
        if not isinstance(frame, nw.DataFrame):
            return None
        return {column.name: _values(column) for column in frame.iter_columns()}
    except nw.exceptions.DuplicateError as error:
        what = " ".join(str(error).split()).rstrip(".")
        raise refused("duplicate-column", f"{NAME}: {what}.") from None
    except ImportError as error:
        raise refused("needs-pyarrow", f"{NAME}: {error}.") from None
    # An engine may fail with anything: a lazy frame only now does what was asked of it.
    except Exception as error:
        why = " ".join(str(error).partition("\n")[0].split()).rstrip(".")
        raise refused("unreadable-frame", f"{NAME}: {type(error).__name__} ({why}).") from error


def native_of(data: Any) -> Any:
    """Return an engine's own frame, where named levels of a pandas index are columns."""
    import narwhals

    data = narwhals.to_native(data, pass_through=True)  # its two interfaces do not mix everywhere
    if not isinstance(data, pd.DataFrame):
        return data
    levels = [n for n in data.index.names if n is not None and n not in data.columns]
    return data.reset_index(levels) if levels else data


@contextmanager
def quiet() -> Iterator[None]:
    """Keep still about narwhals' plans for Dask, which no caller can do anything about."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Dask support is moving", FutureWarning)
        yield


def plain_values(column: Any) -> list[Any]:
    """Return a narwhals column's values as Python has them."""
    return list(map(_plain, _values(column)))


def _values(column: Any) -> list[Any]:
    """Return a column's values; those of a short float as the digits that it is shown with."""
    short = SHORT.get(str(column.dtype))
    values = column.to_list()
    return [short(v) if isinstance(v, float) else v for v in values] if short else values


def _plain(value: Any) -> Any:
    """Return a value as Python has it: None for any null, whole decimals as ints."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, np.generic):
        short = isinstance(value, np.floating) and not isinstance(value, float)
        value = float(str(value)) if short else value.item()
    if isinstance(value, Decimal):
        whole = value.is_finite() and value == value.to_integral_value()
        value = int(value) if whole else float(value)
    missing = value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)
    return None if missing else value


def _sha256(columns: Mapping[str, np.ndarray]) -> str:
    """Return the sum of a canonical CSV, which engines, order of rows and of columns leave alone.

    Columns stand in alphabetical order; values are written as `label_text` reads them (true and
    false, whole floats without a point, nothing for a null); below the header, rows are sorted.
    """
    names = sorted(columns)
    rows = sorted(zip(*(map(label_text, columns[name]) for name in names), strict=True))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([names, *rows])
    return hashlib.sha256(text.getvalue().encode("utf-8", "surrogatepass")).hexdigest()
