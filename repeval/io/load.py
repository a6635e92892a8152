"""`load`: tidy tables of judged runs, and logs of evaluation harnesses, to `Outcomes`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from repeval.io import large, registry
from repeval.io.checks import TASK_COLUMNS, stops_at_first
from repeval.io.columns import Columns, parse_columns
from repeval.io.files import FORMATS, read
from repeval.io.names import KEYS, in_order
from repeval.io.outcomes import Outcomes, Policy, Source
from repeval.io.parse import constant_labels, part_of, refuse_duplicates
from repeval.io.readers import READERS, find, merge
from repeval.messages import Notice, RepevalError, refused, some

__all__ = ["load"]

CHOICES = {
    "missing": (None, "keep", "drop-problem", "fail", "error"),
    "errors": ("missing", "fail"),
    "format": (None, *FORMATS, *READERS),
}


def load(
    paths: str | Path | Iterable[str | Path] | None = None,
    *,
    columns: Columns = None,
    missing: str | None = None,
    errors: str = "missing",
    scorer: str | None = None,
    pass_at: float | None = None,
    format: str | None = None,
    name: str | None = None,
) -> Outcomes:
    """Read outcomes of repeated runs.

    Parameters
    ----------
    paths : path or several, optional
        CSV, TSV, JSON Lines (each also ``.gz``) or Parquet files, logs of one harness, directories
        of either, or ``NAME=PATH`` to name the model of a file. None: the default data.
    columns : str, mapping or iterable, optional
        ``"problem=item_id"``; ``"problem=task+item_id"`` makes a composite key.
    missing : {None, "keep", "drop-problem", "fail", "error"}
        Missing runs: use what was recorded; keep only problems that every system ran in full;
        count as failed; refuse. None: the rule of a registered data set, else keep.
    errors : {"missing", "fail"}
        What rows with a status column, or runs in a log, are that have no outcome.
    scorer : str, optional
        For logs with several scorers, ``NAME`` or ``NAME/KEY``; refused for tables.
    pass_at : float, optional
        Score in (0, 1] from which a run passes.
    format : {"csv", "tsv", "jsonl", "ndjson", "parquet"} or one of `readers.READERS`, optional
        Where the extension of a table, or the content of a log, does not tell.
    name : str, optional
        Name of the data; default the file's name.

    Returns
    -------
    Outcomes

    Raises
    ------
    RepevalError
        For anything that cannot be read without guessing; the text says where and what to do.
    """
    mapping = parse_columns(columns)
    _check_options({"missing": missing, "errors": errors, "format": format}, pass_at)
    registered = registry.default_dataset() if paths is None else None
    found = find(registry.dataset_path(registered) if registered else paths, format)
    if scorer is not None and not found.reader:
        raise refused("scorer-not-used", f"--scorer {scorer} is for logs with several scorers.")
    if not found.reader and any(large.is_large(path, format) for path, _ in found.files):
        policy = Policy(tuple(sorted(mapping.items())), missing or "keep", errors, format=format)
        return _streamed(found.files, policy, pass_at, name)
    notices: list[Notice] = []
    if found.reader:
        tables = merge.tables(found, scorer, notices)
    else:
        tables = [read(path, model, format) for path, model in found.files]
    sums = sorted(table.sha256 for table in tables)
    sha256 = sums[0] if len(sums) == 1 else hashlib.sha256("".join(sums).encode()).hexdigest()
    if registered:
        registry.check(registered, sha256)
        mapping = mapping or registry.fitting_columns(registered, tables[0].columns)
    entry = registered or registry.by_sha256(sha256) or {}
    parts = [part_of(table, mapping, notices) for table in tables]
    rows = pd.concat([part.rows for part in parts], ignore_index=True)
    texts = pd.concat([part.labels for part in parts], ignore_index=True)
    refuse_duplicates(rows, texts, parts)
    labels = constant_labels(texts, rows["problem"])
    for column in (c for c in texts if c.lower() in TASK_COLUMNS and c not in labels):
        key = "+".join([column, *parts[0].roles["problem"]])
        text = (
            f"Column {column} names {texts[column].nunique()} tasks that share problem ids: rows "
            f"of one id are taken for one problem. If they are not: --columns problem={key}."
        )
        notices.append(Notice("several-tasks", text))
    if pass_at is not None:
        rows["outcome"] = (rows["outcome"] >= pass_at).astype(float).where(rows["outcome"].notna())
        notices.append(Notice("pass-threshold", f"Scores of at least {pass_at:g} pass."))
    rule = missing or entry.get("missing") or "keep"
    if missing is None and rule != "keep":
        text = f"The data set's own rule for missing runs is used: {rule}."
        notices.append(Notice("dataset-rule", text))
    rows = _apply_errors(rows, errors, notices)
    rows = _apply_missing(rows, rule, notices)
    recorded = rows["outcome"].notna()
    if not recorded.any():
        what = f"{tables[0].name}: no row has an outcome; --errors fail makes them failures."
        raise RepevalError("outcome-empty", what)
    if rows["problem"].nunique() < 2:
        what = f"{tables[0].name}: there is only one problem ({rows['problem'].iloc[0]!r})."
        raise refused(
            "one-problem", f"{what} Are ids in another column (--columns problem=COLUMN)?"
        )
    if not name and entry.get("basis", "user") != "user":
        name = entry["name"]
    data = Outcomes.from_frame(
        rows[recorded],
        labels,
        source=Source(
            name or some(dict.fromkeys(found.roots if found.reader else [t.name for t in tables])),
            sha256,
            entry.get("basis", "user"),
            sum(len(table.rows) for table in tables),
            tuple(entry.get("excluded_systems", ())),
            entry.get("default_condition"),
        ),
        policy=Policy(tuple(sorted(mapping.items())), rule, errors, scorer, pass_at, format),
        notices=list(dict.fromkeys(notices)),
        errored=rows.loc[~recorded, KEYS],
    )
    return _first_runs(data, notices)


def _streamed(
    files: list[tuple[Path, str | None]], policy: Policy, pass_at: float | None, name: str | None
) -> Outcomes:
    """Read a table too large to hold as counts."""
    if len(files) > 1 or pass_at is not None or policy.missing != "keep":
        what = "Large tables are read one at a time, as they are: no --pass-at, no --missing."
        raise refused("large-table", what)
    (path, model), notices = files[0], []
    counted = large.count(path, model, policy.format, dict(policy.columns), notices)
    source = Source(name or path.name, counted.sha256, n_rows=counted.n_rows)
    return Outcomes.from_cells(
        counted.problems, counted.cells, source=source, policy=policy, notices=notices
    )


def _check_options(chosen: dict[str, str | None], pass_at: float | None) -> None:
    for option, value in chosen.items():
        if value not in CHOICES[option]:
            known = ", ".join(filter(None, CHOICES[option]))
            raise RepevalError("bad-option", f"--{option} {value}: must be one of {known}.")
    if pass_at is not None and not 0 < pass_at <= 1:
        raise RepevalError("bad-option", f"--pass-at {pass_at}: must be above 0 and at most 1.")


def _apply_errors(rows: pd.DataFrame, errors: str, notices: list[Notice]) -> pd.DataFrame:
    """Apply ``--errors`` to the rows without outcome."""
    empty = rows["outcome"].isna()
    if both := int((rows["error"] & ~empty).sum()):
        text = f"{both:,} rows have an outcome and an error: the outcome counts."
        notices.append(Notice("score-with-error", text))
    if not empty.any():
        return rows
    models = [f"{model}: {n}" for model, n in rows.loc[empty, "model"].value_counts().items()]
    left_out, failed = (
        rows.assign(y=y).groupby(KEYS[:3])["y"].mean().groupby(KEYS[:2]).mean() * 100
        for y in (rows["outcome"], rows["outcome"].fillna(0.0))
    )
    verdict, other, used, unused = (
        ("missing, not failed (--errors fail counts them as failed)", "if failed", left_out, failed)
        if errors == "missing"
        else ("counted as failed", "without them", failed, left_out)
    )
    both = [
        f"{system[0]} {used[system]:.1f} % ({unused[system]:.1f} % {other})"
        for system in left_out.index[left_out.round(1) > failed.round(1)]
    ]
    text = f"{empty.sum():,} of {len(rows):,} rows have no outcome ({some(models)}): they are "
    scores = f" Scores: {some(both)}." if both else ""
    notices.append(Notice("errored-rows", f"{text}{verdict}.{scores}"))
    return rows.fillna({"outcome": 0.0}) if errors == "fail" else rows


def _first_runs(data: Outcomes, notices: list[Notice]) -> Outcomes:
    """Keep first runs only where runs went on until one passed, or failed: these are unbiased."""
    stopped = []
    for system in (s for s in data.systems if stops_at_first(data.system(*s))):
        frame = data.frame[(data.frame[KEYS[:2]] == [*system]).all(axis=1)]
        runs = frame.groupby("problem")["outcome"]
        # Labels that are not in the order of the runs do not tell which was the first.
        if runs.first()[runs.size() > 1].nunique() == 1:
            stopped.append(system)
    if not stopped:
        return data
    names = some(m if c == "default" else f"{m} / {c}" for m, c in stopped)
    text = (
        f"For {names} runs of a problem went on until one passed, or failed, which biases scores. "
        "Theirs are from first runs only, and their run noise is not identified."
    )
    later = data.frame.duplicated(KEYS[:3])
    later &= pd.MultiIndex.from_frame(data.frame[KEYS[:2]]).isin(stopped)
    return Outcomes.from_frame(
        data.frame[~later], data.labels, source=data.source, policy=data.policy,
        notices=[*dict.fromkeys(notices), Notice("adaptive-stopping", text)], errored=data.errored,
    )  # fmt: skip


def _apply_missing(rows: pd.DataFrame, rule: str, notices: list[Notice]) -> pd.DataFrame:
    """Apply ``--missing``.

    A cell (model, condition, problem) is incomplete if it has fewer outcomes than the most rows
    of any problem of its system, or no row where another system has the problem.
    """
    if rule == "keep":
        return rows
    cells = rows.groupby(KEYS[:3])["outcome"].agg(["size", "count"]).unstack(fill_value=0)
    planned = cells["size"].max(axis=1)
    lacking = cells["count"].rsub(planned, axis=0).T.unstack()
    lacking = lacking[lacking > 0]
    if not len(lacking):
        return rows
    if rule == "error":
        shown = [
            f"{model!r}, {condition}, problem {problem!r} lacks {n} of {planned[model, condition]}"
            for (model, condition, problem), n in lacking.items()
        ]
        what = f"{lacking.sum():,} runs are missing: {some(shown, sep='; ')}."
        raise refused("missing-refused", what)
    if rule == "drop-problem":
        dropped = in_order(lacking.index.get_level_values("problem"))
        share = f"{len(dropped)} of {rows['problem'].nunique()} problems"
        if rows["problem"].nunique() - len(dropped) < 2:
            what = f"--missing drop-problem leaves out {share}, because some system lacks runs of"
            raise refused("nothing-complete", f"{what} {some(dropped, 5)}.")
        text = f"Left out because a system lacks runs of them: {share} ({some(dropped, 5)})."
        notices.append(Notice("dropped-problems", text))
        return rows[~rows["problem"].isin(dropped)]
    notices.append(Notice("filled-runs", f"{lacking.sum():,} missing runs are counted as failed."))
    # A row without outcome takes the place of one of its cell's missing runs.
    absent = cells["size"].rsub(planned, axis=0).T.unstack()
    filled = absent.index.repeat(absent).to_frame(index=False)
    filled["run"] = [f"missing-{k + 1}" for n in absent for k in range(n)]
    return pd.concat([rows, filled], ignore_index=True).fillna({"outcome": 0.0})
