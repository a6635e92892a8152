"""The study of rank intervals: what it counts, and that close systems are what breaks them."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from repeval.companion.studies import rank_coverage as study

SEED = 2606


def test_it_counts_the_true_ranks_that_are_held(monkeypatch):
    means = []

    def fixed(systems, name, n_resamples, rng):
        means.append([s.rate.mean() for s in systems])
        one, m = np.ones(len(systems), dtype=int), len(systems)
        high = {"one_level": 3, "two_level": 5}[name]
        return SimpleNamespace(low=one, high=high * one, set_low=2 * one, set_high=m * one)

    monkeypatch.setattr(study, "rank", fixed)
    table = pd.DataFrame(study.rows(("x", 0.4), SEED, sets=40, resamples=1))
    held = table.pivot(index="rank", columns="kind", values="held")
    assert held["one_level"].tolist() == [40] * 3 + [0] * 7
    assert held["two_level"].tolist() == [40] * 5 + [0] * 5
    assert held["set"].tolist() == [0] + [40] * 9
    assert table.groupby("kind")["length"].first().to_dict() == {
        "one_level": 3, "set": 9, "two_level": 5,
    }  # fmt: skip
    # Best first: true scores fall from 0.6 by 0.4; s.e. of a mean of 40 sets is below 0.01.
    truth = 0.6 - np.linspace(0, 0.4, study.SYSTEMS)
    assert np.mean(means, axis=0) == pytest.approx(truth, abs=0.04)


def test_close_systems_break_percentile_intervals_and_not_sets():
    sizes = {"sets": 25, "resamples": 200}
    share = {}
    for task in study.tasks(None, **sizes):
        table = pd.DataFrame(study.rows(task, SEED, **sizes))
        share[task[1]] = (table["held"] / table["sets"]).groupby(table["kind"]).mean()
    close, far = share[min(study.SPREADS)], share[max(study.SPREADS)]
    # 250 ranks each, s.e. below 0.03; about 0.86 in longer runs.
    assert close["one_level"] < 0.95
    assert close["two_level"] < 0.95
    assert close["set"] > 0.97
    assert far.min() > 0.97
