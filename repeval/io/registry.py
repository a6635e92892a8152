"""The data sets this package knows: where they are, how they are fetched and read."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import repeval
from repeval.io.outputs import refuse_foreign
from repeval.messages import RepevalError, refused

Entry = dict[str, Any]
RELEASED = "leetcode-repeated-runs"
FILES = "https://raw.githubusercontent.com"
#: How a login page of a network begins that is sent in place of a file.
PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)", re.I | re.S
)


@cache
def share_dir() -> Path:
    """Return the directory with book, notebooks, data, _config.yml and _toc.yml.

    The checkout if the package lies in one, else the copy inside the installed package.
    """
    package = Path(repeval.__file__).resolve().parent
    root = package.parent
    checkout = (root / "_config.yml").exists() and (root / "data").is_dir()
    return root if checkout else package / "_share"


def data_dir() -> Path:
    """Return the directory of the data files."""
    return share_dir() / "data"


@cache
def registry() -> dict[str, Entry]:
    """Return the entries of ``data/registry.yaml`` by name.

    The file is written in the part of YAML that is also JSON: no YAML library is needed.
    """
    text = (data_dir() / "registry.yaml").read_text(encoding="utf-8")
    return {entry["name"]: entry for entry in json.loads(text)["datasets"]}


def cache_dir() -> Path:
    """Return the user's folder for fetched data; a `RepevalError` where no home is known."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    if os.path.isabs(base):  # a relative one means nothing, by its specification
        return Path(base) / "repeval"
    try:
        return Path.home() / ".cache" / "repeval"
    except RuntimeError:
        raise refused("no-home", "The folder for fetched data is not known.") from None


def default_dataset() -> Entry:
    """Return the released tensor if ``data/released.*`` or the cache has it, else the stand-in."""
    entry = registry()[RELEASED]
    if released := sorted(data_dir().glob("released.*")):
        return {**entry, "file": released[0].name}
    fetched = None
    with contextlib.suppress(RepevalError):  # no home, no cache
        fetched = target(entry)
    if fetched and fetched.exists():
        return {**entry, "file": str(fetched), "sha256": recorded(fetched)["sha256"]}
    return registry()["reconstruction"]


def recorded(fetched: Path) -> dict[str, str]:
    """Return what was noted of a release when it was fetched first; empty before that."""
    record = fetched.with_suffix(".json")
    for path in (fetched.parent, fetched, record):
        refuse_foreign(path)
    try:
        found = json.loads(record.read_text(encoding="utf-8"))
        if not all(isinstance(found[key], str) for key in ("sha256", "fetched")):
            raise TypeError
    except FileNotFoundError:
        if not fetched.exists():
            return {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    else:
        return found
    raise refused("damaged-record", f"{record}, beside {fetched.name}, is no record of a fetch.")


def dataset_path(entry: Entry) -> Path:
    """Return the file of an entry; a `RepevalError` if it is not there."""
    path = data_dir() / entry["file"]
    if not path.exists():
        raise refused("no-data", f"{entry['file']} is missing from {data_dir()}.")
    return path


def check(entry: Entry, sha256: str) -> None:
    """Refuse a file whose SHA-256 is not the registered one, if one is registered."""
    if entry.get("sha256") not in (None, sha256):
        raise refused(
            "checksum",
            f"{entry['file']} was changed: its SHA-256 is {sha256}, registered is "
            f"{entry['sha256']}.",
        )


def by_sha256(sha256: str) -> Entry | None:
    """Return the entry whose file has this SHA-256."""
    return next((e for e in registry().values() if e.get("sha256") == sha256), None)


def fitting_columns(entry: Entry, names: Iterable[str]) -> dict[str, str]:
    """Return the entry's column mapping as far as the table has these columns."""
    columns = entry.get("columns") or {}
    return {r: c for r, c in columns.items() if {*names}.issuperset(c.split("+")) and c != r}


def listing() -> str:
    """Return the sets that can be fetched, one line each."""
    lines = []
    for entry in _fetchable().values():
        size = f"{entry['bytes']:,} bytes" if entry["bytes"] else "unknown size"
        here = size
        with contextlib.suppress(RepevalError):
            here = "fetched" if target(entry).exists() else size
        lines.append(f"  {entry['name']:<30} {here:<16} {entry['title']} ({entry['licence']})")
    return "\n".join(["Data sets (repeval fetch NAME):", *lines])


def entry_of(name: str) -> Entry:
    """Return the entry of a data set that has a source to fetch from."""
    if name not in _fetchable():
        known = ", ".join(_fetchable())
        raise RepevalError("unknown-dataset", f"There is no data set {name!r}; one of: {known}.")
    return _fetchable()[name]


def fetch_file(entry: Entry) -> list[str]:
    """Download a registered file into the cache unless it is there; return what is to be said.

    Returns
    -------
    list of str
        Lines for the terminal: where the file is, its SHA-256, and how it is used.

    Raises
    ------
    RepevalError
        No connection, or a file other than the registered one.
    """
    address = f"{FILES}/{entry['repository']}/{entry['commit']}/{entry['path']}"
    path = download(address, entry["sha256"], entry["file"])
    return [
        f"{path}: {path.stat().st_size:,} bytes, SHA-256 as registered ({entry['licence']}).",
        f"Use it: repeval analyze {path}",
    ]


def _fetchable() -> dict[str, Entry]:
    return {name: e for name, e in registry().items() if e.get("repository")}


def target(entry: Entry) -> Path:
    """Return where a data set lies once it is fetched."""
    return cache_dir() / entry["file"]


def download(address: str, sha256: str | None, name: str) -> Path:
    """Download a file into the cache, of this SHA-256 if one is known."""
    try:
        import pooch
    except ImportError as error:
        raise refused("fetch-extra", "Fetching needs pooch.") from error
    pooch.get_logger().setLevel("ERROR")

    def get(url: str, output: str, pooch_: Any) -> None:
        pooch.HTTPDownloader()(url, output, pooch_)
        with open(output, "rb") as file:
            if PAGE.match(file.read(1024)):
                raise refused("no-file-but-page", f"{address} gave a web page.")

    try:
        path = pooch.retrieve(
            address, known_hash=sha256 and f"sha256:{sha256}", fname=name,
            path=cache_dir(), progressbar=False, downloader=get,
        )  # fmt: skip
    except RepevalError:
        raise
    except ValueError as error:
        raise refused("checksum", f"{address}: {str(error).splitlines()[0]}") from None
    except OSError as error:
        raise refused("not-fetched", f"{address} cannot be fetched: {_reason(error)}.") from None
    return Path(path)


def _reason(error: OSError) -> str:
    """Return the last cause: what lies under a chain of connection errors."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"{response.status_code} {response.reason}"
    return error.strerror or "there is no connection to it"
