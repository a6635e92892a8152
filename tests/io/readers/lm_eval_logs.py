"""Write logs of lm-evaluation-harness of known outcomes: a file of samples for each invocation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Score = Callable[[Any], Any]


def hashed(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def lines(
    outcomes: Sequence[Any],
    *,
    filters: Mapping[str, Mapping[str, Score]] | None = None,
    repeats: int = 1,
    older: bool = False,
    doc: Callable[[int], dict[str, Any]] = lambda i: {"question": f"{i}?", "answer": "4"},
) -> list[dict[str, Any]]:
    """Return the lines of one invocation: all problems for the first filter, then for the next.

    `filters` maps a filter to its metrics, each with what it makes of an outcome. `older` versions
    name neither.
    """
    found = []
    for name, metrics in (filters or {"none": {"acc": float}}).items():
        for i, y in enumerate(outcomes):
            line = {
                "doc_id": i, "doc": doc(i), "target": "4",
                "arguments": {"gen_args_0": {"arg_0": f"Q: {i}?", "arg_1": {"until": ["\n"]}}},
                "resps": [["4"] * repeats], "filtered_resps": ["4"],
                "filter": name, "metrics": list(metrics), "doc_hash": hashed(doc(i)),
                "prompt_hash": hashed(f"Q: {i}?"), "target_hash": hashed("4"),
            }  # fmt: skip
            if older:
                for key in ("filter", "metrics", "doc_hash", "prompt_hash", "target_hash"):
                    del line[key]
            found.append(line | {metric: score(y) for metric, score in metrics.items()})
    return found


def write(
    folder: Path,
    outcomes: Sequence[Any],
    *,
    time: str = "2026-11-30T07-33-05.317738",
    task: str = "gsm8k",
    model: str = "org/m",
    results: bool = True,
    config: Mapping[str, Any] | None = None,
    **options: Any,
) -> Path:
    """Write an invocation's samples, and its results beside them; return the samples' path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{time}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines(outcomes, **options)))
    judged = [float(y) for y in outcomes if isinstance(y, int | float)]
    mean = sum(judged) / len(judged) if judged else 0.0
    about = {
        "results": {task: {"alias": task, "sample_len": len(outcomes), "acc,none": mean}},
        "n-samples": {task: {"original": len(outcomes), "effective": len(outcomes)}},
        "configs": {task: {"task": task, "num_fewshot": 5, "repeats": 1, **(config or {})}},
        "versions": {task: 3.0}, "n-shot": {task: 5},
        "config": {"model": "hf", "model_args": f"pretrained={model}", "limit": None},
        "model_source": "hf", "model_name": model, "system_instruction": None,
    }  # fmt: skip
    if results:
        (folder / f"results_{time}.json").write_text(json.dumps(about, indent=2))
    return path


def write_runs(folder: Path, tensor: Sequence[Sequence[Any]], **options: Any) -> list[Path]:
    """Write an invocation for each run of (problems, runs)."""
    return [
        write(folder, [row[r] for row in tensor], time=f"2026-11-30T07-0{r}-00.5", **options)
        for r in range(len(tensor[0]))
    ]
