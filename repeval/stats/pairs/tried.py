"""What a gate lets through and what it catches, tried on a baseline that is compared with itself.

A candidate is made up from the baseline's own pass rates: unchanged, or with problems lost. The
same procedure decides on it as on the real one, some hundred times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from repeval.stats.clusters import cluster_df
from repeval.stats.pairs.decision import FEWEST
from repeval.stats.pairs.margin import decides, drop_limits, lost_limit, verdicts
from repeval.stats.pairs.noise import Noise, noise_of
from repeval.stats.resampling import keyed_generator
from repeval.stats.sample import FloatArray, IntArray, Sample

# Made-up candidates for a chance (at most 2.3 points of error), and to confirm a design.
TRIALS, CONFIRM = 500, 300
# Larger ones take long, and have closed forms that are as good.
LARGEST = 2_000
GOAL = 0.95
MOST_RUNS, MOST_PROBLEMS = 1_000, 10_000_000


@dataclass(frozen=True)
class Chances:
    """How often a candidate that truly drops by so much gets each verdict.

    Attributes
    ----------
    drop : float
        On the scale of the score; 0 is an unchanged candidate.
    passes, fails, cannot_tell : float
    error : float
        Standard error of `passes` from the number of candidates; 0 by a closed form.
    trials : int
        Made-up candidates; 0 by a closed form.
    """

    drop: float
    passes: float
    fails: float
    cannot_tell: float
    error: float
    trials: int


@dataclass(frozen=True)
class Design:
    """The fewest runs, or problems, with which an unchanged candidate passes often enough.

    Attributes
    ----------
    n_problems, n_runs : int
        Runs of each problem, of the baseline and of the candidate.
    passes : float
    """

    n_problems: int
    n_runs: int
    passes: float


@dataclass(frozen=True)
class Setup:
    """What a gate compares, and how; the baseline is where its candidates come from."""

    baseline: Sample
    candidate: Sample
    margin: float
    alpha: float
    question: str
    groups: IntArray | None
    seed: int

    @property
    def n(self) -> int:
        """Return the number of problems."""
        return len(self.baseline)

    def noise(self) -> Noise:
        """Return what is known of the baseline's run noise."""
        return noise_of(self.baseline, self.candidate)


def chances(gate: Setup, drop: float = 0.0) -> Chances:
    """Return how often a made-up candidate passes and fails.

    Parameters
    ----------
    gate : Setup
    drop : float
        Its true drop, as whole problems lost; of scores, as all alike.

    Notes
    -----
    Pass rates are drawn from the beta law of the baseline's mean and run noise, given each
    problem's passes: where problems are new ones, these are drawn with replacement first. Both
    systems' runs follow. Raw pass rates would not do: those of few runs vary more than the
    problems do, and show less run noise than there is.
    """
    noise = gate.noise()
    if not decides(gate.n, gate.question) or math.isnan(noise.within):
        return Chances(drop, 0.0, 0.0, 1.0, 0.0, 0)
    runs = gate.baseline.runs, gate.candidate.runs
    if gate.question == "these" and max(r.max() for r in runs) == 1:
        return Chances(drop, 0.0, 0.0, 1.0, 0.0, 0)
    if not _simulated(gate, gate.n):
        harmonic = tuple(float(1 / (1 / r).mean()) for r in runs)
        passes, fails = closed_form(gate, noise.within, gate.n, harmonic, drop)
        return Chances(drop, passes, fails, max(0.0, 1 - passes - fails), 0.0, 0)
    found = _tried(gate, noise.within, drop, TRIALS)
    passes, fails = float((found > 0).mean()), float((found < 0).mean())
    error = math.sqrt(passes * (1 - passes) / TRIALS)
    return Chances(drop, passes, fails, float((found == 0).mean()), error, TRIALS)


