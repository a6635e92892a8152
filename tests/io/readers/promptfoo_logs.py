"""Write promptfoo output of known outcomes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

SEED = 2606


def output(
    tensors: Mapping[tuple[str, str], Sequence[Sequence[Any]]],
    *,
    case: Callable[[int], dict[str, Any]] = lambda i: {
        "description": f"q{i}",
        "vars": {"q": f"What is {i}?"},
    },
    evaluation: str = "eval-abc-2026-11-30T07:41:28",
    cached: bool = False,
) -> dict[str, Any]:
    """Return the output for (provider, prompt) -> (problems, repeats).

    An outcome is 1, 0, a score that fails, "error", or None for a row that is not there. Rows are
    in the order of completion, which is none.
    """
    rows = []
    for column, ((provider, prompt), tensor) in enumerate(tensors.items()):
        for i, row in enumerate(tensor):
            for r, y in enumerate(row):
                if y is None:
                    continue
                test = {"assert": [{"type": "contains", "value": "4"}], "metadata": {}, **case(i)}
                passed, broken = y == 1, y == "error"
                score = 0 if broken else y
                text = f'Expected output to contain "4", not {i}'
                one = {
                    "cost": 0, "gradingResult": {"pass": passed, "score": score, "reason": text},
                    "id": f"{column}-{i}-{r}", "latencyMs": 1,
                    "namedScores": {} if broken else {"tone": 1 - score},
                    "prompt": {"raw": f"Q: What is {i}?", "label": prompt},
                    "promptIdx": column, "provider": {"id": "openai:chat", "label": provider},
                    "response": {"output": "...", "cached": cached}, "score": score,
                    "success": passed, "testCase": test, "testIdx": i * len(row) + r,
                    "vars": test.get("vars", {}), "failureReason": 0 if passed else 1,
                }  # fmt: skip
                if not passed:
                    one["error"] = text
                if broken:
                    one |= {"error": "Error: 429", "gradingResult": None, "failureReason": 2}
                    del one["response"]
                rows.append(one)
    random.Random(SEED).shuffle(rows)
    counts = [[sum(row["failureReason"] == why and row["promptIdx"] == c for row in rows)
               for why in (0, 1, 2)] for c in range(len(tensors))]  # fmt: skip
    names = ("successes", "failures", "errors")
    stats = {name: sum(row[i] for row in counts) for i, name in enumerate(names)}
    heads = [
        {"raw": prompt, "label": prompt, "provider": p, "metrics": {
            "score": sum(row["score"] for row in rows if row["promptIdx"] == c),
            "testPassCount": counts[c][0], "testFailCount": counts[c][1],
            "testErrorCount": counts[c][2]}}
        for c, (p, prompt) in enumerate(tensors)
    ]  # fmt: skip
    summary = {"version": 3, "timestamp": "2026-11-30T07:41:28.835Z", "prompts": heads}
    return {"evalId": evaluation, "results": {**summary, "results": rows, "stats": stats},
            "config": {}, "shareableUrl": None}  # fmt: skip


def write(path: Path, *args: Any, **options: Any) -> Path:
    """Write output."""
    path.write_text(json.dumps(output(*args, **options), indent=2))
    return path
