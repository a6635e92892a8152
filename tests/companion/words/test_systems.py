"""Every system in full: the table of cells, and what is shown of it."""

import math
import re

import pandas as pd
import pytest

import repeval
from repeval.companion.words import systems
from repeval.io.outcomes import Outcomes
from tests import oracles
from tests.companion.plots.made import CASES, analysed


@pytest.fixture(scope="module")
def default():
    outcomes = repeval.load()
    analysis = repeval.analyze(outcomes, n_resamples=200)
    return analysis, outcomes, systems.cells(analysis, outcomes)


def test_cells_are_those_of_fractions(default):
    cells = default[2].set_index(["condition", "model"])
    assert len(cells) == 32
    for prompt in ("Detailed", "Minimal"):
        for model, histogram in oracles.histograms(prompt).items():
            c = oracles.components(oracles.passes_of(histogram), 5)
            row = cells.loc[prompt, model]
            for name in ("mean", "within", "between"):
                assert row[name] == pytest.approx(float(c[name]))
            ratio, m, n = c["within"] / c["between"], c["mean"], sum(histogram)
            assert row["ceiling"] == pytest.approx(float(1 + ratio))
            assert row["alpha"] + row["beta"] == pytest.approx(float(ratio))
            # What the page says of the paper's matching: short by s²/N over σ_b².
            short = c["spread"] / n / c["between"]
            assert row["alpha_paper"] + row["beta_paper"] == pytest.approx(float(ratio - short))
            assert row["alpha_paper"] / row["beta_paper"] == pytest.approx(float(m / (1 - m)))
            fixed = 2 * oracles.NORMAL.inv_cdf(0.975) * math.sqrt(c["within"] / (5 * n))
            assert row["width_fixed_normal"] == pytest.approx(fixed)


def test_every_estimate_lies_between_its_limits(default):
    cells = default[2]
    for name in systems.COMPONENTS:
        assert (cells[f"{name}_low"] < cells[name]).all()
        assert (cells[name] < cells[f"{name}_high"]).all()


def test_the_condition_reported_first_leads_best_first(default):
    analysis, _, cells = default
    assert list(dict.fromkeys(cells["condition"])) == ["Detailed", "Minimal"]
    first = cells[cells["condition"] == analysis.condition]
    assert first["mean"].is_monotonic_decreasing
    assert list(first["model"]) == [s.model for s in analysis.ranked(analysis.condition)]


def test_two_tables_for_each_condition(default):
    shown = list(systems.tables(default[0], default[2]))
    captions = [caption for _, caption, _ in shown]
    assert len(captions) == len(set(captions)) == 4
    assert [c.split(":")[0] for c in captions] == ["Detailed", "Detailed", "Minimal", "Minimal"]
    scores, _, notes = shown[0]
    assert notes == ["* left out of medians."]
    assert scores["model"].str.endswith(" *").sum() == 2
    row = shown[1][0].set_index("model").loc["Qwen-Turbo"]
    value, low, high = map(float, re.findall(r"[\d.]+", row["ceiling"]))
    assert low < value < high
    assert row["icc"] == pytest.approx(1 / value, abs=0.005)


@pytest.mark.parametrize("case", CASES)
def test_tables_of_any_data_leave_no_gap(case):
    outcomes, analysis = analysed(case)
    cells = systems.cells(analysis, outcomes)
    scores, parts = (frame for frame, _, _ in systems.tables(analysis, cells))
    assert len(scores) == len(parts) == len(analysis.systems)
    for frame in (scores, parts):
        texts = frame.select_dtypes(exclude="number").stack()
        assert not texts.str.contains(r"\b(?:nan|None|inf)\b").any()
        assert not texts.str.contains(r"-0\.0+\b").any()
    # A low limit that equals the high one is no interval.
    for name in systems.COMPONENTS:
        assert not (cells[f"{name}_low"] == cells[f"{name}_high"]).any()
    assert "gives a Beta for" in systems.matchings(cells)


def test_what_is_missing_is_said():
    shown = {case: list(systems.tables(a, systems.cells(a, o))) for case in CASES
             for o, a in [analysed(case)]}  # fmt: skip
    assert shown["one run"][0][2][0] == "No Beta by the paper's matching: m01, m02, m00."
    assert shown["one run"][1][2] == ["Ceiling (needs two runs of a problem): m01, m02, m00."]
    single = shown["one run"][1][0].drop(columns=["model", "icc"])
    assert (single == "not shown").all(axis=None)
    assert (shown["scores"][0][0]["runs pooled"] == "not shown").all()
    assert shown["noise"][1][2] == ["Ceiling (no upper limit): m01, m00."]
    assert shown["noise"][1][0]["ceiling"].iloc[1].startswith("no limit [")
    assert shown["always right"][1][0]["within"].iloc[0] == "0.000 [not shown]"


def test_the_papers_matching_fails_first():
    """One run of 500 differs: μ_w = 0.002 is below s²/N = 0.005, and α+β = μ_w/σ_b² is not."""
    frame = pd.DataFrame(
        [
            ("m", "default", f"q{i}", str(r), float(i % 2 == 0 and (i, r) != (0, 0)))
            for i in range(50)
            for r in range(10)
        ],
        columns=["model", "condition", "problem", "run", "outcome"],
    )
    outcomes = Outcomes._from_frame(frame)
    cells = systems.cells(repeval.analyze(outcomes, n_resamples=100), outcomes)
    assert cells["alpha_paper"].isna().item()
    assert cells["alpha"].item() + cells["beta"].item() == pytest.approx(0.002 / 0.2525, rel=0.01)
    assert (
        systems.matchings(cells)
        == "Of 1 system, the paper's matching gives a Beta for 0 and ours for 1."
    )
