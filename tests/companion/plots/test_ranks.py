import pytest

from repeval.companion.plots import ranks, style
from repeval.companion.words import ranks as words

from .made import CASES, analysed, drawn


@pytest.mark.parametrize("case", CASES)
def test_rank_limits_on_any_data(case):
    _, analysis = analysed(case)
    plot = drawn(ranks.rank_limits(analysis, "default"))
    models = len(analysis.ranked("default"))
    assert len(plot.data) == (min(models, style.MOST) if models > 1 else 0)
    assert ("first 40 of 42" in plot.caption) == (models == 42)


def test_bars_are_the_intervals_of_the_analysis():
    _, analysis = analysed("three")
    plot = ranks.rank_limits(analysis, "default")
    lines = plot.figure.axes[0].lines
    for kind, (shift, colour, _) in ranks.LOOKS.items():
        bars = [line for line in lines if line.get_color() == colour]
        assert len(bars) == len(analysis.ranks)
        for y, (row, bar) in enumerate(zip(analysis.ranks, bars, strict=True)):
            low, high = words.limits(row, kind)
            assert list(bar.get_xdata()) == [low - 0.25, high + 0.25]
            assert bar.get_ydata()[0] == y + shift
            assert tuple(plot.data.loc[y, [f"{kind}_low", f"{kind}_high"]]) == (low, high)
    assert words.reaches(analysis, "default") in plot.caption
