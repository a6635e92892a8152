"""EvalPlus: ``*_eval_results.json``, samples of HumanEval+ or MBPP+ by task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from repeval.io.readers.base import Log, Record, choose, parse
from repeval.io.readers.totals import solved
from repeval.messages import refused

NAME, TITLE = "evalplus", "EvalPlus log"

#: The words of newer and older versions.
WORTH = {"pass": 1.0, "success": 1.0, "fail": 0.0, "failed": 0.0, "timeout": 0.0, "timed out": 0.0}


def sniff(path: Path, head: bytes) -> bool:
    """Tell by the keys of the first task, in the layouts of two generations."""
    if not re.search(rb'"eval"\s*:\s*\{', head):
        return False
    return b'"base_status"' in head or bool(re.search(rb'"base"\s*:\s*\[\s*\[\s*"', head))


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield the log of a file; `scorer` is base, or plus: base and extra tests."""
    results = parse(path.read_bytes())
    samples = {task: list(_samples(path, found)) for task, found in results["eval"].items()}
    names = ["base"]
    if any(extra for runs in samples.values() for _, extra in runs):
        names.append("plus")
    what = "outcomes (base: the base tests; plus: these and the extra ones)"
    name = choose(names, scorer, path, what)
    records = [
        _record(path, task, str(run), pair if name == "plus" else pair[:1])
        for task, runs in samples.items()
        for run, pair in enumerate(runs, 1)
    ]
    # Each task is called HumanEval/0 or Mbpp/2.
    task, slash, _ = next(iter(samples), "").partition("/")
    model = path.stem.removesuffix("eval_results").rstrip("._") or path.resolve().parent.name
    notes = [("model-from-file", "Models are called after their files, as none is named.")]
    notes += solved(path, (results.get("pass_at_k") or {}).get(name), records)
    yield Log(
        path, model, tuple(records), task=task if slash else "", notes=tuple(notes),
        created=results.get("date") or "", settings={"scorer": name},
    )  # fmt: skip


def _samples(path: Path, found: Any) -> Iterator[tuple[str | None, str | None]]:
    """Yield the two statuses of each sample of a task."""
    if isinstance(found, Mapping):
        columns = ([status for status, *_ in found[key]] for key in ("base", "plus"))
        yield from zip_longest(*columns)
        return
    for sample in found:
        if isinstance(sample.get("solution"), list):
            what = f"{path.name}: a sample of {sample.get('task_id')} is a list of programs"
            raise refused("several-in-one", f"{what}, which was judged as one.")
        yield sample["base_status"], sample["plus_status"]


def _record(path: Path, task: str, run: str, statuses: Sequence[str | None]) -> Record:
    """Judge a sample: one failure suffices, and for a pass all must have passed."""
    if unknown := {*statuses} - {*WORTH, None}:
        what = f"{path.name}: {task} has the status {unknown.pop()!r}"
        raise refused("outcome-unreadable", f"{what}.")
    worths = [WORTH.get(status or "") for status in statuses]
    value = 0.0 if 0.0 in worths else None if None in worths else 1.0
    return Record(task, run, value, "unscored" if value is None else None)
