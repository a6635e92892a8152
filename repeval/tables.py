"""`load`: tidy tables of judged runs to `Outcomes`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from repeval import registry
from repeval.canonical import KEYS
from repeval.columns import Columns, parse_columns
from repeval.files import find, read
from repeval.missing import apply_missing
from repeval.notices import Notice, RepevalError
from repeval.outcomes import Outcomes
from repeval.policy import Policy, Source
from repeval.records import Part, constant_labels, part_of, refuse_duplicates

__all__ = ["load"]

MISSING = ("keep", "drop-problem", "fail", "error")
ERRORS = ("missing", "fail")


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
        CSV, TSV, JSON Lines (each also ``.gz``) or Parquet files, directories of them, or
        ``NAME=PATH`` to name the model of a file. None: the default data.
    columns : str, mapping or iterable, optional
        ``"problem=item_id"``; ``"problem=task+item_id"`` makes a composite key.
    missing : {None, "keep", "drop-problem", "fail", "error"}
        Missing runs: use what was recorded; keep only problems that every system ran in full;
        count as failed; refuse. None: the rule of a registered data set, else keep.
    errors : {"missing", "fail"}
        What rows with a status column and no outcome are.
    scorer : str, optional
        For logs with several scorers; refused for tables.
    pass_at : float, optional
        Score in (0, 1] from which a run passes.
    format : {"csv", "tsv", "jsonl", "ndjson", "parquet"}, optional
        Where the extension does not tell.
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
    _check_options(missing, errors, scorer, pass_at)
    entry = None
    if paths is None:
        entry = registry.default_dataset()
        paths = [registry.dataset_path(entry)]
    tables = [read(file, format) for file in find(paths, format)]
    if not tables:
        raise RepevalError("file-not-found", "No file was given.")
    sums = [table.sha256 for table in tables]
    if len(tables) == 1:
        if entry:
            registry.check(entry, sums[0])
            mapping = mapping or registry.fitting_columns(entry, tables[0].frame.columns)
        else:
            entry = registry.by_sha256(sums[0])
    notices: list[Notice] = []
    parts = [part_of(table, mapping) for table in tables]
    for part in parts:
        notices += [n for n in part.notices if n not in notices]
    rows = pd.concat([part.keys for part in parts], ignore_index=True)
    refuse_duplicates(rows, parts)
    if pass_at is not None:
        rows["outcome"] = (rows["outcome"] >= pass_at).astype(float).where(rows["outcome"].notna())
        notices.append(Notice("pass-threshold", f"Scores of at least {pass_at:g} pass."))
    labels = constant_labels(rows["problem"], parts)
    if task := _mixed_task(labels, parts):
        notices.append(task)

    rule = missing or (entry or {}).get("missing") or "keep"
    if entry and missing is None and rule != "keep":
        notices.append(
            Notice("dataset-rule", f"The data set's own rule for missing runs is used: {rule}.")
        )
    rows = _errors(rows, errors, notices)
    rows = apply_missing(rows, rule, notices)
    recorded = rows["outcome"].notna()
    if not recorded.any():
        raise RepevalError("outcome-empty", f"{tables[0].name}: no row has an outcome.")
    if rows["problem"].nunique() < 2:
        raise RepevalError(
            "one-problem",
            f"{tables[0].name}: there is only one problem ({rows['problem'].iloc[0]!r}); "
            "at least two are needed. If the ids are in another column: --columns problem=COLUMN.",
        )
    return Outcomes.from_frame(
        rows[recorded],
        labels,
        source=Source(
            name or _title(parts, entry),
            _sum_of(sums),
            (entry or {}).get("basis", "user"),
            sum(len(table.frame) for table in tables),
            tuple((entry or {}).get("excluded_systems", ())),
            (entry or {}).get("default_condition"),
        ),
        policy=Policy(tuple(sorted(mapping.items())), rule, errors, scorer, pass_at, format),
        notices=notices,
        errored=rows.loc[~recorded, KEYS],
    )


def _check_options(missing, errors, scorer, pass_at) -> None:
    for option, value, known in (("missing", missing, MISSING), ("errors", errors, ERRORS)):
        if value not in known and not (option == "missing" and value is None):
            raise RepevalError(
                "bad-option", f"--{option} {value}: must be one of {', '.join(known)}."
            )
    if pass_at is not None and not 0 < pass_at <= 1:
        raise RepevalError("bad-option", f"--pass-at {pass_at}: must be above 0 and at most 1.")
    if scorer is not None:
        raise RepevalError(
            "scorer-not-used",
            f"--scorer {scorer}: a table has one outcome column; choose it with "
            "--columns outcome=COLUMN.",
        )


def _errors(rows: pd.DataFrame, errors: str, notices: list[Notice]) -> pd.DataFrame:
    """Apply ``--errors`` to the rows without outcome."""
    empty = rows["outcome"].isna()
    if empty.any():
        per = rows.loc[empty, "model"].value_counts()
        models = ", ".join(f"{m}: {n}" for m, n in per.head(3).items())
        more = f" and {len(per) - 3} more models" if len(per) > 3 else ""
        verdict = (
            "counted as failed" if errors == "fail"
            else "missing, not failed (--errors fail counts them as failed)"
        )  # fmt: skip
        notices.append(
            Notice(
                "errored-rows",
                f"{int(empty.sum()):,} of {len(rows):,} rows have no outcome ({models}{more}): "
                f"they are {verdict}.",
            )
        )
        if errors == "fail":
            rows = rows.fillna({"outcome": 0.0})
    both = int((rows["error"] & ~empty).sum())
    if both:
        notices.append(
            Notice("score-with-error", f"{both:,} rows have an outcome and an error: it counts.")
        )
    return rows


def _mixed_task(labels: pd.DataFrame, parts: list[Part]) -> Notice | None:
    """Remark on a task column whose problem ids are shared, so that it is no label."""
    for part in parts:
        for column in part.tasks:
            values = part.labels[column].nunique()
            if column not in labels and values > 1:
                key = "+".join([column, *part.problem])
                return Notice(
                    "several-tasks",
                    f"Column {column} names {values} tasks that share problem ids: rows of one id "
                    f"are taken for one problem. If they are not: --columns problem={key}.",
                )
    return None


def _sum_of(sums: list[str]) -> str:
    """SHA-256 of one file, or of the sorted sums of several."""
    if len(sums) == 1:
        return sums[0]
    return hashlib.sha256("".join(sorted(sums)).encode()).hexdigest()


def _title(parts: list[Part], entry: registry.Entry | None) -> str:
    if entry and entry["basis"] != "user":
        return entry["name"]
    names = list(dict.fromkeys(part.table.name for part in parts))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
