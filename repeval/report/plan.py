"""What `repeval plan` answers: what to buy next, more problems, more runs, or both."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from repeval.io.keys import check_names
from repeval.io.readers.base import Usage
from repeval.messages import RepevalError, refused, some
from repeval.report.analysis import analyze
from repeval.report.compute import Answers
from repeval.report.following import Asked, Next
from repeval.report.format import count
from repeval.report.summary import NEW
from repeval.report.summary import width as width_of
from repeval.report.versus import two_systems
from repeval.stats.components import components
from repeval.stats.design.plan import planned, way
from repeval.stats.design.separate import sample_stock, separation
from repeval.stats.pairs.decision import FEWEST
from repeval.stats.pairs.looks import MOST_LOOKS
from repeval.stats.pairs.power import POWER

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

__all__ = ["what_next"]

#: Differences that people ask for where they name none.
DIFFERENCES = (0.01, 0.02, 0.03, 0.05)
#: New problems; more than anybody has.
MOST = 10_000_000
#: The observed difference is an aim only if it is not next to nothing.
LEAST_AIM = 0.005


def what_next(
    outcomes: Outcomes,
    *,
    model: str | None = None,
    condition: str | None = None,
    problem_cost: float | None = None,
    run_cost: float | None = None,
    budget: float | None = None,
    width: float | None = None,
    separate: Sequence[str] | None = None,
    difference: float | None = None,
    power: float = POWER,
    looks: int = 1,
    usage: Mapping[str, Usage] | None = None,
    **options: Any,
) -> Next:
    """Say what to buy next.

    Parameters
    ----------
    outcomes : Outcomes
    model : str, optional
        The system to plan for; by default the one whose run noise over difficulty spread is the
        middle one of those that count.
    condition : str, optional
        The first by default.
    problem_cost, run_cost : float, optional
        Of a new problem without runs, and of one run of it; 0 and 1 by default.
    budget, width : float, optional
        See `repeval.plan`.
    separate : (str, str), optional
        Two models that are to be told apart on new problems.
    difference : float, optional
        That is to be seen.
    power, looks
        See `repeval.stats.design.separate.separation`.
    usage : mapping of str to Usage, optional
        By model what logs state that runs cost, for where `run_cost` is not given.
    **options
        Of `repeval.analyze`: level, n_resamples, seed, cluster.

    Raises
    ------
    RepevalError
        For unknown names, options out of range or against each other, a budget that buys nothing,
        and data in which no problem was run twice, or nothing varied.

    Examples
    --------
    >>> import repeval
    >>> from repeval.report.plan import what_next
    >>> outcomes = repeval.load({
    ...     "model": ["A"] * 16,
    ...     "problem": [*range(8)] * 2,
    ...     "run": [1] * 8 + [2] * 8,
    ...     "outcome": [1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0],
    ... })
    >>> found = what_next(outcomes, problem_cost=5, budget=60)
    >>> found.single()
    'Going from 2 runs to 1 saves 50 % of the runs and widens the interval by 14 %.'
    """
    asked = Asked(problem_cost, run_cost, budget, width, difference, power, looks)
    _check(asked, separate, model)
    priced = functools.partial(_with_usage, asked, usage or {})
    if separate:
        return _told_apart(outcomes, priced, separate, condition, options)
    condition = condition or outcomes.main_condition
    check_names("unknown-condition", [condition], outcomes.conditions)
    model, among, steady = _middle(outcomes, condition, options.get("cluster"), model)
    one = outcomes.select(models=[model], conditions=[condition])
    analysis = analyze(one, **options)
    row = analysis.system(model, condition)
    asked = priced([model])
    sample, problems = one.system(model, condition), one.system_problems(model, condition)
    at_hand = sample_stock(sample, clusters=Answers(one, analysis.settings).clusters(problems))
    if len(sample) < FEWEST:
        raise refused("few-to-plan", f"{model} ran {count(len(sample), 'problem')}.")
    shown = width_of(row, NEW)
    prices = asked.prices(1)
    least = min(prices.problem + prices.run, len(sample) * prices.run)
    if budget is not None and budget < least:
        what = f"--budget {budget:g} buys neither a problem with a run, nor a run of each at hand"
        raise RepevalError("bad-option", f"{what}; the cheaper of the two costs {least:g}.")
    if budget is not None and budget > MOST * (prices.problem + prices.run):
        what = f"--budget {budget:g} buys more than {MOST:,} problems with a run each"
        raise RepevalError("bad-option", f"{what}: that is no plan.")
    if budget is None and width is None:
        budget = len(sample) * (prices.problem + at_hand.runs_mean * prices.run)
    variance = width and at_hand.now * (width / shown) ** 2
    plan = planned(at_hand, prices, way(prices, budget, variance), level=analysis.settings.level)
    return Next(
        (model,), among, condition, asked, budget, plan, (), shown, at_hand,
        row.ceiling_interval, None, analysis, steady,
    )  # fmt: skip


def _told_apart(
    outcomes: Outcomes,
    priced: Callable[[Sequence[str]], Asked],
    names: Sequence[str],
    condition: str | None,
    options: dict[str, Any],
) -> Next:
    """Say what it takes to tell two systems apart."""
    asked = priced(names)
    two = two_systems(outcomes, *names, condition=condition, **options)
    row, level = two.row, two.analysis.settings.level
    pair = two.baseline, two.candidate
    if row.within is None:
        once = [m for m, s in zip(names, pair, strict=True) if s.runs.max() == 1]
        raise refused("needs-pilot", f"{' and '.join(once)}: no problem was run twice.")
    aims = [asked.difference]
    if asked.difference is None:
        aims = sorted({*DIFFERENCES, *[row.difference][: row.difference >= LEAST_AIM]})
    prices = asked.prices(2)
    found = tuple(
        separation(
            *pair, aim, prices, level=level, power=asked.power, looks=asked.looks,
            clusters=two.clusters,
        )
        for aim in aims
    )  # fmt: skip
    shown = row.interval and row.interval[1] - row.interval[0]
    return Next(
        tuple(names), 1, two.condition, asked, None, found[0].plan, found, shown,
        sample_stock(*pair, clusters=two.clusters), row.ceiling_interval, row.difference,
        two.analysis,
    )  # fmt: skip


def _with_usage(asked: Asked, usage: Mapping[str, Usage], models: Sequence[str]) -> Asked:
    """Fill in what logs state of the models' runs: the price of one, if none was given."""
    used = [usage.get(m, Usage()) for m in models]
    costs = [u.cost / u.priced for u in used if u.cost > 0]
    tokens = [u.tokens / u.counted for u in used if u.tokens > 0]
    if len(tokens) == len(models):
        asked = replace(asked, tokens=statistics.fmean(tokens))
    if asked.run_cost is None and len(costs) == len(models):
        asked = replace(asked, run_cost=statistics.fmean(costs), run_cost_stated=True)
    return asked


