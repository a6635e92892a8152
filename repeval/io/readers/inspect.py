"""Inspect: ``.eval`` archives, JSON logs, and what ``samples_df()`` exports.

An archive's ``header.json`` and ``summaries.json`` usually say everything; only where they do not
are the samples read, one at a time. Nothing is extracted to disk.
"""

from __future__ import annotations

import json
import math
import re
import struct
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from repeval.io.containers import footer, zips
from repeval.io.containers.room import LARGEST, Room, json_cost
from repeval.io.containers.words import Columns
from repeval.io.files import read as read_table
from repeval.io.parse import number
from repeval.io.readers.base import Log, Record, Usage, amount, choose, digest, parse
from repeval.io.readers.totals import counted, tallied, totals
from repeval.messages import refused

NAME, TITLE = "inspect", "Inspect log"

MEMBERS = (b"_journal/", b"samples/", b"header.json", b"summaries.json")
SPEC = rb'"eval"\s*:\s*\{\s*"(eval_set_id|eval_id|run_id|created|task)"\s*:'
ZSTANDARD = 93
#: What Inspect's own scores are worth, besides the words that tables may hold.
GRADES = {"P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0}
#: Metrics that are the mean of a scorer's values.
MEANS = ("accuracy", "mean")
#: Newer summaries cut inputs off after 5,120 characters.
COMPARED = 5000
GENERATION = ("temperature", "top_p", "top_k", "max_tokens", "reasoning_effort",
              "reasoning_tokens", "system_message")  # fmt: skip
LIMITS = ("message_limit", "token_limit", "time_limit", "working_limit", "cost_limit")


def sniff(path: Path, head: bytes) -> bool:
    """Tell an archive by its first member, JSON by its keys, an export by its columns."""
    if head.startswith(b"PK\3\4"):
        return head[30:].startswith(MEMBERS)
    if _is_json(head):
        return b'"status"' in head and bool(re.search(SPEC, head))
    return _exports(path, head)


def _is_json(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield the log of a file, or the logs of an export."""
    with path.open("rb") as file:
        head = file.read(2**16)
    if _is_json(head):
        header = parse(path.read_bytes())
        yield _log(path, header, header.get("samples") or (), scorer)
    elif _exports(path, head):
        kind = "parquet" if head.startswith(b"PAR1") else "csv"
        yield from _export(path, read_table(path, None, kind).columns, scorer)
    else:
        with zipfile.ZipFile(path) as archive:
            yield _log(path, *_archive(archive, path), scorer)


def _archive(
    archive: zipfile.ZipFile, path: Path
) -> tuple[dict[str, Any], Iterable[dict[str, Any]]]:
    """Return the header and the samples, in short where that is enough."""
    size, unpacked = path.stat().st_size, 0
    # A member written twice counts as last written.
    members = {info.filename: info for info in zips.members(archive)}

    def load(name: str) -> Any:
        nonlocal unpacked
        # Samples are held one at a time; all together take time.
        shown, room, member = f"{path.name}: {name}", Room(size), members[name]
        room.take(shown, 2 * member.file_size)
        unpacked += member.file_size
        if unpacked > max(LARGEST, 100 * size):
            raise refused("member-too-large", f"{path.name} unpacks to over {unpacked:,} bytes.")
        data = _bytes(archive, member)
        room.take(shown, json_cost(data) - 2 * member.file_size)
        return parse(data)

    header = load("header.json") if "header.json" in members else load("_journal/start.json")
    samples = [n for n in members if n.startswith("samples/") and n.endswith(".json")]
    if "summaries.json" in members and not header.get("invalidated"):
        short = load("summaries.json")
        if len(short) >= len(samples) and (not samples or any(row.get("scores") for row in short)):
            return header, short
    return header, map(load, samples)


def _bytes(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    try:
        return archive.read(member)
    except RuntimeError:
        if member.compress_type != ZSTANDARD:
            raise
    file = archive.fp
    file.seek(member.header_offset + 26)
    name, extra = struct.unpack("<HH", file.read(4))
    file.seek(name + extra, 1)
    data = _unpacked(file.read(member.compress_size), member.file_size)
    if data is None:
        what = f"{Path(archive.filename or '').name} is compressed with Zstandard"
        raise refused("needs-zstandard", f"{what}, which this Python does not read.")
    if zlib.crc32(data) != member.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {member.filename!r}")
    return data


def _unpacked(packed: bytes, size: int) -> bytes | None:
    """Undo Zstandard with one of two libraries; the second comes with Inspect."""
    with suppress(ImportError):
        import pyarrow as pa

        return pa.decompress(packed, size, "zstd", asbytes=True)
    with suppress(ImportError):
        import zstandard

        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    return None


def _log(path: Path, header: dict[str, Any], samples: Iterable[dict], scorer: str | None) -> Log:
    spec, status = header["eval"], header.get("status", "started")
    kept = [(_kept(sample), _values(sample)) for sample in samples]
    if not kept and (status == "success" or header.get("results")):
        raise refused("no-samples", f"{path.name} holds totals, but no samples.")
    name = choose((n for _, values in kept for n in values), scorer, path)
    records = tuple(
        _record(path, sample, values.get(name), name, status) for sample, values in kept
    )
    return Log(
        path,
        spec["model"],
        records,
        task=spec.get("task") or "",
        attempt=spec.get("task_id") or "",
        created=spec.get("created") or "",
        status="" if status == "success" else status,
        settings={"scorer": name, **_settings(header)},
        notes=tuple(_totals(path, header, name, kept, records)),
        usage=_used(header, len(records)),
    )


def _used(header: Mapping[str, Any], runs: int) -> Usage:
    """Return what the header says that all models together used, those of scorers too."""
    usage = (header.get("stats") or {}).get("model_usage") or {}
    cost, tokens = (
        sum(found) if None not in (found := [amount(u, key) for u in usage.values()]) else 0.0
        for key in ("total_cost", "total_tokens")
    )
    return Usage(cost, runs * bool(cost), tokens, runs * bool(tokens))


def _totals(
    path: Path,
    header: Mapping[str, Any],
    name: str,
    kept: Sequence[tuple[dict[str, Any], dict[str, Any]]],
    records: Sequence[Record],
) -> Iterator[tuple[str, str]]:
    """Hold what the header says of scores, and of samples planned and run, against the samples."""
    results, scorer = header.get("results") or {}, name.split("/")
    for score in results.get("scores") or ():
        # Of a scorer with keys each is a score; other reducers than the mean give other totals.
        named = score.get("name")
        ours = named == name or (named == scorer[-1] and score.get("scorer") == scorer[0])
        if ours and score.get("reducer") in (None, "mean"):
            metrics = score.get("metrics") or {}
            what = next((key for key in MEANS if key in metrics), "")
            stated = (metrics.get(what) or {}).get("value")
            yield from totals(path, what, stated, records)
            yield from _scored(path, score, name, kept)
    planned, done = results.get("total_samples"), results.get("completed_samples")
    # Scorers may have judged a sample before it broke off; what none has judged may not count.
    most = sum(sample["scored"] or not sample["error"] for sample, _ in kept)
    least = sum(sample["scored"] and not sample["error"] for sample, _ in kept)
    stops = (results.get("early_stopping") or {}).get("early_stops") or ()
    abandoned = results.get("logged_samples") is not None
    if header.get("status") != "success" or abandoned or not planned:
        if isinstance(done, int) and done > most:
            yield from counted(path, "completed samples", done, most)
        return
    lost = tuple(counted(path, "total samples", planned, len(kept) + len(stops)))
    if not lost and isinstance(done, int) and not least <= done <= most:
        lost = counted(path, "completed samples", done, most if done > most else least)
    yield from lost
    spec = header["eval"]
    epochs = (spec.get("config") or {}).get("epochs") or 1
    ids = (spec.get("dataset") or {}).get("sample_ids") or ()
    # Samples that a task made as it ran are in no list.
    if len(ids) * epochs == planned:
        ran = [*(sample["id"] for sample, _ in kept), *(stop.get("id") for stop in stops)]
        yield from tallied(path, "samples", [*ids] * epochs, ran)


def _scored(
    path: Path,
    score: Mapping[str, Any],
    name: str,
    kept: Sequence[tuple[dict[str, Any], dict[str, Any]]],
) -> Iterator[tuple[str, str]]:
    """Hold the numbers of samples that a scorer judged and did not against its values.

    Epochs of a sample usually count once, after they were reduced; those without a value are left
    out then, or the whole sample is.
    """
    found: dict[str, list[bool]] = defaultdict(list)
    for sample, values in kept:
        found[str(sample["id"])].append(name in values)
    judged, runs = sum(map(sum, found.values())), len(kept)
    least, most = sum(map(all, found.values())), sum(map(any, found.values()))
    n, rest = score.get("scored_samples"), score.get("unscored_samples")
    if isinstance(n, int) and not (least <= n <= most or n == judged):
        yield from counted(path, "scored samples", n, most if n > most else least)
    elif isinstance(n, int) and isinstance(rest, int):
        # Samples of which a scorer said nothing are in neither number.
        read = runs if n == judged else len(found)
        yield from counted(path, "samples with or without a score", max(n + rest, read), read)


def _kept(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Forget messages, events and attachments."""
    metadata = (sample.get("metadata") or {}).items()
    labels = {k: v for k, v in metadata if isinstance(v, str | int | float) and len(str(v)) < 100}
    kept = {key: sample.get(key) for key in ("id", "epoch", "error", "invalidation")}
    kept["scored"] = bool(sample.get("scores") or sample.get("score"))
    return {**kept, "labels": labels, "question": _question(sample)}


def _values(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sample's scores by ``scorer`` or ``scorer/key``."""
    scores = sample.get("scores") or {}
    if single := sample.get("score"):
        scores = {"score": single}
    values: dict[str, Any] = {}
    for name, score in scores.items():
        value = score["value"]
        several = isinstance(value, dict)
        values |= {f"{name}/{key}": v for key, v in value.items()} if several else {name: value}
    # No verdict (null or NaN) does not tell whether the scorer has keys.
    return {name: value for name, value in values.items() if value is not None and value == value}


def _record(path: Path, sample: Mapping[str, Any], value: Any, scorer: str, status: str) -> Record:
    grade = GRADES.get(value, value) if isinstance(value, str) else value
    worth = math.nan if grade is None else number(grade)
    if math.isinf(worth):
        what = f"scorer {scorer} gives {str(value)[:40]!r} for sample {sample['id']!r}"
        raise refused("outcome-unreadable", f"{path.name}: {what}.")
    missing = math.isnan(worth)
    if sample["invalidation"]:
        wrong, missing = "invalidated", True
    elif sample["error"]:
        wrong = "error"
    else:
        wrong = ("unscored" if status == "success" else status) if missing else None
    epoch = 1 if sample["epoch"] is None else int(sample["epoch"])
    return Record(
        sample["id"], str(epoch), None if missing else worth, wrong, sample["question"],
        sample["labels"],
    )  # fmt: skip


def _question(sample: Mapping[str, Any]) -> str | None:
    """Return a digest of input and target that summaries and whole samples share."""
    asked, target = sample.get("input") or "", sample.get("target") or ""
    if isinstance(asked, list):
        asked = "\n".join(t[:COMPARED] for message in asked for t in _texts(message["content"]))
    asked = asked.removeprefix("user:\n").strip()
    targets = [target] if isinstance(target, str) else target
    return digest(*(str(text)[:COMPARED] for text in (asked, *targets))) if asked else None


def _texts(content: str | list[dict[str, Any]]) -> list[str]:
    """Return the texts of a message; summaries name a picture or a file in its place."""
    parts = [content] if isinstance(content, str) else [part.get("text") for part in content]
    return [text for text in parts if text and not re.fullmatch(r"\(\w+\)", text)]


def _settings(header: Mapping[str, Any]) -> dict[str, str]:
    spec, plan = header["eval"], header.get("plan") or {}
    config = spec.get("config") or {}
    generation = {**(plan.get("config") or {}), **(spec.get("model_generate_config") or {})}
    found = {key.replace("_", " "): generation.get(key) for key in GENERATION}
    found |= {key.replace("_", " "): config.get(key) for key in LIMITS}
    found["task version"] = spec.get("task_version")
    found["task arguments"] = spec.get("task_args") or None
    found["solver"] = ", ".join(step["solver"] for step in plan.get("steps") or ())
    return {key: str(value) for key, value in found.items() if value is not None}


def _exports(path: Path, head: bytes) -> bool:
    line = head.partition(b"\n")[0].decode("utf-8", "replace")
    names = re.split(r'[,;\t"\s]+', line)
    if head.startswith(b"PAR1"):
        try:
            names, _ = footer.head(path)
        except (OSError, ValueError):
            return False  # what is damaged, or cannot be read here, is refused where it is read
    return {"sample_id", "id", "epoch"} <= {*names} and any(n.startswith("score_") for n in names)


def _export(path: Path, columns: Columns, scorer: str | None) -> Iterator[Log]:
    """Yield a log for each evaluation in a table of samples."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    evals: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        evals.setdefault(row.get("eval_id"), []).append(row)
    if len(evals) > 1 and "model" not in columns:
        what = f"{path.name} holds {len(evals)} evaluations and names no model."
        raise refused("export-without-model", what)
    for key, samples in evals.items():
        first = samples[0]
        spec = {"model": first.get("model") or "", "task": first.get("task_name") or ""}
        spec |= {"created": str(first.get("created", "")), "task_id": first.get("task_id") or key}
        yield _log(path, {"status": "success", "eval": spec}, map(_sample, samples), scorer)


def _sample(row: Mapping[str, Any]) -> dict[str, Any]:
    scores = {k.removeprefix("score_"): v for k, v in row.items() if k.startswith("score_")}
    for name, value in scores.items():
        several = isinstance(value, str) and value.startswith("{")
        scores[name] = {"value": json.loads(value) if several else None if value == "" else value}
    metadata = {k.removeprefix("metadata_"): v for k, v in row.items() if k.startswith("metadata_")}
    return {**row, "scores": scores, "metadata": metadata}
