import numpy as np
import pytest

from repeval import load
from repeval.companion.plots import conditions, pairs
from repeval.companion.words import sentences as say
from repeval.report.analysis import analyze
from repeval.stats import allocation


def outcomes(tidy, problems, *, runs=2, conditions=("default",)):
    rng = np.random.default_rng(2606)
    return load(
        tidy(
            [
                {"model": m, "condition": c, "problem": f"q{i}", "run": r,
                 "outcome": int(rng.random() < rate), "family": f"f{i % 5}"}
                for m, rate in (("a", 0.7), ("b", 0.5)) for c in conditions
                for i in range(problems) for r in range(runs)
            ]
        )
    )  # fmt: skip


def test_the_next_purchase_is_dearer_than_a_plan_from_scratch():
    analysis = analyze(load(), n_resamples=50)
    found = analysis.summary[analysis.condition]
    price = allocation.break_even(found.noise_ratio, 5) + 1
    assert "From 5 runs of each problem" in say.next_purchase(analysis, analysis.condition)
    assert f"over {price:.0f} runs" in say.next_purchase(analysis, analysis.condition)
    assert price > found.break_even.ratio_of_medians


def test_from_one_run_the_next_purchase_is_not_known(tidy):
    analysis = analyze(outcomes(tidy, 20, runs=1), n_resamples=50)
    assert "cannot be said" in say.next_purchase(analysis, "default")


@pytest.mark.parametrize(("problems", "silent"), [(7, True), (8, False)])
def test_figures_and_words_say_where_problems_are_too_few_for_a_verdict(tidy, problems, silent):
    analysis = analyze(outcomes(tidy, problems, conditions=("x", "y")), n_resamples=50)
    about = analysis, analysis.condition
    for text in (
        pairs.adjacent_strip(*about).caption.lower(),
        conditions.differences(analysis).caption.lower(),
        say.problems_needed(*about),
    ):
        assert ("no verdict on new" in text) == silent


def test_a_picture_of_clusters_names_no_bootstrap(tidy):
    for cluster, law in (("family", "Student's t"), (None, "within them")):
        analysis = analyze(outcomes(tidy, 40), n_resamples=50, cluster=cluster)
        assert law in say.picture(analysis)
        assert ("clusters" in say.units(analysis)) == bool(cluster)
        caption = pairs.leads_matrix(analysis, "default").caption
        assert ("resampled" in caption) != bool(cluster)
