"""Parquet to raw columns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from repeval.io.containers.footer import DIFFERENCES, FIXED, TEXT, Footer, footer, pages, piece_of
from repeval.io.containers.room import CELL, ROW, Room
from repeval.io.containers.words import Columns, array
from repeval.messages import refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    import pyarrow.parquet as pq

    from repeval.io.containers.footer import Column, Piece

__all__ = ["parquet_columns", "verify"]

#: Rows that are decoded at once to verify them; bytes, where texts might be as long as their page.
BATCH, TEXTS = 2**13, 2**25
#: Bytes that Python takes for a structure or a list, a number, and a time or a decimal number,
#: each also as a text, which it becomes beside outcomes.
BOX, NUMBER, EXACT = 200, 125, 250
#: Bytes of a letter of such a text, in the column and in the text beside; of pages that may hold
#: a text that is long.
WIDE, LONG = 8, 2**22
#: How often a page is there, besides, while it is read.
PAGE = 4
#: Columns that are read at once: each takes memory while it is read.
AT_ONCE = 500
#: Rows of a table that is not held and may be looked at to refuse it.
FEW = 20_000


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

    about = footer(piece := piece_of(data), len(data))
    names = about.names
    if len(set(names)) < len(names):
        twice = next(c for c in names if names.count(c) > 1)
        raise refused("duplicate-column", f"{name}: two columns are called {twice!r}.")
    room.take(name, _plain(about) + sum(_inside(about)))
    unpacked, largest, written = _walked(about, piece)
    room.take(name, 2 * unpacked + PAGE * max(largest))
    source = pa.BufferReader(data)
    room.take(name, _differences(about, source, max(largest), written, name, room, times=2))
    file, found = _opened(about, source, written), {}
    for i in range(0, len(names), AT_ONCE):
        some = names[i : i + AT_ONCE]
        part = file.read(columns=some if some != names else None)
        part.validate(full=True)  # numbers of texts that are not there end the process
        found.update(zip(part.column_names, part.columns, strict=True))
    _hold_statistics(about, found)
    for column in found.values():
        is_text = pa.types.is_dictionary(column.type)
        room.take(name, sum(map(_letters if is_text else _texts, column.chunks)))
    columns = [
        _decoded(column) if pa.types.is_dictionary(column.type) else array(column.to_pylist())
        for column in map(found.get, names)
    ]
    return dict(zip(names, columns, strict=True)), sum(about.n_rows)


def _hold_statistics(about: Footer, columns: dict[str, pa.ChunkedArray]) -> None:
    """Hold the values of plain columns against what the file says of them.

    How many are missing, the least and the greatest: of texts, between which they lie, since long
    ones may have been cut.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, column in enumerate(about.columns):
        if not column.plain or len(column.path) > 1:
            continue
        name = column.path[0].decode()
        values, kind = columns[name], columns[name].type
        chunks = [chunks[i] for chunks in about.chunks]
        said = [chunk.get("statistics", {}) for chunk in chunks]
        nulls = [one.get("nulls", -1) for one in said]
        right = min(nulls, default=-1) < 0 or sum(nulls) == values.null_count
        some = [s for s, c in zip(said, chunks, strict=True) if s.get("nulls") != c["num_values"]]
        least = [one["least"] for one in some if {"least", "most"} <= one.keys()]
        most = [one["most"] for one in some if {"least", "most"} <= one.keys()]
        if not least or len(least) < len(some):
            pass
        elif pa.types.is_signed_integer(kind):
            numbers = [int.from_bytes(b, "little", signed=True) for b in (*least, *most)]
            right &= [min(numbers), max(numbers)] == [*pc.min_max(values).as_py().values()]
        elif pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type):
            (one,) = pa.chunked_array([values.unify_dictionaries().combine_chunks()]).chunks
            ends = pc.min_max(one.dictionary.take(one.indices.unique())).as_py().values()
            texts = [text.encode() for text in ends if text is not None]
            right &= all(min(least) <= text <= max(most) for text in texts)
        if not right:
            raise ValueError(f"column {name} does not agree with its statistics")


