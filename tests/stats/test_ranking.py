"""Ranks against a plain loop over the same resamples, ties, rank sets, clusters."""

import numpy as np
import pytest

from repeval.stats import resampling
from repeval.stats.comparison import compare
from repeval.stats.ranking import places, rank, rank_sets, ranks_of, resampled_scores
from repeval.stats.sample import as_sample
from tests.oracles import SEED, tensor
from tests.samples import rows_of


def systems(m: int = 6, n: int = 40, runs: int = 3, gap: float = 0.04):
    rng = np.random.default_rng(SEED)
    p = rng.beta(0.8, 0.6, size=n)
    return [(rng.binomial(runs, np.clip(p - j * gap, 0, 1)), runs) for j in range(m)]


def place(values: list[int], j: int) -> int:
    """Rank by counting whole numbers: ties share the better rank."""
    return 1 + sum(v > values[j] for v in values)


def drawn(n: int, n_resamples: int) -> np.ndarray:
    """Indices of problems: the stream that `weights` reads, unit by unit."""
    return np.random.default_rng(SEED).integers(n, size=(n_resamples, n))


def test_naive_loop() -> None:
    data, n_resamples = systems(), 500
    totals = [[int(k.sum()) for k, _ in data]]
    totals += [[int(k[row].sum()) for k, _ in data] for row in drawn(40, n_resamples)]
    m = len(data)
    ranks = [[place(row, j) for j in range(m)] for row in totals]
    found = rank(data, rng=SEED, n_resamples=n_resamples)
    assert found.rank.tolist() == ranks[0]
    for j in range(m):
        column = sorted(row[j] for row in ranks[1:])
        assert found.p_first[j] == column.count(1) / n_resamples
        assert found.p_top3[j] == sum(r <= 3 for r in column) / n_resamples
        # Inverted CDF: the 13th smallest and the 488th of 500.
        assert (found.low[j], found.high[j]) == (column[12], column[487])
    assert found.name == "one_level"


def test_rank_sets_by_loops() -> None:
    data, n_resamples = systems(gap=0.08), 500
    rates = [k / r for k, r in data]
    draws = [[p[row].mean() for p in rates] for row in drawn(40, n_resamples)]
    found = rank(data, rng=SEED, n_resamples=n_resamples)
    m = len(data)
    for j in range(m):
        others = [i for i in range(m) if i != j]
        gap = [rates[i].mean() - rates[j].mean() for i in others]
        se = [(rates[i] - rates[j]).std(ddof=1) / 40**0.5 for i in others]
        largest = sorted(
            max(abs(row[i] - row[j] - g) / s for i, g, s in zip(others, gap, se, strict=True))
            for row in draws
        )
        # Linear interpolation between order statistics: .95 · 499 = 474.05.
        critical = largest[474] + 0.05 * (largest[475] - largest[474])
        better = sum(g / s > critical for g, s in zip(gap, se, strict=True))
        worse = sum(g / s < -critical for g, s in zip(gap, se, strict=True))
        assert (found.set_low[j], found.set_high[j]) == (1 + better, m - worse)
    # The example decides something.
    assert (found.set_low > 1).any()


def test_published_leaderboard() -> None:
    """VC section 5.1 on the default data: first places .57 .36 .10, spans of 2 to 4 ranks."""
    cells = tensor()
    found = rank([(k, 5) for k in cells.values()], name="two_level", n_resamples=20_000, rng=SEED)
    first = dict(zip(cells, found.p_first.tolist(), strict=True))
    # Statistics note 5.1: within .02 at 20,000 resamples.
    for model, p in {"Gemini 3.1 Pro": 0.57, "o4-mini": 0.36, "DeepSeek-R1": 0.10}.items():
        assert first[model] == pytest.approx(p, abs=0.02)
    spans = dict(zip(cells, (found.high - found.low + 1).tolist(), strict=True))
    assert spans.pop("Claude Haiku 4.5") == 1
    assert set(spans.values()) <= {2, 3, 4}


