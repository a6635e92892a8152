"""Small Parquet files that hold much, or say that they do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import raw
from .raw import FIXED, I64, RLE_DICTIONARY, Long, data, dictionary, run, save

#: Rows of one value each take a few bytes; so many are held in the room for any file.
MANY, FEWER = 320_000, 100_000
#: The most that a number of 32 bits says.
HUGE = 2**31 - 1
ONE = (1).to_bytes(8, "little")


def written(folder: Path, name: str, n: int, columns: dict[str, Any], **options: Any) -> Path:
    """Write columns beside n rows of one problem."""
    rows = {"problem": pa.array(["p"] * n), "outcome": pa.array([1] * n, pa.int8())}
    path = folder / f"{name}.parquet"
    pq.write_table(pa.table({**rows, **columns}), path, **{"compression": "zstd", **options})
    return path


def encoded(folder: Path, name: str, columns: dict[str, Any], how: str) -> Path:
    n = len(next(iter(columns.values())))
    encoding = dict.fromkeys(columns, how)
    return written(folder, name, n, columns, use_dictionary=False, column_encoding=encoding)


def list_of_zeros(folder: Path) -> Path:
    """A list of fifty million zeros."""
    n = 5 * 10**7
    zeros = pa.ListArray.from_arrays([0, n, n], pa.repeat(pa.scalar(0, pa.int8()), n))
    return written(folder, "list_of_zeros", 2, {"x": zeros})


def structures(folder: Path) -> Path:
    """Structures in structures."""
    values = pa.array([1] * MANY, pa.int8())
    for _ in range(40):
        values = pa.StructArray.from_arrays([values], ["a"])
    return written(folder, "structures", MANY, {"x": values})


def lists_in_lists(folder: Path) -> Path:
    values = pa.array([1] * MANY, pa.int8())
    for _ in range(20):
        values = pa.ListArray.from_arrays(pa.array(range(MANY + 1), pa.int32()), values)
    return written(folder, "lists_in_lists", MANY, {"x": values})


def maps(folder: Path) -> Path:
    keys, items = pa.repeat("k", MANY), pa.repeat(pa.scalar(1, pa.int64()), MANY)
    values = pa.MapArray.from_arrays(pa.array(range(MANY + 1), pa.int32()), keys, items)
    return written(folder, "maps", MANY, {"x": values})


def times(folder: Path) -> Path:
    """Times to the nanosecond, and decimal numbers."""
    when = pa.repeat(pa.scalar(1, pa.timestamp("ns", "UTC")), FEWER)
    price = pa.repeat(pa.scalar(1, pa.int32()), FEWER).cast(pa.decimal128(38, 2))
    columns = {f"x{i}": (when, price)[i % 2] for i in range(16)}
    return written(folder, "times", FEWER, columns)


def days(folder: Path) -> Path:
    day = pa.repeat(pa.scalar(20_000, pa.date32()), FEWER)
    return written(folder, "days", FEWER, {f"x{i}": day for i in range(16)})


def numbers(folder: Path) -> Path:
    """Numbers that all differ, as differences."""
    columns = {f"x{i}": pa.array(np.arange(FEWER) + i * 10**7) for i in range(1, 20)}
    return encoded(folder, "numbers", columns, "DELTA_BINARY_PACKED")


def fractions(folder: Path) -> Path:
    columns = {f"x{i}": pa.array(np.arange(FEWER) / 2 + i) for i in range(1, 20)}
    return encoded(folder, "fractions", columns, "BYTE_STREAM_SPLIT")


def beginnings(folder: Path) -> Path:
    """Texts that share the sixty thousand letters that they begin with."""
    texts = pa.array(["x" * 60_000 + f"{i:05}" for i in range(20_000)], pa.large_string())
    return encoded(folder, "beginnings", {"x": texts}, "DELTA_BYTE_ARRAY")


def letters(folder: Path) -> Path:
    """A text of twenty million letters, and one that takes four bytes."""
    return written(folder, "letters", 2, {"x": ["x" * 2 * 10**7 + "\U0001f600", "y"]})


def zeros(folder: Path) -> Path:
    """A text of half a billion zeros."""
    return written(folder, "zeros", 1, {"x": pa.array(["0" * 5 * 10**8])})


def short_texts(folder: Path) -> Path:
    return written(folder, "short_texts", 250_000, {"x": [f"{i:x}" for i in range(250_000)]})


def groups(folder: Path) -> Path:
    """Ten thousand groups of one row."""
    return written(folder, "groups", 10_000, {}, row_group_size=1)


def small_pages(folder: Path) -> Path:
    """A page for each row."""
    options = {"use_dictionary": False, "compression": "none", "write_batch_size": 1}
    return written(folder, "small_pages", 60_000, {}, data_page_size=1, **options)


def columns(folder: Path) -> Path:
    return written(folder, "columns", 1, {f"c{i}": [1] for i in range(15_000)})


def more_columns(folder: Path) -> Path:
    return written(folder, "more_columns", 1, {f"c{i}": [1] for i in range(30_000)})


def notes(folder: Path) -> Path:
    """Nine million bytes of notes on a file, and ninety thousand notes."""
    many = {"a": "x" * 8 * 10**6, **{f"{i:x}": "" for i in range(90_000)}}
    table = pa.table({"problem": ["p"], "outcome": [1]}).replace_schema_metadata(many)
    pq.write_table(table, folder / "notes.parquet", store_schema=False)
    return folder / "notes.parquet"


def wide_value(folder: Path) -> Path:
    """A value of half a million bytes, a hundred thousand times."""
    width = 500_000
    pages = [dictionary(b"x" * width, 1), data(run(0, FEWER), FEWER, RLE_DICTIONARY)]
    return save(folder, "wide_value", raw.table(FEWER, pages, FIXED, width))


def dictionary_size(folder: Path) -> Path:
    """A dictionary that is said to have two billion values."""
    pages = [dictionary(ONE, HUGE), data(run(0, 2), 2, RLE_DICTIONARY)]
    return save(folder, "dictionary_size", raw.table(2, pages))


def page_size(folder: Path) -> Path:
    """A page of a few bytes that is said to unpack to two billion."""
    header, packed = raw.deflated(data(2 * ONE, 2))
    return save(folder, "page_size", raw.table(2, [({**header, 2: HUGE}, packed)], codec=2))


def rows(folder: Path) -> Path:
    """Two billion rows of one value."""
    pages = [dictionary(ONE, 1), data(run(0, HUGE), HUGE, RLE_DICTIONARY)]
    return save(folder, "rows", raw.table(HUGE, pages))


def long_run(folder: Path) -> Path:
    """A run of two billion in a page of two values."""
    pages = [dictionary(ONE, 1), data(run(0, HUGE), 2, RLE_DICTIONARY)]
    return save(folder, "long_run", raw.table(2, pages))


def schema_depth(folder: Path) -> Path:
    """Structures in structures that end the stack of who follows them."""
    inside = [{3: 0, 4: b"a", 5: 1}] * 90_000 + [{1: I64, 3: 0, 4: b"a"}]
    return save(folder, "schema_depth", raw.file(b"", [{4: b"s", 5: 1}, *inside], [], 0))


def schema_size(folder: Path) -> Path:
    """A million columns without names."""
    inside = [{1: I64, 3: 0, 4: b""}] * 10**6
    return save(folder, "schema_size", raw.file(b"", [{4: b"s", 5: 10**6}, *inside], [], 0))


def no_rows(folder: Path) -> Path:
    """Ninety thousand groups without rows."""
    nothing = Long(0)
    about = {1: I64, 2: [0], 3: [b"x"], 4: 0, 5: nothing, 6: nothing, 7: nothing, 9: Long(4)}
    group = {1: [{2: Long(4), 3: about}], 2: nothing, 3: nothing}
    schema = [{4: b"s", 5: 1}, {1: I64, 3: 0, 4: b"x"}]
    return save(folder, "no_rows", raw.file(b"", schema, [group] * 90_000, 0))


def no_values(folder: Path) -> Path:
    """Three hundred thousand pages without values."""
    pages = [data(b"", 0)] * 300_000 + [data(2 * ONE, 2)]
    return save(folder, "no_values", raw.table(2, pages))


CRAFTED: dict[str, Callable[[Path], Path]] = {
    make.__name__: make
    for make in (list_of_zeros, structures, lists_in_lists, maps, times, days, numbers, fractions,
                 beginnings, letters, zeros, short_texts, groups, small_pages, columns,
                 more_columns, notes, wide_value, dictionary_size, page_size, rows, long_run,
                 schema_depth, schema_size, no_rows, no_values)
}  # fmt: skip
