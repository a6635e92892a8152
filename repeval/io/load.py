"""`load`: tidy tables of judged runs, and logs of evaluation harnesses, to `Outcomes`."""

from __future__ import annotations

import hashlib
import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from repeval.io import frames, registry
from repeval.io.checks import TASK_COLUMNS
from repeval.io.columns import COUNTED, Columns, parse_columns
from repeval.io.containers import damaged, first_attempts
from repeval.io.containers.room import ROW, Room
from repeval.io.engines.size import is_hopeless, is_large
from repeval.io.files import Table, read
from repeval.io.formats import FORMATS, READERS
from repeval.io.keys import KEYS, Policy, Source
from repeval.io.outcomes import Outcomes
from repeval.io.parse import constant_labels
from repeval.io.readers import Found, find, merge
from repeval.io.rules.missing import EVERY_RUN
from repeval.io.rules.nonruns import cache_flags, drop_cached, one_attempt
from repeval.io.rules.runs import frame_of, runs_of
from repeval.io.rules.settle import check_enough, refuse_many_systems, settled, several_tasks
from repeval.io.tables.advice import (
    in_common,
    judges_as_runs,
    parts_of,
    refuse_duplicates,
    refuse_silent_labels,
)
from repeval.io.tables.counts import counted
from repeval.io.tables.layouts import WIDE, arranged
from repeval.io.tables.names import Read, named
from repeval.io.tables.ways import Data
from repeval.messages import Notice, RepevalError, refused, some

__all__ = ["every_run", "load"]

CHOICES = {
    "missing": (None, "keep", "drop-problem", "fail", "error"),
    "errors": ("missing", "fail"),
    "format": (None, *FORMATS, *READERS),
    "retries": (None, "last", "best", "first"),
    "failed-runs": (None, "keep", "leave-out"),
    "wide": (None, *WIDE),
}

#: An engine may fail with anything: what it cannot read is read as a small table, or refused so.
GIVE_UP: tuple[type[Exception], ...] = (Exception,)


def load(
    paths: str | Path | Iterable[str | Path] | Any | None = None,
    *,
    columns: Columns = None,
    missing: str | None = None,
    errors: str = "missing",
    scorer: str | None = None,
    pass_at: float | None = None,
    format: str | None = None,
    name: str | None = None,
    scale: tuple[float, float] | None = None,
    retries: str | None = None,
    failed_runs: str | None = None,
    wide: str | None = None,
    names: str | None = None,
) -> Outcomes:
    """Read outcomes of repeated runs.

    Parameters
    ----------
    paths : path, several, or a frame; optional
        CSV, TSV, JSON, JSON Lines (each also ``.gz``), Parquet or .xlsx files, logs of one harness,
        directories of either, or ``NAME=PATH`` to name the model of a file. Or one frame that
        narwhals knows (pandas, Polars, eager or lazy, PyArrow, DuckDB, Dask, ...), or a
        mapping of names to columns. It is read as a file of the same columns would be; rows are
        counted from 1. Large tables are reduced in an engine. None: the default data.
    columns : str, mapping or iterable, optional
        ``"problem=item_id"``; ``"problem=task+item_id"`` makes a composite key, and ``"run=#"``
        numbers the rows of a problem as they stand.
    missing : {None, "keep", "drop-problem", "fail", "error"}
        Missing runs: use what was recorded; keep only problems that every system ran in full;
        count as failed; refuse. None: the rule of a registered data set, else keep.
    errors : {"missing", "fail"}
        What rows with a status column, or runs in a log, are that have no outcome.
    scorer : str, optional
        For logs with several scorers, ``NAME`` or ``NAME/KEY``; refused for tables.
    pass_at : float, optional
        Score in (0, 1] from which a run passes.
    format : str, optional
        One of `formats.FORMATS` or of `formats.READERS`, where the extension of a table, or the
        content of a log, does not tell; not for a frame.
    name : str, optional
        Name of the data; default the file's name, or "frame".
    scale : (float, float), optional
        Lowest and highest rating possible, which are mapped to 0 and 1.
    retries : {None, "last", "best", "first"}
        Which of several judged attempts at one run counts, in the order of the rows. None:
        refused as duplicates.
    failed_runs : {None, "keep", "leave-out"}
        Run labels in which everything failed while other runs did not, which the notice
        "failed-runs" points at: use them, or leave them out as never run.
    wide : {None, "runs", "models", "conditions", "problems"}
        What the columns of a table stand for that has one for each run, model, condition or
        problem.
    names : str, optional
        Pattern of the files' names, such as ``{model}_run{run}.csv``, also with ``{condition}``.

    Returns
    -------
    Outcomes

    Raises
    ------
    RepevalError
        For anything that cannot be read without guessing; the text says where and what to do.

    Examples
    --------
    A table with a row for each of three runs of six problems:

    >>> import pandas as pd
    >>> import repeval
    >>> passes = {"A": [3, 3, 0, 1, 2, 0], "B": [3, 1, 0, 2, 0, 0]}
    >>> rows = [(m, i, r, r < k) for m in passes for i, k in enumerate(passes[m]) for r in range(3)]
    >>> table = pd.DataFrame(rows, columns=["model", "problem", "run", "outcome"])
    >>> table.to_csv("runs.csv", index=False)
    >>> outcomes = repeval.load("runs.csv")
    >>> outcomes.models, len(outcomes.problems)
    (('A', 'B'), 6)

    The same from memory, whatever engine the frame is of:

    >>> repeval.load(table).counts().equals(outcomes.counts())
    True
    """
    mapping = parse_columns(columns)
    chosen = {"missing": missing, "errors": errors, "format": format, "retries": retries}
    _check_options({**chosen, "failed-runs": failed_runs, "wide": wide}, pass_at)
    for option, text in {"scorer": scorer, "name": name, "names": names}.items():
        if not isinstance(text, str | None):
            raise RepevalError("bad-option", f"{option} must be text, not {text!r}.")
    policy = Policy(
        tuple(sorted(mapping.items())), missing, errors, scorer, pass_at, format,
        _checked_scale(scale), retries, failed_runs, wide, names,
    )  # fmt: skip
    return _loaded(paths, policy, name)