def test_two_level_law() -> None:
    """P(first) of two systems is the exact two-level comparison."""
    a, b = systems(m=2, gap=0.03)
    for name in ("one_level", "two_level"):
        exact = compare(a, b, name=name)
        found = rank([a, b], name=name, n_resamples=20_000, rng=SEED)
        for j, p in enumerate((exact.p_greater + exact.p_tie, 1 - exact.p_greater)):
            # Three standard errors of a share.
            assert found.p_first[j] == pytest.approx(p, abs=3 * (p * (1 - p) / 20_000) ** 0.5)
        assert found.p_first.sum() == pytest.approx(1 + exact.p_tie, abs=0.004)


@pytest.mark.parametrize("kind", ["equal runs", "unequal runs", "scores"])
def test_moments_of_the_laws(kind: str) -> None:
    """Var = (s² (N-1)/N [+ mean of the variance of a rerun])/N, by system."""
    rng = np.random.default_rng(8)
    if kind == "scores":
        data = [0.6 * rng.random((30, 1)) + 0.4 * rng.random((30, 4)) for _ in range(3)]
    else:
        runs = rng.integers(2, 6, size=30) if kind == "unequal runs" else np.full(30, 4)
        data = [rows_of(rng.binomial(runs, rng.random(30)), runs) for _ in range(3)]
    samples = [as_sample(y) for y in data]
    for name in ("one_level", "two_level"):
        draws = resampled_scores(samples, name, 20_000, np.random.default_rng(SEED))
        assert draws.shape == (20_000, 3)
        for j, y in enumerate(data):
            p = np.nanmean(y, axis=1)
            variance = p.var()
            if name == "two_level":
                variance += (np.nanvar(y, axis=1) / (~np.isnan(y)).sum(axis=1)).mean()
            # s.e. of a mean, and of a variance (relative sqrt(2/B) = 1%); three of each.
            assert draws[:, j].mean() == pytest.approx(
                p.mean(), abs=3 * (variance / 30 / 20_000) ** 0.5
            )
            assert draws[:, j].var() == pytest.approx(variance / 30, rel=0.03)
        # The same problems for all: two systems share the covariance of their rates.
        rates = np.stack([np.nanmean(y, axis=1) for y in data])
        expected = np.cov(rates, bias=True)[0, 1] / 30
        scale = rates.var(axis=1)[:2].max() / 30
        assert np.cov(draws.T)[0, 1] == pytest.approx(expected, abs=0.05 * scale)


# ---- ties -----------------------------------------------------------------------------------


def test_ties_share_the_better_rank() -> None:
    assert ranks_of(np.array([[0.5, 0.7, 0.5, 0.7, 0.1]])).tolist() == [[3, 1, 3, 1, 5]]
    # .1 + .2 and .3 are the same score.
    assert ranks_of(np.array([[0.1 + 0.2, 0.3]])).tolist() == [[1, 1]]
    # A step of the lattice of a million problems with ten runs is a difference.
    assert ranks_of(np.array([[0.5, 0.5 + 1e-7]])).tolist() == [[2, 1]]


@pytest.mark.parametrize(("n", "runs"), [(99, 5), (1024, 5), (512, 10), (2048, 5), (64, 3)])
def test_equal_totals_tie_whatever_the_order(n: int, runs: int) -> None:
    """Rounding of sums must not break a tie, whichever decimal the score is near."""
    rng = np.random.default_rng(SEED)
    passes = rng.integers(0, runs + 1, size=n)
    passes[0] += (passes.sum() + 1) % 2 * (1 if passes[0] < runs else -1)
    data = [(rng.permutation(passes), runs) for _ in range(8)]
    assert rank(data, rng=SEED, n_resamples=20).rank.tolist() == [1] * 8


def test_p_first_sums_to_more_than_one_with_ties() -> None:
    a = systems(m=1)[0]
    found = rank([a, a, systems(m=2)[1]], rng=SEED, n_resamples=200)
    assert found.p_first[0] == found.p_first[1]
    assert found.p_first.sum() > 1
    assert found.rank[0] == found.rank[1]


def test_identical_systems_cannot_be_told_apart() -> None:
    a = systems(m=1)[0]
    found = rank([a] * 4, rng=SEED, n_resamples=100)
    assert found.rank.tolist() == [1] * 4
    assert found.set_low.tolist() == [1] * 4
    assert found.set_high.tolist() == [4] * 4
    assert found.p_first.tolist() == [1] * 4


