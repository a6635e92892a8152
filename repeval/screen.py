"""The one-screen answer: sections of `report.py` laid out for a terminal or as Markdown."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from repeval import report
from repeval.analysis import Analysis
from repeval.comparison import minimum_detectable
from repeval.components import difference_components
from repeval.notices import RepevalError

if TYPE_CHECKING:
    import pandas as pd

    from repeval.outcomes import Outcomes

WIDTH = 80
SHOWN = 8
NAME = 26


@dataclass
class Section:
    """A question, the answers to it by case, sentences below, and a table."""

    title: str
    answers: dict[str, str] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    table: pd.DataFrame | None = None


def one_screen(
    analysis: Analysis,
    outcomes: Outcomes,
    *,
    condition: str | None = None,
    pair: tuple[str, str] | None = None,
    everything: bool = False,
    components: bool = False,
    markdown: bool = False,
    groups: Mapping[str, Analysis] | None = None,
    by: str | None = None,
) -> str:
    """Answer the questions a user asks, on one screen.

    Parameters
    ----------
    analysis, outcomes
        The analysis and what it was made from.
    condition : str, optional
        The condition to show; the data set's first by default.
    pair : (baseline, candidate), optional
        Ask first whether the candidate got worse.
    everything : bool
        All systems instead of the first eight, and the notices in full.
    components : bool
        Add the variance components, ICC and ceilings.
    markdown : bool
        Markdown instead of plain text.
    groups, by
        Analyses for each value of the label column `by`, shown in place of the pooled answer.
    """
    if condition is None:
        condition = analysis.condition
    elif condition not in analysis.summary:
        names = ", ".join(analysis.summary)
        raise RepevalError("unknown-condition", f"no condition {condition!r}; there are: {names}")
    head = [report.STAND_IN] if analysis.source.basis == "stand-in" else []
    head.append(f"{analysis.source.name}: {report.shape(analysis, condition)}")
    sections = _comparison(analysis, outcomes, condition, *pair) if pair else []
    if groups:
        table = report.group_table(analysis, groups, by or "", condition)
        notes = ["macro: every group counts the same; micro: every problem does."]
        if alone := sorted(set(outcomes.labels[by]) - set(groups)):
            notes.append(f"Left out, with fewer than two problems: {', '.join(alone)}.")
        sections.append(Section(f"ONE ANSWER FOR EACH {by}", sentences=notes, table=table))
    else:
        sections += [
            _precision(analysis, condition),
            _apart(analysis, condition),
            _more_runs(analysis, condition),
            _leaderboard(analysis, condition, everything),
        ]
    if components:
        table = report.component_table(analysis, condition)
        sections.append(Section("VARIANCE COMPONENTS", table=table))
    render = _markdown if markdown else _plain
    notes = list(dict.fromkeys(f"{n.text} [{n.code}]" for n in analysis.notices))
    shown = [s for s in sections if s.answers or s.table is not None]
    return render(head, shown, notes, everything)


def _precision(analysis: Analysis, condition: str) -> Section:
    return Section(
        "HOW SURE IS A SCORE?",
        report.precision(analysis, condition),
        [report.pooling(analysis, condition)],
    )


def _apart(analysis: Analysis, condition: str) -> Section:
    pairs = analysis.adjacent(condition)
    if not pairs:
        return Section("WHO IS TOLD APART?")
    if len(pairs) == 1:
        p = pairs[0]
        sentence = f"{p.model_a} leads {p.model_b} by {report.points(p.difference)} points."
        return Section("ARE THE TWO TOLD APART?", report.pair_text(p), [sentence])
    return Section(
        f"WHO IS TOLD APART?  {len(pairs)} pairs of neighbours",
        report.apart(analysis, condition),
        [report.resolved_names(analysis, condition)],
    )


def _more_runs(analysis: Analysis, condition: str) -> Section:
    return Section(
        "WHAT WOULD MORE RUNS BUY?  at most, with endless runs of these problems",
        report.more_runs(analysis, condition),
        [report.from_one_run(analysis, condition), report.allocation_rule(analysis, condition)],
    )


def _leaderboard(analysis: Analysis, condition: str, everything: bool) -> Section:
    table = report.leaderboard(analysis, condition)
    more = len(table) - SHOWN
    title = "THE SCORES" if len(table) <= SHOWN or everything else f"TOP {SHOWN} OF {len(table)}"
    sentences = []
    if more > 0 and not everything:
        table = table.head(SHOWN)
        sentences.append(f"... {more} more: --all.")
    if "rank" in table:
        sentences.append("rank: what the data cannot rule out, for one model at a time.")
    if analysis.excluded:
        sentences.append("* left out of medians: settings differ from the others.")
    return Section(title, sentences=sentences, table=table)


def _comparison(
    analysis: Analysis, outcomes: Outcomes, condition: str, baseline: str, candidate: str
) -> list[Section]:
    """Ask whether the candidate got worse than the baseline."""
    b, a, problems = outcomes.pair((candidate, condition), (baseline, condition))
    row = analysis.pair(condition, baseline, candidate)
    sign = 1 if row.model_a == candidate else -1

    def turned(interval: report.Limits) -> report.Limits:
        return interval if sign == 1 or interval is None else (-interval[1], -interval[0])

    def verdict(resolved: bool | None, interval: report.Limits) -> str:
        if resolved is None:
            return "needs two runs of a problem, and a verdict that changed"
        worse = "YES" if resolved and turned(interval)[1] < 0 else "NO, BETTER"
        return f"{worse if resolved else 'NOT SHOWN':<11}{report.signed_limits(turned(interval))}"

    change = b.rate - a.rate
    c = difference_components(b, a)
    level = analysis.settings.level
    seen = f"{report.points(row.mdd)} (new)"
    if c.run_noise > 0:
        these = minimum_detectable(c.fixed_variance, level)
        seen = f"{report.points(these)} points (these problems), {seen}"
    answers = {
        f"on these {len(problems)} problems": verdict(row.fixed.resolved, row.fixed.interval),
        "on new ones like them": verdict(row.resolved, row.interval),
    }
    direction = "lower" if change.mean() < 0 else "higher"
    sentences = [
        f"{report.points(b.rate.mean())} % against {report.points(a.rate.mean())} %, "
        f"{report.points(abs(change.mean()))} points {direction}.",
        f"{(change < 0).sum()} problems got worse, {(change > 0).sum()} better, "
        f"{(change == 0).sum()} the same.",
        f"A true change is seen 4 times in 5 if it is {seen}.",
    ]
    first = Section(f"DID {candidate} GET WORSE THAN {baseline}?", answers, sentences)
    if row.remaining_narrowing is None or row.interval is None:
        return [first]
    half = (row.interval[1] - row.interval[0]) / 2
    endless = half * (1 - row.remaining_narrowing)
    # Doubling R halves the run noise; doubling N halves everything.
    twice = half * (1 - c.aleatoric_share / 2) ** 0.5
    buys = {
        "twice the runs of both": f"+-{report.points(twice)}",
        "endless runs of both": f"+-{report.points(endless)}",
        "twice the problems": f"+-{report.points(half / 2**0.5)}",
    }
    now = f"now +-{report.points(half)} points on new problems"
    return [first, Section(f"WHAT WOULD HELP THIS PAIR?  {now}", buys)]


def _plain(head: list[str], sections: list[Section], notes: list[str], everything: bool) -> str:
    lines = [line for text in head for line in textwrap.wrap(_clean(text), WIDTH)]
    for section in sections:
        lines += ["", *textwrap.wrap(_clean(section.title), WIDTH, break_on_hyphens=False)]
        if section.answers:
            width = max(map(len, section.answers)) + 2
            for case, answer in section.answers.items():
                indent = " " * (width + 2)
                text = f"  {case:<{width}}{_clean(answer)}"
                lines += textwrap.wrap(text, WIDTH, subsequent_indent=indent)
        if section.table is not None:
            lines += _plain_table(section.table)
        for sentence in filter(None, section.sentences):
            lines += textwrap.wrap(
                _clean(sentence), WIDTH, initial_indent="  ", subsequent_indent="  ",
                break_on_hyphens=False,
            )  # fmt: skip
    if notes:
        lines.append("")
        shown = notes if everything else notes[:3]
        for i, note in enumerate(shown, 1):
            lines += textwrap.wrap(
                f"Note {i}. {_clean(note)}", WIDTH, subsequent_indent="  ", break_on_hyphens=False
            )
        if len(notes) > len(shown):
            lines.append(f"{len(notes) - len(shown)} more notes: --all.")
    return "\n".join(lines) + "\n"


def _plain_table(table: pd.DataFrame) -> list[str]:
    columns = []
    for j, name in enumerate(table.columns):
        cells = [_clean(str(v)) for v in table.iloc[:, j]]
        if j == 0:
            cells = [_shortened(c) for c in cells]
            width = max(map(len, [*cells, name]))
            columns.append([f"{c:<{width}}" for c in [name, *cells]])
        else:
            width = max(map(len, [*cells, name]))
            columns.append([f"{c:>{width}}" for c in [name, *cells]])
    return ["  " + "  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def _markdown(head: list[str], sections: list[Section], notes: list[str], everything: bool) -> str:
    lines = [f"**{_escape(head[0])}**", *map(_escape, head[1:])]
    for section in sections:
        lines += ["", f"### {_escape(section.title)}", ""]
        if section.answers:
            lines += ["| | |", "|---|---|"]
            lines += [
                f"| {_escape(k)} | {_escape(' '.join(v.split()))} |"
                for k, v in section.answers.items()
            ]
        if section.table is not None:
            names = list(section.table.columns)
            lines += ["| " + " | ".join(map(_escape, names)) + " |", "|---" * len(names) + "|"]
            for row in section.table.itertuples(index=False):
                lines.append("| " + " | ".join(_escape(str(v)) for v in row) + " |")
        lines += ["", *(_escape(s) for s in section.sentences if s)]
    if notes:
        lines += ["", *(f"{i}. {_escape(n)}" for i, n in enumerate(notes, 1))]
    return "\n".join(lines) + "\n"


def _shortened(name: str) -> str:
    """Cut a long name in its middle: names of one family differ at the end."""
    return name if len(name) <= NAME else f"{name[: NAME - 13]}...{name[-10:]}"


def _clean(text: str) -> str:
    """Make text from data safe for a terminal: no control characters, no line breaks."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _escape(text: str) -> str:
    """Make text from data safe in Markdown: no HTML, no table or emphasis marks."""
    safe = html.escape(_clean(text), quote=False)
    return "".join(f"\\{c}" if c in "\\`*_{}[]|#" else c for c in safe)
