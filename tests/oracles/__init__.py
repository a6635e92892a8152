"""Slow, obvious versions of the mathematics: fractions, plain loops and enumeration.

Nothing here imports `repeval`, so agreement is agreement of two independent computations. Numbers
that R, other libraries and whole numbers gave lie beside it as data; README.md has the table.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import math
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

SEED = 2606
# What others computed, and the scripts.
DATA = Path(__file__).parent
CELLS = Path(__file__).parents[2] / "data" / "reconstruction-cells.csv"
# Systems whose runs were truncated; the texts leave them out of pooled medians.
NOT_CLEAN = ("o4-mini", "Gemini 2.5 Flash+Think")
# The same examples in every run: a failure is a change of the code, not of luck.
QUIET = settings(derandomize=True, deadline=None, max_examples=60)
NORMAL = NormalDist()


# ---- data -------------------------------------------------------------------------------


def histograms(prompt: str = "Detailed") -> dict[str, list[int]]:
    """Numbers of problems with 0..5 passes, by system, of the default data."""
    with CELLS.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["prompt"] == prompt]
    return {row["model"]: [int(row[f"n{k}"]) for k in range(6)] for row in rows}


def tensor(prompt: str = "Detailed") -> dict[str, np.ndarray]:
    """Passes by system on the problems that every system finished, in a common order."""
    table: dict[str, dict[str, list[int]]] = {}
    with gzip.open(CELLS.with_name("reconstruction.csv.gz"), "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["condition"] == prompt:
                runs = table.setdefault(row["model"], {}).setdefault(row["problem"], [])
                runs.append(int(row["outcome"]))
    common = sorted(set.intersection(*(set(problems) for problems in table.values())))
    return {m: np.array([sum(table[m][i]) for i in common]) for m in table}


def clean(prompt: str = "Detailed") -> dict[str, np.ndarray]:
    """Passes per problem of the fourteen systems that enter pooled medians."""
    return {m: passes_of(h) for m, h in histograms(prompt).items() if m not in NOT_CLEAN}


def passes_of(histogram: list[int]) -> np.ndarray:
    """Problems with n_k passes, spelled out."""
    return np.repeat(np.arange(len(histogram)), histogram)


@st.composite
def designs(draw, *, min_runs: int = 1, equal: bool = False, max_problems: int = 12):
    """Passes and runs of a small system."""
    n = draw(st.integers(2, max_problems))
    if equal or draw(st.booleans()):
        runs = [draw(st.integers(min_runs, 6))] * n
    else:
        runs = draw(st.lists(st.integers(min_runs, 6), min_size=n, max_size=n))
    return np.array([draw(st.integers(0, r)) for r in runs]), np.array(runs)


# ---- numbers that others drew ------------------------------------------------------------


def reaches(law, limit: float, level: float, resamples: int, bias_corrected: bool = False) -> bool:
    """Whether a limit that was read from resamples is within three standard errors of a law's.

    The error is that of a share of `level`; BCa adds that of the share below the estimate, about a
    half, which moves the level twice. A level between two points of the law may give either.
    """
    share = level * (1 - level) / resamples
    if bias_corrected:
        density = NORMAL.pdf(NORMAL.inv_cdf(level))
        share += (2 * density / NORMAL.pdf(0)) ** 2 / 4 / resamples
    error = 3 * math.sqrt(share)
    low, high = (float(law.quantile(q)) for q in (level - error, level + error))
    return low - 1e-9 <= limit <= high + 1e-9


# ---- variance components ----------------------------------------------------------------


def components(passes, runs) -> dict[str, Fraction | None]:
    """Design section 2 and statistics note 1.4, in fractions; None where undefined."""
    n = len(passes)
    rate, noise = [], []
    for k, r in zip(map(int, passes), map(int, np.broadcast_to(runs, n)), strict=True):
        p = Fraction(k, r)
        rate.append((p, r))
        noise.append(Fraction(r, r - 1) * p * (1 - p) if r > 1 else None)
    known = [v for v in noise if v is not None]
    mean = sum(p for p, _ in rate) / n
    spread = sum((p - mean) ** 2 for p, _ in rate) / (n - 1)
    if not known:
        return {"mean": mean, "spread": spread, "within": None, "between": None}
    within = sum(known, Fraction(0)) / len(known)
    run_noise = sum(
        (within if v is None else v) / r for v, (_, r) in zip(noise, rate, strict=True)
    ) / Fraction(n)
    return {
        "mean": mean,
        "spread": spread,
        "within": within,
        "run_noise": run_noise,
        "between": spread - run_noise,
    }


def icc(passes, runs) -> Fraction:
    """ICC; 0 for data without any variance."""
    c = components(passes, runs)
    total = c["between"] + c["within"]
    return c["between"] / total if total else Fraction(0)


# ---- exact laws of means ------------------------------------------------------------------


def binomial(runs: int, p: Fraction) -> list[Fraction]:
    return [math.comb(runs, j) * p**j * (1 - p) ** (runs - j) for j in range(runs + 1)]


def spaced(law: list[Fraction], stride: int) -> list[Fraction]:
    """Move a law from 0, 1, 2, ... to 0, stride, 2 stride, ..."""
    out = [Fraction(0)] * ((len(law) - 1) * stride + 1)
    out[::stride] = law
    return out


def average(laws: list[list[Fraction]]) -> list[Fraction]:
    return [sum(column) / len(laws) for column in zip(*laws, strict=True)]


def multiply(a: list, b: list) -> list:
    out = [0 * a[0]] * (len(a) + len(b) - 1)
    for j, y in enumerate(b):
        if y:
            for i, x in enumerate(a):
                out[i + j] += x * y
    return out


def power(law: list[Fraction], n: int) -> tuple[list[int], int]:
    """Coefficients of the n-th power of a polynomial as whole numbers over one denominator.

    J. C. P. Miller's recurrence k a_0 c_k = sum_i (i(n+1) - k) a_i c_(k-i), all divisions exact.
    """
    whole = math.lcm(*(q.denominator for q in law))
    a = [int(q * whole) for q in law]
    lead = next(i for i, x in enumerate(a) if x)
    degree = (len(a) - 1) * n
    a = a[lead:]
    c = [a[0] ** n]
    for k in range(1, (len(a) - 1) * n + 1):
        total = sum(
            (i * (n + 1) - k) * a[i] * c[k - i] for i in range(1, min(k, len(a) - 1) + 1) if a[i]
        )
        c.append(total // (k * a[0]))
    c = [0] * (lead * n) + c
    return c + [0] * (degree + 1 - len(c)), whole**n


def problem_law(passes: int, runs: int, lattice: int, name: str) -> list[Fraction]:
    """Law of one problem's pass rate on 0, 1/L, ..., 1 when the problem is drawn."""
    if name == "one_level":
        law = [Fraction(int(j == passes)) for j in range(runs + 1)]
    else:
        law = binomial(runs, Fraction(passes, runs))
    return spaced(law, lattice // runs)


def mean_law(passes, runs, name: str) -> tuple[list[int], int]:
    """Law of the total on the lattice 0..N L: whole numbers over one denominator."""
    runs = [int(r) for r in np.broadcast_to(runs, len(passes))]
    lattice = math.lcm(*runs)
    single = [problem_law(int(k), r, lattice, name) for k, r in zip(passes, runs, strict=True)]
    if name != "fixed_bootstrap":
        return power(average(single), len(passes))
    # R^R is a common denominator of the Binomial(R, k/R) law; whole numbers multiply faster.
    law, whole = [1], math.prod(r**r for r in runs)
    for one, r in zip(single, runs, strict=True):
        law = multiply(law, [int(q * r**r) for q in one])
    return law, whole


def pair_law(a, b, name: str) -> tuple[list[int], int]:
    """Law of the paired difference of totals on -N L..N L; a and b are (passes, runs)."""
    ra, rb = ([int(r) for r in np.broadcast_to(x[1], len(x[0]))] for x in (a, b))
    lattice = math.lcm(*ra, *rb)
    single = []
    for ka, na, kb, nb in zip(a[0], ra, b[0], rb, strict=True):
        one = problem_law(int(ka), na, lattice, name)
        two = problem_law(int(kb), nb, lattice, name)
        single.append(multiply(one, two[::-1]))
    return power(average(single), len(a[0]))


def cdf(law: tuple[list[int], int]) -> np.ndarray:
    """Distribution function; a quotient of two Python integers is correctly rounded."""
    return np.array([x / law[1] for x in itertools.accumulate(law[0])])


def quantile(law: tuple[list[int], int], q: Fraction) -> int:
    """Smallest lattice point with F(x) >= q - 1e-12."""
    threshold = (q - Fraction(1, 10**12)) * law[1]
    return next(i for i, x in enumerate(itertools.accumulate(law[0])) if x >= threshold)


# ---- law of the ceiling --------------------------------------------------------------------


def resamples(n: int, kinds: int):
    """All ways to draw n problems from some kinds of problem, as counts."""
    for bars in itertools.combinations(range(n + kinds - 1), kinds - 1):
        edges = (-1, *bars, n + kinds - 1)
        yield [b - a - 1 for a, b in itertools.pairwise(edges)]


def icc_law(passes, runs: int) -> dict[Fraction, Fraction]:
    """Probability of every value of the ICC when the problems are resampled."""
    values, counts = np.unique(passes, return_counts=True)
    n = len(passes)
    law: dict[Fraction, Fraction] = {}
    for drawn in resamples(n, len(values)):
        p = Fraction(math.factorial(n))
        for count, times in zip(counts.tolist(), drawn, strict=True):
            p *= Fraction(count, n) ** times / math.factorial(times)
        value = icc(np.repeat(values, drawn), runs)
        law[value] = law.get(value, Fraction(0)) + p
    return law


def ceiling(value: Fraction) -> float:
    return float(1 / value) if value > 0 else math.inf


def ceiling_limits(law: dict[Fraction, Fraction], levels: tuple[float, ...]) -> list[float]:
    """Quantiles of the ceiling: the smallest with F >= level - 1e-12, ICC <= 0 as infinite."""
    limits = []
    for level in levels:
        total = Fraction(0)
        for value in sorted(law, reverse=True):
            total += law[value]
            if total >= level - Fraction(1, 10**12):
                limits.append(ceiling(value))
                break
    return limits


def bca_levels(
    law: dict[Fraction, Fraction], passes, runs: int, levels: tuple[float, ...]
) -> list[float]:
    """Efron's levels for the statistic -ICC, which rises with the ceiling."""
    estimate = -icc(passes, runs)
    below = sum(p for v, p in law.items() if -v < estimate)
    tie = law.get(-estimate, Fraction(0))
    z0 = NORMAL.inv_cdf(float(below + tie / 2))
    left_out = [float(-icc(np.delete(passes, i), runs)) for i in range(len(passes))]
    middle = sum(left_out) / len(left_out)
    cubes = sum((middle - x) ** 3 for x in left_out)
    squares = sum((middle - x) ** 2 for x in left_out)
    a = cubes / (6 * squares**1.5)
    shifted = []
    for level in levels:
        z = z0 + NORMAL.inv_cdf(level)
        shifted.append(NORMAL.cdf(z0 + z / (1 - a * z)))
    return shifted
