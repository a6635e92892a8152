"""Write records of OpenAI Evals of known outcomes: a file for each run."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

SEED = 2606


def events(
    outcomes: Sequence[Any],
    *,
    model: str = "m",
    run: str = "2304172208",
    metrics: Mapping[str, Callable[[Any], Any]] | None = None,
    report: bool = True,
) -> list[dict[str, Any]]:
    """Return the lines of one run: an outcome is 1, 0, or None for a sample without a verdict.

    `metrics` are recorded in place of a match.
    """
    spec = {
        "completion_fns": [model], "eval_name": "test.s1", "base_eval": "test", "split": "s1",
        "run_config": {"seed": 1}, "run_id": run, "created_at": f"2023-04-17 22:0{run[-1]}:00",
    }  # fmt: skip
    found: list[dict[str, Any]] = [{"spec": spec}]
    judged = [bool(y) for y in outcomes if y is not None]
    accuracy = sum(judged) / len(judged) if judged else 0.0
    found += [{"final_report": {"accuracy": accuracy}}] * report
    order = list(enumerate(outcomes))
    random.Random(f"{SEED}{run}").shuffle(order)
    number = 0
    for i, y in order:
        kinds: list[tuple[str, dict[str, Any]]] = [("sampling", {"prompt": f"{i}?", "sampled": 4})]
        if y is not None and metrics:
            kinds.append(("metrics", {key: value(y) for key, value in metrics.items()}))
        elif y is not None:
            kinds.append(("match", {"correct": bool(y), "expected": "4", "picked": "4"}))
        for kind, data in kinds:
            found.append({"run_id": run, "event_id": number, "sample_id": f"q{i}",
                          "type": kind, "data": data})  # fmt: skip
            number += 1
    return found


def write(path: Path, outcomes: Sequence[Any], **options: Any) -> Path:
    """Write one run."""
    path.write_text("".join(json.dumps(line) + "\n" for line in events(outcomes, **options)))
    return path
