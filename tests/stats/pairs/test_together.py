"""What is computed for many pairs at once is what is computed for each."""

import numpy as np
import pytest

from repeval.stats import comparison
from repeval.stats.components import difference_components, differences_components
from repeval.stats.noise_share import difference_profile_limits
from repeval.stats.pairs import hull, power, reruns
from repeval.stats.sample import from_counts, from_scores

N = 23


def pairs():
    rng = np.random.default_rng(3)
    runs = [3, 1, rng.integers(1, 4, N), rng.integers(2, 6, N), np.where(np.arange(N) < 4, 2, 1)]
    found = [from_counts(rng.binomial(r, rng.random(N)), np.broadcast_to(r, N)) for r in runs]
    found += [from_counts(np.full(N, 3), 3), from_scores(rng.random((N, 2)))]
    return [(a, b) for a in found for b in found if a is not b]


def alike(many, each) -> None:
    np.testing.assert_array_equal(np.asarray(many, dtype=object).astype(str),
                                  np.asarray(each, dtype=object).astype(str))  # fmt: skip


def test_each_is_as_if_alone():
    found = pairs()
    alike(hull.seen_noise(found).T, [hull.seen_noise([pair])[:, 0] for pair in found])
    alike(power.detectables_fixed(found), [power.detectable_fixed(*pair) for pair in found])
    alike(power.detectable_changes(found), [power.detectable_change(*pair) for pair in found])
    alike(differences_components(found), [difference_components(*pair) for pair in found])
    alike(comparison.pooled_zs(found), [comparison.pooled_z(*pair) for pair in found])
    many, each = difference_profile_limits(found), [difference_profile_limits([p]) for p in found]
    np.testing.assert_allclose(many, [limits for (limits,) in each], rtol=1e-12)


def test_problems_are_told_apart_as_if_alone():
    found = [pair for pair in pairs() if all(s.binary for s in pair)]
    many = reruns.apart(found, 0.8)
    for i, pair in enumerate(found):
        one, chance = reruns.separated(*pair, level=0.8), reruns.chance_flips(*pair)
        alike(many.a_better[i], one.a_better)
        alike(many.p_value[i], one.p_value)
        alike([many.by_chance[i], many.lower[i]], [one.by_chance, chance.lower])
    assert many.a_better.any()


@pytest.mark.filterwarnings("error")
def test_one_problem_with_two_runs_is_no_reason_to_warn():
    runs = np.where(np.arange(N) == 4, 2, 1)
    rng = np.random.default_rng(2606)
    one, two = (from_counts(rng.binomial(r, 0.5), r) for r in (runs, np.ones(N, dtype=int)))
    for pair in ((one, two), (one, one), (two, one)):
        assert np.isfinite(comparison.compare(*pair, name="paired").difference)
        difference_components(*pair)
        assert len(difference_profile_limits([pair])) == 1
