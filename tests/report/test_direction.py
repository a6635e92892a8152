"""Models that ran different problems are ordered, and worded, by the problems they share."""

import itertools

import numpy as np
import pytest

import repeval
from repeval.report.screen import one_screen

# On `easy`, which only A ran, A is always right; on the problems all ran, B leads.
RATES = {"A": 0.4, "B": 0.7, "C": 0.1}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    rng = np.random.default_rng(2606)
    rows = [f"A,easy{i},{r},1" for i, r in itertools.product(range(60), range(2))]
    rows += [
        f"{m},q{i:02d},{r},{int(rng.random() < p)}"
        for m, p in RATES.items() for i in range(30) for r in range(2)
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("direction") / "runs.csv"
    path.write_text("\n".join(["model,problem,run,outcome", *rows]))
    return repeval.load(path)


@pytest.fixture(scope="module")
def analysis(outcomes):
    return repeval.analyze(outcomes, n_resamples=200)


def common_mean(outcomes, model):
    frame = outcomes.frame
    rows = frame[(frame["model"] == model) & frame["problem"].str.startswith("q")]
    return rows.groupby("problem")["outcome"].mean().mean()


def test_the_order_is_that_on_common_problems(outcomes, analysis):
    own = {s.model: s.mean for s in analysis.systems}
    assert own["A"] > own["B"] > own["C"]
    shared = {m: common_mean(outcomes, m) for m in RATES}
    assert shared["B"] > shared["A"] > shared["C"]
    assert [s.model for s in analysis.ranked("default")] == ["B", "A", "C"]
    assert {r.model: r.mean for r in analysis.ranks} == pytest.approx(shared)


def test_pairs_name_first_who_leads_where_both_ran(outcomes, analysis):
    assert [(p.model_a, p.model_b) for p in analysis.adjacent("default")] == [
        ("B", "A"),
        ("A", "C"),
    ]
    for p in analysis.pairs:
        assert p.n_problems == 30
        assert p.difference >= 0
        expected = common_mean(outcomes, p.model_a) - common_mean(outcomes, p.model_b)
        assert p.difference == pytest.approx(expected)
        assert p.mean_a - p.mean_b == pytest.approx(expected)
        assert p.flips.a_better + p.flips.b_better + p.flips.same == 30


def test_the_screen_says_who_leads_and_shows_the_common_score(outcomes, analysis):
    text = one_screen(analysis, outcomes)
    assert "B above A" in text
    assert "A above B" not in text
    assert "on 30 common" in text
    assert "these 30 problems" in text
    pair = repeval.analyze(outcomes.select(models=["A", "B"]), n_resamples=200)
    said = one_screen(pair, outcomes.select(models=["A", "B"]))
    assert "B leads A by " in said
    assert "by -" not in said


def test_a_pair_with_problems_of_its_own_follows_these(tmp_path):
    """A and B share problems that C never saw, and on all they share B leads."""
    rows = [f"A,q{i},{r},{int(i < 3)}" for i in range(30) for r in range(2)]
    rows += [f"B,q{i},{r},{int(i >= 3)}" for i in range(30) for r in range(2)]
    rows += [f"C,q{i},{r},0" for i in range(4) for r in range(2)]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["model,problem,run,outcome", *rows]))
    found = repeval.analyze(repeval.load(path), n_resamples=200)
    # On the four problems of all three A leads by two; on the thirty of both B does.
    assert [s.model for s in found.ranked("default")] == ["A", "B", "C"]
    pair = found.pair("default", "A", "B")
    assert (pair.model_a, pair.n_problems) == ("B", 30)
    assert pair.difference == pytest.approx(0.8)
