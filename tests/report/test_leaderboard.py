"""`repeval rank`: a leaderboard that holds together, in four formats."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.cli import main
from repeval.messages import RepevalError
from repeval.report.leaderboard import leaderboard
from repeval.stats.leaderboard import joint_ranks

HOSTILE = "a|b & c_d \\ $x$ <b>"


def table(models=("a", "b", "c"), problems=40, runs=3, seed=2606):
    """Rows of models, each 15 points worse than the one before."""
    rng = np.random.default_rng(seed)
    p = rng.beta(3, 1, problems)
    return pd.DataFrame(
        [
            {"model": m, "problem": f"q{i:03}", "run": r,
             "outcome": int(rng.random() < max(0, p[i] - 0.15 * j))}
            for j, m in enumerate(models)
            for i in range(problems)
            for r in range(runs)
        ]
    )  # fmt: skip


def test_places_are_those_of_the_joint_sets():
    outcomes = repeval.load(table())
    board = leaderboard(outcomes)
    samples, _ = outcomes.common("default")
    assert [p.score for p in board.places] == sorted(
        (s.rate.mean() for s in samples.values()), reverse=True
    )
    assert [p.rank for p in board.places] == [1, 2, 3]
    assert all(p.rank_set[0] <= p.rank <= p.rank_set[1] for p in board.places)
    assert [p.may_be_best for p in board.places] == [p.rank_set[0] == 1 for p in board.places]
    direct = joint_ranks([*samples.values()], rng=1)
    assert board.fall == pytest.approx(direct.fall, abs=0.01)
    assert f"to {100 * (board.places[0].score - board.fall):.1f} %" in board.footnote


def test_the_same_numbers_in_every_format(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table(models=("a", HOSTILE, "c")).to_csv("runs.csv", index=False)
    kinds = ("json", "md", "csv", "tex")
    outputs = [x for kind in kinds for x in ("-o", f"board.{kind}")]
    assert main(["rank", "runs.csv", *outputs]) == 0
    assert capsys.readouterr().out == ""
    found = json.loads((tmp_path / "board.json").read_text())
    assert found["schema"] == "repeval/leaderboard/1"
    scores = {p["model"]: p["score"] for p in found["places"]}
    rows = list(csv.DictReader(io.StringIO((tmp_path / "board.csv").read_text())))
    assert {r["model"]: float(r["score"]) for r in rows} == pytest.approx(scores)
    md, tex = ((tmp_path / f"board.{k}").read_text() for k in ("md", "tex"))
    for score in scores.values():
        assert f"| {100 * score:.1f} |" in md
        assert f"& {100 * score:.1f} &" in tex
    # Names are text: no column, formula or tag of theirs.
    assert "a\\|b & c" in md.replace("&amp;", "&")
    assert "<b>" not in md
    assert r"a|b \& c\_d \textbackslash{} \$x\$" in tex
    assert all(line.count(" & ") == 4 for line in tex.splitlines() if line.endswith(r"\\"))
    assert "expected to fall" in md
    assert "expected to fall" in tex


def test_one_run_has_no_interval_for_these_problems(capsys, tmp_path):
    path = tmp_path / "once.csv"
    table(runs=1).to_csv(path, index=False)
    assert main(["rank", str(path)]) == 0
    text = capsys.readouterr().out
    assert "these 40" not in text
    assert "(1 run each)" in " ".join(text.split())


def test_problems_that_some_lack_are_left_out_and_counted():
    rows = table()
    rows = rows[~((rows["model"] == "b") & (rows["problem"].isin(["q000", "q001"])))]
    board = leaderboard(repeval.load(rows))
    assert (board.n_problems, board.n_left_out) == (38, 2)
    assert "2 problems that some system lacks are left out" in board.footnote
    kept = rows[~rows["problem"].isin(["q000", "q001"])]
    assert board.places == leaderboard(repeval.load(kept)).places


def test_the_order_of_rows_and_the_seed_decide_nothing_and_everything():
    rows = table()
    shuffled = rows.sample(frac=1, random_state=2606)
    assert leaderboard(repeval.load(rows)).places == leaderboard(repeval.load(shuffled)).places


def test_two_hundred_systems():
    board = leaderboard(repeval.load(table([f"m{i}" for i in range(200)], problems=20, runs=1)))
    assert len(board.places) == 200


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "board.pdf"], "is written to .json, .md, .csv, .tex"),
        (["-o", "runs.csv"], "is one of the inputs"),
        (["--condition", "x"], "no condition"),
    ],
)
def test_refusals_are_one_sentence(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    table().to_csv("runs.csv", index=False)
    before = (tmp_path / "runs.csv").read_bytes()
    assert main(["rank", "runs.csv", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert (tmp_path / "runs.csv").read_bytes() == before


def test_a_single_model_is_no_leaderboard():
    with pytest.raises(RepevalError, match="one model, 'a'; a ranking needs two"):
        leaderboard(repeval.load(table(models=["a"])))
