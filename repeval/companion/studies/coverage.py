"""How often the named intervals cover a truth that is known: data sets drawn from a Beta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from repeval.stats.betabinomial import fit_beta_binomial
from repeval.stats.intervals import ESTIMANDS, interval
from repeval.stats.resampling import keyed_generator
from repeval.stats.sample import FloatArray, IntArray, from_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from repeval.io.outcomes import Outcomes

# The systems of the paper that it matches Betas to.
MODELS = ("Qwen-Plus", "Gemini 3 Flash", "Qwen-Turbo")
SIZES = {
    "quick": {"models": MODELS, "designs": (), "datasets": 400, "resamples": 2000},
    "full": {"models": MODELS, "designs": (), "datasets": 1000, "resamples": 2000},
}
LEVEL = 0.95
# Limits and targets are lattice points or sums of many: equal ones differ by less than this.
ALLOWANCE = 1e-10


def tasks(
    outcomes: Outcomes | None,
    models: Sequence[str],
    designs: Sequence[tuple[float, float, int, int]],
    **_: Any,
) -> list[tuple[Any, ...]]:
    """Return the name, problems, runs, α and β of each model, matched as in VC, and each design.

    A design is a mean, an ICC, and numbers of problems and runs.

    References
    ----------
    VC Appendix D: the Beta has the mean and the between-problem variance of the default condition.
    """
    found: list[tuple[Any, ...]] = []
    for mean, icc, problems, runs in designs:
        name, size = f"mean {mean:g}, ICC {icc:g}, {problems} x {runs}", 1 / icc - 1
        found.append((name, problems, runs, mean * size, (1 - mean) * size))
    condition = outcomes and outcomes.source.default_condition
    for model in models:
        sample = outcomes.system(model, condition)
        fit = fit_beta_binomial(sample, method="paper")
        runs = outcomes.planned_runs(model, condition)
        found.append((model, len(sample), runs, fit.alpha, fit.beta))
    return found


def rows(
    task: tuple[Any, ...], seed: int, datasets: int, resamples: int, **_: Any
) -> list[dict[str, Any]]:
    """Draw the data sets of one model and score every interval against both truths.

    Returns
    -------
    list of dict
        One for each interval and method (``monte-carlo``: the bootstrap of VC; ``exact``: its limit
        for endless resamples): `datasets`; in how many no verdict changed, `unchanged`; how many
        cover the mean of the Beta, `mu`, and that of their own problems' probabilities, `pbar`; the
        mean `width` and its standard error.

    Notes
    -----
    A truth on an end of an interval is covered; `ends` has how often this happens to `mu`: the
    mean of a Beta matched to data is a possible score, and so may be the end of a bootstrap
    interval.

    References
    ----------
    VC Table 6.
    """
    model, problems, runs, alpha, beta = task
    rng = keyed_generator(seed, "coverage", model)
    p = rng.beta(alpha, beta, (datasets, problems))
    drawn = rng.binomial(runs, p)
    found = [limits(passes, runs, resamples, rng) for passes in drawn]
    mu, pbar = alpha / (alpha + beta), p.mean(axis=1)
    what = {"model": model, "icc": 1 / (1 + alpha + beta), "problems": problems, "runs": runs}
    what["unchanged"] = int(((drawn == 0) | (drawn == runs)).all(axis=1).sum())
    table = []
    for name, method in found[0]:
        low, high = np.array([each[name, method] for each in found]).T
        inside, ends = covering(low, high, mu)
        own = {"mu": inside + ends, "ends": ends, "pbar": sum(covering(low, high, pbar))}
        wide = high - low
        size = {"width": wide.mean(), "width_se": wide.std(ddof=1) / np.sqrt(len(wide))}
        row = {**what, "interval": name, "method": method, "datasets": len(wide), **own, **size}
        table.append(row)
    return table


def covering(low: FloatArray, high: FloatArray, truth: float | FloatArray) -> tuple[int, int]:
    """Count the intervals that have the truth inside, and those that have it as an end."""
    closed = (low - ALLOWANCE <= truth) & (truth <= high + ALLOWANCE)
    inside = (low + ALLOWANCE < truth) & (truth < high - ALLOWANCE)
    return int(inside.sum()), int((closed & ~inside).sum())


def limits(
    passes: IntArray, runs: int, resamples: int, rng: np.random.Generator
) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the limits of every interval by its name and method.

    Where no verdict changed between runs, the procedures of VC give a point.
    """
    # Problems with equal passes are exchangeable: only their number is drawn.
    k, counts = np.arange(runs + 1), np.bincount(passes, minlength=runs + 1)
    kinds = counts / len(passes)
    drawn, again = rng.multinomial(len(passes), kinds, size=(2, resamples))
    totals = {
        "one_level": drawn @ k,
        "two_level": rng.binomial(again * runs, k / runs).sum(axis=1),
        "fixed_bootstrap": rng.binomial(counts * runs, k / runs, (resamples, runs + 1)).sum(axis=1),
    }
    tail, size, found = (1 - LEVEL) / 2, len(passes) * runs, {}
    sample = from_counts(passes, runs)
    for name in ESTIMANDS:
        i = interval(sample, name=name, level=LEVEL)
        ends = (i.low, i.high) if i.exists else (passes.sum() / size,) * 2
        found[name, "exact" if name in totals else "closed form"] = ends
        if name in totals:
            found[name, "monte-carlo"] = tuple(np.quantile(totals[name] / size, [tail, 1 - tail]))
    return found
