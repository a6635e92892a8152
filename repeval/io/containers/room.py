"""What reading may take of memory: a small file must not fill the machine."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

from repeval.messages import refused

__all__ = ["ANYWAY", "CELL", "LARGEST", "ROW", "TIMES", "Room", "json_cost", "text_cost", "verify"]

#: Bytes of memory for each byte of the file, and for any file.
TIMES, ANYWAY = 40, 128 * 2**20
#: What a file may unpack to where it is held in parts, or a hundred times its size.
LARGEST = 2**28
#: Bytes that Python takes for a field, or a number, in a list; and all steps for a row.
CELL, ROW = 40, 350
CHUNK = 2**20


class Room:
    """What is left for the content of a packed file, or of several that are held together.

    Text as it stands needs no such care: what is made of it is as large as it is.
    """

    def __init__(self, n_bytes: int) -> None:
        self.left = TIMES * n_bytes + ANYWAY

    def hold(self, name: str, n_bytes: int) -> None:
        """Refuse what there is no memory for ("member-too-large")."""
        if n_bytes > self.left:
            what = f"{name} would take over {self.left / 2**20:,.0f} MiB of memory"
            raise refused("member-too-large", f"{what}, much more than its size allows.")

    def take(self, name: str, n_bytes: int) -> None:
        """Take memory, see `hold`."""
        self.hold(name, n_bytes)
        self.left -= n_bytes

    def unpacked(self, name: str, data: bytes) -> bytes:
        """Return what gzip made `data` of; no more than fits in is unpacked."""
        most = self.left // 2
        with gzip.open(io.BytesIO(data)) as file:
            found = file.read(most + 1)
        self.hold(name, 2 * len(found))
        return found


def text_cost(data: bytes) -> int:
    """Return about what the rows of a table in text take; line ends tell them."""
    n_rows = max(data.count(b"\n"), data.count(b"\r"))
    cells = n_rows + max(map(data.count, (b",", b";", b"\t")))
    return 2 * len(data) + CELL * cells + ROW * n_rows


def json_cost(data: bytes) -> int:
    """Return about what JSON takes; an object may be a row."""
    lists, rows, cells = map(data.count, (b"[", b"{", b","))
    return 2 * len(data) + CELL * cells + 2 * CELL * lists + ROW * rows


def verify(path: Path, room: Room) -> None:
    """Unpack a .gz file that is not held, a little after the other, for its sums.

    Raises
    ------
    RepevalError
        "member-too-large".
    OSError, EOFError, zlib.error
        For a damaged file.
    """
    size, most = 0, 100 * path.stat().st_size
    with gzip.open(path) as file:
        while chunk := file.read(CHUNK):
            size += len(chunk)
            if size > most:
                room.hold(path.name, size)
