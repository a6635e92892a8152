"""How often rank intervals and rank sets hold the true rank, where systems are close and where not.

Made-up systems share the difficulty of all but one in `OWN` problems. The best system loses none of
its passes, each further one a few more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from repeval.stats.ranking import rank
from repeval.stats.resampling import keyed_generator
from repeval.stats.sample import from_counts

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

SYSTEMS, PROBLEMS, RUNS = 10, 100, 5
BETA, OWN = (0.6, 0.4), 3
# True score of the first less that of the last.
SPREADS = (0.005, 0.04, 0.4)
SIZES = {"quick": {"sets": 60, "resamples": 400}, "full": {"sets": 1000, "resamples": 1000}}


def tasks(outcomes: Outcomes | None, sets: int, resamples: int) -> list[tuple[str, float]]:
    """Return a piece for each spread of the true scores."""
    return [(f"{spread}", spread) for spread in SPREADS]


def rows(task: tuple[str, float], seed: int, sets: int, resamples: int) -> list[dict[str, Any]]:
    """Return for each kind of interval and true rank how many of the data sets' hold that rank.

    `length` is the mean number of ranks in them.
    """
    key, spread = task
    rng = keyed_generator(seed, "rank_coverage", key)
    keep = 1 - np.linspace(0, spread, SYSTEMS)[:, None] / (BETA[0] / sum(BETA))
    true = np.arange(1, SYSTEMS + 1)
    found: dict[str, list[np.ndarray]] = {"one_level": [], "two_level": [], "set": []}
    for _ in range(sets):
        own = rng.random((SYSTEMS, PROBLEMS)) < 1 / OWN
        p = np.where(own, rng.beta(*BETA, own.shape), rng.beta(*BETA, PROBLEMS)) * keep
        systems = [from_counts(k, RUNS) for k in rng.binomial(RUNS, p)]
        for name in ("one_level", "two_level"):
            r = rank(systems, name=name, n_resamples=resamples, rng=rng)
            found[name].append([r.low, r.high])
            if name == "one_level":
                found["set"].append([r.set_low, r.set_high])
    table = []
    for kind, limits in found.items():
        low, high = np.array(limits).transpose(1, 0, 2)
        held, length = ((low <= true) & (true <= high)).sum(axis=0), (high - low + 1).mean(axis=0)
        table += [
            {"spread": spread, "kind": kind, "rank": i, "sets": sets, "held": int(h), "length": n}
            for i, h, n in zip(true.tolist(), held, length.tolist(), strict=True)
        ]
    return table
