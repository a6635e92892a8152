import math
import re
import statistics
from dataclasses import replace

import numpy as np
import pytest

import repeval
from repeval.companion.plots import words as say
from repeval.report import sentences
from repeval.report.analysis import analyze


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
    text = say.accounting(outcomes)
    head = f"{len(whole.models)} models under {len(whole.conditions)} conditions"
    head += f" ({len(whole.systems)} systems) on {len(whole.problems)} problems"
    judged = f"{len(whole.frame):,} runs were judged"
    if len(whole.frame) < planned:  # the stand-in may hold what the release lacks
        judged += f", of {planned:,} if every problem had as many"
    assert text.startswith(f"{head}: {judged}")
    kept = f"{len(outcomes.frame):,} runs on {len(outcomes.problems)} problems are analysed"
    assert kept in text
    assert "drop-problem" in text
    (gone,) = set(whole.problems) - set(outcomes.problems)
    assert gone in text
    change = max(
        abs(outcomes.system(*s).rate.mean() - whole.system(*s).rate.mean())
        for s in outcomes.systems
    )
    assert f"changes a score by at most {100 * change:.2f} points" in say.accounting(outcomes)


def test_nothing_missing_is_said(tidy):
    outcomes = table(tidy, lambda m, i: 3)
    said = say.accounting(outcomes)
    assert said == "2 models on 12 problems: 72 runs were judged. No run is missing."


def test_what_dropping_would_change(tidy):
    outcomes = table(tidy, lambda m, i: 1 if (m, i) in {("a", 11), ("b", 10)} else 2)
    shifts = [outcomes.system(m, "default").rate for m in ("a", "b")]
    most = max(abs(rate[:10].mean() - rate.mean()) for rate in shifts)
    text = say.accounting(outcomes)
    assert "Leaving out 2 problems" in text
    assert f"would change a score by at most {100 * most:.2f} points" in text


def test_own_data_after_a_rule_cannot_say(tidy):
    outcomes = table(tidy, lambda m, i: 1 if i == 0 else 2, missing="fail")
    assert "planned" not in say.accounting(outcomes)
    assert "counted as failed" in say.accounting(outcomes)


def test_too_many_incomplete_problems(tidy):
    lost = {("a", 0, 1), ("b", 1, 1)}
    rows = [
        {"model": m, "problem": i, "run": r, "outcome": "" if (m, i, r) in lost else int(r > i),
         "status": "error" if (m, i, r) in lost else ""}
        for m in "ab" for i in range(2) for r in range(2)
    ]  # fmt: skip
    outcomes = repeval.load(tidy(rows))
    assert "Every problem lacks runs" in say.accounting(outcomes)


def test_figures_are_ranges_with_medians(default):
    _, analysis = default
    rows = sentences.counted(analysis, analysis.condition)
    effects = [s.design_effect for s in rows]
    shares = [100 * s.aleatoric_share for s in rows]
    text = say.figures(rows, "design_effect", "aleatoric_share")
    assert numbers(text) == [
        len(rows),
        *(round(f(effects), 2) for f in (min, max, statistics.median)),
        *(round(f(shares), 1) for f in (min, max, statistics.median)),
    ]


def test_a_ceiling_without_limit_is_the_highest(default):
    _, analysis = default
    rows = sentences.counted(analysis, analysis.condition)
    rows[3] = replace(rows[3], between=-0.01, ceiling=None)
    low, middle = (
        min(s.ceiling for s in rows if s.ceiling),
        statistics.median(s.ceiling or math.inf for s in rows),
    )
    text = say.figures(rows, "ceiling")
    assert f"ceiling {low:.2f} to no limit (median {middle:.2f})" in text


def test_one_run_identifies_nothing(tidy):
    analysis = analyze(table(tidy, lambda m, i: 1), n_resamples=50)
    rows = sentences.counted(analysis, "default")
    text = say.figures(rows, "within", "between", "design_effect", "ceiling")
    assert "nothing is known about run noise, which needs two runs of a problem" in text
