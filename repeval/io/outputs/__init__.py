"""Files that a command writes: never over what is read, never over each other, whole or not."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from repeval.messages import RepevalError, refused

__all__ = ["outputs", "refuse_foreign", "write", "write_all"]

#: How an answer of `repeval` begins: one in a folder that is read may be written again.
ANSWER = b'{\n "schema": "repeval/'
TEXTS = (".md", ".tex")
#: Logs that are a file with others beside and below it; those named here lie beside it.
HEADS, PARTS = ("results.json", "result.json"), ("run_metadata.json", "config.json")
#: What a shell sent elsewhere is written to where it is open, and not replaced by name.
STDOUT = (Path("/dev/stdout"), Path("/dev/fd/1"), Path("/proc/self/fd/1"))
#: Links that a path may pass through; Linux follows as many.
MOST_LINKS = 40
#: A folder that takes no new file, or a file that is mounted, can still be written in place.
IN_PLACE = {errno.EBUSY, errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS}
Content = bytes | Callable[[], Iterable[bytes]]


def outputs(
    targets: Mapping[str, str | Path | Sequence[str | Path] | None],
    inputs: Iterable[str | Path],
    closed: Iterable[Path] = (),
) -> None:
    """Refuse outputs that would replace a file that is read, or each other.

    What is below a folder that is read, or belongs to a log that is read (its samples, its
    settings), counts as read. Files are told by what they are, not by how they are spelled: links,
    hard links and other spellings of a path are seen through.

    Parameters
    ----------
    targets : mapping
        Options, such as ``--json``, and the files that they name; None and "-" are none.
    inputs : iterable of path
        Files and folders that are read, also as ``NAME=PATH``.
    closed : iterable of Path
        Folders in which nothing is replaced, not even text.

    Raises
    ------
    RepevalError
        Before anything is computed or written.

    Examples
    --------
    >>> from repeval.io.outputs import outputs
    >>> outputs({"--json": "answer.json", "--csv": None}, ["runs.csv"])
    >>> outputs({"--json": "./runs.csv"}, ["runs.csv"])
    Traceback (most recent call last):
        ...
    repeval.messages.RepevalError: --json ./runs.csv is one of the inputs; name another file
    """
    read = [path for given in inputs for path in _spellings(given)]
    seen: dict[Path, str] = {}
    for option, given in targets.items():
        for name in [given] if isinstance(given, str | Path) else given or ():
            if str(name) == "-" or Path(name) in STDOUT or _is_stream(Path(name)):
                continue
            try:
                _refuse_planted(Path(name))
            except OSError as error:
                raise _cannot_write(name, error) from None
            target = Path(name).resolve()
            kept = target.exists() and any(path in target.parents for path in closed)
            if kept or any(_holds(path, target) for path in read):
                what = f"{option} {name} is one of the inputs; name another file"
                raise RepevalError("bad-option", what)
            if target in seen:
                what = f"{option} {name} is what {seen[target]} writes; name another file"
                raise RepevalError("bad-option", what)
            seen[target] = option


def write(path: str | Path, content: Content, *, folders: bool = False) -> None:
    """Write a file; see `write_all`."""
    write_all({Path(path): content}, folders=folders)


def write_all(files: Mapping[Path, Content], *, folders: bool = False) -> None:
    """Write files whole or none of them; owner and mode of those that are there are kept.

    Each is written beside under a name that nobody can foresee, and all are renamed at the end: a
    full disk or an end from outside leaves no half file. A device or a pipe is written to as it is.

    Parameters
    ----------
    files : mapping of path to bytes, or a function that returns pieces of them
        What has pieces is never in memory as a whole, unless only a device or a file that cannot
        be replaced takes it. A link leads to its file, if it is one's own.
    folders : bool
        Make the folders above them.

    Raises
    ------
    RepevalError
        If one cannot be written.
    """
    path, made = Path(), []
    parts: list[tuple[Path, Path]] = []
    try:
        for path, content in files.items():
            _refuse_planted(path)
            if folders:
                folder = path.resolve().parent
                made += [p for p in (folder, *folder.parents) if not p.exists()]
                folder.mkdir(parents=True, exist_ok=True)
            if part := _staged(path, content):
                parts.append(part)
        for part, path in parts:
            _put(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            for part, _ in parts:
                part.unlink(missing_ok=True)
            for folder in sorted(made, reverse=True):
                folder.rmdir()
        raise _cannot_write(path, error) from None


def _staged(path: Path, content: Content) -> tuple[Path, Path] | None:
    """Write what is to be renamed; None for what can only be written as it is, and was."""
    # A pipe has no name that could be resolved.
    target = path if _is_stream(path) else path.resolve()
    there = target.stat() if target.exists() else None
    if there and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if path in STDOUT:
        sys.stdout.flush()
        os.write(1, b"".join(_pieces(content)))
        return None
    if not _is_stream(target):
        try:
            return _part(target, content, there), target
        except OSError as error:
            if not there or error.errno not in IN_PLACE:
                raise
    _write_in_place(target, b"".join(_pieces(content)))
    return None


def _write_in_place(target: Path, content: bytes) -> None:
    """Write what cannot be replaced; what was in it is put back if that fails."""
    before = None
    with contextlib.suppress(OSError):  # one may write what one may not read
        before = target.read_bytes() if target.is_file() else None
    try:
        target.write_bytes(content)
    except OSError:
        if before is not None:
            with contextlib.suppress(OSError):
                target.write_bytes(before)
        raise


def _pieces(content: Content) -> Iterable[bytes]:
    return [content] if isinstance(content, bytes) else content()


def _cannot_write(path: str | Path, error: OSError) -> RepevalError:
    return refused("cannot-write", f"cannot write {path}: {error.strerror}.")


def refuse_foreign(path: Path) -> None:
    """Refuse what is there and belongs to somebody else: its content could change figures.

    Trusted are oneself, the superuser, and who owns the folder that it lies in: a checkout's owner.
    A link is judged by itself and by what it leads to.
    """
    if not hasattr(os, "geteuid"):
        return
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        trusted = {os.geteuid(), 0, path.parent.stat().st_uid}
        if not {path.lstat().st_uid, path.stat().st_uid} <= trusted:
            raise refused("foreign-folder", f"{path} belongs to another user.")


def _spellings(given: str | Path) -> list[Path]:
    """Return what a path may name, with ``NAME=PATH`` taken apart, as far as it is there."""
    text = os.fspath(given)
    found = [text, *(text[i + 1 :] for i, sign in enumerate(text) if sign == "=")]
    return [Path(path).resolve() for path in found if path and os.path.exists(path)]


def _holds(read: Path, target: Path) -> bool:
    """Tell whether an output is a file that is read, or a folder with one."""
    if target == read or target in read.parents:
        return True
    if not target.exists():
        return False
    if read.is_dir():
        # Neither text about results nor an answer of before is read as data.
        if any(parent.samefile(read) for parent in target.parents):
            return target.suffix not in TEXTS and not _is_answer(target)
        links = [path.resolve() for path in read.rglob("*") if path.is_symlink()]
        return any(path == target or path in target.parents for path in links)
    if read.name in HEADS and read.parent in target.parent.parents:
        return not _is_answer(target)
    return any(target.samefile(path) for path in (read, *_beside(read)))


def _beside(log: Path) -> list[Path]:
    """Return the files that are read with a log: its samples, its settings."""
    stem = log.stem.removesuffix("_samples")
    names = [f"{stem}.json", f"{stem}_samples.jsonl", *(PARTS if log.name in HEADS else ())]
    time = stem.rsplit("_", 1)[-1] if "samples_" in stem else None
    files = [log.with_name(name) for name in names]
    if time:
        files += (p for p in log.parent.iterdir() if p.name.endswith(f"_{time}.json"))
    return [path for path in files if path.is_file()]


def _is_answer(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(len(ANSWER)) == ANSWER
    return False


def _is_stream(path: Path) -> bool:
    """Tell a device, a pipe or an open file of the process from a file that can be replaced."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _refuse_planted(path: Path) -> None:
    """Refuse links that somebody else made: they may lead to files of ours.

    The file itself may be a link of one's own or the superuser's. Links on the way to it are
    refused as Linux does with ``protected_symlinks``: in folders such as /tmp, which everybody may
    write to, unless they belong to who owns the folder.
    """
    if not hasattr(os, "geteuid"):
        return
    mine, whose = (os.geteuid(), 0), "a link that belongs to somebody else"
    if path.is_symlink() and path.lstat().st_uid not in mine:
        raise PermissionError(errno.EACCES, f"it is {whose}")
    for link in _links(Path.cwd() / path):
        owner, folder = link.lstat().st_uid, link.parent.stat()
        if folder.st_mode & stat.S_IWOTH and owner not in (*mine, folder.st_uid):
            raise PermissionError(errno.EACCES, f"{link}, which it passes through, is {whose}")


