"""`repeval simulate`: studies of coverage for parameters of one's own."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pandas as pd

from repeval.companion.studies import coverage, store, strategies
from repeval.messages import RepevalError, refused
from repeval.stats.resampling import DEFAULT_SEED

MOST = 1_000_000
# Numbers in the largest array of a process: about a gigabyte in all.
MOST_AT_ONCE = 100_000_000
STUDIES = {"coverage": coverage, "strategies": strategies}


def simulate(
    kind: str,
    *,
    problems: Sequence[int] | None = None,
    runs: Sequence[int] | None = None,
    mean: Sequence[float] | None = None,
    icc: Sequence[float] | None = None,
    table: str | Path | None = None,
    trials: int | None = None,
    resamples: int | None = None,
    full: bool = False,
    seed: int = DEFAULT_SEED,
    jobs: int = 1,
    executor: Executor | None = None,
) -> pd.DataFrame:
    """Run the study `coverage` or `strategies`; what is None is as the texts have it.

    Parameters
    ----------
    kind : {"coverage", "strategies"}
    problems, runs : sequence of int, optional
        Every combination is simulated.
    mean, icc : sequence of float, optional
        Of the Beta that the problems' pass rates are drawn from (coverage).
    table : path, optional
        CSV of counts, a row for each true label and a column for each prediction (strategies).
    trials, resamples : int, optional
    full : bool
        As many trials and resamples as the texts have, where not given.
    seed : int
    jobs : int
        Processes. The table does not depend on it.
    executor : concurrent.futures.Executor, optional
        Where to compute in place of `jobs` processes; as in `studies.result`.

    Raises
    ------
    RepevalError
        For values outside their range, or a table that is no square of counts.
    """
    numbers = {"problems": problems, "runs": runs, "trials": [trials], "resamples": [resamples]}
    least = {"problems": 2, "runs": 2 if kind == "coverage" else 1, "trials": 2, "resamples": 100}
    for name, values in {**numbers, "jobs": [jobs], "seed": [seed]}.items():
        _check(name, values, least.get(name, int(name == "jobs")), MOST)
    for name, values in {"mean": mean, "icc": icc}.items():
        _check(name, values, 0.001, 0.999)
    parameters: dict[str, Any] = dict(STUDIES[kind].SIZES["full" if full else "quick"])
    names = {"coverage": ("datasets", "resamples"), "strategies": ("trials", "n_resamples")}
    given = zip(names[kind], (trials, resamples), strict=True)
    parameters |= {name: value for name, value in given if value is not None}
    most = max(problems or (1,)), max(runs or (1,)), *(parameters[name] for name in names[kind])
    _check_memory(kind, *most)
    outcomes = None
    if kind == "strategies":
        if table is not None:
            parameters["table"] = read_table(Path(table))
        if problems or runs:
            parameters["grid"] = list(itertools.product(problems or (200,), runs or (1, 2, 3, 5)))
    elif problems or runs or mean or icc:
        chosen = mean or (0.7,), icc or (0.7,), problems or (100,), runs or (5,)
        parameters |= {"models": (), "designs": list(itertools.product(*chosen))}
    else:
        from repeval import load

        outcomes = load()
    return store.run(kind, outcomes, parameters, seed=seed, jobs=jobs, executor=executor)


def _check(name: str, values: Sequence[float | None] | None, least: float, most: float) -> None:
    for value in values or ():
        if value is not None and not least <= value <= most:
            what = f"--{name} {value:g}: must be from {least:g} to {most:,}"
            raise RepevalError("bad-option", what)


def _check_memory(kind: str, problems: int, runs: int, trials: int, resamples: int) -> None:
    if kind == "coverage":
        most = max(problems * trials, runs * resamples)
    else:
        # Labels of each run are counted in 2 L + 1 columns, ten with four labels.
        most = problems * max(10 * strategies.TOGETHER * runs, resamples)
    if most > MOST_AT_ONCE:
        what = f"{most:,} numbers at once, and {MOST_AT_ONCE:,} are the most"
        way = "ask for fewer --problems, --runs, --trials or --resamples"
        raise RepevalError("bad-option", f"So large a simulation has {what}: {way}")


def read_table(path: Path) -> list[list[int]]:
    """Read a confusion matrix: a square of counts, every true label seen, some prediction right."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [[int(field) for field in row] for row in csv.reader(file) if row]
    except OSError as error:
        raise RepevalError("file-not-found", f"--table {path}: {error.strerror}.") from None
    except (ValueError, csv.Error):
        rows = []
    square = len(rows) > 1 and all(len(row) == len(rows) and sum(row) > 0 for row in rows)
    if not square or min(map(min, rows)) < 0 or not any(row[i] for i, row in enumerate(rows)):
        raise refused("bad-confusion", f"{path.name} is no confusion matrix.")
    return rows


def screen(kind: str, table: pd.DataFrame) -> str:
    """Return the table for a terminal: what nominal 95 % intervals cover, and how wide they are."""
    if kind == "coverage":
        table = table[table["method"] != "exact"].rename(columns={"model": "system"})
        shown = table[["system", "interval"]].copy()
        for truth, words in (("mu", "new problems"), ("pbar", "these problems")):
            shown[words] = (100 * table[truth] / table["datasets"]).map("{:.1f}".format)
        shown["width"] = (100 * table["width"]).map("{:.2f}".format)
        head = f"{table['datasets'].max():,} data sets. Coverage in percent, width in points:"
    else:
        shown = table[["n", "k", "strategy", "statistic", "interval"]].copy()
        shown["coverage"] = table["coverage"].map("{:.1f}".format)
        shown["+-"] = table["coverage_se"].map("{:.1f}".format)
        shown["width"] = table["width"].map("{:.4f}".format)
        head = f"{table['trials'].iloc[0]:,} trials. Coverage in percent, with its standard error:"
    return f"{head}\n{shown.to_string(index=False)}\n"
