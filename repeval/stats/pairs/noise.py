"""What the runs at hand say of run noise, and how surely; even from single runs of a pair."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from repeval.stats.components import noise_bound, within
from repeval.stats.sample import FloatArray, Sample

BASELINE = "the baseline's runs"
CANDIDATE = "the candidate's runs"
DIFFERENCES = "problems on which the two differ, as if by run noise alone"
# Two standard errors at 95 %.
Z = float(special.ndtri(0.975))


@dataclass(frozen=True)
class Noise:
    """The run noise of a baseline.

    Attributes
    ----------
    within : float
        μ_w.
    low, high : float
        Limits at 95 %, NaN where there are none.
    source : str
        What shows it.
    """

    within: float
    low: float
    high: float
    source: str


def noise_of(baseline: Sample, candidate: Sample) -> Noise:
    """Return the run noise of a baseline, of a candidate like it, or of their differences.

    Parameters
    ----------
    baseline, candidate : Sample
        On the same problems.

    Notes
    -----
    Where no problem was run twice, the difference of two single runs of one system has the
    expected square 2 μ_w. Whatever else the two differ in counts as noise there: an unchanged
    candidate then passes more often than is said.

    Examples
    --------
    >>> import repeval
    >>> from repeval.stats.pairs.noise import noise_of
    >>> noise_of(*map(repeval.as_sample, ([[1, 0], [1, 1]], [[1, 1], [1, 1]]))).within
    0.25
    """
    for sample, source in ((baseline, BASELINE), (candidate, CANDIDATE)):
        if not math.isnan(within(sample)):
            return _limited(sample.noise[sample.runs > 1], sample, source)
    squares = (baseline.rate - candidate.rate) ** 2 / 2
    return _limited(squares, baseline, DIFFERENCES)


def _limited(terms: FloatArray, sample: Sample, source: str) -> Noise:
    """Return the mean of terms with limits on the scale of logarithms, which stay positive."""
    mean = float(terms.mean())
    if mean > 0:
        error = float(terms.std(ddof=1)) / math.sqrt(len(terms)) / mean if len(terms) > 1 else 9.0
        most = 0.25 * (1 + 1 / max(1, int(sample.runs.max()) - 1))
        return Noise(
            mean, mean * math.exp(-Z * error), min(most, mean * math.exp(Z * error)), source
        )
    if not sample.binary:
        return Noise(mean, math.nan, math.nan, source)
    # A pair of single runs is as good as two runs of one problem.
    runs = sample.runs[sample.runs > 1] if source != DIFFERENCES else np.full(len(terms), 2)
    return Noise(mean, 0.0, noise_bound(runs), source)
