"""Logs to tables: one name for each system, no run twice, the same question behind the same id."""

from __future__ import annotations

import hashlib
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from repeval.io.columns import ROLES, STATUS
from repeval.io.files import Table
from repeval.io.parse import SURROGATE, joined, key_text, label_text
from repeval.io.readers import Found
from repeval.io.readers.base import Log, Record
from repeval.messages import Notice, RepevalError, refused, some

__all__ = ["tables"]

TAKEN = {*ROLES, *STATUS, "task"}


class _Read(NamedTuple):
    """A log, the name that NAME=PATH gives its model, and the digest of its file."""

    log: Log
    name: str | None
    sha256: str

    @property
    def model(self) -> str:
        path = self.log.path
        return self.name or self.log.model or (path.name if path.is_dir() else path.stem)

    @property
    def system(self) -> tuple[str, str, str]:
        return self.log.task, self.log.condition, self.model


#: The logs of each system by attempt, in the order of time.
_Attempts = dict[tuple[str, str, str], dict[Any, list[_Read]]]


def tables(
    found: Found,
    scorer: str | None,
    notices: list[Notice],
    retries: str | None = None,
    questions: str = "",
) -> list[Table]:
    """Read logs and put them together.

    Copies of a system's log, byte for byte, are left out, unless the format names them different
    runs. Of retries of one evaluation the latest success of a run counts. Other logs of one model
    are refused, unless each of them is one run, or one NAME= for all of them says that they are one
    system: then their runs are numbered on.

    Parameters
    ----------
    found : Found
        Files of one reader.
    scorer : str or None
        Which of several scorers.
    notices : list of Notice
        What was assumed is added.
    retries : {None, "last", "best", "first"}
        Which judged attempt at a run counts, also where one log holds several; None: the latest
        success, and a run that is twice in a log is refused.
    questions : str
        Name of a column for the digests of what was asked; "": none.

    Returns
    -------
    list of Table
        One for each log with records that count; columns model, condition, problem, run, outcome,
        status, task where logs name one, then labels.

    Raises
    ------
    RepevalError
        For logs that cannot be read or put together without guessing.
    """
    reads, copies, alike = [], [], []
    seen: dict[tuple[str, ...], Path] = {}
    for path, name in found.files:
        sha256 = _sha256(path)
        for log in _logs(found.reader, path, scorer):
            one = _Read(log, name, sha256)
            if (first := seen.setdefault((sha256, *one.system, log.run), path)) != path:
                copies.append(f"{path} of {first}")
                continue
            if (first := seen.setdefault((sha256, *one.system), path)) != path:
                alike.append(f"{path} and {first}")
            reads.append(one)
    # An evaluation that crashed before its first run is no second one.
    ran = [one for one in reads if one.log.records]
    if not ran:
        raise refused("no-samples", f"{some(found.roots)}: no log holds a judged run.")
    _check(ran, retries)
    tasks = {one.log.task for one in ran}
    if len(tasks) > 1 and "" in tasks:
        raise refused("several-formats", f"{some(found.roots)}: not all logs name their task.")
    systems: _Attempts = defaultdict(lambda: defaultdict(list))
    for one in sorted(ran, key=lambda one: (one.log.created, str(one.log.path))):
        systems[one.system][one.log.attempt or id(one)].append(one)
    counted = [part for attempts in systems.values() for part in _merged(attempts, retries)]
    which = f"{retries} judged attempt" if retries else "latest success"
    said = [*_account(found, reads), *_changed(systems, copies, alike, which)]
    said += _doubts(systems, reads)
    if (rows := sum(len(one.log.records) for one in ran)) and retries:
        left = rows - sum(len(part) for _, part in counted)
        if left:
            said.append(("retries-chosen", f"Of several attempts at a run the {retries} judged one "
                         f"counts: {left:,} are left out."))  # fmt: skip
    said += dict.fromkeys(note for one in reads for note in one.log.notes)
    notices += [Notice(code, SURROGATE.sub("?", text)) for code, text in said]
    ids = [(one.log.task, key_text(r.problem) or "") for one, found in counted for r, _ in found]
    keys = ids if len(tasks) > 1 else [(problem,) for _, problem in ids]
    names = dict(zip(ids, joined(keys, "ids and tasks of problems"), strict=True))
    return [_table(*part, names, tasks != {""}, questions) for part in counted if part[1]]


def _logs(reader: Any, path: Path, scorer: str | None) -> list[Log]:
    try:
        return list(reader.read(path, scorer))
    except (RepevalError, MemoryError):
        raise
    except Exception as error:  # A damaged or foreign file may trip a reader anywhere.
        why = str(getattr(error, "strerror", None) or error).partition("\n")[0][:100]
        what = f"{path.name} is no {reader.TITLE} that can be read ({type(error).__name__}: {why})."
        raise refused("unreadable-log", what) from None


