"""What `repeval compare` answers: worse than a baseline, better, or as good within a margin."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from repeval._version import __version__
from repeval.messages import RepevalError
from repeval.report.analysis import analyze
from repeval.report.compute import Answers
from repeval.report.format import (
    NEW,
    NO_LIMIT,
    percent,
    points,
    signed_limits,
)
from repeval.report.screen import (
    OF_RANKS,
    Section,
    common_only,
    comparison,
    head_of,
    noted,
    rendered,
    settings_that_differ,
)
from repeval.stats.comparison import compare
from repeval.stats.design.allocation import break_even_from_here
from repeval.stats.pairs.decision import FEWEST

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes
    from repeval.report.analysis import Analysis
    from repeval.report.rows import Limits, Pair
    from repeval.stats.sample import Sample

__all__ = ["Answer", "Two", "Versus", "two_systems", "versus"]

SCHEMA = "repeval/compare/1"
WORSE, BETTER, ALIKE, OPEN, NONE = "worse", "better", "equivalent", "not shown", "no verdict"


@dataclass(frozen=True)
class Two:
    """A baseline and a candidate on their common problems, and the analysis of these two alone."""

    analysis: Analysis
    condition: str
    row: Pair
    baseline: Sample
    candidate: Sample
    problems: tuple[str, ...]
    clusters: Any


@dataclass(frozen=True)
class Answer:
    """What one question has for an answer; differences are candidate minus baseline.

    Attributes
    ----------
    verdict : {"worse", "better", "equivalent", "not shown", "no verdict"}
        "equivalent" only where a margin is given and no difference is shown.
    interval : (float, float) or None
        Of the difference, at the level asked for.
    not_worse : bool or None
        Whether the difference lies above minus the margin: one one-sided test. None without one.
    within_margin : bool or None
        Whether the difference lies within the margin: two one-sided tests at (1 - level), each.
        None without a margin.
    """

    verdict: str
    interval: Limits
    within_margin: bool | None
    not_worse: bool | None = None


@dataclass(frozen=True)
class Versus:
    """A candidate against a baseline, on new problems and on these.

    Attributes
    ----------
    baseline, candidate, condition : str
    margin : float or None
        As a fraction.
    new, these : Answer
    pair : Pair
        The row of the analysis; its `difference` is of the better minus the other.
    price_of_run : float or None
        Runs of one system that a new problem has to cost before one more run of both systems helps
        this difference more; None where run noise or spread is unknown.
    problems : DataFrame
        One row for each common problem: pass rates, their difference, and whether the two differ
        by more than run noise; the largest losses first.
    analysis : Analysis
        Of the two systems alone.
    """

    baseline: str
    candidate: str
    condition: str
    margin: float | None
    new: Answer
    these: Answer
    pair: Pair
    price_of_run: float | None
    problems: pd.DataFrame
    analysis: Analysis

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON `repeval/compare/1`; all but `pair` is candidate minus baseline."""
        whole, row = self.analysis.to_dict(), self.pair
        means = {row.model_a: row.mean_a, row.model_b: row.mean_b}
        base, score = means[self.baseline], means[self.candidate]
        pair = asdict(row) | {
            "direction": "model_a minus model_b",
            "baseline": self.baseline, "candidate": self.candidate,
        }  # fmt: skip
        return {
            "schema": SCHEMA, "version": __version__,
            **{key: whole[key] for key in ("data", "settings", "notices")},
            "baseline": self.baseline, "candidate": self.candidate, "condition": self.condition,
            "direction": "candidate minus baseline", "n_problems": row.n_problems,
            "mean_baseline": base, "mean_candidate": score, "difference": score - base,
            "margin": self.margin, "new": asdict(self.new), "these": asdict(self.these),
            "price_of_run": self.price_of_run, "pair": pair,
            "problems": self.problems.to_dict("records"),
        }  # fmt: skip

    def screen(
        self, *, flips: bool = False, markdown: bool = False, everything: bool = False
    ) -> str:
        """Return the answer for a terminal, or as Markdown.

        `flips` lists the problems that changed, `everything` all notes.
        """
        about = self.analysis, self.condition
        level = self.analysis.settings.level
        asked, *helps = comparison(*about, self.baseline, self.candidate)
        lead = Section(
            f"{self.candidate} AGAINST {self.baseline}",
            {
                f"on these {self.pair.n_problems} problems": _words(self.these, self.margin, level),
                f"on {NEW}": _words(self.new, self.margin, level),
            },
            asked.sentences,
        )
        differ = settings_that_differ(self.analysis, (self.baseline, self.candidate))
        pair = self.baseline, self.candidate
        lead.sentences += common_only(*about, pair, self.pair.n_problems)
        lead.sentences += [notice.text for notice in differ]
        sections = [lead, *helps]
        if self.pair.n_problems < FEWEST:
            lead.sentences.append(f"Fewer than {FEWEST} problems: too few for advice on more runs.")
        else:
            sections.append(self._buying())
        if flips:
            moved = self.problems[self.problems["difference"] != 0]
            text = moved.assign(
                **{c: moved[c].map(percent) for c in ("baseline", "candidate")},
                difference=moved["difference"].map(points),
                separated=np.where(moved["separated"], "more than run noise", ""),
            )
            sections.append(Section(f"PROBLEMS THAT CHANGED  {len(moved)}", {}, [], text))
        head, moved = head_of(*about)
        notes = noted(self.analysis, [*differ, *moved], OF_RANKS)
        return rendered(head, sections, notes, markdown=markdown, everything=everything)

    def _buying(self) -> Section:
        row, said = self.pair, {}
        if row.remaining_narrowing is not None:
            limits = row.remaining_narrowing_interval or (None, None)
            low, high = (NO_LIMIT if v is None or v >= 1 else percent(v) for v in limits)
            between = f"at least {low}" if high == NO_LIMIT else f"{low} to {high}"
            level = percent(self.analysis.settings.level)
            said["endless runs"] = (
                f"{percent(row.remaining_narrowing)} narrower ({level}: {between})"
                if row.remaining_narrowing < 1
                else f"{NO_LIMIT} (at least {low} narrower)"
            )
        if self.price_of_run is not None:
            said["one more run of both"] = (
                f"pays when a new problem costs over {self.price_of_run:.3g} runs of one system"
            )
        return Section("WHAT MORE RUNS BUY FOR THIS DIFFERENCE", said)


