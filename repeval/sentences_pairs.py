"""Sentences for the pages on leaderboards and ceilings; each holds for any data."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from repeval import report
from repeval.intervals import normal_quantile

if TYPE_CHECKING:
    import pandas as pd

    from repeval.analysis import Analysis
    from repeval.rows import System

NO_PAIR = "There are no neighbours here: that takes two systems with problems in common."
NO_CEILING = "A ceiling is not measured here: it needs two runs of a problem."


def neighbours(analysis: Analysis, condition: str) -> str:
    """Say how many neighbours are told apart, for both questions."""
    pairs = analysis.adjacent(condition)
    if not pairs:
        return NO_PAIR
    known = any(p.fixed.resolved is not None for p in pairs)
    new = sum(bool(p.resolved) for p in pairs)
    fixed = f"{sum(bool(p.fixed.resolved) for p in pairs)} told apart" if known else "not known"
    which = "the pair" if len(pairs) == 1 else f"{len(pairs)} pairs"
    return (
        f"Of {which} of neighbours, on {report.these(analysis, condition)}: {fixed}; on new ones "
        f"like them: {new} told apart."
    )


def corrected(analysis: Analysis, condition: str) -> str:
    """Say how many neighbours stay apart on new problems after Holm's correction."""
    pairs = analysis.adjacent(condition)
    if len(pairs) < 2:
        return "With fewer than two pairs there is nothing to correct."
    alpha = 1 - analysis.settings.level
    stay = sum(p.p_adjusted is not None and p.p_adjusted < alpha for p in pairs)
    return (
        f"Corrected by Holm's method for asking about all {len(pairs)} at once: {stay} told apart "
        "on new problems."
    )


def detectable(analysis: Analysis, condition: str) -> str:
    """Say how large a lead must be to be found, for the median pair of neighbours."""
    pairs = analysis.adjacent(condition)
    if not pairs:
        return NO_PAIR
    middle = report.points(statistics.median(p.mdd for p in pairs))
    which = "the median pair of neighbours" if len(pairs) > 1 else "this pair"
    return (
        f"For {which}, a true lead on new problems is found four times in five if it is "
        f"{middle} points."
    )


def pooled_z(a: System, b: System) -> float | None:
    """Return z of the two-proportion test that counts all runs as independent.

    None where it is not defined: outcomes that are not pass or fail, unequal runs, no variance.
    """
    if a.n_runs is None or b.n_runs is None or not (a.retry_free is not None is not b.retry_free):
        return None
    n, m = a.n_problems * a.n_runs, b.n_problems * b.n_runs
    share = (a.mean * n + b.mean * m) / (n + m)
    variance = share * (1 - share) * (1 / n + 1 / m)
    return (a.mean - b.mean) / math.sqrt(variance) if variance > 0 else None


def pooled_test(analysis: Analysis, condition: str) -> str:
    """Compare the neighbours told apart by the pooled test with those on new problems."""
    pairs = analysis.adjacent(condition)
    if not pairs:
        return NO_PAIR
    scores = {s.model: s for s in analysis.ranked(condition)}
    z = [pooled_z(scores[p.model_a], scores[p.model_b]) for p in pairs]
    if None in z:
        return "The pooled test needs outcomes that are pass or fail, and equal numbers of runs."
    apart = [abs(v) > normal_quantile(analysis.settings.level) for v in z]
    both = sum(x and bool(p.resolved) for x, p in zip(apart, pairs, strict=True))
    new = sum(bool(p.resolved) for p in pairs)
    text = f"The pooled test tells {sum(apart)} of {len(pairs)} apart, the resampled problems {new}"
    if sum(apart) == new == both:
        return f"{text}" + (", and they are the same." if new else ".")
    return f"{text}; {both} by both."


def rank_table(analysis: Analysis, condition: str) -> pd.DataFrame:
    """Return ranks with what the data cannot rule out, best first."""
    import pandas as pd

    rows = [r for r in analysis.ranks if r.condition == condition]
    return pd.DataFrame(
        {
            "model": [r.model for r in rows],
            "rank": [str(r.rank) for r in rows],
            "not ruled out": [report.ranks(r.rank_set) for r in rows],
            "interval": [report.ranks(r.rank_interval) for r in rows],
            "by two-level law": [report.ranks(r.two_level.rank_interval) for r in rows],
            "first in": [_share(r.p_first) for r in rows],
            "in top three in": [_share(r.p_top3) for r in rows],
        }
    )


def ranks(analysis: Analysis, condition: str) -> str:
    """Say how many systems have one rank only, and how many could be first."""
    rows = [r for r in analysis.ranks if r.condition == condition]
    if not rows:
        return "There are no ranks here: that takes two systems with problems in common."
    single = sum(low == high for low, high in (r.rank_set for r in rows))
    first = sum(r.rank_set[0] == 1 for r in rows)
    return (
        f"Of {len(rows)} systems, the data leave {first} that could be first, and {single} whose "
        "rank is settled."
    )


