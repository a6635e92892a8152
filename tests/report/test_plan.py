"""`repeval plan`: what to buy next, on a screen, as JSON, and refused in one sentence."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.cli import main
from repeval.report.plan import what_next
from repeval.stats.design.separate import separation
from repeval.stats.design.whole import Prices
from tests.oracles import SEED
from tests.report.test_versus import table


def rates(n=120):
    return np.random.default_rng(SEED).beta(0.8, 0.6, n)


def rows(runs=3, models=("low", "mid", "high"), n=120, score=False):
    """Models with little, middling and much run noise, in the order of their names."""
    rng, p, found = np.random.default_rng(SEED), rates(n), []
    for model, noise in zip(models, (0.02, 0.3, 0.8), strict=False):
        mine = (1 - noise) * (p > 0.4) + noise * p
        for i in range(n):
            r = runs(i) if callable(runs) else runs
            ran = rng.random(r) < mine[i]
            values = np.round(0.5 * ran + 0.5 * rng.random(r), 3) if score else ran.astype(int)
            found += [(model, f"q{i}", k, v) for k, v in enumerate(values)]
    return pd.DataFrame(found, columns=["model", "problem", "run", "outcome"])


@pytest.fixture
def path(tmp_path):
    rows().to_csv(tmp_path / "runs.csv", index=False)
    return tmp_path / "runs.csv"


def ran(capsys, *argv):
    code = main(["plan", *map(str, argv)])
    caught = capsys.readouterr()
    return code, caught.out, caught.err


def answer(capsys, *argv):
    code, out, _ = ran(capsys, *argv, "--json", "-")
    assert code == 0
    return json.loads(out)


def flat(text):
    return " ".join(text.split())


def test_the_answer_comes_first_then_the_line_for_a_boss(path, capsys):
    asked = [path, "--problem-cost", 20, "--budget", 2000]
    code, out, _ = ran(capsys, *asked)
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    text = flat(out)
    assert re.match(
        r"Next: \d+ more problems with \d+ runs? each(, and \d+ more runs? of each of the 120 at "
        r"hand)?, for [\d,]+ of 2,000: \+-\d\.\d points become \+-\d\.\d "
        r"\(\d+ % narrower\)\. Going from 3 runs to 1 saves 67 % of the runs and "
        r"widens the interval by \d+ %\.",
        text,
    )
    assert "Planned for mid, the middle one of 3 by run noise (--model names another)." in text
    assert out.index("WHAT 2,000 BUYS") < out.index("MORE RUNS OR MORE PROBLEMS?")
    told = answer(capsys, *asked)
    assert (told["schema"], told["systems"], told["n_systems"]) == ("repeval/plan/1", ["mid"], 3)
    assert told["text"] in text


def test_one_answer_in_python_json_and_markdown(path, capsys):
    told = answer(capsys, path, "--problem-cost", 20, "--budget", 2000)
    outcomes = repeval.load(path)
    c = repeval.components(outcomes.system("mid", "default"))
    found = repeval.plan(
        c.within, c.between, n_problems=120, runs=3, problem_cost=20, budget=2000
    )  # fmt: skip
    for name in ("next", "only_problems", "only_runs", "scratch"):
        mine, theirs = getattr(found, name), told[name]
        assert theirs["new_problems"] == mine.new_problems
        assert (theirs["new_runs"], theirs["more_runs"]) == (mine.new_runs, mine.more_runs)
        # One measures run noise, the other divides within: sums in another order.
        assert theirs["variance"] == pytest.approx(mine.variance, rel=1e-9)
    for name in ("break_even", "break_even_from_here", "optimal_runs", "single_widens"):
        assert told[name] == pytest.approx(getattr(found, name), rel=1e-9)
    # The shown interval narrows as the forecast does.
    shown = told["next"]["width"] / told["interval_width"]
    assert shown == pytest.approx(found.next.width() / found.width, rel=1e-9)
    out = ran(capsys, path, "--problem-cost", 20, "--budget", 2000, "--markdown")[1]
    assert out.startswith(f"**{told['text']}**")
    assert "| best | " in out


def test_limits_are_those_of_the_ceiling(path, capsys):
    told = answer(capsys, path, "--problem-cost", 20, "--model", "high")
    outcomes = repeval.load(path)
    limits = repeval.ceiling_interval(outcomes.system("high", "default"))
    expected = [math.sqrt((v - 1) * 20) for v in (limits.low, limits.high)]
    assert told["optimal_runs_interval"] == pytest.approx(expected, rel=1e-9)
    # The rule R(R+1)σ_b²/μ_w + 1 at both ends, three runs at hand.
    expected = [12 / (v - 1) + 1 for v in (limits.high, limits.low)]
    assert told["break_even_from_here_interval"] == pytest.approx(expected, rel=1e-9)


def test_a_width_is_reached(path, capsys):
    told = answer(capsys, path, "--problem-cost", 20, "--width", 6)
    assert told["next"]["width"] <= 0.06 * (1 + 1e-9)
    assert told["only_runs"] is None
    out = ran(capsys, path, "--problem-cost", 20, "--width", 6)[1]
    assert "More runs alone, however many, do not get there." in flat(out)
    out = ran(capsys, path, "--problem-cost", 20, "--width", 60)[1]
    assert re.match(r"Next: nothing\. The interval is \+-\d\.\d points already\.", flat(out))


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        ([], r"Next: more problems, unless a new one costs over [\d.]+ runs; then one more run of"),
        (["--problem-cost", 900], r"Next: one more run of each problem\. A new one costs 900 runs"),
        (["--problem-cost", 900, "--run-cost", 9], "A new one costs 100 runs, and above"),
        (["--problem-cost", 1], r"Next: more problems\. One costs 1.0 runs; above [\d.]+ one more"),
    ],
)
def test_without_an_aim_the_price_decides(path, capsys, prices, words):
    out = flat(ran(capsys, path, "--model", "high", *prices)[1])
    assert re.search(words, out)
    assert "WHAT AS MUCH AGAIN BUYS" in out
    assert ("cost nothing but its runs" in out) == (not prices)


def test_two_are_told_apart(path, capsys):
    asked = [path, "--separate", "low", "high", "--problem-cost", 20]
    told = answer(capsys, *asked, "--difference", 4)
    outcomes = repeval.load(path)
    pair = [outcomes.system(m, "default") for m in ("low", "high")]
    found = separation(*pair, 0.04, Prices(20, 2)).plan
    assert told["next"]["cost"] == found.next.cost
    assert told["systems"] == ["low", "high"]
    out = flat(ran(capsys, *asked, "--difference", 4)[1])
    assert re.match(
        r"Next: [\d,]+ more problems with \d+ runs? of both(, and .*?)?, for [\d,]+: then low and "
        r"high are told apart 80 of 100 times if they differ by 4 points\.", out
    )  # fmt: skip
    several = answer(capsys, *asked)
    assert [s["difference"] for s in several["separations"]][:3] == [0.01, 0.02, 0.03]
    costs = [s["next"]["cost"] for s in several["separations"]]
    assert costs == sorted(costs, reverse=True)
    looks = answer(capsys, *asked, "--difference", 4, "--looks", 4)
    sure = answer(capsys, *asked, "--difference", 4, "--power", 0.95)
    assert told["next"]["cost"] < min(looks["next"]["cost"], sure["next"]["cost"])


def test_clusters_widen_the_interval_and_make_runs_pay_later(path, capsys, tmp_path):
    difficulty = pd.Series(rates(), index=[f"q{i}" for i in range(120)])
    family = (difficulty.rank() // 5).astype(int).astype(str)
    rows().assign(family=lambda t: t["problem"].map(family)).to_csv(
        tmp_path / "families.csv", index=False
    )
    asked = [tmp_path / "families.csv", "--model", "high"]
    plain, groups = answer(capsys, *asked), answer(capsys, *asked, "--cluster", "family")
    assert groups["interval_width"] > plain["interval_width"]
    assert groups["break_even_from_here"] > plain["break_even_from_here"]
    assert "in new clusters of family" in flat(ran(capsys, *asked, "--cluster", "family")[1])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (rows(runs=1), "no problem was run twice. A pilot needs two runs"),
        (table({"a": [3] * 6, "b": [3] * 6}, runs=3), "every run of every problem ended alike"),
    ],
)
def test_data_without_an_answer_are_refused(tmp_path, capsys, data, words):
    data.to_csv(tmp_path / "runs.csv", index=False)
    code, out, err = ran(capsys, tmp_path / "runs.csv")
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_single_runs_of_one_of_two_are_refused(tmp_path, capsys):
    data = rows()
    data[(data["model"] != "low") | (data["run"] == 0)].to_csv(tmp_path / "r.csv", index=False)
    code, _, err = ran(capsys, tmp_path / "r.csv", "--separate", "low", "high")
    assert code == 2
    assert "low: no problem was run twice." in err
    # The others still can be planned for.
    assert answer(capsys, tmp_path / "r.csv")["n_systems"] == 2


def test_edges_have_an_answer_in_words(tmp_path, capsys):
    """Steady runs, no spread, unequal runs, scores: nothing undefined reaches screen or JSON."""
    steady = table({"a": [3, 3, 0, 0, 3, 0, 3, 3] * 5}, runs=3)
    alike = table({"a": [1, 2, 1, 2, 1, 2, 1, 2] * 5}, runs=3)
    unequal, scores = rows(runs=lambda i: 1 + i % 3), rows(score=True)
    said = []
    for i, data in enumerate([steady, alike, unequal, scores]):
        data.to_csv(tmp_path / f"{i}.csv", index=False)
        for aim in ([], ["--problem-cost", 5, "--budget", 90], ["--problem-cost", 5, "--width", 9]):
            out = ran(capsys, tmp_path / f"{i}.csv", *aim)[1]
            assert not re.search(r"\b(nan|None|inf)\b", out)
            assert max(map(len, out.splitlines())) <= 80
            said.append(flat(out))
            answer(capsys, tmp_path / f"{i}.csv", *aim)
    assert said[0].startswith("Next: more problems. No run noise was seen, so that more runs buy")
    assert "one more run buys nothing: no run noise was seen" in said[1]
    assert "pays when a new problem costs over 1.0 runs" in said[3]
    assert "best, from scratch no limit is seen at these prices" in said[4]
    assert "Going from 2 runs to 1 saves 50 %" in said[6]


@pytest.mark.parametrize(
    "passes",
    [
        {"a": [3, 3, 0, 0] * 5, "b": [3, 3, 0, 0] * 5},  # never a difference
        {"a": [3, 3, 0, 0] * 5, "b": [0, 3, 0, 3] * 5},  # no run noise
        {"a": [3, 1, 0], "b": [0, 3, 2]},  # too few problems for any verdict
        {"a": [1, 2, 1, 2] * 5, "b": [2, 1, 2, 1] * 5},  # no spread but that of runs
    ],
)
def test_odd_pairs_have_an_answer_in_words(tmp_path, capsys, passes):
    table(passes, runs=3).to_csv(tmp_path / "runs.csv", index=False)
    for aim in ([], ["--difference", 20], ["--difference", 20, "--problem-cost", 5]):
        asked = [tmp_path / "runs.csv", "--separate", "a", "b", *aim]
        code, out, _ = ran(capsys, *asked)
        assert code == 0
        assert not re.search(r"\b(nan|None|inf)\b", out)
        assert "-100 %" not in out
        assert answer(capsys, *asked)["next"]["n_problems"] >= 8


def test_a_row_of_the_table_is_not_said_twice(path, capsys):
    cheap = ran(capsys, path, "--problem-cost", 0, "--budget", 500, "--model", "low")[1]
    assert "problems only" not in cheap


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "10", "--width", "3"], "--budget and --width are two aims"),
        (["--budget", "10", "--separate", "low", "high"], "two aims"),
        (["--budget", "10", "--problem-cost", "50"], "buys neither a problem with a run"),
        (["--budget", "0"], "--budget must be above 0"),
        (["--budget", "nan"], "--budget must be above 0"),
        (["--budget", "-3"], "--budget must be above 0"),
        (["--problem-cost", "-1"], "--problem-cost must be 0 or more"),
        (["--run-cost", "0"], "--run-cost must be above 0"),
        (["--run-cost", "inf"], "--run-cost must be above 0"),
        (["--width", "0"], "--width must lie between 0 and 100"),
        (["--width", "100"], "--width must lie between 0 and 100"),
        (["--difference", "3"], "--difference belongs to --separate"),
        (["--looks", "2"], "--looks belongs to --separate"),
        (["--separate", "low", "high", "--difference", "0"], "--difference must lie between"),
        (["--separate", "low", "high", "--power", "1"], "--power must lie between 0 and 1"),
        (["--separate", "low", "high", "--looks", "0"], "--looks must be from 1 to 100"),
        (["--separate", "low", "low"], "the same system"),
        (["--separate", "low", "nobody"], "nobody"),
        (["--separate", "low", "high", "--model", "low"], "choose one"),
        (["--model", "nobody"], "no model 'nobody'"),
        (["--condition", "x"], "no condition 'x'"),
        (["--cluster", "x"], "no label column"),
        (["--by", "x"], "--by is not for plan"),
        (["--json", "runs.csv"], "is one of the inputs"),
    ],
)
def test_refusals_are_one_sentence(path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(path.parent)
    code, out, err = ran(capsys, "runs.csv", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_names_from_data_stay_text(tmp_path, capsys):
    data = rows(models=("<b>x</b>|*", "b", "c"))
    data.to_csv(tmp_path / "runs.csv", index=False)
    out = ran(capsys, tmp_path / "runs.csv", "--separate", "<b>x</b>|*", "c", "--markdown")[1]
    assert "<b>" not in out


def test_the_planned_system_alone_is_analysed(path):
    """Other models change neither figures nor notices; what nobody passed is not said of one."""
    data = pd.read_csv(path)
    whole = what_next(repeval.load(data), model="mid")
    alone = what_next(repeval.load(data[data["model"] == "mid"]))
    assert whole.plan == alone.plan
    assert not [n for n in whole.to_dict()["notices"] if n["code"] == "never-passed"]


@pytest.mark.parametrize("level", [0.5, 0.8, 0.99])
def test_a_width_is_of_the_level_that_was_asked_for(path, capsys, level):
    # The variance falls alike at any level, and so does the width.
    asked = [path, "--problem-cost", 20, "--budget", 2000]
    usual, other = answer(capsys, *asked), answer(capsys, *asked, "--level", level)
    shrinks = [math.sqrt(told["next"]["variance"]) for told in (usual, other)]
    assert shrinks[0] == pytest.approx(shrinks[1], rel=1e-12)
    assert other["next"]["narrower"] == pytest.approx(usual["next"]["narrower"], rel=1e-9)
    assert other["next"]["level"] == level
    wide = 0.6 * other["interval_width"]
    found = answer(capsys, path, "--problem-cost", 20, "--width", 100 * wide, "--level", level)
    assert found["next"]["width"] <= wide * (1 + 1e-9)
    assert found["next"]["cost"] > 0


def test_few_problems_and_endless_money_make_no_plan(tmp_path, capsys):
    few = table({"a": [3, 2, 0, 1, 3], "b": [1, 2, 0, 2, 3]}, 3)
    few.to_csv(tmp_path / "few.csv", index=False)
    code, out, err = ran(capsys, tmp_path / "few.csv")
    assert (code, out) == (2, "")
    assert "ran 5 problems. Run eight problems or more" in err
    rows().to_csv(tmp_path / "runs.csv", index=False)
    code, _, err = ran(capsys, tmp_path / "runs.csv", "--problem-cost", 1, "--budget", 1e300)
    assert code == 2
    assert "more than 10,000,000 problems" in err


def test_who_never_varied_is_named(tmp_path, capsys):
    some = rows(models=("low",))
    perfect = some.assign(model="perfect", outcome=1)
    pd.concat([some, perfect]).to_csv(tmp_path / "runs.csv", index=False)
    assert "Planned for low: of perfect nothing varied." in ran(capsys, tmp_path / "runs.csv")[1]