@pytest.mark.parametrize("name", ["one_level", "two_level"])
@pytest.mark.parametrize("gap", [0.0, 0.05, 0.2])
def test_sets_and_intervals_hold_the_observed_rank(name: str, gap: float) -> None:
    data = systems(m=8, gap=gap)
    found = rank(data, name=name, rng=SEED, n_resamples=300)
    assert (found.set_low <= found.rank).all()
    assert (found.rank <= found.set_high).all()
    assert (found.low <= found.high).all()
    assert found.low.min() >= 1
    assert found.set_high.max() <= 8
    assert (found.p_first <= found.p_top3).all()


def test_clear_order() -> None:
    """Problems solved by ever fewer systems: nothing is left open."""
    data = [((np.arange(200) < 180 - 60 * j).astype(int) * 3, 3) for j in range(3)]
    found = rank(data, rng=SEED, n_resamples=500)
    for field in ("rank", "low", "high", "set_low", "set_high"):
        assert getattr(found, field).tolist() == [1, 2, 3]
    assert found.p_first.tolist() == [1, 0, 0]


def test_order_of_systems_does_not_matter() -> None:
    data = systems()
    order = np.array([3, 0, 5, 1, 4, 2])
    one = rank(data, rng=SEED, n_resamples=300)
    two = rank([data[j] for j in order], rng=SEED, n_resamples=300)
    for field in ("rank", "low", "high", "set_low", "set_high", "p_first", "p_top3"):
        np.testing.assert_array_equal(getattr(one, field)[order], getattr(two, field))


def test_unequal_runs_rank_by_mean_rate() -> None:
    # Rates 1, 0 and 1/5: the mean is .5 against .6; totals would say 5/6 against 6/10.
    a, b = ([5, 0], [5, 1]), ([3, 3], [5, 5])
    assert rank([a, b], rng=SEED, n_resamples=50).rank.tolist() == [2, 1]


def test_scores() -> None:
    rng = np.random.default_rng(SEED)
    base = rng.random((60, 3))
    data = [np.clip(base - 0.2 * j + 0.01 * rng.random((60, 3)), 0, 1) for j in range(3)]
    for name in ("one_level", "two_level"):
        found = rank(data, name=name, rng=SEED, n_resamples=200)
        assert found.rank.tolist() == [1, 2, 3]
        assert found.set_high[0] == 1


def test_clusters_are_drawn_whole() -> None:
    """Twenty copies of ten problems, each a cluster, say no more than ten problems."""
    ten = systems(n=10)
    copies = [(np.repeat(k, 20), r) for k, r in ten]
    labels = np.repeat(np.arange(10), 20)
    one = rank(ten, rng=SEED, n_resamples=400)
    grouped = rank(copies, rng=SEED, n_resamples=400, clusters=labels)
    # The same stream of ten units a resample, so the same ranks.
    for field in ("rank", "low", "high", "p_first", "p_top3"):
        np.testing.assert_array_equal(getattr(grouped, field), getattr(one, field))
    alone = rank(copies, rng=SEED, n_resamples=400)
    assert (alone.set_high - alone.set_low).sum() < (grouped.set_high - grouped.set_low).sum()


def test_blocks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rank(systems(), rng=SEED, n_resamples=100)
    monkeypatch.setattr(resampling, "BLOCK", 7 * 40)
    parts = rank(systems(), rng=SEED, n_resamples=100)
    np.testing.assert_array_equal(whole.p_first, parts.p_first)
    np.testing.assert_array_equal(whole.set_low, parts.set_low)


@pytest.mark.parametrize("m", [3, 150])
def test_places_leave_some_pairs_undecided(m: int) -> None:
    samples, undecided = systems(m), [(0, 2), (m - 1, 0)]
    whole, some = rank(samples, rng=SEED), places(samples, undecided, rng=SEED)
    apart = whole.apart.copy()
    for i, j in undecided:
        apart[i, j] = apart[j, i] = 0
    for found, right in zip((some.set_low, some.set_high), rank_sets(apart), strict=True):
        np.testing.assert_array_equal(found, right)
    for name in ("rank", "low", "high", "p_first", "p_top3"):
        np.testing.assert_array_equal(getattr(some, name), getattr(whole, name))


def test_one_system() -> None:
    found = rank(systems(m=1), rng=SEED, n_resamples=20)
    assert (found.rank[0], found.set_low[0], found.set_high[0], found.p_first[0]) == (1, 1, 1, 1)


