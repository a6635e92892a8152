"""What `repeval rank` writes: a leaderboard that holds together, with the footnote it needs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from repeval._version import __version__
from repeval.io.keys import check_names
from repeval.messages import RepevalError, refused
from repeval.report.compute import Answers
from repeval.report.format import STAND_IN, count, json_text, percent, points, reach
from repeval.report.rows import Limits, Settings
from repeval.report.screen import Section, rendered
from repeval.report.summary import NEW, THESE
from repeval.report.tables import csv
from repeval.stats.intervals import interval
from repeval.stats.leaderboard import joint_ranks
from repeval.stats.resampling import DEFAULT_SEED, keyed_generator

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

__all__ = ["Leaderboard", "Place", "leaderboard"]

SCHEMA = "repeval/leaderboard/1"
#: How a leaderboard is written, by the ending of a file's name.
FORMATS = ("json", "md", "csv", "tex")


@dataclass(frozen=True)
class Place:
    """One system of a leaderboard; all figures are of the common problems.

    `interval` is for new problems, `interval_fixed` for these; `rank_set` holds for all systems at
    once; `p_first` describes resamples and is no probability that the system is the best.
    """

    model: str
    rank: int
    rank_set: tuple[int, int]
    may_be_best: bool
    score: float
    interval: Limits
    interval_fixed: Limits
    n_runs: tuple[int, int]
    p_first: float


@dataclass(frozen=True)
class Leaderboard:
    """Systems of one condition, best first, and what has to be said below them.

    Attributes
    ----------
    condition : str
    n_problems : int
        Common problems, on which all systems are ranked.
    n_left_out : int
        Problems that some system lacks.
    fall : float
        By how much the first score is expected to fall on new problems.
    places : tuple of Place
    footnote : str
    data : dict
        Name, hash and basis of the data.
    settings : Settings
    """

    condition: str
    n_problems: int
    n_left_out: int
    fall: float
    places: tuple[Place, ...]
    footnote: str
    data: dict[str, Any]
    settings: Settings

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON `repeval/leaderboard/1`."""
        return {"schema": SCHEMA, "version": __version__, **asdict(self)}

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each system; intervals and sets as two columns."""
        rows = []
        for place in self.places:
            row: dict[str, Any] = {}
            for key, value in asdict(place).items():
                if key in ("interval", "interval_fixed", "rank_set", "n_runs"):
                    low, high = value or (None, None)
                    row |= {f"{key}_low": low, f"{key}_high": high}
                else:
                    row[key] = value
            rows.append(row)
        return pd.DataFrame(rows)

    def table(self) -> pd.DataFrame:
        """Return the table that people see, in percent; a dagger marks what may be best."""
        table = pd.DataFrame(
            {
                "rank": reach(place.rank_set, "-") + " †" * place.may_be_best,
                "model": place.model,
                "score": points(place.score),
                "new problems": _ends(place.interval),
                f"these {self.n_problems}": _ends(place.interval_fixed),
            }
            for place in self.places
        )
        return table.loc[:, (table != "").any()]

    def written(self, kind: str) -> str:
        """Return the leaderboard as text of a format of `FORMATS`."""
        if kind == "json":
            return json_text(self.to_dict())
        if kind == "csv":
            return csv(self.to_frame())
        if kind == "tex":
            return _tex(self.table(), self.footnote)
        section = Section("", {}, [self.footnote], self.table())
        return rendered([], [section], [], markdown=True).split("### \n\n", 1)[-1]

    def screen(self) -> str:
        """Return the leaderboard for a terminal."""
        head = [STAND_IN] if self.data["basis"] == "stand-in" else []
        shape = f"{count(len(self.places), 'system')} on {self.n_problems} common problems"
        head.append(f"{self.data['name']}: {shape}, condition {self.condition}.")
        table = self.table()
        table.insert(0, "model", table.pop("model"))
        return rendered(head, [Section("THE LEADERBOARD", {}, [self.footnote], table)], [])


def leaderboard(
    outcomes: Outcomes,
    *,
    condition: str | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = DEFAULT_SEED,
    cluster: str | None = None,
) -> Leaderboard:
    """Rank the models of a condition on the problems that all of them have.

    Parameters
    ----------
    outcomes : Outcomes
    condition : str, optional
        The data's first by default.
    level, n_resamples, seed, cluster
        As in `repeval.analyze`.

    Raises
    ------
    RepevalError
        If fewer than two models have two problems in common.

    Examples
    --------
    >>> import repeval
    >>> from repeval.report.leaderboard import leaderboard
    >>> board = leaderboard(repeval.load("runs.csv"))  # see the example of `repeval.load`
    >>> [(place.model, place.rank_set) for place in board.places]
    [('A', (1, 2)), ('B', (1, 2))]
    """
    conditions = outcomes.conditions
    condition = condition or outcomes.main_condition
    check_names("unknown-condition", [condition], conditions)
    samples, problems = outcomes.common(condition)
    if len(samples) < 2:
        if len(outcomes.models) == 1:
            what = f"there is one model, {outcomes.models[0]!r}; a ranking needs two."
            raise RepevalError("no-common-problems", what)
        what = f"condition {condition}: no two problems that all models were given"
        raise refused("no-common-problems", f"{what}.")
    asked = Answers.asked(outcomes, level, n_resamples, seed, cluster)
    groups = asked.clusters(problems)
    names, systems = list(samples), list(samples.values())
    ranks = joint_ranks(
        systems, level=level, n_resamples=n_resamples, clusters=groups,
        rng=keyed_generator(seed, "leaderboard", condition),
    )  # fmt: skip

    def limits(i: int, name: str) -> Limits:
        found = interval(
            systems[i], name=name, level=level, clusters=groups if name == NEW else None
        )
        return (found.low, found.high) if found.exists else None

    places = sorted(
        (
            Place(
                model, int(ranks.rank[i]), (int(ranks.low[i]), int(ranks.high[i])),
                bool(ranks.may_be_best[i]), float(ranks.score[i]), limits(i, NEW), limits(i, THESE),
                (int(systems[i].runs.min()), int(systems[i].runs.max())), float(ranks.p_first[i]),
            )
            for i, model in enumerate(names)
        ),
        key=lambda place: (place.rank, place.model),
    )  # fmt: skip
    had = {p for m in names for p in outcomes.system_problems(m, condition)}
    source = outcomes.source
    board = Leaderboard(
        condition, len(problems), len(had) - len(problems), ranks.fall, tuple(places), "",
        {"name": source.name, "sha256": source.sha256, "basis": source.basis}, asked.settings,
    )  # fmt: skip
    return replace(board, footnote=_footnote(board, groups is not None))


def _footnote(board: Leaderboard, clustered: bool) -> str:
    """Say below a leaderboard what it rests on, and what it does not claim."""
    places, settings = board.places, board.settings
    runs = reach(r for place in places for r in place.n_runs)
    best = [place for place in places if place.may_be_best]
    units = f"clusters of {settings.cluster}" if clustered else "problems"
    level = percent(settings.level)
    said = [
        f"Scores are mean pass rates on the {board.n_problems} problems that all {len(places)} "
        f"systems ran ({count(runs, 'run')} each), in percent."
    ]
    if board.n_left_out:
        said.append(f"{count(board.n_left_out, 'problem')} that some system lacks are left out.")
    said.append(
        f"Rank: all ranks that the data cannot rule out, for all systems together: if new {units} "
        f"like these were drawn, every system's true rank would lie in its set {level} of the time."
    )
    if len(best) == len(places):
        said.append("† Any of them may be the best.")
    else:
        said.append(f"† May be the best: {len(best)} of {len(places)}.")
    first = places[0]
    if (fall := points(board.fall)) != "0.0":
        said.append(
            "The first is first partly by luck, as the highest of several scores always is: on new "
            f"problems its score is expected to fall by {fall} points, "
            f"to {points(first.score - board.fall)} %."
        )
    said.append(f"Intervals hold one at a time, at {level}. repeval {__version__}.")
    return " ".join(said)


def _ends(limits: Limits) -> str:
    """Return an interval in percent, nothing where there is none."""
    return "" if limits is None else "-".join(points(v) for v in limits)


def _tex(table: pd.DataFrame, footnote: str) -> str:
    """Return a table for LaTeX with booktabs, and its footnote."""
    ranges = {c: table[c].str.replace(r"(?<=\d)-(?=\d)", "–", regex=True) for c in table}
    dashed = table.assign(**{c: r for c, r in ranges.items() if c != "model"})
    lines = [r"\begin{tabular}{" + "ll" + "r" * (table.shape[1] - 2) + "}", r"\toprule"]
    lines += [" & ".join(map(_plain, table.columns)) + r" \\", r"\midrule"]
    lines += [" & ".join(map(_plain, row)) + r" \\" for row in dashed.itertuples(index=False)]
    lines += [r"\bottomrule", r"\end{tabular}", "", rf"\footnotesize {_plain(footnote)}"]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Return a text that LaTeX sets as it is."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {c: f"\\{c}" for c in "&%$#_{}"} | {"†": r"$\dagger$", "–": "--"}
    clean = "".join(c if c.isprintable() else "?" for c in str(text))
    return "".join(special.get(c, c) for c in clean)