def limits_of_chance(gate: Setup, found: Chances) -> tuple[float, float] | None:
    """Return between what an unchanged candidate's chance lies, as run noise is known at 95 %."""
    noise = gate.noise()
    if found.passes + found.fails == 0 and found.trials == 0:
        return None
    if math.isnan(noise.low):
        return None
    runs = tuple(float(1 / (1 / s.runs).mean()) for s in (gate.baseline, gate.candidate))
    shift = _shift(gate, noise.within, runs, found)
    high, low = (
        _moved(closed_form(gate, w, gate.n, runs, 0.0)[0], shift) for w in (noise.low, noise.high)
    )
    return min(low, found.passes), max(high, found.passes)


def designs(gate: Setup, goal: float = GOAL) -> tuple[Design | None, Design | None]:
    """Return the fewest runs of these problems, and the fewest problems, that reach the goal.

    Parameters
    ----------
    gate : Setup
    goal : float
        How often an unchanged candidate passes.

    Returns
    -------
    more_runs, more_problems : Design or None
        None where no number of them is enough. More problems have as many runs each as the
        baseline and the candidate have on average.
    """
    noise = gate.noise()
    if math.isnan(noise.within):
        return None, None
    runs = tuple(float(1 / (1 / s.runs).mean()) for s in (gate.baseline, gate.candidate))
    each = max(1, round(sum(runs) / 2))
    if gate.question == "these":
        each = max(2, each)

    def reaches(n: int, r: int) -> bool:
        return closed_form(gate, noise.within, n, (r, r), 0.0)[0] >= goal

    by_runs = _fewest(lambda r: reaches(gate.n, r), 2 if gate.question == "these" else 1, MOST_RUNS)
    more = None if by_runs is None else (gate.n, by_runs)
    by_problems = _fewest(lambda n: reaches(n, each), FEWEST, MOST_PROBLEMS)
    other = None if by_problems is None else (by_problems, each)
    return _confirmed(gate, noise.within, more, (0, 1), goal), _confirmed(
        gate, noise.within, other, (1, 0), goal
    )


def closed_form(
    gate: Setup, noise: float, n: int, runs: tuple[float, float], drop: float
) -> tuple[float, float]:
    """Return about how often a candidate passes and fails, by the power of Student's t test.

    Parameters
    ----------
    gate : Setup
    noise : float
        μ_w of the baseline.
    n : int
        Problems; clusters grow in number with them.
    runs : (float, float)
    drop : float

    Notes
    -----
    The drop of an unchanged candidate has the variance (μ_w/R_A + μ_w/R_B)/N, whatever the
    difficulty of the problems; losing the share q of all problems adds (q E[p²] - drop²)/N. On
    new problems nothing passes where too few leave the margin open (`lost_limit`).
    """
    mean = float(gate.baseline.rate.mean())
    variance = noise / runs[0] + noise / runs[1]
    if drop and gate.baseline.binary and gate.question == "new":
        square = max(mean - noise, mean * mean)
        variance += max(0.0, min(1.0, drop / mean) * square - drop * drop) if mean > 0 else 0.0
    error = math.sqrt(variance / n)
    df: float = n - 1
    if gate.groups is not None:
        df = (cluster_df(np.bincount(gate.groups)) + 1) * n / gate.n - 1
    elif gate.question == "these":
        df = max(1.0, n * (sum(runs) - 2))
    # Where nothing flips, what is not seen is all that is left.
    if error == 0:
        passes, fails = float(drop < gate.margin), float(drop >= gate.margin)
    else:
        passes, fails = (
            _power(sign * (gate.margin - drop) / error, df, gate.alpha) for sign in (1, -1)
        )
    if gate.question == "new" and (n < FEWEST or not _open(gate, n)):
        passes = 0.0
    return passes, fails


