"""Parquet files byte by byte, true or not."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

#: Physical types and encodings.
I64, FIXED = 2, 7
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
#: A header of a page, and the page.
Page = tuple[dict[int, Any], bytes]


class Long(int):
    """A number of 64 bits."""


def varint(n: int) -> bytes:
    low, rest = n & 127, n >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def _kind(value: Any) -> int:
    if isinstance(value, int):
        return 6 if isinstance(value, Long) else 5
    return {bytes: 8, list: 9, dict: 12}[type(value)]


def thrift(value: Any) -> bytes:
    """Write a number, text, list or structure (fields by their numbers) as Thrift does."""
    if isinstance(value, int):
        return varint(2 * value if value >= 0 else -2 * value - 1)
    if isinstance(value, bytes):
        return varint(len(value)) + value
    if isinstance(value, list):
        head = bytes([0xF0 | _kind(value[0] if value else 0)]) + varint(len(value))
        if len(value) < 15:
            head = bytes([len(value) << 4 | _kind(value[0] if value else 0)])
        return head + b"".join(map(thrift, value))
    fields = [bytes([_kind(one)]) + varint(2 * field) + thrift(one) for field, one in value.items()]
    return b"".join(fields) + b"\0"


def run(value: int, n: int, width: int = 1) -> bytes:
    """Write places in a dictionary: one of them n times."""
    return bytes([width]) + varint(2 * n) + value.to_bytes(1, "little")


def data(page: bytes, n: int, encoding: int = PLAIN) -> Page:
    about = {1: n, 2: encoding, 3: RLE, 4: RLE}
    return {1: 0, 2: len(page), 3: len(page), 5: about}, page


def dictionary(page: bytes, n: int) -> Page:
    return {1: 2, 2: len(page), 3: len(page), 7: {1: n, 2: PLAIN}}, page


def deflated(page: Page) -> Page:
    """Pack a page by gzip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = packer.compress(page[1]) + packer.flush()
    return {**page[0], 3: len(packed)}, packed


def numbers(values: list[int], **more: Any) -> tuple:
    """Return a column of whole numbers; `more` are fields of its description, such as f12."""
    page = b"".join(value.to_bytes(8, "little") for value in values)
    return [data(page, len(values))], I64, 0, 0, {int(f[1:]): what for f, what in more.items()}


def made(n: int, columns: dict[bytes, tuple]) -> bytes:
    """Return a file of n rows: pages of each column, type, width, codec and further fields."""
    body, chunks, schema = b"", [], [{4: b"schema", 5: len(columns)}]
    for name, (pages, kind, width, codec, more) in columns.items():
        parts = [thrift(header) + page for header, page in pages]
        begin, packed = 4 + len(body), b"".join(parts)
        placed = 7 in pages[0][0]
        first = begin + placed * len(parts[0])
        about = {1: kind, 2: [PLAIN, RLE, RLE_DICTIONARY], 3: [name], 4: codec, 5: Long(n),
                 6: Long(len(packed)), 7: Long(len(packed)), 9: Long(first)}  # fmt: skip
        about |= {11: Long(begin)} if placed else {}
        chunks.append({2: Long(begin), 3: {**about, **more}})
        schema.append({1: kind, **({2: width} if width else {}), 3: 0, 4: name})
        body += packed
    return file(body, schema, [{1: chunks, 2: Long(len(body)), 3: Long(n)}], n)


def file(body: bytes, schema: list[dict], groups: list[dict], n: int) -> bytes:
    about = thrift({1: 2, 2: schema, 3: Long(n), 4: groups})
    return b"PAR1" + body + about + len(about).to_bytes(4, "little") + b"PAR1"


def table(n: int, pages: list[Page], kind: int = I64, width: int = 0, codec: int = 0) -> bytes:
    """Return a file with the columns problem and outcome, of 1 only, and x, of these pages."""
    ones = [dictionary((1).to_bytes(8, "little"), 1), data(run(0, n), n, RLE_DICTIONARY)]
    one = (ones, I64, 0, 0, {})
    return made(n, {b"problem": one, b"outcome": one, b"x": (pages, kind, width, codec, {})})


def save(folder: Path, name: str, content: bytes) -> Path:
    (folder / f"{name}.parquet").write_bytes(content)
    return folder / f"{name}.parquet"
