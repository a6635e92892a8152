"""Appendix G's claims on the default data, and on outcomes made for the test."""

import dataclasses

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import cochrans_q

from repeval import analyze, load
from repeval.companion.ledger import appendix_g, verdicts
from repeval.companion.ledger.results import Results
from repeval.io.outcomes import Outcomes

LEFT_OUT = ("o4-mini", "Gemini 2.5 Flash+Think")


@pytest.fixture(scope="module")
def results():
    outcomes = load()
    return Results(analyze(outcomes, n_resamples=100), outcomes)


@pytest.fixture(scope="module")
def found(results):
    return {v.claim.id: v for v in verdicts(results.analysis, results.outcomes, "Appendix G")}


@pytest.fixture(scope="module")
def tables(results):
    """Every clean system's outcomes by problem and run label, from the rows themselves."""
    rows = results.outcomes.frame[~results.outcomes.frame["model"].isin(LEFT_OUT)]
    return {
        condition: [
            own.pivot(index="problem", columns="run", values="outcome").to_numpy()
            for _, own in of.groupby("model")
        ]
        for condition, of in rows.groupby("condition")
    }


def test_verdicts(found):
    grouped = {}
    for key, v in found.items():
        grouped.setdefault(v.verdict, set()).add(key.removeprefix("vc-ag-"))
    assert grouped == {
        "calibrated": {"gap-detailed", "gap-minimal", "q-detailed", "q-minimal", "perm-p"},
        "known": {"q-min", "adjacent", "nonadjacent"},
        "holds": {"agree-identity"},
        "not checkable": {"table9"},
    }
    assert all(v.reason for v in found.values())


def test_label_figures_are_those_of_statsmodels(found, tables):
    smallest = []
    for condition, of in tables.items():
        tests = [cochrans_q(y) for y in of]
        smallest += [t.pvalue for t in tests]
        p = stats.chi2.sf(sum(t.statistic for t in tests), 4 * 14)
        assert found[f"vc-ag-q-{condition.lower()}"].computed == pytest.approx(p)
        gap = 100 * np.ptp(np.concatenate(of).mean(axis=0))
        assert found[f"vc-ag-gap-{condition.lower()}"].computed == pytest.approx(gap)
    assert found["vc-ag-q-min"].computed == pytest.approx(min(smallest))


def test_agreement_pools_both_prompts(found, tables):
    y = np.concatenate([*tables["Detailed"], *tables["Minimal"]])
    y = y[np.ptp(y, axis=1) > 0]
    i, j = np.triu_indices(5, 1)
    agree, near = y[:, i] == y[:, j], j - i == 1
    assert found["vc-ag-adjacent"].computed == pytest.approx(agree[:, near].mean())
    assert found["vc-ag-nonadjacent"].computed == pytest.approx(agree[:, ~near].mean())


def test_the_limit_is_one(found, tables):
    """The passes alone fix the agreement of all pairs, outside what the printed shares allow."""
    k = np.concatenate([*tables["Detailed"], *tables["Minimal"]]).sum(axis=1)
    k = k[(k > 0) & (k < 5)]
    every = ((k * (k - 1) + (5 - k) * (4 - k)) / 20).mean()
    low, high = (0.4 * (0.497 + d) + 0.6 * (0.519 + d) for d in (-0.0005, 0.0005))
    assert not low <= every <= high
    ours = 0.4 * found["vc-ag-adjacent"].computed + 0.6 * found["vc-ag-nonadjacent"].computed
    assert ours == pytest.approx(every)


def test_systems_without_common_labels_are_left_open(results):
    frame = results.outcomes.frame.copy()
    own = (frame["model"] == "Qwen-Max") & (frame["problem"] == frame["problem"].iloc[0])
    frame.loc[own, "run"] = "x" + frame.loc[own, "run"]
    outcomes = Outcomes._from_frame(frame, results.outcomes.labels, source=results.outcomes.source)
    by_id = {v.claim.id: v for v in verdicts(results.analysis, outcomes, "Appendix G")}
    assert by_id["vc-ag-q-detailed"].verdict == "not checkable"
    assert "Qwen-Max" in by_id["vc-ag-q-detailed"].reason
    assert by_id["vc-ag-agree-identity"].verdict == "holds"


def test_the_identity_can_fail(monkeypatch):
    entries = dict(appendix_g.paper())
    entries["vc-ag-adjacent"] = dataclasses.replace(entries["vc-ag-adjacent"], value=0.51)
    assert appendix_g.identity(None)
    monkeypatch.setattr(appendix_g, "paper", lambda: entries)
    assert not appendix_g.identity(None)
