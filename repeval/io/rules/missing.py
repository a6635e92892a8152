"""Runs without an outcome, runs that are missing, and runs whose number outcomes decided."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from repeval.io.keys import System, in_order
from repeval.io.rules.planned import Lacks
from repeval.io.rules.runs import Names, Runs, dense
from repeval.messages import Notice, RepevalError, refused, some

__all__ = ["EVERY_RUN", "Errors", "Rule", "errors_of", "errors_text", "rule_for", "stopped"]

#: The rule, none of those of `load`, under which no run is left out, whatever is wrong with it.
EVERY_RUN = "every-run"
#: Problems with fewer runs than others that show a rule: of stopping at a pass or a failure, and
#: of stopping at a difference, which half of all pairs of runs may show by chance (2^-10 < .001).
FEWEST_SHORT, MORE_SHORT = 5, 10
#: Problems that were cut off before the outcome that stops, for each that went on at all.
CUT_OFF = 0.1
#: Missing runs that are counted as failed, or ten times those that were made.
MOST_FILLED = 10**6


class Errors(NamedTuple):
    """How many rows of a system have no outcome, and its score, in %, without and with them."""

    empty: int
    left_out: float
    failed: float


def errors_of(runs: Runs) -> Errors:
    """Count a system's rows without outcome."""
    judged, y, problem = runs.judged, np.nan_to_num(runs.y), dense(runs.problem)[1]
    all_runs, n, total = (np.bincount(problem, weights) for weights in (None, judged, y))
    left_out = 100 * (total[n > 0] / n[n > 0]).mean() if judged.any() else np.nan
    failed = 100 * (total / all_runs).mean()
    return Errors(int((~judged).sum()), float(left_out), float(failed))


def errors_text(found: Mapping[System, Errors], n_rows: int, errors: str) -> Notice:
    """Say how many of all rows have no outcome, and what ``--errors`` makes of them."""
    count: Counter[str] = Counter()
    for (model, _), each in found.items():
        count[model] += each.empty
    models = [f"{model}: {n}" for model, n in count.most_common() if n]
    verdict, other, left_out_first = (
        ("missing, not failed (--errors fail counts them as failed)", "if failed", True)
        if errors == "missing"
        else ("counted as failed", "without them", False)
    )
    both = [
        f"{system[0]} {one:.1f} % ({two:.1f} % {other})"
        for system, (_, left_out, failed) in found.items()
        if round(left_out, 1) > round(failed, 1)
        for one, two in [(left_out, failed) if left_out_first else (failed, left_out)]
    ]
    text = f"{count.total():,} of {n_rows:,} rows have no outcome ({some(models)}): they are "
    scores = f" Scores: {some(both)}." if both else ""
    return Notice("errored-rows", f"{text}{verdict}.{scores}")


class Rule(NamedTuple):
    """What ``--missing`` does.

    `dropped` tells the problems that are left out; `labels` are those of runs, with those that are
    filled in (`new`, as codes) and those that were there (`old`).
    """

    dropped: np.ndarray
    labels: tuple[str, ...]
    old: np.ndarray
    new: np.ndarray

    def apply(self, runs: Runs, lacks: Lacks) -> Runs:
        """Apply it to one system."""
        if not len(self.new):
            return runs.where(~self.dropped[runs.problem])
        absent = np.where(self.dropped, 0, lacks.along(lacks.absent, len(self.dropped)))
        problem = np.repeat(np.arange(len(absent)), absent)
        at = np.arange(len(problem)) - np.repeat(np.cumsum(absent) - absent, absent)
        # A row without outcome takes the place of one of its cell's missing runs.
        return Runs(
            runs.system, np.r_[runs.problem, problem], np.r_[self.old[runs.run], self.new[at]],
            np.r_[np.nan_to_num(runs.y), np.zeros(len(problem))],
        )  # fmt: skip


