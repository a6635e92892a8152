"""Notices that need statistics: what limits the answers, in the words of a user."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from repeval.intervals import score_variance
from repeval.notices import Notice
from repeval.resample import as_clusters
from repeval.rows import Pair, System

if TYPE_CHECKING:
    from repeval.outcomes import Outcomes

# Characters after which a problem's id names a member of its family.
ID_SEPARATORS = re.compile(r"\||/|__|:|#")
FEW_CLUSTERS = 30


def remarks(
    outcomes: Outcomes, systems: Sequence[System], pairs: Sequence[Pair], cluster: str | None
) -> tuple[Notice, ...]:
    """Return the notices that the rows of an analysis call for."""
    found = [*_components(systems), *_intervals(systems), *_pairs(outcomes, pairs)]
    if cluster:
        fewest = min(s.n_clusters or 0 for s in systems)
        if fewest < FEW_CLUSTERS:
            text = f"{cluster} has only {fewest} clusters: intervals use t and stay rough."
            found.append(Notice("few-clusters", text))
    else:
        found += _hidden_clusters(outcomes)
    return tuple(found)


def _components(systems: Sequence[System]) -> Iterator[Notice]:
    repeated = [s for s in systems if s.runs_range[1] > 1]
    if len(repeated) < len(systems) and repeated:
        once = [s for s in systems if s.runs_range[1] == 1]
        yield Notice("not-identified", f"{_names(once)}: one run a problem, so no components.")
    if steady := [s for s in repeated if s.within == 0]:
        bound = max(_noise_bound(s.n_problems, s.runs_range[0]) for s in steady)
        yield Notice(
            "no-run-noise",
            f"{_names(steady)}: no problem changed its verdict. The run-to-run variance is not "
            f"zero for that: up to {bound:.2g} would still agree with these runs.",
        )
    if flat := [s for s in repeated if s.between is not None and s.between <= 0]:
        yield Notice(
            "no-upper-limit",
            f"{_names(flat)}: problems differ no more than run noise makes them, so the ceiling "
            "has no upper limit: repetition may buy almost anything.",
        )


def _noise_bound(n: int, runs: int) -> float:
    """95% upper bound on μ_w when none of n random problems is mixed.

    From P(mixed | p) >= 4(1 - 2^(1-R)) p(1-p).
    """
    return (1 - 0.05 ** (1 / n)) / (4 * (1 - 2.0 ** (1 - runs))) if runs > 1 else math.nan


def _intervals(systems: Sequence[System]) -> Iterator[Notice]:
    if point := [s for s in systems if s.between is not None and s.ceiling_interval_bca is None]:
        text = f"{_names(point)}: the BCa interval of the ceiling is left out."
        yield Notice("bca-undefined", text)
    if constant := [s for s in systems if s.intervals["one_level"] is None]:
        yield Notice(
            "no-variation",
            f"{_names(constant)}: every problem has the same result, so resampling cannot say how "
            "sure the score is; the interval shown is Wilson's.",
        )


def _pairs(outcomes: Outcomes, pairs: Sequence[Pair]) -> Iterator[Notice]:
    for condition in outcomes.conditions:
        models = [m for m in outcomes.models if outcomes.has(m, condition)]
        here = [p for p in pairs if p.condition == condition]
        where = "" if len(outcomes.conditions) == 1 else f" under {condition}"
        total = len(models) * (len(models) - 1) // 2
        if len(here) < total and all(p.adjacent for p in here):
            text = f"{len(models)} models{where}: only the {len(here)} pairs of neighbours."
            yield Notice("adjacent-only", text)
        elif len(here) < total:
            text = f"{total - len(here)} of {total} pairs{where} share fewer than 2 problems."
            yield Notice("pairs-left-out", text)
        if len(models) < 2:
            continue
        common = len(outcomes.common(condition)[1])
        most = max(len(outcomes.system_problems(m, condition)) for m in models)
        if common < most:
            text = f"Ranks{where} are on the {common} problems that all models have"
            text = text if common > 1 else f"No ranks{where}: the models share {common} problems"
            yield Notice("ranks-on-common", f"{text}; one of them has {most}.")


def _hidden_clusters(outcomes: Outcomes) -> Iterator[Notice]:
    """Look for labels or families of ids whose clusters at least double a standard error."""
    problems = list(outcomes.problems)
    columns = {f"label {name}": (outcomes.labels[name], name) for name in outcomes.labels}
    families = [ID_SEPARATORS.split(p, maxsplit=1)[0] for p in problems]
    columns["first part of the problem id"] = (dict(zip(problems, families, strict=True)), None)
    for what, (label, name) in columns.items():
        worst = 0.0
        for model, condition in outcomes.systems:
            names = outcomes.system_problems(model, condition)
            values = np.array([label[p] for p in names], dtype=str)
            n_clusters = len(set(values))
            # Two or three groups are strata, and singletons are no clusters.
            if not 4 <= n_clusters <= len(names) / 2:
                break
            rate = outcomes.system(model, condition).rate
            single, _ = score_variance(rate, None)
            clustered, _ = score_variance(rate, as_clusters(values, len(names)))
            worst = max(worst, math.sqrt(clustered / single) if single > 0 else 0)
        if worst >= 2:
            way = f"--cluster {name}" if name else "a label column with it, and --cluster"
            yield Notice(
                "hidden-clusters",
                f"Problems with the same {what} stand or fall together: taken as {n_clusters} "
                f"clusters they make the standard error {worst:.1f} times as large. Use {way}.",
            )


def _names(systems: Sequence[System], most: int = 3) -> str:
    names = list(dict.fromkeys(s.model for s in systems))
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
