"""Write EvalPlus results of known outcomes, in the layouts of two generations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

WORDS = {1: "pass", 0: "fail"}
OLDER = {"pass": "success", "fail": "failed", "timeout": "timed out", None: None}


def results(
    base: Sequence[Sequence[Any]],
    plus: Sequence[Sequence[Any]] | None = None,
    *,
    task: str = "HumanEval",
    older: bool = False,
) -> dict[str, Any]:
    """Return results of (problems, samples): 1 and 0 become words, all else stays as it is.

    `plus` is what the extra tests alone say; without it only base tests were run.
    """
    found: dict[str, Any] = {}
    for i, row in enumerate(base):
        extra = plus[i] if plus else [None] * len(row)
        pairs = [[WORDS.get(y, y) for y in pair] for pair in zip(row, extra, strict=True)]
        name = f"{task}/{i}"
        if older:
            columns = list(zip(*pairs, strict=True))
            statuses = [[[OLDER[status], [True]] for status in column] for column in columns]
            found[name] = {"nfiles": len(row), "base": statuses[0],
                           "plus": statuses[1] if plus else []}  # fmt: skip
        else:
            found[name] = [
                {"task_id": name, "solution": f"def f{r}(): ...", "base_status": one,
                 "plus_status": two, "base_fail_tests": [], "plus_fail_tests": []}
                for r, (one, two) in enumerate(pairs)
            ]  # fmt: skip
    whole = {"date": "2026-11-30 07:37", "hash": "f1c832", "eval": found}
    if not older:
        passes = {
            kind: [[all(s[f"{k}_status"] == "pass" for k in kinds) for s in runs]
                   for runs in found.values()]
            for kind, kinds in {"base": ["base"], "plus": ["base", "plus"]}.items()
        }  # fmt: skip
        least = min(map(len, found.values()), default=0)
        whole["pass_at_k"] = {
            kind: {f"pass@{k}": fmean(fmean(map(any, combinations(runs, k))) for runs in tasks)
                   for k in (1, 10) if k <= least}
            for kind, tasks in passes.items() if plus or kind == "base"
        }  # fmt: skip
    return whole


def write(path: Path, *args: Any, **options: Any) -> Path:
    """Write results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results(*args, **options)))
    return path
