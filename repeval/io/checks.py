"""Notices that follow from counting outcomes; nothing here is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from repeval.messages import Notice, some

if TYPE_CHECKING:
    from repeval.io.keys import System
    from repeval.io.outcomes import Outcomes
    from repeval.stats.sample import Sample

__all__ = ["TASK_COLUMNS", "checks", "stops_at_first"]

TASK_COLUMNS = ("task", "benchmark", "dataset")

FEW_MIXED = 10


def checks(data: Outcomes) -> tuple[Notice, ...]:
    """Return the notices that counting gives for these outcomes."""
    # Where later runs were left out, that there is one is no news, and no fault of the data.
    said = {"single-run"} if "adaptive-stopping" in {n.code for n in data.notices} else set()
    return tuple(n for n in _counted(data) if n.code not in said)


def _counted(data: Outcomes) -> Iterator[Notice]:
    samples = {system: data.system(*system) for system in data.systems}
    missing = {s: n for s in samples if (n := data.missing_runs(*s))}
    if missing:
        planned = sum(missing.values()) + sum(int(x.runs.sum()) for x in samples.values())
        yield Notice(
            "missing-runs",
            f"{sum(missing.values()):,} of {planned:,} runs are missing, in "
            f"{_systems(missing, samples)}. Scores use what was recorded; missing_bounds gives the "
            "score if all missing runs had failed, and if all had passed.",
        )
    if not data.binary:
        yield Notice(
            "scores",
            "Outcomes are scores between 0 and 1: what needs passed or failed is left out "
            "(--pass-at T makes them passed from T on).",
        )
    yield from _repeats({s: x for s, x in samples.items() if (x.runs > 1).any()})
    named = [(data.system_problems(*s), x.rate > 0) for s, x in samples.items()]
    tried = set().union(*(names for names, _ in named))
    failed = tried.difference(*(np.array(names, dtype=object)[won] for names, won in named))
    # The failures of the only run of one system are its score, no finding about problems.
    often = len(samples) > 1 or max(x.runs.max() for x in samples.values()) > 1
    if often and (never := [p for p in data.problems if p in failed]):
        yield Notice(
            "never-passed",
            f"Never passed by anyone: {len(never)} of {len(tried)} problems ({some(never)}). "
            "Hard, or broken?",
        )
    if hit := [s for s, x in samples.items() if _goes_with_rate(x) or stops_at_first(x)]:
        yield Notice(
            "adaptive-stopping",
            f"For {_systems(hit, samples)} the number of runs of a problem goes with its pass "
            "rate: were runs stopped, or repeated, because of their outcome? Then the scores are "
            "biased.",
        )
    for column in data.labels:
        values = set(data.labels[column]) - {""}
        if column.lower() in TASK_COLUMNS and len(values) > 1:
            yield Notice(
                "several-tasks",
                f"Column {column} names {len(values)} tasks: use --by {column} for one answer "
                "each. Pooled, every problem has the same weight, so large tasks outweigh small "
                "ones.",
            )


def _repeats(repeated: Mapping[System, Sample]) -> Iterator[Notice]:
    """R = 1, runs that never differ, few problems that differ."""
    if not repeated:
        yield Notice(
            "single-run",
            "Every problem has one run: run noise and difficulty cannot be told apart (needs two "
            "runs of the same problem).",
        )
    mixed = {s: int((x.noise > 0).sum()) for s, x in repeated.items()}
    if same := [s for s, n in mixed.items() if n == 0]:
        yield Notice(
            "identical-runs",
            f"For {_systems(same, mixed)} every repeated run of every problem has the same "
            "outcome: no run noise was seen. Were runs copied or cached?",
        )
    if few := {s: n for s, n in mixed.items() if 0 < n < FEW_MIXED}:
        yield Notice(
            "few-mixed",
            f"For {_systems(few, mixed)} fewer than {FEW_MIXED} problems have runs that differ "
            f"(fewest {min(few.values())}): what is said about run noise there rests on these few.",
        )


def _goes_with_rate(x: Sample) -> bool:
    """Tell whether R_i and p̂_i are related by rank, as missing at random would not make them."""
    if x.equal_runs or np.ptp(x.rate) == 0:
        return False
    r = np.corrcoef(_ranks(x.runs), _ranks(x.rate))[0, 1]
    # |r| sqrt(N-1) is about standard normal if R_i and p̂_i are unrelated: 4 is 1 in 16,000.
    return bool(abs(r) >= 0.3 and abs(r) * np.sqrt(len(x) - 1) > 4)


def stops_at_first(x: Sample) -> bool:
    """Tell whether counts are just what stopping at the first pass (or failure) gives."""
    most = x.runs.max()
    short = x.runs < most
    if x.passes is None or short.sum() < 5 or most == 1:
        return False
    return any((k[short] == 1).all() and (k[~short] <= 1).all()
               for k in (x.passes, x.runs - x.passes))  # fmt: skip


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return mid-ranks."""
    _, code, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[code]


def _systems(some_of: Collection[System], every: Collection[System]) -> str:
    """Write how many systems, and which."""
    names = [model if condition == "default" else f"{model} / {condition}"
             for model, condition in some_of]  # fmt: skip
    what = "system" if len({condition for _, condition in every}) > 1 else "model"
    share = f"the only {what}" if len(every) == 1 else f"{len(names)} of {len(every)} {what}s"
    return f"{share} ({some(names)})"
