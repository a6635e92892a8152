"""One answer for each group of problems, and their average with every group weighted alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from repeval.report.compute import Answers
from repeval.report.rows import Macro, Settings, known_or_none
from repeval.stats.clusters import effective_number
from repeval.stats.components import components
from repeval.stats.macro import macro

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

__all__ = ["macro_rows"]


def macro_rows(parts: Mapping[str, Outcomes], settings: Settings) -> list[Macro]:
    """Average each system's scores over the parts that it has problems of."""
    systems = dict.fromkeys(system for part in parts.values() for system in part.systems)
    rows = []
    for model, condition in systems:
        own = [part for part in parts.values() if part.has(model, condition)]
        means, variances, sizes = [], [], []
        for part in own:
            groups = Answers(part, settings).clusters(part.system_problems(model, condition))
            sample = part.system(model, condition)
            c = components(sample, clusters=groups)
            means.append(c.mean)
            variances.append(c.variance)
            sizes.append(len(sample) if groups is None else effective_number(np.bincount(groups)))
        found = macro(means, variances, sizes, level=settings.level)
        interval = known_or_none(found.low), known_or_none(found.high)
        rows.append(
            Macro(
                model, condition, len(own), found.estimate,
                None if None in interval else interval, found.method,
            )
        )  # fmt: skip
    return rows