def every_run(paths: Any, *, columns: Columns, format: str | None, scorer: str | None) -> Outcomes:
    """Read tables with the runs that `load` leaves out: replayed ones, and all after a pass."""
    _check_options({"format": format}, None)
    mapping = tuple(sorted(parse_columns(columns).items()))
    return _loaded(paths, Policy(mapping, EVERY_RUN, scorer=scorer, format=format), None)


def _loaded(paths: Any, policy: Policy, name: str | None) -> Outcomes:
    mapping, format, scorer = dict(policy.columns), policy.format, policy.scorer
    wide, names, retries = policy.wide, policy.names, policy.retries
    registered = registry.default_dataset() if paths is None else None
    notices: list[Notice] = []
    # Rows that are numbered, and columns that are runs or models, are rows held in their order.
    rows_needed = wide or mapping.get("run") == COUNTED
    if not rows_needed and (large := _large_frame(paths, policy, name, notices)):
        return large
    frame = frames.table_of(paths)
    if frame:
        _refuse_for_frames(policy)
        found = Found(None, [], [], [frame.name])
    else:
        found = find(registry.dataset_path(registered) if registered else paths, format)
    if scorer is not None and not found.reader:
        raise refused("scorer-not-used", f"--scorer {scorer} is for logs with several scorers.")
    if found.reader:
        if wide or names:
            raise refused("not-wide", "--wide and --names are for tables, not for logs.")
        tables = merge.tables(found, scorer, notices, retries)
    else:
        if found.skipped:
            aside = f"{len(found.skipped)} ({some(path.name for path in found.skipped)})"
            notices.append(Notice("files-skipped", f"Left aside as no tables: {aside}."))
        if not rows_needed and (large := _large_files(found.files, policy, name, notices)):
            return large
        try:
            tables = [frame] if frame else _read(found.files, format)
        except RepevalError as error:
            if error.code != "member-too-large" or rows_needed:
                raise
            error.with_traceback(None)  # which keeps what was decoded so far
            large = _large_files(found.files, policy, name, notices, packed=True)
            if large is None:
                raise
            return large
    return _held(tables, found, policy, name, notices, registered)


def _read(files: Sequence[tuple[Path, str | None]], format: str | None) -> list[Table]:
    room = Room(sum(path.stat().st_size for path, _ in files))
    return [read(path, model, format, room) for path, model in files]