def _sha256(path: Path) -> str:
    """Return the digest of a file, or of a directory's JSON files and their names."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    inside = sorted(p for p in path.rglob("*.json") if p.is_file())
    text = "".join(f"{p.relative_to(path)}\0{_sha256(p)}\0" for p in inside)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _check(reads: Sequence[_Read], retries: str | None) -> None:
    """Refuse several models under one name, ids of two types, and ids of two questions."""
    models: dict[str, dict[str, None]] = defaultdict(dict)
    asked: dict[tuple[str, str], tuple[Record, str]] = {}
    for log, name, _ in reads:
        if name and log.model:
            models[name][log.model] = None
            if len(models[name]) > 1:
                what = f"the logs are of {len(models[name])} models ({some(models[name])})"
                raise refused("several-models", f"{name}={log.path}: {what}.")
        runs = set()
        for record in log.records:
            if not (text := key_text(record.problem)):
                what = f"{log.path.name}: the problem id {str(record.problem)[:40]!r} is empty"
                raise refused("bad-key", f"{what}, or neither text nor a number.")
            first, where = asked.get((log.task, text), (record, log.path.name))
            here = " and ".join(dict.fromkeys([where, log.path.name]))
            if isinstance(first.problem, str) != isinstance(record.problem, str):
                what = f'The number {text} and the text "{text}" are both problem ids: see {here}.'
                raise refused("mixed-types", what)
            if (text, record.run) in runs and not retries:
                what = f"{log.path.name}: problem {text!r} has run {record.run or '1'} twice."
                raise refused("duplicate-rows", what)
            runs.add((text, record.run))
            if first.question and record.question and first.question != record.question:
                what = f"Problem {text!r} is not the same question everywhere: compare {here}."
                raise refused("other-question", what)
            if not first.question or first is record:
                asked[log.task, text] = record, log.path.name


def _merged(
    attempts: dict[Any, list[_Read]], retries: str | None
) -> Iterator[tuple[_Read, list[tuple[Record, str]]]]:
    """Yield what counts of each log of a system: records, and the label of each one's run."""
    logs = [one for tries in attempts.values() for one in tries]
    if len(attempts) > 1 and not all(one.name or one.log.run for one in logs):
        raise _twice([tries[-1] for tries in attempts.values()])
    for number, tries in enumerate(attempts.values(), 1):
        best: dict[tuple[str | None, str], tuple[tuple[float, ...], _Read, Record]] = {}
        for one in tries:
            for record in one.log.records:
                key, judged = (key_text(record.problem), record.run), record.value is not None
                rank = {
                    None: (judged and not record.status, judged),
                    "best": (judged, record.value or 0.0),
                }.get(retries, (judged,))
                kept = best[key][0] if key in best else (-1,)
                if rank > kept or (rank == kept and retries != "first"):
                    best[key] = rank, one, record
        prefix = [str(number)] if len(attempts) > 1 else []
        runs: dict[int, list[tuple[Record, str]]] = defaultdict(list)
        for _, one, record in best.values():
            label = ".".join([*prefix, *filter(None, [record.run])]) or "1"
            runs[id(one)].append((record, label))
        yield from ((one, runs[id(one)]) for one in tries)


def _twice(logs: Sequence[_Read]) -> RepevalError:
    """Return the refusal of logs of one system that are no retries, with what to type."""
    model, task = logs[0].model, logs[0].log.task
    what = f"Model {model!r} has {len(logs)} logs{f' of task {task!r}' if task else ''}"
    differ = "; ".join(_differences(logs)) or "no setting that is known"
    numbered = [f"{model}-{i}={one.log.path}" for i, one in enumerate(logs[1:], 2)]
    other = some(map(shlex.quote, numbered), 6, " ")
    same = some([shlex.quote(f"{model}={one.log.path}") for one in logs], 6, " ")
    return RepevalError(
        "same-model",
        f"{what} that are no retries of one evaluation ({some(one.log.path.name for one in logs)}; "
        f"they differ in {differ}). To compare them add names: {other}. If they are runs of one "
        f"system name all alike: {same}.",
    )


def _differences(reads: Sequence[_Read]) -> Iterator[str]:
    """Yield the settings that differ, with who has which."""
    for key in dict.fromkeys(key for one in reads for key in one.log.settings):
        models: dict[str, dict[str, None]] = defaultdict(dict)
        for one in reads:
            models[one.log.settings.get(key) or "unset"][one.model] = None
        if len(models) > 1:
            yield f"{key}: " + ", ".join(f"{v:.40} ({some(m)})" for v, m in models.items())