def test_bad_arguments() -> None:
    data = systems()
    with pytest.raises(ValueError, match="same problems"):
        rank([data[0], ([1, 2, 3], 3)])
    with pytest.raises(ValueError, match="name must be"):
        rank(data, name="fixed_t")
    with pytest.raises(ValueError, match="level must lie"):
        rank(data, level=2)
    with pytest.raises(TypeError, match="rng must be"):
        rank(data, rng=np.random.RandomState(1))
    with pytest.raises(ValueError, match="system"):
        rank([])


@pytest.mark.full
def test_rank_sets_cover_close_systems() -> None:
    """Statistics note 2: ten systems within .6 points; the sets hold the true rank in 97%."""
    hits, sets = np.zeros(10), 150
    truth = np.arange(1, 11)
    for s in range(sets):
        rng = np.random.default_rng([SEED, s])
        p = rng.beta(0.2, 0.12, size=99)
        data = [(rng.binomial(5, np.clip(p - 0.0006 * j, 0, 1)), 5) for j in range(10)]
        found = rank(data, rng=rng, n_resamples=500)
        hits += (found.set_low <= truth) & (truth <= found.set_high)
    # Three standard errors of 95% among 150.
    assert hits.min() / sets >= 0.95 - 3 * (0.05 * 0.95 / sets) ** 0.5


def test_a_constant_difference_settles_the_ranks() -> None:
    """All right against all wrong: no spread to resample, and no doubt either."""
    found = rank([([3] * 30, 3), ([0] * 30, 3)], rng=SEED, n_resamples=100)
    assert found.set_low.tolist() == found.set_high.tolist() == [1, 2]
    same = rank([([3] * 30, 3), ([3] * 30, 3)], rng=SEED, n_resamples=100)
    assert same.set_low.tolist() == [1, 1]
    assert same.set_high.tolist() == [2, 2]


def test_few_clusters_leave_ranks_open() -> None:
    """Three clusters resampled say too little: sets widen to what Student's t leaves."""
    rng = np.random.default_rng(SEED)
    labels = np.repeat(np.arange(3), 20)
    data = [(rng.binomial(3, 0.5 + 0.05 * m, 60), 3) for m in range(3)]
    wide = rank(data, rng=1, clusters=labels)
    plain = rank(data, rng=1)
    assert ((wide.set_high - wide.set_low) >= (plain.set_high - plain.set_low)).all()


def test_few_clusters_settle_ranks_by_bonferroni_t() -> None:
    """Four clusters of equal size: rank sets are those of t at .05/(M-1) with 3 df."""
    stats = pytest.importorskip("scipy.stats")
    g, size, runs = 4, 25, 4
    labels = np.repeat(np.arange(g), size)
    # Passes of a hundred runs by system and cluster.
    base, gaps = 50, [(0, 0, 0, 0), (5, 15, 10, 10), (-4, -16, -10, -10), (23, 37, 30, 30)]
    totals = base + np.array(gaps)
    spread_out = [[np.bincount(np.arange(k) % size, minlength=size) for k in row] for row in totals]
    data = [(np.concatenate(row), runs) for row in spread_out]
    found = rank(data, rng=SEED, n_resamples=500, clusters=labels)
    m = len(data)

    def sets(critical: float) -> list[tuple[int, int]]:
        rows = []
        for j in range(m):
            d = np.delete(totals, j, axis=0) - totals[j]
            t = d.mean(axis=1) * g**0.5 / d.std(axis=1, ddof=1)
            rows.append((1 + int((t > critical).sum()), m - int((t < -critical).sum())))
        return rows

    # No value of four lies further from their mean than (4-1)/√4 of their s, so that no
    # resampled |t| is above 3: Student's t decides.
    critical = stats.t.ppf(1 - 0.025 / (m - 1), g - 1)
    assert critical > g - 1
    assert [*zip(found.set_low, found.set_high, strict=True)] == sets(critical)
    # The example tells this level from one for a single pair, for M pairs, from G df and from z.
    for other in (
        stats.t.ppf(0.975, g - 1), stats.t.ppf(1 - 0.025 / m, g - 1),
        stats.t.ppf(1 - 0.025 / (m - 1), g), 3, stats.norm.ppf(1 - 0.025 / (m - 1)),
    ):  # fmt: skip
        assert sets(other) != sets(critical)
