"""`repeval items`: which problems are flaky, passed by all or none, and decide a pair."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.cli import main
from repeval.report.items import problems
from repeval.report.versus import versus
from repeval.stats.pairs.reruns import separated
from tests.report.test_versus import table

#: always, never, flaky in both, won wholly, lost wholly, flaky in b
PASSES = {"a": [5, 0, 3, 0, 5, 5], "b": [5, 0, 2, 5, 0, 4]}
HOSTILE = '=HYPERLINK("x")'


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table(PASSES).to_csv("runs.csv", index=False)
    return tmp_path / "runs.csv"


def ran(capsys, *argv):
    code = main(["items", *map(str, argv)])
    caught = capsys.readouterr()
    return code, caught.out, caught.err


def test_kinds_of_problems_are_counted_by_hand():
    found = problems(repeval.load(table(PASSES)))
    assert found.counts == {
        "n_problems": 6, "always_passed": 1, "never_passed": 1, "flaky": 2, "run_once": 0,
    }  # fmt: skip
    kinds = {p.problem: p for p in found.problems}
    assert kinds["q000"].always_passed
    assert kinds["q001"].never_passed
    assert kinds["q002"].flaky_in == ("a", "b")
    assert kinds["q005"].flaky_in == ("b",)
    assert kinds["q005"].rates == {"a": 1.0, "b": 0.8}
    # Farthest apart first, then the noisier.
    order = [p.problem for p in found.problems]
    assert set(order[:2]) == {"q003", "q004"}
    assert order[2:4] == ["q002", "q005"]


def test_who_decides_a_pair_is_who_stands_out_first():
    rng = np.random.default_rng(2606)
    rows = table({m: rng.binomial(5, rng.beta(0.5, 0.5, 60)) for m in "ab"})
    outcomes = repeval.load(rows)
    found = problems(outcomes, pair=("a", "b"))
    deciding = found.deciding()
    assert deciding["separated"].any()
    assert not deciding["separated"].is_monotonic_increasing
    assert deciding["separated"].is_monotonic_decreasing
    for _, part in deciding.groupby("separated"):
        assert part["difference"].abs().round(9).is_monotonic_decreasing
    a, b = (outcomes.system(m, "default") for m in "ab")
    named = separated(a, b)
    assert deciding["separated"].sum() == named.a_better.sum() + named.b_better.sum()
    assert deciding["difference"].sum() / 60 == pytest.approx(b.rate.mean() - a.rate.mean())
    assert len(deciding) == (versus(outcomes, "a", "b").problems["difference"] != 0).sum()


def test_counts_come_first_and_lines_fit(path, capsys):
    code, out, _ = ran(capsys, "runs.csv", "--pair", "a", "b")
    assert code == 0
    lines = out.splitlines()
    assert lines[2] == "THE PROBLEMS"
    assert "always passed  1 of 6: every run of every system passes" in lines[3]
    assert "(q001): hard, or broken?" in lines[4]
    assert "2: some system's own runs of it differ" in lines[5]
    assert lines[7] == "WHICH PROBLEMS DECIDE b AGAINST a  4 of 4"
    assert max(map(len, lines)) <= 80
    assert "THE 4 MOST TELLING of 4" in ran(capsys, "runs.csv")[1]  # not those all pass, or fail
    assert "| q003 |" in ran(capsys, "runs.csv", "--markdown")[1]


def test_the_same_in_json_and_csv(path, capsys):
    _, out, _ = ran(
        capsys, "runs.csv", "--pair", "a", "b", "--json", "-", "--csv", "items.csv"
    )  # fmt: skip
    told = json.loads(out)
    assert told["schema"] == "repeval/items/1"
    assert told["counts"]["flaky"] == 2
    assert told["pair"]["direction"] == "candidate minus baseline"
    assert {r["problem"]: r["difference"] for r in told["pair"]["deciding"]}["q004"] == -1
    rows = pd.read_csv("items.csv").set_index("problem")
    assert len(rows) == 6
    assert rows.loc["q002", ["flaky_in", "rate of a", "rate of b"]].tolist() == [2, 0.6, 0.4]
    assert rows.loc["q003", "difference"] == 1
    assert rows["separated"].sum() == sum(r["separated"] for r in told["pair"]["deciding"])


def test_single_runs_cannot_show_flakiness(tmp_path, capsys):
    table({"a": [1, 0, 1], "b": [1, 0, 0]}, runs=1).to_csv(tmp_path / "once.csv", index=False)
    _, out, _ = ran(capsys, tmp_path / "once.csv", "--pair", "a", "b")
    assert "cannot be seen: every problem was run once" in " ".join(out.split())
    assert "With single runs no problem stands out." in out
    found = problems(repeval.load(tmp_path / "once.csv"))
    assert found.counts["flaky"] is None
    assert {p.flaky_in for p in found.problems} == {None}
    assert "not seen" in found.screen()


def test_scores_vary_and_are_not_tested_one_by_one():
    rows = table(PASSES)
    rows["outcome"] = rows["outcome"] * 0.5 + 0.25 * (rows["problem"] == "q002")
    rows.loc[rows["problem"] == "q000", "outcome"] = 1.0
    rows.loc[rows["problem"] == "q001", "outcome"] = 0.0
    found = problems(repeval.load(rows), pair=("a", "b"))
    text = " ".join(found.screen().split())
    assert (found.counts["always_passed"], found.counts["never_passed"]) == (1, 1)
    assert "always full score 1 of 6: every run of every system has the full score" in text
    assert "varies between runs 2: some system's own runs" in text
    assert "flaky" not in text
    assert "Of scores no single problem is tested" in text


def test_problems_that_some_lack_and_runs_that_some_lack_are_kept():
    rows = table(PASSES)
    rows = rows[~((rows["model"] == "b") & (rows["problem"] == "q003"))]
    rows = rows[~((rows["problem"] == "q005") & (rows["run"] > 0))]
    found = problems(repeval.load(rows))
    kinds = {p.problem: p for p in found.problems}
    assert kinds["q003"].rates == {"a": 0.0}
    assert kinds["q003"].never_passed
    assert kinds["q005"].flaky_in is None
    assert found.counts["run_once"] == 1
    assert "1 more were run once: not seen" in " ".join(found.screen().split())


def test_one_system_has_its_noisiest_problems_first():
    found = problems(repeval.load(table({"a": [5, 0, 3, 1]})))
    assert [p.problem for p in found.problems][:2] == ["q002", "q003"]
    assert "where the runs differ most" in found.screen()


def test_names_from_data_stay_text(tmp_path, capsys):
    rows = table(PASSES).replace({"model": {"a": HOSTILE}, "problem": {"q003": "=1+1|<b>"}})
    rows.to_csv(tmp_path / "runs.csv", index=False)
    out = tmp_path / "items.csv"
    _, text, _ = ran(capsys, tmp_path / "runs.csv", "--csv", out, "--markdown")
    assert "<b>" not in text
    assert "'=1+1|<b>" in out.read_text()
    assert "\n=" not in out.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pair", "a", "a"], "name the same system"),
        (["--pair", "a", "nobody"], "nobody"),
        (["--condition", "x"], "no condition"),
        (["--by", "x"], "--by is not for items"),
        (["--csv", "runs.csv"], "is one of the inputs"),
    ],
)
def test_refusals_are_one_sentence(path, capsys, words, said):
    code, out, err = ran(capsys, "runs.csv", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_table_may_be_the_screen(path, capsys):
    code, out, _ = ran(capsys, "runs.csv", "--csv", "-")
    assert code == 0
    assert out.splitlines()[0].startswith("problem,always_passed")
    assert not Path("-").exists()
