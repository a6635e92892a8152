"""`repeval fetch`: registered data sets, into the user's cache, by their SHA-256."""

from __future__ import annotations

from pathlib import Path

from repeval.io import registry
from repeval.io.registry import Entry
from repeval.messages import RepevalError, refused

FILES = "https://raw.githubusercontent.com"


def listing() -> str:
    """Return the sets that can be fetched, one line each."""
    lines = []
    for entry in _fetchable().values():
        size = f"{entry['bytes']:,} bytes" if entry["bytes"] else "unknown size"
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
    return {name: e for name, e in registry.registry().items() if e.get("repository")}


def target(entry: Entry) -> Path:
    """Return where a data set lies once it is fetched."""
    return registry.cache_dir() / entry["file"]


def download(address: str, sha256: str | None, name: str) -> Path:
    """Download a file into the cache, of this SHA-256 if one is known."""
    try:
        import pooch
    except ImportError as error:
        raise refused("fetch-extra", "Fetching needs pooch.") from error
    pooch.get_logger().setLevel("ERROR")
    try:
        path = pooch.retrieve(
            address, known_hash=sha256 and f"sha256:{sha256}", fname=name,
            path=registry.cache_dir(), progressbar=False,
        )  # fmt: skip
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
