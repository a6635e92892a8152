"""Outcomes of many systems on many problems, and the policies they were read with."""

from __future__ import annotations

import csv
import dataclasses
import functools
import gzip
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from repeval.io.keys import KEYS, Policy, Source, System, check_names, in_order, unknown_label
from repeval.io.rules.planned import Lacks, lacks_of
from repeval.io.rules.runs import runs_of
from repeval.messages import Notice, RepevalError, refused
from repeval.stats.sample import Sample, from_values

__all__ = ["KEYS", "Outcomes", "Policy", "Source", "check_names", "in_order"]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A tidy table of judged runs.

    A *system* is a model under a condition. Names that are not in the data are refused.

    Attributes
    ----------
    models, conditions, problems : tuple of str
        Names, numbers in numerical and other names in alphabetical order. `problems` are those
        of any system, also where all runs were errors.
    frame : DataFrame
        Columns model, condition, problem, run (text) and outcome (float in [0, 1]), sorted.
    labels : DataFrame
        Further columns with one value per problem (text), indexed by problem. Its
        ``attrs["varying"]`` has of each column that is none a problem and two of its values.
    source : Source
    policy : Policy
    notices : tuple of Notice
        What was assumed or noticed while reading; `analyze` adds what counting shows.
    errored : DataFrame
        Columns model, condition, problem, run of the rows that have no outcome.
    before : Outcomes or None
        The same before the rule for missing runs left out or filled any; None where it did not.

    Examples
    --------
    >>> import repeval
    >>> outcomes = repeval.load("runs.csv")  # the file that the example of `repeval.load` writes
    >>> outcomes.systems
    (('A', 'default'), ('B', 'default'))
    >>> outcomes.system("A", "default").passes.tolist()
    [3, 3, 0, 1, 2, 0]
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
    before: Outcomes | None = field(default=None, repr=False)

    @classmethod
    def _from_frame(
        cls,
        frame: pd.DataFrame,
        labels: pd.DataFrame | None = None,
        *,
        source: Source | None = None,
        policy: Policy | None = None,
        notices: Sequence[Notice] = (),
        errored: pd.DataFrame | None = None,
        before: Outcomes | None = None,
    ) -> Outcomes:
        """Sort a clean, canonical table (see `frame`): only `repeval.load` checks frames."""
        errored = frame.iloc[:0][KEYS] if errored is None else errored[KEYS]
        names = {key: in_order(frame[key].unique()) for key in KEYS}
        names["problem"] = in_order([*names["problem"], *errored["problem"].unique()])
        order = np.lexsort([pd.Index(names[k]).get_indexer(frame[k]) for k in reversed(KEYS)])
        index = pd.Index(names["problem"], dtype=object, name="problem")
        return cls(
            *(names[key] for key in KEYS[:3]),
            frame[[*KEYS, "outcome"]].iloc[order].reset_index(drop=True),
            pd.DataFrame(index=index) if labels is None else labels.reindex(index),
            source or Source(n_rows=len(frame)),
            policy or Policy(missing="keep"),
            tuple(notices),
            errored.sort_values(KEYS, ignore_index=True),
            before,
        )

    @classmethod
    def from_cells(
        cls,
        problems: Sequence[str],
        cells: dict[System, tuple[np.ndarray, Sample]],
        *,
        source: Source,
        policy: Policy,
        notices: Sequence[Notice] = (),
        lacks: Mapping[System, Lacks] | None = None,
        labels: pd.DataFrame | None = None,
        before: Outcomes | None = None,
        rows: Callable[[], tuple[pd.DataFrame, pd.DataFrame]] | None = None,
    ) -> Outcomes:
        """Build outcomes from counts: `frame` is empty until `rows` is asked for.

        `cells` holds each system's positions in `problems`, in any order, and its sample;
        `lacks` what it lacks of `problems`. `rows` gives the rows with and without outcome; None
        where only counts are known.
        """
        names = in_order(problems)
        place = pd.Index(names, dtype=object).get_indexer(problems)
        models, conditions = (in_order(s[i] for s in cells) for i in (0, 1))
        empty = pd.DataFrame(columns=[*KEYS, "outcome"], dtype=object)
        index = pd.Index(names, dtype=object, name="problem")
        labels = pd.DataFrame(index=index) if labels is None else labels.reindex(index)
        new = cls(
            models, conditions, names, empty, labels, source, policy, tuple(notices), empty[KEYS],
            before,
        )  # fmt: skip
        new.__dict__["_cells"], same = (found := {}), {}
        first, second = ({name: i for i, name in enumerate(x)} for x in (models, conditions))
        for system in sorted(cells, key=lambda s: (first[s[0]], second[s[1]])):
            codes, sample = place[cells[system][0]], cells[system][1]
            codes = codes[order := np.argsort(codes)]
            found[system] = same.setdefault(codes.tobytes(), codes), sample.take(order)
        new.__dict__["_lacks"] = {
            s: lacks[s].moved(place) if lacks else Lacks(codes, 0 * x.runs, 0 * x.runs, x.runs)
            for s, (codes, x) in found.items()
        }
        new.__dict__["_later"] = rows
        return new

    def rows(self) -> pd.DataFrame:
        """Return `frame`, which large tables have from then on; those of counts never do."""
        if self.frame.empty:
            if not (later := self.__dict__.get("_later")):
                raise refused("counts-only", f"{self.source.name}: single rows are needed.")
            rows, errored = later()
            whole = self._from_frame(rows, errored=errored)
            self.__dict__.update(frame=whole.frame, errored=whole.errored)
        return self.frame

    @functools.cached_property
    def _cells(self) -> dict[System, tuple[np.ndarray, Sample]]:
        """Every system's problems (positions in `problems`) and its sample over them."""
        outcome, keys = self.frame["outcome"].to_numpy(float), self.frame[KEYS[:3]].to_numpy()
        new = np.ones(keys.shape, dtype=bool)
        new[1:] = keys[1:] != keys[:-1]
        starts = np.flatnonzero(new.any(axis=1))
        problem = pd.Index(self.problems, dtype=object).get_indexer(keys[starts, 2])
        runs = np.diff([*starts, len(keys)])
        ends = [*np.flatnonzero(new[starts, :2].any(axis=1)), len(starts)]
        # One array for all that are equal: most systems have the same problems.
        starts, same = [*starts, len(keys)], {}
        return {
            tuple(keys[starts[a], :2]): (
                same.setdefault(problem[a:b].tobytes(), problem[a:b]),
                from_values(outcome[starts[a] : starts[b]], runs[a:b]),
            )
            for a, b in itertools.pairwise(ends)
        }  # fmt: skip

    @functools.cached_property
    def _lacks(self) -> dict[System, Lacks]:
        rows = pd.concat([self.frame, self.errored.assign(outcome=np.nan)])
        return {runs.system: lacks_of(runs) for runs in runs_of(rows.assign(error=False))[0]}

    @property
    def binary(self) -> bool:
        """Whether every outcome is 0 or 1."""
        return all(sample.binary for _, sample in self._cells.values())

    @property
    def main_condition(self) -> str:
        """The condition that is answered for where none is named: the data set's, or the first."""
        return self.source.default_condition or self.conditions[0]

    @property
    def systems(self) -> tuple[System, ...]:
        """The (model, condition) pairs that have outcomes, conditions within models."""
        return tuple(self._cells)

    def has(self, model: str, condition: str) -> bool:
        """Tell whether the system has outcomes."""
        return (model, condition) in self._cells

    def system(self, model: str, condition: str) -> Sample:
        """Return a system's sample, over the problems it has at least one run of."""
        return self._cell(model, condition)[1]

    def system_problems(self, model: str, condition: str) -> tuple[str, ...]:
        """Return the problems of `system`, in the same order."""
        return self._names(self._cell(model, condition)[0])

    def pair(self, a: System, b: System) -> tuple[Sample, Sample, tuple[str, ...]]:
        """Return two systems on their common problems, and these problems, at least two."""
        (first, one), (second, two) = self._cell(*a), self._cell(*b)
        if first is not second and not np.array_equal(first, second):
            first, i, j = np.intersect1d(first, second, assume_unique=True, return_indices=True)
            one, two = one.take(i), two.take(j)
        if len(first) < 2:
            names = [repr(m) if c == "default" else f"{m!r} ({c})" for m, c in (a, b)]
            what = f"{' and '.join(names)} have {len(first)} problems in common."
            raise refused("no-common-problems", what)
        return one, two, self._names(first)

    def common(self, condition: str) -> tuple[dict[str, Sample], tuple[str, ...]]:
        """Return the samples of all models of a condition on the problems all of them have.

        With fewer than two such problems both are empty.
        """
        check_names("unknown-condition", [condition], self.conditions)
        cells = {m: self._cells[m, condition] for m in self.models if self.has(m, condition)}
        shared = functools.reduce(np.intersect1d, {id(c): c for c, _ in cells.values()}.values())
        if len(shared) < 2:
            return {}, ()
        samples = {m: x if len(c) == len(shared) else x.take(np.isin(c, shared))
                   for m, (c, x) in cells.items()}  # fmt: skip
        return samples, self._names(shared)

    def ranked(self, condition: str) -> list[str]:
        """Return the models of a condition, best first, ties by name.

        By their scores on the problems that all of them have, where there are at least two.
        """
        samples = self.common(condition)[0] or {
            m: self.system(m, condition) for m in self.models if self.has(m, condition)
        }
        return sorted(samples, key=lambda m: (-samples[m].rate.mean(), m))

    def counts(self) -> pd.DataFrame:
        """Return one row for each model, condition and problem with at least one run.

        With `runs` and `passes`, or where outcomes of any system are scores with `runs`, `total`
        and `total_sq`, the sums of outcomes and of their squares.

        Examples
        --------
        >>> import repeval
        >>> outcomes = repeval.load("runs.csv")  # see the example of `repeval.load`
        >>> outcomes.counts().head(2)
          model condition problem  runs  passes
        0     A   default       0     3       3
        1     A   default       1     3       3
        """
        parts = []
        for (model, condition), (codes, x) in self._cells.items():
            if self.binary:
                sums = {"passes": x.passes}
            else:
                totals = [x.passes] * 2 if x.binary else x.sums()
                sums = dict(zip(("total", "total_sq"), map(np.float64, totals), strict=True))
            keys = {"model": model, "condition": condition, "problem": self._names(codes)}
            parts.append(pd.DataFrame({**keys, "runs": x.runs, **sums}))
        return pd.concat(parts, ignore_index=True)

    def planned_runs(self, model: str, condition: str) -> int:
        """Return the most runs of any problem of the system, errors included."""
        self._cell(model, condition)
        return self._lacks[model, condition].planned

    def lacking(self, model: str, condition: str) -> np.ndarray:
        """Return how many runs each of `problems` lacks.

        Missing is what was planned and not judged: an error, or a run label that every other
        problem of the system has, or nearly. Unequal numbers of runs by design are not missing.
        """
        self._cell(model, condition)
        lacks = self._lacks[model, condition]
        return lacks.along(lacks.short, len(self.problems))

    def missing_runs(self, model: str, condition: str) -> int:
        """Return how many runs the system lacks, over all `problems` (see `lacking`)."""
        self._cell(model, condition)
        return self._lacks[model, condition].total(len(self.problems))

    def missing_bounds(self, model: str, condition: str) -> tuple[float, float] | None:
        """Return the score if all missing runs had failed, and if all had passed.

        Over all `problems`; None where nothing is missing.
        """
        sample, missing = self.system(model, condition), self.missing_runs(model, condition)
        if not missing:
            return None
        passed = float((sample.passes if sample.binary else sample.values).sum())
        full = int(sample.runs.sum()) + missing
        return passed / full, (passed + missing) / full

    def select(
        self, models: Iterable[str] | None = None, conditions: Iterable[str] | None = None
    ) -> Outcomes:
        """Keep some models or conditions, and the problems that these have."""
        models = self.models if models is None else tuple(models)
        conditions = self.conditions if conditions is None else tuple(conditions)
        check_names("unknown-model", models, self.models)
        check_names("unknown-condition", conditions, self.conditions)
        if not any(self.has(m, c) for m in models for c in conditions):
            text = f"There is no outcome of models {models} under conditions {conditions}."
            raise refused("unknown-model", text)
        return self._subset(model=models, condition=conditions)

    def split_by(self, column: str) -> dict[str, Outcomes]:
        """Split by a label, in order of appearance along `problems`; "" where there is none."""
        if column not in self.labels:
            raise unknown_label(column, self.labels)
        values, parts = self.labels[column], {}
        for value in dict.fromkeys(values):
            part = self._subset(problem=values.index[values == value])
            if self.before:
                # The rule may have left out whole problems of this value.
                whole = self.before.labels[column]
                before = self.before._subset(problem=whole.index[whole == value])
                part = dataclasses.replace(part, before=before)
            parts[value] = part
        return parts

    def to_csv(self, path: str | Path) -> None:
        """Write the canonical table, labels included, as `load` reads it back.

        Rows without an outcome are written with a status; a name that ends in ``.gz`` is
        compressed, always to the same bytes.
        """
        kind, frame = int if self.binary else float, self.rows()
        table = frame.assign(outcome=frame["outcome"].astype(kind).astype(object))
        if len(self.errored):
            rows = self.errored.assign(outcome="", status="error")
            table = pd.concat([table.assign(status=""), rows]).sort_values(KEYS, kind="stable")
        table = table.join(self.labels, on="problem")
        text = table.to_csv(index=False, lineterminator="\n")
        # A lone carriage return is only safe in quotes, which the csv module does not add.
        if "\r" in text:
            text = table.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_ALL)
        path, content = Path(path), text.encode()
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)

    def _cell(self, model: str, condition: str) -> tuple[np.ndarray, Sample]:
        if not self.has(model, condition):
            check_names("unknown-model", [model], self.models)
            check_names("unknown-condition", [condition], self.conditions)
            text = f"Model {model!r} has no outcome under condition {condition!r}."
            raise RepevalError("unknown-model", text)
        return self._cells[model, condition]

    def _names(self, codes: np.ndarray) -> tuple[str, ...]:
        if len(codes) == len(self.problems):
            return self.problems
        return tuple(self.problems[i] for i in codes)

    def _subset(self, **names: Sequence[str]) -> Outcomes:
        """Keep the rows, or the counts, whose keys are among the names."""
        # Only single runs tell what was planned of some problems, and which have errors only.
        asked = "problem" in names or any(n.code == "errored-rows" for n in self.notices)
        if self.frame.empty and not (asked and self.__dict__.get("_later")):
            return self._subset_of_counts(**names)
        frame, errored = (
            table[table[list(names)].isin(names).all(axis=1)]
            for table in (self.rows(), self.errored)
        )
        return Outcomes._from_frame(
            frame,
            self.labels,
            source=self.source,
            policy=self.policy,
            notices=self.notices,
            errored=errored,
            before=self.before and self.before._subset(**names),
        )

    def _subset_of_counts(self, **names: Sequence[str]) -> Outcomes:
        keep = pd.Index(self.problems).isin(names.get("problem", self.problems))
        cells = {}
        for system, (codes, sample) in self._cells.items():
            inside = keep[codes]
            fits = [s in names.get(key, [s]) for key, s in zip(KEYS, system, strict=False)]
            if inside.any() and all(fits):
                cells[system] = codes[inside], sample.take(inside)
        used = np.unique(np.concatenate([codes for codes, _ in cells.values()]))
        place = np.full(len(self.problems), -1)
        place[used] = np.arange(len(used))
        cells = {s: (place[codes], sample) for s, (codes, sample) in cells.items()}
        later = self.__dict__.get("_later")
        about = {"source": self.source, "policy": self.policy, "notices": self.notices}
        return Outcomes.from_cells(
            self._names(used), cells, labels=self.labels, **about,
            lacks={system: self._lacks[system].moved(place) for system in cells},
            before=self.before and self.before._subset(**names),
            rows=later and (lambda: tuple(
                table[table[list(names)].isin(names).all(axis=1)] for table in later())),
        )  # fmt: skip