def versus(
    outcomes: Outcomes,
    baseline: str,
    candidate: str,
    *,
    condition: str | None = None,
    margin: float | None = None,
    **options: Any,
) -> Versus:
    """Compare a candidate with a baseline.

    Parameters
    ----------
    outcomes : Outcomes
    baseline, candidate : str
        Names of two models.
    condition : str, optional
        The first by default.
    margin : float, optional
        The largest difference that does not matter, as a fraction.
    **options
        Of `repeval.analyze`: level, n_resamples, seed, cluster.

    Raises
    ------
    RepevalError
        For unknown names, the same name twice, a margin that is no fraction, or two systems
        without two common problems.

    Examples
    --------
    >>> import repeval
    >>> from repeval.report.versus import versus
    >>> found = versus(repeval.load("runs.csv"), "A", "B")  # see the example of `repeval.load`
    >>> found.new.verdict, found.these.verdict
    ('no verdict', 'not shown')
    """
    two = two_systems(outcomes, baseline, candidate, condition=condition, margin=margin, **options)
    row, x, y, settings = two.row, two.candidate, two.baseline, two.analysis.settings

    def answer(name: str, interval: Limits, resolved: bool | None) -> Answer:
        sign = 1 if row.model_a == candidate else -1
        turned = interval and tuple(sorted(sign * v for v in interval))
        inside = not_worse = None
        if margin is not None and interval:
            inner = compare(
                x, y, name=name, level=2 * settings.level - 1, clusters=two.clusters,
                n_resamples=settings.n_resamples, rng=settings.seed,
            ).interval  # fmt: skip
            not_worse = bool(inner.exists and -margin < inner.low)
            inside = not_worse and inner.high < margin
        return Answer(_verdict(turned, resolved, inside), turned, inside, not_worse)

    ratio = None if row.between is None or row.between <= 0 else row.within / row.between
    runs = x.runs.max() if x.runs.min() == x.runs.max() == y.runs.min() == y.runs.max() else None
    separated = {*row.flips.a_separated, *row.flips.b_separated}
    table = pd.DataFrame(
        {
            "problem": two.problems, "baseline": y.rate, "candidate": x.rate,
            "difference": x.rate - y.rate, "separated": [p in separated for p in two.problems],
        }
    )  # fmt: skip
    return Versus(
        baseline, candidate, two.condition, margin,
        answer("paired", row.interval, row.resolved),
        answer("paired_fixed", row.fixed.interval, row.fixed.resolved),
        row,
        # A repetition of the pair costs two runs.
        2 * break_even_from_here(ratio, int(runs)) if ratio and runs else None,
        table.sort_values(["difference", "problem"], ignore_index=True),
        two.analysis,
    )  # fmt: skip


def two_systems(
    outcomes: Outcomes,
    baseline: str,
    candidate: str,
    *,
    condition: str | None = None,
    margin: float | None = None,
    **options: Any,
) -> Two:
    """Analyse two systems alone, or refuse what cannot be compared; see `versus`."""
    if baseline == candidate:
        raise RepevalError("bad-option", "baseline and candidate name the same system")
    checked(margin, options.get("level", 0.95))
    two = outcomes.select(models=[baseline, candidate])
    analysis = analyze(two, **options)
    condition = analysis.condition if condition is None else condition
    row = analysis.pair(condition, baseline, candidate)
    a, b, problems = two.pair((baseline, condition), (candidate, condition))
    clusters = Answers(two, analysis.settings).clusters(problems)
    return Two(analysis, condition, row, a, b, problems, clusters)


def checked(margin: float | None, level: float) -> None:
    """Refuse a margin that is no fraction, or that a level cannot go with."""
    if margin is not None and not 0 < margin < 1:
        raise RepevalError("bad-option", "the margin must lie between 0 and 100 points")
    if margin is not None and not level > 0.5:
        raise RepevalError("bad-option", "--level must be above 0.5: its rest is a one-sided error")


def _verdict(interval: Limits, resolved: bool | None, inside: bool | None) -> str:
    if interval is None or resolved is None:
        return NONE
    if resolved:
        return WORSE if interval[1] < 0 else BETTER
    return ALIKE if inside else OPEN


def _words(answer: Answer, margin: float | None, level: float) -> str:
    """Say a verdict, its limits, and what the margin makes of it."""
    if answer.interval is None:
        return answer.verdict.upper()
    said = f"{answer.verdict.upper():<11}{signed_limits(answer.interval)}"
    if margin is None or answer.verdict == NONE:
        return said
    low, high = answer.interval
    if answer.within_margin:
        # Two one-sided tests: each end counts alone.
        place = f"by its {percent(2 * level - 1)} interval within"
    elif answer.not_worse:
        place = "not worse by more than"
    else:
        place = "beyond" if high < -margin or low > margin else "not shown to be within"
    return f"{said}; {place} the margin of {points(margin)} points"
