"""What `repeval gate` answers: pass, fail or cannot tell, and what the gate itself is worth."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from repeval._version import __version__
from repeval.messages import RepevalError
from repeval.report.format import TOO_FEW, count, percent, points, signed_limits
from repeval.report.screen import (
    OF_RANKS,
    Section,
    common_only,
    head_of,
    noted,
    rendered,
    settings_that_differ,
)
from repeval.report.versus import checked, two_systems
from repeval.stats.pairs.gate import Gate, gate
from repeval.stats.pairs.looks import MOST_LOOKS
from repeval.stats.pairs.margin import FAIL, OPEN, PASS, decides

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes
    from repeval.report.analysis import Analysis

__all__ = ["MARKER", "Gated", "gated"]

SCHEMA = "repeval/gate/1"
#: The first line of the Markdown, by which a comment is found again and updated.
MARKER = "<!-- repeval-gate -->"
WHERE = {"new": "on new problems like these", "these": "on these problems"}
SHORT = {"new": "on new problems", "these": "on these problems"}


@dataclass(frozen=True)
class Gated:
    """A gate between a baseline and a candidate of some outcomes.

    Attributes
    ----------
    baseline, candidate, condition : str
    gate : Gate
    means : (float, float)
        Scores of baseline and candidate on their common problems.
    analysis : Analysis
        Of the two systems alone.
    """

    baseline: str
    candidate: str
    condition: str
    gate: Gate
    means: tuple[float, float]
    analysis: Analysis

    @property
    def exit_code(self) -> int:
        """Return 0 where the candidate is let through, else 1."""
        return int(not self.gate.passed)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON `repeval/gate/1`; differences are candidate minus baseline."""
        whole, g = self.analysis.to_dict(), self.gate
        limits, (runs, problems) = g.interval, g.designs
        return {
            "schema": SCHEMA, "version": __version__,
            **{key: whole[key] for key in ("data", "settings", "notices")},
            "baseline": self.baseline, "candidate": self.candidate, "condition": self.condition,
            "verdict": g.verdict, "passed": g.passed, "exit_code": self.exit_code,
            "text": self.verdict(), "margin": g.margin, "question": g.question,
            "unsure": g.unsure, "looks": g.looks, "alpha": g.alpha, "n_problems": g.n_problems,
            "mean_baseline": self.means[0], "mean_candidate": self.means[1],
            "difference": g.difference,
            "interval": [limits.low, limits.high] if limits.exists else None,
            "method": limits.method,
            "self_test": {
                "unchanged_passes": g.unchanged_passes, "drop": g.drop,
                "drop_caught": g.drop_caught,
                "unchanged": asdict(g.unchanged), "dropped": asdict(g.dropped),
                "unchanged_limits": g.unchanged_limits, "noise_from": g.noise_from,
            },
            "designs": {
                "more_runs": runs and asdict(runs),
                "more_problems": problems and asdict(problems),
                "fewest_problems": g.fewest_problems,
            },
        }  # fmt: skip

    def verdict(self) -> str:
        """Return the verdict in one line."""
        g = self.gate
        where, margin = SHORT[g.question], f"(margin {_points(g.margin)})"
        word = g.verdict.upper() + f" ({g.unsure})" * (g.verdict == OPEN)
        if not decides(g.n_problems, g.question):
            return f"{word}: {TOO_FEW}, and these are {g.n_problems}."
        if not g.interval.exists:
            return f"{word}: {g.interval.method}."
        least, most = (points(-limit) for limit in (g.interval.high, g.interval.low))
        if g.verdict == FAIL:
            said = f"loses at least {least} points"
        elif float(most) <= 0:
            said = "loses nothing"
        else:
            said = f"{'loses at most' if g.verdict == PASS else 'may lose'} {most} points"
        return f"{word}: {self.candidate} {said} {where} {margin}."

    def worth(self) -> str:
        """Return what the gate does to an unchanged candidate, and to one that drops."""
        passes = f"passes {times(self.gate.unchanged_passes)} of 100 times"
        return f"An unchanged candidate {passes}; {' '.join(self._drop())}."

    def screen(self, *, markdown: bool = False, everything: bool = False) -> str:
        """Return the answer for a terminal, or as Markdown."""
        about = self.analysis, self.condition
        head, moved = head_of(*about)
        differ = settings_that_differ(self.analysis, (self.baseline, self.candidate))
        notes = noted(self.analysis, [*differ, *moved], OF_RANKS)
        pair = self.baseline, self.candidate
        common = common_only(*about, pair, self.gate.n_problems)
        sections = [self._tested(), self._limits([*common, *(n.text for n in differ)])]
        head = [self.verdict(), self.worth(), *head]
        text = rendered(head, sections, notes, markdown=markdown, everything=everything)
        return f"{MARKER}\n{text}" if markdown else text

    def _tested(self) -> Section:
        g = self.gate
        said = {"an unchanged candidate": f"passes {times(g.unchanged_passes)} of 100 times"}
        sure = ""
        if g.unsure == "pass":
            sure = " for sure"
            said["an unchanged candidate"] += f", {times(g.unchanged.passes)}{sure}"
        elif g.unchanged_limits:
            low, high = map(times, g.unchanged_limits)
            if low != high:
                said["an unchanged candidate"] += f" ({low} to {high}, as run noise is known)"
        case, caught = self._drop()
        said[case] = caught
        said[f"to pass 95 of 100{sure}"] = self._designs()
        below = [f"Run noise is known from {g.noise_from}."]
        if g.question == "new" and g.n_problems < g.fewest_problems:
            below.append(
                f"On fewer than {g.fewest_problems} problems nothing passes: so many new ones may "
                "be of a kind that none of these is."
            )
        if g.looks > 1:
            below.append(
                f"One of {g.looks} looks: each is wrong in {100 * g.alpha:.2g} % at most, so that "
                f"all together are in {100 * (1 - self.analysis.settings.level):.2g} %. No look "
                "may more than double the data."
            )
        return Section("WHAT THIS GATE CAN TELL", said, below)

    def _drop(self) -> tuple[str, str]:
        """Return the drop that the gate tried itself on, and how often it is caught."""
        g, base = self.gate, self.means[0]
        if g.drop_caught is None:
            case = f"a {_points(g.margin)}-point drop"
            return case, f"is not possible from a score of {percent(base, 1)}"
        case = f"a {_points(round(g.drop, 4))}-point drop"
        if g.unsure == "pass":
            how = "all called a fail; what it cannot tell passes"
        else:
            how = f"{times(g.dropped.fails)} called a fail, the rest cannot tell"
        return case, f"is caught {times(g.drop_caught)} of 100 times ({how})"

    def _designs(self) -> str:
        g = self.gate
        if g.unchanged.passes >= 0.95:
            return "this design is enough"
        runs, problems = g.designs
        found = []
        if runs:
            found.append(f"{runs.n_problems} problems x {count(runs.n_runs, 'run')} of both")
        if problems:
            found.append(f"{problems.n_problems} problems x {count(problems.n_runs, 'run')}")
        return ", or ".join(found) or "no number of runs or problems is enough"

    def _limits(self, below: list[str]) -> Section:
        g = self.gate
        base, score = map(points, self.means)
        said = {"scores": f"{score} % against {base} %"}
        if g.interval.exists:
            limits = signed_limits((g.interval.low, g.interval.high))
            said["difference"] = f"{limits} ({percent(g.interval.level)} interval: each end counts)"
        said["margin"] = f"{_points(g.margin)} points"
        if g.question == "new" and g.interval.exists:
            below.append(
                "The limit holds also where a drop comes as whole problems lost; that of repeval "
                "compare may lie above it."
            )
        if g.verdict == OPEN:
            below = ["A drop of the margin is neither ruled out nor shown.", *below]
        title = f"{self.candidate} AGAINST {self.baseline}  {WHERE[g.question]}: {g.verdict}"
        return Section(title, said, below)


