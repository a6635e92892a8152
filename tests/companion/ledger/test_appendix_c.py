"""Appendix C on the default data, against the bands of the reconstruction's own evaluation."""

import dataclasses

import pandas as pd
import pytest

from repeval import analyze, load
from repeval.companion.ledger import appendix_c, verdicts
from repeval.companion.ledger.results import Results
from repeval.companion.studies import result
from tests.oracles import NOT_CLEAN, histograms

# What the reconstruction's prototype gave with other draws of splits: one split, averaged.
PROTOTYPE = {
    ("clean", "retry-free"): (7.8, 1.58), ("all", "retry-free"): (7.7, 1.65),
    ("clean", "pass@3"): (6.7, 1.02), ("all", "pass@3"): (6.5, 0.98),
    ("clean", "carry-over"): (7.7, None), ("all", "carry-over"): (7.7, None),
}  # fmt: skip


@pytest.fixture(scope="module")
def outcomes():
    return load()


@pytest.fixture(scope="module")
def analysis(outcomes):
    return analyze(outcomes, n_resamples=200)


@pytest.fixture(scope="module")
def results(analysis, outcomes):
    return Results(analysis, outcomes, lambda name: result(name, outcomes))


@pytest.fixture(scope="module")
def found(analysis, outcomes, results):
    sections = ("Appendix C", "Appendix C footnote")
    both = [v for s in sections for v in verdicts(analysis, outcomes, s, study=results.study)]
    return {v.claim.id: v for v in both}


def test_half_splits_are_as_the_prototype_found(results):
    rows = appendix_c.split_errors(results).set_index(["systems", "quantity"])
    for key, (one_split, averaged) in PROTOTYPE.items():
        row = rows.loc[key]
        # Two draws of as many seeds, three standard errors; half a unit of the printed digit.
        assert row["one_split"] == pytest.approx(
            one_split, abs=3 * 2**0.5 * row["one_split_se"] + 0.05
        )
        if averaged:
            assert row["averaged"] == pytest.approx(
                averaged, abs=3 * 2**0.5 * row["averaged_se"] + 0.005
            )
        assert row["lowest"] < row["averaged"] < row["highest"]


def test_ranges_are_over_as_many_seeds_as_the_papers(results):
    """Twice as many seeds give the mean of two ranges, not a wider one."""
    study = results.study("halfsplits")
    twice = pd.concat([study, study.assign(seed=study["seed"] + 20)])
    two = appendix_c.split_errors(Results(results.analysis, results.outcomes, lambda _: twice))
    one = appendix_c.split_errors(results)
    for column in ("one_split", "averaged", "lowest", "highest"):
        assert two[column].tolist() == pytest.approx(one[column].tolist(), abs=1e-9)


def test_table_5_is_within_the_bands(results):
    """Bands over six placements of the runs; the floor is that of the histograms."""
    rows = appendix_c.table5(results).set_index(["systems", "runs"])
    clean = rows.loc["clean"]
    assert list(clean.index) == [2, 3, 4, 5]
    assert 2.11 <= clean.loc[2, "all_runs"] <= 2.39
    assert 1.43 <= clean.loc[3, "all_runs"] <= 1.62
    assert 2.16 <= clean.loc[2, "own"] <= 2.58
    assert 1.53 <= clean.loc[3, "own"] <= 1.73
    assert clean.loc[5].tolist() == pytest.approx([0.998] * 2, abs=5e-4)
    assert rows.loc["all", 5].tolist() == pytest.approx([1.07] * 2, abs=5e-3)


def test_baselines_from_histograms_alone(results):
    errors = appendix_c.baselines(results)["error"]
    assert errors[0] == pytest.approx(2.890, abs=5e-4)
    powers = [
        [(sum(k * n for k, n in enumerate(h)) / 495) ** 5 - h[5] / 99
         for h in histograms(prompt).values()]
        for prompt in ("Detailed", "Minimal")
    ]  # fmt: skip
    detailed, minimal = (sum(map(abs, p)) for p in powers)
    assert errors[1] == pytest.approx(100 * detailed / 16, abs=1e-9)
    assert errors[2] == pytest.approx(100 * (detailed + minimal) / 32, abs=1e-9)


def test_undefined_fits_are_counted(results):
    study = results.study("halfsplits")
    counts = study[study["quantity"] == "pass@3"].groupby("model")["undefined"].sum()
    text = appendix_c.undefined(results)
    assert text.startswith(f"No Beta law fits {counts.sum()} of 16,000 first halves (Qwen-Turbo ")
    none = Results(results.analysis, results.outcomes, lambda _: study.assign(undefined=0))
    assert appendix_c.undefined(none) == "No Beta law fits 0 of 16,000 first halves."


def test_verdicts(found):
    of = {verdict: set() for verdict in ("holds", "calibrated", "pinned", "known", "differs")}
    for key, v in found.items():
        of.setdefault(v.verdict, set()).add(key.removeprefix("vc-ac-"))
    assert of["differs"] == set()
    assert of["known"] == {"t5-r2", "t5-r3"}
    assert of["calibrated"] == {"loo-mae", "t5-floor"}
    assert of["pinned"] == {"loo-others", "homog"}
    quantities = ("cov", "pass3")
    assert of["holds"] == {
        "carryover-mae",
        "halves",
        *(f"{q}-{what}" for q in quantities for what in ("mae", "bias", "bias-range")),
    }


def test_what_is_not_checked_says_why(found):
    left = [v for v in found.values() if v.verdict == "not checkable"]
    assert {v.claim.id for v in left if "authors' seed" in v.reason} == {
        "vc-ac-cov-bias-released", "vc-ac-pass3-bias-released", "vc-fn1-cov", "vc-fn1-pass3",
    }  # fmt: skip
    others = {v.claim.id: v.reason for v in left if "authors' seed" not in v.reason}
    assert set(others) == {"vc-ac-splits", "vc-ac-seeds", "vc-ac-table5"}
    assert all(others.values())


def test_a_copy_of_the_data_without_their_defaults_gives_the_same(results):
    source = dataclasses.replace(results.outcomes.source, excluded=(), default_condition=None)
    outcomes = dataclasses.replace(results.outcomes, source=source)
    copy = Results(results.analysis, outcomes, results.study)
    pd.testing.assert_frame_equal(appendix_c.table5(copy), appendix_c.table5(results))
    assert set(appendix_c.groups(copy)["all"]) - set(appendix_c.groups(copy)["clean"]) == set(
        NOT_CLEAN
    )
