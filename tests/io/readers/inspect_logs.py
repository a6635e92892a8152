"""Write Inspect logs of known outcomes, in the layouts of two generations of the tool."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ZSTANDARD = 93
WORDS = {1: "C", 0: "I"}


def log(
    outcomes: Sequence[Sequence[Any]],
    *,
    model: str = "m",
    ids: Sequence[str | int] | None = None,
    task: str = "gpqa",
    task_id: str | None = None,
    created: str = "2026-01-01T00:00:00+00:00",
    status: str = "success",
    scorers: Mapping[str, Callable[[Any], Any]] | None = None,
    errors: Sequence[tuple[int, int]] = (),
    config: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    question: Callable[[Any], Any] = lambda i: f"Question {i}?",
    metadata: Callable[[int], dict[str, Any]] = lambda i: {"level": "easy" if i % 2 else "hard"},
    attachment: Callable[[int, int], str] | None = None,
    generation: str = "0.3.125",
) -> dict[str, Any]:
    """Return a whole log as JSON has it.

    `outcomes` is (problems, epochs): 1 and 0 become C and I, None is a sample that never ran, all
    else is written as it is. `scorers` maps a name to what it makes of an outcome. `errors` are
    (problem, epoch) positions, from 0, of samples without a score.
    """
    ids = ids or [f"q{i}" for i in range(len(outcomes))]
    scorers = scorers or {"choice": lambda y: WORDS.get(y, y)}
    newer = generation != "0.3.42"
    samples = []
    for r in range(len(outcomes[0])):
        for i, name in enumerate(ids):
            y = outcomes[i][r]
            if y is None:
                continue
            one = {
                "id": name, "epoch": r + 1, "input": question(name), "target": "A",
                "messages": [{"role": "user", "content": str(question(name))}],
                "output": {"model": model, "choices": []},
                "scores": {s: {"value": value(y), "answer": "A"} for s, value in scorers.items()},
                "metadata": metadata(i), "store": {}, "events": [],
            }  # fmt: skip
            if (i, r) in errors:
                one |= {"scores": {}, "error": {"message": "boom", "traceback": "..."}}
            if newer:
                one |= {"uuid": f"{name}-{r}", "total_time": 0.5, "working_time": 0.4}
            if attachment:
                one["attachments"] = {"a": attachment(i, r)}
            samples.append(one)
    given = dict(config or {})
    spec = {
        "run_id": f"run-{created}", "created": created, "task": task,
        "task_id": task_id or f"id-{model}-{task}-{created}", "task_version": 0, "task_args": {},
        "dataset": {"samples": len(ids), "sample_ids": list(ids), "shuffled": False},
        "model": model, "model_args": {},
        "config": {"epochs": len(outcomes[0]), **(limits or {})},
        "packages": {"inspect_ai": generation},
    }  # fmt: skip
    if newer:
        spec |= {"eval_id": f"eval-{created}", "model_generate_config": given}
        spec["scorers"] = [{"name": s} for s in scorers]
    plan = {"name": "plan", "steps": [{"solver": "generate", "params": {}}]}
    plan["config"] = {} if newer else given
    whole = {"version": 2, "status": status, "eval": spec, "plan": plan}
    if status == "success":
        done = sum(1 for s in samples if not s.get("error"))
        whole["results"] = {"total_samples": len(samples), "completed_samples": done, "scores": []}
    return {**whole, "samples": samples}


def summary(sample: Mapping[str, Any], newer: bool = True) -> dict[str, Any]:
    """Return the short row of a sample, as the tool of that generation writes it."""
    cut = sample["input"]
    if newer and isinstance(cut, str) and len(cut) > 5120:
        cut = cut[:5120] + "...\n(content truncated)"
    if newer and isinstance(cut, list):
        cut = [
            {**message, "content": [
                part if part["type"] == "text" else {"type": "text", "text": "(Image)"}
                for part in message["content"]
            ]}
            for message in cut
        ]  # fmt: skip
    row = {"id": sample["id"], "epoch": sample["epoch"], "input": cut, "target": sample["target"]}
    row |= {"scores": sample["scores"]} if sample["scores"] is not None else {}
    row |= {"error": sample["error"]["message"]} if sample.get("error") else {}
    return {**row, "metadata": sample["metadata"], "completed": True} if newer else row


def members(whole: Mapping[str, Any], *, summaries: bool = True) -> dict[str, bytes]:
    """Return what the archive of a log holds."""
    samples = whole.get("samples") or []
    newer = whole["eval"]["packages"]["inspect_ai"] != "0.3.42"
    rows = [summary(s, newer) for s in samples]
    header = {k: v for k, v in whole.items() if k != "samples"}
    start = {k: header[k] for k in ("version", "eval", "plan")}
    named = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    found: dict[str, Any] = {"_journal/start.json": start, **named}
    found["_journal/summaries/1.json"] = rows
    if summaries:
        found["summaries.json"] = rows
    if whole["status"] != "started":
        found["header.json"] = header
    return {name: json.dumps(value).encode() for name, value in found.items()}


def write(
    path: Path, whole: Mapping[str, Any], *, method: int = zipfile.ZIP_DEFLATED, **options: Any
) -> Path:
    """Write a log as JSON or, by its name, as an archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".eval":
        path.write_text(json.dumps(whole, indent=2))
    elif method == ZSTANDARD:
        path.write_bytes(zstandard(members(whole, **options)))
    else:
        with zipfile.ZipFile(path, "w", method, compresslevel=1) as archive:
            for name, data in members(whole, **options).items():
                archive.writestr(name, data)
    return path


def zstandard(files: Mapping[str, bytes]) -> bytes:
    """Return a ZIP archive with method 93, which `zipfile` cannot write before Python 3.14."""
    import pyarrow as pa

    local, central = b"", b""
    for name, data in files.items():
        packed, title = pa.compress(data, codec="zstd", asbytes=True), name.encode()
        sizes = zlib.crc32(data), len(packed), len(data), len(title), 0
        common = struct.pack("<HHHHHIIIHH", 45, 0, ZSTANDARD, 0, 33, *sizes)
        central += b"PK\1\2\55\0" + common + struct.pack("<HHHII", 0, 0, 0, 0, len(local)) + title
        local += b"PK\3\4" + common + title + packed
    n = len(files)
    return local + central + b"PK\5\6" + struct.pack(
        "<HHHHIIH", 0, 0, n, n, len(central), len(local), 0
    )  # fmt: skip


def export(path: Path, *logs: Mapping[str, Any], model: bool = True) -> Path:
    """Write the logs' samples as `samples_df()` exports them, to CSV or Parquet."""
    import pandas as pd

    rows = []
    for whole in logs:
        spec = whole["eval"]
        about = {"eval_id": spec["eval_id"], "log": "x.eval"}
        if model:
            about |= {"task_id": spec["task_id"], "created": pd.Timestamp(spec["created"])}
            about |= {"task_name": spec["task"], "model": spec["model"]}
        for s in whole["samples"]:
            values = {name: score["value"] for name, score in s["scores"].items()}
            texts = {k: json.dumps(v) if isinstance(v, dict) else str(v) for k, v in values.items()}
            rows.append({
                "sample_id": s["uuid"], **about, "id": str(s["id"]), "epoch": s["epoch"],
                "input": f"user:\n{s['input']}\n", "target": s["target"],
                **{f"metadata_{k}": v for k, v in s["metadata"].items()},
                **{f"score_{k}": v for k, v in texts.items()},
                "error": (s.get("error") or {}).get("message"), "retries": 0,
            })  # fmt: skip
    frame = pd.DataFrame(rows)
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
    return path
