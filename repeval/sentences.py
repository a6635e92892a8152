"""Sentences for the pages of the book, made from an analysis; each holds for any data."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from repeval import allocation, report

if TYPE_CHECKING:
    import pandas as pd

    from repeval.analysis import Analysis
    from repeval.outcomes import Outcomes


RUN_NOTICES = ("dataset-rule", "dropped-problems", "missing-runs", "filled-runs", "errored-rows")


def accounting(outcomes: Outcomes) -> str:
    """Say how many runs were planned, judged and analysed, and by which rule any are missing."""
    whole = before_rule(outcomes)
    text = _systems(len(outcomes.systems))
    if whole is not None:
        planned = sum(whole.planned_runs(*s) for s in whole.systems) * len(whole.problems)
        text += (
            f", {len(whole.problems)} problems: {planned:,} runs planned, {len(whole.frame):,} "
            f"judged"
        )
    text += f"; {len(outcomes.frame):,} runs on {len(outcomes.problems)} problems analysed."
    notes = [n.text for n in outcomes.notices if n.code in RUN_NOTICES]
    return " ".join([text, *(notes or ["No run is missing."])])


def dropping(outcomes: Outcomes) -> str:
    """Say how far leaving out incomplete problems moves, or would move, a score."""
    whole = before_rule(outcomes)
    if whole is None:
        return "How far the rule for missing runs moved the scores cannot be said from these data."
    lacking = incomplete(whole)
    if len(lacking) > len(whole.problems) - 2:
        return "Too many problems lack runs of some system for leaving them out."
    if not lacking:
        return "No problem lacks a run, so that none had to be left out."
    changes = {s: _change_without(whole, s, lacking) for s in whole.systems}
    (model, condition), most = max(changes.items(), key=lambda item: abs(item[1]))
    where = model if condition == "default" else f"{model}, {condition}"
    done = "changes" if len(whole.problems) > len(outcomes.problems) else "would change"
    what = "the one problem" if len(lacking) == 1 else f"the {len(lacking)} problems"
    return (
        f"Leaving out {what} that some system lacks runs of {done} a score by at most "
        f"{report.points(abs(most), 2)} points ({where})."
    )


def before_rule(outcomes: Outcomes) -> Outcomes | None:
    """Return the outcomes before a rule dropped or filled any, None where they are not at hand."""
    if outcomes.policy.missing in (None, "keep", "error"):
        return outcomes
    if outcomes.source.basis == "user":
        return None
    from repeval import load

    whole = load(missing="keep")
    return whole if whole.source.sha256 == outcomes.source.sha256 else None


def incomplete(outcomes: Outcomes) -> frozenset[str]:
    """Return the problems that some system lacks runs of."""
    seen = outcomes.frame.groupby(["model", "condition", "problem"]).size()
    lacking: set[str] = set()
    for system in outcomes.systems:
        runs = seen.loc[system].reindex(outcomes.problems, fill_value=0)
        lacking |= set(runs.index[runs < outcomes.planned_runs(*system)])
    return frozenset(lacking)


def _change_without(outcomes: Outcomes, system: tuple[str, str], lacking: Collection[str]) -> float:
    rate = outcomes.system(*system).rate
    kept = [p not in lacking for p in outcomes.system_problems(*system)]
    return float(rate[kept].mean() - rate.mean()) if any(kept) else math.nan


def parts(analysis: Analysis, condition: str) -> str:
    """Say the two variance components of the median system in words."""
    summary = analysis.summary[condition]
    if not summary.within or not summary.between:
        return (
            "Run noise and difficulty cannot be told apart here: that needs two runs of a problem."
        )
    who = "For the median system" if summary.n_systems > 1 else "For the one system"
    text = (
        f"{who} the run noise is {summary.within[0]:.4f} and the difficulty spread "
        f"{summary.between[0]:.4f}."
    )
    if summary.icc:
        text += f" Two runs of one problem then correlate at {summary.icc[0]:.2f}"
        if summary.n_systems > 1:
            text += f" (from {summary.icc[1]:.2f} to {summary.icc[2]:.2f})"
        text += "."
    return text


def design_effect(analysis: Analysis, condition: str) -> str:
    """Say how far counting runs as independent understates variance and width."""
    effects = [
        s.design_effect
        for s in analysis.ranked(condition)
        if s.model not in analysis.excluded and s.design_effect is not None
    ]
    if not effects:
        return "There is no design effect here: it needs two runs of a problem, and some spread."
    middle = statistics.median(effects)
    text = f"Here the {'median ' if len(effects) > 1 else ''}design effect is {middle:.2f}"
    if middle > 1:
        narrow = f"{middle**0.5:.2f} times too narrow"
        return f"{text}: pooling the runs makes intervals for new problems {narrow}."
    return f"{text}: pooling the runs makes intervals for new problems no narrower."


def identified(analysis: Analysis, condition: str) -> str:
    """Say for how many systems the runs at hand identify the components."""
    rows = analysis.ranked(condition)
    known = sum(s.between is not None for s in rows)
    if known == 0:
        return (
            "These data have one run of each problem: run noise, ICC, ceiling and the interval "
            "for these problems are not identified."
        )
    negative = sum(s.between is not None and s.between <= 0 for s in rows)
    text = f"In these data the components are identified for {known} of {_systems(len(rows))}"
    if negative:
        text += f"; for {negative} of them the difficulty spread comes out at or below zero"
    return text + "."


def two_level_inflation(analysis: Analysis, condition: str) -> str:
    """Say by how much redrawing runs within redrawn problems widens the intervals here.

    References
    ----------
    VC Appendix D: the added variance over s²(p̂) is (R-1)/R · (μ_w/R)/s²(p̂).
    """
    scores = [
        _inflation(s.aleatoric_share, s.n_runs)
        for s in analysis.ranked(condition)
        if s.model not in analysis.excluded and s.aleatoric_share is not None and s.n_runs
    ]
    if not scores:
        return (
            "The formula says nothing here: it needs one number of runs for all problems, at least "
            "two, and pass rates that differ."
        )
    text = f"For these scores the width grows by {_spread_percent(scores)}"
    runs = {s.model: s.n_runs for s in analysis.ranked(condition)}
    pairs = [
        _inflation(1 - (1 - p.remaining_narrowing) ** 2, runs[p.model_a])
        for p in analysis.adjacent(condition)
        if p.remaining_narrowing is not None
        and runs[p.model_a]
        and runs[p.model_a] == runs[p.model_b]
    ]
    if pairs:
        text += f", for differences of neighbours by {_spread_percent(pairs)}"
    return text + "."


def _inflation(aleatoric_share: float, runs: int) -> float:
    return math.sqrt(1 + (runs - 1) / runs * aleatoric_share) - 1


def _spread_percent(values: Sequence[float]) -> str:
    low, middle, high = (100 * f(values) for f in (min, statistics.median, max))
    if len(values) == 1:
        return f"{middle:.1f} %"
    return f"{low:.1f} to {high:.1f} % (median {middle:.1f} %)"


def interval_methods(analysis: Analysis, condition: str) -> str:
    """Say how the bootstrap intervals at hand were computed."""
    rows = analysis.ranked(condition)
    ways = Counter(s.methods["two_level"] for s in rows)
    found = "; ".join(f"{way} ({n} of {_systems(len(rows))})" for way, n in ways.items())
    return f"How the two-level intervals of this page were computed: {found}."


def conditions(analysis: Analysis) -> str:
    """Say for how many models two conditions are told apart, for both questions."""
    rows = analysis.condition_pairs
    if not rows:
        return "No model was run under two conditions here, so that there is nothing to compare."
    text = []
    for pair in dict.fromkeys((r.condition_a, r.condition_b) for r in rows):
        here = [r for r in rows if (r.condition_a, r.condition_b) == pair]
        n = f"{len(here)} model" + ("" if len(here) == 1 else "s")
        same = [r.fixed.resolved for r in here if r.fixed.resolved is not None]
        fixed = f"for {sum(same)} on these" if same else "for none can it be said on these"
        smallest = statistics.median(r.mdd for r in here)
        text.append(
            f"{pair[0]} and {pair[1]}: of {n}, a difference is shown {fixed} problems and for "
            f"{sum(bool(r.resolved) for r in here)} on new ones. A true difference is found four "
            f"times in five if it is {report.points(smallest)} points"
            + (" (median over models)." if len(here) > 1 else ".")
        )
    return " ".join(text)


def condition_table(analysis: Analysis, most: int = 60) -> pd.DataFrame:
    """Return a row for each model and pair of conditions: difference, both intervals, mdd.

    The first `most` rows only; without two conditions the table is empty.
    """
    import pandas as pd

    rows = analysis.condition_pairs[:most]
    named = list(dict.fromkeys((r.condition_a, r.condition_b) for r in rows))
    several = len(named) > 1
    what = "{} less {}".format(*named[0]) if len(named) == 1 else "first less second"
    return pd.DataFrame(
        {
            "model": [r.model for r in rows],
            **({"first": [r.condition_a for r in rows]} if several else {}),
            **({"second": [r.condition_b for r in rows]} if several else {}),
            f"{what}, points": [report.points(r.difference) for r in rows],
            "these problems": [report.signed_limits(r.fixed.interval) for r in rows],
            "new ones like them": [report.signed_limits(r.interval) for r in rows],
            "smallest found 4 times in 5": [report.points(r.mdd) for r in rows],
        }
    )


def _systems(n: int) -> str:
    return "1 system" if n == 1 else f"{n} systems"


def pair_allocation(analysis: Analysis, condition: str) -> str:
    """Say from which price of a problem a second run pays where systems are compared.

    A repetition of a pair costs two runs, and its ratio of run noise to difficulty is its own.
    """
    ceiling = analysis.summary[condition].adjacent_ceiling
    if ceiling is None or ceiling <= 1:
        return "From when repetition pays for a comparison cannot be said here."
    price = 2 * allocation.break_even(ceiling - 1, 1)
    return (
        "For the median difference of two neighbours a second run of both pays when a problem "
        f"costs over {price:,.{int(price < 10)}f} runs."
    )
