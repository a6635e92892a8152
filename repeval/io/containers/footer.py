"""What a Parquet file says of itself: held against the file before anything decodes it.

The format: https://parquet.apache.org/docs/file-format/; numbers of fields are in parquet.thrift.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from repeval.io.containers.thrift import BINARY, BOOL, I32, I64, RAW, Reader, Spec, packed

__all__ = ["DIFFERENCES", "FIXED", "TEXT", "Column", "Footer", "Piece", "footer", "head", "pages",
           "piece_of"]  # fmt: skip

MAGIC = b"PAR1"
#: How deep columns may lie in each other.
DEEPEST = 50
#: Kinds of pages, and the field of each.
DATA, INDEX, DICTIONARY, DATA_2 = range(4)
DETAILS = {DATA: "data", INDEX: "index", DICTIONARY: "dictionary", DATA_2: "data_2"}
#: Encodings: of values, of values by their places in a dictionary, of dictionaries, of levels.
VALUES, PLACED, DICTIONARIES, LEVELS = {0, 2, 3, 5, 6, 7, 8, 9}, {2, 8}, {0, 2}, {3, 4}
#: Texts as differences: of lengths, or from the one before.
DIFFERENCES = {6, 7}
#: Bytes of a value of each physical type but one: a text has at least its length.
INT96, TEXT, FIXED, WIDTH = 3, 6, 7, {0: 1 / 8, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8, 6: 4}
#: What is there any number of times; names of what only lies between a list and its values.
REPEATED, BETWEEN = 2, (b"list", b"bag")

ELEMENT: Spec = {
    1: ("type", I32), 2: ("width", I32), 3: ("repetition", I32), 4: ("name", BINARY),
    5: ("children", I32), 6: ("converted", I32), 7: ("scale", I32), 8: ("precision", I32),
    9: ("id", I32), 10: ("logical", RAW),
}  # fmt: skip
#: Without indexes of pages, Bloom filters, and statistics of sizes.
CHUNK: Spec = {
    1: ("type", I32), 2: ("encodings", RAW), 3: ("path", RAW), 4: ("codec", I32),
    5: ("num_values", I64), 6: ("unpacked", I64), 7: ("packed", I64), 9: ("data_page", I64),
    11: ("dictionary_page", I64),
    12: ("statistics", {3: ("nulls", I64), 5: ("most", BINARY), 6: ("least", BINARY)}),
}  # fmt: skip
COLUMN: Spec = {1: ("file", RAW), 2: ("offset", I64), 3: ("about", CHUNK), 8: ("secret", RAW)}
#: Neither in another file nor encrypted.
KNOWN = {"offset", "about"}
GROUP: Spec = {1: ("columns", [COLUMN]), 2: ("size", I64), 3: ("num_rows", I64)}
FILE: Spec = {
    1: ("version", I32), 2: ("schema", [ELEMENT]), 3: ("num_rows", I64), 4: ("groups", [GROUP]),
    5: ("more", RAW), 6: ("created_by", RAW), 8: ("secret", RAW),
}  # fmt: skip
PAGE: Spec = {
    1: ("type", I32), 2: ("unpacked", I32), 3: ("packed", I32), 4: ("crc", I32),
    5: ("data", {1: ("num_values", I32), 2: ("encoding", I32), 3: ("levels", I32),
                 4: ("repeated", I32)}),
    6: ("index", {}),
    7: ("dictionary", {1: ("num_values", I32), 2: ("encoding", I32)}),
    8: ("data_2", {1: ("num_values", I32), 2: ("num_nulls", I32), 3: ("num_rows", I32),
                   4: ("encoding", I32), 5: ("levels", I32), 6: ("repeated", I32),
                   7: ("is_packed", BOOL)}),
}  # fmt: skip
#: The older names of what values mean (`converted`), by the newer ones (`logical`).
MEANINGS = {1: {0}, 2: {1, 2}, 3: {3}, 4: {4}, 5: {5}, 6: {6}, 7: {7, 8}, 8: {9, 10},
            10: {*range(11, 19)}, 12: {19}, 13: {20}}  # fmt: skip
#: Of both, those of decimal numbers, days and times.
TIMES, OLD_TIMES = range(5, 9), range(5, 11)

#: Gives bytes of the file: where they begin, and how many.
Piece = Callable[[int, int], bytes]


class Column(NamedTuple):
    """A column of values: its path, physical type, bytes of a value, and what it lies in.

    `meant` tells that numbers or bytes are times or decimal numbers.

    `boxes` are the places in the schema of the structures and lists around it, and whether each row
    has one of them at most; in a `plain` column each row has one value, or none.
    """

    path: tuple[bytes, ...]
    type: int
    width: float
    meant: bool
    boxes: tuple[tuple[int, bool], ...]
    plain: bool


class Footer(NamedTuple):
    """The description of a file, which agrees with itself.

    `file` is a file of the same description without what is not needed, and without pages; `names`
    are the columns as a table has them, and `chunks` those of all `columns` for each group of rows.
    """

    file: bytes
    names: list[str]
    columns: list[Column]
    n_rows: list[int]
    chunks: list[list[dict[str, Any]]]


def piece_of(source: bytes | IO[bytes]) -> Piece:
    """Return what gives the bytes of a file, or of its content."""
    if isinstance(source, bytes):
        return lambda start, n: source[start : start + n]

    def read(start: int, n: int) -> bytes:
        source.seek(start)
        return source.read(n)

    return read


def head(path: Path) -> tuple[list[str], int]:
    """Return the names of a file's columns, and its number of rows.

    Raises
    ------
    ValueError, OSError
        For a damaged file.
    """
    with path.open("rb") as file, _complete():
        found = Reader(_description(piece_of(file), path.stat().st_size)).struct(FILE, last=3)
        return _columns(found["schema"])[0], found["num_rows"]


def footer(piece: Piece, size: int) -> Footer:
    """Return the description of a file of `size` bytes.

    Raises
    ------
    ValueError
        Where it does not agree with itself, or with the size.
    """
    with _complete():
        reader = Reader(data := _description(piece, size), aside={"statistics"})
        found = reader.struct(FILE)
        _agree(reader.at == len(data) and "secret" not in found)
        names, columns = _columns(found["schema"])
        chunks, n_rows, spans = [], [], []
        for group in found["groups"]:
            inside = [chunk["about"] for chunk in group["columns"] if chunk.keys() <= KNOWN]
            n_rows.append(group["num_rows"])
            chunks.append(inside)
            _agree(len(inside) == len(group["columns"]) == len(columns) and n_rows[-1] >= 0)
            for column, chunk in zip(columns, inside, strict=True):
                n = chunk["num_values"]
                _agree(n == n_rows[-1] if column.plain else n >= n_rows[-1])
                _agree(chunk["type"] == column.type and chunk["path"] == _listed(column.path))
                begin = chunk["data_page"]
                if chunk.get("dictionary_page", 0) > 0:
                    # Of an empty group PyArrow writes dictionaries, and no place of data.
                    _agree(chunk["dictionary_page"] < begin or not n)
                    begin = chunk["dictionary_page"]
                chunk["begin"] = begin
                spans.append((begin, begin + chunk["packed"]))
        _agree(sum(n_rows) == found["num_rows"])
        spans.sort()
        edges = [len(MAGIC), *(at for span in spans for at in span), size - 8 - len(data)]
        _agree(all(a <= b for a, b in itertools.pairwise(edges)))
    end = len(reader.copy).to_bytes(4, "little") + MAGIC
    return Footer(MAGIC + reader.copy + end, names, columns, n_rows, chunks)


def pages(piece: Piece, column: Column, chunk: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield the bytes of each page of a column in a group of rows, unpacked, and its encoding.

    Raises
    ------
    ValueError
        Where they do not agree with each other, with what the footer says, or with checksums.
    """
    data, at, n_values, placed = piece(chunk["begin"], chunk["packed"]), 0, 0, False
    with _complete():
        while at < chunk["packed"]:
            begin, reader = at, Reader(data, at)
            header = reader.struct(PAGE)
            at = reader.at + header["packed"]
            kind, packed, unpacked = header["type"], header["packed"], header["unpacked"]
            _agree(packed >= 0 and unpacked >= 0 and at <= len(data))
            crc = zlib.crc32(memoryview(data)[reader.at : at]) if "crc" in header else None
            if crc is not None and crc != header["crc"] & 0xFFFFFFFF:
                raise ValueError("a page does not agree with its checksum")
            if kind == INDEX:
                continue
            about = header[DETAILS[kind]]
            n, encoding, levels = about["num_values"], about["encoding"], 0
            _agree(n >= 0)
            if kind == DICTIONARY:
                _agree(not placed and not n_values and encoding in DICTIONARIES)
                _agree(column.width * n <= unpacked)
                placed = True
            else:
                first = chunk["begin"] + begin
                _agree(n_values or chunk["data_page"] in (first, chunk["begin"]))
                n_values += n
                _agree(encoding in VALUES and (placed or encoding not in PLACED))
            if kind == DATA:
                _agree(about["levels"] in LEVELS and about["repeated"] in LEVELS)
            if kind == DATA_2:
                levels = about["levels"] + about["repeated"]
                _agree(min(about["levels"], about["repeated"], about["num_nulls"]) >= 0)
                _agree(about["num_nulls"] <= n and levels <= min(packed, unpacked))
                _agree(about["num_rows"] == n if column.plain else 0 <= about["num_rows"] <= n)
            if not chunk["codec"] or not about.get("is_packed", True):
                _agree(packed == unpacked)
            yield unpacked, encoding
        _agree(n_values == chunk["num_values"])