def problems_needed(analysis: Analysis, condition: str) -> str:
    """Say how many times the problems would separate the first pair not told apart."""
    pairs = [
        p for p in analysis.adjacent(condition) if p.interval and p.resolved is False
    ]  # fmt: skip
    if not pairs:
        return "No pair of neighbours is left to tell apart here."
    p = pairs[0]
    names = f"{p.model_a} and {p.model_b}"
    if p.difference <= 0:
        return f"{names} have the same score, which no number of problems would separate."
    half = (p.interval[1] - p.interval[0]) / 2
    return (
        f"{names}: the lead is {report.points(p.difference)} points and half the interval "
        f"{report.points(half)}, which takes {max(1.0, (half / p.difference) ** 2):.1f} times the "
        f"{p.n_problems} problems."
    )


def chance_findings(analysis: Analysis, condition: str) -> str:
    """Say how many pairs chance alone would tell apart if all were equal."""
    n, alpha = len(analysis.adjacent(condition)), 1 - analysis.settings.level
    return f"{n} x {100 * alpha:g} % is {n * alpha:.2f}"


def ceilings(analysis: Analysis, condition: str) -> str:
    """Say how high the ceilings are, and what endless runs would narrow from one run on."""
    summary = analysis.summary[condition]
    if not summary.ceiling:
        return NO_CEILING
    middle, low, high = summary.ceiling
    if summary.n_systems == 1:
        text = f"The ceiling is {_ceiling(middle)}."
    else:
        text = (
            f"Over {summary.n_systems} systems the median ceiling is {_ceiling(middle)}, "
            f"the lowest {_ceiling(low)}, the highest {_ceiling(high)}."
        )
    return f"{text} {report.from_one_run(analysis, condition)}".strip()


def remaining(analysis: Analysis, condition: str) -> str:
    """Say what endless runs would still narrow, from the runs at hand."""
    answers = report.more_runs(analysis, condition)
    if not answers:
        return NO_CEILING
    runs = {s.n_runs for s in analysis.ranked(condition)}
    known = runs.pop() if len(runs) == 1 else None
    start = f"From the {known} runs at hand" if known else "From the runs at hand"
    return f"{start}, by endless runs: " + "; ".join(f"{k} {v}" for k, v in answers.items()) + "."


def aleatoric(analysis: Analysis, condition: str) -> str:
    """Say which share of a score's variance is run noise."""
    shares = [
        s.aleatoric_share
        for s in analysis.ranked(condition)
        if s.model not in analysis.excluded and s.aleatoric_share is not None
    ]
    if not shares:
        return "Which share of a score's variance is run noise is not known: it needs two runs."
    middle, low, high = (f"{100 * f(shares):.1f} %" for f in (statistics.median, min, max))
    if len(shares) == 1:
        return f"Run noise is {middle} of the score's variance."
    return f"Run noise is {middle} of the median score's variance, from {low} to {high}."


def stability(analysis: Analysis, condition: str, other: str | None) -> str:
    """Say how far the ceilings move between two conditions."""
    if other is None:
        return "There is one condition only, so whether the ceilings last cannot be seen."
    there = {s.model: s.ceiling for s in analysis.systems if s.condition == other}
    shifts = [
        (abs(s.ceiling - value), s.model)
        for s in analysis.ranked(condition)
        if s.model not in analysis.excluded
        and s.ceiling is not None
        and (value := there.get(s.model)) is not None
    ]
    if not shifts:
        return f"No model has a finite ceiling under both {condition} and {other}."
    most, model = max(shifts)
    if len(shifts) == 1:
        return f"From {condition} to {other} the ceiling of {model} moves by {most:.2f}."
    middle = statistics.median(shift for shift, _ in shifts)
    return (
        f"From {condition} to {other} the ceiling of a model moves by {middle:.2f} (median), at "
        f"most by {most:.2f} ({model})."
    )


def difference(analysis: Analysis, condition: str) -> str:
    """Set the ceiling of neighbours' differences beside that of scores."""
    summary = analysis.summary[condition]
    if not analysis.adjacent(condition):
        return NO_PAIR
    if summary.adjacent_ceiling is None or not summary.ceiling:
        return "No finite ceiling of a difference was found in these data."
    text = (
        f"The median ceiling of a difference of neighbours is {summary.adjacent_ceiling:.2f}, "
        f"that of a score {_ceiling(summary.ceiling[0])}."
    )
    if summary.adjacent_remaining_narrowing is not None and summary.remaining_narrowing:
        pair = f"{100 * summary.adjacent_remaining_narrowing:.0f} %"
        score = f"{100 * summary.remaining_narrowing[0]:.0f} %"
        text += f" From the runs at hand, endless runs narrow a difference by {pair}, a score by "
        text += f"{score}."
    return text


def _ceiling(value: float | None) -> str:
    return "without upper limit" if value is None else f"{value:.2f}"


def _share(p: float) -> str:
    shown = f"{100 * p:.0f}"
    if shown in ("0", "100") and 0 < p < 1:
        return "<1 %" if shown == "0" else ">99 %"
    return f"{shown} %"
