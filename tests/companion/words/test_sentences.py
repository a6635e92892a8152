import numpy as np
import pytest

from repeval import load
from repeval.companion.plots import conditions
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
def test_a_figure_says_where_problems_are_too_few_for_a_verdict(tidy, problems, silent):
    analysis = analyze(outcomes(tidy, problems, conditions=("x", "y")), n_resamples=50)
    caption = conditions.differences(analysis).caption.lower()
    assert ("no verdict on new" in caption) == silent
