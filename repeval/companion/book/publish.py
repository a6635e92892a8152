"""Publishing: one switch from the old book to the new, whenever the process may be ended."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import shutil
import sys
from pathlib import Path

from repeval.messages import refused

#: What a book consists of, from where it lies in the stage.
PARTS = (
    "analysis.json", "summary.md", "summary.html", "data", "notebooks", "extra/figures",
    "extra/tables", "pdf", "_build/html",
)  # fmt: skip
NAMES = {Path(part).name for part in PARTS}
#: What earlier builds may have left in a book's folder.
LEFT = re.compile(r"failed|stage-.*")


def publish(root: Path, home: Path) -> Path:
    """Put what was built in the place of the old book, in one switch; return the first page.

    Before the switch, which is one system call, all of the old book is there, and after it all of
    the new one. Files in the book's folder that are not the book's are carried over.
    """
    refuse_mounts(home)
    new = root.parent / "new"
    new.mkdir()
    for source in map(root.joinpath, PARTS):
        if source.exists():
            source.replace(new / source.name)
    for other in home.iterdir() if home.exists() else ():
        if other.name not in NAMES and not LEFT.fullmatch(other.name):
            _carry(other, new / other.name)
    switch(new, home)
    return home / "html" / "index.html"


def refuse_mounts(home: Path) -> None:
    """Refuse a book's folder that cannot be switched: it, or something in it, is mounted."""
    links = [path for path in (home, *(home / name for name in NAMES)) if path.is_symlink()]
    mounted = [path for path in _mounts() if path == home or home in path.parents]
    mounted += [path for path in (home, *(home / name for name in NAMES)) if path.is_mount()]
    for path in links + mounted:
        kind = "a link" if path in links else "a mount point"
        raise refused("mounted-book", f"{path} is {kind}, which a new book would destroy.")


def switch(new: Path, home: Path) -> None:
    """Let two folders change places; what was at `home` is at `new` afterwards.

    Where the system cannot do that at once, the old book is set aside for a moment, from where
    `restore` brings it back.
    """
    if not home.exists():
        new.rename(home)
        return
    if _exchanged(new, home):
        return
    aside = _aside(home)
    home.rename(aside)
    try:
        new.rename(home)
    except BaseException:
        aside.rename(home)
        raise
    aside.rename(new)


def restore(home: Path) -> None:
    """Bring back an old book that a switch in two steps had set aside when it was ended."""
    aside = _aside(home)
    if aside.exists() and not home.exists():
        aside.rename(home)
    shutil.rmtree(aside, ignore_errors=True)


def _aside(home: Path) -> Path:
    return home.parent / ".stage" / f"{home.name}.old"


def _exchanged(one: Path, two: Path) -> bool:
    """Exchange two names in one system call; False where there is none."""
    library = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    names = (os.fsencode(one), os.fsencode(two))
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        done = library.renamex_np(*names, 2)  # RENAME_SWAP
    elif hasattr(library, "renameat2"):
        here = -100  # AT_FDCWD
        done = library.renameat2(here, names[0], here, names[1], 2)  # RENAME_EXCHANGE
    else:
        return False
    number = ctypes.get_errno()
    if done == 0 or number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return done == 0
    raise OSError(number, os.strerror(number), str(two))


def _carry(source: Path, target: Path) -> None:
    """Give a file or folder a second name; a copy where the system allows none."""

    def link(one: str, two: str) -> None:
        try:
            os.link(one, two, follow_symlinks=False)
        except OSError:
            shutil.copy2(one, two, follow_symlinks=False)

    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True, copy_function=link)
    else:
        link(os.fspath(source), os.fspath(target))


def _mounts() -> list[Path]:
    """Return the mount points that the system tells of: also those of one and the same disk."""
    with contextlib.suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8") as file:
        places = [line.split()[4] for line in file]
        return [Path(re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), p)) for p in places]
    return []
