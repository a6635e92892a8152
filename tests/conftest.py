"""Fixtures for all tests."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples every time, on machines of any speed.
settings.register_profile("repeval", deadline=None, derandomize=True)
settings.load_profile("repeval")


@pytest.fixture
def shared() -> Path:
    """The directory of outside reference material beside the checkout."""
    path = Path(__file__).resolve().parents[1].parent / "shared"
    if not path.is_dir():
        pytest.skip("reference material (../shared) is not there")
    return path


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write text or bytes to a file; names that end in .gz are compressed."""

    def to_file(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
        return path

    return to_file


@pytest.fixture
def tidy(write: Callable[..., Path]) -> Callable[..., Path]:
    """Write rows (dicts) as CSV, or JSON Lines if the name says so."""

    def table(rows: list[dict], name: str = "runs.csv") -> Path:
        if ".jsonl" in name:
            return write(name, "".join(json.dumps(row) + "\n" for row in rows))
        head = list(rows[0])
        lines = [",".join(head), *(",".join(str(row[c]) for c in head) for row in rows)]
        return write(name, "\n".join(lines) + "\n")

    return table
