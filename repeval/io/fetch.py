"""`repeval fetch`: registered data sets, into the user's cache, by their SHA-256."""

from __future__ import annotations

import csv
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

from repeval.io import registry
from repeval.io.registry import Entry
from repeval.messages import RepevalError, refused

FILES = "https://raw.githubusercontent.com"
ARCHIVES = "https://codeload.github.com"


def listing() -> str:
    """Return the sets that can be fetched, one line each."""
    lines = []
    for entry in _fetchable().values():
        size = f"{entry['bytes']:,} bytes" if entry["bytes"] else "unknown size"
        here = "fetched" if _target(entry).exists() else size
        lines.append(f"  {entry['name']:<30} {here:<16} {entry['title']} ({entry['licence']})")
    return "\n".join(["Data sets (repeval fetch NAME):", *lines])


def fetch(name: str) -> list[str]:
    """Download a data set into the cache unless it is there; return what is to be said.

    Parameters
    ----------
    name : str
        A name of the registry that has a source to fetch from.

    Returns
    -------
    list of str
        Lines for the terminal: where the file is, its SHA-256, and how it is used.

    Raises
    ------
    RepevalError
        Unknown name, no connection, or a file other than the registered or first recorded one.
    """
    if name not in _fetchable():
        known = ", ".join(_fetchable())
        raise RepevalError("unknown-dataset", f"There is no data set {name!r}; one of: {known}.")
    entry = _fetchable()[name]
    return _fetch_release(entry) if entry["basis"] == "released" else _fetch_file(entry)


def _fetchable() -> dict[str, Entry]:
    return {name: e for name, e in registry.registry().items() if e.get("repository")}


def _target(entry: Entry) -> Path:
    return registry.cache_dir() / entry["file"]


def _fetch_file(entry: Entry) -> list[str]:
    address = f"{FILES}/{entry['repository']}/{entry['commit']}/{entry['path']}"
    path = _download(address, entry["sha256"], entry["file"])
    return [
        f"{path}: {path.stat().st_size:,} bytes, SHA-256 as registered ({entry['licence']}).",
        f"Use it: repeval analyze {path}",
    ]


def _fetch_release(entry: Entry) -> list[str]:
    """Fetch the paper's repository, write its outcomes as a table, and record the first one seen.

    The SHA-256 of the release is unknown until somebody fetched it: the first table is trusted
    and recorded, a later one must be the same.
    """
    from repeval.companion.paper_data.released import read_release

    target = _target(entry)
    record = target.with_suffix(".json")
    if target.exists():
        return [f"{target} is there, fetched {json.loads(record.read_text())['fetched']}."]
    packed = _download(f"{ARCHIVES}/{entry['repository']}/zip/HEAD", None, "release.zip")
    with (registry.data_dir() / "published-cells.csv").open(encoding="utf-8") as cells:
        systems = list(dict.fromkeys(row["model"] for row in csv.DictReader(cells)))
    try:
        table, said = read_release(packed.read_bytes(), systems)
    finally:
        packed.unlink(missing_ok=True)
    text = table.to_csv(index=False, lineterminator="\n")
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    seen = json.loads(record.read_text())["sha256"] if record.exists() else sha256
    if seen != sha256:
        what = f"The release has changed: its outcomes had SHA-256 {seen}, now {sha256}."
        raise refused("release-changed", f"{what} The record is {record}.")
    about = {"sha256": sha256, "fetched": datetime.now(UTC).isoformat(timespec="seconds")}
    record.write_text(json.dumps({**about, "repository": entry["repository"]}), encoding="utf-8")
    part = target.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(target)
    return [
        *said,
        f"{target}: {len(table):,} runs, SHA-256 {sha256}, trusted on first use and recorded.",
        "It now takes the place of the stand-in: make book builds the real-data edition.",
    ]


def _download(address: str, sha256: str | None, name: str) -> Path:
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
