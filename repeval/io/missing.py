"""Runs without an outcome, runs that are missing, and runs that one did not stop by chance."""

from __future__ import annotations

import pandas as pd

from repeval.io.checks import stops_at_first
from repeval.io.outcomes import KEYS, Outcomes, in_order
from repeval.messages import Notice, refused, some


def apply_errors(rows: pd.DataFrame, errors: str, notices: list[Notice]) -> pd.DataFrame:
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


def apply_missing(rows: pd.DataFrame, rule: str, notices: list[Notice]) -> pd.DataFrame:
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


def first_runs(data: Outcomes, notices: list[Notice]) -> Outcomes:
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
        before=data.before,
    )  # fmt: skip
