import re
import statistics

import numpy as np
import pytest

import repeval
from repeval import laws, sentences
from repeval.analysis import analyze
from repeval.sample import as_sample


def table(tidy, runs_of, models=("a", "b"), conditions=("default",), problems=12, **load):
    """Load made-up runs; `runs_of(model, problem)` says how many a problem has."""
    rng = np.random.default_rng(2606)
    rows = [
        {"model": m, "condition": c, "problem": f"q{i:02d}", "run": r,
         "outcome": int(rng.random() < i / problems)}
        for m in models for c in conditions for i in range(problems) for r in range(runs_of(m, i))
    ]  # fmt: skip
    return repeval.load(tidy(rows), **load)


@pytest.fixture(scope="module")
def default():
    outcomes = repeval.load()
    return outcomes, analyze(outcomes, n_resamples=100)


def numbers(text):
    return [float(n.replace(",", "")) for n in re.findall(r"-?\d[\d,]*(?:\.\d+)?", text)]


def test_accounting_of_the_default_data_goes_back_before_the_rule(default):
    outcomes, _ = default
    whole = repeval.load(missing="keep")
    planned = len(whole.systems) * len(whole.problems) * whole.planned_runs(*whole.systems[0])
    text = sentences.accounting(outcomes)
    assert f"{planned:,} runs planned, {len(whole.frame):,} judged" in text
    assert f"{len(outcomes.frame):,} runs on {len(outcomes.problems)} problems analysed" in text
    assert "drop-problem" in text
    (gone,) = set(whole.problems) - set(outcomes.problems)
    assert gone in text
    change = max(
        abs(outcomes.system(*s).rate.mean() - whole.system(*s).rate.mean())
        for s in outcomes.systems
    )
    assert f"changes a score by at most {100 * change:.2f} points" in sentences.dropping(outcomes)


def test_nothing_missing_is_said(tidy):
    outcomes = table(tidy, lambda m, i: 3)
    assert "72 runs planned, 72 judged" in sentences.accounting(outcomes)
    assert "No run is missing." in sentences.accounting(outcomes)
    assert "No problem lacks a run" in sentences.dropping(outcomes)


def test_what_dropping_would_change(tidy):
    outcomes = table(tidy, lambda m, i: 1 if (m, i) in {("a", 11), ("b", 10)} else 2)
    assert sentences.incomplete(outcomes) == {"q10", "q11"}
    shifts = [outcomes.system(m, "default").rate for m in ("a", "b")]
    most = max(abs(rate[:10].mean() - rate.mean()) for rate in shifts)
    assert f"would change a score by at most {100 * most:.2f} points" in sentences.dropping(
        outcomes
    )


def test_own_data_after_a_rule_cannot_say(tidy):
    outcomes = table(tidy, lambda m, i: 1 if i == 0 else 2, missing="fail")
    assert "cannot be said" in sentences.dropping(outcomes)
    assert "counted as failed" in sentences.accounting(outcomes)


def test_too_many_incomplete_problems(tidy):
    outcomes = table(tidy, lambda m, i: 1 + (i + (m == "a")) % 2)
    assert "Too many problems" in sentences.dropping(outcomes)


@pytest.mark.parametrize(("passes", "runs"), [([0, 1, 4, 5, 5, 2], 5), ([0, 1, 2, 2], 2)])
def test_inflation_is_that_of_the_exact_laws(passes, runs):
    sample = as_sample(passes, runs)

    def spread(name):
        law = laws.mean_law(sample, name)
        x = (law.start + np.arange(law.pmf.size)) * law.step
        return np.sqrt(law.pmf @ x**2 - (law.pmf @ x) ** 2)

    # The bootstrap's variance is that with N, not N-1, in s²; both laws share the factor.
    n = len(passes)
    share = repeval.components(sample).aleatoric_share * n / (n - 1)
    ratio = spread("two_level") / spread("one_level")
    assert sentences._inflation(share, runs) == pytest.approx(ratio - 1)


def test_inflation_of_the_default_data(default):
    _, analysis = default
    text = sentences.two_level_inflation(analysis, analysis.condition)
    low, high, middle, *pairs = numbers(text)
    rows = [s for s in analysis.ranked(analysis.condition) if s.model not in analysis.excluded]
    own = [100 * sentences._inflation(s.aleatoric_share, s.n_runs) for s in rows]
    assert (low, high, middle) == tuple(round(f(own), 1) for f in (min, max, statistics.median))
    assert pairs[2] > middle


def test_conditions_count_what_is_shown(default):
    _, analysis = default
    rows = analysis.condition_pairs
    text = sentences.conditions(analysis)
    counts = [len(rows), sum(r.fixed.resolved for r in rows), sum(r.resolved for r in rows)]
    assert numbers(text)[:3] == counts
    assert f"{100 * statistics.median(r.mdd for r in rows):.1f} points (median" in text
    assert len(sentences.condition_table(analysis)) == len(rows)


def test_three_conditions_have_three_sentences_and_named_columns(tidy):
    analysis = analyze(table(tidy, lambda m, i: 2, conditions="xyz"), n_resamples=50)
    assert sentences.conditions(analysis).count("A true difference") == 3
    assert {"first", "second"} <= set(sentences.condition_table(analysis))


def test_design_effect_is_its_median(default):
    _, analysis = default
    rows = [s for s in analysis.ranked(analysis.condition) if s.model not in analysis.excluded]
    effect = statistics.median(s.design_effect for s in rows)
    text = sentences.design_effect(analysis, analysis.condition)
    assert numbers(text) == [round(effect, 2), round(effect**0.5, 2)]


def test_one_run_identifies_nothing(tidy):
    analysis = analyze(table(tidy, lambda m, i: 1), n_resamples=50)
    assert "not identified" in sentences.identified(analysis, "default")
    assert "cannot be told apart" in sentences.parts(analysis, "default")
    assert "no design effect" in sentences.design_effect(analysis, "default")
    assert "says nothing" in sentences.two_level_inflation(analysis, "default")
    assert "cannot be said" in sentences.pair_allocation(analysis, "default")
    assert "nothing to compare" in sentences.conditions(analysis)


def test_a_pair_pays_twice_for_a_repetition(default):
    _, analysis = default
    ceiling = analysis.summary[analysis.condition].adjacent_ceiling
    text = sentences.pair_allocation(analysis, analysis.condition)
    # Two runs of both cost 2 c_g more; the second pays above R(R+1)/ratio = 2/ratio of these.
    assert numbers(text) == [round(2 * 2 / (ceiling - 1), 1)]
