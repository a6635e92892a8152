import numpy as np
import pandas as pd
import pytest
from scipy import stats

from repeval import accuracy, bootstrap
from repeval.companion.ledger import bs
from repeval.companion.plots import strategies, strategy_grid
from repeval.companion.studies import strategies as study
from repeval.stats.allocation import width_factor

from .made import drawn

CELL = strategy_grid.CELL


@pytest.fixture(scope="module")
def table():
    """A small study: figures and sentences follow it whatever it says."""
    size = {**study.SIZES["quick"], "trials": 20, "n_resamples": 50}
    tasks = study.tasks(None, **size)
    return pd.DataFrame([row for task in tasks for row in study.rows(task, 2606, **size)])


@pytest.fixture(scope="module")
def as_printed(table):
    """The same, with the post's figures where it prints some."""
    printed = strategy_grid.printed().set_index(CELL)
    copy = table.set_index(CELL)
    copy.update(printed)
    return copy.reset_index()


def test_the_example_is_what_the_model_gives_on_average():
    n, k = strategies.EXAMPLE.shape
    share, right = study.TABLE.sum(axis=1) / 500, study.TABLE.diagonal() / study.TABLE.sum(axis=1)
    expected = n * share @ stats.binom.pmf(np.arange(k + 1), k, right[:, None])
    counts = np.bincount(strategies.EXAMPLE.sum(axis=1).astype(int))
    assert np.abs(counts - expected).max() < 1
    assert strategies.EXAMPLE.mean(axis=0) == pytest.approx(np.full(k, 0.7))


@pytest.mark.parametrize("strategy", strategies.WORDS)
def test_the_laws_are_those_of_the_bootstrap(strategy):
    law, b = strategies.example_laws()[strategy], 20_000
    runs = strategies.EXAMPLE[:, :1] if strategy == "iid" else strategies.EXAMPLE
    found = bootstrap((np.ones(len(runs)), runs), accuracy, strategy, n_resamples=b, rng=2606)
    place = np.rint(found.bootstrap_distribution / law.step).astype(int) - law.start
    seen = np.bincount(place, minlength=law.pmf.size).cumsum() / b
    # 1.95/√B is the 0.1% point of Kolmogorov and Smirnov.
    assert np.abs(seen - law.cdf).max() < 1.95 / np.sqrt(b)


def test_iccs_are_those_of_the_specification():
    assert strategies.icc("accuracy") == pytest.approx(0.02506505, abs=5e-9)
    assert strategies.icc("kappa") == pytest.approx(0.0251485, abs=5e-8)


def test_modes_with_four_labels_and_with_two():
    # From the specification; p³ + 3p²(1-p), and its like for five.
    printed = {1: (0.7, 0.7), 2: (0.7, 0.7), 3: (0.808378, 0.784), 5: (0.878438, 0.83692)}
    for k, expected in printed.items():
        assert strategies.mode_accuracy(k) == pytest.approx(expected, abs=5e-7)
    plot = drawn(strategies.modes())
    assert "k = 3: 80.8 %, 78.4 %" in plot.caption


def test_figures_of_laws_and_spreads():
    plot = drawn(strategies.five_laws())
    total = plot.data.groupby("strategy")["probability"].sum()
    assert total.tolist() == pytest.approx([1] * 5, abs=1e-4)
    # The grid on top has three runs that are 70 % right, and the mode, right for 16 of 20.
    assert "right for 80 % of the inputs, single ones in 70 %" in plot.caption
    found = drawn(strategies.spreads()).data.set_index("runs")
    assert found.loc[1].tolist() == pytest.approx([1] * 4)
    assert found["cluster"].tolist() == pytest.approx(width_factor(bs.icc(), found.index) ** 2)
    assert found.loc[3, "mode_aggregate"] == pytest.approx(0.808378 * 0.191622 / 0.21, abs=5e-6)


def test_theory_is_that_of_the_specification(table):
    found = strategy_grid.cells(table, "accuracy").set_index(["strategy", "n", "k"])["theory"]
    expected = {
        ("iid", 100, 1): 95.02, ("iid", 200, 1): 95.50, ("iid", 400, 1): 95.56,
        ("mode_aggregate", 200, 3): 5.25, ("cluster", 200, 3): 95,
    }  # fmt: skip
    for cell, theory in expected.items():
        assert found[cell] == pytest.approx(theory, abs=0.005)
    for k, single, both in ((2, 99.4, 98.3), (3, 99.9, 98.7), (5, 100.0, 99.0)):
        assert found["single_draw", 200, k] == pytest.approx(single, abs=0.05)
        assert found["hierarchical", 200, k] == pytest.approx(both, abs=0.05)
    kappa = strategy_grid.cells(table, "kappa").set_index(["strategy", "n", "k"])["theory"]
    assert np.isnan(kappa["mode_aggregate", 200, 3])
    assert kappa["mode_aggregate", 200, 2] == 95


