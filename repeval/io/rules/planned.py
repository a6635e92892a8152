"""Which runs were planned: only what was planned, and not judged, is missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

__all__ = ["MOST", "lacking", "lacking_by_system", "planned"]

#: "Nearly all": designs with unequal numbers of runs leave more problems out than one in ten.
MOST = 0.9


def planned(have: np.ndarray, n_problems: int) -> np.ndarray:
    """Tell which run labels were planned: all problems but one, or `MOST`, have them.

    Parameters
    ----------
    have : int array, shape (n_labels,)
        How many problems of the system have each label.
    n_problems : int
        How many problems the system has.
    """
    return (have > 0) & ((have >= n_problems - 1) | (have >= MOST * n_problems))


def lacking(
    problem: np.ndarray, run: np.ndarray, judged: np.ndarray, n_problems: int
) -> np.ndarray:
    """Count the runs that each problem of one system lacks.

    Where no label is planned, because problems do not share labels, the first, second, ... run of
    each problem take their place.

    Parameters
    ----------
    problem, run : int array, shape (n_rows,)
        Codes from 0 on; no run of a problem twice.
    judged : bool array, shape (n_rows,)
        Which rows have an outcome.
    n_problems : int
        Problems in all, also those that the system has no row of.

    Returns
    -------
    int array, shape (2, n_problems)
        Runs that have no row, and rows that have no outcome.
    """
    n = np.count_nonzero(np.bincount(problem))
    labels, have = run, np.bincount(run)
    wanted = planned(have, n)
    if not (have[wanted] > 1).any() and n > 1:
        labels = pd.Series(problem).groupby(problem).cumcount().to_numpy()
        wanted = planned(np.bincount(labels), n)
    found = np.bincount(problem[wanted[labels]], minlength=n_problems)
    return np.stack([wanted.sum() - found, np.bincount(problem[~judged], minlength=n_problems)])


def lacking_by_system(
    rows: pd.DataFrame, judged: np.ndarray, problems: pd.Index
) -> Iterator[tuple[tuple[str, str], np.ndarray]]:
    """Yield each model and condition of the rows, with what `lacking` counts along `problems`."""
    problem, run = problems.get_indexer(rows["problem"]), pd.factorize(rows["run"])[0]
    groups = rows.groupby(["model", "condition"], sort=False).indices
    for system, at in groups.items():
        codes = np.unique(run[at], return_inverse=True)[1]
        yield system, lacking(problem[at], codes, judged[at], len(problems))
