"""What is said where nothing varied, where there is no limit, and what warns."""

import re
from dataclasses import replace

import numpy as np
import pytest

import repeval
from repeval.companion.plots import words as say
from repeval.messages import MESSAGES
from repeval.report import screen, sentences
from repeval.report import tables as report_tables
from repeval.report.analysis import analyze
from repeval.report.summary import summarize


@pytest.fixture(scope="module")
def default():
    return analyze(repeval.load(), n_resamples=100)


def verdicts(tidy, problems, models="ab"):
    """Load runs written as one string of verdicts for each problem, the same for all models."""
    rows = [
        {"model": m, "problem": f"q{i}", "run": r, "outcome": y}
        for m in models for i, runs in enumerate(problems) for r, y in enumerate(runs)
    ]  # fmt: skip
    return repeval.load(tidy(rows))


def drawn(tidy, chance=lambda i: 0.5, problems=30, runs=3):
    """Load two models; by default all problems are equally hard, with less spread than noise."""
    rng = np.random.default_rng(3)
    rows = [
        {"model": m, "problem": f"q{i}", "run": r, "outcome": int(rng.random() < chance(i))}
        for m in "ab" for i in range(problems) for r in range(runs)
    ]  # fmt: skip
    return repeval.load(tidy(rows))


def codes(analysis):
    return {notice.code for notice in analysis.notices}


def test_what_is_lopsided_is_not_halved(tidy):
    outcomes = verdicts(tidy, ["111"] * 30, models="a")
    analysis = analyze(outcomes, n_resamples=50)
    text = sentences.precision(analysis, "default")["new ones like them"]
    assert text == "88.6-100.0 %"
    assert "+-" not in "".join(sentences.precision(analysis, "default").values())
    both = analyze(verdicts(tidy, ["111"] * 30 + ["000"], models="ab"), n_resamples=50)
    text = sentences.precision(both, "default")["new ones like them"]
    assert re.fullmatch(r"(\S+-\S+ %) \(a\), \1 \(b\)", text)
    many = analyze(verdicts(tidy, ["111"] * 30 + ["000"], models="abcd"), n_resamples=50)
    assert sentences.precision(many, "default")["new ones like them"] == "lopsided, see the scores"


def test_where_nothing_varied_it_says_so_and_asks_for_no_second_run(tidy):
    outcomes = verdicts(tidy, ["11111"] * 20)
    analysis = analyze(outcomes, n_resamples=50)
    about = analysis, "default"
    assert say.figures(sentences.counted(*about), "ceiling") == "Over 2 models: nothing varied."
    assert set(report_tables.component_table(*about)["ceiling"]) == {"nothing varied"}
    assert "no run noise was seen" in sentences.allocation_rule(*about)
    text = screen.one_screen(analysis, outcomes, everything=True, components=True)
    assert "two runs" not in text
    assert "upper limit" not in text
    assert "are level" in text
    assert "0.0 points" not in text


def test_no_limit_is_never_a_hundred_percent_or_a_width_of_zero(tidy):
    outcomes = drawn(tidy)
    analysis = analyze(outcomes, n_resamples=50)
    text = screen.one_screen(analysis, outcomes, pair=("a", "b"), components=True)
    assert analysis.pairs[0].between < 0
    assert not re.search(r"\dj|100 %|\+-0\.0|no limit to no limit", text)
    assert re.search(r"endless runs of both +no limit is seen", text)
    # All of the variance is run noise at most, so twice the runs halve it as twice the problems.
    widths = re.findall(r"twice the (?:runs of both|problems) +(\S+)", text)
    assert len(widths) == 2
    assert len(set(widths)) == 1
    assert "From a single run: no limit is seen for a score" in text
    narrowing = say.figures(analysis.ranked("default"), "remaining_narrowing")
    assert narrowing.endswith("no limit is seen.")


def test_an_interval_for_new_problems_covers_the_one_for_these(tidy):
    analysis = analyze(drawn(tidy), n_resamples=50)
    (pair,) = analysis.pairs
    (low, high), (a, b) = pair.interval, pair.fixed.interval
    assert low <= a < b <= high
    assert "few-problems" not in codes(analysis)
    assert "few-problems" in codes(analyze(drawn(tidy, problems=9), n_resamples=50))


def test_below_eight_problems_nothing_is_told_apart_on_new_ones(tidy):
    outcomes = verdicts(tidy, ["111"] * 7)
    frame = outcomes.frame.assign(outcome=(outcomes.frame["model"] == "a").astype(float))
    outcomes = replace(outcomes, frame=frame)
    analysis = analyze(outcomes, n_resamples=50)
    (pair,) = analysis.pairs
    assert pair.difference == 1
    assert pair.resolved is None
    assert pair.fixed.resolved is True
    text = screen.one_screen(analysis, outcomes)
    assert "no verdict on fewer than 8 problems" in text
    assert all(r.rank_set == (1, 2) for r in analysis.ranks)


