"""Appendix E's claims on the default data, and from tables made for the test."""

import pytest

from repeval import analyze, load
from repeval.companion.ledger import appendix_e, verdicts
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.verdicts import _find
from repeval.companion.studies import pilot, result


@pytest.fixture(scope="module")
def results():
    outcomes = load()
    return Results(
        analyze(outcomes, n_resamples=200), outcomes, lambda name: result(name, outcomes)
    )


def judged(results, study=None):
    """Return the verdicts that this module gives, by id."""
    sections = ("Appendix E", "5.3")
    found = [
        v for section in sections
        for v in verdicts(results.analysis, results.outcomes, section, study=study or results.study)
    ]  # fmt: skip
    home = appendix_e.__name__
    return {
        v.claim.id: v for v in found
        if (match := _find(v.claim.id)) and match[0].__module__ == home
    }  # fmt: skip


def test_verdicts(results):
    found = judged(results)
    grouped = {}
    for key, v in found.items():
        grouped.setdefault(v.verdict, set()).add(key)
    # What two runs give is listed as a limit of the stand-in, and may agree or not.
    open_ = {
        "vc-ae-r2-ceiling", "vc-s53-pilot-ceiling-mae", "vc-ae-positive", "vc-s53-never-negative",
        "vc-ae-boot-pos",
    }  # fmt: skip
    assert grouped.pop("known") <= open_
    assert grouped.pop("calibrated") == {"vc-ae-median-excess"}
    assert set(grouped) == {"holds"}
    assert set(found) - open_ - {"vc-ae-median-excess"} == {
        "vc-ae-total-splits", "vc-ae-r2-icc", "vc-ae-r3-ceiling", "vc-ae-r3-icc",
        "vc-ae-floor-ceiling", "vc-ae-floor-icc", "vc-ae-ref-nonpos", "vc-ae-ci-r2",
        "vc-ae-ci-r3", "vc-ae-ci-r5", "vc-ae-ci-gain", "vc-s53-pilot-icc-mae",
        "vc-s53-floor-ceiling", "vc-s53-floor-icc",
    }  # fmt: skip
    assert all(v.reason for v in found.values())


def test_what_is_left_open_says_why(results):
    rest = verdicts(results.analysis, results.outcomes, "Appendix E", study=results.study)
    left = {v.claim.id: v.reason for v in rest if v.verdict == "not checkable"}
    assert set(left) == {"vc-ae-splits", "vc-ae-halves", "vc-ae-table7"}
    assert all(left.values())


def test_each_claim_reads_its_own_rows(results):
    errors = pilot.errors(results.study("pilot")).set_index(["runs", "reference"])
    widths = pilot.widths(results.study("pilot")).set_index("runs")
    found = judged(results)
    for runs in (2, 3):
        for name in ("ceiling", "icc"):
            v = found[f"vc-ae-r{runs}-{name}"]
            assert v.computed == sorted(errors.loc[runs, name])
            assert v.se == errors.loc[runs, f"{name}_se"].max()
    for name in ("ceiling", "icc"):
        floor = errors.loc[(5, "all")]
        for key in (f"vc-ae-floor-{name}", f"vc-s53-floor-{name}"):
            assert (found[key].computed, found[key].se) == (floor[name], floor[f"{name}_se"])
        four = errors.loc[[2, 3], name]
        assert found[f"vc-s53-pilot-{name}-mae"].computed == [four.min(), four.max()]
    for runs in (2, 3, 5):
        v = found[f"vc-ae-ci-r{runs}"]
        assert (v.computed, v.se) == tuple(widths.loc[runs, ["width", "width_se"]])
    assert found["vc-ae-boot-pos"].computed == widths.loc[2, "positive"]


def test_halves_without_a_ceiling_are_counted(results):
    table = results.study("pilot").assign(estimate=0.5, unused=0.5)
    at = {runs: table.index[table["runs"] == runs] for runs in (2, 3, 5)}
    table.loc[at[2][:3], "estimate"] = -0.1
    table.loc[at[3][:2], "estimate"] = 0.0
    table.loc[at[3][5:9], "unused"] = -0.1
    table.loc[at[2][5:10], "unused"] = -0.1
    found = judged(results, lambda _: table)
    assert found["vc-ae-positive"].computed == [2797, 2800]
    assert found["vc-s53-never-negative"].computed == 5
    assert found["vc-ae-ref-nonpos"].computed == 4
