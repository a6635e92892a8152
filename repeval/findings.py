"""Notices that follow from counting outcomes; nothing here is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from repeval.notices import Notice

if TYPE_CHECKING:
    from repeval.outcomes import Outcomes
    from repeval.sample import Sample

__all__ = ["FOUND", "TASK_COLUMNS", "findings"]

TASK_COLUMNS = ("task", "benchmark", "dataset")

#: Codes that depend on which systems and problems are selected.
FOUND = frozenset(
    {"missing-runs", "single-run", "scores", "identical-runs", "few-mixed", "never-passed",
     "adaptive-stopping", "several-tasks"}
)  # fmt: skip

FEW_MIXED = 10


def findings(data: Outcomes) -> tuple[Notice, ...]:
    """Return the notices that counting gives for these outcomes."""
    samples = {s: data.system(*s) for s in data.systems}
    found = [_missing(data), *_runs(samples), _never_passed(data), _stopping(data, samples)]
    if not data.binary:
        found.insert(
            1,
            Notice(
                "scores",
                "Outcomes are scores between 0 and 1: what needs passed or failed is left out "
                "(--pass-at T makes them passed from T on).",
            ),
        )
    for column in data.labels:
        values = set(data.labels[column]) - {""}
        if str(column).lower() in TASK_COLUMNS and len(values) > 1:
            found.append(
                Notice(
                    "several-tasks",
                    f"Column {column} names {len(values)} tasks: use --by {column} for one answer "
                    "each. Pooled, every problem has the same weight, so large tasks outweigh "
                    "small ones.",
                )
            )
    return tuple(notice for notice in found if notice)


def _missing(data: Outcomes) -> Notice | None:
    missing = {s: n for s in data.systems if (n := data.missing_runs(*s))}
    if not missing:
        return None
    total = sum(missing.values())
    planned = sum(data.planned_runs(*s) for s in data.systems) * len(data.problems)
    return Notice(
        "missing-runs",
        f"{total:,} of {planned:,} runs are missing, in {_systems(missing, data)}. Scores use "
        "what was recorded; missing_bounds gives the score if all missing runs had failed, and "
        "if all had passed.",
    )


def _runs(samples: dict[tuple[str, str], Sample]) -> list[Notice]:
    """R = 1, runs that never differ, few problems that differ."""
    repeated = {s: x for s, x in samples.items() if (x.runs > 1).any()}
    if not repeated:
        return [
            Notice(
                "single-run",
                "Every problem has one run: run noise and difficulty cannot be told apart "
                "(needs two runs of the same problem).",
            )
        ]
    mixed = {s: int((x.noise > 0).sum()) for s, x in repeated.items()}
    same = [s for s, n in mixed.items() if n == 0]
    few = [n for n in mixed.values() if 0 < n < FEW_MIXED]
    found = []
    if same:
        found.append(
            Notice(
                "identical-runs",
                f"For {_share(len(same), len(mixed))} every repeated run of every problem has the "
                f"same outcome ({_names(same)}): no run noise was seen. Were runs copied or "
                "cached?",
            )
        )
    if few:
        found.append(
            Notice(
                "few-mixed",
                f"For {_share(len(few), len(mixed))} fewer than {FEW_MIXED} problems have runs "
                f"that differ (fewest {min(few)}): what is said about run noise there rests on "
                "these few.",
            )
        )
    return found


def _never_passed(data: Outcomes) -> Notice | None:
    best = data.frame["outcome"].groupby(data.frame["problem"], sort=False).max()
    never = set(best.index[best.to_numpy() == 0])
    if not never:
        return None
    names = [p for p in data.problems if p in never]
    return Notice(
        "never-passed",
        f"{len(names)} of {len(best)} problems were never passed by any system "
        f"({_names(names)}): hard, or broken?",
    )


def _stopping(data: Outcomes, samples: dict[tuple[str, str], Sample]) -> Notice | None:
    """R_i that goes with p̂_i, which missing at random would not produce."""
    hit = []
    for system, x in samples.items():
        if x.equal_runs:
            continue
        rank_runs, rank_rate = _centred_ranks(x.runs), _centred_ranks(x.rate)
        norm = np.sqrt((rank_runs**2).sum() * (rank_rate**2).sum())
        r = (rank_runs * rank_rate).sum() / norm if norm else 0.0
        # |r| sqrt(N-1) is about standard normal if R_i and p̂_i are unrelated: 4 is 1 in 16,000.
        by_rank = abs(r) >= 0.3 and abs(r) * np.sqrt(len(x) - 1) > 4
        if by_rank or _stops_at_first(x):
            hit.append(system)
    if not hit:
        return None
    return Notice(
        "adaptive-stopping",
        f"For {_share(len(hit), len(samples))} the number of runs of a problem goes with its pass "
        f"rate ({_names(hit)}): were runs stopped, or repeated, because of their outcome? Then "
        "the scores are biased.",
    )


def _stops_at_first(x: Sample) -> bool:
    """Whether counts are just what stopping at the first pass (or failure) gives."""
    if x.passes is None:
        return False
    short, most = x.runs < x.runs.max(), x.runs.max()
    if short.sum() < 5 or most == 1:
        return False
    fails = x.runs - x.passes
    return any(bool((k[short] == 1).all() and (k[~short] <= 1).all()) for k in (x.passes, fails))


def _centred_ranks(values: np.ndarray) -> np.ndarray:
    _, code, count = np.unique(values, return_inverse=True, return_counts=True)
    mid = np.cumsum(count) - (count - 1) / 2
    return mid[code] - mid[code].mean()


def _share(n: int, total: int) -> str:
    return "the only system" if total == 1 else f"{n} of {total} systems"


def _systems(systems, data: Outcomes) -> str:
    return f"{len(systems)} of {len(data.systems)} systems ({_names(list(systems))})"


def _names(names: list, n: int = 3) -> str:
    def text(name) -> str:
        if isinstance(name, str):
            return name
        return name[0] if name[1] == "default" else " / ".join(name)

    more = f" and {len(names) - n} more" if len(names) > n else ""
    return ", ".join(map(text, names[:n])) + more
