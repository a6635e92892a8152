"""The variance-ceiling paper's account of its data (VC section 4), counted."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from repeval.claims.ledger import claim
from repeval.claims.results import Results
from repeval.notices import RepevalError


def _requests(r: Results) -> int:
    data = r.whole
    return len(data.models) * len(data.conditions) * len(data.problems) * r.n_runs


def _difficulty(r: Results) -> Any:
    if "difficulty" not in r.whole.labels:
        raise RepevalError("claims-other-data", "the data have no column difficulty")
    return r.whole.labels["difficulty"].astype(str).str.lower()


_COUNTS = {
    "vc-s4-models": ("Count the systems.", lambda r: len(r.outcomes.models)),
    "vc-s4-excluded": (
        "Count the systems left out of pooled statistics.",
        lambda r: len(r.systems()) - len(r.clean()),
    ),
    "vc-s4-n-collected": (
        "Count the problems before any is dropped.",
        lambda r: len(r.whole.problems),
    ),
    "vc-s4-runs": ("Take the runs per problem, which all systems share.", lambda r: r.n_runs),
    "vc-s4-requests": ("Multiply systems, conditions, problems and runs.", _requests),
    "vc-s4-judged": (
        "Count the judged runs before any problem is dropped.",
        lambda r: len(r.whole.frame),
    ),
    "vc-s4-missing": (
        "Subtract the judged runs from those called for.",
        lambda r: _requests(r) - len(r.whole.frame),
    ),
    "vc-s4-n-common": (
        "Count the problems that every system ran in full.",
        lambda r: len(r.outcomes.problems),
    ),
    "vc-s4-analysed": ("Count the runs on those problems.", lambda r: len(r.outcomes.frame)),
}
for _key, (_how, _function) in _COUNTS.items():
    claim(_key, how=_how)(_function)


@claim("vc-s4-id-range")
def id_range(r: Results) -> list[int]:
    """Read the first and the last problem number off the ids."""
    if r.outcomes.source.basis == "stand-in":
        raise RepevalError("claims-other-data", "the stand-in's problem numbers are invented")
    numbers = [int(number) for p in r.whole.problems if (number := re.sub(r"\D", "", p))]
    return [min(numbers), max(numbers)]


@claim("vc-s4-difficulty")
def difficulty(r: Results) -> list[int]:
    """Count the problems of each difficulty, easiest first."""
    tiers = Counter(_difficulty(r))
    return [tiers[tier] for tier in ("easy", "medium", "hard")]


@claim("vc-s4-hard-dropped")
def hard_dropped(r: Results) -> int:
    """Count the hard problems that the complete-case rule drops."""
    return int((_difficulty(r).drop(list(r.outcomes.problems)) == "hard").sum())


@claim("vc-s4-max-change")
def max_change(r: Results) -> float:
    """Compare every score before and after the incomplete problem is dropped, in points."""
    kept, whole = r.outcomes, r.whole
    return 100 * max(
        abs(kept.system(m, c).rate.mean() - whole.system(m, c).rate.mean())
        for c in kept.conditions
        for m in kept.models
    )
