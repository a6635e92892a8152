"""Appendix H's claims on the default data."""

import pytest

from repeval import analyze, load
from repeval.companion.ledger import appendix_h, verdicts
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.verdicts import _find
from repeval.companion.studies import result, subsets


@pytest.fixture(scope="module")
def results():
    outcomes = load()
    return Results(
        analyze(outcomes, n_resamples=200), outcomes, lambda name: result(name, outcomes)
    )


@pytest.fixture(scope="module")
def found(results):
    every = [
        v for section in ("Appendix H", "5.2")
        for v in verdicts(results.analysis, results.outcomes, section, study=results.study)
    ]  # fmt: skip
    return {v.claim.id: v for v in every}


def test_verdicts(found):
    home = appendix_h.__name__
    own = {k: v.verdict for k, v in found.items() if (f := _find(k)) and f[0].__module__ == home}
    assert own == {
        "vc-ah-n30": "holds", "vc-ah-n70": "holds", "vc-s52-n50-band": "holds",
        "vc-ah-turbo-n50": "calibrated", "vc-ah-flash-n50": "calibrated",
        "vc-ah-undefined": "holds",
    }  # fmt: skip
    assert all(found[key].reason for key in own)
    assert {k for k, v in found.items() if v.verdict == "not checkable"} == {
        "vc-ah-sizes", "vc-ah-table10",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "n", "model"),
    [("vc-ah-n30", 30, subsets.MEDIAN), ("vc-s52-n50-band", 50, subsets.MEDIAN),
     ("vc-ah-n70", 70, subsets.MEDIAN), ("vc-ah-turbo-n50", 50, "Qwen-Turbo"),
     ("vc-ah-flash-n50", 50, "Gemini 3 Flash")],
)  # fmt: skip
def test_each_claim_reads_its_own_row(results, found, key, n, model):
    row = results.study("subsets").set_index(["n", "model"]).loc[n, model]
    assert found[key].computed == [row["low"], row["high"]]
    assert found[key].se == row["se"]


def test_undefined_is_of_any_system(results, found):
    any_system, given = subsets.undefined(results.study("subsets"))
    assert found["vc-ah-undefined"].computed == any_system
    assert given < any_system
    n = subsets.SIZES["quick"]["draws"]
    assert found["vc-ah-undefined"].se == pytest.approx((any_system * (1 - any_system) / n) ** 0.5)
