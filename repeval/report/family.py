"""What `repeval compare --many` answers: candidates against one baseline, all asked together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from repeval._version import __version__
from repeval.messages import RepevalError, refused, some
from repeval.report.analysis import analyze
from repeval.report.compute import Answers
from repeval.report.format import NEW, count, percent, points
from repeval.report.screen import Section, head_of, noted, rendered, settings_that_differ
from repeval.report.versus import ALIKE, BETTER, NONE, OPEN, WORSE, checked
from repeval.stats.pairs.many import Many, many_to_one
from repeval.stats.resampling import keyed_generator

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes
    from repeval.report.analysis import Analysis
    from repeval.report.rows import Limits

__all__ = ["Candidate", "Family", "Joint", "family"]

SCHEMA = "repeval/compare-many/1"
#: Candidates on the screen without --all.
SHOWN = 20


@dataclass(frozen=True)
class Joint:
    """What one question has for an answer about one candidate, all candidates asked together.

    Attributes
    ----------
    verdict : {"worse", "better", "equivalent", "not shown", "no verdict"}
    interval : (float, float) or None
        Of candidate minus baseline; the intervals of all candidates hold together.
    p_value : float or None
        Of this pair alone.
    p_adjusted : float or None
        Of all together: worse or better where it is at most 1 - level.
    within_margin : bool or None
        Whether the interval lies within the margin; None without a margin.
    """

    verdict: str
    interval: Limits
    p_value: float | None
    p_adjusted: float | None
    within_margin: bool | None


@dataclass(frozen=True)
class Candidate:
    """One candidate; `difference` is its score minus the baseline's."""

    candidate: str
    mean: float
    difference: float
    new: Joint
    these: Joint


@dataclass(frozen=True)
class Family:
    """Candidates against one baseline, on new problems and on these.

    Attributes
    ----------
    baseline, condition : str
    margin : float or None
        As a fraction.
    n_problems : int
        That all of them were given: on these they are compared.
    n_left_out : int
        Problems that one of them lacks.
    mean_baseline : float
    candidates : tuple of Candidate
        The best first.
    analysis : Analysis
        Of the baseline and the candidates alone.
    """

    baseline: str
    condition: str
    margin: float | None
    n_problems: int
    n_left_out: int
    mean_baseline: float
    candidates: tuple[Candidate, ...]
    analysis: Analysis

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON `repeval/compare-many/1`."""
        whole = self.analysis.to_dict()
        return {
            "schema": SCHEMA, "version": __version__,
            **{key: whole[key] for key in ("data", "settings", "notices")},
            "baseline": self.baseline, "condition": self.condition, "margin": self.margin,
            "direction": "candidate minus baseline", "n_problems": self.n_problems,
            "n_left_out": self.n_left_out, "mean_baseline": self.mean_baseline,
            "candidates": [asdict(row) for row in self.candidates],
        }  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each candidate; an interval as two columns."""
        rows = []
        for c in self.candidates:
            row: dict[str, Any] = {
                "candidate": c.candidate, "mean": c.mean, "difference": c.difference,
            }  # fmt: skip
            for question in ("new", "these"):
                answer = asdict(getattr(c, question))
                answer["low"], answer["high"] = answer.pop("interval") or (None, None)
                row |= {f"{question}_{key}": value for key, value in answer.items()}
            rows.append(row)
        return pd.DataFrame(rows)

    def screen(self, *, markdown: bool = False, everything: bool = False) -> str:
        """Return the answer for a terminal, or as Markdown."""
        these, level = f"these {self.n_problems}", self.analysis.settings.level
        stepped = any(_stepped(a) for c in self.candidates for a in (c.new, c.these))
        below = [
            f"The baseline scores {points(self.mean_baseline)} %. Differences are in points, "
            "candidate minus baseline. Verdicts hold for all candidates together "
            f"{percent(level)} of the time, and so do intervals."
        ]
        if self.n_left_out:
            lacking = f"{count(self.n_left_out, 'problem')} that one of them lacks"
            below.append(f"Left out: {lacking}.")
        if stepped:
            below.append(
                "* Told apart once the clearer ones were set aside (step-down); the interval is "
                "that of all together, and reaches zero."
            )
        if self.margin is not None:
            below.append(
                f"Equivalent: the interval lies within the margin of {points(self.margin)} points."
            )
        names = [c.candidate for c in self.candidates]
        differ = settings_that_differ(self.analysis, (self.baseline, *names))
        table = pd.DataFrame(
            {"candidate": c.candidate, these: _cell(c.these), NEW: _cell(c.new)}
            for c in self.candidates
        )
        lead = Section(
            f"{count(len(self.candidates), 'candidate').upper()} AGAINST {self.baseline}",
            {
                f"on these {self.n_problems} problems": self._counts("these"),
                f"on {NEW}": self._counts("new"),
            },
        )
        if len(table) > SHOWN and not everything and not markdown:
            below.insert(0, f"... {len(table) - SHOWN} more: --all.")
            table = table.head(SHOWN)
        each = Section("ONE BY ONE", {}, [*below, *(n.text for n in differ)], table)
        head, moved = head_of(self.analysis, self.condition)
        notes = noted(self.analysis, [*differ, *moved])
        return rendered(head, [lead, each], notes, markdown=markdown, everything=everything)

    def _counts(self, question: str) -> str:
        """Count the verdicts on one question, and name who is told apart."""
        by = {v: [] for v in (WORSE, BETTER, ALIKE, OPEN, NONE)}
        for c in self.candidates:
            by[getattr(c, question).verdict].append(c.candidate)
        named = [f"{len(by[v])} {v.upper()} ({some(by[v], 4)})" for v in (WORSE, BETTER) if by[v]]
        counted = [f"{len(by[v])} {v}" for v in (ALIKE, OPEN, NONE) if by[v]]
        return ", ".join(named + counted)


