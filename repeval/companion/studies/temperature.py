"""What temperature and polarisation do to the ceiling, in a model whose truth is known.

A problem has the latent difficulty θ ~ N(0, s²), and a run passes with probability expit(θ/T). The
temperature T flattens the chances of every problem towards one half; the larger the spread s, the
fewer problems lie near it. The model is ours, and no data enter but the size of the benchmark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from repeval.stats.ceiling import components_from_means
from repeval.stats.resampling import keyed_generator
from repeval.stats.sample import FloatArray

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

SIZES = {"quick": {"datasets": 2000}, "full": {"datasets": 50_000}}
SPREADS = (2.0, 4.0, 8.0)
TEMPERATURES = tuple(2.0 ** np.arange(-3, 2.1, 0.5))
# θ/s on a grid: for smooth functions the trapezoidal rule errs by about exp(-2π²T/(s·step)), less
# than 1e-18 down to T/s = 0.01.
GRID = np.linspace(-9, 9, 4001)
DENSITY = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()


def passes_law(spread: float, temperature: float, runs: int) -> FloatArray:
    """Return the probabilities of 0 to `runs` passes on a problem drawn at random."""
    p = special.expit(spread * GRID / temperature)
    upto = DENSITY @ special.bdtr(np.arange(runs + 1), runs, p[:, None])
    return np.diff(upto, prepend=0)


def truth(spread: float, temperature: float) -> tuple[float, float]:
    """Return μ_w = E p(1-p) and σ_b² = Var p; the ceiling is 1 + μ_w/σ_b²."""
    _, one, both = passes_law(spread, temperature, 2)
    return one / 2, both - (one / 2 + both) ** 2


def tasks(outcomes: Outcomes, **_: Any) -> list[tuple[Any, ...]]:
    """Return each spread with N and R: the data's problems and, at least two, their median runs."""
    sample = outcomes.system(*outcomes.systems[0])
    size = len(sample), max(2, int(np.median(sample.runs)))
    return [(f"spread {spread:g}", spread, *size) for spread in SPREADS]


def rows(task: tuple[Any, ...], seed: int, datasets: int) -> list[dict[str, Any]]:
    """Draw data sets at every temperature; return truth beside what they estimate.

    Returns
    -------
    list of dict
        What was drawn (`spread` to `datasets`); of `within`, `between` and `ceiling` the
        truth and the `_low`, `_median` and `_high` of 90% of the estimates. A ceiling is infinite
        where σ_b² is estimated at zero or below, in a share `undefined` of the data sets.
    """
    _, spread, n, runs = task
    rate = np.arange(runs + 1) / runs
    found = []
    for temperature in TEMPERATURES:
        law = passes_law(spread, temperature, runs)
        rng = keyed_generator(seed, "temperature", spread, temperature)
        # Problems are alike before they are drawn: how many have k passes is multinomial.
        share = rng.multinomial(n, law / law.sum(), size=datasets) / n
        mean, square = share @ rate, share @ rate**2
        within = runs / (runs - 1) * (mean - square)
        moments = np.stack([mean, square, within / runs, within], axis=-1)
        _, between = components_from_means(moments, n)
        ceiling = 1 + np.divide(within, between, out=np.full(datasets, np.inf), where=between > 0)
        mu_w, sigma_b2 = truth(spread, temperature)
        row = {"spread": spread, "temperature": temperature}
        row |= {"n_problems": n, "n_runs": runs, "datasets": datasets}
        for name, true, estimates in (
            ("within", mu_w, within),
            ("between", sigma_b2, between),
            ("ceiling", 1 + mu_w / sigma_b2, ceiling),
        ):
            low, median, high = np.quantile(estimates, [0.05, 0.5, 0.95], method="inverted_cdf")
            row |= {name: true, f"{name}_low": low, f"{name}_median": median, f"{name}_high": high}
        found.append({**row, "undefined": float((between <= 0).mean())})
    return found
