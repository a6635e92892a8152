"""What `repeval items` answers: which problems are flaky, and which decide between two systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from repeval._version import __version__
from repeval.io.keys import check_names
from repeval.messages import some
from repeval.report.format import STAND_IN, count, percent, points
from repeval.report.screen import Section, rendered
from repeval.report.sentences import flips
from repeval.report.versus import Versus, versus
from repeval.stats.pairs.items import items

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

__all__ = ["Problem", "Problems", "problems"]

SCHEMA = "repeval/items/1"
SHOWN = 10


@dataclass(frozen=True)
class Problem:
    """One problem; `flaky_in` is None where no system ran it twice, so that nothing can be seen.

    `rates` has the systems that were given the problem; with scores they are means.
    """

    problem: str
    always_passed: bool
    never_passed: bool
    flaky_in: tuple[str, ...] | None
    rates: dict[str, float]


@dataclass(frozen=True)
class Problems:
    """The problems of a condition, the most telling first.

    Attributes
    ----------
    condition : str
    systems : tuple of str
    binary : bool
        Whether runs pass or fail; else they are scores.
    problems : tuple of Problem
    pair : Versus or None
        The two systems that were asked about.
    data : dict
        Name, hash and basis of the data.
    """

    condition: str
    systems: tuple[str, ...]
    binary: bool
    problems: tuple[Problem, ...]
    pair: Versus | None
    data: dict[str, Any]

    @property
    def counts(self) -> dict[str, int | None]:
        """How many problems are of a kind; None for flaky ones where every problem ran once."""
        seen = [p.flaky_in for p in self.problems if p.flaky_in is not None]
        return {
            "n_problems": len(self.problems),
            "always_passed": sum(p.always_passed for p in self.problems),
            "never_passed": sum(p.never_passed for p in self.problems),
            "flaky": sum(map(bool, seen)) if seen else None,
            "run_once": len(self.problems) - len(seen),
        }

    def deciding(self) -> pd.DataFrame | None:
        """Return the problems on which the pair differs, beyond run noise first, then the largest.

        Differences are candidate minus baseline.
        """
        if self.pair is None:
            return None
        table = self.pair.problems
        table = table[table["difference"] != 0]
        # Equal sizes in both directions may differ by rounding.
        sized = table.assign(size=table["difference"].abs().round(12))
        keys, rising = ["separated", "size", "problem"], [False, False, True]
        return sized.sort_values(keys, ascending=rising, ignore_index=True).drop(columns="size")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON `repeval/items/1`."""
        return {
            "schema": SCHEMA, "version": __version__, "data": self.data,
            "condition": self.condition, "systems": list(self.systems), "binary": self.binary,
            "counts": self.counts, "problems": [asdict(p) for p in self.problems],
            "pair": self.pair and {
                "baseline": self.pair.baseline, "candidate": self.pair.candidate,
                "direction": "candidate minus baseline",
                "deciding": self.deciding().to_dict("records"),
            },
        }  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each problem; a column of pass rates for each system."""
        deciding = self.deciding()
        rows = []
        for p in self.problems:
            row: dict[str, Any] = {
                "problem": p.problem, "always_passed": p.always_passed,
                "never_passed": p.never_passed,
                "flaky_in": None if p.flaky_in is None else len(p.flaky_in),
            }  # fmt: skip
            rows.append(row | {f"rate of {m}": p.rates.get(m) for m in self.systems})
        table = pd.DataFrame(rows).astype({"flaky_in": "Int64"})
        if deciding is None:
            return table
        told = deciding.set_index("problem")
        common = self.pair.problems.set_index("problem")["difference"]
        return table.assign(
            difference=table["problem"].map(common),
            separated=table["problem"].isin(told.index[told["separated"]]),
        )

    def screen(self, *, markdown: bool = False) -> str:
        """Return counts and the most telling problems for a terminal, or as Markdown."""
        head = [STAND_IN] if self.data["basis"] == "stand-in" else []
        shape = f"{count(len(self.systems), 'system')} on {count(len(self.problems), 'problem')}"
        head.append(f"{self.data['name']}: {shape}, condition {self.condition}.")
        sections = [self._kinds(), self._pair() if self.pair else self._telling()]
        return rendered(head, sections, [], markdown=markdown)

    def _kinds(self) -> Section:
        counts = self.counts
        runs = "every run of every system" if len(self.systems) > 1 else "every run"
        never = [p.problem for p in self.problems if p.never_passed]
        words = ("always passed", "never passed", "passes")
        if not self.binary:
            words = ("always full score", "always zero", "has the full score")
        said = {
            words[0]: f"{counts['always_passed']} of {counts['n_problems']}: {runs} {words[2]}",
            words[1]: str(counts["never_passed"]),
        }
        if never:
            said[words[1]] += f" ({some(sorted(never))}): hard, or broken?"
        flaky = "flaky" if self.binary else "varies between runs"
        if counts["flaky"] is None:
            said[flaky] = "cannot be seen: every problem was run once by each system"
        else:
            said[flaky] = f"{counts['flaky']}: some system's own runs of it differ"
            if counts["run_once"]:
                said[flaky] += f" ({counts['run_once']} more were run once: not seen)"
        return Section("THE PROBLEMS", said)

    def _telling(self) -> Section:
        alone = len(self.systems) == 1
        telling = [p for p in self.problems if p.flaky_in or len({*p.rates.values()}) > 1]
        shown = telling[:SHOWN]
        if not shown:
            return Section("THE MOST TELLING", {"none": "every run of a problem ends alike"})
        table = pd.DataFrame(
            {
                "problem": p.problem,
                "lowest": percent(min(p.rates.values())),
                "highest": percent(max(p.rates.values())),
                "runs differ in": "not seen" if p.flaky_in is None
                else f"{len(p.flaky_in)} of {len(p.rates)}",
            }
            for p in shown
        )  # fmt: skip
        most = f"THE {len(shown)} MOST TELLING of {len(telling)}"
        title = f"{most}  where two systems are farthest apart"
        if alone:
            title = f"{most}  where the runs differ most"
            score = "pass rate" if self.binary else "score"
            table = table[["problem", "highest"]].rename(columns={"highest": score})
        return Section(title, {}, ["All problems and systems: --csv FILE."], table)

    def _pair(self) -> Section:
        pair, found = self.pair, self.deciding()
        shown = found.head(SHOWN)
        below = flips(pair.pair.flips, pair.pair.model_a == pair.candidate)
        if not self.binary:
            below.append("Of scores no single problem is tested: the largest differences stand.")
        elif all(p.flaky_in is None for p in self.problems):
            below.append("With single runs no problem stands out.")
        elif not found["separated"].any():
            below.append("No single problem can be told from run noise.")
        table = pd.DataFrame(
            {
                "problem": shown["problem"],
                pair.baseline: shown["baseline"].map(percent),
                pair.candidate: shown["candidate"].map(percent),
                "difference": shown["difference"].map(points),
                " ": np.where(shown["separated"], "more than run noise", ""),
            }
        )
        title = f"WHICH PROBLEMS DECIDE {pair.candidate} AGAINST {pair.baseline}"
        if found.empty:
            return Section(title, {"none": "both score the same on every problem"}, below)
        return Section(f"{title}  {len(shown)} of {len(found)}", {}, below, table)


def problems(
    outcomes: Outcomes,
    *,
    pair: Sequence[str] | None = None,
    condition: str | None = None,
    **options: Any,
) -> Problems:
    """Say of each problem whether it is passed by all, by none, or flaky, and what it decides.

    Parameters
    ----------
    outcomes : Outcomes
    pair : (str, str), optional
        Baseline and candidate: which problems decide between them?
    condition : str, optional
        The first by default.
    **options
        Of `repeval.analyze`, for the pair: level, n_resamples, seed, cluster.

    Raises
    ------
    RepevalError
        For unknown names, or two systems without two common problems.

    Examples
    --------
    >>> import repeval
    >>> from repeval.report.items import problems
    >>> found = problems(repeval.load("runs.csv"))  # see the example of `repeval.load`
    >>> found.counts["never_passed"], found.counts["flaky"]
    (2, 3)
    """
    condition = condition or outcomes.main_condition
    check_names("unknown-condition", [condition], outcomes.conditions)
    systems = [m for m in outcomes.models if outcomes.has(m, condition)]
    asked = None if pair is None else versus(outcomes, *pair, condition=condition, **options)
    names = sorted({p for m in systems for p in outcomes.system_problems(m, condition)})
    place = pd.Index(names, dtype=object)
    rates, noise = np.full((2, len(systems), len(names)), np.nan)
    for i, model in enumerate(systems):
        sample = outcomes.system(model, condition)
        at = place.get_indexer(outcomes.system_problems(model, condition))
        rates[i, at], noise[i, at] = sample.rate, sample.noise
    found = items(rates, noise)
    rows = tuple(
        Problem(
            names[j], bool(found.always[j]), bool(found.never[j]),
            tuple(m for m, f in zip(systems, found.flaky[:, j], strict=True) if f)
            if found.seen[:, j].any() else None,
            {m: float(r) for m, r in zip(systems, rates[:, j], strict=True) if not np.isnan(r)},
        )
        for j in found.telling
    )  # fmt: skip
    source = outcomes.source
    about = {"name": source.name, "sha256": source.sha256, "basis": source.basis}
    binary = all(outcomes.system(m, condition).binary for m in systems)
    return Problems(condition, tuple(systems), binary, rows, asked, about)