def _links(path: Path) -> Iterator[Path]:
    """Yield the links that a path passes through, one after the other."""
    rest, here, seen = list(reversed(path.parts)), Path(path.anchor), 0
    while rest:
        here = here.parent if (name := rest.pop()) == ".." else here / name
        if here.is_symlink():
            if (seen := seen + 1) > MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            yield here
            rest += reversed(Path(os.readlink(here)).parts)
            here = here.parent


def _put(part: Path, target: Path) -> None:
    try:
        part.replace(target)
    except OSError as error:
        if error.errno not in IN_PLACE or not target.exists():
            raise
        _write_in_place(target, part.read_bytes())
        part.unlink()


def _part(target: Path, content: Content, there: os.stat_result | None) -> Path:
    part = target.with_name(f".repeval-{secrets.token_hex(8)}.part")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    try:
        # O_EXCL: never a file, nor a link, that is there. The mode is what the umask leaves.
        with os.fdopen(os.open(part, flags, 0o666), "wb") as file:
            file.writelines(_pieces(content))
            file.flush()
            os.fsync(file.fileno())
            if there and hasattr(os, "fchown"):
                made = os.fstat(file.fileno())
                if (made.st_uid, made.st_gid) != (there.st_uid, there.st_gid):
                    os.fchown(file.fileno(), there.st_uid, there.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(there.st_mode))
    except BaseException:  # also what hinders the pieces
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    return part
