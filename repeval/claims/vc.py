"""The variance-ceiling paper's figures (VC 3, 5.1 to 5.3, Appendix D) from an analysis."""

from __future__ import annotations

import math
import re
import statistics
from typing import Any

import numpy as np

from repeval.allocation import cost_ratio_for, optimal_runs, relative_width
from repeval.betabinomial import fit_beta_binomial
from repeval.claims.ledger import LATER, Estimate, claim
from repeval.claims.results import Results
from repeval.ranking import resampled_scores
from repeval.rng import keyed_generator

LATER.update(
    {
        "vc-s52-n50-band": "Appendix H",
        "vc-s53-": "Appendix E",
        "vc-t6-": "Appendix D",
    }
)


def _width_ratio(wide: str, narrow: str) -> Any:
    def ratio(row: Any) -> float:
        (a, b), (c, d) = row.intervals[wide], row.intervals[narrow]
        return (b - a) / (d - c)

    return ratio


def _unresolved(pairs: list[Any]) -> list[int]:
    return [sum(not p.two_level.resolved for p in pairs), len(pairs)]


def _spans(r: Results) -> list[int]:
    """Positions of the two-level rank intervals, both ends included."""
    return [hi - lo + 1 for lo, hi in (row.two_level.rank_interval for row in r.ranks)]


def _wide_spans(r: Results) -> list[int]:
    wide = [span for span in _spans(r) if span > 1]
    return [min(wide), max(wide)]


def _shifts(r: Results) -> list[float]:
    """Absolute difference of the ceilings under both conditions, clean systems."""
    (other,) = (c for c in r.outcomes.conditions if c != r.condition)
    there = {row.model: row.ceiling for row in r.clean(other)}
    return [abs(row.ceiling - there[row.model]) for row in r.clean()]


def _ratio(r: Results) -> float:
    return r.median(lambda s: s.within) / r.median(lambda s: s.between)


def _ratio_alt(r: Results) -> float:
    return r.median(lambda s: s.within / s.between)


def _cost(r: Results) -> float:
    """Return the cost ratio at which the runs made are the continuous optimum."""
    return cost_ratio_for(_ratio(r), r.n_runs)


def _excess(r: Results, factor: float) -> float:
    """Return the excess width of the runs made over R* where problems cost `factor` times more."""
    return float(relative_width(r.n_runs, _ratio(r), factor * _cost(r))) - 1


