"""The members of a zip archive, as many as its end says."""

from __future__ import annotations

import os
import struct
import zipfile

__all__ = ["members"]

#: What the last record begins with, and how long it is, with the longest comment.
END, LONGEST = b"PK\5\6", 22 + 2**16


def members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return what an archive holds, in the order of its directory.

    `zipfile` takes what it can read of the directory: one changed length there hides all that
    follows.

    Raises
    ------
    zipfile.BadZipFile
        If the directory lists another number of members than the end of the file counts.
    """
    found, file = archive.infolist(), archive.fp
    file.seek(-min(LONGEST, file.seek(0, os.SEEK_END)), os.SEEK_END)
    end = file.read()
    (count,) = struct.unpack_from("<H", end, end.rfind(END) + 10)
    # Beyond 16 bits a longer record counts, which only some programs write.
    if count not in (len(found) % 2**16, 2**16 - 1):
        raise zipfile.BadZipFile(f"its directory lists {len(found):,} of {count:,} members")
    return found