def _middle(
    outcomes: Outcomes, condition: str, cluster: str | None, model: str | None
) -> tuple[str, int, tuple[str, ...]]:
    """Return the model to plan for, of how many it is the middle one, and those that never vary."""
    names = [m for m in outcomes.models if outcomes.has(m, condition)]
    if model is not None:
        check_names("unknown-model", [model], names)
        names = [model]
    excluded = outcomes.source.excluded
    names = [m for m in names if m not in excluded] or names
    asked = Answers.asked(outcomes, 0.95, 2000, 0, cluster)
    parts = {}
    for m in names:
        if outcomes.system(m, condition).runs.max() > 1 and len(outcomes.system(m, condition)) > 1:
            groups = asked.clusters(outcomes.system_problems(m, condition))
            parts[m] = components(outcomes.system(m, condition), clusters=groups)
    if not parts:
        raise refused("needs-pilot", f"{some(names)}: no problem was run twice.")
    ratios = {m: c.ceiling for m, c in parts.items() if not math.isnan(c.ceiling)}
    if not ratios:
        raise refused("nothing-varied", f"{some(parts)}: every run of every problem ended alike.")
    middle = statistics.median_low(ratios.values())
    steady = tuple(m for m in parts if m not in ratios)
    return next(m for m, value in ratios.items() if value == middle), len(ratios), steady


def _check(asked: Asked, separate: Sequence[str] | None, model: str | None) -> None:
    """Refuse options out of range, and those that go against each other."""

    def need(fits: bool, what: str) -> None:
        if not fits:
            raise RepevalError("bad-option", what)

    aims = {"--budget": asked.budget, "--width": asked.width, "--separate": separate}
    given = [name for name, value in aims.items() if value is not None]
    need(len(given) < 2, f"{' and '.join(given)} are two aims: choose one")
    need(separate is None or model is None, "--model and --separate name systems: choose one")
    need(separate is not None or asked.difference is None, "--difference belongs to --separate")
    need(separate is not None or asked.looks == 1, "--looks belongs to --separate")
    for name, value in (("--problem-cost", asked.problem_cost), ("--budget", asked.budget)):
        least = "above 0" if name == "--budget" else "0 or more"
        fits = value is None or (0 < value < math.inf or (value == 0 and least == "0 or more"))
        need(fits, f"{name} must be {least}, not {value}")
    need(
        asked.run_cost is None or 0 < asked.run_cost < math.inf,
        f"--run-cost must be above 0, not {asked.run_cost}",
    )
    for name, value in (("--width", asked.width), ("--difference", asked.difference)):
        need(value is None or 0 < value < 1, f"{name} must lie between 0 and 100 points")
    need(0 < asked.power < 1, f"--power must lie between 0 and 1, not {asked.power}")
    need(1 <= asked.looks <= MOST_LOOKS, f"--looks must be from 1 to {MOST_LOOKS}")