def _refuse_many(tables: Sequence[Table], paths: Sequence[Path]) -> None:
    """Refuse runs that a file holds in two bytes each: in memory they take hundreds."""
    n_rows, size = sum(len(t.rows) for t in tables), sum(path.stat().st_size for path in paths)
    Room(size).hold(f"{tables[0].name} ({n_rows:,} runs)", ROW * n_rows)


def _large_files(
    files: Sequence[tuple[Path, str | None]], policy: Policy, name: str | None,
    notices: list[Notice], packed: bool = False,
) -> Outcomes | None:  # fmt: skip
    """Read files that are too large to hold; None for others, and for unusual layouts.

    `packed` ones are small and hold much.
    """
    if not (packed and find_spec("duckdb")) and not is_large(files, policy.format):
        return None
    from repeval.io.engines import large, parts

    try:
        with parts.opened(files, policy.format) as found:
            return _reduced(large, found, files, policy, name, notices)
    except (RepevalError, MemoryError):
        raise
    except GIVE_UP as error:
        if is_hopeless(files, policy.format):
            raise damaged(files[0][0].name, str(error).partition("\n")[0]) from None
        return None


def _large_frame(
    data: object, policy: Policy, name: str | None, notices: list[Notice]
) -> Outcomes | None:
    """Read a frame that is too large to hold; None for others."""
    if not frames.may_be_frame(data):
        return None
    from repeval.io.engines import large, parts

    if (part := parts.frame_part(data)) is None:
        return None
    _refuse_for_frames(policy)
    try:
        return _reduced(large, [part], [], policy, name, notices)
    except (RepevalError, MemoryError):
        raise
    except GIVE_UP:
        return None


def _refuse_for_frames(policy: Policy) -> None:
    if policy.format:
        what = f"--format {policy.format} is for files: a frame needs none."
        raise RepevalError("bad-option", what)
    if policy.scorer is not None:
        what = f"--scorer {policy.scorer} is for logs with several scorers."
        raise refused("scorer-not-used", what)


def _reduced(
    large: ModuleType, found: Sequence[Any], files: Sequence[tuple[Path, str | None]],
    policy: Policy, name: str | None, notices: list[Notice],
) -> Outcomes | None:  # fmt: skip
    paths, said = [path for path, _ in files], list(notices)
    doors = large.Doors(
        lambda tables, notices: _arranged(tables, paths, policy, notices),
        lambda tables: _held(tables, Found(None, list(files), [], []), policy, name, []),
    )
    policy = replace(policy, missing=policy.missing or "keep")
    return large.read_large(found, policy, name, doors, said)


def _arranged(
    tables: Sequence[Table], paths: Sequence[Path], policy: Policy, notices: list[Notice]
) -> list[Read]:
    """Bring tables into one row a run, and give them what the names of their files tell."""
    mapping = dict(policy.columns)
    reads = [arranged(Read(table, mapping), policy.wide, notices) for table in tables]
    return named(reads, paths, policy.names, notices) if paths else reads


