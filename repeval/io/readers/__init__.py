"""Logs of evaluation harnesses: which reader knows a file, and where the files are.

To add a reader:

1. Write ``readers/NAME.py`` with ``NAME`` (what ``--format`` takes), ``TITLE`` (what is said, such
   as "Inspect log": what people call the harness, and a word for its logs), ``sniff(path, head) ->
   bool`` and ``read(path, scorer)``, an iterable of `base.Log`. `head` is the first 64 kB, empty
   for a directory: a format that is a directory says so there, and nothing below it is looked at.
   `sniff` goes by content and is cheap; no two readers may claim one file. `read` reports and never
   decides: a value or None, and a status. Where several scorers, metrics or filters could be meant
   it calls `base.choose`. Errors of damaged files need no care: whatever is raised becomes one
   message that names the file. What a log states of itself, means and counts, goes through
   `totals.totals` and `totals.counted`, whose notes the log carries. Where a log is several files,
   ``samples(path)`` gives the one that is read in place of each. What runs cost goes into
   `Log.usage`, and NAME into `usage.STATING`.
2. Add NAME to `READERS` in ``io/formats.py``, and the harness to ``README.md`` and, with a
   paragraph, to ``book/formats.md``.
3. Write a generator of the format in ``tests/io/readers/``: what it wrote is read back equal. Add
   it to ``test_own_totals.py``, where one run is changed and one is lost.

Names, retries, copies, runs and questions are settled in `merge` for all formats alike.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, NoReturn

from repeval.io.files import kind_of, lacks_rows, split_name
from repeval.io.formats import FORMATS, READERS
from repeval.io.parse import SURROGATE
from repeval.messages import RepevalError, refused, some

__all__ = ["READERS", "Found", "find", "reader"]


LARGE = 2**20
#: Where no file holds data, and some never end or wait for what does not come.
KERNEL = (Path("/proc"), Path("/sys"))


class Found(NamedTuple):
    """Files to read, each with the model that ``NAME=PATH`` gives it, and files left aside.

    `reader` is the module that reads them, None for tables. `roots` names what was given.
    """

    reader: ModuleType | None
    files: list[tuple[Path, str | None]]
    skipped: list[Path]
    roots: list[str]


def reader(name: str) -> ModuleType:
    """Return the module that reads a format."""
    return importlib.import_module(f"repeval.io.readers.{name}")


def find(paths: str | Path | Iterable[str | Path], format: str | None = None) -> Found:
    """Find the tables, or the logs of one harness, in files, directories and ``NAME=PATH``.

    A directory that holds logs anywhere is one of logs: what else is in it is left aside. Else the
    tables in it are read, and those of directories in it.
    """
    readers = [reader(name) for name in ([format] if format in READERS else READERS)]
    if format in FORMATS:
        readers = []
    found: list[tuple[ModuleType | None, Path, str | None]] = []
    skipped, roots = [], []
    for given in _given(paths):
        path, model = split_name(given)
        roots.append(path.resolve().name or str(path))
        if not (path.is_dir() or path.is_file()):
            what = f"{given} is a pipe or a device. Write what comes out of it to a file first."
            raise RepevalError("unreadable-file", what)
        _refuse_kernel(path)
        if path.is_dir():
            inside = list(_walk(path, readers))
            logs = [(known, p) for known, p in inside if known]
            others = [p for known, p in inside if not known]
            tables = [] if logs else [p for p in others if _is_table(p, format)]
            if not format:
                bare = [p for p in tables if kind_of(p) == "json" and lacks_rows(p)]
                tables = [p for p in tables if p not in bare]
                skipped += bare
            skipped += others if logs else []
            if not logs and not tables:
                kind = f"of the format {format}" if format else "of a known kind"
                raise refused("no-tables", f"{path}: nothing in it is {kind}. {_known()}")
            found += [(*log, model) for log in logs] or [(None, p, model) for p in tables]
        else:
            known = readers[0] if format in READERS else _recognised(path, readers)
            if not known and not _is_table(path, format):
                raise refused("unknown-format", f"{path.name} is of no known kind. {_known()}")
            # A large file is read once: it is then refused as having no rows.
            told = format or kind_of(path) != "json" or path.stat().st_size > LARGE
            if not known and not told and (why := lacks_rows(path)):
                raise RepevalError("unknown-format", f"{why} {_known()}")
            found.append((known, path, model))
    found = [(known, _samples(known, path), model) for known, path, model in found]
    for text in (*roots, *(str(path) for _, path, _ in found)):
        if SURROGATE.search(text):
            what = f"{SURROGATE.sub('?', text)}: the name is not UTF-8 text. Rename it first."
            raise RepevalError("unreadable-file", what)
    kinds = {known: path for known, path, _ in found}
    if len(kinds) > 1:
        what = [f"{p.name} ({known.TITLE if known else 'table'})" for known, p in kinds.items()]
        raise refused("several-formats", f"The files are of several kinds: {some(what)}.")
    files = [(path, model) for _, path, model in found]
    if not files:
        raise refused("file-not-found", "No file was given.")
    kind = found[0][0]
    # A table that is given twice is taken for a mistake, but a folder may hold one that is named.
    once = kind or len(files) > len(roots)
    return Found(kind, _once(files) if once else files, skipped, roots)


def _samples(known: ModuleType | None, path: Path) -> Path:
    """Return the file that is read of a log of several."""
    return known.samples(path) if hasattr(known, "samples") else path


def _given(paths: object) -> list[str]:
    """Return one path or several as text."""
    single = isinstance(paths, str | bytes | os.PathLike) or hasattr(paths, "read")
    single = single or not isinstance(paths, Iterable)
    items = [paths] if single else list(paths)
    texts = [os.fspath(item) if isinstance(item, os.PathLike) else item for item in items]
    for item in texts:
        if not isinstance(item, str):
            whose = "What was given" if single else "One of the things given"
            raise refused("unknown-object", f"{whose} is of type {type(item).__name__}.")
    return texts


def _once(files: Sequence[tuple[Path, str | None]]) -> list[tuple[Path, str | None]]:
    """Keep one of equal paths, with the name that was given: a directory may hold it, too."""
    kept: dict[Path, tuple[Path, str | None]] = {}
    for path, model in files:
        _, first = kept.get(path.resolve(), (path, None))
        if first and model and first != model:
            raise RepevalError("bad-option", f"{path} is called both {first} and {model}.")
        kept[path.resolve()] = path, model or first
    return list(kept.values())


def _walk(
    folder: Path, readers: Sequence[ModuleType]
) -> Iterator[tuple[ModuleType | None, Path]]:  # fmt: skip
    """Yield files, and directories that are one log, with the reader that knows them."""
    for here, folders, names in os.walk(folder, onerror=_refuse):
        _refuse_kernel(Path(here))
        if known := _recognised(Path(here), readers):
            folders.clear()
            yield known, Path(here)
            continue
        folders[:] = sorted(name for name in folders if name[0] != ".")
        paths = [Path(here, name) for name in sorted(names) if not name.startswith((".", "~$"))]
        for path in filter(Path.is_file, paths):
            if path.is_symlink():
                _refuse_kernel(path)
            yield _recognised(path, readers), path


def _refuse_kernel(path: Path) -> None:
    """Refuse what is no file on a disk but made up by the kernel: to read it may take for ever."""
    top = Path(*path.resolve().parts[:2])
    if top in KERNEL and top.is_mount():
        what = f"{path} is made up by the system as it is read. Give a file of results."
        raise RepevalError("unreadable-file", what)


def _recognised(path: Path, readers: Sequence[ModuleType]) -> ModuleType | None:
    head = b""
    try:
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(2**16)
        return next((module for module in readers if module.sniff(path, head)), None)
    except OSError as error:
        _refuse(error)


def _refuse(error: OSError) -> NoReturn:
    raise refused("unreadable-file", f"{error.filename}: {error.strerror}.") from None


def _is_table(path: Path, format: str | None) -> bool:
    return format in FORMATS or (not format and kind_of(path) is not None)


def _known() -> str:
    titles = ", ".join(f"{reader(name).TITLE}s" for name in READERS)
    tables = ".csv, .tsv, .json, .jsonl, .ndjson, each also .gz; .parquet, .xlsx"
    return f"Read are tables ({tables}) and {titles}."
