"""What a claim may look at: an analysis, its data and the texts' own figures."""

from __future__ import annotations

import functools
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from repeval import registry
from repeval.analysis import Analysis
from repeval.claims.entries import Claim, claims
from repeval.notices import RepevalError
from repeval.outcomes import Outcomes


@dataclass(frozen=True)
class Results:
    """A lazy view of everything a claim may look at."""

    analysis: Analysis
    outcomes: Outcomes

    def check(self) -> None:
        """Refuse data that are not the paper's systems, or lack their components."""
        cells = pd.read_csv(registry.data_dir() / "published-cells.csv")
        wanted = set(zip(cells["model"], cells["prompt"], strict=True))
        if wanted != set(self.outcomes.systems):
            text = (
                f"the claims are about the paper's {len(wanted)} systems, and these data hold "
                "others; run `repeval claims` without a file, or on the paper's outcomes"
            )
            raise RepevalError("claims-other-data", text)
        settings = self.analysis.settings
        if settings.level != 0.95 or settings.cluster is not None:
            text = "the claims are about 95% intervals with problems as the unit; leave both as is"
            raise RepevalError("claims-other-data", text)
        if unknown := [s for s in self.analysis.systems if s.ceiling is None]:
            text = f"{unknown[0].model}, {unknown[0].condition}: no ceiling, so no claim about it"
            raise RepevalError("claims-other-data", text)

    @functools.cached_property
    def paper(self) -> dict[str, Claim]:
        """The ledger by id, for claims about the text's own figures."""
        return {c.id: c for c in claims()}

    @functools.cached_property
    def condition(self) -> str:
        """The condition the paper's leaderboard is made of."""
        return registry.default_dataset()["default_condition"]

    def systems(self, condition: str | None = None) -> list[Any]:
        """Return all systems of a condition (of the default one), in the order of the analysis."""
        wanted = condition or self.condition
        return [row for row in self.analysis.systems if row.condition == wanted]

    def clean(self, condition: str | None = None) -> list[Any]:
        """Return the systems of a condition that enter pooled statistics."""
        left_out = registry.default_dataset()["excluded_systems"]
        return [row for row in self.systems(condition) if row.model not in left_out]

    def median(self, statistic: Callable[[Any], float]) -> float:
        """Take the median of a statistic over the clean systems of the default condition."""
        return statistics.median(map(statistic, self.clean()))

    def extremes(self, statistic: Callable[[Any], float]) -> list[float]:
        """Find the smallest and the largest value of a statistic over the clean systems."""
        values = [statistic(row) for row in self.clean()]
        return [min(values), max(values)]

    def named(self, slug: str) -> Any:
        """Find the system whose name, in small letters and digits only, is `slug`."""
        for row in self.systems():
            if re.sub(r"[^a-z0-9]", "", row.model.lower()) == slug:
                return row
        raise RepevalError("claims-other-data", f"the data have no system named like {slug!r}")

    @functools.cached_property
    def n_runs(self) -> int:
        """Runs per problem, which all systems share."""
        numbers = {row.n_runs for row in self.analysis.systems}
        if len(numbers) > 1 or None in numbers:
            raise RepevalError("claims-other-data", "the systems have unequal numbers of runs")
        return numbers.pop()

    @functools.cached_property
    def adjacent(self) -> list[Any]:
        """Pairs of neighbours on the default condition's leaderboard, best first."""
        return list(self.analysis.adjacent(self.condition))

    @functools.cached_property
    def ranks(self) -> list[Any]:
        """Ranks under the default condition."""
        return [row for row in self.analysis.ranks if row.condition == self.condition]

    @functools.cached_property
    def whole(self) -> Outcomes:
        """The same data before the complete-case rule drops a problem."""
        from repeval import load

        data = load(missing="keep")
        if data.source.sha256 != self.outcomes.source.sha256:
            text = "needs the table with its incomplete problem: run it on the default data set"
            raise RepevalError("claims-other-data", text)
        return data