def family(
    outcomes: Outcomes,
    baseline: str,
    candidates: Sequence[str] = (),
    *,
    condition: str | None = None,
    margin: float | None = None,
    **options: Any,
) -> Family:
    """Compare candidates with one baseline, all together.

    Parameters
    ----------
    outcomes : Outcomes
    baseline : str
    candidates : sequence of str
        Names of models; all others by default.
    condition : str, optional
        The first by default.
    margin : float, optional
        The largest difference that does not matter, as a fraction.
    **options
        Of `repeval.analyze`: level, n_resamples, seed, cluster.

    Raises
    ------
    RepevalError
        For unknown names, no candidate, one that is named twice or is the baseline, a margin that
        is no fraction, or systems without two common problems.

    Examples
    --------
    >>> import repeval
    >>> from repeval.report.family import family
    >>> found = family(repeval.load("runs.csv"), "A")  # see the example of `repeval.load`
    >>> [(c.candidate, c.these.verdict) for c in found.candidates]
    [('B', 'not shown')]
    """
    checked(margin, options.get("level", 0.95))
    condition = condition or outcomes.main_condition
    named = list(candidates)
    if not named:
        named = [m for m in outcomes.models if m != baseline and outcomes.has(m, condition)]
    if not named:
        raise RepevalError("bad-option", f"there is no candidate beside the baseline {baseline!r}")
    if len({baseline, *named}) <= len(named):
        raise RepevalError("bad-option", "baseline and candidates: one system is named twice")
    few = outcomes.select(models=[baseline, *named], conditions=[condition])
    for model in (baseline, *named):
        few.system(model, condition)
    samples, problems = few.common(condition)
    if not samples:
        what = f"condition {condition}: no two problems that all of them were given."
        raise refused("no-common-problems", what)
    analysis = analyze(few, **options)
    settings = analysis.settings
    groups = Answers(few, settings).clusters(problems)
    about = {
        question: many_to_one(
            samples[baseline], [samples[m] for m in named], question=question,
            level=settings.level, n_resamples=settings.n_resamples, clusters=groups,
            rng=keyed_generator(settings.seed, "many", condition),
        )
        for question in ("new", "these")
    }  # fmt: skip
    had = {p for m in (baseline, *named) for p in few.system_problems(m, condition)}
    base = float(samples[baseline].rate.mean())
    rows = (
        Candidate(
            m, float(samples[m].rate.mean()), float(samples[m].rate.mean() - base),
            *(_joint(about[question], i, margin) for question in ("new", "these")),
        )
        for i, m in enumerate(named)
    )  # fmt: skip
    return Family(
        baseline, condition, margin, len(problems), len(had) - len(problems), base,
        tuple(sorted(rows, key=lambda c: (-c.difference, c.candidate))), analysis,
    )  # fmt: skip


def _joint(found: Many, i: int, margin: float | None) -> Joint:
    low, high, p, adjusted, sign = (
        float(x[i]) for x in (found.low, found.high, found.p_value, found.p_adjusted, found.verdict)
    )
    exists = not np.isnan(low)
    inside = None if margin is None or not exists else bool(-margin < low and high < margin)
    verdict = {-1.0: WORSE, 1.0: BETTER, 0.0: ALIKE if inside else OPEN}.get(sign, NONE)
    interval = (low, high) if exists else None
    return Joint(verdict, interval, *((p, adjusted) if exists else (None, None)), inside)


def _stepped(answer: Joint) -> bool:
    """Tell whether a verdict came in a later step, so that its interval reaches zero."""
    return answer.verdict in (WORSE, BETTER) and answer.interval[0] <= 0 <= answer.interval[1]


def _cell(answer: Joint) -> str:
    """Return a verdict and its limits for a table."""
    if answer.verdict == NONE or answer.interval is None:
        return NONE
    mark = "*" * _stepped(answer)
    return f"{answer.verdict}{mark} {' to '.join(map(points, answer.interval))}"