def _held(
    tables: list[Table], found: Found, policy: Policy, name: str | None, notices: list[Notice],
    registered: dict[str, Any] | None = None,
) -> Outcomes:  # fmt: skip
    """Read tables that are held in memory."""
    mapping, scale = dict(policy.columns), policy.scale
    if not found.reader:
        begun = [notice for table in tables for notice in table.notices]
        for table in tables:
            begun += first_attempts(table.columns, mapping, table.name)
        notices[:0] = begun
    sums = sorted(table.sha256 for table in tables)
    sha256 = sums[0] if len(sums) == 1 else hashlib.sha256("".join(sums).encode()).hexdigest()
    if registered:
        registry.check(registered, sha256)
        mapping = mapping or registry.fitting_columns(registered, tables[0].columns)
        policy = replace(policy, columns=tuple(sorted(mapping.items())))
    entry = registered or registry.by_sha256(sha256) or {}
    reads = [Read(table, mapping) for table in tables]
    if not found.reader:
        reads = _arranged(tables, [path for path, _ in found.files], policy, notices)
        if found.files:
            _refuse_many([read.table for read in reads], [path for path, _ in found.files])
    if any(read.counts for read in reads):
        if policy.pass_at is not None or policy.missing not in (None, "keep", EVERY_RUN):
            what = "A table of counts is read as it is: no --pass-at, no --missing."
            raise refused("counts-only", what)
        n_rows = sum(len(table.rows) for table in tables)
        source = Source(name or some(dict.fromkeys(t.name for t in tables)), sha256, n_rows=n_rows)
        policy = replace(policy, missing="keep")
        return counted(reads, notices, source=source, policy=policy)
    tables = [read.table for read in reads]
    # What layouts and names say of columns was not typed.
    fixed = [{r: c for r, c in read.mapping.items() if mapping.get(r) != c} for read in reads]
    parts = parts_of(tables, mapping, notices, scale, fixed, policy.retries)
    rows = pd.concat([part.rows for part in parts], ignore_index=True)
    refuse_many_systems(tables[0].name, zip(rows["model"], rows["condition"], strict=True))
    texts = pd.concat([part.labels for part in parts], ignore_index=True)
    labels = constant_labels(texts.drop(columns=cache_flags(texts)), rows["problem"])
    between = [
        several_tasks(column, texts[column].nunique(), parts[0].roles["problem"])
        for column in texts if column.lower() in TASK_COLUMNS and column not in labels
    ]  # fmt: skip
    rows = drop_cached(rows, texts, notices)
    if len(set(sums)) == len(sums):  # A file that is given twice is no retry.
        rows = one_attempt(rows, policy.retries, notices)
    texts = texts.loc[rows.index]
    data = Data(tables, mapping, scale, in_common(fixed))
    refuse_duplicates(rows, texts, parts, data)
    if not found.reader:
        refuse_silent_labels(rows, texts, parts, data)
        notices += judges_as_runs(parts)
    if policy.pass_at is not None:
        between.append(Notice("pass-threshold", f"Scores of at least {policy.pass_at:g} pass."))
    rule = policy.missing or entry.get("missing") or "keep"
    if policy.missing is None and rule != "keep":
        text = f"The data set's own rule for missing runs is used: {rule}."
        between.append(Notice("dataset-rule", text))
    policy = replace(policy, missing=rule)
    systems, codes = runs_of(rows)
    done, before = settled(lambda: systems, codes, policy, notices, between, lambda runs, _: runs)
    rows = frame_of(done.systems.values(), done.names)
    any_judged = bool(rows["outcome"].notna().any())
    check_enough(tables[0].name, any_judged, rows["problem"].unique())
    if not name and entry.get("basis", "user") != "user":
        name = entry["name"]
    source = Source(
        name or some(dict.fromkeys(found.roots if found.reader else [t.name for t in tables])),
        sha256,
        entry.get("basis", "user"),
        sum(len(table.rows) for table in tables),
        tuple(entry.get("excluded_systems", ())),
        entry.get("default_condition"),
    )

    def built(rows: pd.DataFrame, policy: Policy, **more: Any) -> Outcomes:
        recorded = rows["outcome"].notna()
        errored = rows.loc[~recorded, KEYS]
        return Outcomes._from_frame(
            rows[recorded], labels, source=source, policy=policy, errored=errored, **more
        )

    if before is not None:
        whole = frame_of(before.systems.values(), before.names)
        before = built(whole, replace(policy, missing="keep"))
    return built(rows, policy, notices=list(dict.fromkeys(notices)), before=before)


def _check_options(chosen: dict[str, str | None], pass_at: float | None) -> None:
    for option, value in chosen.items():
        if value not in CHOICES[option]:
            known = ", ".join(filter(None, CHOICES[option]))
            raise RepevalError("bad-option", f"--{option} {value}: must be one of {known}.")
    if pass_at is not None and not (isinstance(pass_at, numbers.Real) and 0 < pass_at <= 1):
        what = "must be a number above 0 and at most 1"
        raise RepevalError("bad-option", f"--pass-at {pass_at}: {what}.")


def _checked_scale(scale: tuple[float, float] | None) -> tuple[float, float] | None:
    if scale is None:
        return None
    low, high = map(float, scale)
    if not -math.inf < low < high < math.inf:
        what = f"--scale {low:g} {high:g}: LOW must be below HIGH, and both finite."
        raise RepevalError("bad-option", what)
    return low, high
