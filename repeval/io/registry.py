"""The data sets this package knows: where they are, how they are read, whether they are intact."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import repeval
from repeval.messages import refused

__all__ = ["cache_dir", "data_dir", "dataset_path", "default_dataset", "registry", "share_dir"]

Entry = dict[str, Any]
RELEASED = "leetcode-repeated-runs"


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
    """Return the user's folder for fetched data."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "repeval"


def default_dataset() -> Entry:
    """Return the released tensor if ``data/released.*`` or the cache has it, else the stand-in."""
    entry = registry()[RELEASED]
    fetched = cache_dir() / entry["file"]
    if released := sorted(data_dir().glob("released.*")):
        return {**entry, "file": released[0].name}
    if fetched.exists():
        recorded = json.loads(fetched.with_suffix(".json").read_text(encoding="utf-8"))
        return {**entry, "file": str(fetched), "sha256": recorded["sha256"]}
    return registry()["reconstruction"]


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
