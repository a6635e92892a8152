import warnings

import pytest

from repeval.companion.plots import problems, style

from .made import CASES, analysed, drawn, outcomes


@pytest.mark.parametrize("case", CASES)
def test_figures_of_problems_on_any_data(case):
    data, analysis = analysed(case)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=RuntimeWarning)
        drawn(problems.polarisation(data, "default"))
        drawn(problems.variance_split(analysis, "default"))


def test_polarisation_counts_problems_by_passes():
    data = outcomes(models=2, n=20, runs=(4,))
    found = problems.polarisation(data, "default").data
    for model in data.models:
        passes = data.system(model, "default").passes
        here = found[found["model"] == model].set_index("passes")["share"]
        assert here.sum() == pytest.approx(1)
        assert [20 * here[str(k)] for k in range(5)] == pytest.approx(
            [int((passes == k).sum()) for k in range(5)]
        )


def test_polarisation_bins_unequal_runs_by_pass_rate():
    data = outcomes(models=1, n=30, runs=(2, 5))
    found = problems.polarisation(data, "default").data.set_index("pass_rate")["share"]
    rate = data.system("m00", "default").rate
    assert 30 * found["0 %"] == pytest.approx((rate == 0).sum())
    assert 30 * found["100 %"] == pytest.approx((rate == 1).sum())
    assert 30 * found["to 60 %"] == pytest.approx(((rate > 0.4) & (rate <= 0.6)).sum())
    assert 30 * found["below 100 %"] == pytest.approx(((rate > 0.8) & (rate < 1)).sum())


def test_split_shows_the_aleatoric_share():
    _, analysis = analysed("three")
    found = problems.variance_split(analysis, "default").data.set_index("model")
    for s in analysis.systems:
        # Eq. 1 with R = 3, from the components alone.
        expected = s.within / 3 / (s.between + s.within / 3)
        assert found.loc[s.model, "run_noise"] == pytest.approx(expected)


def test_a_noise_above_the_spread_is_said():
    _, analysis = analysed("noise")
    assert min(s.between for s in analysis.systems) < 0
    assert "as large as the whole spread" in problems.variance_split(analysis, "default").caption


def test_where_nothing_varied_no_second_run_is_asked_for():
    _, analysis = analysed("always right")
    caption = problems.variance_split(analysis, "default").caption
    assert "nothing varied" in caption
    assert "two runs" not in caption


def test_more_systems_than_fit_are_announced():
    data, analysis = analysed("forty-two")
    for plot in (
        problems.polarisation(data, "default"),
        problems.variance_split(analysis, "default"),
    ):
        assert plot.data["model"].nunique() <= style.MOST
        assert "The first 40 of 42 models are shown." in plot.caption
