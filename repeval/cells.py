"""Passes and runs per (model, condition, problem), and the order of names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repeval.sample import Sample, from_counts, from_scores

if TYPE_CHECKING:
    from repeval.outcomes import Outcomes

__all__ = ["Cells", "System", "in_order"]

System = tuple[str, str]


class Cells:
    """Passes and runs per (model, condition, problem), in one long sorted table."""

    def __init__(self, data: Outcomes) -> None:
        names = {"model": data.models, "condition": data.conditions, "problem": data.problems}
        codes = np.array(
            [pd.Index(n, dtype=object).get_indexer(data.frame[key]) for key, n in names.items()]
        )
        start = _starts(codes)
        self.outcome = data.frame["outcome"].to_numpy(float)
        self.problem = codes[2, start]
        self.runs = np.diff(start, append=codes.shape[1])
        self.passes = np.add.reduceat(self.outcome, start) if len(start) else np.zeros(0)
        self.first = start
        self.binary = bool(((self.outcome == 0) | (self.outcome == 1)).all())
        self._samples: dict[int, Sample] = {}
        systems = codes[:2, start]
        begin = _starts(systems)
        end = np.append(begin[1:], len(start))
        self.where: dict[System, slice] = {
            (data.models[m], data.conditions[c]): slice(int(i), int(j))
            for (m, c), i, j in zip(systems[:, begin].T, begin, end, strict=True)
        }

    def sample(self, at: slice) -> Sample:
        """Return the sample of one system, given its cells; made once."""
        if at.start not in self._samples:
            self._samples[at.start] = self._make(at)
        return self._samples[at.start]

    def _make(self, at: slice) -> Sample:
        runs = self.runs[at]
        if self.binary:
            return from_counts(self.passes[at].astype(np.int64), runs)
        scores = np.full((len(runs), runs.max()), np.nan)
        first = self.first[at]
        values = self.outcome[first[0] : first[0] + runs.sum()]
        scores[np.arange(scores.shape[1]) < runs[:, None]] = values
        return from_scores(scores)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return distinct names: numbers first and by value, then the others alphabetically."""
    return tuple(sorted(dict.fromkeys(map(str, names)), key=_rank))


def _rank(name: str) -> tuple[bool, int, str]:
    number = name.isascii() and name.isdigit() and len(name) < 19
    return not number, int(name) if number else 0, name


def _starts(codes: np.ndarray) -> np.ndarray:
    """Where a new group starts in sorted columns of codes."""
    change = (np.diff(codes, axis=1) != 0).any(axis=0)
    return np.concatenate([[0], np.flatnonzero(change) + 1]) if codes.shape[1] else np.zeros(0, int)
