"""A column per run, model or condition; counts instead of runs: the same outcomes as tidy rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import repeval
from repeval import RepevalError, load
from repeval.cli import main
from repeval.io.tables.counts import _spread

WORDS = [("1", "0"), ("PASS", "FAIL"), ("true", "false")]


def refusal(*args, **options) -> RepevalError:
    with pytest.raises(RepevalError) as caught:
        load(*args, **options)
    return caught.value


def codes(outcomes) -> set[str]:
    return {notice.code for notice in outcomes.notices}


def outcomes_of(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, shape)


def wide_csv(columns: dict[str, np.ndarray], words=("1", "0"), **more) -> str:
    n = len(next(iter(columns.values())))
    table = pd.DataFrame({"problem": [f"q{i}" for i in range(n)], **more})
    for name, values in columns.items():
        table[name] = [words[0] if value else words[1] for value in values]
    return table.to_csv(index=False)


def test_field_01_a_column_per_run(shared):
    path = shared / "field/01_wide_one_column_per_run.csv"
    table = pd.read_csv(path, index_col="question")
    data = load(path)
    (system,) = data.systems
    assert data.system(*system).runs.tolist() == [table.shape[1]] * len(table)
    assert data.system(*system).passes.tolist() == table.sum(axis=1).tolist()
    assert data.problems == tuple(table.index)


def test_field_02_a_column_per_model_and_run(shared):
    path = shared / "field/02_wide_model_and_run_columns.csv"
    table = pd.read_csv(path, index_col="id")
    data = load(path)
    assert data.models == ("alpha", "beta")
    for model in data.models:
        passes = table.filter(like=f"{model}_run").sum(axis=1)
        assert data.system(model, "default").passes.tolist() == passes.tolist()
        assert set(data.system(model, "default").runs) == {table.shape[1] // 2}


@pytest.mark.parametrize(
    ("name", "model", "problem", "n", "k"),
    [
        ("10_counts_trials_passes.csv", "harness", "task", "trials", "passes"),
        ("10b_counts_n_c_pass1.csv", "model", "problem_id", "n", "c"),
    ],
)
def test_field_10_counts(shared, name, model, problem, n, k):
    table = pd.read_csv(shared / "field" / name)
    data = load(shared / "field" / name)
    assert data.models == tuple(table[model].unique())
    for system, rows in table.groupby(model):
        want = repeval.components(rows[k].to_numpy(), rows[n].to_numpy())
        got = repeval.components(data.system(system, "default"))
        # The order of problems differs (test10 before test2): sums round differently.
        assert (got.mean, got.within, got.between) == pytest.approx(
            (want.mean, want.within, want.between), rel=1e-12
        )
        assert set(data.system_problems(system, "default")) == set(rows[problem])


def test_field_10c_nested_lists_beside_counts(shared, write):
    records = json.loads((shared / "field/10c_sveltebench_results.json").read_text())
    data = load(write("runs.jsonl", "".join(json.dumps(r) + "\n" for r in records)))
    for model in {r["modelId"] for r in records}:
        single = {r["testName"]: [s["success"] for s in r["samples"]]
                  for r in records if r["modelId"] == model}  # fmt: skip
        passes = dict(zip(data.system_problems(model, "default"),
                          data.system(model, "default").passes.tolist(), strict=True))  # fmt: skip
        assert passes == {test: sum(runs) for test, runs in single.items()}


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("name", ["run_{}", "trial {}", "seed-{}", "Run{}", "attempt_{}", "rep.{}"])
def test_columns_that_are_called_runs_are_runs(write, name, words):
    y = outcomes_of(1, 6, 3)
    text = wide_csv({name.format(r + 1): y[:, r] for r in range(3)}, words, category="x")
    data = load(write("w.csv", text))
    assert data.system("w", "default").passes.tolist() == y.sum(axis=1).tolist()
    assert sorted(data.frame["run"].unique()) == ["1", "2", "3"]
    assert "wide-read" in codes(data)
    assert data.labels.columns.tolist() == ["category"]


def test_wide_and_tidy_lead_to_the_same_outcomes(write):
    y = outcomes_of(2, 7, 4, 2)
    names = {f"m{m} run{r}": y[:, r, m] for m in range(2) for r in range(4)}
    rows = [(f"m{m}", f"q{i}", r, y[i, r, m])
            for m in range(2) for r in range(4) for i in range(7)]  # fmt: skip
    tidy = pd.DataFrame(rows, columns=["model", "problem", "run", "outcome"]).to_csv(index=False)
    one, two = load(write("w.csv", wide_csv(names))), load(write("t.csv", tidy))
    pd.testing.assert_frame_equal(one.frame, two.frame)


def test_a_column_per_model_or_condition_is_asked_for_and_every_way_out_works(write):
    y = outcomes_of(3, 8, 2)
    path = write("w.csv", wide_csv({"alpha": y[:, 0], "beta": y[:, 1]}))
    error = refusal(path)
    assert error.code == "doubtful-layout"
    for kind in ("runs", "models", "conditions"):
        assert f"--wide {kind}" in error.text
        data = load(path, wide=kind)
        assert data.policy.wide == kind
        names = {"runs": data.frame["run"].unique(), "models": data.models,
                 "conditions": data.conditions}[kind]  # fmt: skip
        assert sorted(names) == ["alpha", "beta"]
        assert len(data.frame) == y.size


def test_ways_out_are_only_those_that_the_data_allow(write):
    y = outcomes_of(4, 8, 2)
    text = wide_csv({"alpha": y[:, 0], "beta": y[:, 1]}, model=["m"] * 8)
    assert "--wide models" not in refusal(write("w.csv", text)).text
    assert refusal(write("w.csv", text), wide="models").code == "not-wide"
    # Two rows of one problem without anything that tells them apart: no way leads on.
    path = write("twice.csv", wide_csv({"a": y[:, 0], "b": y[:, 1]}).replace("q1,", "q0,"))
    assert "--wide" not in refusal(path).text


def test_names_of_models_and_conditions_are_said_by_names(write):
    y = outcomes_of(5, 8, 2)
    data = load(write("m.csv", wide_csv({"model_a": y[:, 0], "model_b": y[:, 1]})))
    assert data.models == ("a", "b")
    data = load(write("t.csv", wide_csv({"temperature_0": y[:, 0], "temperature_1": y[:, 1]})))
    assert data.conditions == ("temperature_0", "temperature_1")
    assert data.system("t", "temperature_1").passes.tolist() == y[:, 1].tolist()


def test_scores_in_columns_of_runs_are_read_when_asked_for(write):
    text = "problem,run_1,run_2\na,0.25,0.5\nb,1,0.75\n"
    error = refusal(write("w.csv", text))
    assert error.code == "doubtful-layout"
    assert "Type --wide runs;" in error.text
    data = load(write("w.csv", text), wide="runs")
    assert data.system("w", "default").scores.tolist() == [[0.25, 0.5], [1, 0.75]]


def test_an_empty_field_is_a_run_without_outcome(write):
    data = load(write("w.csv", "problem,run_1,run_2\na,1,0\nb,1,\nc,0,1\n"))
    assert data.system("w", "default").runs.tolist() == [2, 1, 2]
    assert data.errored["problem"].tolist() == ["b"]


def test_messages_have_the_rows_of_the_file(write):
    text = "problem,run_1,run_2\na,1,0\nb,1,0\n\nc,broken,1\n"
    error = refusal(write("w.csv", text), wide="runs")
    assert error.code == "outcome-unreadable"
    assert "row 5 ('broken')" in error.text
    assert "column run_1, run_2" in error.text
    error = refusal(write("w.csv", "problem,run_1,run_2\na,1,0\nb,1,0\n\na,1,1\n"))
    assert error.code in ("duplicate-rows", "no-run-column")
    assert "row 5" in error.text
    assert "row 2" in error.text


def test_a_tidy_table_with_columns_that_look_like_runs(write):
    head = "problem,outcome,run_1,run_2\n"
    error = refusal(write("w.csv", head + "a,1,1,0\nb,0,1,0\n"))
    assert error.code == "doubtful-layout"
    assert "--wide runs" in error.text
    data = load(write("w.csv", head + "a,1,1,0\nb,0,1,0\n"), wide="runs")
    assert data.system("w", "default").runs.tolist() == [2, 2]
    # With a run column of its own the table is tidy, whatever the others are called.
    text = "problem,run,outcome,run_1,run_2\na,1,1,1,0\na,2,0,1,0\nb,1,0,1,0\n"
    assert load(write("t.csv", text)).system("t", "default").runs.tolist() == [2, 1]


def test_further_columns_of_runs_are_not_dropped_in_silence(write):
    path = write("w.csv", "problem,run_1,run_2,run_3\na,1,0,1\nb,1,0,0\n")
    data = load(path, columns="outcome=run_1")
    assert "wide-left" in codes(data)
    assert data.system("w", "default").runs.tolist() == [1, 1]


@pytest.mark.parametrize("wide", ["runs", "models", "conditions"])
def test_the_option_is_refused_where_there_are_no_such_columns(write, wide):
    error = refusal(write("w.csv", "model,problem,run,outcome\nm,a,1,1\nm,b,1,0\n"), wide=wide)
    assert error.code == "not-wide"


def test_options_are_for_tables_and_of_known_values(write):
    path = write("w.csv", "problem,run_1,run_2\na,1,0\nb,1,0\n")
    assert refusal(path, wide="columns").code == "bad-option"


NAMES = [("runs", "passes"), ("trials", "passes"), ("n", "c"), ("num_samples", "num_correct"),
         ("n_samples", "n_correct"), ("n", "correct"), ("N Runs", "N Passes")]  # fmt: skip


@pytest.mark.parametrize(("n", "k"), NAMES)
@given(st.data())
@settings(max_examples=8, deadline=None)
def test_counts_are_the_runs_that_they_count(tmp_path_factory, n, k, data):
    runs = data.draw(st.lists(st.integers(2, 9), min_size=3, max_size=9))
    passes = [r if i == 0 else data.draw(st.integers(0, r)) for i, r in enumerate(runs)]
    folder = tmp_path_factory.mktemp("counts")
    table = pd.DataFrame({"model": "m", "problem": range(len(runs)), n: runs, k: passes})
    table.to_csv(folder / "counts.csv", index=False)
    rows = [("m", i, j, int(j < passes[i])) for i, r in enumerate(runs) for j in range(r)]
    tidy = pd.DataFrame(rows, columns=["model", "problem", "run", "outcome"])
    tidy.to_csv(folder / "tidy.csv", index=False)
    one, two = load(folder / "counts.csv"), load(folder / "tidy.csv")
    if "adaptive-stopping" in codes(two):
        return
    assert one.systems == two.systems
    assert repeval.components(one.system("m", "default")) == repeval.components(passes, runs)
    assert one.system("m", "default").runs.tolist() == two.system("m", "default").runs.tolist()


def test_a_column_of_verdicts_beside_a_number_is_no_count(write):
    text = "model,problem,n,correct\nm,a,1,1\nm,b,7,0\n"
    assert "counts-read" not in codes(load(write("w.csv", text)))
    # Rare passes of several runs look the same.
    path = write("w.csv", "model,problem,n,correct\nm,a,3,1\nm,b,7,0\n")
    error = refusal(path)
    assert error.code == "doubtful-layout"
    assert "--columns outcome=correct" in error.text
    assert load(path, columns="outcome=correct").system("m", "default").runs.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("name,topic,run_1,run_2\na,x,1,0\nb,y,1,1\nc,y,0,1\n", "problem=name"),
        ("task,id,n,c\nA,1,3,2\nA,2,3,1\nB,1,3,0\nB,2,3,3\n", "problem=task+id"),
        ("variant,test,n,c\nA,1,3,2\nA,2,3,1\nB,1,3,0\nB,2,3,3\n", "model=variant"),
        ("model,mode,test,n,c\nm,A,1,3,2\nm,A,2,3,1\nm,B,1,3,0\nm,B,2,3,3\n", "condition=mode"),
    ],
)
def test_columns_that_are_not_known_are_refused_with_a_way_that_works(write, text, way):
    path = write("w.csv", text)
    error = refusal(path)
    assert f"--columns {way}" in error.text
    assert error.text.count("--columns") == 1
    assert len(load(path, columns=way).problems) >= 2


def test_totals_of_scores_give_the_components_of_the_scores(write):
    y = np.random.default_rng(2606).beta(2, 1, (9, 5))
    table = pd.DataFrame({"model": "m", "problem": range(9), "runs": 5, "total": y.sum(axis=1),
                          "total_sq": (y**2).sum(axis=1)})  # fmt: skip
    data = load(write("t.csv", table.to_csv(index=False)))
    assert "stand in" in next(n.text for n in data.notices if n.code == "counts-read")
    got, want = repeval.components(data.system("m", "default")), repeval.components(y)
    for name in ("mean", "within", "between", "icc", "ceiling"):
        # A sum of squares minus a squared sum loses a few digits.
        assert getattr(got, name) == pytest.approx(getattr(want, name), rel=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_scores_of_a_given_sum_and_sum_of_squares(scores):
    y = np.array(scores)
    x = _spread(len(y), y.sum(), (y**2).sum())
    assert ((x >= 0) & (x <= 1)).all()
    # Rounding of the two sums, times the root where the spread is next to nothing.
    assert x.sum() == pytest.approx(y.sum(), abs=1e-9)
    assert (x**2).sum() == pytest.approx((y**2).sum(), abs=1e-9)


def test_totals_of_verdicts_are_passes(write):
    text = "model,problem,runs,total,total_sq\nm,a,4,3,3\nm,b,4,0,0\n"
    assert load(write("t.csv", text)).system("m", "default").passes.tolist() == [3, 0]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("m,b,4,5", "bad-counts"), ("m,b,4,-1", "bad-counts"), ("m,b,0,0", "bad-counts"),
        ("m,b,4,2.5", "bad-counts"), ("m,b,4,", "bad-counts"), ("m,b,many,1", "bad-counts"),
        ("m,a,4,2", "duplicate-counts"), ("m,,4,2", "bad-key"),
    ],
)  # fmt: skip
def test_bad_counts_are_refused_with_their_rows(write, row, code):
    path = write("c.csv", f"model,problem,runs,passes\nm,a,4,3\n\n{row}\nm,c,4,0\n")
    error = refusal(path)
    assert error.code == code
    assert "row 4" in error.text


def test_what_needs_single_runs_is_refused_kindly(write, capsys, tmp_path, monkeypatch):
    path = write("c.csv", "model,problem,runs,passes\nm,a,4,3\nm,b,4,2\nm,c,4,0\n")
    assert refusal(path, missing="fail").code == "counts-only"
    assert refusal(path, pass_at=0.5).code == "counts-only"
    with pytest.raises(RepevalError) as caught:
        load(path).to_csv(tmp_path / "t.csv")
    assert caught.value.code == "counts-only"
    assert "large" not in caught.value.text
    assert main(["analyze", str(path), "--all"]) == 0
    assert "runs in column runs" in " ".join(capsys.readouterr().out.split())
    assert main(["analyze", str(path), "--columns", "outcome=passes"]) == 2


def test_labels_of_counts_can_be_clusters(write):
    text = "model,problem,repo,runs,passes\n"
    text += "".join(f"m,p{i},r{i % 4},5,{i % 6}\n" for i in range(12))
    data = load(write("c.csv", text))
    assert data.labels.columns.tolist() == ["repo"]
    (system,) = repeval.analyze(data, n_resamples=100, cluster="repo").systems
    assert system.n_clusters == 4
    assert list(load(write("c.csv", text)).split_by("repo")) == ["r0", "r1", "r2", "r3"]


def test_counts_and_rows_are_not_mixed(write):
    one = write("c.csv", "model,problem,runs,passes\nm,a,4,3\nm,b,4,2\n")
    two = write("t.csv", "model,problem,run,outcome\nk,a,1,1\nk,b,1,0\n")
    assert refusal([one, two]).code == "mixed-layouts"
    other = write("d.csv", "model,problem,runs,passes\nk,a,2,1\nk,b,4,2\n")
    assert load([one, other]).models == ("k", "m")
    assert refusal([one, write("e.csv", one.read_text())]).code == "duplicate-counts"


@pytest.mark.parametrize("values", [("1", "0"), ("0.5", "0.25")])
def test_columns_that_can_only_be_problems_are_offered_as_such(write, values):
    rows = [f"{m},{r},{values[r]},1,{values[1 - r]}" for m in "mn" for r in range(2)]
    path = write("t.csv", "\n".join(["model,run,alg-1,geo-2,num-3", *rows]))
    error = refusal(path)
    assert error.code == "doubtful-layout"
    assert "Type --wide problems;" in error.text
    assert load(path, wide="problems").problems == ("alg-1", "geo-2", "num-3")
