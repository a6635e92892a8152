"""How often two equally good systems are told apart: the true size of a paired comparison."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from repeval.stats.comparison import exact_comparisons
from repeval.stats.components import components, difference_components
from repeval.stats.resampling import keyed_generator
from repeval.stats.sample import from_counts

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

SIZES = {"quick": {"datasets": 2000, "pieces": 2}, "full": {"datasets": 2000, "pieces": 20}}
LEVEL = 0.95
ALIKE, TWICE = "as alike as the median pair of neighbours", "one system run twice"


def tasks(outcomes: Outcomes, pieces: int, **_: Any) -> list[tuple[Any, ...]]:
    """Return pieces of two null hypotheses: their name, N, R, α, β and the share of problems alike.

    On a share of the problems both systems have one pass rate, elsewhere two of the same Beta. The
    Beta has the median components of the data; the share gives the difference its median ceiling.
    """
    condition = outcomes.source.default_condition
    samples, problems = outcomes.common(condition)
    known = {model: components(sample) for model, sample in samples.items()}
    clean = [c for model, c in known.items() if model not in outcomes.source.excluded]
    ranked = sorted(known, key=lambda model: -known[model].mean)
    pairs = [difference_components(samples[a], samples[b]) for a, b in pairwise(ranked)]
    ceiling = median(c.ceiling for c in pairs)
    noise = median(c.within for c in clean) / median(c.between for c in clean)
    mean = median(c.mean for c in clean)
    about = len(problems), clean[0].n_runs, mean * noise, (1 - mean) * noise
    # Problems alike add noise to the difference and no spread: noise/(1 - share) = ceiling - 1.
    nulls = {ALIKE: max(0.0, 1 - noise / (ceiling - 1)), TWICE: 1.0}
    return [
        (f"{null}, {piece}", null, *about, share)
        for null, share in nulls.items()
        for piece in range(pieces)
    ]


def rows(task: tuple[Any, ...], seed: int, datasets: int, **_: Any) -> list[dict[str, Any]]:
    """Draw data sets in which neither system is better, and compare by both exact laws.

    Returns
    -------
    list of dict
        One for each law: of `datasets`, how many tell the two `apart`, and the mean `width`.
    """
    key, null, n, runs, alpha, beta, share = task
    rng = keyed_generator(seed, "pairsize", key)
    p, q = rng.beta(alpha, beta, (2, datasets, n))
    q = np.where(rng.random(p.shape) < share, p, q)
    drawn = (map(lambda k: from_counts(k, runs), rng.binomial(runs, rates)) for rates in (p, q))
    pairs = list(zip(*drawn, strict=True))
    table = []
    for law in ("one_level", "two_level"):
        found = exact_comparisons(pairs, law, LEVEL)
        width = sum(c.interval.high - c.interval.low for c in found) / datasets
        apart = sum(c.resolved for c in found)
        table.append(
            {"null": null, "law": law, "datasets": datasets, "apart": apart, "width": width}
        )
    return table
