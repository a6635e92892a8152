"""Write SWE-bench summary reports of known outcomes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: What an outcome makes of an instance.
SET_OF = {1: "resolved", 0: "unresolved", "empty": "empty_patch", "error": "error",
          None: "incomplete"}  # fmt: skip


def report(outcomes: Sequence[Any], ids: Sequence[str]) -> dict[str, Any]:
    """Return a report: an outcome is 1, 0, "empty", "error", or None for an instance not run."""
    sets: dict[str, list[str]] = {name: [] for name in SET_OF.values()}
    for name, y in zip(ids, outcomes, strict=True):
        sets[SET_OF[y]].append(name)
    sets["completed"] = sorted(sets["resolved"] + sets["unresolved"])
    sets["submitted"] = sorted(set(ids) - set(sets["incomplete"]))
    counts = {f"{name}_instances": len(found) for name, found in sets.items()}
    del counts["incomplete_instances"]
    lists = {f"{name}_ids": found for name, found in sets.items()}
    return {"total_instances": len(ids), **counts, **lists, "schema_version": 2}


def write_runs(
    folder: Path, tensor: Sequence[Sequence[Any]], *, ids: Sequence[str], model: str = "m"
) -> list[Path]:
    """Write a report for each run of (problems, runs)."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for r in range(len(tensor[0])):
        paths.append(folder / f"{model}.run_{r}.json")
        paths[-1].write_text(json.dumps(report([row[r] for row in tensor], ids), indent=4))
    return paths
