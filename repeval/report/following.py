"""The answer of `repeval plan` in words: what to buy next, and what else the money buys."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from repeval._version import __version__
from repeval.messages import some
from repeval.report.format import NO_LIMIT, count, percent, points
from repeval.report.rows import known_or_none
from repeval.report.screen import Section, head_of, noted, rendered
from repeval.report.sentences import price
from repeval.stats.design.plan import Plan, best_runs, from_here
from repeval.stats.design.separate import Separation
from repeval.stats.design.whole import Design, Prices, Stock

if TYPE_CHECKING:
    from repeval.report.analysis import Analysis
    from repeval.report.rows import Limits

__all__ = ["Asked", "Next"]

SCHEMA = "repeval/plan/1"
KINDS = {
    "next": "best", "only_problems": "problems only", "only_runs": "runs only",
    "scratch": "from scratch",
}  # fmt: skip
#: Said of all systems of the data, of which only those that are planned for are analysed.
NOT_OF_THESE = "never-passed"


@dataclass(frozen=True)
class Asked:
    """What was asked for: prices, None where none was given, and one aim at most.

    `run_cost_stated` says that logs state the cost of a run, `tokens` how many tokens they say that
    it used; both are means.
    """

    problem_cost: float | None
    run_cost: float | None
    budget: float | None
    width: float | None
    difference: float | None
    power: float
    looks: int
    tokens: float | None = None
    run_cost_stated: bool = False

    def prices(self, systems: int) -> Prices:
        """Return the prices that count: of a problem, and of one run of so many systems."""
        run = 1.0 if self.run_cost is None else self.run_cost
        return Prices(self.problem_cost or 0.0, systems * run)


@dataclass(frozen=True)
class Next:
    """What to buy next for a score, or for a difference of two.

    Attributes
    ----------
    systems : tuple of str
        The system planned for, or the two that are to be told apart.
    n_systems : int
        Systems of which the one was taken for its middle run noise; 1 where it was named.
    condition : str
    asked : Asked
    budget : float or None
        Asked for, or without any aim the price of what is at hand.
    plan : Plan
    separations : tuple of Separation
        What it takes to tell two systems apart, by difference; empty for a score.
    width : float or None
        Of the interval for new problems that people are shown, as it is.
    at_hand : Stock
        Problems and runs, and how they vary.
    ceiling : (float, float or None) or None
        Limits of the ceiling, of the score or of the difference.
    observed : float or None
        Of two systems.
    analysis : Analysis
        Of these systems alone.
    steady : tuple of str
        Systems that could not be planned for.
    """

    systems: tuple[str, ...]
    n_systems: int
    condition: str
    asked: Asked
    budget: float | None
    plan: Plan
    separations: tuple[Separation, ...]
    width: float | None
    at_hand: Stock
    ceiling: Limits
    observed: float | None
    analysis: Analysis
    steady: tuple[str, ...] = ()

    @property
    def prices(self) -> Prices:
        """Return the prices that counted; a run is one of each system."""
        return self.asked.prices(len(self.systems))

    def foretold(self, design: Design | None) -> float | None:
        """Return the width that the shown interval will have after a purchase."""
        if design is None or self.width is None or self.separations:
            return None
        return self.width * design.width() / self.plan.width

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON `repeval/plan/1`; prices of a problem count in runs, of both for two."""
        whole, p = self.analysis.to_dict(), self.plan
        found = {name: self._record(getattr(p, name)) for name in KINDS}
        return {
            "schema": SCHEMA, "version": __version__,
            "data": whole["data"], "settings": whole["settings"],
            "notices": [n for n in whole["notices"] if n["code"] != NOT_OF_THESE],
            "systems": list(self.systems), "n_systems": self.n_systems,
            "condition": self.condition, **asdict(self.asked), "text": self.first(),
            "n_problems": self.at_hand.n_problems, "runs_mean": self.at_hand.runs_mean,
            "interval_width": self.width, "money": self.budget, **found,
            "break_even": known_or_none(p.break_even),
            "break_even_from_here": known_or_none(p.break_even_from_here),
            "break_even_from_here_interval": self._interval(self._from_here),
            "optimal_runs": known_or_none(p.optimal_runs) if self._priced else None,
            "optimal_runs_interval": self._interval(self._best_runs) if self._priced else None,
            "single_saves": p.single_saves, "single_widens": p.single_widens,
            "seen_now": known_or_none(self.separations[0].now) if self.separations else None,
            "separations": [
                {
                    "difference": s.difference,
                    **{name: self._record(getattr(s.plan, name)) for name in KINDS},
                }
                for s in self.separations
            ],
        }  # fmt: skip

    def narrower(self, design: Design | None) -> float | None:
        """Return by what share a purchase narrows the shown interval."""
        then = self.foretold(design)
        return None if then is None else 1 - then / self.width

    def _record(self, design: Design | None) -> dict[str, Any] | None:
        widths = {"width": self.foretold(design), "narrower": self.narrower(design)}
        return design and asdict(design) | widths

    @property
    def _priced(self) -> bool:
        return self.asked.problem_cost is not None

    def _interval(self, of: Callable[[float], float]) -> list[float | None] | None:
        """Return limits of what rises with the ceiling, or falls with it."""
        if self.ceiling is None:
            return None
        low, high = self.ceiling
        ends = sorted(of(math.inf if v is None else v) for v in (low, high))
        return [known_or_none(v) for v in ends]

    def _best_runs(self, ceiling: float) -> float:
        return best_runs(ceiling - 1, self.prices)

    def _from_here(self, ceiling: float) -> float:
        return from_here(self.at_hand, ceiling - 1)

    # ---- words ------------------------------------------------------------------------------

    def first(self) -> str:
        """Return the answer in one line."""
        a, best = self.asked, self.plan.next
        if self.separations and a.difference is None:
            return self._seen_now()
        if a.budget is None and a.width is None and not self.separations:
            return self._without_aim()
        if best is None:
            return f"Next: nothing that {money(a.budget)} buys makes the interval narrower."
        what = self._words(best)
        if self.separations:
            told = (
                f"{' and '.join(self.systems)} are told apart {_times(a.power)} if they differ by "
                f"{_points(a.difference)} points."
            )
            return (
                f"Next: {what}, for {money(best.cost)}: then {told}"
                if best.cost
                else (f"Next: nothing. As it is, {told}")
            )
        now, then = (_half(w) for w in (self.width, self.foretold(best)))
        if best.cost == 0:
            return f"Next: nothing. The interval is {now} points already."
        of = f" of {money(a.budget)}" if a.budget is not None else ""
        less = f" ({percent(self.narrower(best))} narrower)" if then else ""
        return f"Next: {what}, for {money(best.cost)}{of}: {now} points become {then}{less}."

    def _without_aim(self) -> str:
        here, asked = self.plan.break_even_from_here, self.prices.problem / self.prices.run
        if math.isinf(here):
            return "Next: more problems. No run noise was seen, so that more runs buy nothing."
        if not self._priced:
            return (
                f"Next: more problems, unless a new one costs over {_price(here)} runs; then one "
                "more run of each."
            )
        if asked > here:
            return (
                f"Next: one more run of each problem. A new one costs {_price(asked)} runs, and "
                f"above {_price(here)} that pays."
            )
        return (
            f"Next: more problems. One costs {_price(asked) if asked else 0} runs; above "
            f"{_price(here)} one more run of each would pay."
        )

    def _of_what(self, runs: str) -> str:
        return f"{runs} of both" if len(self.systems) == 2 else runs

    def _seen_now(self) -> str:
        now = self.separations[0].now
        a, b = self.systems
        if math.isnan(now):
            return f"{a} and {b}: at hand no difference is seen {_times(self.asked.power)}."
        return (
            f"{a} and {b}: at hand a difference of {points(now)} points is seen "
            f"{_times(self.asked.power)}; smaller ones take more."
        )

    def single(self) -> str:
        """Return what going back to one run would save, in a line for who pays."""
        p = self.plan
        if p.single_saves is None:
            return ""
        saves, widens = percent(p.single_saves), percent(p.single_widens)
        runs = count(f"{self.at_hand.runs_mean:.3g}", "run")
        of = " of the difference" * (len(self.systems) == 2)
        return (
            f"Going from {runs} to 1 saves {saves} of the runs and widens the interval{of} by "
            f"{widens}."
        )

    def _words(self, d: Design) -> str:
        """Say what is bought."""
        two, said = len(self.systems) == 2, []
        if d.new_problems:
            each = " of both" * two + " each" * (d.new_problems > 1 and not two)
            new = count(f"{d.new_problems:,}", "more problem")
            said.append(f"{new} with {count(d.new_runs, 'run')}{each}")
        if d.more_runs:
            each = " of both on each" if two else " of each"
            more = count(d.more_runs, "more run")
            said.append(f"{more}{each} of the {self.at_hand.n_problems:,} at hand")
        return ", and ".join(said)

    def screen(self, *, markdown: bool = False, everything: bool = False) -> str:
        """Return the answer for a terminal, or as Markdown."""
        head, moved = head_of(self.analysis, self.condition)
        lines = [self.first(), self.single(), *head]
        if self.n_systems > 1:
            lines.append(
                f"Planned for {self.systems[0]}, the middle one of {self.n_systems} by run noise "
                "(--model names another)."
            )
        elif self.steady:
            lines.append(f"Planned for {self.systems[0]}: of {some(self.steady)} nothing varied.")
        sections = [self._options(), self._noise()]
        notes = noted(self.analysis, moved, (NOT_OF_THESE,))
        return rendered(
            [line for line in lines if line], sections, notes, markdown=markdown,
            everything=everything,
        )  # fmt: skip

    def _options(self) -> Section:
        a, below = self.asked, []
        if self.separations:
            title = f"WHAT IT TAKES TO TELL {' AND '.join(self.systems)} APART"
        elif a.width is not None:
            title = "WHAT IT TAKES"
        else:
            what = money(self.budget)
            title = f"WHAT {what} BUYS" if a.budget else f"WHAT AS MUCH AGAIN BUYS ({what})"
        if self.separations and a.difference is None:
            rows = {self._name(s): s.plan.next for s in self.separations}
            if any(s.difference == self.observed and s.plan.next.cost for s in self.separations):
                below.append("What was observed is a hopeful aim: it may stand out by luck.")
        else:
            rows = {KINDS[name]: getattr(self.plan, name) for name in KINDS}
            if rows[KINDS["only_problems"]] == self.plan.next:
                del rows[KINDS["only_problems"]]
            if self.budget is None and self.plan.only_runs is None:
                below.append("More runs alone, however many, do not get there.")
        table = pd.DataFrame(
            {
                "": name,
                "new problems": f"{d.new_problems:,}",
                "runs": d.new_runs or "",
                "runs of old": "" if name == KINDS["scratch"] else d.more_runs,
                "costs": money(d.cost),
                "points": _half(self.foretold(d)),
                "narrower": "" if name == KINDS["scratch"] else percent(self.narrower(d) or 0),
            }
            for name, d in rows.items()
            if d
        )
        if self.foretold(self.plan.next) is None:
            table = table.drop(columns=["points", "narrower"], errors="ignore")
        else:
            title += f"  now {_half(self.width)} points"
        if not self._priced:
            below.append("A new problem is taken to cost nothing but its runs: --problem-cost.")
        if a.run_cost_stated:
            below.append(f"A run cost {a.run_cost:.3g} by the logs; --run-cost for another.")
        elif a.tokens is not None and a.run_cost is None:
            below.append(f"A run used {a.tokens:,.0f} tokens by the logs: --run-cost, their price.")
        if by := self.analysis.settings.cluster:
            below.append(f"New problems are taken to come in new clusters of {by}, like these.")
        return Section(title, {}, below, None if table.empty else table)

    def _name(self, s: Separation) -> str:
        observed = self.observed is not None and s.difference == self.observed
        return f"{points(s.difference)} points{', observed' * observed}"

    def _noise(self) -> Section:
        p, said, runs = self.plan, {}, self._of_what("runs")
        each = self._of_what("one more run")
        if math.isinf(p.break_even):
            said[each] = "buys nothing: no run noise was seen"
        else:
            said[each] = (
                f"pays when a new problem costs over {_price(p.break_even_from_here)} {runs}"
            )
            said[each] += self._limits(self._from_here, _price)
        if 0 < p.break_even < math.inf:
            said["from scratch"] = f"a second run pays above {_price(p.break_even)} {runs}"
        if self._priced:
            best = NO_LIMIT if math.isinf(p.optimal_runs) else f"{p.optimal_runs:.1f} {runs}"
            limits = self._limits(self._best_runs, lambda v: f"{v:.1f}")
            said["best, from scratch"] = f"{best} at these prices{limits}"
        return Section("MORE RUNS OR MORE PROBLEMS?", said)

    def _limits(self, of: Callable[[float], float], form: Callable[[float], str]) -> str:
        """Write the limits of what rises or falls with the ceiling."""
        if (ends := self._interval(of)) is None:
            return ""
        low, high = (v if v is None else form(v) if v else "0" for v in ends)
        told = f"{low} or more" if high is None else f"{low} to {high}"
        return f" ({percent(self.analysis.settings.level)}: {told})" if low else ""


def money(amount: float | None) -> str:
    """Return an amount with two digits after the point at most, `2,991` or `0.25`."""
    return f"{amount:,.2f}".rstrip("0").rstrip(".")


def _price(runs: float) -> str:
    # One run, where problems do not differ, comes as a little less.
    return price(round(runs, 9))


def _half(whole: float | None) -> str:
    return "" if whole is None else f"+-{points(whole / 2)}"


def _points(fraction: float) -> str:
    return f"{round(100 * fraction, 6):g}"


def _times(power: float) -> str:
    return f"{round(100 * power, 1):g} of 100 times"