def _description(piece: Piece, size: int) -> bytes:
    end = piece(max(size - 8, 0), 8)
    n = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or piece(0, 4) != MAGIC or n > size - 12:
        raise ValueError("it is no whole Parquet file")
    return piece(size - 8 - n, n)


def _columns(schema: Sequence[dict[str, Any]]) -> tuple[list[str], list[Column]]:
    """Return the names of a table's columns, and the columns of values."""
    names, columns = [], []
    # Structures that are begun: how many members are to come, and what a member lies in.
    begun: list[list[Any]] = [[schema[0]["children"], (), (), True]]
    for place, element in enumerate(schema[1:], 1):
        while not begun[-1][0]:
            begun.pop()
        begun[-1][0] -= 1
        _, path, boxes, plain = begun[-1]
        path, kind = (*path, element["name"]), element.get("type")
        repetition = element["repetition"]
        if len(begun) == 1:
            names.append(element["name"].decode())
        _agree(repetition in (0, 1, REPEATED))
        # Both say what the values mean, one to old programs.
        if "logical" in element and "converted" in element:
            _agree(element["converted"] in MEANINGS.get(element["logical"][0] >> 4, ()))
        # A value that is repeated is a list, too; of the usual three levels of a list one is none.
        if (kind is None or repetition == REPEATED) and element["name"] not in BETWEEN:
            boxes = (*boxes, (place, plain))
        plain = plain and repetition != REPEATED
        if kind is None:
            begun.append([element["children"], path, boxes, plain])
            _agree(element["children"] > 0 and len(begun) <= DEEPEST)
        else:
            width = element["width"] if kind == FIXED else WIDTH[kind]
            _agree(not element.get("children") and width > 0)
            meant = kind == INT96 or element.get("converted") in OLD_TIMES
            meant |= element.get("logical", b"\0")[0] >> 4 in TIMES
            columns.append(Column(path, kind, width, meant, boxes, plain))
    _agree(names and not any(left for left, *_ in begun))
    return names, columns


def _listed(path: Sequence[bytes]) -> bytes:
    """Write a list of texts as Thrift does."""
    n = len(path)
    start = bytes((n << 4 | BINARY,)) if n < 15 else bytes((15 << 4 | BINARY, n))
    return start + b"".join(bytes(packed(len(name))) + name for name in path)


def _agree(whether: object) -> None:
    if not whether:
        raise ValueError("what it says of itself does not agree with itself or with its bytes")


@contextmanager
def _complete() -> Iterator[None]:
    try:
        yield
    except LookupError:
        raise ValueError("what it says of itself is not complete") from None
