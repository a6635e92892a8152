"""The store: texts kept under the hash of all that they depend on, each with a hash of its own."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path

from repeval.io.outputs import refuse_foreign, write

#: What no command has used for so long is dropped, and the longest unused beyond so many bytes.
UNUSED = 30 * 24 * 3600.0
MOST = 500_000_000


def read(path: Path) -> str | None:
    """Return a text of the store; None where there is none, or none that is as it was written.

    Raises
    ------
    RepevalError
        If the file, or one of the three folders above it, belongs to somebody else.
    """
    for part in (*reversed(path.parents[:3]), path):
        refuse_foreign(part)
    try:
        head, _, body = path.read_bytes().partition(b"\n")
        if head.decode() != hashlib.sha256(body).hexdigest():
            return None
        os.utime(path)
        return body.decode()
    except (OSError, UnicodeDecodeError):
        return None


def keep(path: Path, text: str) -> None:
    """Write a text to the store, and drop what nobody has used for long."""
    body = text.encode()
    write(path, hashlib.sha256(body).hexdigest().encode() + b"\n" + body, folders=True)
    prune(path.parent)


def prune(folder: Path, unused: float = UNUSED, most: int = MOST) -> None:
    """Remove the files of a folder that are unused for too long, and the oldest of too many."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        found = [(e.stat().st_mtime, e.stat().st_size, e.path) for e in entries if e.is_file()]
    size, now = 0, time.time()
    for used, bytes_, path in sorted(found, reverse=True):
        size += bytes_
        if now - used > unused or size > most:
            with contextlib.suppress(OSError):
                os.unlink(path)
