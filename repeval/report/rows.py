"""The rows of an analysis: attributes are named as in the JSON `repeval/analysis/2`.

None stands for a figure the data do not give; a notice then says why. Rows of which there may be
many have slots: they take a third of the memory.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from repeval.stats.comparison import Comparison, HalfWidths
from repeval.stats.components import Components
from repeval.stats.intervals import Interval
from repeval.stats.pairs import reruns
from repeval.stats.profile import narrowing_limits
from repeval.stats.sample import ROUNDING, TOGETHER, IntArray, Sample, differences, of_pairs
from repeval.stats.sample import Pair as SamplePair

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

# All pairs up to this many systems in a condition, adjacent ones beyond.
ALL_PAIRS = 200
MOST_PAIRS = math.comb(ALL_PAIRS, 2)

Limits = tuple[float | None, float | None] | None
Spread = tuple[float | None, float | None, float | None]


def known_or_none(value: float) -> float | None:
    """Return the figure, None where it is undefined or infinite."""
    return float(value) if math.isfinite(value) else None


def limits_of(low: float, high: float) -> Limits:
    """Return two limits, None where there are none."""
    return None if math.isnan(low) else (known_or_none(low), known_or_none(high))


def columns(row: Any) -> dict[str, Any]:
    """Return the attributes of a row by name; rows in it stay rows."""
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


@dataclass(frozen=True)
class Settings:
    """What the analysis was asked for."""

    level: float
    n_resamples: int
    seed: int
    cluster: str | None
    policy: dict[str, Any]


@dataclass(frozen=True)
class Macro:
    """The mean of a model's scores over groups of problems, each group with the same weight."""

    model: str
    condition: str
    n_groups: int
    mean: float
    interval: Limits
    method: str


@dataclass(frozen=True)
class System:
    """One model under one condition.

    `all_right` is the share of problems expected to pass on all of `Summary.fewest_runs` runs, one
    number for all systems of a condition; `retry_free` is on all of a problem's own runs.
    """

    model: str
    condition: str
    n_problems: int
    n_runs: int | None
    runs_range: tuple[int, int]
    runs_harmonic: float
    n_clusters: int | None
    mean: float
    missing_bounds: tuple[float, float] | None
    within: float | None
    between: float | None
    icc: float | None
    icc_interval: Limits
    ceiling: float | None
    ceiling_interval: Limits
    ceiling_interval_percentile: Limits
    ceiling_undefined: float | None
    max_narrowing: float | None
    max_narrowing_interval: Limits
    remaining_narrowing: float | None
    remaining_narrowing_interval: Limits
    aleatoric_share: float | None
    design_effect: float | None
    two_level_inflation: float | None
    retry_free: float | None
    all_right: float | None
    constant_share: float | None
    alpha: float | None
    beta: float | None
    rerun_interval: Limits
    intervals: dict[str, Limits]
    methods: dict[str, str]


@dataclass(frozen=True, slots=True)
class Flips:
    """On how many problems one system's pass rate is higher than the other's, and which stand out.

    `by_chance` is how many each would win by run noise alone, were the two equally good on every
    problem; `a_separated` and `b_separated` are the problems on which that system is better by more
    than run noise, of which `by_chance_separated` are expected to be there by run noise.
    """

    a_better: int
    b_better: int
    same: int
    by_chance: float | None
    a_separated: tuple[str, ...]
    b_separated: tuple[str, ...]
    by_chance_separated: float | None


@dataclass(frozen=True, slots=True)
class Fixed:
    """The same comparison on exactly these problems."""

    interval: Limits
    resolved: bool | None
    method: str
    mdd: float | None
    mdd_assumes: str


@dataclass(frozen=True, slots=True)
class Pooled:
    """The two-proportion test that counts all runs as independent."""

    z: float | None
    resolved: bool | None


@dataclass(frozen=True, slots=True)
class Law:
    """The same comparison by a bootstrap law, read plainly."""

    interval: Limits
    p_greater: float
    p_tie: float
    resolved: bool | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """Two systems on their common problems.

    `interval`, `p_value`, `resolved` and `method` are those of the shown procedure, `paired`;
    `p_greater` and `p_tie` are the one-level law's.
    """

    n_problems: int
    mean_a: float
    mean_b: float
    difference: float
    flips: Flips
    interval: Limits
    p_greater: float
    p_tie: float
    p_value: float
    p_adjusted: float | None = None
    resolved: bool | None
    within: float | None
    between: float | None
    icc: float | None
    ceiling: float | None
    ceiling_interval: Limits
    remaining_narrowing: float | None
    remaining_narrowing_interval: Limits
    aleatoric_share: float | None
    two_level_inflation: float | None
    mdd: float | None
    mdd_assumes: str
    half_widths: HalfWidths | None
    problems_factor: float | None
    fixed: Fixed
    one_level: Law
    two_level: Law
    pooled: Pooled
    method: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair(Difference):
    """Two models under one condition, `model_a` the one with the higher score."""

    condition: str
    model_a: str
    model_b: str
    adjacent: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ConditionPair(Difference):
    """One model under two conditions."""

    model: str
    condition_a: str
    condition_b: str


@dataclass(frozen=True)
class TwoLevelRank:
    """Rank figures by the paper's two-level law."""

    rank_interval: tuple[int, int]
    p_first: float
    p_top3: float


@dataclass(frozen=True)
class Rank:
    """Rank of a model among the systems of its condition, and its score, on common problems."""

    condition: str
    model: str
    n_problems: int
    mean: float
    rank: int
    rank_interval: tuple[int, int]
    rank_set: tuple[int, int]
    p_first: float
    p_top3: float
    two_level: TwoLevelRank


