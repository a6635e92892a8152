"""Tables of counts: runs and passes, or runs, sums and sums of squares, of every problem."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from repeval.io.checks import TASK_COLUMNS
from repeval.io.columns import resolve
from repeval.io.files import Table, rows_text
from repeval.io.keys import KEYS
from repeval.io.outcomes import Outcomes
from repeval.io.parse import constant_labels, part_of
from repeval.io.rules.settle import refuse_many_systems
from repeval.io.tables.names import Read
from repeval.io.verdicts import numbers
from repeval.messages import Notice, RepevalError, refused
from repeval.stats.sample import Sample, from_counts, from_values

__all__ = ["counted", "counts_of"]

#: Names without case and signs.
#: Whole numbers up to here are exact in every sum.
MOST_RUNS = 1_000_000_000
RUNS = {"runs", "trials", "n", "nsamples", "numsamples", "nruns", "numruns", "ntrials", "numtrials"}
PASSES = {"passes", "c", "ncorrect", "numcorrect", "correct", "npasses", "numpasses"}
TOTAL, SQUARES = {"total"}, {"totalsq"}

#: Runs of scores that are spread out, all together.
MOST_SCORES = 5_000_000

#: Sums of written decimals differ from those of the scores by rounding.
ROUNDING = 1e-6


def counts_of(table: Table, mapping: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns of runs and passes, or runs, total and total_sq; () if it has none."""
    if "outcome" in mapping or mapping.get("run"):
        return ()
    used = {part.strip() for column in mapping.values() for part in column.split("+")}
    found: list[list[str]] = [
        [c for c in table.columns if c not in used and re.sub(r"[\W_]", "", c).lower() in names]
        for names in (RUNS, PASSES, TOTAL, SQUARES)
    ]
    runs, passes, total, squares = found
    if len(runs) != 1:
        return ()
    if len(total) == len(squares) == 1 and not passes:
        return runs[0], total[0], squares[0]
    if len(passes) != 1 or _has_run(table):
        return ()
    (n,), (c,) = runs, passes
    if c.lower() == "correct":
        # A verdict has the same name: only more than one pass in a row surely is a count.
        k, r = (numbers(table.columns[name]) for name in (c, n))
        if not (k[np.isfinite(k)] > 1).any():
            if (r > 1).all() and (r == np.rint(r)).all():
                what = f"{table.name}: {c} could be passes in {n} runs, or the verdict of one"
                way = f"Type --columns outcome={c} if each row is one run"
                raise RepevalError("doubtful-layout", f"{what}. {way}; else call it passes.")
            return ()
    return n, c


def _has_run(table: Table) -> bool:
    aside = {"model": "", "condition": "", "problem": " ", "outcome": "  "}
    try:
        return "run" in resolve([*table.columns, " ", "  "], aside, table.name, [])
    except RepevalError:
        return True