def rule_for(
    rule: str,
    lacks: Mapping[System, Lacks],
    names: Names,
    there: np.ndarray,
    notices: list[Notice],
) -> Rule | None:
    """Return what ``--missing`` does to these data, None if nothing.

    Parameters
    ----------
    lacks
        What every system's problems lack.
    there
        Which problems some system still has.
    """
    n_there = int(there.sum())
    total = sum(x.total(n_there) for x in lacks.values())
    if rule in ("keep", EVERY_RUN) or not total:
        return None
    if rule == "error":
        cells = sum(
            np.count_nonzero(x.short) + (x.elsewhere > 0) * (n_there - len(x.problems))
            for x in lacks.values()
        )
        shown = itertools.islice(_shown(lacks, names, there), 3)
        shown = some(shown, sep="; ", of=cells)
        raise refused("missing-refused", f"{total:,} runs are missing: {shown}.")
    if rule == "fail":
        done = sum(int(x.done.sum()) for x in lacks.values())
        if total > max(MOST_FILLED, 10 * done):
            what = f"{total:,} runs are missing, and {done:,} were made: too many to count as"
            raise RepevalError("missing-refused", f"{what} failed. Use --missing keep.")
        notices.append(Notice("filled-runs", f"{total:,} missing runs are counted as failed."))
        most = max(
            max(int(x.absent.max()), x.elsewhere * (len(x.problems) < n_there))
            for x in lacks.values()
        )
        filled = [f"missing-{k + 1}" for k in range(max(most, 1))]
        labels = in_order([*names.runs, *filled])
        place = {label: code for code, label in enumerate(labels)}
        old, new = (np.array([place[x] for x in some_of]) for some_of in (names.runs, filled))
        return Rule(~there, labels, old, new)
    # A problem stays that lacks nothing where it is, and is wherever a run of it was planned.
    dropped, whole = np.zeros(len(there), dtype=bool), np.zeros(len(there), dtype=int)
    for x in lacks.values():
        dropped[x.problems[x.short > 0]] = True
        whole[x.problems] += x.elsewhere > 0
    dropped |= there & (whole < sum(x.elsewhere > 0 for x in lacks.values()))
    out = [names.problems[i] for i in np.flatnonzero(dropped)]
    share = f"{len(out)} of {n_there} problems"
    if n_there - len(out) < 2:
        what = f"--missing drop-problem leaves out {share}, because some system lacks runs of"
        raise refused("nothing-complete", f"{what} {some(out, 5)}.")
    text = f"Left out because a system lacks runs of them: {share} ({some(out, 5)})."
    notices.append(Notice("dropped-problems", text))
    return Rule(dropped, names.runs, np.arange(len(names.runs)), np.arange(0))


def _shown(lacks: Mapping[System, Lacks], names: Names, there: np.ndarray) -> Iterator[str]:
    """Yield what each problem of each system lacks."""
    for (model, condition), x in lacks.items():
        n, judged = (x.along(own, len(there)) for own in (x.short, x.short + x.done))
        for i in np.flatnonzero(n * there):
            name = names.problems[i]
            yield f"{model!r}, {condition}, problem {name!r} lacks {n[i]} of {judged[i]}"


def stopped(runs: Runs) -> tuple[str, np.ndarray] | None:
    """Return what a system's runs were stopped by, and which are first runs; None if by nothing.

    Whatever decided about the second run, the first one is unbiased. A first run is the first that
    was judged.
    """
    _, problem = dense(runs.problem)
    sizes = np.bincount(problem)
    if np.ptp(sizes) == 0 or not (reason := _stopping(runs, problem, sizes)):
        return None
    order = np.lexsort((runs.run, ~runs.judged, problem))
    first = np.zeros(len(runs), dtype=bool)
    first[order[np.cumsum(sizes) - sizes]] = True
    return reason, first


def _stopping(runs: Runs, problem: np.ndarray, sizes: np.ndarray) -> str:
    """Return what a system's runs, in order, were stopped by; "" if by nothing that shows.

    In none of these may a problem lack a label before its last one: numbers of runs that chance
    made unequal leave such gaps.
    """
    order = np.lexsort((runs.run, problem))
    order = order[runs.judged[order]]
    done, y = problem[order], runs.y[order]
    n = np.bincount(done, minlength=len(sizes))
    short, some_judged = sizes < sizes.max(), n > 0
    if (
        sizes.max() == 1
        or (short & some_judged).sum() < FEWEST_SHORT
        or not np.isin(y, (0, 1)).all()
    ):
        return ""
    labels, place = dense(runs.run)
    if len(labels) < len(runs):
        last_place = np.zeros(len(sizes), dtype=int)
        np.maximum.at(last_place, problem, place + 1)
        if (last_place > sizes).any():
            return ""
    ends = np.cumsum(n)
    at = [(ends - n)[some_judged], ends[some_judged] - 1]
    first, last = (y[i] for i in at)
    passes = np.bincount(done, y, len(sizes))[some_judged]
    n, sizes, short = n[some_judged], sizes[some_judged], short[some_judged]
    for one, hits, words in ((1, passes, "until one passed"), (0, n - passes, "until one failed")):
        stop = (hits == 1) & (last == one)
        cut_off, went_on = (short & ~stop).sum(), (n > 1).sum()
        stops = (short & stop).sum() >= FEWEST_SHORT and cut_off <= CUT_OFF * went_on
        if stops and (stop | (hits == 0)).all():
            return words
    if short.sum() < MORE_SHORT:
        return ""
    same = (passes == 0) | (passes == n)
    # All runs but the last agree, and it differs from them.
    turned = (first != last) & (np.where(last == 1, passes, n - passes) == 1)
    if turned[short].all() and (turned | same)[~short].all():
        return "until one differed"
    if same.all() and len(np.unique(sizes[short])) > 2:
        return "only while they agreed (no problem has runs that differ)"
    return ""
