"""Outcomes of many systems on many problems, and the policies they were read with."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from repeval.canonical import KEYS, write_csv
from repeval.cells import Cells, System, in_order
from repeval.findings import FOUND, findings
from repeval.notices import Notice, RepevalError
from repeval.policy import Policy, Source
from repeval.sample import Sample

__all__ = ["Outcomes", "Policy", "Source"]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A tidy table of judged runs.

    A *system* is a model under a condition.

    Attributes
    ----------
    models, conditions, problems : tuple of str
        Names, numbers in numerical and other names in alphabetical order. `problems` are those
        of any system, also where all runs were errors.
    frame : DataFrame
        Columns model, condition, problem, run (text) and outcome (float in [0, 1]), sorted.
    labels : DataFrame
        Further columns with one value per problem (text), indexed by problem.
    source : Source
    policy : Policy
    notices : tuple of Notice
    errored : DataFrame
        Columns model, condition, problem, run of the rows that have no outcome.
    """

    models: tuple[str, ...]
    conditions: tuple[str, ...]
    problems: tuple[str, ...]
    frame: pd.DataFrame = field(repr=False)
    labels: pd.DataFrame = field(repr=False)
    source: Source
    policy: Policy
    notices: tuple[Notice, ...]
    errored: pd.DataFrame = field(repr=False)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        labels: pd.DataFrame | None = None,
        *,
        source: Source | None = None,
        policy: Policy | None = None,
        notices: Sequence[Notice] = (),
        errored: pd.DataFrame | None = None,
    ) -> Outcomes:
        """Sort a clean table and add the notices that follow from counting.

        Parameters
        ----------
        frame : DataFrame
            Columns model, condition, problem, run (text, no duplicates), outcome in [0, 1].
        labels, source, policy, notices, errored
            See the attributes; `notices` come first.
        """
        errored = frame.iloc[:0][KEYS] if errored is None else errored[KEYS]
        names = {key: in_order(frame[key].unique()) for key in KEYS}
        names["problem"] = in_order([*names["problem"], *errored["problem"].unique()])
        order = np.lexsort([pd.Index(names[k]).get_indexer(frame[k]) for k in reversed(KEYS)])
        problems = names["problem"]
        index = pd.Index(problems, dtype=object, name="problem")
        labels = pd.DataFrame(index=index) if labels is None else labels.reindex(index)
        new = cls(
            names["model"],
            names["condition"],
            problems,
            frame[[*KEYS, "outcome"]].iloc[order].reset_index(drop=True),
            labels,
            source or Source(n_rows=len(frame)),
            policy or Policy(missing="keep"),
            (),
            errored.sort_values(KEYS, ignore_index=True),
        )
        return replace(new, notices=(*notices, *findings(new)))

    @property
    def binary(self) -> bool:
        """Whether every outcome is 0 or 1."""
        return self._cells.binary

    @property
    def systems(self) -> tuple[System, ...]:
        """The (model, condition) pairs that have outcomes, conditions within models."""
        return tuple(self._cells.where)

    def has(self, model: str, condition: str) -> bool:
        """Tell whether the system has outcomes."""
        return (model, condition) in self._cells.where

    def system(self, model: str, condition: str) -> Sample:
        """Return a system's sample, over the problems it has at least one run of.

        Raises
        ------
        RepevalError
            If there is no such system.
        """
        return self._cells.sample(self._find(model, condition))

    def system_problems(self, model: str, condition: str) -> tuple[str, ...]:
        """Return the problems of `system`, in the same order."""
        return self._names(self._cells.problem[self._find(model, condition)])

    def pair(self, a: System, b: System) -> tuple[Sample, Sample, tuple[str, ...]]:
        """Return two systems on their common problems, and these problems.

        Raises
        ------
        RepevalError
            If a system does not exist or fewer than two problems are common.
        """
        at = [self._find(*a), self._find(*b)]
        first, second = (self._cells.problem[i] for i in at)
        if 1 < len(first) == len(second) and (first == second).all():
            return self._cells.sample(at[0]), self._cells.sample(at[1]), self._names(first)
        common, *index = np.intersect1d(first, second, assume_unique=True, return_indices=True)
        if len(common) < 2:
            raise RepevalError(
                "no-common-problems",
                f"{_system(a)} and {_system(b)} have {len(common)} problems in common; "
                "a comparison needs at least 2.",
            )
        samples = [self._cells.sample(i).take(take) for i, take in zip(at, index, strict=True)]
        return samples[0], samples[1], self._names(common)

    def common(self, condition: str) -> tuple[dict[str, Sample], tuple[str, ...]]:
        """Return the samples of all models of a condition on the problems all of them have.

        With fewer than two such problems both are empty.
        """
        models = [m for m in self.models if self.has(m, condition)]
        if not models:
            self._find(None, condition)
        at = [self._find(m, condition) for m in models]
        seen = np.bincount(
            np.concatenate([self._cells.problem[i] for i in at]), minlength=len(self.problems)
        )
        everywhere = seen == len(models)
        if everywhere.sum() < 2:
            return {}, ()
        samples = {
            m: self._cells.sample(i).take(everywhere[self._cells.problem[i]])
            for m, i in zip(models, at, strict=True)
        }
        return samples, self._names(np.flatnonzero(everywhere))

    def planned_runs(self, model: str, condition: str) -> int:
        """Return the most runs of any problem of the system, errors included."""
        self._find(model, condition)
        return self._planned[model, condition]

    def missing_runs(self, model: str, condition: str) -> int:
        """Return how many runs the system lacks for `planned_runs` on every problem."""
        recorded = int(self._cells.runs[self._find(model, condition)].sum())
        return self._planned[model, condition] * len(self.problems) - recorded

    def missing_bounds(self, model: str, condition: str) -> tuple[float, float] | None:
        """Return the score if all missing runs had failed, and if all had passed.

        Over all `problems`; None where nothing is missing.
        """
        missing = self.missing_runs(model, condition)
        if not missing:
            return None
        full = self._planned[model, condition] * len(self.problems)
        passed = float(self._cells.passes[self._find(model, condition)].sum())
        return passed / full, (passed + missing) / full

    def select(
        self, models: Iterable[str] | None = None, conditions: Iterable[str] | None = None
    ) -> Outcomes:
        """Keep some models or conditions, and the problems that these have.

        Raises
        ------
        RepevalError
            If a name is not in the data, or nothing is left.
        """
        models = self.models if models is None else tuple(models)
        conditions = self.conditions if conditions is None else tuple(conditions)
        for model in models:
            self._find(model, None)
        for condition in conditions:
            self._find(None, condition)
        if not models or not conditions:
            raise RepevalError("unknown-model", "No model or no condition was chosen.")
        if not any(self.has(m, c) for m in models for c in conditions):
            self._find(models[0], conditions[0])
        return self._subset(
            lambda frame: frame["model"].isin(models) & frame["condition"].isin(conditions)
        )

    def split_by(self, column: str) -> dict[str, Outcomes]:
        """Split by a label column, in order of appearance along `problems`.

        Problems without a value are under "".

        Raises
        ------
        RepevalError
            If `column` is not a label with one value per problem.
        """
        if column not in self.labels:
            known = ", ".join(map(str, self.labels.columns)) or "none"
            raise RepevalError(
                "unknown-label",
                f"There is no label column {column!r} with one value for each problem. "
                f"Label columns: {known}.",
            )
        values = self.labels[column]
        return {
            value: self._subset(lambda frame, v=value: frame["problem"].map(values) == v)
            for value in dict.fromkeys(values)
        }

    def to_csv(self, path: str | Path) -> None:
        """Write the canonical table, labels included, as `load` reads it back.

        Rows without an outcome are written with a status; a name that ends in ``.gz`` is
        compressed, always to the same bytes.
        """
        write_csv(self, path)

    @cached_property
    def _cells(self) -> Cells:
        return Cells(self)

    @cached_property
    def _planned(self) -> dict[System, int]:
        if not len(self.errored):
            return {s: int(self._cells.runs[i].max()) for s, i in self._cells.where.items()}
        keys = pd.concat([self.frame[KEYS], self.errored])
        most = keys.groupby(KEYS[:3]).size().groupby(level=KEYS[:2]).max()
        return {s: int(most.loc[s]) for s in self._cells.where}

    def _names(self, codes: np.ndarray) -> tuple[str, ...]:
        return tuple(self.problems[i] for i in codes)

    def _subset(self, keep) -> Outcomes:
        return Outcomes.from_frame(
            self.frame[keep(self.frame)],
            self.labels,
            source=self.source,
            policy=self.policy,
            notices=[n for n in self.notices if n.code not in FOUND],
            errored=self.errored[keep(self.errored)] if len(self.errored) else None,
        )

    def _find(self, model: str | None, condition: str | None) -> slice:
        """Cells of the system; None stands for any name."""
        if (model, condition) in self._cells.where:
            return self._cells.where[model, condition]
        if model is not None and model not in self.models:
            raise RepevalError("unknown-model", _unknown("model", model, self.models))
        if condition is not None and condition not in self.conditions:
            text = _unknown("condition", condition, self.conditions)
            raise RepevalError("unknown-condition", text)
        if model is None or condition is None:
            return slice(0, 0)
        raise RepevalError(
            "unknown-model", f"Model {model!r} has no outcome under condition {condition!r}."
        )


def _unknown(kind: str, name: str, names: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, names, n=3)
    hint = f"Did you mean {', '.join(near)}?" if near else f"There are: {_some(names)}."
    return f"There is no {kind} {name!r}. {hint}"


def _some(names: Sequence[str], n: int = 12) -> str:
    more = f" and {len(names) - n} more" if len(names) > n else ""
    return ", ".join(names[:n]) + more


def _system(system: System) -> str:
    model, condition = system
    return repr(model) if condition == "default" else f"{model!r} ({condition})"
