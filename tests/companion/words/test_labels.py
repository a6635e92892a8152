"""Outcomes by run label: what is tested, what is left out and why, and what is said of it."""

import re

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import cochrans_q

import repeval
from repeval.companion.words import labels as words
from repeval.stats.exchangeability import label_effect, run_agreement


def load(tidy, models, **kinds):
    """Six problems a model; a kind changes rows (problem, run, outcome) of one model."""
    rng = np.random.default_rng(2606)
    rows = []
    for model in models:
        own = [(p, r, int(rng.random() < 0.5)) for p in range(6) for r in range(models[model])]
        for p, r, y in kinds.get(model, lambda rows: rows)(own):
            rows.append({"model": model, "problem": f"q{p}", "run": r, "outcome": y})
    return repeval.load(tidy(rows))


def test_tables_hold_the_rows_in_order_of_labels(tidy):
    outcomes = load(
        tidy, {"a": 12}, a=lambda rows: [(p, r, int((p + r) % 3 == 0)) for p, r, _ in rows]
    )
    found = words.labelled(outcomes, "default")
    # Labels that are numbers stand in their order: 10 after 9, not after 1.
    assert found.labels == tuple(map(str, range(12)))
    expected = [[int((p + r) % 3 == 0) for r in range(12)] for p in range(6)]
    assert found.tables["a"].tolist() == expected


def test_who_is_left_out_and_why(tidy):
    outcomes = load(
        tidy, {"a": 3, "b": 3, "few": 3, "own": 3, "other": 3, "once": 1},
        few=lambda rows: rows[:-1],
        own=lambda rows: [(p, f"{p}-{r}", y) for p, r, y in rows],
        other=lambda rows: [(p, r + 5, y) for p, r, y in rows],
    )  # fmt: skip
    found = words.labelled(outcomes, "default")
    assert list(found.tables) == ["a", "b"]
    assert found.left_out == {
        words.UNEQUAL: ["few"], words.OWN_LABELS: ["own"], words.ONE_RUN: ["once"],
        words.OTHER_LABELS: ["other"],
    }  # fmt: skip
    text = words.tested(found)
    assert text.startswith("Tested: 2 models, with runs labelled 0, 1, 2.")
    assert f"few, as {words.UNEQUAL}" in text


@pytest.mark.parametrize(
    ("runs", "kind", "why"),
    [
        (1, lambda rows: rows, "one run"),
        (3, lambda rows: rows[:-1], "unequal numbers"),
        (3, lambda rows: [(p, f"{p}-{r}", y) for p, r, y in rows], "differ from problem"),
    ],
)
def test_where_nothing_is_common_nothing_is_tested(tidy, runs, kind, why):
    outcomes = load(tidy, {"a": runs}, a=kind)
    text = words.tested(words.labelled(outcomes, "default"))
    assert text.startswith("There is nothing to test here")
    assert why in text
    assert words.label_table(outcomes).empty
    assert words.agreement_table(outcomes).empty
    assert "Nothing can be said" in words.effects(outcomes)
    assert "No single model" in words.smallest_p(outcomes)
    assert "cannot be asked" in words.agreement(outcomes)


def test_an_effect_is_said_to_be_seen_and_none_only_with_what_could_be(tidy):
    third = load(tidy, {"a": 3, "b": 3}, a=lambda rows: [(p, r, int(r == 2)) for p, r, _ in rows])
    assert "p = 0.004, an effect seen" in words.effects(third)
    text = words.effects(load(tidy, {"a": 4, "b": 4}))
    found = re.findall(
        r"no effect seen; shift of one label found 4 times in 5: ([\d.]+) points", text
    )
    both = words.labelled(load(tidy, {"a": 4, "b": 4}), "default")
    ways = label_effect(*both.tables.values()), label_effect(words.as_one(both))
    assert found == [f"{100 * e.detectable:.1f}" for e in ways]


def test_two_runs_and_scores_have_no_neighbours(tidy):
    assert "cannot be asked" in words.agreement(load(tidy, {"a": 2}))
    half = load(tidy, {"a": 3}, a=lambda rows: [(p, r, 0.25 * r + 0.1 * y) for p, r, y in rows])
    assert "cannot be asked" in words.agreement(half)
    assert len(words.label_table(half)) == 1


def test_real_runs_with_labels_of_their_own(shared):
    (path,) = (shared / "realdata").glob("hotpotqa_*.csv.gz")
    outcomes = repeval.load(path)
    (found,) = words.everything(outcomes)
    assert found.labels == tuple(map(str, range(10)))
    for model, own in outcomes.frame.groupby("model"):
        y = own.pivot(index="problem", columns="run", values="outcome")
        assert label_effect(found.tables[model]).p_value == pytest.approx(cochrans_q(y).pvalue)


def test_default_data():
    outcomes = repeval.load()
    found = words.everything(outcomes)
    assert [(f.condition, len(f.tables), len(f.pooled)) for f in found] == [
        (c, len(outcomes.models), len(outcomes.models) - 2) for c in outcomes.conditions
    ]
    a = run_agreement(*[t for f in found for t in f.pooled.values()])
    row = words.agreement_table(outcomes).iloc[-1]
    assert row["condition"] == "all"
    assert row["mixed problems"] == a.n_mixed
    assert row["neighbours agree"] == f"{100 * a.adjacent:.1f} %"
    assert row["p"] == f"{a.p_value:.3f}"
    each = {
        (m, f.condition): label_effect(t).p_value for f in found for m, t in f.pooled.items()
    }  # fmt: skip
    (model, condition), p = min(each.items(), key=lambda item: item[1])
    text = words.smallest_p(outcomes)
    assert f"Of {len(each)} tests" in text
    assert f"p = {p:.3f} ({model}, {condition})" in text
    assert f"in {100 * (1 - (1 - p) ** len(each)):.0f} % of cases" in text
