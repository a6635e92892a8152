"""How often the intervals shown to users hold the truth, by simulation."""

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from repeval.stats.intervals import interval
from repeval.stats.ranking import rank
from tests.oracles import SEED
from tests.samples import beta_binomial_data

FULL, QUICK = 4000, 300
# Problems of the twelve repositories of SWE-bench Verified.
SWE_BENCH = (231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1)
UNEQUAL = {
    "5": (40, 20, 10, 5, 5),
    "8": (100, 30, 20, 10, 10, 5, 5, 2),
    "10": tuple(range(2, 22, 2)),
    "20": tuple(range(1, 21)),
    "40": tuple(range(1, 41)),
}
Draw = Callable[[np.random.Generator], tuple[tuple, float]]


def coverage(draw: Draw, name: str, sets: int, key: Iterator[int], clusters=None) -> float:
    """Return the share of data sets whose interval, inside [0, 1], holds the truth."""
    rng = np.random.default_rng([SEED, *key])
    hits = 0
    for _ in range(sets):
        data, truth = draw(rng)
        found = interval(*data, name=name, clusters=clusters)
        assert found.exists
        assert 0 <= found.low < found.high <= 1
        # The limits are sums of fractions: 1 may come out as 1 - 1e-16.
        hits += found.low - 1e-12 <= truth <= found.high + 1e-12
    return hits / sets


def beyond(low: float, sets: int, high: float = 1.0) -> tuple[float, float]:
    """Return limits of a coverage, two Monte Carlo errors wider."""
    low_error, high_error = (2 * math.sqrt(p * (1 - p) / sets) for p in (low, high))
    return low - low_error, high + high_error


def holds(share: float, low: float, sets: int, high: float = 1.0) -> bool:
    least, most = beyond(low, sets, high)
    return least <= share <= most


def cells(*axes) -> list[tuple]:
    return list(itertools.product(*axes))


def percent(cell: tuple) -> list[int]:
    return [round(100 * x) for x in cell]


# ---- these problems -------------------------------------------------------------------------


def rerun(mean: float, rho: float, runs: np.ndarray) -> Draw:
    """Passes of problems with beta pass rates; the truth is the mean of these very rates."""
    total = 1 / rho - 1

    def draw(rng: np.random.Generator) -> tuple[tuple, float]:
        p = rng.beta(mean * total, (1 - mean) * total, len(runs))
        return (rng.binomial(runs, p), runs), p.mean()

    return draw


def fixed_coverage(n: int, runs: int, mean: float, rho: float, sets: int) -> float:
    draw = rerun(mean, rho, np.full(n, runs))
    return coverage(draw, "fixed_t", sets, percent((n, runs, mean, rho)))


@pytest.mark.full
@pytest.mark.parametrize("cell", cells((10, 30, 99), (2, 5), (0.5, 0.9, 0.97), (0.2, 0.74, 0.96)))
def test_fixed_t_covers(cell) -> None:
    assert holds(fixed_coverage(*cell, FULL), 0.94, FULL)


@pytest.mark.parametrize("cell", [(10, 2, 0.97, 0.74), (30, 5, 0.5, 0.2), (30, 2, 0.9, 0.2)])
def test_fixed_t_covers_quickly(cell) -> None:
    assert holds(fixed_coverage(*cell, QUICK), 0.94, QUICK)


@pytest.mark.full
@pytest.mark.parametrize("cell", cells((5, 20), (2, 5), (0.5, 0.9), (0.2, 0.74)))
def test_fixed_t_covers_where_few_were_repeated(cell) -> None:
    repeated, runs, mean, rho = cell
    draw = rerun(mean, rho, np.r_[np.full(repeated, runs), np.ones(100 - repeated, dtype=int)])
    assert holds(coverage(draw, "fixed_t", FULL, percent(cell)), 0.94, FULL)


# ---- graded scores --------------------------------------------------------------------------


def graded(kind: str, n: int, mean: float, rho: float, fixed: bool) -> Draw:
    """Two runs of shares of four checks, or of anything between 0 and 1."""
    total = 1 / rho - 1

    def draw(rng: np.random.Generator) -> tuple[tuple, float]:
        p = rng.beta(mean * total, (1 - mean) * total, (n, 1))
        if kind == "checks":
            y = rng.binomial(4, p, (n, 2)) / 4
        else:
            p = np.clip(p, 1e-6, 1 - 1e-6)
            y = rng.beta(4 * p, 4 * (1 - p), (n, 2))
        return (y,), p.mean() if fixed else mean

    return draw


