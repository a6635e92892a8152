"""Every rule about single runs, system by system, in the one order that all doors share."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from repeval.io.keys import KEYS, Policy, System
from repeval.io.rules.missing import EVERY_RUN, Errors, errors_of, errors_text, rule_for, stopped
from repeval.io.rules.nonruns import failed_throughout, replayed
from repeval.io.rules.planned import Lacks, lacks_of
from repeval.io.rules.runs import Names, Runs
from repeval.messages import Notice, RepevalError, refused, some

__all__ = [
    "MOST_SYSTEMS", "Settled", "check_enough", "refuse_many_systems", "settled", "several_tasks",
]  # fmt: skip

T = TypeVar("T")

#: Systems that are answered for: twice as many as the largest public leaderboard had (some 5,000),
#: and more. Where there are more than that, a column was mostly taken for what it is not.
MOST_SYSTEMS = 12_000


class Settled(NamedTuple, Generic[T]):
    """What every system's runs came to, and what each of the problems lacks.

    `problems` tells which of the problems are still there; `names` is what codes stand for.
    """

    systems: dict[System, T]
    lacks: dict[System, Lacks]
    problems: np.ndarray
    names: Names


def settled(
    systems: Callable[[], Iterable[Runs]],
    names: Names,
    policy: Policy,
    notices: list[Notice],
    between: Sequence[Notice],
    use: Callable[[Runs, Names], T],
) -> tuple[Settled[T], Settled[T] | None]:
    """Apply every rule about runs.

    Parameters
    ----------
    systems
        Gives every system's runs, each time it is called: at once only one system is worked on.
    names, policy
        `policy.missing` is known.
    notices, between
        What is noticed is added to `notices`; `between` after what is said of replayed runs.
    use
        What to keep of a system's runs.

    Returns
    -------
    What is left, and what was before missing runs were filled in or left out; None if none were.
    """
    said = _Said()
    found = _gathered((said.of(runs, names, policy) for runs in systems()), names, use)
    notices += [*said.replayed(), *between, *said.others(policy)]
    rule = rule_for(policy.missing, found.lacks, names, found.problems, notices)
    if rule is None:
        return found, None
    again = (_Said().of(runs, names, policy) for runs in systems())
    after = (rule.apply(runs, found.lacks[runs.system]) for runs in again if len(runs))
    return _gathered(after, Names(names.problems, rule.labels), use), found


def _gathered(systems: Iterable[Runs], names: Names, use: Callable[[Runs, Names], T]) -> Settled[T]:
    kept, lacks, there = {}, {}, np.zeros(len(names.problems), dtype=bool)
    for runs in systems:
        if len(runs):
            there[runs.problem] = True
            kept[runs.system] = use(runs, names)
            lacks[runs.system] = lacks_of(runs)
    return Settled(kept, lacks, there, names)


class _Said:
    """What is to be said about the runs of several systems."""

    def __init__(self) -> None:
        self.replays: list[tuple[str, int]] = []
        self.failed: list[tuple[str, int]] = []
        self.errors: dict[System, Errors] = {}
        self.stops: dict[str, list[str]] = defaultdict(list)
        self.rows = self.disputed = 0

    def of(self, runs: Runs, names: Names, policy: Policy) -> Runs:
        """Apply the rules to one system."""
        all_count = policy.missing == EVERY_RUN
        if not all_count and (found := replayed(runs, names)):
            text, out = found
            self.replays.append((text, int(out.sum())))
            runs = runs.where(~out)
        if policy.pass_at is not None:
            passed = (runs.y >= policy.pass_at).astype(float)
            runs = runs.scored(np.where(runs.judged, passed, np.nan))
        self.rows += len(runs)
        self.disputed += runs.disputed
        if not runs.judged.all():
            self.errors[runs.system] = errors_of(runs)
            if policy.errors == "fail":
                runs = runs.scored(np.nan_to_num(runs.y))
        if all_count:
            return runs
        if found := failed_throughout(runs, names):
            text, out = found
            self.failed.append((text, int(out.sum())))
            if policy.failed_runs == "leave-out":
                runs = runs.where(~out)
        if len(runs) and (found := stopped(runs)):
            reason, first = found
            self.stops[reason].append(runs.name)
            runs = runs.where(first)
        return runs

    def replayed(self) -> Iterator[Notice]:
        """Yield what is said of replayed runs."""
        if self.replays:
            n, texts = sum(n for _, n in self.replays), [text for text, _ in self.replays]
            what = f"Replayed answers are no further runs: {n:,} rows are left out ({some(texts)})."
            yield Notice("replayed-runs", what)

    def others(self, policy: Policy) -> Iterator[Notice]:
        """Yield what is said of errors, failed runs and stopping."""
        if self.disputed:
            text = f"{self.disputed:,} rows have an outcome and an error: the outcome counts."
            yield Notice("score-with-error", text)
        if self.errors:
            yield errors_text(self.errors, self.rows, policy.errors)
        if self.failed:
            n, texts = sum(n for _, n in self.failed), [text for text, _ in self.failed]
            end = (
                f"{n:,} rows are left out." if policy.failed_runs == "leave-out" else
                "If these runs were never made, and stored as failed: --failed-runs leave-out."
            )  # fmt: skip
            what = "In some runs everything failed, while other runs did not: "
            yield Notice("failed-runs", f"{what}{some(texts, sep='; ')}. {end}")
        for reason, systems in self.stops.items():
            text = (
                f"For {some(systems)} runs of a problem went on {reason}, which biases what is "
                "said about runs. Scores are from first runs only, and run noise is not identified."
            )
            yield Notice("adaptive-stopping", text)


def several_tasks(column: str, n: int, problem: Sequence[str]) -> Notice:
    """Say that a column names tasks whose problems share ids; `problem` are their columns."""
    text = (
        f"Column {column} names {n} tasks that share problem ids: rows of one id are taken for one "
        f"problem. If they are not: --columns problem={'+'.join([column, *problem])}."
    )
    return Notice("several-tasks", text)


def refuse_many_systems(name: str, of_rows: Iterable[System] | Mapping[System, int]) -> None:
    """Refuse more systems than any answer can tell of; `of_rows` are those of rows, or counts."""
    found = Counter(of_rows)
    if len(found) <= MOST_SYSTEMS:
        return
    parts = [list(dict.fromkeys(names)) for names in zip(*found, strict=True)]
    role, names = max(zip(KEYS, parts, strict=False), key=lambda each: len(each[1]))
    what = f"{name}: {len(found):,} systems in {found.total():,} rows, of {len(names):,} different"
    what += f" {role}s ({some(names)}); {MOST_SYSTEMS:,} are read at most. Is it the right"
    what += f" column? Type --columns {role}=COLUMN, or --columns {role}= if there is none."
    raise RepevalError("too-many-systems", what)


def check_enough(name: str, any_judged: bool, problems: Sequence[str]) -> None:
    """Refuse data without outcomes, or of one problem."""
    if not any_judged:
        what = f"{name}: no row has an outcome; --errors fail makes them failures."
        raise RepevalError("outcome-empty", what)
    if len(problems) < 2:
        what = f"{name}: there is only one problem ({problems[0]!r})."
        raise refused(
            "one-problem", f"{what} Are ids in another column (--columns problem=COLUMN)?"
        )
