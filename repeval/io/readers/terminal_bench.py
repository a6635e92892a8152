"""Terminal-Bench (tb): the directory of an invocation, or its ``results.json``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from repeval.io.readers.base import Log, Record, digest, parse_file
from repeval.io.readers.totals import counted, passed, solved, tallied, totals

NAME, TITLE = "terminal_bench", "Terminal-Bench run"

#: The file of an invocation holds those of its trials, which have the same name.
WHOLE = re.compile(rb'[\s\xef\xbb\xbf]*\{.*"results"\s*:\s*\[.*"(is|n)_resolved"', re.DOTALL)
TRIAL = (b'"trial_name"', b'"is_resolved"')
SETTINGS = ("agent_kwargs", "dataset_name", "dataset_version", "commit_hash")


def sniff(path: Path, head: bytes) -> bool:
    """Tell an invocation by its results, or those of its trials; a trial alone is none."""
    if not path.is_dir():
        return bool(WHOLE.match(head))
    whole, trials = _files(path)
    return any(WHOLE.match(_head(file)) for file in whole) or any(
        all(key in _head(file) for key in TRIAL) for file in trials
    )


def _files(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the file of an invocation, if it was written, and those of its trials."""
    whole, trials = path.glob("results.json"), path.glob("*/*/results.json")
    return [f for f in whole if f.is_file()], [f for f in sorted(trials) if f.is_file()]


def _head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(2**16)


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield the log of an invocation; `scorer` has nothing to choose."""
    whole, parts = _files(path) if path.is_dir() else ([path], [])
    sums = parse_file(whole[0]) if whole else {}
    trials = list(sums.get("results") or ())
    # An interrupted invocation may not have summed up its trials.
    trials += [parse_file(file) for file in parts]
    once = {trial["trial_name"]: trial for trial in trials}.values()
    folder = path.parent if path.name == "results.json" else path
    about = folder / "run_metadata.json"
    meta = parse_file(about) if about.is_file() else {}
    records = tuple(map(_record, once))
    yield Log(
        folder,
        # Invocations are put together as runs: those of other agents must not be.
        "/".join(filter(None, (meta.get("agent_name"), meta.get("model_name")))),
        records,
        run=meta.get("run_id") or folder.name,
        created=meta.get("start_time") or "",
        status="" if meta.get("end_time", True) else "unfinished",
        settings={"scorer": "resolved"}
        | {key.replace("_", " "): str(meta[key]) for key in SETTINGS if meta.get(key)},
        notes=tuple(_totals(folder, sums, meta, records)),
    )


def _totals(
    folder: Path, sums: Mapping[str, Any], meta: Mapping[str, Any], records: Sequence[Record]
) -> Iterator[tuple[str, str]]:
    """Hold what an invocation was summed up to, also in its metadata, against its trials."""
    n, trials = passed(records), sums.get("results") or ()
    names = {trial["trial_name"] for trial in trials}
    yield from counted(folder, "trials in its results", len(trials), len(names))
    yield from counted(folder, "resolved trials", sums.get("n_resolved"), n)
    yield from counted(folder, "unresolved trials", sums.get("n_unresolved"), len(records) - n)
    for what, right in (("resolved", True), ("unresolved", False)):
        tasks = [record.problem for record in records if (record.value == 1) is right]
        yield from tallied(folder, f"{what} trials", sums.get(f"{what}_ids"), tasks)
    for stated in (sums, meta):
        yield from totals(folder, "accuracy", stated.get("accuracy"), records)
        yield from solved(folder, stated.get("pass_at_k"), records)


def _record(trial: Mapping[str, Any]) -> Record:
    task, name, resolved = trial["task_id"], trial["trial_name"], trial["is_resolved"]
    attempt = re.match(r"(\d+)-of-\d+", name.removeprefix(f"{task}."))
    mode = trial.get("failure_mode")
    if mode in ("none", "unset", None):
        mode = "unscored" if resolved is None else None
    return Record(
        task,
        attempt[1] if attempt else name,
        # An agent that ran out of time may have solved the task before.
        None if resolved is None else float(resolved),
        mode,
        digest(trial["instruction"]) if trial.get("instruction") else None,
    )
