"""Judged runs of one system as codes and numbers: what every rule about runs works on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from repeval.io.keys import KEYS, System, in_order

__all__ = ["Names", "Runs", "dense", "frame_of", "runs_of"]


class Names(NamedTuple):
    """What the codes of problems and runs stand for, in the order of `in_order`."""

    problems: tuple[str, ...]
    runs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one system, in any order; no run of a problem twice.

    Attributes
    ----------
    system : (model, condition)
    problem, run : int arrays
        Codes in `Names`; those of runs are in the runs' order.
    y : float array
        Outcomes, NaN where there is none.
    disputed : int
        How many rows have an outcome and an error.
    """

    system: System
    problem: np.ndarray
    run: np.ndarray
    y: np.ndarray
    disputed: int = 0

    def __len__(self) -> int:
        return len(self.y)

    @property
    def judged(self) -> np.ndarray:
        """Which rows have an outcome."""
        return ~np.isnan(self.y)

    @property
    def name(self) -> str:
        """The system as messages call it."""
        return self.system[0] if self.system[1] == "default" else " / ".join(self.system)

    def where(self, keep: np.ndarray) -> Runs:
        """Return some of the rows."""
        return Runs(self.system, self.problem[keep], self.run[keep], self.y[keep], self.disputed)

    def scored(self, y: np.ndarray) -> Runs:
        """Return the rows with other outcomes."""
        return Runs(self.system, self.problem, self.run, y, self.disputed)


def dense(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the different codes, and each code's position among them."""
    if codes.max(initial=0) > 4 * len(codes):  # a few of many
        return np.unique(codes, return_inverse=True)
    there = np.bincount(codes) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


def runs_of(rows: pd.DataFrame) -> tuple[list[Runs], Names]:
    """Return the systems of a table of rows (keys, outcome, error), models first, by name."""
    codes, names = {}, {}
    for key in KEYS:
        found, distinct = pd.factorize(rows[key])
        names[key] = in_order(distinct)
        codes[key] = pd.Index(names[key], dtype=object).get_indexer(distinct)[found]
    y, error = rows["outcome"].to_numpy(float), rows["error"].to_numpy(bool)
    system = codes["model"] * len(names["condition"]) + codes["condition"]
    order = np.argsort(system, kind="stable")
    systems = []
    for at in np.split(order, np.flatnonzero(np.diff(system[order])) + 1):
        model, condition = divmod(int(system[at[0]]), len(names["condition"]))
        where = names["model"][model], names["condition"][condition]
        disputed = int((error[at] & ~np.isnan(y[at])).sum())
        systems.append(Runs(where, codes["problem"][at], codes["run"][at], y[at], disputed))
    return systems, Names(names["problem"], names["run"])


def frame_of(systems: Collection[Runs], names: Names) -> pd.DataFrame:
    """Return the rows of systems, one after the other, as a table of keys and outcome."""
    sizes = [len(runs) for runs in systems]
    models, conditions, problems, labels = (
        np.fromiter(texts, object, len(texts))
        for texts in ([r.system[0] for r in systems], [r.system[1] for r in systems], *names)
    )
    columns = [
        np.repeat(models, sizes), np.repeat(conditions, sizes),
        problems[np.concatenate([runs.problem for runs in systems])],
        labels[np.concatenate([runs.run for runs in systems])],
        np.concatenate([runs.y for runs in systems]),
    ]  # fmt: skip
    return pd.DataFrame(dict(zip([*KEYS, "outcome"], columns, strict=True)))