def verify(path: Path, room: Room) -> None:
    """Hold a file that is not held in memory against what it says of itself, and decode it.

    Raises
    ------
    RepevalError
        "member-too-large" where a few rows, or the pages that are read together, hold too much.
    pyarrow.ArrowException, OSError, ValueError
        For a damaged file.
    """
    with path.open("rb") as file:
        about = footer(piece := piece_of(file), path.stat().st_size)
        # Values take time, also where a few bytes stand for all of them.
        room.hold(path.name, sum(c["num_values"] for some in about.chunks for c in some) // 4)
        times = sum(_cell(column) for column in about.columns if column.meant)
        room.hold(path.name, 2 * FEW * times + max(_inside(about, FEW), default=0))
        room.hold(path.name, BATCH * sum(c.width for c in about.columns if c.type == FIXED))
        _, largest, written = _walked(about, piece)
    room.hold(path.name, 2 * sum(largest) + PAGE * max(largest))
    _differences(about, path, max(largest), written, path.name, room)
    for batch in _opened(about, path, written).iter_batches(BATCH, use_threads=False):
        batch.validate(full=True)
        room.hold(path.name, 2 * sum(map(_texts, batch.columns)))
        if max(largest) > LONG:
            texts = [column for column in batch.columns if hasattr(column, "dictionary")]
            room.hold(path.name, sum(map(_letters, texts)))


def _cell(column: Column) -> int:
    """Return what a value takes in Python, also as a text beside."""
    if column.type == TEXT:
        return CELL
    return (EXACT if column.meant else NUMBER) + (column.width if column.type == FIXED else 0)


def _plain(about: Footer) -> int:
    """Return what rows, and values that lie in no structures or lists, take in Python."""
    cells = sum(_cell(column) for column in about.columns if column.plain)
    return sum(about.n_rows) * (ROW + cells)


def _inside(about: Footer, most: float = math.inf) -> Iterator[int]:
    """Yield what structures and lists take in Python, of each group `most` rows."""
    for n_rows, chunks in zip(about.n_rows, about.chunks, strict=True):
        cost, boxes = 0, {}
        for column, chunk in zip(about.columns, chunks, strict=True):
            n = chunk["num_values"]
            cost += 0 if column.plain else n * _cell(column)
            for place, plain in column.boxes:
                boxes[place] = max(boxes.get(place, 0), min(n_rows, most) if plain else n)
        yield cost + BOX * sum(boxes.values())


def _walked(about: Footer, piece: Piece) -> tuple[int, list[int], set[str]]:
    """Go over all pages.

    Returns
    -------
    Their bytes when they are unpacked, the most of one in each column, and the names of columns of
    texts that are written as differences.
    """
    total, largest, written = 0, [0] * len(about.columns), set()
    for chunks in about.chunks:
        for i, (column, chunk) in enumerate(zip(about.columns, chunks, strict=True)):
            for unpacked, encoding in pages(piece, column, chunk):
                total += unpacked
                largest[i] = max(largest[i], unpacked)
                if encoding in DIFFERENCES and column.type == TEXT:
                    written.add(".".join(map(bytes.decode, column.path)))
    return total, largest, written


def _differences(
    about: Footer, source: Any, longest: int, columns: set[str], name: str, room: Room,
    times: int = 1,
) -> int:  # fmt: skip
    """Return what texts take that are written as differences: few bytes may stand for many."""
    if not columns:
        return 0
    size = min(BATCH, TEXTS // (longest + 1) + 1)
    room.hold(name, size * longest)
    file = _opened(about, source, columns)
    total = 0
    for batch in file.iter_batches(size, columns=[*columns], use_threads=False):
        total += times * batch.nbytes
        room.hold(name, total)
    return total


def _opened(about: Footer, source: Any, written: set[str]) -> pq.ParquetFile:
    """Open a file by what is needed of its description; texts are places in dictionaries.

    Those that are written as differences cannot be read so.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = {".".join(map(bytes.decode, c.path)) for c in about.columns if c.type == TEXT}
    metadata = pq.read_metadata(pa.BufferReader(about.file))
    texts -= written
    return pq.ParquetFile(source, metadata=metadata, read_dictionary=[*texts], pre_buffer=False)


def _texts(values: pa.Array) -> int:
    """Return the bytes of texts inside lists and structures, where each becomes its own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if pa.types.is_dictionary(values.type):
        return pc.sum(pc.binary_length(values.dictionary).take(values.indices)).as_py() or 0
    if pa.types.is_struct(values.type):
        return sum(map(_texts, values.flatten()))
    # Lists of all sizes, and maps, which are lists of pairs.
    return _texts(values.values) if pa.types.is_nested(values.type) else 0


def _letters(values: pa.DictionaryArray) -> int:
    """Return what texts take beyond their bytes: one letter may make all letters wide."""
    import pyarrow.compute as pc

    texts = values.dictionary
    if texts.type not in ("string", "large_string"):
        return 0
    n_bytes, n_letters = pc.binary_length(texts), pc.utf8_length(texts)
    wide = pc.filter(n_letters, pc.not_equal(n_bytes, n_letters))
    return WIDE * (pc.sum(wide).as_py() or 0)


def _decoded(column: pa.ChunkedArray) -> np.ndarray:
    """Return the values of a column of codes: equal ones are one object."""
    found = [np.empty(0, dtype=object)]
    for chunk in column.chunks:
        values = array([*chunk.dictionary.to_pylist(), None])
        codes = chunk.indices.fill_null(len(values) - 1)
        found.append(values[codes.to_numpy(zero_copy_only=False)])
    return np.concatenate(found)
