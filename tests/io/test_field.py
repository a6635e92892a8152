"""Files in layouts that people have: each is read, or refused with what helps.

What is read is held against simple counts beside the code that reads it; here is that no file was
forgotten, what each leads to, and the rows whose right value is a verdict.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repeval import analyze, compare, load
from repeval.messages import RepevalError

from .tables.test_advice import offers, rates, read_as_offered

#: Systems, problems and runs (least and most) that a file holds, where it is read at once.
READ = {
    "01_wide_one_column_per_run.csv": (1, 24, 5, 5),
    "02_wide_model_and_run_columns.csv": (2, 24, 3, 3),
    "04_file_per_run": (2, 24, 3, 3),
    "08_missing_runs_stored_as_zero.csv": (1, 30, 16, 16),
    "09_replayed_runs.csv": (1, 60, 3, 3),
    "10_counts_trials_passes.csv": (2, 20, 10, 10),
    "10b_counts_n_c_pass1.csv": (2, 20, 10, 10),
    "10c_sveltebench_results.json": (2, 20, 10, 10),
    "14_per_input_trial_count.csv": (1, 36, 3, 20),
    "16_two_tasks_carry_the_difference.csv": (2, 12, 15, 15),
    "17_families_of_tasks.csv": (2, 24, 5, 5),
    "20_semicolon_decimal_comma.csv": (2, 15, 2, 2),
    "20b_semicolon_latin1.csv": (2, 15, 2, 2),
    "21_percent_signs.csv": (2, 12, 3, 3),
    "23_agent-x.first.json": (1, 48, 1, 1),
    "25_run_per_line_dict": (2, 30, 5, 5),
    "27_tidy_json_array.json": (2, 15, 3, 3),
    "28_human_headers.csv": (1, 15, 2, 2),
    "29_swebench_model_name_or_path.csv": (2, 20, 3, 3),
    "30_mlflow_or_wandb_table.json": (2, 15, 3, 3),
    "30b_tidy.xlsx": (2, 15, 3, 3),
    "30c_tidy.tsv.gz": (2, 15, 3, 3),
    "35_inspect_header_contradicts_samples.json": (1, 12, 1, 1),
    "36_stop_on_pass_rows.csv": (2, 40, 1, 1),
    "37_stop_at_disagreement_not_stored.csv": (2, 60, 1, 1),
}
#: The code of a refusal, and what the first thing it offers leads to; None where nothing can be.
OFFERED = {
    "12_mtbench_judge_five_runs.jsonl": ("outcome-range", (2, 40, 4, 5)),
    "13_nested_ratings_three_raters.json": ("lists-inside", None),
    "13b_ratings_1_to_5.csv": ("doubtful-column", (2, 20, 3, 3)),
    "15_braintrust_export_no_trial_index.csv": ("missing-column", (1, 15, 4, 4)),
    "18_robot_seeds_and_episodes.csv": ("doubtful-column", (2, 4, 30, 30)),
    "19_totals_per_repetition.json": ("totals-only", None),
    "19b_accuracy_per_run.csv": ("totals-only", None),
    "21b_percent_0_100.csv": ("outcome-range", (2, 12, 3, 3)),
    "22_pairwise_judge.jsonl": ("pairwise-verdicts", None),
    "24_promptfoo_wide.csv": ("promptfoo-table", None),
    "25b_dir_per_model_file_per_run": ("missing-column", (2, 30, 5, 5)),
    "26_stop_on_pass_json_list.json": ("missing-column", (2, 30, 1, 1)),
    "29b_model_column_other_name_unique_run_ids.csv": ("doubtful-column", (2, 20, 3, 3)),
    "29c_modelId_unique_run_ids.csv": ("doubtful-column", (2, 20, 3, 3)),
    "32_temperature_column.csv": ("duplicate-rows", (2, 20, 3, 3)),
    "34_langsmith_experiment_download.csv": ("doubtful-column", (1, 12, 2, 3)),
}
#: Tried with --retries; a file for each vocabulary; a program.
OTHERS = {"11_livebench_judgment_duplicates.jsonl", "39_outcome_words",
          "38_check_small_n_false_alarms.py"}  # fmt: skip


def shape(data) -> tuple[int, int, int, int]:
    runs = np.concatenate([data.system(*system).runs for system in data.systems])
    return len(data.systems), len(data.problems), int(runs.min()), int(runs.max())


def test_no_file_is_forgotten(shared):
    names = {path.name for path in (shared / "field").iterdir() if path.name[0].isdigit()}
    assert names == {*READ, *OFFERED, *OTHERS}


@pytest.mark.parametrize("name", READ)
def test_it_is_read(shared, name):
    data = load(shared / "field" / name)
    assert READ[name] == ((*shape(data)[:1], len(data.system_problems(*data.systems[0])),
                           *shape(data)[2:]))  # fmt: skip


@pytest.mark.parametrize("name", OFFERED)
def test_what_the_refusal_offers_is_right(shared, name):
    path = shared / "field" / name
    with pytest.raises(RepevalError) as caught:
        load(path)
    code, right = OFFERED[name]
    assert caught.value.code == code
    if right is None:
        assert not offers(caught.value)
        return
    for data in read_as_offered(path):
        assert shape(data) == right


def test_a_stop_at_a_pass_under_what_is_offered(shared):
    """30 problems of two experiments: first attempts only."""
    path = shared / "field/26_stop_on_pass_json_list.json"
    rows = pd.read_json(path)
    first = (rows["passed"] & (rows["attempts"] == 1)).groupby(rows["experiment"]).mean()
    condition, model = read_as_offered(path)
    name = condition.models[0]
    assert rates(model) == {(m, "default"): pytest.approx(y) for m, y in first.items()}
    assert rates(condition) == {(name, c): pytest.approx(y) for c, y in first.items()}


def test_a_download_with_errors(shared):
    """36.1 %, or 33.3 % if errors failed."""
    (data,) = read_as_offered(shared / "field/34_langsmith_experiment_download.csv")
    rows = pd.read_csv(shared / "field/34_langsmith_experiment_download.csv")
    judged = rows[rows["status"] != "error"].groupby("inputs")["correctness"].mean().mean()
    assert [*rates(data).values()] == [pytest.approx(judged)]
    assert judged == pytest.approx(0.361, abs=5e-4)
    failed = rows["correctness"].where(rows["status"] != "error", 0).groupby(rows["inputs"]).mean()
    (system,) = data.systems
    assert data.missing_bounds(*system)[0] == pytest.approx(failed.mean())
    assert failed.mean() == pytest.approx(1 / 3, abs=5e-4)


def test_two_tasks_that_carry_a_difference_show_none(shared):
    found = analyze(load(shared / "field/16_two_tasks_carry_the_difference.csv"), n_resamples=100)
    (pair,) = found.pairs
    assert pair.resolved is False
    assert pair.interval[0] < 0 < pair.interval[1]


def test_families_of_tasks_are_hinted_at(shared):
    data = load(shared / "field/17_families_of_tasks.csv")
    (text,) = [n.text for n in analyze(data, n_resamples=100).notices
               if n.code == "hidden-clusters"]  # fmt: skip
    assert text.endswith("Use --cluster family.")
    assert len(analyze(data, n_resamples=100, cluster="family").systems) == 2


def test_four_tasks_give_no_verdict_on_new_ones(shared):
    for data in read_as_offered(shared / "field/18_robot_seeds_and_episodes.csv"):
        found = analyze(data, n_resamples=100)
        pairs = [*found.pairs, *found.condition_pairs]
        assert [pair.resolved for pair in pairs] == [None]
        assert pairs[0].fixed.resolved is False


@settings(max_examples=20)
@given(n=st.integers(2, 7), runs=st.integers(2, 30), seed=st.integers(0, 10**6))
def test_few_problems_give_no_verdict_on_new_ones(n, runs, seed):
    rng = np.random.default_rng(seed)
    one, two = rng.integers(0, runs + 1, (2, n))
    assert compare((one, runs), (two, runs)).resolved is None


@settings(max_examples=20)
@given(
    most=st.integers(2, 10), models=st.integers(1, 3), raters=st.integers(1, 4),
    problems=st.integers(2, 8), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_nested_ratings_are_refused_with_what_they_look_like(
    tmp_path_factory, most, models, raters, problems, seed
):
    rng = np.random.default_rng(seed)
    content = {
        f"{i:03d}": {"id": f"{i:03d}", "prompt": "x", "models": {
            f"m{m}": rng.integers(1, most + 1, raters).tolist() for m in range(models)}}
        for i in range(problems)
    }  # fmt: skip
    path = tmp_path_factory.mktemp("nested") / "r.json"
    for written in (content, list(content.values())):
        path.write_text(json.dumps(written))
        with pytest.raises(RepevalError) as caught:
            load(path)
        assert caught.value.code == "lists-inside"
        assert f"r.json: models holds lists of numbers for m0{', m1' * (models > 1)}" in str(
            caught.value
        )


@settings(max_examples=20)
@given(problems=st.integers(2, 8), seed=st.integers(0, 10**6), words=st.booleans())
def test_rows_under_their_ids_are_rows(tmp_path_factory, problems, seed, words):
    rng = np.random.default_rng(seed)
    passed = rng.integers(0, 2, problems).tolist()
    row = [{"passed": ["no", "yes"][y] if words else bool(y), "seconds": 2.5} for y in passed]
    path = tmp_path_factory.mktemp("keyed") / "m.json"
    path.write_text(json.dumps({f"q{i}": one for i, one in enumerate(row)}))
    data = load(path)
    assert len(data.problems) == problems
    assert rates(data) == {("m", "default"): pytest.approx(math.fsum(passed) / problems)}


@settings(max_examples=20)
@given(models=st.integers(2, 3), more=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_verdicts_of_problems_by_model_and_of_models_by_problem(
    tmp_path_factory, models, more, seed
):
    tensor = np.random.default_rng(seed).integers(0, 2, (models, models + more)).tolist()
    by_model = {f"m{m}": {f"q{i}": y for i, y in enumerate(row)} for m, row in enumerate(tensor)}
    by_problem = {f"q{i}": {m: row[f"q{i}"] for m, row in by_model.items()}
                  for i in range(models + more)}  # fmt: skip
    path = tmp_path_factory.mktemp("by") / "x.json"
    for content in (by_model, by_problem):
        path.write_text(json.dumps(content))
        with pytest.raises(RepevalError) as caught:
            load(path)
        assert "--wide models" in caught.value.text
        found = rates(load(path, wide="models"))
        assert found == {(f"m{m}", "default"): pytest.approx(np.mean(row))
                         for m, row in enumerate(tensor)}  # fmt: skip
