"""Write Every Eval Ever records of known outcomes: an evaluation, and its samples."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

KEY = "6d866c28-d9a3-40b2-b383-b5e1342c801"


def rows(
    outcomes: Sequence[Sequence[Any]],
    *,
    model: str = "m",
    task: str = "t",
    results: Mapping[str, Any] | None = None,
    run: str = "epoch",
    identity: str = "",
    questions: Sequence[str | None] = (),
    ids: Sequence[str] = (),
    metadata: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return the samples' records: an outcome is a score, or None for an error.

    `results` gives each result's score from an outcome; `run` is the field that numbers runs, "" if
    none does. Records stand run by run.
    """
    found = []
    for r in range(len(outcomes[0])):
        for i, runs in enumerate(outcomes):
            for name, score in (results or {"": float}).items():
                y = runs[r]
                found.append({
                    "schema_version": "0.3.0", "evaluation_id": identity or f"{task}/{model}/1",
                    "model_id": model, "evaluation_name": task,
                    **({"evaluation_result_id": name} if name else {}),
                    "sample_id": ids[i] if ids else f"q{i}",
                    "sample_hash": questions[i] if questions else f"{i:064x}",
                    "interaction_type": "single_turn",
                    "input": {"raw": f"{i}?", "reference": ["4"]}, "output": {"raw": ["4"]},
                    "answer_attribution": [],
                    "evaluation": {"score": 0.0 if y is None else score(y),
                                   "is_correct": y == 1},
                    **({"error": "timeout"} if y is None else {}),
                    "metadata": {**({run: str(r + 1)} if run else {}), **(metadata or {})},
                })  # fmt: skip
    return found


def evaluation(
    score: float | Mapping[str, float],
    *,
    model: str = "m",
    task: str = "t",
    created: int = 1,
    n_rows: int | None = None,
    n_samples: int | None = None,
    ids: Sequence[str] | None = None,
    key: str = f"{KEY}3",
    config: Mapping[str, Any] | None = None,
    metric: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an evaluation's record; `score` may be one for each result's id."""
    scores = score if isinstance(score, Mapping) else {"": score}
    about = {"lower_is_better": False, "metric_kind": "accuracy", "score_type": "binary"}
    detailed = {"format": "jsonl", "file_path": f"data/t/d/m/{key}_samples.jsonl"}
    if n_rows is not None:
        detailed["total_rows"] = n_rows
    return {
        "schema_version": "0.3.0", "evaluation_id": f"{task}/{model}/{created}",
        "retrieved_timestamp": str(created),
        "source_metadata": {"source_type": "evaluation_run", "source_organization_name": "us",
                            "evaluator_relationship": "other"},
        "eval_library": {"name": "none", "version": "unknown"},
        "model_info": {"name": model, "id": model,
                       "additional_details": {"deployment_type": "unknown",
                                              "model_availability": "unknown"}},
        "evaluation_results": [{
            **({"evaluation_result_id": name} if name else {}), "evaluation_name": task,
            "source_data": {"dataset_name": task, "source_type": "other",
                            **({"sample_ids": list(ids)} if ids else {})},
            "metric_config": {**about, **(metric or {})},
            "score_details": {"score": value,
                              **({"uncertainty": {"num_samples": n_samples}} if n_samples else {})},
            "generation_config": {"generation_args": dict(config or {})},
        } for name, value in scores.items()],
        "detailed_evaluation_results": detailed,
    }  # fmt: skip


def write(
    folder: Path,
    lines: Sequence[Mapping[str, Any]],
    about: Mapping[str, Any] | None = None,
    key: str = f"{KEY}3",
) -> Path:
    """Write samples, and the evaluation beside them; return the file of samples."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{key}_samples.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if about is not None:
        (folder / f"{key}.json").write_text(json.dumps(about))
    return path
