"""What a run cost, and how many tokens it used, where logs state it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from repeval.io.readers import find
from repeval.io.readers.base import Usage

__all__ = ["stated"]

#: The readers whose logs may state it.
STATING = ("harbor", "inspect", "promptfoo", "tau2_bench")


def stated(
    paths: Iterable[str | Path], *, scorer: str | None = None, format: str | None = None
) -> dict[str, Usage]:
    """Return by model what its runs used in all; empty for tables, and where nothing is stated.

    Parameters
    ----------
    paths, scorer, format
        As in `repeval.load`, which has read them before.
    """
    found = find(paths, format)
    if found.reader is None or found.reader.NAME not in STATING:
        return {}
    used: dict[str, Usage] = defaultdict(Usage)
    for path, name in found.files:
        for log in found.reader.read(path, scorer):
            used[name or log.model or path.stem] += log.usage
    return {model: u for model, u in used.items() if u.cost > 0 or u.tokens > 0}
