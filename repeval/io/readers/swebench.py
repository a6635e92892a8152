"""SWE-bench summary reports: ``MODEL.RUN.json``, sets of instances instead of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from repeval.io.readers.base import Log, Record, parse
from repeval.io.readers.totals import counted, tallied
from repeval.messages import refused

NAME, TITLE = "swebench", "SWE-bench report"

COUNTS = (b'"total_instances"', b'"resolved_instances"', b'"unresolved_instances"')
#: What an instance of each set is worth, and what is said of it.
SETS = {
    "resolved_ids": (1.0, None),
    "unresolved_ids": (0.0, None),
    "empty_patch_ids": (0.0, "empty patch"),
    "error_ids": (None, "error"),
}


def sniff(path: Path, head: bytes) -> bool:
    """Tell by the counts, which come before the sets."""
    text = head.lstrip(b"\xef\xbb\xbf \r\n\t")
    return text.startswith(b"{") and all(key in text for key in COUNTS)


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield the log of a report: one run; `scorer` has nothing to choose."""
    report = parse(path.read_bytes())
    # Names of models hold dots, too.
    model, dot, run = path.stem.rpartition(".")
    notes = []
    if dot:
        notes.append(("model-from-file", "Reports are called MODEL.RUN.json: cut at the last dot."))
    if report.get("empty_patch_ids"):
        notes.append(("empty-patches", "Instances with an empty patch count as failed."))
    unrun = len(report.get("incomplete_ids") or ())
    records = []
    for key, worth in SETS.items():
        ids, count = report.get(key) or (), report.get(key.replace("_ids", "_instances"), 0)
        if len(ids) != count:
            raise refused("no-samples", f"{path.name} lists {len(ids)} of {count} {key}.")
        records += [Record(instance, "", *worth) for instance in ids]
    notes += _totals(path, report)
    yield Log(
        path, model, tuple(records), run=run if dot else "", notes=tuple(notes),
        status=f"{unrun} not run" if unrun else "", settings={"scorer": "resolved"},
    )  # fmt: skip


def _totals(path: Path, report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Hold the instances that were completed and submitted, and their numbers, against the sets."""
    ids = {key: report.get(key) or () for key in SETS}
    done, given = [*ids["resolved_ids"], *ids["unresolved_ids"]], [*chain(*ids.values())]
    rest, total = len(report.get("incomplete_ids") or ()), report.get("total_instances")
    yield from counted(path, "completed instances", report.get("completed_instances"), len(done))
    yield from tallied(path, "completed instances", report.get("completed_ids"), done)
    # Of what was submitted the data set may lack some, or the part of it that was asked for.
    submitted, known = report.get("submitted_instances"), set(given)
    if total != len(given) + rest or not isinstance(submitted, int) or submitted < len(given):
        yield from counted(path, "submitted instances", submitted, len(given))
    if isinstance(listed := report.get("submitted_ids"), list):
        ours = [one for one in listed if one in known]
        yield from tallied(path, "submitted instances", ours, given)
    # Of older reports instances that were not run are not listed.
    if "incomplete_ids" in report or (isinstance(total, int) and total < len(given)):
        yield from counted(path, "instances", total, len(given) + rest)
