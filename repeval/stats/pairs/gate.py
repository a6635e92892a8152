"""A gate that a candidate passes if it loses less than a margin, and what the gate is worth."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from repeval.stats.components import paired
from repeval.stats.intervals import Interval, check_options
from repeval.stats.pairs import tried
from repeval.stats.pairs.decision import FEWEST
from repeval.stats.pairs.looks import look_alpha
from repeval.stats.pairs.margin import (
    FAIL,
    OPEN,
    PASS,
    QUESTIONS,
    decides,
    drop_limits,
    lost_limit,
    verdicts,
)
from repeval.stats.pairs.tried import Chances, Design
from repeval.stats.resampling import DEFAULT_SEED, as_clusters, as_generator
from repeval.stats.sample import ROUNDING

UNSURE = ("fail", "pass")
#: The drop that a candidate is made up with, where that is more than the margin; else twice that.
DROP = 0.05


@dataclass(frozen=True)
class Gate:
    """What a gate says of a candidate, and what it is worth.

    Attributes
    ----------
    verdict : {"pass", "fail", "cannot tell"}
        Whether a drop of the margin is ruled out, shown, or neither.
    passed : bool
        Whether the candidate is let through: `verdict`, with "cannot tell" as `unsure` says.
    difference : float
        Candidate minus baseline.
    interval : Interval
        Of the difference; each limit is one-sided, wrong in at most `alpha` of all data sets.
    margin : float
    question : {"new", "these"}
    unsure : {"fail", "pass"}
    looks : int
    alpha : float
        One-sided, at each look.
    n_problems : int
    drop : float
        Of the candidate that is made up to see whether it is caught; at most the baseline's score.

    Examples
    --------
    >>> import repeval
    >>> found = repeval.gate(([3, 3, 0, 1, 2, 0] * 9, 3), ([3, 2, 0, 1, 3, 0] * 9, 3), margin=0.08)
    >>> found.verdict, found.passed, round(found.interval.low, 3)
    ('pass', True, -0.062)
    """

    verdict: str
    passed: bool
    difference: float
    interval: Interval
    margin: float
    question: str
    unsure: str
    looks: int
    alpha: float
    n_problems: int
    drop: float
    setup: tried.Setup = field(repr=False, compare=False)

    @functools.cached_property
    def unchanged(self) -> Chances:
        """How an unchanged candidate fares."""
        return tried.chances(self.setup)

    @functools.cached_property
    def dropped(self) -> Chances:
        """How a candidate fares that truly drops by `drop`."""
        return tried.chances(self.setup, self.drop)

    @functools.cached_property
    def unchanged_limits(self) -> tuple[float, float] | None:
        """Between what `unchanged.passes` lies, as run noise is known at 95 %."""
        return tried.limits_of_chance(self.setup, self.unchanged)

    @functools.cached_property
    def designs(self) -> tuple[Design | None, Design | None]:
        """The fewest runs of these problems, and the fewest problems with as many runs.

        An unchanged candidate then passes 95 of 100 times; None where no number is enough.
        """
        return tried.designs(self.setup)

    @property
    def noise_from(self) -> str:
        """What showed the run noise that candidates are made up with."""
        return self.setup.noise().source

    @property
    def fewest_problems(self) -> int:
        """Fewer cannot rule out a drop of the margin on new ones, however often they are run."""
        if self.question == "these" or not self.setup.baseline.binary:
            return 1
        return _fewest(self.margin, self.alpha)

    @property
    def unchanged_passes(self) -> float:
        """How often an unchanged candidate is let through."""
        return self.unchanged.passes + self._unsure(self.unchanged)

    @property
    def drop_caught(self) -> float | None:
        """How often a candidate that truly drops by `drop` is not let through.

        None where the baseline scores less than the margin: nothing can lose that much.
        """
        if self.drop < self.margin:
            return None
        return 1 - self.dropped.passes - self._unsure(self.dropped)

    def _unsure(self, chances: Chances) -> float:
        return chances.cannot_tell if self.unsure == "pass" else 0.0


def gate(
    a: Any,
    b: Any,
    *,
    margin: float,
    question: str = "new",
    looks: int = 1,
    unsure: str = "fail",
    drop: float | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    rng: int | np.random.Generator | None = DEFAULT_SEED,
    clusters: ArrayLike | None = None,
) -> Gate:
    """Let a candidate through if it is not worse than a baseline by a margin, and test the gate.

    Parameters
    ----------
    a, b
        Baseline and candidate, in the same order of problems; see `repeval.as_sample`, and give
        passes and runs as one pair, (passes, runs).
    margin : float
        The drop that matters, as a fraction.
    question : {"new", "these"}
        On new problems like these, or on exactly these.
    looks : int
        How often the gate may be asked in all, while runs or problems are added; the same number
        at each look. No look may more than double the data.
    unsure : {"fail", "pass"}
        What "cannot tell" counts as.
    drop : float, optional
        Of the candidate that is made up to see whether it is caught: .05, or twice the margin
        where that is not above it, but at most the baseline's score.
    level : float
        1 - level is the one-sided error, of all looks together.
    n_resamples, rng, clusters
        As in `repeval.interval`.

    Returns
    -------
    Gate

    Notes
    -----
    Non-inferiority: "pass" where the lower limit of candidate minus baseline lies above -margin,
    "fail" where the upper limit lies at or below it. Limits are those of `paired` or
    `paired_fixed` at level 1 - 2·alpha, and on new problems at least the exact limit of whole
    problems lost. A kind of problem that none of N is of may be lost, so that with N below
    log(alpha)/log(1 - margin) nothing passes. Several looks share the error by one constant
    for all (`repeval.stats.pairs.looks`).

    The chances, worked out when they are read, come from 500 candidates made up from the baseline's
    own pass rates, on which the same limits decide (with Student's t for the exact law); of
    scores, and above 2,000 problems, from the power of Student's t test.

    References
    ----------
    `repeval.stats.pairs.margin`, `repeval.stats.pairs.tried`.

    Examples
    --------
    Thirty new problems cannot rule out a drop of three points:

    >>> import repeval
    >>> found = repeval.gate(([3, 3, 0, 1, 2] * 6, 3), ([3, 3, 0, 2, 1] * 6, 3), margin=0.03)
    >>> found.verdict, found.passed, found.fewest_problems
    ('cannot tell', False, 99)
    """
    if not 0 < margin < 1:
        raise ValueError(f"margin must lie between 0 and 1, not {margin}")
    if question not in QUESTIONS:
        raise ValueError(f"question must be new or these, not {question!r}")
    if unsure not in UNSURE:
        raise ValueError(f"unsure must be fail or pass, not {unsure!r}")
    check_options(level, "auto", n_resamples)
    if not 0.5 < level < 1:
        raise ValueError(f"level must lie between 0.5 and 1, not {level}")
    if drop is not None and not margin <= drop <= 1:
        raise ValueError(f"drop must lie between the margin and 1, not {drop}")
    first, second = paired(a, b)
    score = float(first.rate.mean())
    if drop is not None and drop > score + ROUNDING:
        raise ValueError(f"drop must be at most the baseline's score, {score:.4g}, not {drop}")
    drop = min(planted(margin), score) if drop is None else drop
    groups = as_clusters(clusters, len(first)) if question == "new" else None
    alpha = look_alpha(round(1 - level, 12), looks)
    low, high, (how,) = drop_limits(
        [(first, second)], alpha, question=question, groups=groups,
        n_resamples=n_resamples, rng=as_generator(rng),
    )  # fmt: skip
    n = len(first)
    sign = int(verdicts(low, high, margin, decides(n, question))[0])
    verdict = {1: PASS, -1: FAIL, 0: OPEN}[sign]
    ends = Interval(
        -float(high[0]), -float(low[0]), 1 - 2 * alpha, QUESTIONS[question],
        "fixed" if question == "these" else "superpopulation", how,
    )  # fmt: skip
    seed = rng if isinstance(rng, (int, np.integer)) else DEFAULT_SEED
    return Gate(
        verdict=verdict,
        passed=verdict == PASS or (verdict == OPEN and unsure == "pass"),
        difference=float((second.rate - first.rate).mean()),
        interval=ends,
        margin=margin,
        question=question,
        unsure=unsure,
        looks=int(looks),
        alpha=alpha,
        n_problems=n,
        drop=drop,
        setup=tried.Setup(first, second, margin, alpha, question, groups, int(seed)),
    )


def planted(margin: float) -> float:
    """Return the drop that a candidate is made up with."""
    return DROP if margin < DROP else min(1.0, 2 * margin)


def _fewest(margin: float, alpha: float) -> int:
    """Return the fewest problems on which anything passes on new ones."""
    n = max(FEWEST, math.ceil(math.log(alpha) / math.log1p(-margin) - 1e-9))
    return n if lost_limit(0, n, alpha) < margin else n + 1
