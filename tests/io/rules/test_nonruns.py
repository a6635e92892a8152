"""Rows that are no further runs: retries, cached and replayed answers, runs that never ran."""

from __future__ import annotations

import json
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repeval import analyze, load
from repeval.cli import main
from repeval.io.rules.nonruns import _replays
from repeval.messages import RepevalError

SEED = 2606


def notices(data) -> dict[str, str]:
    return {n.code: n.text for n in data.notices}


def drawn(n: int, runs: int, seed: int = SEED) -> np.ndarray:
    """Runs of problems with Beta(1/2, 1/2) rates."""
    rng = np.random.default_rng(seed)
    return (rng.random((n, runs)) < rng.beta(0.5, 0.5, (n, 1))).astype(int)


def long(y: np.ndarray, **more) -> list[dict]:
    return [
        {"model": "m", "problem": f"p{i:03}", "run": r, "outcome": value, **more}
        for i, row in enumerate(y.tolist()) for r, value in enumerate(row)
    ]  # fmt: skip


def within(y: np.ndarray) -> float:
    return y.var(axis=1, ddof=1).mean()


ATTEMPTS = [
    {"model": m, "problem": p, "run": 1, "outcome": y, "status": status}
    for m, p, y, status in (
        ("a", "x", 1, ""), ("a", "x", 0, ""), ("a", "x", "", "error"), ("a", "y", 0, ""),
        ("a", "y", 1, ""), ("a", "y", 0, ""), ("a", "z", 1, ""), ("a", "w", "", "error"),
        ("a", "w", "", "error"),
    )
]  # fmt: skip


@pytest.mark.parametrize(
    ("retries", "right"), [("first", [1, 0, 1]), ("last", [0, 0, 1]), ("best", [1, 1, 1])]
)
def test_one_judged_attempt_counts(tidy, retries, right):
    data = load(tidy(ATTEMPTS), retries=retries)
    assert data.frame.set_index("problem")["outcome"].to_dict() == dict(
        zip("xyz", right, strict=True)
    )
    assert data.errored["problem"].tolist() == ["w"]
    assert "3 runs have several rows (8)" in notices(data)["retries-chosen"]
    assert "5 are left out" in notices(data)["retries-chosen"]
    assert data.policy.retries == retries


def test_attempts_are_refused_with_the_three_ways_and_each_works(tidy, capsys):
    path = tidy(ATTEMPTS)
    with pytest.raises(RepevalError) as caught:
        load(path)
    assert caught.value.code == "duplicate-rows"
    for retries in ("last", "best", "first"):
        assert f"--retries {retries}" in caught.value.text
        assert main(["check", str(path), "--retries", retries]) == 0
    assert main(["check", str(path)]) == 2
    capsys.readouterr()


def test_a_file_given_twice_is_no_retry(tidy):
    rows = long(drawn(10, 2))
    paths = [tidy(rows, name) for name in ("a.csv", "b.csv")]
    with pytest.raises(RepevalError, match="two files are identical"):
        load(paths, retries="last")


def test_attempts_in_several_files_are_in_their_order(tidy):
    rows = long(drawn(10, 2))
    flipped = [{**row, "outcome": 1 - row["outcome"]} for row in rows]
    first, second = tidy(rows, "a.csv"), tidy(flipped, "b.csv")
    one, two = load([first, second], retries="last"), load(second)
    pd.testing.assert_frame_equal(one.frame, two.frame)


def test_unknown_retries_and_failed_runs(tidy):
    for option in ("retries", "failed_runs"):
        with pytest.raises(RepevalError, match="must be one of") as caught:
            load(tidy(ATTEMPTS), **{option: "median"})
        assert caught.value.code == "bad-option"


def test_livebench_has_one_judgment_each(shared):
    path = shared / "field/11_livebench_judgment_duplicates.jsonl"
    with pytest.raises(RepevalError) as caught:
        load(path)
    assert "--retries last, --retries best or --retries first" in caught.value.text
    frame = pd.read_json(path, lines=True)
    keys = ["model", "question_id"]
    for retries, score in (
        ("last", frame.groupby(keys)["score"].last()),
        ("first", frame.groupby(keys)["score"].first()),
        ("best", frame.groupby(keys)["score"].max()),
    ):
        data = load(path, retries=retries)
        for model in "alpha", "beta":
            sample = data.system(model, "default")
            assert (len(sample), sample.runs.max()) == (40, 1)
            assert sample.rate.mean() == pytest.approx(score[model].mean())
            assert data.missing_bounds(model, "default") is None
    again = load(path, columns="run=tstamp")
    assert [again.missing_runs(*system) for system in again.systems] == [0, 0]


@pytest.mark.parametrize("column", ["cached", "from_cache", "From Cache"])
@pytest.mark.parametrize("words", [("True", "False"), (1, 0), ("yes", "")])
def test_flagged_answers_are_left_out_and_counted(tidy, column, words):
    y = drawn(30, 2)
    replay = [{**row, "run": row["run"] + 2, column: words[0]} for row in long(y)]
    path = tidy([{**row, column: words[1]} for row in long(y)] + replay)
    data = load(path)
    assert analyze(data, n_resamples=50).systems[0].within == pytest.approx(within(y))
    assert "60 of 120 answers" in notices(data)["cached-answers"]
    assert not len(data.labels.columns)


