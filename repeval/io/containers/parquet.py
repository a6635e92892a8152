"""Parquet to raw columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from repeval.io.containers.room import CELL, ROW, Room
from repeval.io.containers.words import Columns, array
from repeval.messages import refused

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["parquet_columns", "verify"]

#: Rows that are decoded at once to verify them.
BATCH = 2**13


def parquet_columns(data: bytes, name: str, room: Room) -> tuple[Columns, int]:
    """Return the columns of a file, and its number of rows; checksums of pages are verified.

    Texts that repeat are kept once, as they are in the file.

    Raises
    ------
    RepevalError
        "member-too-large", "duplicate-column".
    pyarrow.ArrowException, OSError, ValueError
        For a damaged file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = _opened(pq.ParquetFile(source := pa.BufferReader(data)), source)
    about = file.metadata
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    chunks = [group.column(i) for group in groups for i in range(about.num_columns)]
    cells = sum(chunk.num_values for chunk in chunks)
    packed = sum(group.total_byte_size for group in groups)
    room.take(name, ROW * about.num_rows + CELL * cells + 2 * packed)
    table = file.read()
    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(c for c in names if names.count(c) > 1)
        raise refused("duplicate-column", f"{name}: two columns are called {twice!r}.")
    for column in table.columns:
        if not pa.types.is_dictionary(column.type):
            room.take(name, sum(map(_texts, column.chunks)))
    columns = [
        _decoded(column) if pa.types.is_dictionary(column.type) else array(column.to_pylist())
        for column in table.columns
    ]
    return dict(zip(names, columns, strict=True)), table.num_rows


def verify(path: Path, room: Room) -> None:
    """Decode a file, a few rows after the others, for the checksums of its pages.

    Raises
    ------
    RepevalError
        "member-too-large" where a few rows hold too much text.
    pyarrow.ArrowException, OSError, ValueError
        For a damaged file.
    """
    import pyarrow.parquet as pq

    for batch in _opened(pq.ParquetFile(path), path).iter_batches(BATCH, use_threads=False):
        room.hold(path.name, 2 * sum(map(_texts, batch.columns)))


def _opened(file: pq.ParquetFile, source: Any) -> pq.ParquetFile:
    """Open again, now that it is known which columns hold texts."""
    import pyarrow.parquet as pq

    schema = file.schema
    leaves = [schema.column(i) for i in range(len(schema))]
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    return pq.ParquetFile(source, read_dictionary=texts, page_checksum_verification=True)


def _texts(values: pa.Array) -> int:
    """Return the bytes of texts inside lists and structures, where each becomes its own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_dictionary(kind):
        return pc.sum(pc.binary_length(values.dictionary).take(values.indices)).as_py() or 0
    if pa.types.is_struct(kind):
        return sum(map(_texts, values.flatten()))
    if pa.types.is_map(kind):
        return _texts(values.keys) + _texts(values.items)
    return _texts(values.values) if pa.types.is_list(kind) else 0


def _decoded(column: pa.ChunkedArray) -> np.ndarray:
    """Return the values of a column of codes: equal ones are one object."""
    found = [np.empty(0, dtype=object)]
    for chunk in column.chunks:
        values = array([*chunk.dictionary.to_pylist(), None])
        codes = chunk.indices.fill_null(len(values) - 1)
        found.append(values[codes.to_numpy(zero_copy_only=False)])
    return np.concatenate(found)