_MEDIAN = "Take the median over the clean systems."
_LARGEST = "Take the largest over the clean systems."
_WIDTHS = "Divide the two-level by the pooled Wilson width, over the clean systems."
_FIGURES = {
    "vc-s3-positive": (
        "Count the systems with a positive between-problem variance.",
        lambda r: [sum(s.between > 0 for s in r.systems()), len(r.systems())],
    ),
    # Section 5.1: intervals, pairs and ranks
    "vc-s51-pooled-n": (
        "Multiply problems and runs.",
        lambda r: len(r.outcomes.problems) * r.n_runs,
    ),
    "vc-s51-narrow-median": (
        _WIDTHS,
        lambda r: r.median(_width_ratio("two_level", "pooled_wilson")),
    ),
    "vc-s51-narrow-range": (
        _WIDTHS,
        lambda r: r.extremes(_width_ratio("two_level", "pooled_wilson")),
    ),
    "vc-s51-wide-median": (
        "Divide the pooled Wilson by the fixed-benchmark width, over the clean systems.",
        lambda r: r.median(_width_ratio("pooled_wilson", "fixed_normal")),
    ),
    "vc-s51-icc-median": (_MEDIAN, lambda r: r.median(lambda s: s.icc)),
    "vc-s51-deff-pred": (
        "Take the root of the design effect at the median ICC.",
        lambda r: math.sqrt(1 + (r.n_runs - 1) * r.median(lambda s: s.icc)),
    ),
    "vc-s51-unresolved": (
        "Count neighbours whose two-level interval, by the exact law, includes zero.",
        lambda r: _unresolved(r.adjacent),
    ),
    "vc-s51-top-three": (
        "Count the unresolved among the first two pairs of neighbours.",
        lambda r: _unresolved(r.adjacent[:2]),
    ),
    "vc-s51-resolved-pairs": (
        "List neighbours whose two-level interval excludes zero, best first.",
        lambda r: [f"{p.model_a} > {p.model_b}" for p in r.adjacent if p.two_level.resolved],
    ),
    "vc-s51-rank-span": (
        "Count positions, both ends included, of two-level rank intervals beyond one rank.",
        _wide_spans,
    ),
    "vc-s51-rank-single": (
        "Count two-level rank intervals of a single rank.",
        lambda r: _spans(r).count(1),
    ),
    # Section 5.2: components
    "vc-s52-ceiling-median": (_MEDIAN, lambda r: r.median(lambda s: s.ceiling)),
    "vc-s52-ceiling-min": (
        "Take the smallest over the clean systems.",
        lambda r: r.extremes(lambda s: s.ceiling)[0],
    ),
    "vc-s52-ceiling-max": (_LARGEST, lambda r: r.extremes(lambda s: s.ceiling)[1]),
    "vc-s52-aleatoric-median": (_MEDIAN, lambda r: r.median(lambda s: s.aleatoric_share)),
    "vc-s52-aleatoric-range": (
        "Take the extremes over the clean systems.",
        lambda r: r.extremes(lambda s: s.aleatoric_share),
    ),
    "vc-s52-narrowing-median": (
        "Put the median ceiling into 1 - 1/sqrt(ceiling).",
        lambda r: 1 - 1 / math.sqrt(r.median(lambda s: s.ceiling)),
    ),
    "vc-s52-narrowing-max": (_LARGEST, lambda r: r.extremes(lambda s: s.max_narrowing)[1]),
    "vc-s52-unanimous-16": (
        "Average over all systems the share of problems with one verdict on every run.",
        lambda r: statistics.mean(s.constant_share for s in r.systems()),
    ),
    "vc-s52-unanimous-14": (
        "Average over the clean systems the share of problems with one verdict on every run.",
        lambda r: statistics.mean(s.constant_share for s in r.clean()),
    ),
    "vc-s52-shift-median": (_MEDIAN, lambda r: statistics.median(_shifts(r))),
    "vc-s52-shift-max": (_LARGEST, lambda r: max(_shifts(r))),
    # Section 5.3: what to buy, always from unrounded ratios
    "vc-s53-ratio-of-medians": ("Divide the medians over the clean systems.", _ratio),
    "vc-s53-median-ratio": (_MEDIAN, _ratio_alt),
    "vc-s53-rstar-coef": (
        "Take R* at equal costs from the unrounded ratio.",
        lambda r: optimal_runs(_ratio(r), 1),
    ),
    "vc-s53-rstar-coef-alt": (
        "Take R* at equal costs from the unrounded ratio.",
        lambda r: optimal_runs(_ratio_alt(r), 1),
    ),
    "vc-s53-breakeven": (
        "Find the cost ratio at which R* is 1.",
        lambda r: cost_ratio_for(_ratio(r), 1),
    ),
    "vc-s53-r5-optimal": ("Find the cost ratio at which R* is the number of runs made.", _cost),
    "vc-s53-r5-optimal-alt": (
        "Find the cost ratio at which R* is the number of runs made.",
        lambda r: cost_ratio_for(_ratio_alt(r), r.n_runs),
    ),
    "vc-s53-rstar-10x": (
        "Take R* at ten times that cost ratio; the ratio of components cancels.",
        lambda r: optimal_runs(_ratio(r), 10 * _cost(r)),
    ),
    "vc-s53-rstar-tenth": (
        "Take R* at a tenth of that cost ratio; the ratio of components cancels.",
        lambda r: optimal_runs(_ratio(r), _cost(r) / 10),
    ),
    "vc-s53-penalty-10x": (
        "Compare the widths at the runs made and at R*, problems ten times dearer.",
        lambda r: _excess(r, 10),
    ),
    "vc-s53-penalty-tenth": (
        "Compare the widths at the runs made and at R*, problems ten times cheaper.",
        lambda r: _excess(r, 0.1),
    ),
}
for _key, (_how, _function) in _FIGURES.items():
    claim(_key, how=_how)(_function)


