"""Claims that repeat a figure of sections 4 to 5.2, and those of Appendix B and the limitations."""

import dataclasses
import math
from statistics import median

import pytest

from repeval import analyze, load
from repeval.companion.ledger import verdicts
from repeval.companion.ledger.entries import errata, paper
from repeval.companion.ledger.judge import _judge
from repeval.companion.ledger.results import Results
from tests import oracles

SECTIONS = (
    "abstract", "1", "2", "Figure 1", "Figure 2", "5.4", "6", "limitations", "Appendix B",
    "Appendix I",
)  # fmt: skip
# Each claim with the one that it repeats.
TWINS = {
    "vc-s4-models": ["vc-abs-models"],
    "vc-s4-runs": ["vc-abs-runs"],
    "vc-s4-n-common": ["vc-abs-problems", "vc-lim-n", "vc-ab-n"],
    "vc-s51-narrow-median": ["vc-abs-pooled-too-narrow", "vc-s1-narrow-median", "vc-s6-misstates"],
    "vc-s51-wide-median": ["vc-abs-pooled-too-wide", "vc-s1-wide-median"],
    "vc-s51-unresolved": [
        "vc-abs-unresolved", "vc-s1-unresolved", "vc-fig1-unresolved", "vc-s6-unresolved",
    ],
    "vc-s51-icc-median": ["vc-ab-detailed-icc"],
    "vc-s52-ceiling-median": [
        "vc-abs-ceiling-median", "vc-s1-ceiling-median", "vc-fig2-dashed",
        "vc-ab-detailed-ceiling",
    ],
    "vc-s52-narrowing-median": [
        "vc-abs-narrowing-median", "vc-s1-narrowing-median", "vc-s6-narrowing-median",
    ],
    "vc-s52-narrowing-max": ["vc-abs-narrowing-max", "vc-s6-narrowing-max"],
    "vc-s3-eq2": ["vc-abs-ceiling-formula"],
    "vc-s3-rstar": ["vc-abs-rstar", "vc-s1-rstar"],
    "vc-s3-r1-rule": ["vc-s1-r1-rule"],
}  # fmt: skip
UNCHECKED = {
    "vc-abs-pilot-runs", "vc-s6-pilot", "vc-fig2-ci-level", "vc-s54-temperature",
    "vc-s54-passk-temps", "vc-s54-ceiling-fig2", "vc-lim-tle", "vc-lim-mle", "vc-lim-power",
    "vc-ab-tables",
}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    outcomes = load()
    return analyze(outcomes), outcomes


@pytest.fixture(scope="module")
def found(data):
    results = Results(*data)
    originals = [_judge(paper()[key], results) for key in (*TWINS, "vc-s4-providers")]
    return {v.claim.id: v for s in SECTIONS for v in verdicts(*data, s)} | {
        v.claim.id: v for v in originals
    }


def test_what_repeats_a_figure_gets_the_same_verdict(found):
    for original, repeats in TWINS.items():
        # A formula may be computed from printed figures, where the other needs outcomes.
        for key in (k for k in repeats if paper()[k].needs == paper()[original].needs):
            assert found[key].computed == found[original].computed, key
            assert found[key].verdict == found[original].verdict, key


def test_only_settings_and_what_was_not_released_stay_unchecked(found):
    mine = {key for key, v in found.items() if v.claim.section in SECTIONS}
    unchecked = {key for key in mine if found[key].verdict == "not checkable"}
    assert unchecked == UNCHECKED | {key for key in mine if key.startswith("vc-ai-")}
    assert {v.verdict for key, v in found.items() if key in mine} == {
        "holds", "calibrated", "pinned", "not checkable",
    }  # fmt: skip


def exact(prompt):
    """ICC and ceiling of the clean systems, by fractions."""
    parts = [oracles.components(passes, 5) for passes in oracles.clean(prompt).values()]
    return [float(c["between"] / (c["between"] + c["within"])) for c in parts]


def test_ranges_and_the_other_condition(found):
    here, there = exact("Detailed"), exact("Minimal")
    ceilings = [1 / icc for icc in there]
    assert found["vc-s2-icc-range"].computed == pytest.approx([min(here), max(here)])
    assert found["vc-ab-minimal-icc"].computed == pytest.approx(median(there))
    assert found["vc-ab-minimal-ceiling"].computed == pytest.approx(median(ceilings))
    assert found["vc-ab-minimal-range"].computed == pytest.approx([min(ceilings), max(ceilings)])
    low, high = found["vc-s1-narrowing-range"].computed
    assert (low, high) == pytest.approx([1 - math.sqrt(max(here)), 1 - math.sqrt(min(here))])
    assert found["vc-lim-systems"].computed == [14, 2]


def test_the_largest_shape_is_that_of_the_moments(found):
    shapes = []
    for histogram in oracles.histograms().values():
        c = oracles.components(oracles.passes_of(histogram), 5)
        total = c["mean"] * (1 - c["mean"]) / c["between"] - 1
        shapes += [float(c["mean"] * total), float((1 - c["mean"]) * total)]
    assert found["vc-ab-beta-small"].computed == pytest.approx(max(shapes))
    assert found["vc-lim-beta"].computed == found["vc-ab-beta-small"].computed


def test_the_smallest_detectable_effect_is_that_of_the_differences(data, found):
    keys = ["model", "condition", "problem"]
    rates = data[1].frame.groupby(keys)["outcome"].mean().unstack("condition")
    spread = (rates["Detailed"] - rates["Minimal"]).groupby("model").std()
    z = oracles.NORMAL.inv_cdf(0.975) + oracles.NORMAL.inv_cdf(0.8)
    effects = 100 * z * spread / math.sqrt(99)
    assert found["vc-lim-mde"].computed == pytest.approx(median(effects))


def test_other_components_differ(data, found):
    analysis, outcomes = data
    doubled = [dataclasses.replace(s, ceiling=2 * s.ceiling - 1) for s in analysis.systems]
    changed = dataclasses.replace(analysis, systems=tuple(doubled))
    sections = ("abstract", "1", "Figure 2", "limitations", "Appendix B")
    differing = {
        v.claim.id
        for s in sections
        for v in verdicts(changed, outcomes, s)
        if v.verdict == "differs"
    }
    about = ("-ceiling", "ceiling-median", "ceiling-range", "fig2-dashed", "minimal-range")
    assert differing == {
        key
        for key, v in found.items()
        if v.claim.section in sections and key.endswith((*about, "narrowing-median"))
    }


def test_slips_are_told_with_the_claim(found):
    assert "would make 40" in found["vc-ai-gpt41-short"].reason
    assert "four batch services" in found["vc-s4-providers"].reason
    assert "over one half" in found["vc-lim-beta"].reason
    # What the remark says of the requests is a product of settings.
    problems, conditions = len(paper()["vc-ai-gpt41-short-problems"].value), 2
    assert problems * conditions * paper()["vc-s4-runs"].value == 20
    assert paper()["vc-ai-gpt41-short"].value[0] == 20
    assert {"vc-ai-gpt41-short", "vc-s4-providers"} <= set(errata())
