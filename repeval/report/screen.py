"""The one-screen answer: `report` and `sentences` laid out for a terminal or as Markdown."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from repeval.messages import Notice, RepevalError
from repeval.report import sentences
from repeval.report import tables as report_tables
from repeval.report.format import NEW, NO_LIMIT, STAND_IN, points
from repeval.stats.pairs.decision import FEWEST

if TYPE_CHECKING:
    import pandas as pd

    from repeval.io.outcomes import Outcomes
    from repeval.report.analysis import Analysis
    from repeval.report.rows import Macro

WIDTH = 80
SHOWN = 8
NAME = 26
#: Notices on which logs count: they stand at the head.
READ = (
    "logs-read", "copies-dropped", "retries-merged", "runs-numbered", "names-read", "wide-read",
    "counts-read",
)  # fmt: skip


@dataclass
class Section:
    """A question, the answers to it by case, a table, and sentences below."""

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
    macros: Sequence[Macro] = (),
    by: str | None = None,
) -> str:
    """Answer the questions a user asks, on one screen.

    `pair` is (baseline, candidate): did the second get worse? `groups` are analyses for each value
    of the label column `by`, shown in place of the pooled answers; `everything` shows all systems.
    """
    condition = analysis.condition if condition is None else condition
    if condition not in analysis.summary:
        known = ", ".join(analysis.summary)
        raise RepevalError("unknown-condition", f"no condition {condition!r}; there are: {known}")
    about = analysis, condition
    head, moved = head_of(*about)
    sections = comparison(*about, *pair) if pair else []
    if pair:
        differ = settings_that_differ(analysis, pair)
        sections[0].sentences += [n.text for n in differ]
        moved += differ
    if groups:
        below = ["macro: every group counts the same; micro: every problem does."]
        if alone := sorted(set((outcomes.before or outcomes).labels[by]) - set(groups)):
            below.append(f"Left out, with fewer than two problems or clusters: {', '.join(alone)}.")
        if pair:
            told = {value: _verdict(a, condition, *pair) for value, a in groups.items()}
            chance = len(told) * (1 - analysis.settings.level)
            alone = f"Each is asked alone: of {len(told)}, chance alone tells apart {chance:.2g}."
            sections.append(Section(f"THE SAME FOR EACH {by}  on new problems", told, [alone]))
        table = report_tables.group_table(analysis, groups, macros, by or "", condition)
        sections.append(Section(f"ONE ANSWER FOR EACH {by}", {}, below, table))
    else:
        sections += [*_pooled(*about), _leaderboard(*about, everything)]
    if components:
        table = report_tables.component_table(*about)
        sections.append(Section("VARIANCE COMPONENTS", table=table))
    # Who answers by a column need not be told to.
    told = by and f"--by {by} "
    moved += [n for n in analysis.notices if told and told in n.text]
    notes = noted(analysis, moved)
    return rendered(head, sections, notes, markdown=markdown, everything=everything)


def head_of(analysis: Analysis, condition: str) -> tuple[list[str], list[Notice]]:
    """Return what was read, in lines, and the notices that say so."""
    head = [STAND_IN] if analysis.source.basis == "stand-in" else []
    moved = [n for n in analysis.notices if n.code in READ]
    head += ["Read " + " ".join(n.text for n in moved)] * bool(moved)
    head.append(f"{analysis.source.name}: {sentences.shape(analysis, condition)}")
    return head, moved


def rendered(
    head: list[str],
    sections: Sequence[Section],
    notes: list[str],
    *,
    markdown: bool = False,
    everything: bool = False,
) -> str:
    """Return a head, the sections that have an answer, and notes as plain text or Markdown."""
    shown = [s for s in sections if s.answers or s.table is not None]
    lines = _markdown(head, shown, notes) if markdown else _plain(head, shown, notes, everything)
    return "\n".join(lines) + "\n"


#: Of notices, those that are about ranks only.
OF_RANKS = ("ranks-on-common",)


def noted(analysis: Analysis, told: Sequence[Notice], without: Collection[str] = ()) -> list[str]:
    """Return the notices that were not told elsewhere, each once and with its code.

    `without` has the codes of those that are not about what was asked.
    """
    left = [n for n in analysis.notices if n not in told and n.code not in without]
    return list(dict.fromkeys(f"{n.text} [{n.code}]" for n in left))


def common_only(
    analysis: Analysis, condition: str, models: Sequence[str], n_problems: int
) -> list[str]:
    """Say on which problems two models are compared, where they did not have the same."""
    own = {m: analysis.system(m, condition).n_problems for m in models}
    if max(own.values()) == n_problems:
        return []
    told = " and ".join(f"{m} has {n:,}" for m, n in own.items())
    return [f"Compared on the {n_problems:,} problems that both were given: {told}."]


def settings_that_differ(analysis: Analysis, models: Sequence[str]) -> list[Notice]:
    """Return the notices on settings in which these models differ."""
    return [n for n in analysis.notices if n.code == "settings-differ" and _parts(n, models)]


def summary(analysis: Analysis, outcomes: Outcomes) -> str:
    """Return the answer for every condition and the report card, as Markdown."""
    answers = [
        one_screen(analysis, outcomes, condition=condition, everything=True, markdown=True)
        for condition in analysis.summary
    ]
    card = Section("REPORT CARD", {}, report_tables.CARD, report_tables.report_card(analysis))
    title = f"# {_escape(analysis.source.name)}\n"
    text = "\n".join([title, *answers, *_markdown([], [card], [])]) + "\n"
    # Sections of one page now, not of a comment.
    return text.replace("\n### ", "\n## ")


def _pooled(*about) -> list[Section]:
    """Ask what is asked of all problems at once."""
    sections = [
        Section("HOW SURE IS A SCORE?", sentences.precision(*about), [sentences.pooling(*about)]),
        Section(
            "WHAT WOULD MORE RUNS BUY?  for new problems, with endless runs",
            sentences.more_runs(*about),
            [sentences.from_one_run(*about), sentences.allocation_rule(*about)],
        ),
    ]
    analysis, condition = about
    pairs = analysis.adjacent(condition)
    if len(pairs) == 1:
        (p,) = pairs
        leads = f"{p.model_a} and {p.model_b} are level."
        if gap := _gap(p.difference):
            leads = f"{p.model_a} leads {p.model_b} by {gap}."
        sections.insert(1, Section("ARE THE TWO TOLD APART?", sentences.pair_text(p), [leads]))
    elif pairs:
        title = f"WHO IS TOLD APART?  {len(pairs)} pairs of neighbours"
        names = sentences.resolved_names(*about)
        sections.insert(1, Section(title, sentences.apart(*about), [names]))
    return sections


def _leaderboard(analysis: Analysis, condition: str, everything: bool) -> Section:
    table = report_tables.leaderboard(analysis, condition)
    total, below = len(table), []
    if total > SHOWN and not everything:
        table = table.head(SHOWN)
        below.append(f"... {total - SHOWN} more: --all.")
    if "rank" in table:
        below.append("rank: what the data cannot rule out, for one model at a time.")
    if analysis.excluded:
        below.append("* left out of medians: settings differ from the others.")
    title = "THE SCORES" if len(table) == total else f"TOP {SHOWN} OF {total}"
    return Section(title, {}, below, table)


def comparison(analysis: Analysis, condition: str, baseline: str, candidate: str) -> list[Section]:
    """Ask whether the candidate got worse than the baseline."""
    row = analysis.pair(condition, baseline, candidate)
    swapped = row.model_a == candidate
    score, base = (row.mean_a, row.mean_b) if swapped else (row.mean_b, row.mean_a)
    gap = _gap(abs(row.difference))
    moved = f"{gap} {'lower' if score < base else 'higher'}" if gap else "level"
    below = [
        f"{points(score)} % against {points(base)} %, {moved}.",
        *sentences.flips(row.flips, swapped),
    ]
    smallest = {"these problems": row.fixed.mdd, "new ones": row.mdd}
    seen = ", ".join(
        f"{points(v)} points ({which})" if v < 1 else f"larger than any can be ({which})"
        for which, v in smallest.items()
        if v
    )
    if seen:
        assumed = {row.fixed.mdd_assumes, row.mdd_assumes}
        how = f", counted as {assumed.pop()}" if len(assumed) == 1 else ""
        below.append(f"A true drop is seen 4 times in 5 if it is {seen}{how}.")
    title = f"DID {candidate} GET WORSE THAN {baseline}?"
    answers = {f"on {which}": text for which, text in sentences.pair_text(row, candidate).items()}
    sections = [Section(title, answers, below)]
    if (half := row.half_widths) and row.n_problems >= FEWEST:
        by = analysis.settings.cluster
        twice = f"twice the clusters of {by}" if by else "twice the problems"
        buys = {
            "twice the runs of both": _half(half.twice_runs),
            "endless runs of both": _half(half.endless_runs),
            twice: _half(half.twice_problems),
        }
        title = f"WHAT WOULD HELP THIS PAIR?  now {_half(half.now)} points on new problems"
        sections.append(Section(title, buys))
    return sections


def _verdict(analysis: Analysis, condition: str, baseline: str, candidate: str) -> str:
    """Say of one group whether the candidate got worse, for new problems of the group."""
    try:
        row = analysis.pair(condition, baseline, candidate)
    except RepevalError:
        return "not compared"
    return sentences.pair_text(row, candidate)[NEW]


def _parts(notice: Notice, models: Sequence[str]) -> bool:
    """Tell whether a list of models in a notice has some of these, or is cut short."""
    lists = re.findall(r"\(([^()]*)\)", notice.text)
    here = [len({*models} & {*names.split(", ")}) for names in lists if " more" not in names]
    return len(here) < len(lists) or any(0 < n < len({*models}) for n in here)


def _half(width: float | None) -> str:
    return NO_LIMIT if width is None else f"+-{points(width)}"


def _gap(difference: float) -> str:
    """Return a difference in points, nothing where it is none."""
    return "" if float(points(difference)) == 0 else f"{points(difference)} points"


def _plain(head: list[str], sections: list[Section], notes: list[str], everything: bool):
    def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
        return textwrap.wrap(
            _clean(text), WIDTH, initial_indent=first, subsequent_indent=rest,
            break_on_hyphens=False,
        )  # fmt: skip

    for text in head:
        yield from wrapped(text)
    for section in sections:
        yield from ["", *wrapped(section.title)]
        width = max(map(len, section.answers), default=0) + 4
        for case, answer in section.answers.items():
            yield from wrapped(answer, f"  {case}".ljust(width), " " * width)
        if section.table is not None:
            yield from _plain_table(section.table)
        for sentence in section.sentences:
            yield from wrapped(sentence, "  ", "  ")
    shown = notes if everything else notes[:3]
    for i, note in enumerate(shown, 1):
        yield from [""] * (i == 1) + wrapped(f"Note {i}. {note}", rest="  ")
    if len(notes) > len(shown):
        yield f"Further notes: {len(notes) - len(shown)} (--all)."


def _plain_table(table: pd.DataFrame) -> list[str]:
    columns = [[_clean(str(cell)) for cell in (name, *table[name])] for name in table]
    # Cut long names in their middle: those of one family differ at the end.
    columns[0] = [c if len(c) <= NAME else f"{c[: NAME - 13]}...{c[-10:]}" for c in columns[0]]
    widths = [max(map(len, column)) for column in columns]
    return [
        "  " + "  ".join([first.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]).rstrip()
        for first, *rest in zip(*columns, strict=True)
    ]


def _markdown(head: list[str], sections: list[Section], notes: list[str]):
    def row(cells) -> str:
        return f"| {' | '.join(_escape(' '.join(str(c).split())) for c in cells)} |"

    for i, text in enumerate(head):
        yield _escape(text) if i else f"**{_escape(text)}**  "
    for section in sections:
        yield from ["", f"### {_escape(section.title)}", ""]
        if section.answers:
            yield from ["| | |", "|---|---|", *map(row, section.answers.items())]
        if section.table is not None:
            yield from [row(section.table), "|---" * section.table.shape[1] + "|"]
            yield from map(row, section.table.itertuples(index=False))
        yield from ["", *(_escape(s) for s in section.sentences if s)]
    if notes:
        yield from ["", *(f"{i}. {_escape(n)}" for i, n in enumerate(notes, 1))]


def _clean(text: str) -> str:
    """Make text from data safe for a terminal: no control characters, no line breaks."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _escape(text: str) -> str:
    """Make text from data safe in Markdown: no HTML, no table or emphasis marks, nobody called.

    Where a comment is shown, @name calls a person and #1 links to an issue, escaped or not: a
    space without width after the sign ends that.
    """
    safe = html.escape(_clean(text), quote=False)
    safe = "".join(f"\\{c}" if c in "\\`*_{}[]|#" else c for c in safe)
    return re.sub(r"(?<=[@#])(?=\w)", "\u200b", safe)
