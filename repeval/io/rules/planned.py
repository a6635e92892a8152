"""Which runs were planned: only what was planned, and not judged, is missing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from repeval.io.rules.runs import Runs, dense

__all__ = ["MOST", "Lacks", "lacks_of", "planned"]

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


class Lacks(NamedTuple):
    """Runs that the problems of one system lack.

    Attributes
    ----------
    problems : (n,) int array
        Codes of those that it has a row of, rising.
    absent, unjudged, done : (n,) int arrays
        Of each of them, runs without a row, rows without outcome, and runs that were judged.
    elsewhere : int
        Runs that every other problem lacks.
    """

    problems: np.ndarray
    absent: np.ndarray
    unjudged: np.ndarray
    done: np.ndarray
    elsewhere: int = 0

    @property
    def planned(self) -> int:
        """The most rows of any problem."""
        return int((self.unjudged + self.done).max())

    @property
    def short(self) -> np.ndarray:
        """What each of `problems` lacks."""
        return self.absent + self.unjudged

    def total(self, n_problems: int) -> int:
        """Return what so many problems lack, these among them."""
        return int(self.short.sum()) + self.elsewhere * (n_problems - len(self.problems))

    def along(self, own: np.ndarray, n_problems: int) -> np.ndarray:
        """Return what each of all problems lacks, where `own` says it of `problems`."""
        every = np.full(n_problems, self.elsewhere)
        every[self.problems] = own
        return every

    def moved(self, place: np.ndarray) -> Lacks:
        """Return the same for other codes of problems, without those whose place is below 0."""
        problems = place[self.problems]
        order = np.argsort(problems)[(problems < 0).sum() :]
        own = (values[order] for values in (problems, self.absent, self.unjudged, self.done))
        return Lacks(*own, self.elsewhere)


def lacks_of(runs: Runs) -> Lacks:
    """Count the runs that each problem of one system lacks.

    Where no label is planned, because problems do not share labels, the first, second, ... run of
    each problem take their place.
    """
    (problems, problem), labels = dense(runs.problem), dense(runs.run)[1]
    sizes, have = np.bincount(problem), np.bincount(labels)
    n = len(problems)
    wanted = planned(have, n)
    if not (have[wanted] > 1).any() and n > 1:
        labels = np.empty(len(problem), dtype=int)
        labels[np.argsort(problem, kind="stable")] = np.arange(len(problem)) - np.repeat(
            np.cumsum(sizes) - sizes, sizes
        )
        wanted = planned(np.bincount(labels), n)
    absent = wanted.sum() - np.bincount(problem[wanted[labels]], minlength=n)
    unjudged = np.bincount(problem[~runs.judged], minlength=n)
    return Lacks(problems, absent, unjudged, sizes - unjudged, int(wanted.sum()))