def counted(reads: Sequence[Read], notices: list[Notice], **more: Any) -> Outcomes:
    """Return the outcomes that counts tables stand for.

    Their single runs are not known. Scores have the mean and variance that the table gives, and
    else the shape of `_spread`: what goes by mean and variance is exact.
    """
    for read in reads:
        if not read.counts:
            raise refused("mixed-layouts", f"{read.table.name} has no counts, others do.")
    found: list[Notice] = []
    tallies = [_tally(read) for read in reads]
    parts = [part_of(read.table, read.mapping, found) for read in reads]
    # The outcome is the layout's own, and rows of counts are no runs.
    found = [n for n in found if n.code != "no-run-column" and "outcome is read" not in n.text]
    rows = pd.concat([part.rows for part in parts], ignore_index=True)
    systems = zip(rows["model"], rows["condition"], strict=True)
    refuse_many_systems(reads[0].table.name, systems)
    texts = pd.concat([part.labels for part in parts], ignore_index=True)
    lines = np.concatenate([read.table.rows for read in reads])
    names = np.repeat([read.table.name for read in reads], [len(part.rows) for part in parts])
    if (again := rows.duplicated(KEYS)).any():
        second = int(again.idxmax())
        first = int((rows[KEYS] == rows.loc[second, KEYS]).all(axis=1).idxmax())
        model, _, problem, _ = rows.loc[second, KEYS]
        what = f"{names[second]}: row {lines[second]} counts the same model, condition and problem"
        what += f" as row {lines[first]}" + f" of {names[first]}" * (names[first] != names[second])
        what += f" ({model!r}, problem {problem!r})."
        tells = [c for c in texts if not rows[KEYS].assign(label=texts[c]).duplicated().any()]
        if column := next(iter(tells), None):
            key = "+".join([column, *parts[0].roles["problem"]])
            role = "condition" if "model" in parts[0].roles else "model"
            way = f"problem={key}" if column.lower() in TASK_COLUMNS else f"{role}={column}"
            what += f" Column {column} tells them apart: --columns {way}."
            raise RepevalError("duplicate-counts", what)
        raise refused("duplicate-counts", what)
    tally = np.concatenate(tallies)
    n_runs, total, squares = tally.T
    binary = bool(np.allclose(total, squares, rtol=0, atol=ROUNDING))
    if not binary and n_runs.sum() > MOST_SCORES:
        what = f"{reads[0].table.name}: there are {n_runs.sum():,.0f} runs of scores"
        raise refused("bad-counts", f"{what}; {MOST_SCORES:,} are read from counts at most.")
    # Files that are named after their runs count a problem several times.
    keys = [rows[key] for key in KEYS[:3]]
    sums = pd.DataFrame(tally).groupby(keys, sort=False).sum()
    tally = sums.to_numpy()
    (model, models), (condition, conditions), (problem, problems) = (
        pd.factorize(sums.index.get_level_values(key).to_numpy(object)) for key in KEYS[:3]
    )
    if len(problems) < 2:
        what = f"{reads[0].table.name}: there is only one problem ({problems[0]!r})."
        raise refused("one-problem", what)
    system = model * len(conditions) + condition
    order = np.argsort(system, kind="stable")
    cells = {
        (models[model[at[0]]], conditions[condition[at[0]]]): (
            problem[at],
            _sample(*tally[at].T, binary),
        )
        for at in np.split(order, np.flatnonzero(np.diff(system[order])) + 1)
    }
    labels = constant_labels(texts.drop(columns=[c for r in reads for c in r.counts if c in texts]),
                             rows["problem"])  # fmt: skip
    notices = list(dict.fromkeys([*notices, *found]))
    return Outcomes.from_cells(problems, cells, labels=labels, notices=notices, **more)


def _tally(read: Read) -> np.ndarray:
    """Return runs, sum and sum of squares of every row; bad ones are refused with their numbers."""
    table = read.table
    values = [numbers(table.columns[c]) for c in read.counts]
    runs, total = values[:2]
    squares = values[2] if len(values) == 3 else total

    def refuse(bad: np.ndarray, column: str, what: str) -> None:
        if bad.any():
            at = np.flatnonzero(bad)
            where = f"{rows_text(table.rows, at)} ({str(table.columns[column][at[0]])[:40]!r})"
            raise refused("bad-counts", f"{table.name}: column {column} {what} in {where}.")

    for column, value in zip(read.counts, values, strict=True):
        whole = column == read.counts[0] or len(values) == 2
        bad = ~np.isfinite(value)
        bad |= ~bad & (value != np.rint(value)) if whole else False
        refuse(bad, column, f"is no {'whole ' * whole}number")
    refuse(runs < 1, read.counts[0], "is below 1")
    refuse(runs > MOST_RUNS, read.counts[0], f"is above {MOST_RUNS:,}")
    refuse((total < 0) | (total > runs), read.counts[1], "is not between 0 and the runs")
    if len(values) == 3:
        least, most = total**2 / runs, np.floor(total) + (total - np.floor(total)) ** 2
        beyond = (squares < least - ROUNDING) | (squares > most + ROUNDING)
        refuse(beyond, read.counts[2], "cannot be the sum of squares of such scores")
    return np.stack([runs, total, squares], axis=1)


def _sample(n: np.ndarray, total: np.ndarray, squares: np.ndarray, binary: bool) -> Sample:
    runs = n.astype(np.int64)
    if binary:
        return from_counts(np.rint(total).astype(np.int64), runs)
    of_problems = zip(runs.tolist(), total.tolist(), squares.tolist(), strict=True)
    return from_values(np.concatenate([_spread(*each) for each in of_problems]), runs)


def _spread(n: int, total: float, squares: float) -> np.ndarray:
    """Return n scores in [0, 1] of a given sum and sum of squares.

    Between all equal and as far apart as the sum allows (ones, one fraction, zeros), so within
    [0, 1]: x = m + t (far − m), with t² the share of the largest sum of squares about the mean m.
    """
    far = np.clip(total - np.arange(n), 0.0, 1.0)
    mean = total / n
    largest = ((far - mean) ** 2).sum()
    if largest == 0:
        return far
    share = np.clip((squares - total * mean) / largest, 0.0, 1.0)
    return np.clip(mean + np.sqrt(share) * (far - mean), 0.0, 1.0)