def graded_coverage(name: str, kind: str, *cell, sets: int) -> float:
    draw = graded(kind, *cell, fixed=name == "fixed_t")
    return coverage(draw, name, sets, percent(cell))


GRADED = cells((10, 30, 99), (0.5, 0.9, 0.97), (0.2, 0.74, 0.96))


@pytest.mark.full
@pytest.mark.parametrize("name", ["clustered_wilson", "fixed_t"])
@pytest.mark.parametrize("kind", ["checks", "any"])
@pytest.mark.parametrize("cell", GRADED)
def test_graded_scores_cover(name: str, kind: str, cell) -> None:
    least = 0.94 if name == "fixed_t" else 0.92
    assert holds(graded_coverage(name, kind, *cell, sets=FULL), least, FULL)


@pytest.mark.parametrize("name", ["clustered_wilson", "fixed_t"])
@pytest.mark.parametrize("kind", ["checks", "any"])
def test_graded_scores_cover_quickly(name: str, kind: str) -> None:
    assert holds(graded_coverage(name, kind, 30, 0.9, 0.74, sets=QUICK), 0.92, QUICK)


# ---- new problems ---------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("cell", cells((30, 100), (2, 5), (0.5, 0.8, 0.95), (0.1, 0.6, 0.95)))
def test_clustered_wilson_covers(cell) -> None:
    """Statistics note 5.11: 93.5-98.5% of 4,000 data sets."""
    n, runs, mean, rho = cell
    share = coverage(
        lambda rng: ((beta_binomial_data(rng, mean, rho, n, runs), runs), mean),
        "clustered_wilson", FULL, percent(cell),
    )  # fmt: skip
    assert holds(share, 0.935, FULL, 0.985)


def families(sizes: tuple[int, ...], mean: float, rho: float) -> Draw:
    """Three runs of problems; families have beta means, problems beta rates around them."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    total = 1 / rho - 1

    def draw(rng: np.random.Generator) -> tuple[tuple, float]:
        own = rng.beta(mean * total, (1 - mean) * total, len(sizes))
        own = np.clip(own, 1e-6, 1 - 1e-6)[labels]
        return (rng.binomial(3, rng.beta(own, 1 - own)), 3), mean

    return draw


def family_coverage(sizes: tuple[int, ...], mean: float, rho: float, sets: int) -> float:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    key = percent((len(sizes), mean, rho))
    return coverage(families(sizes, mean, rho), "clustered_wilson", sets, key, labels)


FAMILIES = cells((0.5, 0.8, 0.9), (0.02, 0.1, 0.3))


@pytest.mark.full
@pytest.mark.parametrize("cell", FAMILIES)
def test_repositories_of_swe_bench_cover(cell) -> None:
    assert holds(family_coverage(SWE_BENCH, *cell, FULL), 0.93, FULL, 0.985)


@pytest.mark.full
@pytest.mark.parametrize("sizes", UNEQUAL)
@pytest.mark.parametrize("cell", FAMILIES)
def test_unequal_families_cover(sizes: str, cell) -> None:
    assert holds(family_coverage(UNEQUAL[sizes], *cell, FULL), 0.92, FULL)


@pytest.mark.parametrize("sizes", [SWE_BENCH, UNEQUAL["10"]], ids=["swe-bench", "10"])
def test_families_cover_quickly(sizes) -> None:
    assert holds(family_coverage(sizes, 0.8, 0.1, QUICK), 0.92, QUICK)


# ---- ranks ----------------------------------------------------------------------------------


def rank_coverage(sizes: tuple[int, ...], sets: int) -> float:
    """Return how often the set of a system holds its true rank, the worst of five systems."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    truth, hits = np.arange(1, 6), np.zeros(5)
    for s in range(sets):
        rng = np.random.default_rng([SEED, len(sizes), s])
        # A system has strong and weak families of its own, beside what is hard for all.
        p = rng.beta(0.7, 0.4, len(labels)) + 0.15 * rng.standard_normal((5, len(sizes)))[:, labels]
        p = np.clip(p - 0.005 * np.arange(5)[:, None], 0, 1)
        found = rank(
            [(k, 3) for k in rng.binomial(3, p)], rng=rng, n_resamples=300, clusters=labels
        )
        hits += (found.set_low <= truth) & (truth <= found.set_high)
    return hits.min() / sets


@pytest.mark.full
@pytest.mark.parametrize("sizes", [SWE_BENCH, *UNEQUAL.values()], ids=["swe-bench", *UNEQUAL])
def test_rank_sets_of_families_cover(sizes) -> None:
    assert holds(rank_coverage(sizes, 500), 0.94, 500)
