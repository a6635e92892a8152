"""VC Appendix F: ranks under the paired two-level bootstrap, ties sharing the better rank."""

from __future__ import annotations

import math
import re

from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.stats.ranking import ranks_of, resampled_scores
from repeval.stats.resampling import keyed_generator

RESAMPLES = 20_000


# Before the pattern that would take its id.
@claim("vc-af-top1-sum")
def total(_: Results) -> float:
    """Add up the three shares as printed."""
    return sum(paper()[f"vc-af-top1-{m}"].value for m in ("gemini31pro", "o4mini", "deepseekr1"))


@claim("vc-af-top1-{slug}")
def first(r: Results, slug: str) -> tuple[float, float]:
    """Resample problems, then runs, 20,000 times; count how often no other score is higher."""
    samples = r.outcomes.common(r.condition)[0]
    slugs = [re.sub(r"[^a-z0-9]", "", model.lower()) for model in samples]
    # One key for all models: their shares come from the same resamples.
    rng = keyed_generator(r.analysis.settings.seed, "vc-af-top1")
    draws = resampled_scores([*samples.values()], "two_level", RESAMPLES, rng)
    share = float((ranks_of(draws)[:, slugs.index(slug)] == 1).mean())
    return share, math.sqrt(share * (1 - share) / RESAMPLES)


@claim("vc-af-haiku-exact")
def settled(r: Results) -> list[str]:
    """Name the models whose two-level rank interval holds one rank."""
    rows = [row for row in r.analysis.ranks if row.condition == r.condition]
    ends = {row.model: row.two_level.rank_interval for row in rows}
    return [model for model, (low, high) in ends.items() if low == high]


claim("vc-af-comparisons")(lambda r: len(r.adjacent))