def test_prices_have_two_digits_and_no_false_advice(default):
    analysis = default
    prices = [sentences.price(p) for p in (0.0342, 1.02, 7.13, 9.97, 70.9, 105.7, 4321)]
    assert prices == ["0.034", "1.0", "7.1", "10.0", "71", "106", "4,321"]
    systems = [replace(s, within=0.05, between=0.2) for s in analysis.ranked("Detailed")]
    given = replace(analysis, summary={"Detailed": summarize(systems, [])})
    text = sentences.allocation_rule(given, "Detailed")
    # R(R+1)/ratio at a ratio of a quarter.
    assert "over 8.0 runs (by the ratio of medians); 5 runs are best from 80 to 120." in text
    assert "With the 5 at hand one more of them pays above 121." in text
    assert "Otherwise" not in text


def test_pooling_is_right_for_new_problems_at_one_run(tidy):
    analysis = analyze(drawn(tidy, lambda i: i / 30, runs=1), n_resamples=50)
    assert "right for new problems" in sentences.pooling(analysis, "default")
    analysis = analyze(drawn(tidy, lambda i: i / 30), n_resamples=50)
    assert "right for new problems" not in sentences.pooling(analysis, "default")


def test_a_prefix_that_clusters_is_named_with_its_separator(tidy):
    rows = [
        {"model": "a", "problem": f"f{i // 6}|{i}", "run": r, "outcome": i // 6 % 2}
        for i in range(60) for r in range(2)
    ]  # fmt: skip
    analysis = analyze(repeval.load(tidy(rows)), n_resamples=50)
    (text,) = (n.text for n in analysis.notices if n.code == "hidden-clusters")
    assert "Add a column that holds the part before '|' and give it to --cluster." in text


def test_pairs_without_common_problems_are_not_called_too_many(tidy):
    rows = [
        {"model": m, "problem": f"q{i}", "run": 0, "outcome": i % 2}
        for m, ids in (("a", range(4)), ("b", range(2, 6)), ("c", range(4, 8))) for i in ids
    ]  # fmt: skip
    found = {n.code: n.text for n in analyze(repeval.load(tidy(rows)), n_resamples=50).notices}
    assert found["pairs-left-out"] == "Pairs with fewer than 2 common problems: 1 of 3."
    assert "adjacent-only" not in found


def test_warnings_leave_out_how_the_table_was_read(tidy, default):
    analysis = analyze(drawn(tidy), n_resamples=50)
    assert "condition-default" in codes(analysis)
    found = say.warnings(analysis)
    assumed = {code for code in codes(analysis) if MESSAGES[code].kind == "assumed"}
    assert set(found["warning"]) == codes(analysis) - assumed
    assert say.warned(analysis).endswith(f": {', '.join(dict.fromkeys(found['warning']))}.")
    assert "Nothing" in say.warned(replace(analysis, notices=()))
    assert "1 warning: few-mixed." in say.warned(default)


def test_what_pooling_is_for_each_question_follows_the_widths(default):
    condition = default.condition
    for new, these, said in (
        (2.04, 0.5, ("wrong for new", "2.0 times", "valid but conservative for these")),
        (1.01, 1.2, ("near enough for new", "1.0 times", "too short for these")),
    ):
        found = replace(default.summary[condition], over_pooled=(new, these))
        text = sentences.pooling(replace(default, summary={condition: found}), condition)
        assert all(part in text for part in said)


def test_under_clusters_pooling_is_never_right_for_new_problems(tidy):
    rows = [
        {"model": m, "problem": f"q{i}", "run": 0, "outcome": i // 6 % 2, "family": f"f{i // 6}"}
        for m in "ab" for i in range(60)
    ]  # fmt: skip
    analysis = analyze(repeval.load(tidy(rows)), n_resamples=50, cluster="family")
    assert "right for new problems" not in sentences.pooling(analysis, "default")


def test_no_noise_seen_has_a_limit_and_not_none(tidy):
    analysis = analyze(verdicts(tidy, ["11", "00"] * 10, models="a"), n_resamples=50)
    (system,) = analysis.systems
    assert system.remaining_narrowing == 0
    low, high = system.remaining_narrowing_interval
    assert low == 0 < high
    assert "at most" in sentences.more_runs(analysis, "default")["a score"]


def test_with_one_run_each_nothing_is_said_of_run_noise(tidy):
    analysis = analyze(drawn(tidy, runs=1), n_resamples=50)
    (pair,) = analysis.pairs
    assert pair.flips.by_chance is None
    assert "run noise" not in sentences.flips(pair.flips, swapped=False)[0]


def test_a_problem_without_a_cluster_is_one_of_its_own(tidy):
    rows = [
        {"model": "a", "problem": f"q{i}", "run": r, "outcome": (i + r) % 2,
         "family": f"f{i // 4}" if i < 20 else ""}
        for i in range(26) for r in range(2)
    ]  # fmt: skip
    analysis = analyze(repeval.load(tidy(rows)), n_resamples=50, cluster="family")
    assert analysis.systems[0].n_clusters == 5 + 6
    (text,) = (n.text for n in analysis.notices if n.code == "blank-clusters")
    assert text.startswith("6 problems without a family")
