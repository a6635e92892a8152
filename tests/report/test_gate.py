"""`repeval gate`: pass, fail or cannot tell as an exit code, and what the gate is worth."""

import json
import re

import pandas as pd
import pytest

import repeval
from repeval.cli import main
from repeval.messages import RepevalError
from repeval.report.gate import MARKER, gated, times
from repeval.report.versus import versus
from tests.report.test_versus import drawn, table


@pytest.fixture
def path(tmp_path):
    """Three models on 200 problems: a baseline, one alike, and one that lost a third."""
    same, lower = drawn(0.0, problems=190), drawn(0.3, problems=190)
    passes = {"base": same["base"], "alike": same["base"], "lower": lower["cand"]}
    table(passes).to_csv(tmp_path / "runs.csv", index=False)
    return tmp_path / "runs.csv"


def ran(capsys, *argv):
    code = main(["gate", *map(str, argv)])
    caught = capsys.readouterr()
    return code, caught.out, caught.err


@pytest.mark.parametrize("question", ["new", "these"])
@pytest.mark.parametrize(
    ("candidate", "margin", "verdict"),
    [("alike", 10, "pass"), ("lower", 3, "fail"), ("alike", 0.2, "cannot tell")],
)
def test_the_exit_code_is_the_verdict(path, capsys, question, candidate, margin, verdict):
    asked = ["base", candidate, path, "--margin", margin, "--question", question]
    code, out, _ = ran(capsys, *asked)
    assert code == (verdict != "pass")
    assert out.startswith(verdict.upper())
    code, out, _ = ran(capsys, *asked, "--unsure", "pass")
    assert code == (verdict == "fail")
    code, out, _ = ran(capsys, *asked, "--json", "-")
    found = json.loads(out)
    assert (found["schema"], found["verdict"]) == ("repeval/gate/1", verdict)
    assert found["exit_code"] == code == int(not found["passed"])


def test_what_the_gate_is_worth_comes_before_the_verdict(path, capsys):
    """The one line first; then the test of the gate, and only then the limits."""
    _, out, _ = ran(capsys, "base", "alike", path, "--margin", 3)
    lines = out.splitlines()
    assert re.match(r"(PASS|FAIL|CANNOT TELL \(fail\)): alike .* \(margin 3\)\.$", lines[0])
    assert re.search(
        r"An unchanged candidate passes (\d+|more than 99) of 100 times; a 5-point drop is caught "
        r"(\d+|more than 99) of 100 times \((\d+|less than 1) called a fail, the rest cannot "
        r"tell\)\.",
        " ".join(lines[1:5]),
    )
    assert out.index("WHAT THIS GATE CAN TELL") < out.index("alike AGAINST base")
    assert max(map(len, lines)) <= 80


def test_what_cannot_be_told_is_said_to_be_caught_or_let_through(path, capsys):
    """A gate that lets doubt through says how much it shows, and needs for it."""
    asked = ["base", "alike", path, "--margin", 1]
    strict, lenient = (
        " ".join(ran(capsys, *asked, *more)[1].split()) for more in ([], ["--unsure", "pass"])
    )
    found = gated(repeval.load(path), "base", "alike", margin=0.01).gate
    sure = times(found.unchanged.passes)
    assert found.dropped.cannot_tell > 0.05
    assert f"An unchanged candidate passes {sure} of 100 times;" in strict
    assert f"({times(found.dropped.fails)} called a fail, the rest cannot tell)" in strict
    assert "to pass 95 of 100 90 problems" not in lenient
    assert f"of 100 times, {sure} for sure" in lenient
    assert "to pass 95 of 100 for sure" in lenient
    assert f"is caught {times(found.dropped.fails)} of 100 times (all called a fail;" in lenient


def test_no_drop_is_larger_than_the_baselines_score(tmp_path, capsys):
    path = tmp_path / "hard.csv"
    table({"base": [5, 4, 5, 3] + [0] * 96, "alike": [5, 5, 4, 3] + [0] * 96}).to_csv(path)
    outcomes = repeval.load(path)
    found = gated(outcomes, "base", "alike", margin=0.03).gate
    assert found.drop == pytest.approx(0.034)  # 17 of 500 runs, not 5 points
    assert found.dropped.passes < 0.2
    text = " ".join(ran(capsys, "base", "alike", path, "--margin", 3)[1].split())
    assert "a 3.4-point drop is caught" in text
    beyond = gated(outcomes, "base", "alike", margin=0.05)
    assert beyond.gate.drop_caught is None
    assert beyond.to_dict()["self_test"]["drop_caught"] is None
    assert "a 5-point drop is not possible from a score of 3.4 %" in beyond.worth()
    _, out, err = ran(capsys, "base", "alike", path, "--margin", 3, "--drop", 5)
    assert out == ""
    assert "--drop must be at most the baseline's score, 3.4, not 5" in err


