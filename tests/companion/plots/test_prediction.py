import pandas as pd
import pytest

from repeval.companion.plots import prediction

from .made import drawn


def study(default):
    rows = [
        (s.model, seed, quantity, 0.5 + 0.01 * i + 0.1 * seed, 0.5, error)
        for i, s in enumerate(default.ranked(default.condition))
        for seed in range(2)
        for quantity, error in (("retry-free", 0.08), ("pass@3", 0.06), ("carry-over", 0.5))
    ]
    names = ["model", "seed", "quantity", "predicted", "observed", "one_split"]
    return pd.DataFrame(rows, columns=names)


def test_points_are_means_over_seeds_and_triangles_powers(default):
    plot = drawn(prediction.held_out(study(default), default))
    rows = plot.data.set_index(["model", "quantity"])
    for i, s in enumerate(default.ranked(default.condition)):
        for quantity, error in (("retry-free", 8), ("pass@3", 6)):
            assert rows.loc[(s.model, quantity)].tolist() == pytest.approx(
                [55 + i, 50, error, 100 * s.mean**5]
            )
    assert len(rows) == 2 * len(default.ranked(default.condition))
    text = "8.0 points (retry-free) and 6.0 points (pass@3), on average over 16 models"
    assert text in plot.caption
    assert text in plot.alt
    axes = plot.figure.axes[0]
    (triangles,) = [line for line in axes.lines if line.get_marker() == "^"]
    assert sorted(triangles.get_ydata()) == pytest.approx(
        sorted(100 * s.mean**5 for s in default.ranked(default.condition))
    )


def test_bars_are_labelled_with_the_cells():
    table = pd.DataFrame({"runs": [2, 3], "all_runs": [2.381, 1.2], "own": [2.48, 1.2]})
    plot = drawn(prediction.by_runs(table))
    axes = plot.figure.axes[0]
    assert [t.get_text() for t in axes.texts] == ["2.38", "1.20", "2.48", "1.20"]
    assert [bar.get_height() for bar in axes.patches] == [2.381, 1.2, 2.48, 1.2]
    assert "From 2 runs 2.38 or 2.48 points, from all 3 runs 1.20" in plot.caption
    assert axes.get_ylim()[0] == 0
