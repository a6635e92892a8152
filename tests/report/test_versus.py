"""`repeval compare`: a candidate against a baseline."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.cli import main
from repeval.messages import RepevalError
from repeval.report.versus import versus


def table(passes, runs=5):
    """Rows of models by passes of each problem."""
    return pd.DataFrame(
        [
            {"model": m, "problem": f"q{i:03}", "run": r, "outcome": int(r < k)}
            for m, found in passes.items()
            for i, k in enumerate(found)
            for r in range(runs)
        ]
    )


def drawn(shift, problems=80, seed=2606):
    """Passes of a baseline, and of a candidate with lower pass rates; ten problems are lost."""
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 1, problems)
    lost = [0 if shift else 5] * 10
    return {
        "base": rng.binomial(5, p).tolist() + [5] * 10,
        "cand": rng.binomial(5, np.clip(p - shift, 0, 1)).tolist() + lost,
    }


@pytest.fixture
def lower(tmp_path):
    path = tmp_path / "runs.csv"
    table(drawn(0.3)).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("a", "b", "verdict"), [("base", "cand", "worse"), ("cand", "base", "better")]
)
def test_the_sign_is_candidate_minus_baseline(lower, a, b, verdict):
    outcomes = repeval.load(lower)
    found = versus(outcomes, a, b)
    x, y = (outcomes.system(m, "default").rate.mean() for m in (b, a))
    for answer in (found.new, found.these):
        assert answer.verdict == verdict
        assert answer.interval[0] < x - y < answer.interval[1]
    other = versus(outcomes, b, a)
    assert found.new.interval == pytest.approx([-v for v in reversed(other.new.interval)])
    assert found.problems["difference"].is_monotonic_increasing
    assert found.problems["difference"].mean() == pytest.approx(x - y)


def test_two_systems_alone_are_asked(lower):
    """What other models did changes nothing."""
    rows = pd.read_csv(lower)
    third = rows[rows["model"] == "base"].assign(model="third", outcome=0)
    alone = versus(repeval.load(rows), "base", "cand")
    among = versus(repeval.load(pd.concat([rows, third])), "base", "cand")
    assert (alone.new, alone.these, alone.price_of_run) == (
        among.new,
        among.these,
        among.price_of_run,
    )


def test_equivalence_is_two_one_sided_tests(lower):
    """The narrower interval, at 90 %, lies inside the margin; the shown one need not."""
    same = repeval.load(table(drawn(0.0)))
    x, y = (same.system(m, "default") for m in ("cand", "base"))
    ninety = repeval.compare(x, y, level=0.9).interval
    least = max(-ninety.low, ninety.high)
    inside, outside = (versus(same, "base", "cand", margin=least + e) for e in (0.001, -0.001))
    assert (inside.new.verdict, inside.new.within_margin) == ("equivalent", True)
    assert (outside.new.verdict, outside.new.within_margin) == ("not shown", False)
    assert max(-inside.new.interval[0], inside.new.interval[1]) > inside.margin
    assert versus(same, "base", "cand").new.within_margin is None


def test_not_worse_by_the_margin_is_said_where_better_is_open(lower):
    """One one-sided test: only the lower end of the interval at 90 % has to hold."""
    turned = versus(repeval.load(lower), "cand", "base", margin=0.01)
    assert (turned.new.within_margin, turned.new.not_worse) == (False, True)
    assert "not worse by more than the margin of 1.0 points" in " ".join(turned.screen().split())
    assert versus(repeval.load(lower), "base", "cand", margin=0.01).new.not_worse is False


def test_problems_that_only_one_was_given_are_said_to_be_left_out(lower):
    rows = pd.read_csv(lower)
    part = rows[(rows["model"] == "base") | (rows["problem"] < "q060")]
    text = " ".join(versus(repeval.load(part), "base", "cand").screen().split())
    assert "Compared on the 60 problems that both were given: base has 90 and cand has 60." in text
    assert "ranks-on-common" not in text
    assert "Compared on" not in versus(repeval.load(lower), "base", "cand").screen()


def test_a_shown_drop_is_never_called_equivalent(lower):
    found = versus(repeval.load(lower), "base", "cand", margin=0.9)
    assert (found.new.verdict, found.new.within_margin) == ("worse", True)
    assert "within the margin of 90.0" in " ".join(found.screen().split())
    beyond = versus(repeval.load(lower), "base", "cand", margin=0.01)
    assert "beyond the margin of 1.0" in " ".join(beyond.screen().split())


def test_the_price_counts_a_repetition_of_both(lower):
    found = versus(repeval.load(lower), "base", "cand")
    ratio = found.pair.within / found.pair.between
    # One run more of one problem, in both systems, against one problem more with five runs of both.
    n, runs = found.pair.n_problems, 5
    by_run = (found.pair.within / (runs * (runs + 1))) / n**2 / 2
    by_problem = (found.pair.between + found.pair.within / runs) / n**2
    assert by_run == pytest.approx(by_problem / (found.price_of_run + 2 * runs), rel=1e-9)
    assert ratio > 0


def test_the_same_verdict_on_screen_in_markdown_and_json(lower, capsys, tmp_path):
    assert main(["compare", "base", "cand", str(lower), "--margin", "5"]) == 0
    screen = capsys.readouterr().out.splitlines()
    assert screen[0] == "runs.csv: 2 models x 90 problems x 5 runs."
    assert screen[2] == "cand AGAINST base"
    assert any(line.split()[:5] == ["on", "new", "ones", "like", "them"] for line in screen[:10])
    assert "WORSE" in "".join(screen[:5])
    assert main(["compare", "base", "cand", str(lower), "--markdown"]) == 0
    assert "WORSE" in capsys.readouterr().out
    csv = tmp_path / "problems.csv"
    assert main(["compare", "base", "cand", str(lower), "--json", "-", "--csv", str(csv)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "repeval/compare/1"
    assert (found["new"]["verdict"], found["these"]["verdict"]) == ("worse", "worse")
    assert len(found["problems"]) == len(pd.read_csv(csv)) == 90


def test_the_json_has_one_direction_and_says_that_of_the_row(lower):
    for baseline, candidate in (("base", "cand"), ("cand", "base")):
        told = versus(repeval.load(lower), baseline, candidate).to_dict()
        low, high = told["new"]["interval"]
        assert told["direction"] == "candidate minus baseline"
        assert low < told["difference"] < high
        assert told["difference"] == told["mean_candidate"] - told["mean_baseline"]
        row = told["pair"]
        assert (row["baseline"], row["candidate"]) == (baseline, candidate)
        assert row["direction"] == "model_a minus model_b"
        sign = 1 if row["model_a"] == candidate else -1
        assert sign * row["difference"] == pytest.approx(told["difference"])


def test_two_problems_give_no_advice(capsys):
    few = versus(repeval.load(table({"base": [5, 3], "cand": [4, 0]})), "base", "cand").screen()
    assert "Fewer than 8 problems: too few for advice on more runs." in few
    assert "WHAT" not in few
    enough = versus(repeval.load(table(drawn(0.3))), "base", "cand").screen()
    assert "WHAT MORE RUNS BUY" in enough
    assert "too few for advice" not in enough


def test_flips_are_listed_with_those_that_stand_out(lower, capsys):
    assert main(["compare", "base", "cand", str(lower), "--flips"]) == 0
    text = capsys.readouterr().out
    changed = versus(repeval.load(lower), "base", "cand").problems["difference"] != 0
    assert f"PROBLEMS THAT CHANGED  {changed.sum()}" in text
    assert "more than run noise" in text


def test_two_paths_are_two_systems(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = table(drawn(0.3))
    for name in ("base", "cand"):
        part = rows[rows["model"] == name].assign(model="gpt-x")
        part.to_csv(f"{name}.csv", index=False)
    assert main(["compare", "base.csv", "cand.csv"]) == 0
    assert "\ncand AGAINST base\n" in capsys.readouterr().out
    assert main(["compare", "old=base.csv", "new=cand.csv", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["candidate"] == "new"
    (tmp_path / "sub").mkdir()
    rows.to_csv("sub/base.csv", index=False)
    assert main(["compare", "base.csv", "sub/base.csv"]) == 2
    assert "type NAME=PATH with two names" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compare", "gate"])
def test_paths_that_cannot_be_meant_are_refused(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    more = ["--margin", "5"] if command == "gate" else []
    table({"base": [1, 2, 3] * 5}).to_csv("base.csv", index=False)
    Path("copy.csv").write_bytes(Path("base.csv").read_bytes())
    for given, words in (
        (["base.csv", "nofile.csv"], "nofile.csv: there is no such file"),
        (["old=base.csv", "new=base.csv"], "are the same file"),
        (["base.csv", "copy.csv"], "are the same file"),
    ):
        assert main([command, *given, *more]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize("command", [["compare", "a", "b"], ["gate", "a", "b"], ["rank"]])
def test_groups_are_refused_not_ignored(lower, capsys, command):
    more = ["--margin", "5"] if command[0] == "gate" else []
    assert main([*command, str(lower), *more, "--by", "x"]) == 2
    assert f"--by is not for {command[0]}" in capsys.readouterr().err


def test_who_leaves_a_pipe_changes_no_verdict(lower):
    given = ["gate", "base", "cand", str(lower), "--margin", "1"]
    for ending in ("| true; exit ${PIPESTATUS[0]}", ">&-"):
        line = f"{shlex.quote(sys.executable)} -m repeval {shlex.join(given)} {ending}"
        ran = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
        assert ran.returncode == 1, ran.stderr
        assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["base", "base"], "name the same system"),
        (["base", "nobody"], "nobody"),
        (["base", "cand", "--margin", "0"], "between 0 and 100 points"),
        (["base", "cand", "--margin", "120"], "between 0 and 100 points"),
        (["base", "cand", "--csv", "runs.csv"], "is one of the inputs"),
    ],
)
def test_refusals_are_one_sentence(lower, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(lower.parent)
    before = lower.read_bytes()
    assert main(["compare", *arguments[:2], "runs.csv", *arguments[2:]]) == 2
    assert words in capsys.readouterr().err
    assert lower.read_bytes() == before


def test_no_common_problem_is_refused():
    rows = table({"base": [1, 2, 3]})
    other = table({"cand": [1, 2, 3]}).assign(problem=lambda t: "x" + t["problem"])
    with pytest.raises(RepevalError, match="both were given"):
        versus(repeval.load(pd.concat([rows, other])), "base", "cand")
