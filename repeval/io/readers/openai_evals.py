"""OpenAI Evals: a JSON Lines file of events for each run, as ``oaieval`` records it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from repeval.io.parse import number
from repeval.io.readers.base import Log, Record, choose, parse
from repeval.io.readers.totals import counted, totals

NAME, TITLE = "openai_evals", "OpenAI Evals log"

FIRST = re.compile(rb'[\s\xef\xbb\xbf]*\{\s*"spec"\s*:\s*\{')


def sniff(path: Path, head: bytes) -> bool:
    """Tell by the first line."""
    return bool(FIRST.match(head))


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield the log of a file: one run; `scorer` is match, or a name among the metrics."""
    with path.open("rb") as file:
        spec, *events = (parse(line) for line in file if line.strip())
    spec = spec["spec"]
    whole = any("final_report" in event for event in events)
    values = [(event["sample_id"], _values(event)) for event in events if event.get("sample_id")]
    name = choose((name for _, found in values for name in found), scorer, path)
    records = [Record(i, "", number(found[name])) for i, found in values if name in found]
    report = next((event["final_report"] for event in events if "final_report" in event), None)
    report = report if isinstance(report, dict) else {}
    what = "accuracy" if name == "match" else name
    notes = (*totals(path, what, report.get(what), records), *_totals(path, report, events))
    judged = {record.problem for record in records}
    unjudged = dict.fromkeys(i for i, _ in values if i not in judged)
    records += [Record(i, "", None, "unscored") for i in unjudged]
    yield Log(
        path, ", ".join(spec["completion_fns"]), tuple(records), task=spec.get("eval_name") or "",
        run=spec.get("run_id") or "", attempt=spec.get("run_id") or "",
        created=spec.get("created_at") or "", status="" if whole else "unfinished",
        settings={"scorer": name}, notes=notes,
    )  # fmt: skip


def _totals(
    path: Path, report: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Hold the numbers of events, which run from 0, and those of choices against the events."""
    numbers = [event["event_id"] for event in events if "event_id" in event]
    if numbers and all(isinstance(number, int) for number in numbers):
        distinct, last = len(set(numbers)), max(numbers) + 1
        yield from counted(path, "events", last, distinct if distinct < last else len(numbers))
    found: Counter[str] = Counter()
    for event in events:
        data = (event.get("data") or {}) if event.get("type") == "metrics" else {}
        found.update(f"counts/{key}/{value}" for key, value in data.items())
    for key, stated in report.items():
        # A model that grades gives "choice", or several under names of their own.
        if key.startswith("counts/") and "__missing_samples__" not in key:
            n = found[key] or found[key.replace("counts/", "counts/choice/", 1)]
            yield from counted(path, f"samples of {key}", stated, n)


def _values(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outcomes that an event holds."""
    data = event.get("data") or {}
    if event.get("type") == "match":
        return {"match": data["correct"]}
    numbers = data if event.get("type") == "metrics" else {}
    return {key: v for key, v in numbers.items() if isinstance(v, int | float) and v == v}
