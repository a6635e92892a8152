"""`repeval simulate`: the texts' grids by default, one's own values, bad values refused."""

from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from repeval.cli import main
from repeval.companion.simulate import read_table, simulate
from repeval.companion.studies import strategies
from repeval.messages import RepevalError

SMALL = {"trials": 20, "resamples": 100}


def test_own_designs_have_the_truth_they_ask_for():
    found = simulate("coverage", mean=[0.5, 0.9], icc=[0.3], problems=[40], runs=[3], **SMALL)
    assert found["model"].unique().tolist() == [
        "mean 0.5, ICC 0.3, 40 x 3", "mean 0.9, ICC 0.3, 40 x 3",
    ]  # fmt: skip
    assert found["icc"].to_numpy() == pytest.approx(0.3)
    assert set(found["problems"]) == {40}


def test_the_default_is_the_papers_three_systems():
    found = simulate("coverage", **SMALL)
    assert found["model"].nunique() == 3
    assert set(found["runs"]) == {5}


def test_own_labels(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("9,1\n2,8\n")
    found = simulate("strategies", table=path, problems=[30], runs=[1, 2], **SMALL)
    assert set(zip(found["n"], found["k"], strict=True)) == {(30, 1), (30, 2)}
    same = simulate("strategies", table=path, problems=[30], runs=[1, 2], jobs=2, **SMALL)
    pd.testing.assert_frame_equal(found, same)
    with ThreadPoolExecutor(2) as pool:
        same = simulate(
            "strategies", table=path, problems=[30], runs=[1, 2], executor=pool, **SMALL
        )
    pd.testing.assert_frame_equal(found, same)
    assert strategies.truths(pd.DataFrame(read_table(path)).to_numpy())["accuracy"] == 0.85


@pytest.mark.parametrize(
    "text", ["", "1,2\n3\n", "1,0\n", "a,b\n1,2\n", "0,1\n1,0\n", "5,-1\n1,1\n"]
)
def test_what_is_no_confusion_matrix_is_refused(text, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(text)
    with pytest.raises(RepevalError) as caught:
        read_table(path)
    assert caught.value.code == "bad-confusion"


@pytest.mark.parametrize(
    "options",
    ["coverage --mean 1", "coverage --icc 0", "coverage --runs 1", "strategies --problems 1",
     "strategies --trials 1", "coverage --resamples 10", "coverage --jobs 0", "coverage --seed -1",
     "strategies --table nowhere.csv", "strategies --problems 1000 --runs 1000",
     "coverage --problems 1000000"],
)  # fmt: skip
def test_bad_values(options, capsys):
    assert main(["simulate", *options.split()]) == 2
    said = capsys.readouterr().err
    assert said.startswith("repeval: ")
    assert "Traceback" not in said


def test_the_command_prints_and_writes(tmp_path, capsys):
    path = tmp_path / "found.csv"
    small = ["--trials", "10", "--resamples", "100", "--jobs", "1"]
    command = ["simulate", "coverage", "--icc", "0.5", *small, "--csv", str(path)]
    assert main(command) == 0
    assert "new problems" in capsys.readouterr().out
    written = pd.read_csv(path)
    assert {"two_level", "clustered_wilson"} <= set(written["interval"])
    assert main([*command[:-1], "-"]) == 0
    assert capsys.readouterr().out == path.read_text()