def _account(found: Found, reads: Sequence[_Read]) -> Iterator[tuple[str, str]]:
    """Say what was read, and what was not."""
    tasks = sorted({one.log.task for one in reads} - {""})
    scorers = sorted({one.log.settings.get("scorer", "") for one in reads} - {""})
    models = len({one.model for one in reads})
    what = [f"task {some(tasks)}"] * bool(tasks) + [f"scorer {some(scorers)}"] * bool(scorers)
    files = len({one.log.path for one in reads})
    text = f"{files} {found.reader.TITLE}{'s' * (files > 1)}: {', '.join(what)}"
    text += f"; {models} model{'s' * (models > 1)}."
    if len(reads) > 1 and all(record.question for one in reads for record in one.log.records):
        text += " The same id is the same question in all of them: checked."
    yield "logs-read", text
    if found.skipped:
        names = f"{len(found.skipped)} ({some(path.name for path in found.skipped)})"
        yield "files-skipped", f"Left aside as no {found.reader.TITLE}s: {names}."
    for log, name, _ in reads:
        if name and log.model not in ("", name):
            yield "model-renamed", f"Model {log.model} of {log.path.name} is called {name}."
    if unnamed := [one for one in reads if not one.name and not one.log.model]:
        names = some(one.model for one in unnamed)
        yield "model-from-file", f"Called after their files, as no model is named: {names}."


def _changed(
    systems: _Attempts, copies: Sequence[str], alike: Sequence[str], which: str
) -> Iterator[tuple[str, str]]:
    """Say which logs were put together, and which count once."""
    retried = [model for (*_, model), a in systems.items() if len(a) < sum(map(len, a.values()))]
    numbered = [model for (*_, model), attempts in systems.items() if len(attempts) > 1]
    if retried:
        text = f"Logs of {some(retried)} are retries and were merged: the {which} of a run"
        yield "retries-merged", f"{text} counts."
    if numbered:
        text = f"Several logs are runs of {some(numbered)}, numbered by time, else by path."
        yield "runs-numbered", text
    if copies:
        yield "copies-dropped", f"Left out as copies: {len(copies)} ({some(copies)})."
    if alike:
        yield "identical-logs", f"Logs of different runs are equal, byte for byte: {some(alike)}."


def _doubts(systems: _Attempts, reads: Sequence[_Read]) -> Iterator[tuple[str, str]]:
    """Say which logs are not complete, and which settings differ."""
    last = [tries[-1].log for attempts in systems.values() for tries in attempts.values()]
    never = [one for one in reads if not one.log.records]
    last += [one.log for one in never if one.log.attempt not in systems.get(one.system, ())]
    if cut := [log for log in last if log.status]:
        texts = [f"{log.path.name}: {log.status} after {len(log.records)} runs" for log in cut]
        yield "log-unfinished", f"Not complete: {len(cut)} ({some(texts)})."
    judged = [one for one in reads if any(r.value is not None for r in one.log.records)]
    for task in dict.fromkeys(one.log.task for one in judged):
        if differ := list(_differences([one for one in judged if one.log.task == task])):
            of = f" of task {task}" if task else ""
            yield "settings-differ", f"Settings{of} differ. {'; '.join(differ)}."


def _table(
    one: _Read,
    records: Sequence[tuple[Record, str]],
    problems: Mapping[tuple[str, str], str],
    with_task: bool,
    questions: str,
) -> Table:
    """Return the records as a table whose columns need no guessing."""
    log = one.log
    names = dict.fromkeys(name for record, _ in records for name in record.labels)
    columns: dict[str, list[Any]] = {
        "model": [one.model] * len(records),
        "condition": [log.condition or "default"] * len(records),
        "problem": [problems[log.task, key_text(record.problem) or ""] for record, _ in records],
        "run": [run for _, run in records],
        "outcome": [record.value for record, _ in records],
        "status": [record.status or "" for record, _ in records],
    }
    if with_task:
        columns["task"] = [log.task] * len(records)
    if questions:
        columns[questions] = [record.question for record, _ in records]
    for name in names:
        column = f"original_{name}" if name.strip().lower() in TAKEN else label_text(name)
        columns[column] = [label_text(record.labels.get(name)) for record, _ in records]
    rows = [
        f"{i} (problem {problem}, run {run})"
        for i, (problem, run) in enumerate(zip(columns["problem"], columns["run"], strict=True), 1)
    ]
    arrays = {
        name: np.fromiter(values, dtype=object, count=len(records))
        for name, values in columns.items()
    }
    return Table(log.path.name, None, arrays, np.array(rows, dtype=object), one.sha256)
