import numpy as np
import pytest

from repeval import load
from repeval.companion.plots import pairs
from repeval.companion.words import sentences as say
from repeval.report.analysis import analyze


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


@pytest.mark.parametrize(("problems", "silent"), [(7, True), (8, False)])
def test_figures_and_words_say_where_problems_are_too_few_for_a_verdict(tidy, problems, silent):
    analysis = analyze(outcomes(tidy, problems, conditions=("x", "y")), n_resamples=50)
    about = analysis, analysis.condition
    for text in (
        pairs.adjacent_strip(*about).caption.lower(),
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
