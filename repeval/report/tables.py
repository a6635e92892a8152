"""Tables for terminal, Markdown and pages: what is shown of systems, best first.

Figures are texts, in points or to the digits that matter; what the data do not give is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from repeval.messages import printable
from repeval.report import summary
from repeval.report.format import (
    NOT_SHOWN,
    limits,
    no_ceiling,
    points,
    reach,
)
from repeval.report.sentences import these

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis
    from repeval.report.rows import Limits, Macro, System

#: How a cell begins that a spreadsheet computes; full-width signs are taken for the others.
FORMULA = ("=", "+", "-", "@", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}",
           "\N{FULLWIDTH HYPHEN-MINUS}", "\N{FULLWIDTH COMMERCIAL AT}")  # fmt: skip
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")

CARD = [
    "Score and intervals are in percent. these: for exactly these problems; new ones: for problems "
    "like them. within: variance between runs of a problem; between: variance of difficulty.",
    "ICC: the share of difficulty in their sum; ceiling: 1/ICC, by which endless runs could divide "
    "the variance of a single run's score.",
]


def csv(frame: pd.DataFrame) -> str:
    """Return CSV in which no text is a formula to a spreadsheet: an apostrophe leads it.

    A number that is written as text stays a number, and a control character becomes a mark.
    """

    def text(value):
        if not isinstance(value, str) or NUMBER.fullmatch(value):
            return value
        value = printable(value)
        return f"'{value}" if value.startswith(FORMULA) else value

    return frame.map(text).rename(columns=text).to_csv(index=False, lineterminator="\n")


def leaderboard(analysis: Analysis, condition: str) -> pd.DataFrame:
    """Return the table of a condition: scores, both intervals, rank set."""
    ranks = {r.model: r for r in analysis.ranks if r.condition == condition}
    # Where models had different problems, their order is that on the common ones.
    differ = {s.model for s in analysis.ranked(condition) if s.model in ranks
              and s.n_problems > ranks[s.model].n_problems}  # fmt: skip
    fewest, unequal = analysis.summary[condition].fewest_runs, set()
    for s in analysis.ranked(condition):
        unequal |= {*s.runs_range}
    right = f"all {fewest} right" if len(unequal) > 1 and fewest > 1 else "all right"
    common = f"on {next(iter(ranks.values())).n_problems} common" if differ else "common"
    table = pd.DataFrame(
        {
            "model": s.model + " *" * (s.model in analysis.excluded),
            **_scores(s),
            common: points(ranks[s.model].mean) if differ else "",
            "rank": reach(ranks[s.model].rank_set, "-") if s.model in ranks else "",
            right: "" if s.all_right is None else f"{s.all_right * s.n_problems:.0f}",
        }
        for s in analysis.ranked(condition)
    )
    at_hand = these(analysis, condition).removesuffix(" problems")
    return table.loc[:, (table != "").any()].rename(columns={"these": at_hand})


def group_table(
    pooled: Analysis,
    groups: Mapping[str, Analysis],
    macros: Sequence[Macro],
    by: str,
    condition: str,
) -> pd.DataFrame:
    """Return one row for each model and group, then the macro and the micro score."""

    def row(group: str, s: System) -> dict[str, str]:
        counts = {by: group, "model": s.model, "problems": str(s.n_problems)}
        return counts | _scores(s) | {"ceiling": _ceiling(s, ".2f")}

    rows = []
    for s in pooled.ranked(condition):
        systems = ((value, r) for value, a in groups.items() for r in a.ranked(condition))
        own = [(value, r) for value, r in systems if r.model == s.model]
        if own:
            rows += [row(value, r) for value, r in own]
            rows += [
                {by: "macro", "score": points(m.mean), "new ones": limits(m.interval)}
                for m in macros
                if (m.model, m.condition) == (s.model, condition)
            ]
            rows.append(row("micro", s))
    table = pd.DataFrame(rows).fillna("")
    return table if table["model"].nunique() > 2 else table.drop(columns="model")


def component_table(analysis: Analysis, condition: str) -> pd.DataFrame:
    """Return the variance components of a condition's systems, best first."""

    def ends(interval: Limits) -> str:
        found = dict.fromkeys(_form(v, ".2f", "no limit") for v in interval or ())
        return " to ".join(found) or NOT_SHOWN

    return pd.DataFrame(
        {
            "model": s.model,
            **{key: _form(getattr(s, key)) for key in ("within", "between", "icc")},
            "ceiling": _ceiling(s),
            "interval": ends(s.ceiling_interval),
        }
        for s in analysis.ranked(condition)
    )


def report_card(analysis: Analysis) -> pd.DataFrame:
    """Return what to report of every system.

    References
    ----------
    VC section 6.
    """
    return pd.DataFrame(
        {
            "model": s.model,
            "condition": s.condition,
            "problems": str(s.n_problems),
            "runs": reach(s.runs_range),
            **_scores(s),
            **{key: _form(getattr(s, key)) for key in ("within", "between")},
            "ICC": _form(s.icc, ".3f"),
            "ceiling": _ceiling(s),
        }
        for condition in analysis.summary
        for s in analysis.ranked(condition)
    )


def _scores(s: System) -> dict[str, str]:
    these, new = (limits(s.intervals[name]) for name in (summary.THESE, summary.NEW))
    return {"score": points(s.mean), "these": these, "new ones": new}


def _form(value: float | None, form: str = ".4f", unknown: str = NOT_SHOWN) -> str:
    return unknown if value is None else format(value, form)


def _ceiling(s: System, form: str = ".4f") -> str:
    return _form(s.ceiling, form, NOT_SHOWN if s.between is None else no_ceiling(s))
