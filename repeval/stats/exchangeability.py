"""Whether runs differ by their label, and neighbouring runs agree more than others.

Runs are nested in problems. A label means something only where run k of every problem was made at
one time, or in one place of an order; what follows is about such labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from repeval.stats.comparison import POWER, minimum_detectable
from repeval.stats.exact import convolution_power
from repeval.stats.sample import ROUNDING, FloatArray


@dataclass(frozen=True, eq=False)
class LabelEffect:
    """How pass rates differ by run label, over one or several systems.

    Attributes
    ----------
    rates : (R,) float array
        Pass rate of every label over all problems of all systems.
    gap : float
        Largest less smallest.
    statistic : float
        Cochran's Q, summed over systems; NaN, as what follows, where no problem's runs differ.
    df : int
        R-1 for each system with a problem whose runs differ.
    p_value : float
        By the chi-square law.
    detectable : float
        Shift of one label's pass rate, the same in all systems, that the test finds at the power
        asked for.
    """

    rates: FloatArray
    gap: float
    statistic: float
    df: int
    p_value: float
    detectable: float


@dataclass(frozen=True)
class RunAgreement:
    """How often two runs agree on problems whose runs differ, by whether they are neighbours.

    Attributes
    ----------
    n_mixed : int
        Problems whose runs differ, over all systems.
    adjacent, apart : float
        Shares of pairs of runs that agree; NaN, as what follows, without such a problem.
    p_value : float
        Two-sided and exact: the probability of a difference at least this far from zero when every
        problem's passes fall on its runs at random.
    detectable : float
        Difference of the shares that this test finds at the usual power (normal approximation).
    """

    n_mixed: int
    adjacent: float
    apart: float
    p_value: float
    detectable: float


def label_effect(*tables: ArrayLike, level: float = 0.95, power: float = POWER) -> LabelEffect:
    """Test whether outcomes depend on the run label.

    Parameters
    ----------
    *tables : (N, R) arrays
        Outcomes of each system; columns are the labels, the same in all tables, N may differ.
    level, power : float
        For `detectable`.

    Notes
    -----
    With C_r the sum of a column and S that of all squares about the problems' means,
    Q = (R-1) Σ(C_r - C̄)²/S. For 0/1 outcomes this is Cochran's Q as statsmodels has it; the
    formula adds no dependency, and holds for scores (Cochran-Mantel-Haenszel). A shift by δ of one
    label gives Q the noncentrality N²δ²(R-1)²/(RS).

    References
    ----------
    VC Appendix G; Cochran (1950).
    """
    outcomes = _tables(tables)
    runs = outcomes[0].shape[1]
    rates = np.concatenate(outcomes).mean(axis=0)
    statistic, df, per_shift = 0.0, 0, 0.0
    for y in outcomes:
        squares = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum()
        if squares > ROUNDING:
            statistic += (runs - 1) * runs * y.sum(axis=0).var() / squares
            df += runs - 1
            per_shift += (len(y) * (runs - 1)) ** 2 / (runs * squares)
    if not df:
        return LabelEffect(rates, float(np.ptp(rates)), math.nan, 0, math.nan, math.nan)
    noncentrality = special.chndtrinc(special.chdtri(df, 1 - level), df, 1 - power)
    return LabelEffect(
        rates=rates,
        gap=float(np.ptp(rates)),
        statistic=float(statistic),
        df=df,
        p_value=float(special.chdtrc(df, statistic)),
        detectable=math.sqrt(noncentrality / per_shift),
    )


def run_agreement(*tables: ArrayLike, level: float = 0.95) -> RunAgreement:
    """Compare the agreement of neighbouring runs with that of others, by permutation.

    Parameters
    ----------
    *tables : (N, R) arrays of 0 and 1
        As for `label_effect`, columns in their order, at least three.

    Notes
    -----
    Agreements over all pairs follow from a problem's passes, so the difference of the shares rises
    with the sum of agreeing neighbours alone. That sum has an exact law, a convolution over
    problems: no permutation is drawn.

    References
    ----------
    VC Appendix G; Wald and Wolfowitz (1940) for the law of one problem.
    """
    y = np.concatenate(_tables(tables))
    runs = y.shape[1]
    if runs < 3:
        raise ValueError("at least three runs are needed: two are always neighbours")
    if not np.isin(y, (0, 1)).all():
        raise ValueError("runs agree or not only where outcomes are 0 or 1")
    passes = y.sum(axis=1).astype(int)
    mixed = (passes > 0) & (passes < runs)
    y, passes = y[mixed], passes[mixed]
    if not len(y):
        return RunAgreement(0, math.nan, math.nan, math.nan, math.nan)
    agree = int((y[:, 1:] == y[:, :-1]).sum())
    near, far = (len(y) * n for n in (runs - 1, math.comb(runs - 1, 2)))
    others = int((passes * (passes - 1) + (runs - passes) * (runs - passes - 1)).sum()) // 2 - agree
    kinds, counts = np.unique(passes, return_counts=True)
    pmf, start = convolution_power(np.stack([_agreeing(k, runs) for k in kinds]), counts, 0)
    sums = start + np.arange(len(pmf))
    distance, seen = np.abs(sums - pmf @ sums), abs(agree - pmf @ sums)
    return RunAgreement(
        n_mixed=len(y),
        adjacent=agree / near,
        apart=others / far,
        p_value=min(1.0, float(pmf[distance >= seen - 1e-9 * near].sum())),
        detectable=minimum_detectable(pmf @ distance**2 * (1 / near + 1 / far) ** 2, level),
    )


def _agreeing(passes: int, runs: int) -> FloatArray:
    """Law of the number of agreeing neighbours, 0 to R-1, of k passes among R runs.

    It is R less the number of unbroken stretches of equal outcomes.
    """
    k, fails = int(passes), runs - int(passes)
    total = math.comb(runs, k)
    law = np.zeros(runs)
    for stretches in range(2, runs + 1):
        a, b = (stretches - 1) // 2, stretches // 2 - 1
        ways = math.comb(k - 1, a) * math.comb(fails - 1, b)
        ways += math.comb(k - 1, b) * math.comb(fails - 1, a)
        law[runs - stretches] = ways / total
    return law


def _tables(tables: tuple[ArrayLike, ...]) -> list[FloatArray]:
    found = [np.asarray(y, dtype=float) for y in tables]
    if not found or {y.ndim for y in found} != {2} or len({y.shape[1] for y in found}) != 1:
        raise ValueError("tables must be two-dimensional, with the same run labels in all")
    if found[0].shape[1] < 2 or min(map(len, found)) < 1:
        raise ValueError("at least one problem and two runs are needed")
    if not all(((y >= 0) & (y <= 1)).all() for y in found):
        raise ValueError("outcomes must lie in [0, 1], with none missing: labels must be shared")
    return found
