"""lm-evaluation-harness: ``samples_TASK_TIME.jsonl``, with ``results_TIME.json`` beside it.

A file is one invocation. It scores a problem once for each filter, whatever `repeats` says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from repeval.io.parse import number
from repeval.io.readers.base import Log, Record, amount, choose, digest, parse
from repeval.io.readers.totals import counted, means, totals
from repeval.messages import refused

NAME, TITLE = "lm_eval", "lm-evaluation-harness log"

#: A long document may leave no other key in the head. Older versions wrote one JSON list.
FIRST = re.compile(rb'[\s\xef\xbb\xbf\[]*\{\s*"doc_id"\s*:\s*\d+\s*,\s*"doc"\s*:')
NAMED = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
#: What a line holds besides metrics; older versions do not list those.
NO_METRIC = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
             "doc_hash", "prompt_hash", "target_hash"}  # fmt: skip

#: Metrics whose total is the mean over documents.
MEANS = {"acc", "acc_norm", "exact_match", "em", "pass@1"}


def sniff(path: Path, head: bytes) -> bool:
    """Tell by the first keys of the first line."""
    return bool(FIRST.match(head))


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield the log of a file: one run; `scorer` is METRIC/FILTER or METRIC,FILTER."""
    lines = list(map(_kept, _lines(path)))
    if len({line["doc_id"] for line in lines}) < len(lines) and not lines[0]["filter"]:
        raise refused("filters-unnamed", f"{path.name} has several lines for a doc_id.")
    names = [f"{metric}/{line['filter'] or 'none'}" for line in lines for metric in line["metrics"]]
    name = choose(names, scorer and scorer.replace(",", "/"), path, "metrics and filters")
    if not name:
        raise refused("no-samples", f"{path.name} has no number as the score of a problem.")
    metric, _, chosen = name.rpartition("/")
    named = NAMED.fullmatch(path.name)
    task, time = named.groups() if named else ("", "")
    beside = next(filter(Path.is_file, path.parent.glob(f"*_{time}.json")), None) if named else None
    about = parse(beside.read_bytes()) if beside else {}
    model, notes = about.get("model_name") or "", []
    if named and not model:
        model = path.parent.resolve().name
        text = "Models without results_*.json beside their logs are called after the directory."
        notes.append(("model-from-file", text))
    if (repeats := lines[0]["repeats"]) > 1:
        text = (
            f"Of {repeats} repeats the harness made one score of each problem: this is one run. "
            "Runs are invocations of their own, each with another --seed."
        )
        notes.append(("repeats-scored-once", text))
    records = [_record(line, metric) for line in lines if (line["filter"] or "none") == chosen]
    notes += _totals(path, about, (task, time), (metric, chosen), records)
    yield Log(
        path, model, tuple(records), task=task, run=time, attempt=time, created=time,
        notes=tuple(notes), settings={"scorer": name, **_settings(about, task)},
    )  # fmt: skip


def _totals(
    path: Path,
    about: Mapping[str, Any],
    which: tuple[str, str],
    scored: tuple[str, str],
    records: Sequence[Record],
) -> Iterator[tuple[str, str]]:
    """Hold an invocation's results against the documents of a task, and groups against tasks."""
    (task, time), (metric, chosen) = which, scored
    results, samples = about.get("results") or {}, about.get("n-samples") or {}
    stated, asked = results.get(task) or {}, samples.get(task) or {}
    where, key = f"(results_{time}.json)", f"{metric},{chosen}"
    if metric in MEANS:
        yield from totals(path, f"{where} {metric}", stated.get(key), records)
    # Of single documents that were asked for only one of the two tells the number.
    lengths = [n for n in (asked.get("effective"), stated.get("sample_len")) if n is not None]
    if lengths and len(records) not in lengths:
        yield from counted(path, f"documents {where}", lengths[0], len(records))
    whole, limit = path.with_name(f"results_{time}.json"), (about.get("config") or {}).get("limit")
    if limit is None and None not in (asked.get("effective"), asked.get("original")):
        yield from counted(whole, f"documents of {task}", asked["original"], asked["effective"])
    for group, members in (about.get("group_subtasks") or {}).items():
        if task not in members:
            continue
        logged = [one for one in members if one in samples]
        beside = [o for o in logged if (path.parent / f"samples_{o}_{time}.jsonl").is_file()]
        yield from counted(whole, f"tasks of {group}", len(logged), len(beside))
        scores = [amount(results, one, key) for one in members]
        sizes = [amount(samples, one, "effective") for one in members]
        if metric in MEANS and None not in scores and all(sizes):
            found = [fmean(scores, weights) for weights in (sizes, None)]
            given = (results.get(group) or {}).get(key)
            yield from means(whole, f"{metric} of {group}", given, found, "tasks give")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        if file.read(9).lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"["):
            yield from parse(path.read_bytes())
            return
        file.seek(0)
        yield from (parse(line) for line in file if line.strip())


def _kept(line: Mapping[str, Any]) -> dict[str, Any]:
    """Forget documents, prompts and responses."""
    named = line.get("metrics") or [key for key in line if key not in NO_METRIC]
    resps = line.get("resps") or [[]]
    return {
        "doc_id": line["doc_id"],
        "filter": line.get("filter"),
        "metrics": {key: line[key] for key in named if isinstance(line.get(key), int | float)},
        "repeats": len(resps[0]) if isinstance(resps[0], list) else 1,
        "question": digest(json.dumps(line["doc"], sort_keys=True), str(line.get("target"))),
    }


def _record(line: Mapping[str, Any], metric: str) -> Record:
    value = number(line["metrics"].get(metric, math.nan))
    missing = math.isnan(value)
    status = "unscored" if missing else None
    return Record(line["doc_id"], "", None if missing else value, status, line["question"])


def _settings(about: Mapping[str, Any], task: str) -> dict[str, str]:
    config = (about.get("configs") or {}).get(task) or {}
    found = {key.replace("_", " "): config.get(key) for key in ("num_fewshot", "repeats")}
    found["generation"] = config.get("generation_kwargs")
    found["task version"] = (about.get("versions") or {}).get(task)
    found["limit"] = (about.get("config") or {}).get("limit")
    found["system instruction"] = about.get("system_instruction")
    return {key: str(value) for key, value in found.items() if value is not None}