@claim("vc-s51-p-gpt41")
def lead_of_pair(r: Results) -> float:
    """Take the share of two-level resamples, by the exact law, in which the first leads."""
    a, b = re.search(r"P\((.+?) > (.+?)\)", r.paper["vc-s51-p-gpt41"].quantity).groups()
    pair = r.analysis.pair(r.condition, a, b)
    law = pair.two_level
    return law.p_greater if pair.model_a == a else 1 - law.p_greater - law.p_tie


@claim("vc-s51-seeds-13")
def seeds_with_one_more(r: Results) -> Estimate:
    """Repeat the paper's Monte Carlo with as many seeds; count those with one pair more."""
    n_seeds, replicates = r.paper["vc-s51-seeds-13"].value[1], r.paper["vc-ad-B"].value
    one_more = r.paper["vc-s51-unresolved"].value[0] + 1
    samples = r.outcomes.common(r.condition)[0]
    ordered = [samples[m] for m in (r.adjacent[0].model_a, *(p.model_b for p in r.adjacent))]
    more = 0
    for seed in range(n_seeds):
        rng = keyed_generator(r.analysis.settings.seed, "vc-s51-seeds-13", seed)
        draws = resampled_scores(ordered, "two_level", replicates, rng)
        # Equal totals may leave a difference of 1e-17.
        gaps = np.round(draws[:, :-1] - draws[:, 1:], 12)
        low, high = np.quantile(gaps, [0.025, 0.975], axis=0, method="inverted_cdf")
        more += int(((low <= 0) & (high >= 0)).sum()) == one_more
    share = more / n_seeds
    return Estimate([more, n_seeds], math.sqrt(n_seeds * share * (1 - share)))


@claim("vc-s51-pooled-separates")
def pooled_separates(r: Results) -> int:
    """Count neighbours whose pooled Wilson intervals do not overlap."""
    limits = {s.model: s.intervals["pooled_wilson"] for s in r.systems()}
    return sum(limits[p.model_a][0] > limits[p.model_b][1] for p in r.adjacent)


@claim("vc-s53-flat-side")
def flat_side(r: Results) -> str:
    """Compare the excess width at R* times, and R* divided by, 2, 3 and 10."""
    factors = np.array([2.0, 3.0, 10.0])
    over, under = (
        relative_width(r.n_runs * f, _ratio(r), _cost(r)) for f in (factors, 1 / factors)
    )
    if np.allclose(over, under, rtol=1e-9):
        return "neither: symmetric in log(R/R*) at given prices"
    return "over-repetition" if (over < under).all() else "under-repetition"


@claim("vc-t6-icc-{slug}")
def matched_icc(r: Results, slug: str) -> float:
    """Match a Beta to the mean and the between-problem variance; ICC is 1/(1+alpha+beta)."""
    model = fit_beta_binomial(r.outcomes.system(r.named(slug).model, r.condition), method="paper")
    return 1 / (1 + model.alpha + model.beta)


@claim("vc-ad-inflation")
def inflation(r: Results) -> list[float]:
    """Put the matched ICCs of the simulated systems into the formula."""
    n_runs, values = r.n_runs, []
    for slug in (key.removeprefix("vc-t6-icc-") for key in r.paper if "vc-t6-icc-" in key):
        noise = (1 / matched_icc(r, slug) - 1) / n_runs
        values.append(math.sqrt(1 + (n_runs - 1) / n_runs * noise / (1 + noise)) - 1)
    return [min(values), max(values)]


@claim("vc-ad-cov-{interval}")
def coverage_range(r: Results, interval: str) -> list[float]:
    """Take the extremes of the paper's own Table 6."""
    cell = rf"vc-t6-\w+-{interval}-{'pbar' if interval.startswith('c') else 'mu'}"
    cells = [c.value for key, c in r.paper.items() if re.fullmatch(cell, key)]
    return [min(cells), max(cells)]


@claim("vc-t6-mcse")
def coverage_error(r: Results) -> float:
    """Put 95% and the number of data sets into the binomial standard error."""
    return 100 * math.sqrt(0.95 * 0.05 / r.paper["vc-t6-datasets"].value)