def test_one_verdict_in_json_markdown_python_and_compare(path, capsys):
    outcomes = repeval.load(path)
    a, b = (outcomes.system(m, "default") for m in ("base", "alike"))
    found = repeval.gate(a, b, margin=0.03)
    mine = gated(outcomes, "base", "alike", margin=0.03)
    assert mine.gate == found
    _, out, _ = ran(capsys, "base", "alike", path, "--margin", 3, "--json", "-")
    told = json.loads(out)
    assert told["interval"] == [found.interval.low, found.interval.high]
    assert told["self_test"]["unchanged"]["passes"] == found.unchanged.passes
    _, out, _ = ran(capsys, "base", "alike", path, "--margin", 3, "--markdown")
    assert out.startswith(f"{MARKER}\n**{found.verdict.upper()}")
    assert told["text"] in out.replace("\\", "")
    # Within the margin of compare, which is two one-sided tests, is a pass at least.
    assert found.passed == versus(outcomes, "base", "alike", margin=0.03).new.within_margin


def test_two_systems_alone_are_asked(path):
    rows = pd.read_csv(path)
    alone = gated(repeval.load(rows[rows["model"] != "lower"]), "base", "alike", margin=0.03)
    assert alone.gate == gated(repeval.load(rows), "base", "alike", margin=0.03).gate


def test_looks_and_clusters_reach_the_gate(path, capsys, tmp_path):
    rows = pd.read_csv(path).assign(family=lambda t: t["problem"].str[-1])
    rows.to_csv(tmp_path / "families.csv", index=False)
    asked = ["base", "alike", tmp_path / "families.csv", "--margin", 8, "--json", "-"]
    plain, looks, groups = (
        json.loads(ran(capsys, *asked, *more)[1])
        for more in ([], ["--looks", 4], ["--cluster", "family"])
    )
    assert looks["alpha"] == pytest.approx(0.0169, abs=1e-4)
    assert looks["interval"][0] <= plain["interval"][0]
    assert "10 clusters" in groups["method"]
    text = ran(capsys, *asked[:-2], "--looks", 4)[1]
    assert "One of 4 looks" in text


def test_too_few_problems_and_single_runs_never_pass(tmp_path, capsys):
    few, once = tmp_path / "few.csv", tmp_path / "once.csv"
    table({"a": [3] * 6, "b": [3] * 6}, runs=3).to_csv(few, index=False)
    table({"a": [1] * 40, "b": [1] * 40}, runs=1).to_csv(once, index=False)
    code, out, _ = ran(capsys, "a", "b", few, "--margin", 50)
    assert (code, out.splitlines()[0]) == (
        1, "CANNOT TELL (fail): no verdict on fewer than 8 problems, and these are 6.",
    )  # fmt: skip
    assert "passes less than 1 of 100 times" in " ".join(out.split())
    code, out, _ = ran(capsys, "a", "b", once, "--margin", 5, "--question", "these")
    assert code == 1
    assert "needs two runs of a problem" in out.splitlines()[0]
    code, out, _ = ran(capsys, "a", "b", once, "--margin", 5)
    assert code == 1
    assert "On fewer than 59 problems nothing passes" in " ".join(out.split())


def test_two_paths_are_two_systems(path, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pd.read_csv(path)
    for name in ("base", "lower"):
        rows[rows["model"] == name].drop(columns="model").to_csv(f"{name}.csv", index=False)
    code, out, _ = ran(capsys, "base.csv", "new=lower.csv", "--margin", 5)
    assert code == 1
    assert out.startswith("FAIL: new loses at least ")


def test_names_from_data_stay_text(tmp_path, capsys):
    rows = table(drawn(0.0)).replace({"model": {"cand": "<b>x</b> -->|*"}})
    rows.to_csv(tmp_path / "runs.csv", index=False)
    _, out, _ = ran(
        capsys, "base", "<b>x</b> -->|*", tmp_path / "runs.csv", "--margin", 5, "--markdown"
    )
    assert "<b>" not in out
    assert out.count("-->") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["base", "base", "--margin", "3"], "name the same system"),
        (["base", "nobody", "--margin", "3"], "nobody"),
        (["base", "alike", "--margin", "0"], "between 0 and 100 points"),
        (["base", "alike", "--margin", "nan"], "between 0 and 100 points"),
        (["base", "alike", "--margin", "3", "--looks", "0"], "--looks must be from 1 to 100"),
        (["base", "alike", "--margin", "3", "--drop", "1"], "between the margin and 100 points"),
        (["base", "alike", "--margin", "3", "--level", "0.5"], "--level must be above 0.5"),
        (["base", "alike", "--margin", "3", "--by", "x"], "--by is not for gate"),
        (["base", "alike", "--margin", "3", "--cluster", "x"], "no label column"),
        (["base", "alike", "--margin", "3", "--condition", "x"], "x"),
        (["base", "alike", "--margin", "3", "--json", "runs.csv"], "is one of the inputs"),
    ],
)
def test_refusals_are_one_sentence(path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(path.parent)
    code, out, err = ran(capsys, *arguments[:2], "runs.csv", *arguments[2:])
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_a_margin_is_asked_for(path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["gate", "base", "alike", str(path)])
    assert stopped.value.code == 2
    assert "--margin" in capsys.readouterr().err


def test_no_common_problem_is_refused():
    rows = table({"base": [1, 2, 3]})
    other = table({"cand": [1, 2, 3]}).assign(problem=lambda t: "x" + t["problem"])
    with pytest.raises(RepevalError, match="both were given"):
        gated(repeval.load(pd.concat([rows, other])), "base", "cand", margin=0.05)