@dataclass(frozen=True)
class BreakEven:
    """From which price of a problem on, in runs, a second run pays.

    From scratch, for a score by the ratio of the medians of μ_w and σ_b² and by the median of their
    ratios; for the median difference of two neighbours, where a repetition costs two runs.
    `from_here` is the price above which one more run of a problem beats one more problem with as
    many runs as the others have.
    """

    ratio_of_medians: float | None
    median_of_ratios: float | None
    difference: float | None
    from_here: float | None


@dataclass(frozen=True)
class Summary:
    """Figures over a condition's systems, each (median, min, max); excluded ones left out.

    `noise_ratio` is μ_w/σ_b² as the ratio of medians, `best_between` the prices between which the
    runs at hand are best. `over_pooled` are median widths, for new problems and for these, over
    that of the pooled interval. What is `adjacent` is the median over pairs of neighbours; a
    `limit` is the highest upper limit of one of them, 1 where there is none.
    """

    n_systems: int
    fewest_runs: int
    mean: Spread
    within: Spread | None
    between: Spread | None
    icc: Spread | None
    ceiling: Spread | None
    max_narrowing: Spread | None
    remaining_narrowing: Spread | None
    remaining_narrowing_limit: float | None
    adjacent_resolved: int
    adjacent_total: int
    adjacent_resolved_fixed: int
    adjacent_ceiling: float | None
    adjacent_remaining_narrowing: float | None
    adjacent_remaining_narrowing_limit: float | None
    adjacent_max_narrowing: float | None
    adjacent_mdd: float | None
    noise_ratio: float | None
    break_even: BreakEven
    best_between: tuple[float, float] | None
    over_pooled: tuple[float | None, float | None]


def flips_of(
    pairs: Sequence[SamplePair], problems: Sequence[Sequence[str]], level: float
) -> list[Flips]:
    """Return the problems on which one of two systems scores higher, for K pairs on N each."""

    def ahead(some: Sequence[SamplePair]) -> IntArray:
        d = differences(some)
        return np.stack([(d > ROUNDING).sum(axis=1), (d < -ROUNDING).sum(axis=1)])

    n = len(pairs[0][0])
    counts = [(a, b, n - a - b) for a, b in zip(*of_pairs(ahead, pairs).tolist(), strict=True)]
    found = [Flips(*row, None, (), (), None) for row in counts]
    binary = [i for i, pair in enumerate(pairs) if all(s.binary for s in pair)]
    most = reruns.together([pairs[i] for i in binary]) if binary else 1
    for first in range(0, len(binary), step := max(1, TOGETHER // max(n, most))):
        members = binary[first : first + step]
        apart = reruns.apart([pairs[i] for i in members], level)
        named = [
            [tuple(problems[i][j] for j in np.flatnonzero(row)) if some else () for some, row, i in
             zip(mask.any(axis=1).tolist(), mask, members, strict=True)]
            for mask in (apart.a_better, apart.b_better)
        ]  # fmt: skip
        columns = apart.higher.tolist(), *named, apart.by_chance.tolist()
        for i, higher, a, b, by_chance in zip(members, *columns, strict=True):
            # With one run each, half of what differs is by definition what two equals would give.
            repeated = min(s.distinct_runs[0] for s in pairs[i]) > 1
            chance = known_or_none(higher) if repeated else None
            found[i] = Flips(*counts[i], chance, a, b, by_chance)
    return found


def constant_share(sample: Sample) -> float | None:
    """Return the share of problems whose runs all agree, None where none was repeated."""
    if sample.runs.max() == 1:
        return None
    return float(((sample.passes == 0) | (sample.passes == sample.runs)).mean())


def law_of(result: Comparison) -> Law:
    """Return what a bootstrap law says of a difference."""
    return Law(ends_of(result.interval), result.p_greater, result.p_tie, resolved(result))


def resolved(result: Comparison) -> bool | None:
    """Return whether two systems are told apart, None where there is no verdict."""
    verdict = result.resolved if result.interval.exists else None
    return None if verdict is None else bool(verdict)


def narrowing_left(c: Components, icc_low: float, icc_high: float) -> Limits:
    """Return the limits of `remaining_narrowing` that follow from those of the ICC."""
    # Where no noise was seen, its limit is not zero for that.
    runs = c.within / c.run_noise if c.run_noise > 0 else c.runs_harmonic
    return limits_of(*narrowing_limits(icc_low, icc_high, runs))


def figures(c: Components, *names: str) -> dict[str, float | None]:
    """Return figures of these names, None where they are undefined or infinite."""
    return {name: known_or_none(getattr(c, name)) for name in names}


def ends_of(limits: Interval) -> Limits:
    """Return the limits of an interval, None where it has none."""
    return limits_of(limits.low, limits.high)


def couples(outcomes: Outcomes) -> tuple[dict[tuple[str, str], list[str]], int]:
    """Return which models two conditions are compared for, and how many comparisons are left out.

    All pairs of conditions up to `MOST_PAIRS` in all, beyond only those with the main condition.
    """
    names, of_model = outcomes.conditions, {model: [] for model in outcomes.models}
    place = {condition: i for i, condition in enumerate(names)}
    for model, condition in outcomes.systems:
        of_model[model].append(place[condition])
    total = sum(math.comb(len(conditions), 2) for conditions in of_model.values())
    main = place[outcomes.main_condition] if total > MOST_PAIRS else None
    found: dict[tuple[int, int], list[str]] = {}
    for model, conditions in of_model.items():
        for pair in itertools.combinations(conditions, 2):
            if main is None or main in pair:
                found.setdefault(pair, []).append(model)
    left = total - sum(map(len, found.values()))
    return {(names[i], names[j]): found[i, j] for i, j in sorted(found)}, left
