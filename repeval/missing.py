"""The four rules for missing runs."""

from __future__ import annotations

import pandas as pd

from repeval.notices import Notice, RepevalError

__all__ = ["apply_missing"]

SYSTEM = ["model", "condition"]
CELL = [*SYSTEM, "problem"]


def apply_missing(rows: pd.DataFrame, rule: str, notices: list[Notice]) -> pd.DataFrame:
    """Apply a rule for missing runs.

    A cell (model, condition, problem) is incomplete if it has fewer outcomes than the most rows
    of any problem of its system, or no row where another system has the problem.

    Parameters
    ----------
    rows : DataFrame
        Columns model, condition, problem, run, outcome; an outcome that is NaN was not recorded.
    rule : {"keep", "drop-problem", "fail", "error"}
    notices : list of Notice
        Extended.
    """
    if rule == "keep":
        return rows
    cells = rows.groupby(CELL, sort=False)["outcome"].agg(["size", "count"])
    planned = cells["size"].groupby(SYSTEM, sort=False).max()
    if rule == "drop-problem":
        return _complete_case(rows, cells, planned, notices)
    every = pd.MultiIndex.from_tuples(
        [(*system, problem) for system in planned.index for problem in rows["problem"].unique()],
        names=CELL,
    )
    lack = planned.reindex(every.droplevel("problem")).to_numpy() - cells["count"].reindex(
        every, fill_value=0
    )
    lack = lack[lack > 0]
    if not len(lack):
        return rows
    total = int(lack.sum())
    if rule == "error":
        first = "; ".join(
            f"{_cell(cell)} lacks {n} of {planned[cell[:2]]}" for cell, n in lack.head(3).items()
        )
        more = f"; and {len(lack) - 3} more" if len(lack) > 3 else ""
        raise RepevalError(
            "missing-refused",
            f"{total:,} runs are missing and --missing error was asked for: {first}{more}. "
            "Other rules: --missing keep, drop-problem, fail.",
        )
    notices.append(Notice("filled-runs", f"{total:,} missing runs are counted as failed."))
    taken = rows["outcome"].isna().groupby([rows[k] for k in CELL]).sum().reindex(lack.index)
    absent = (lack - taken.fillna(0).astype(int)).clip(lower=0)
    filled = absent.index.repeat(absent).to_frame(index=False)
    filled["run"] = [f"missing-{k + 1}" for n in absent for k in range(n)]
    filled["outcome"] = 0.0
    return pd.concat([rows.fillna({"outcome": 0.0}), filled], ignore_index=True)


def _complete_case(rows, cells, planned, notices) -> pd.DataFrame:
    full = cells["count"] == planned.reindex(cells.index.droplevel("problem")).to_numpy()
    systems = full.groupby("problem", sort=False).sum()
    dropped = list(systems.index[systems < len(planned)])
    if not dropped:
        return rows
    left = len(systems) - len(dropped)
    names = ", ".join(dropped[:5]) + (f" and {len(dropped) - 5} more" if len(dropped) > 5 else "")
    if left < 2:
        raise RepevalError(
            "nothing-complete",
            f"--missing drop-problem leaves {left} of {len(systems)} problems: the others lack "
            "runs in some system. Use --missing keep.",
        )
    notices.append(
        Notice(
            "dropped-problems",
            f"{len(dropped)} of {len(systems)} problems are left out because a system lacks runs "
            f"of them: {names}.",
        )
    )
    return rows[~rows["problem"].isin(dropped)]


def _cell(cell: tuple[str, str, str]) -> str:
    model, condition, problem = cell
    return f"{model!r}, {condition}, problem {problem!r}"
