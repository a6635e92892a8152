"""Appendix F's claims on the default data."""

import dataclasses

import numpy as np
import pytest

from repeval import analyze, load
from repeval.companion.ledger import appendix_f, verdicts
from repeval.companion.ledger.results import Results


@pytest.fixture(scope="module")
def results():
    outcomes = load()
    return Results(analyze(outcomes), outcomes)


def test_verdicts(results):
    found = {v.claim.id: v for v in verdicts(results.analysis, results.outcomes, "Appendix F")}
    top = {f"vc-af-top1-{m}" for m in ("gemini31pro", "o4mini", "deepseekr1")}
    assert {key for key, v in found.items() if v.verdict == "calibrated"} == {
        *top, "vc-af-haiku-exact",
    }  # fmt: skip
    assert found["vc-af-comparisons"].verdict == "pinned"
    assert found["vc-af-top1-sum"].verdict == "holds"
    assert "printed cells" in found["vc-af-table8"].reason
    assert all(v.reason for v in found.values())
    # By the acceptance rule for these three, tighter than the ledger's.
    assert all(abs(found[key].computed - found[key].claim.value) < 0.025 for key in top)


def test_shares_are_those_of_the_analysis_but_for_monte_carlo(results):
    own = {
        r.model: r.two_level.p_first for r in results.analysis.ranks if r.condition == "Detailed"
    }
    for slug, model in {"gemini31pro": "Gemini 3.1 Pro", "qwenturbo": "Qwen-Turbo"}.items():
        share, se = appendix_f.first(results, slug)
        assert se == pytest.approx(np.sqrt(share * (1 - share) / appendix_f.RESAMPLES))
        n = results.analysis.settings.n_resamples
        assert share == pytest.approx(own[model], abs=4 * np.sqrt(share * (1 - share) / n + se**2))
    assert f"{appendix_f.RESAMPLES:,} times" in appendix_f.first.__doc__


def test_a_second_settled_model_is_named(results):
    rows = list(results.analysis.ranks)
    i = next(i for i, r in enumerate(rows) if r.condition == "Detailed" and r.rank == 3)
    law = dataclasses.replace(rows[i].two_level, rank_interval=(3, 3))
    rows[i] = dataclasses.replace(rows[i], two_level=law)
    analysis = dataclasses.replace(results.analysis, ranks=tuple(rows))
    assert set(appendix_f.settled(Results(analysis, results.outcomes))) == {
        rows[i].model, "Claude Haiku 4.5",
    }  # fmt: skip
