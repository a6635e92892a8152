"""tau-bench: a JSON list of trials, which names no model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repeval.io.readers.base import Log, Record, digest, parse
from repeval.io.readers.totals import counted

NAME, TITLE = "tau_bench", "tau-bench log"

KEYS = (b'"task_id"', b'"reward"', b'"info"')


def sniff(path: Path, head: bytes) -> bool:
    """Tell by the keys of the first trial; what was said comes after them."""
    text = head.lstrip(b"\xef\xbb\xbf \r\n\t")
    return text.startswith(b"[") and all(key in text for key in KEYS)


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield the log of a file; `scorer` has nothing to choose."""
    trials = parse(path.read_bytes())
    # There are no totals; but each reward is written twice.
    twice = [(t["reward"], (t["info"].get("reward_info") or {}).get("reward")) for t in trials]
    stated = [one == other for one, other in twice if other is not None]
    notes = counted(path, "trials whose details give another reward", 0, stated.count(False))
    yield Log(
        path, "", tuple(map(_record, trials)), settings={"scorer": "reward"}, notes=notes
    )  # fmt: skip


def _record(trial: Mapping[str, Any]) -> Record:
    info, reward = trial["info"], trial["reward"]
    # The harness writes 0.0 for a trial that crashed: nobody judged it.
    crashed = "error" in info and not reward
    value = None if crashed or reward is None else float(reward)
    status = "error" if "error" in info else "unscored" if reward is None else None
    asked = info.get("task")
    question = digest(json.dumps(asked, sort_keys=True)) if asked else None
    return Record(trial["task_id"], str(trial["trial"]), value, status, question)