@pytest.mark.parametrize(("statistic", "rows"), [("accuracy", (13, 15)), ("kappa", (17, 21))])
def test_grids_show_every_printed_cell(table, statistic, rows):
    plots = [f(table, statistic) for f in (strategy_grid.by_runs, strategy_grid.by_inputs)]
    for plot, n in zip(plots, rows, strict=True):
        assert len(drawn(plot).data) == n
        low = plot.data[plot.data["coverage"] < strategy_grid.LOWEST]
        texts = [t.get_text().split()[0] for t in plot.figure.axes[0].texts]
        assert sorted(texts) == sorted(f"{c:.1f}" for c in low["coverage"])
    both = pd.concat([p.data for p in plots])[CELL].drop_duplicates()
    printed = strategy_grid.printed()
    assert len(both) == (printed["statistic"] == statistic).sum()


def test_agreement_follows_the_table(as_printed):
    text = strategy_grid.agreement(as_printed, "accuracy", "full")
    assert "Of 23 coverages, 0 are more" in text
    assert "differ by 0.0 %" in text
    cell = as_printed[CELL].eq([200, 3, "cluster", "percentile", "accuracy"]).all(axis=1)
    moved = as_printed.copy()
    # Far enough for any error of 20 trials.
    moved.loc[cell, ["coverage", "coverage_se"]] = 50.0, 5.0
    moved.loc[cell, "width"] *= 1.1
    text = strategy_grid.agreement(moved, "accuracy", "full")
    assert "1 are more" in text
    assert "the worst, cluster with N = 200 and k = 3" in text
    assert "differ by 10.0 %" in text
    # With fewer resamples the same widths are too long.
    assert "differ by 0.0 %" not in strategy_grid.agreement(as_printed, "accuracy", "quick")


def test_the_mode_of_three_is_as_far_off_as_listed(as_printed):
    text = strategy_grid.mode_of_three(as_printed)
    # 6.7 against 5.25 with 2,000 trials: s.e. of 5.25 % is 0.4987.
    assert "prints 6.7 %" in text
    assert "is 5.25 %, from which the printed figure is 2.9" in text
    assert text.endswith("here it is 6.7 %.")


def test_gains_of_bca(as_printed, table):
    # The post's differences: +0.2, +0.3, +0.5 with 200 inputs, +0.3 with 100, +0.2 with 400.
    text = strategy_grid.bca_gain(as_printed.assign(trials=2000), "kappa")
    assert "+0.3 (N = 100, k = 5), +0.2 (N = 200, k = 2), +0.3 (N = 200, k = 3)" in text
    assert "10 of 2,000 trials at most" in text
    text = strategy_grid.printed_gain()
    assert "adds 0.2 to 0.5 points" in text
    assert "With N = 400 it moves 95.4 % to 95.6 %." in text
    assert "20 trials with 5,000 resamples" in strategy_grid.setting(table, "full")


def test_sides_are_means_over_settings(table):
    rows = (table["strategy"] == "cluster") & (table["statistic"] == "kappa")
    bca = rows & (table["interval"] == "bca")
    table = table.assign(below=4.0, above=1.0, trials=2000)
    table.loc[bca, ["below", "above"]] = 2.25, 2.75
    table.loc[bca & (table["n"] == 400), "below"] = 3.5
    text = strategy_grid.sides(table, "kappa")
    # (4 · 2.25 + 3.5)/5; a share of 2.5 % of 10,000 has a standard error of 0.156 points.
    assert "Of all 10,000 percentile intervals 4.0 % lie wholly below" in text
    assert "1.0 % wholly above it; of those by BCa 2.5 % and 2.8 %" in text
    assert text.endswith("2.5 % at each end; the standard error of such a share is 0.2.")


def test_other_intervals_are_side_by_side(table):
    found = strategy_grid.other_intervals(table, "kappa").set_index(["N", "k"])
    assert len(found) == 8
    row = table.set_index(["statistic", "interval", "n", "k"]).loc["kappa", "normal", 100, 1]
    assert found.loc[(100, 1), "width, normal"] == f"{row['width']:.4f}"
    assert found.notna().sum().tolist() == [8, 5, 3, 8, 5, 3]
    everything = strategy_grid.other_intervals(table, "accuracy")
    assert everything.notna().sum().tolist() == [8, 8, 8, 5, 8, 8, 5, 8]