def gated(
    outcomes: Outcomes,
    baseline: str,
    candidate: str,
    *,
    margin: float,
    question: str = "new",
    looks: int = 1,
    unsure: str = "fail",
    drop: float | None = None,
    condition: str | None = None,
    **options: Any,
) -> Gated:
    """Ask whether a candidate stays within a margin of a baseline, and test the gate.

    Parameters
    ----------
    outcomes : Outcomes
    baseline, candidate : str
        Names of two models.
    margin, question, looks, unsure, drop
        See `repeval.gate`.
    condition : str, optional
        The first by default.
    **options
        Of `repeval.analyze`: level, n_resamples, seed, cluster.

    Raises
    ------
    RepevalError
        For unknown names, the same name twice, options out of range, or two systems without two
        common problems.

    Examples
    --------
    >>> import repeval
    >>> from repeval.report.gate import gated
    >>> outcomes = repeval.load("runs.csv")  # see the example of `repeval.load`
    >>> gated(outcomes, "A", "B", margin=0.03).verdict()
    'CANNOT TELL (fail): no verdict on fewer than 8 problems, and these are 6.'
    """
    if not 1 <= looks <= MOST_LOOKS:
        raise RepevalError("bad-option", f"--looks must be from 1 to {MOST_LOOKS}, not {looks}")
    checked(margin, options.get("level", 0.95))
    if drop is not None and not margin <= drop <= 1:
        what = f"--drop must lie between the margin and 100 points, not {100 * drop:g}"
        raise RepevalError("bad-option", what)
    two = two_systems(outcomes, baseline, candidate, condition=condition, margin=margin, **options)
    settings, base = two.analysis.settings, float(two.baseline.rate.mean())
    if drop is not None and drop > base:
        what = f"--drop must be at most the baseline's score, {points(base)}, not {100 * drop:g}"
        raise RepevalError("bad-option", what)
    found = gate(
        two.baseline, two.candidate, margin=margin, question=question, looks=looks,
        unsure=unsure, drop=drop, level=settings.level, n_resamples=settings.n_resamples,
        rng=settings.seed, clusters=two.clusters,
    )  # fmt: skip
    means = base, float(two.candidate.rate.mean())
    return Gated(baseline, candidate, two.condition, found, means, two.analysis)


def times(share: float) -> str:
    """Return how many of 100 times; some is never said to be none, or all."""
    if share < 0.005:
        return "less than 1"
    return "more than 99" if share >= 0.995 else str(round(100 * share))


def _points(fraction: float) -> str:
    """Return points that a person typed, as they were."""
    return f"{round(100 * fraction, 6):g}"
