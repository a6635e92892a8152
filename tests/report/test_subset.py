"""`repeval plan --subset`: a score on all problems from a random part, and chosen parts refused."""

import json

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.cli import main
from repeval.report.subset import from_part
from repeval.stats.design.subset import subset_score
from tests.oracles import SEED

N = 400


def benchmark():
    """Two systems that ran all problems three times, and one that ran all once."""
    rng = np.random.default_rng(SEED)
    hard = rng.normal(0, 2, N)
    found = []
    for model, runs in (("a", 3), ("b", 3), ("new", 1)):
        p = 1 / (1 + np.exp(-(hard + rng.normal(0, 0.8, N))))
        ran = rng.random((N, runs)) < p[:, None]
        found += [(model, i, r, int(ran[i, r])) for i in range(N) for r in range(runs)]
    table = pd.DataFrame(found, columns=["model", "problem", "run", "outcome"])
    return table.assign(site=table["problem"].map(lambda i: "xyz"[i % 7 % 3]))


def part(problems):
    rows = benchmark()
    return rows[(rows["model"] != "new") | rows["problem"].isin(problems)]


def drawn():
    return np.random.default_rng(SEED).choice(N, 90, replace=False)


def ran(capsys, rows, tmp_path, *options):
    rows.to_csv(tmp_path / "runs.csv", index=False)
    code = main(["plan", str(tmp_path / "runs.csv"), "--subset", "new", *options])
    caught = capsys.readouterr()
    return code, caught.out, caught.err


def test_a_random_part_tells_all(tmp_path, capsys):
    rows = part(drawn())
    code, out, _ = ran(capsys, rows, tmp_path)
    assert code == 0
    assert out.startswith("new on all 400 problems: ")
    assert "from the 90 that it ran and 2 older systems." in " ".join(out.split())
    told = json.loads(ran(capsys, rows, tmp_path, "--json", "-")[1])
    whole = benchmark().query("model == 'new'").set_index("problem")["outcome"]
    old = benchmark().query("model != 'new'").groupby(["problem", "model"])["outcome"].mean()
    where = np.sort(drawn())
    noise = benchmark().query("model != 'new'").groupby(["model", "problem"])["outcome"].var()
    expected = subset_score(
        whole.loc[where].to_numpy(), 1, chosen=where, older=old.unstack().to_numpy(),
        older_noise=noise.groupby("model").mean().max(),
    )  # fmt: skip
    assert told["older"] == ["a", "b"]
    for name in ("score", "low", "high", "alone_low", "alone_high"):
        assert told[name] == pytest.approx(getattr(expected, name), rel=1e-9)
    assert told["high"] - told["low"] < told["alone_high"] - told["alone_low"]
    assert ran(capsys, rows, tmp_path, "--markdown")[1].startswith("**new on all 400 problems")


@pytest.mark.parametrize(
    ("problems", "words"),
    [
        (range(90), "they come in blocks, or from one end of the list"),
        ([i for i in range(N) if i % 7 % 3 == 1][:90], "they come in blocks, or from one end"),
        ([i for i in range(N) if i % 7 % 3 == 1], "site has other shares"),
        (range(40), "a part needs 50 problems"),
        (range(N), "it ran all 400 problems"),
    ],
)
def test_other_parts_are_refused(tmp_path, capsys, problems, words):
    code, out, err = ran(capsys, part(problems), tmp_path)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_easy_problems_are_told_by_older_systems(tmp_path, capsys):
    rate = benchmark().query("model != 'new'").groupby("problem")["outcome"].mean()
    rng = np.random.default_rng(SEED)
    weights = (0.2 + rate) / (0.2 + rate).sum()
    chosen = rng.choice(N, 120, replace=False, p=weights)
    code, _, err = ran(capsys, part(chosen), tmp_path)
    assert code == 2
    assert "older systems score" in err


def test_no_older_system_is_no_help(tmp_path, capsys):
    rows = part(drawn())
    code, _, err = ran(capsys, rows[rows["model"] == "new"], tmp_path)
    assert code == 2
    assert "nothing to estimate" in err


@pytest.mark.parametrize("other", [["--budget", "3"], ["--model", "a"], ["--cluster", "site"]])
def test_it_is_a_question_of_its_own(tmp_path, capsys, other):
    code, _, err = ran(capsys, part(drawn()), tmp_path, *other)
    assert code == 2
    assert "choose one" in err


def test_problems_that_only_the_new_one_has_do_not_count():
    extra = part(drawn()).query("model == 'new'").head(5).assign(problem=lambda t: t["problem"] + N)
    rows = pd.concat([part(drawn()), extra])
    outcomes = repeval.load(rows)
    assert from_part(outcomes, "new").found == from_part(repeval.load(part(drawn())), "new").found
