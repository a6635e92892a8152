"""Notices that need statistics, and the account of the runs: what limits the answers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from repeval.messages import Notice, some
from repeval.report.format import count
from repeval.report.rows import ALL_PAIRS, couples
from repeval.stats.clusters import clustering
from repeval.stats.components import noise_bound
from repeval.stats.resampling import as_clusters

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes
    from repeval.report.rows import Pair, System

# Characters after which a problem's id names a member of its family.
ID_SEPARATORS = re.compile(r"\||/|__|:|#")
FEW_CLUSTERS = 30
FEW_PROBLEMS = 10
# Clusters are pointed at from this factor of a standard error on, if chance hardly gives it.
NOTABLE, BY_CHANCE = 1.25, 0.01
RULES = ("dataset-rule", "dropped-problems", "filled-runs")


def remarks(
    outcomes: Outcomes,
    systems: Sequence[System],
    pairs: Sequence[Pair],
    cluster: str | None,
    level: float,
) -> tuple[Notice, ...]:
    """Return the notices that the rows of an analysis call for."""
    found = [*_systems(outcomes, systems, level, cluster), *_pairs(outcomes, pairs)]
    if not cluster:
        return (*found, *_hidden_clusters(outcomes))
    if blank := int((outcomes.labels[cluster] == "").sum()):
        text = f"{count(blank, 'problem')} without a {cluster}: each is a cluster of its own."
        found.append(Notice("blank-clusters", text))
    fewest = min(s.n_clusters or 0 for s in systems)
    if fewest < FEW_CLUSTERS:
        text = f"{cluster} has only {fewest} clusters: with so few, intervals are wide and rough."
        found.append(Notice("few-clusters", text))
    return tuple(found)


def _systems(
    outcomes: Outcomes, systems: Sequence[System], level: float, cluster: str | None
) -> Iterator[Notice]:
    units = f"clusters of {cluster}" if cluster else "problems"
    repeated = [s for s in systems if s.runs_range[1] > 1]
    once = [s for s in systems if s.runs_range[1] == 1]
    steady = [s for s in repeated if s.within == 0]
    few = [s for s in systems if s.n_problems < FEW_PROBLEMS]
    steady = [s for s in steady if outcomes.system(s.model, s.condition).binary]
    runs = [outcomes.system(s.model, s.condition).runs for s in steady]
    bound = max((noise_bound(r[r > 1], level) for r in runs), default=0)
    for code, rows, text in (
        ("not-identified", once if repeated else [], "one run a problem, so no components."),
        (
            "no-run-noise",
            steady,
            "no problem changed its verdict. The run-to-run variance is not zero for that: up to "
            f"{bound:.2g} would still agree with these runs.",
        ),
        (
            "no-upper-limit",
            [s for s in repeated if s.between is not None and s.between <= 0 < s.within],
            f"{units} may differ no more than run noise makes them, so the ceiling has no upper "
            "limit: repetition may buy almost anything.",
        ),
        (
            "no-variation",
            [s for s in systems if s.intervals["one_level"] is None],
            "every problem has the same result, so resampling cannot say how sure the score is; "
            "the interval shown is Wilson's.",
        ),
        ("few-problems", few, f"fewer than {FEW_PROBLEMS} problems, little to say on new ones."),
    ):
        if rows:
            alone = {s.condition for s in systems} == {rows[0].condition}
            named = some(s.model if alone else f"{s.model} / {s.condition}" for s in rows)
            yield Notice(code, f"{named}: {text}")


def _pairs(outcomes: Outcomes, pairs: Sequence[Pair]) -> Iterator[Notice]:
    if left := couples(outcomes)[1]:
        text = f"Conditions are compared with {outcomes.main_condition} only: {left:,} pairs less."
        yield Notice("conditions-with-first", text)
    models_of: dict[str, list[str]] = {c: [] for c in outcomes.conditions}
    for model, condition in outcomes.systems:
        models_of[condition].append(model)
    found = Counter(p.condition for p in pairs)
    for condition, models in models_of.items():
        where = "" if len(outcomes.conditions) == 1 else f" under {condition}"
        total = math.comb(len(models), 2)
        if len(models) > ALL_PAIRS:
            text = f"{len(models)} models{where}: only neighbours are compared."
            yield Notice("adjacent-only", text)
        elif (here := found[condition]) < total:
            text = f"Pairs{where} with fewer than 2 common problems: {total - here} of {total}."
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
    """Look for labels or families of ids whose clusters widen a standard error by a quarter."""
    families = {p: ID_SEPARATORS.split(p, maxsplit=1)[0] for p in outcomes.problems}
    columns = {f"label {name}": (outcomes.labels[name], name) for name in outcomes.labels}
    marks = {m[0] for p in outcomes.problems if (m := ID_SEPARATORS.search(p))}
    before = " or ".join(f"'{mark}'" for mark in sorted(marks))
    # A key that was joined from columns has a first part of that kind by its making.
    if "+" not in dict(outcomes.policy.columns).get("problem", ""):
        columns[f"part of the problem id before {before}"] = (families, None)
    for what, (label, name) in columns.items():
        worst = 0.0
        for system in outcomes.systems:
            problems = outcomes.system_problems(*system)
            values = np.array([label[p] for p in problems], dtype=str)
            n_clusters = len(set(values))
            # Two or three groups are strata, and singletons are no clusters.
            if not 4 <= n_clusters <= len(problems) / 2:
                break
            rate = outcomes.system(*system).rate
            factor, p_value = clustering(rate, as_clusters(values, len(problems)))
            if p_value * len(outcomes.systems) < BY_CHANCE:
                worst = max(worst, factor)
        if worst >= NOTABLE:
            way = (
                f"Use --cluster {name}."
                if name
                else (f"Add a column that holds the part before {before} and give it to --cluster.")
            )
            yield Notice(
                "hidden-clusters",
                f"Problems with the same {what} stand or fall together: taken as {n_clusters} "
                f"clusters they make the standard error up to {worst:.2g} times as large. {way}",
            )
