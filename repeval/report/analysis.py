"""From outcomes to every answer: `analyze` returns what reports, pages and JSON show."""

from __future__ import annotations

import numbers
from dataclasses import asdict, dataclass, is_dataclass
from typing import TYPE_CHECKING, Any

from repeval._version import __version__
from repeval.io.checks import checks
from repeval.io.keys import check_names
from repeval.io.outcomes import Outcomes
from repeval.messages import KINDS, Notice, RepevalError, refused, some
from repeval.report.compute import Answers
from repeval.report.notices import remarks
from repeval.report.rows import (
    ALL_PAIRS,
    ConditionPair,
    Pair,
    Rank,
    Settings,
    Summary,
    System,
    columns,
)
from repeval.report.summary import summarize
from repeval.stats.intervals import check_options
from repeval.stats.resampling import DEFAULT_SEED

if TYPE_CHECKING:
    import pandas as pd

    from repeval.io.keys import Source

SCHEMA = "repeval/analysis/2"
ROWS = ("systems", "pairs", "condition_pairs", "ranks")
ATOMS = (float, int, str, type(None))


@dataclass(frozen=True)
class Analysis:
    """Everything `repeval` says about a set of outcomes.

    Attributes
    ----------
    source : Source
    shape : dict
        Numbers of models, conditions, problems, and runs (None where unequal).
    settings : Settings
    notices : tuple of Notice
    systems, pairs, condition_pairs, ranks : tuple of rows
        Rows have the keys of the JSON as attributes.
    summary : dict
        Condition -> `Summary`.

    Examples
    --------
    >>> import repeval
    >>> answer = repeval.analyze(repeval.load("runs.csv"))  # see the example of `repeval.load`
    >>> pair = answer.pair("default", "A", "B")
    >>> round(pair.difference, 3), round(pair.p_greater, 3)
    (0.167, 0.814)
    >>> answer.to_frame("ranks")[["model", "rank"]].to_dict("list")
    {'model': ['A', 'B'], 'rank': [1, 2]}
    """

    source: Source
    shape: dict[str, int | None]
    settings: Settings
    notices: tuple[Notice, ...]
    systems: tuple[System, ...]
    pairs: tuple[Pair, ...]
    condition_pairs: tuple[ConditionPair, ...]
    ranks: tuple[Rank, ...]
    summary: dict[str, Summary]

    @property
    def excluded(self) -> tuple[str, ...]:
        """Models left out of the summary, as the data set's source does."""
        return self.source.excluded

    @property
    def condition(self) -> str:
        """The condition shown first: the source's own choice, or the first."""
        preferred = self.source.default_condition
        return preferred if preferred in self.summary else next(iter(self.summary))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document `repeval/analysis/2`; undefined figures are None."""
        return {key: _plain(value) for key, value in self.document().items()}

    def document(self) -> dict[str, Any]:
        """Return the same with its rows as they are, of which `json_pieces` makes no copy."""
        source = self.source
        data = {"name": source.name, "sha256": source.sha256, "basis": source.basis}
        return {
            "schema": SCHEMA,
            "version": __version__,
            "data": {**data, "n_rows": source.n_rows, **self.shape},
            "settings": asdict(self.settings),
            "notices": [*self.notices],
            **{key: [*getattr(self, key)] for key in ROWS},
            "summary": self.summary,
        }

    def to_frame(self, rows: str = "systems") -> pd.DataFrame:
        """Return one kind of rows as a table, nested figures in dotted columns."""
        import pandas as pd

        if rows not in ROWS:
            raise ValueError(f"rows must be one of {', '.join(ROWS)}, not {rows!r}")
        return pd.json_normalize([asdict(row) for row in getattr(self, rows)])

    def system(self, model: str, condition: str) -> System:
        """Return the row of one system; a name that is not in the data is refused."""
        found = {(s.model, s.condition): s for s in self.systems}
        if (model, condition) not in found:
            check_names("unknown-condition", [condition], list(self.summary))
            check_names("unknown-model", [model], [s.model for s in self.systems])
            where = some(c for m, c in found if m == model)
            what = f"{model!r} has no outcome under condition {condition!r}, but under {where}."
            raise RepevalError("unknown-model", what)
        return found[model, condition]

    def ranked(self, condition: str) -> list[System]:
        """Return the systems of a condition, best first, ties by name.

        By their ranks, which are on common problems, where there are ranks.
        """
        place = {r.model: r.rank for r in self.ranks if r.condition == condition}
        return sorted(
            (s for s in self.systems if s.condition == condition),
            key=lambda s: (place.get(s.model, 0), -s.mean if s.model not in place else 0, s.model),
        )

    def adjacent(self, condition: str) -> list[Pair]:
        """Return the pairs of neighbours of a condition, best first."""
        return [p for p in self.pairs if p.condition == condition and p.adjacent]

    def pair(self, condition: str, model_a: str, model_b: str) -> Pair:
        """Return the row of a pair, whichever of the two is named first."""
        names = {self.system(m, condition).model for m in (model_a, model_b)}
        for p in self.pairs:
            if p.condition == condition and {p.model_a, p.model_b} == names:
                return p
        code = "adjacent-only" if len(self.ranked(condition)) > ALL_PAIRS else "no-common-problems"
        raise refused(code, f"{model_a!r} and {model_b!r} were not compared.")


def _plain(value: Any) -> Any:
    """Return what `asdict` does, some times faster: rows hold nothing that is ever changed."""
    if isinstance(value, ATOMS):
        return value
    value = columns(value) if is_dataclass(value) else value
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [*map(_plain, value)]
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def analyze(
    outcomes: Outcomes,
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    seed: int = DEFAULT_SEED,
    cluster: str | None = None,
) -> Analysis:
    """Answer every question about a set of outcomes.

    Parameters
    ----------
    outcomes : Outcomes
        From `repeval.load`.
    level : float
        Of all intervals.
    n_resamples : int
        Where there is no exact law, and for ranks.
    seed : int
        Every Monte Carlo figure has its own stream, keyed by what it is about.
    cluster : str, optional
        Label column; whole clusters are resampled instead of single problems.

    Examples
    --------
    >>> import repeval
    >>> outcomes = repeval.load("runs.csv")  # the file that the example of `repeval.load` writes
    >>> answer = repeval.analyze(outcomes)
    >>> answer.to_frame()[["model", "mean", "ceiling"]].round(3)
      model   mean  ceiling
    0     A  0.500    1.638
    1     B  0.333    1.789
    """
    if not isinstance(outcomes, Outcomes):
        raise ValueError(f"outcomes must come from repeval.load, not {type(outcomes).__name__}")
    check_options(level, n_resamples=n_resamples)
    if not (isinstance(seed, numbers.Integral) and seed >= 0):
        raise ValueError(f"seed must be a whole number, 0 or more, not {seed!r}")
    if not isinstance(cluster, str | None):
        raise ValueError(f"cluster must be the name of a label column, not {cluster!r}")
    # The JSON holds Python's numbers only.
    level, n_resamples, seed = float(level), int(n_resamples), int(seed)
    for model, condition in outcomes.systems:
        if len(outcomes.system_problems(model, condition)) < 2:
            raise RepevalError(
                "one-problem",
                f"{model} has outcomes on one problem only (condition {condition}); at least two "
                "are needed. Run it on more problems, or take its rows out.",
            )
    run = Answers.asked(outcomes, level, n_resamples, seed, cluster)
    systems = [run.system(m, c) for c in outcomes.conditions for m in run.models(c)]
    pairs_of = {c: run.pairs(c) for c in outcomes.conditions}
    pairs = [pair for of_condition in pairs_of.values() for pair in of_condition]
    systems_of: dict[str, list[System]] = {c: [] for c in outcomes.conditions}
    for row in systems:
        systems_of[row.condition].append(row)
    runs, excluded = {row.n_runs for row in systems}, outcomes.source.excluded
    return Analysis(
        source=outcomes.source,
        shape={
            "n_models": len(outcomes.models),
            "n_conditions": len(outcomes.conditions),
            "n_problems": len(outcomes.problems),
            "n_runs": runs.pop() if len(runs) == 1 else None,
        },
        settings=run.settings,
        # What warns comes before what was assumed while reading.
        notices=tuple(
            sorted(
                (
                    *outcomes.notices,
                    *checks(outcomes),
                    *remarks(outcomes, systems, pairs, cluster, level),
                ),
                key=lambda notice: KINDS.index(notice.kind),
            )
        ),
        systems=tuple(systems),
        pairs=tuple(pairs),
        condition_pairs=tuple(run.condition_pairs()),
        ranks=tuple(row for c in outcomes.conditions for row in run.ranks(c, pairs_of[c])),
        summary={
            c: summarize(
                [s for s in systems_of[c] if s.model not in excluded],
                [p for p in pairs_of[c] if p.adjacent],
            )
            for c in outcomes.conditions
        },
    )