def test_a_problem_with_cached_answers_only_keeps_one(tidy):
    rows = [{**row, "cached": row["problem"] in ("p000", "p001")} for row in long(drawn(20, 3))]
    data = load(tidy(rows))
    assert data.system("m", "default").runs.tolist() == [1, 1, *[3] * 18]
    assert "Of 2 problems" in notices(data)["cached-answers"]


def test_a_cached_column_of_other_words_is_a_label(tidy):
    data = load(tidy([{**row, "cached": "120 tokens"} for row in long(drawn(20, 3))]))
    assert "cached-answers" not in notices(data)
    assert list(data.labels) == ["cached"]


def test_replayed_runs_are_left_out(shared):
    path = shared / "field/09_replayed_runs.csv"
    table = pd.read_csv(path).pivot(index="problem", columns="run", values="outcome")
    assert table[[4, 5, 6]].to_numpy().tolist() == table[[1, 2, 3]].to_numpy().tolist()
    y = table[[1, 2, 3]].to_numpy()
    data = load(path)
    (row,) = analyze(data, n_resamples=50).systems
    between = y.mean(axis=1).var(ddof=1) - within(y) / 3
    assert row.within == pytest.approx(within(y))
    assert row.ceiling == pytest.approx(1 + within(y) / between)
    assert (round(row.within, 4), round(row.ceiling, 2)) == (0.1833, 3.77)
    assert "180 rows" in notices(data)["replayed-runs"]
    assert "run 4 equals run 1" in notices(data)["replayed-runs"]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), runs=st.integers(2, 5))
def test_any_replayed_run_is_found_and_independent_ones_are_not(tmp_path_factory, seed, runs):
    path = tmp_path_factory.mktemp("replay") / "a.csv"
    y = drawn(120, runs, seed)
    copy = seed % runs
    pd.DataFrame(long(np.column_stack([y, y[:, copy]]))).to_csv(path, index=False)
    data = load(path)
    if runs == 2:
        # Of three runs two that agree leave nothing to tell by, but 1/3 a problem that varies.
        assert (data.system("m", "default").runs == 2).all()
    assert data.frame["run"].nunique() == runs
    pd.DataFrame(long(y)).to_csv(path, index=False)
    assert load(path).frame["run"].nunique() == runs


def test_greedy_runs_and_runs_that_hardly_vary_are_kept(tidy):
    y = np.repeat(drawn(60, 1), 4, axis=1)
    data = load(tidy(long(y)))
    assert "replayed-runs" not in notices(data)
    assert "identical-runs" in {n.code for n in analyze(data, n_resamples=50).notices}
    # Runs 0 to 2 agree by chance where five problems of sixty vary.
    y[:5, 3] = 1 - y[:5, 3]
    assert "replayed-runs" not in notices(load(tidy(long(y))))


def test_scores_are_replayed_too_and_missing_ones_do_not_matter(tidy):
    rng = np.random.default_rng(SEED)
    y = rng.random((30, 3)).round(3)
    rows = [{**row, "status": ""} for row in long(np.column_stack([y, y[:, 1]]))]
    rows[3] |= {"outcome": "", "status": "error"}
    data = load(tidy(rows))
    assert data.frame["run"].unique().tolist() == ["0", "1", "2"]
    assert data.missing_runs("m", "default") == 0


def test_many_epochs_of_few_problems_are_compared_by_their_kinds():
    y = drawn(9, 20_000).astype(float)
    y[8, -5:] = np.nan
    began = time.process_time()
    assert _replays(y)[0] == {}
    assert time.process_time() - began < 5


def test_copies_of_runs_with_gaps_are_found():
    y = drawn(120, 6).astype(float)
    y[:, 3], y[:, 5] = y[:, 1], y[:, 1]
    y[:9, 3] = y[20:30, 5] = y[3, 0] = np.nan
    assert _replays(y)[0] == {3: 1, 5: 1}


def test_runs_stored_as_failed_are_pointed_at_and_left_out(shared, capsys):
    path = shared / "field/08_missing_runs_stored_as_zero.csv"
    table = pd.read_csv(path).pivot(index="problem", columns="run", values="outcome")
    dead = table.columns[table.sum() == 0]
    assert len(dead) == 12
    y = table.drop(columns=dead).to_numpy()
    text = notices(load(path))["failed-runs"]
    assert "12 of 16 run labels" in text
    assert "all 30 problems" in text
    assert f"{100 * table.to_numpy().mean():.1f} % with them, {100 * y.mean():.1f} %" in text
    assert "--failed-runs leave-out" in text
    assert main(["analyze", str(path), "--failed-runs", "leave-out", "--json", "-"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["systems"]
    between = y.mean(axis=1).var(ddof=1) - within(y) / 4
    assert row["mean"] == pytest.approx(y.mean())
    assert row["ceiling"] == pytest.approx(1 + within(y) / between)
    assert (round(100 * row["mean"], 1), round(row["ceiling"], 2)) == (59.2, 2.49)


def test_a_run_that_failed_by_chance_is_not_pointed_at(tidy):
    y = np.zeros((30, 4), dtype=int)
    y[0, 0] = y[1, 1] = 1
    assert "failed-runs" not in notices(load(tidy(long(y))))


def test_failed_runs_are_left_out_of_their_system_only(tidy):
    y = drawn(40, 3)
    dead = y.copy()
    dead[:, 2] = 0
    rows = [*long(y), *({**row, "model": "n"} for row in long(dead))]
    data = load(tidy(rows), failed_runs="leave-out")
    assert (data.system("m", "default").runs == 3).all()
    assert (data.system("n", "default").runs == 2).all()
    assert "40 rows are left out" in notices(data)["failed-runs"]
