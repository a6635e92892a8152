"""Figures of the simulated temperature."""

import pandas as pd
import pytest

from repeval.companion.plots import temperature
from repeval.companion.studies import temperature as study

from .made import drawn


def test_truth_is_drawn_for_each_spread():
    data = drawn(temperature.truth()).data
    assert sorted(data["spread"].unique()) == sorted(study.SPREADS)
    for row in data.iloc[::17].itertuples():
        within, between = study.truth(row.spread, row.temperature)
        assert (row.within, row.between) == pytest.approx((within, between))
        assert row.ceiling == pytest.approx(1 + within / between)


@pytest.mark.parametrize(("n", "runs", "endless"), [(99, 5, True), (4, 2, True), (5000, 3, False)])
def test_estimates_of_any_size(n, runs, endless):
    rows = [row for s in study.SPREADS for row in study.rows(("x", s, n, runs), 2606, 300)]
    plot = drawn(temperature.estimates(pd.DataFrame(rows)))
    assert f"{n} problems with {runs} runs" in plot.caption
    assert ("An arrow" in plot.caption) == endless
    assert len(plot.data) == len(rows)
