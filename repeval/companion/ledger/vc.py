"""The variance-ceiling paper's figures (VC 1 to 6, Appendix B) from an analysis."""

from __future__ import annotations

import math
import re
from statistics import median
from typing import Any

import numpy as np

from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.stats.betabinomial import fit_beta_binomial
from repeval.stats.ranking import resampled_scores
from repeval.stats.resampling import keyed_generator


def ends(values: Any) -> list[Any]:
    """Return the smallest and the largest value."""
    values = list(values)
    return [min(values), max(values)]


# What is taken of the clean systems' figures, by the words of the ids.
OF = {"min": min, "median": median, "max": max, "range": ends}


# Section 5.1: intervals, pairs and ranks


def width(r: Results, name: str) -> np.ndarray:
    """Return the width of an interval of every clean system."""
    return np.ptp([limits[name] for limits in r.values("intervals")], axis=1)


def unresolved(pairs: list[Any]) -> list[int]:
    """Count the pairs that the two-level law leaves open, and all."""
    return [sum(not p.two_level.resolved for p in pairs), len(pairs)]


def spans(r: Results) -> list[int]:
    """Return the positions that each two-level rank interval covers, both ends included."""
    rows = [row.two_level for row in r.analysis.ranks if row.condition == r.condition]
    return [hi - lo + 1 for lo, hi in (row.rank_interval for row in rows)]


claim("vc-s51-narrow-range")(lambda r: ends(width(r, "two_level") / width(r, "pooled_wilson")))
claim("vc-s51-icc-{of}", "vc-s2-icc-{of}", "vc-ab-detailed-icc")(
    lambda r, of="median": OF[of](r.values("icc"))
)
claim("vc-s51-deff-pred")(lambda r: math.sqrt(1 + (r.n_runs - 1) * median(r.values("icc"))))
claim(
    "vc-s51-unresolved", "vc-abs-unresolved", "vc-s1-unresolved", "vc-fig1-unresolved",
    "vc-s6-unresolved",
)(lambda r: unresolved(r.adjacent))  # fmt: skip
claim("vc-s51-top-three")(lambda r: unresolved(r.adjacent[:2]))
claim("vc-s51-resolved-pairs")(
    lambda r: [f"{p.model_a} > {p.model_b}" for p in r.adjacent if p.two_level.resolved]
)
claim("vc-s51-rank-span")(lambda r: ends(span for span in spans(r) if span > 1))
claim("vc-s51-rank-single")(lambda r: spans(r).count(1))


@claim("vc-s51-narrow-median", "vc-abs-pooled-too-narrow", "vc-s1-narrow-median")
def too_narrow(r: Results) -> float:
    """Divide the two-level by the pooled Wilson width, median over the clean systems."""
    return median(width(r, "two_level") / width(r, "pooled_wilson"))


@claim("vc-s51-wide-median", "vc-abs-pooled-too-wide", "vc-s1-wide-median")
def too_wide(r: Results) -> float:
    """Divide the pooled Wilson by the fixed-benchmark width, median over the clean systems."""
    return median(width(r, "pooled_wilson") / width(r, "fixed_normal"))


@claim("vc-s6-misstates")
def misstates(r: Results) -> float:
    """Take the two factors, too narrow and too wide; of them the one further from the claim."""
    says = paper()["vc-s6-misstates"].value
    return max(too_narrow(r), too_wide(r), key=lambda factor: abs(factor - says))


@claim("vc-s51-p-gpt41")
def lead_of_pair(r: Results) -> float:
    """Take the share of two-level resamples, by the exact law, in which the first leads."""
    a, b = re.search(r"P\((.+?) > (.+?)\)", paper()["vc-s51-p-gpt41"].quantity).groups()
    pair = r.analysis.pair(r.condition, a, b)
    law = pair.two_level
    return law.p_greater if pair.model_a == a else 1 - law.p_greater - law.p_tie


@claim("vc-s51-seeds-13")
def seeds_with_one_more(r: Results) -> tuple[list[int], float]:
    """Repeat the paper's Monte Carlo with as many seeds; count those with one pair more."""
    n_seeds, replicates = paper()["vc-s51-seeds-13"].value[1], paper()["vc-ad-B"].value
    one_more = paper()["vc-s51-unresolved"].value[0] + 1
    samples = r.outcomes.common(r.condition)[0]
    ordered = [samples[row.model] for row in r.analysis.ranked(r.condition)]
    more = 0
    for seed in range(n_seeds):
        rng = keyed_generator(r.analysis.settings.seed, "vc-s51-seeds-13", seed)
        draws = resampled_scores(ordered, "two_level", replicates, rng)
        # Equal totals may leave a difference of 1e-17.
        gaps = np.round(draws[:, :-1] - draws[:, 1:], 12)
        low, high = np.quantile(gaps, [0.025, 0.975], axis=0, method="inverted_cdf")
        more += int(((low <= 0) & (high >= 0)).sum() == one_more)
    share = more / n_seeds
    return [more, n_seeds], math.sqrt(n_seeds * share * (1 - share))


@claim("vc-s51-pooled-separates")
def pooled_separates(r: Results) -> int:
    """Count neighbours whose pooled Wilson intervals do not overlap."""
    limits = {s.model: s.intervals["pooled_wilson"] for s in r.systems()}
    return sum(limits[p.model_a][0] > limits[p.model_b][1] for p in r.adjacent)


# Appendix B


def minimal(r: Results, name: str) -> np.ndarray:
    """Return a figure of every clean system under the other condition."""
    return r.values(name, next(c for c in r.outcomes.conditions if c != r.condition))


claim("vc-ab-minimal-{name}")(
    lambda r, name: ends(minimal(r, "ceiling")) if name == "range" else median(minimal(r, name))
)


@claim("vc-ab-beta-small")
def largest_shape(r: Results) -> float:
    """Match a Beta to every system as the paper does; take the largest alpha or beta."""
    samples = (r.outcomes.system(model, r.condition) for model in r.outcomes.models)
    fits = [fit_beta_binomial(sample, method="paper") for sample in samples]
    return max(max(fit.alpha, fit.beta) for fit in fits)
