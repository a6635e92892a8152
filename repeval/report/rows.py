"""The rows of an analysis: attributes are named as in the JSON `repeval/analysis/2`.

None stands for a figure the data do not give; a notice then says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from repeval.stats.comparison import HalfWidths

Limits = tuple[float | None, float | None] | None
Spread = tuple[float | None, float | None, float | None]


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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Fixed:
    """The same comparison on exactly these problems."""

    interval: Limits
    resolved: bool | None
    method: str
    mdd: float | None
    mdd_assumes: str


@dataclass(frozen=True)
class Pooled:
    """The two-proportion test that counts all runs as independent."""

    z: float | None
    resolved: bool | None


@dataclass(frozen=True)
class Law:
    """The same comparison by a bootstrap law, read plainly."""

    interval: Limits
    p_greater: float
    p_tie: float
    resolved: bool | None


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True, kw_only=True)
class Pair(Difference):
    """Two models under one condition, `model_a` the one with the higher score."""

    condition: str
    model_a: str
    model_b: str
    adjacent: bool


@dataclass(frozen=True, kw_only=True)
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