def _tried(gate: Setup, noise: float, drop: float, trials: int, design=None) -> FloatArray:
    """Return the verdicts on made-up candidates."""
    base, n = gate.baseline, gate.n
    rng = keyed_generator(gate.seed, "gate", drop, *(design or ()))
    size, each = design or (n, None)
    if (gate.question == "new" and gate.groups is None) or size != n:
        index = rng.integers(n, size=(trials, size))
    else:
        index = np.broadcast_to(np.arange(n), (trials, n))
    rates = _pass_rates(base, noise, index, rng)
    a, b = (
        s.runs[index] if each is None else np.full(index.shape, each)
        for s in (base, gate.candidate)
    )
    mean = float(base.rate.mean())
    lost = rng.random(index.shape) < (drop / mean if mean > 0 else 0.0)
    first, second = rng.binomial(a, rates), rng.binomial(b, np.where(lost, 0.0, rates))
    pairs = [
        (Sample(ra, passes=ka), Sample(rb, passes=kb))
        for ra, ka, rb, kb in zip(a, first, b, second, strict=True)
    ]
    groups = gate.groups if size == n else None
    low, high, _ = drop_limits(
        pairs, gate.alpha, question=gate.question, groups=groups, law="student"
    )
    return verdicts(low, high, gate.margin, decides(size, gate.question))


def _pass_rates(base: Sample, noise: float, index: IntArray, rng) -> FloatArray:
    """Draw pass rates given passes, under the beta law whose μ(1-μ) = σ_b² + μ_w."""
    k, r = base.passes[index], base.runs[index]
    mean = float(base.rate.mean())
    between = mean * (1 - mean) - noise
    if noise <= 0 or mean in (0.0, 1.0):
        return k / r
    if between <= 0:
        return np.full(index.shape, mean)
    total = noise / between
    return rng.beta(mean * total + k, (1 - mean) * total + r - k)


def _simulated(gate: Setup, n: int) -> bool:
    return gate.baseline.binary and gate.candidate.binary and n <= LARGEST


def _power(ncp: float, df: float, alpha: float) -> float:
    """Return the chance that Student's t exceeds its quantile, for a standardised distance."""
    if df > 1e5 or abs(ncp) > 30:
        return float(special.ndtr(ncp + special.ndtri(alpha)))
    value = float(special.nctdtr(df, ncp, special.stdtrit(df, 1 - alpha)))
    return float(special.ndtr(ncp + special.ndtri(alpha))) if math.isnan(value) else 1 - value


def _open(gate: Setup, n: int) -> bool:
    """Tell whether N problems can rule out a drop of the margin on new ones at all."""
    return not gate.baseline.binary or bool(lost_limit(0, n, gate.alpha) < gate.margin)


def _shift(gate: Setup, noise: float, runs: tuple[float, float], found: Chances) -> float:
    """Return by how many normal deviates the procedure differs from its closed form."""
    if not found.trials:
        return 0.0
    half = 0.5 / found.trials
    seen, form = (
        float(np.clip(x, half, 1 - half))
        for x in (found.passes, closed_form(gate, noise, gate.n, runs, 0.0)[0])
    )
    # Where it hardly ever passes, or nearly always, the difference is not known.
    return float(np.clip(special.ndtri(seen) - special.ndtri(form), -0.5, 0.5))


def _moved(chance: float, shift: float) -> float:
    return float(special.ndtr(special.ndtri(chance) + shift))


def _fewest(enough: Callable[[int], bool], least: int, most: int) -> int | None:
    """Return the smallest whole number that is enough, None if none is."""
    if not enough(most):
        return None
    low, high = least - 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _confirmed(gate: Setup, noise: float, design, grows, goal: float) -> Design | None:
    """Try a design on made-up candidates, and enlarge it until it is enough."""
    if design is None:
        return None
    n, r = design
    error = math.sqrt(goal * (1 - goal) / CONFIRM)
    for _ in range(6):
        alike = gate.groups is None or n == gate.n
        if not (alike and _simulated(gate, n)):
            return Design(n, r, closed_form(gate, noise, n, (r, r), 0.0)[0])
        passes = float((_tried(gate, noise, 0.0, CONFIRM, (n, r)) > 0).mean())
        if passes >= goal - error or r >= MOST_RUNS:
            return Design(n, r, passes)
        n, r = (x + grown * max(1, x // 12) for x, grown in zip((n, r), grows, strict=True))
    return Design(n, r, passes) if passes >= goal - error else None
