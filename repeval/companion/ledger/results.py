"""What a claim may look at: an analysis and its data, in the paper's terms."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from repeval.companion.ledger.entries import paper, printed
from repeval.companion.ledger.verdicts import refusal
from repeval.companion.studies import result
from repeval.io import registry
from repeval.io.outcomes import Outcomes
from repeval.report.analysis import Analysis


@dataclass(frozen=True)
class Results:
    """An analysis of the paper's outcomes, or of the stand-in, with what claims ask of it."""

    analysis: Analysis
    outcomes: Outcomes
    compute: Callable[[str], pd.DataFrame] | None = None

    def study(self, name: str) -> pd.DataFrame:
        """Return the table of a study, computed at most once."""
        if name not in self._tables:
            compute = self.compute or functools.partial(result, outcomes=self.outcomes)
            self._tables[name] = compute(name)
        return self._tables[name]

    @functools.cached_property
    def _tables(self) -> dict[str, pd.DataFrame]:
        return {}

    @functools.cached_property
    def printed(self) -> Printed:
        """The same with printed components instead of those of the clean systems."""
        return Printed(self.analysis, self.outcomes, self.compute)

    @property
    def condition(self) -> str:
        """The condition the paper's leaderboard is made of."""
        return registry.default_dataset()["default_condition"]

    def systems(self, condition: str | None = None) -> list[Any]:
        """Return all systems of a condition (of the leaderboard's), in order of name."""
        wanted = condition or self.condition
        return [row for row in self.analysis.systems if row.condition == wanted]

    def clean(self, condition: str | None = None) -> list[Any]:
        """Return the systems of a condition that enter pooled statistics."""
        left_out = registry.default_dataset()["excluded_systems"]
        return [row for row in self.systems(condition) if row.model not in left_out]

    def values(self, name: str, condition: str | None = None) -> np.ndarray:
        """Return a figure of every clean system, under its name in the JSON."""
        return np.array([getattr(row, name) for row in self.clean(condition)])

    @property
    def n_runs(self) -> int:
        """Runs per problem, which all systems share."""
        if (runs := self.analysis.shape["n_runs"]) is None:
            raise refusal("the systems have unequal numbers of runs")
        return runs

    @property
    def adjacent(self) -> list[Any]:
        """Pairs of neighbours on the paper's leaderboard, best first."""
        return self.analysis.adjacent(self.condition)

    @functools.cached_property
    def whole(self) -> Outcomes:
        """The same data before the complete-case rule drops a problem."""
        data = self.outcomes.before or self.outcomes
        if not any(data.missing_runs(*system) for system in data.systems):
            raise refusal("needs the table with its incomplete problem")
        return data


def published(r: Results) -> pd.DataFrame:
    """Return components by model from the earlier version's table (see `entries.printed`)."""
    return printed(r.condition, r.n_runs)


class Printed(Results):
    """Results whose components of clean systems are printed ones: no outcome enters."""

    def values(self, name: str, condition: str | None = None) -> np.ndarray:
        """Return the printed median `icc` or `ceiling`; `within` or `between` from the counts."""
        medians = {"icc": "vc-s51-icc-median", "ceiling": "vc-s52-ceiling-median"}
        if name in medians:
            return np.array([paper()[medians[name]].value])
        cells = published(self).loc[[s.model for s in self.clean(condition)]]
        between = cells["spread"] - cells["within"] / self.n_runs
        return {"within": cells["within"], "between": between}[name].to_numpy()
