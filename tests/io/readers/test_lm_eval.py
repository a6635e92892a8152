"""lm-evaluation-harness: one filter, one metric, and a run for each invocation."""

from __future__ import annotations

import json
import shutil

import pytest

from repeval import load

from .asked import TENSOR, codes, outcomes_of, refusal, text_of
from .lm_eval_logs import lines, write, write_runs

IDS = range(12)
FIRST = [row[:1] for row in TENSOR]


def test_round_trip(tmp_path):
    write_runs(tmp_path / "org__m", TENSOR)
    write_runs(tmp_path / "n", TENSOR[::-1], model="n")
    data = load(tmp_path)
    assert data.models == ("n", "org/m")
    assert outcomes_of(data, "org/m", IDS) == TENSOR
    assert outcomes_of(data, "n", IDS) == TENSOR[::-1]
    assert list(data.labels["task"]) == ["gsm8k"] * 12
    text = text_of(data, "logs-read")
    assert text.startswith("6 lm-evaluation-harness logs: task gsm8k, scorer acc/none; 2 models.")
    assert "same question in all of them" in text
    assert "runs of n, org/m" in text_of(data, "runs-numbered")
    assert not {"repeats-scored-once", "settings-differ", "identical-logs"} & codes(data)


def test_runs_are_in_the_order_of_time_not_of_paths(tmp_path):
    late = write(tmp_path / "a", [1, 0, 0], time="2026-12-01T00-00-00.0")
    early = write(tmp_path / "b", [0, 1, 1], time="2026-11-30T00-00-00.0")
    data = load([late, early])
    assert outcomes_of(data, "org/m", range(3)) == [[0, 1], [1, 0], [1, 0]]


FILTERS = {
    "strict": {"exact_match": float},
    "flexible": {"exact_match": lambda y: 1.0 - y},
}
TWO = {"none": {"acc": float, "acc_norm": lambda y: 1.0 - y}}


def test_filters_and_metrics_are_listed_and_chosen(tmp_path):
    path = write(tmp_path, [1, 0, 0], filters=FILTERS)
    for wanted in (None, "exact_match"):
        error = refusal(path, scorer=wanted)
        assert error.code == "several-scorers"
        assert error.text.endswith(
            "Type --scorer exact_match/flexible or --scorer exact_match/strict."
        )
    for wanted in ("exact_match/strict", "exact_match,strict"):
        assert outcomes_of(load(path, scorer=wanted), "org/m", range(3)) == [[1], [0], [0]]
    data = load(path, scorer="exact_match,flexible")
    assert outcomes_of(data, "org/m", range(3)) == [[0], [1], [1]]
    assert "scorer exact_match/flexible" in text_of(data, "logs-read")
    assert refusal(path, scorer="acc").code == "unknown-scorer"
    path = write(tmp_path / "two", [1, 0, 0], filters=TWO)
    assert "--scorer acc/none or --scorer acc_norm/none" in refusal(path).text
    assert outcomes_of(load(path, scorer="acc_norm"), "org/m", range(3)) == [[0], [1], [1]]


@pytest.mark.parametrize("listed", [False, True])
def test_older_lines_name_no_metric_and_may_be_one_list(tmp_path, listed):
    path = write(tmp_path, [1, 0, 0], older=True)
    if listed:
        path.write_text(json.dumps(lines([1, 0, 0], older=True), indent=2))
    assert outcomes_of(load(path), "org/m", range(3)) == [[1], [0], [0]]


def test_scores_that_are_no_number_are_no_metric(tmp_path):
    filters = {"none": {"word_perplexity": lambda y: [-3.0, 7], "acc": float}}
    path = write(tmp_path, [1, 0, 0], filters=filters)
    assert outcomes_of(load(path), "org/m", range(3)) == [[1], [0], [0]]
    path = write(tmp_path, [1, 0], filters={"none": {"word_perplexity": lambda y: [-3.0, 7]}})
    error = refusal(path)
    assert error.code == "no-samples"
    assert path.name in error.text


def test_a_score_of_nan_is_missing(tmp_path):
    path = write(tmp_path, [1, 0, float("nan")])
    data = load(path)
    assert len(data.frame) == 2
    assert list(data.errored["problem"]) == ["2"]


def test_without_results_the_directory_names_the_model(tmp_path):
    path = write(tmp_path / "org__m", [1, 0, 0], results=False)
    data = load(path)
    assert data.models == ("org__m",)
    assert "after the directory" in text_of(data, "model-from-file")
    # A directory whose name is no task and time says nothing, either.
    other = path.rename(path.with_name("run1.jsonl"))
    assert load(other).models == ("run1",)
    assert load(f"m={other}").models == ("m",)


def test_files_of_other_names_are_not_put_together_silently(tmp_path):
    paths = []
    for folder, values in (("a", [1, 0, 0]), ("b", [0, 1, 1])):
        path = write(tmp_path / folder, values, results=False)
        paths.append(path.rename(path.with_name("samples.jsonl")))
    assert refusal(paths).code == "same-model"
    assert outcomes_of(load([f"m={p}" for p in paths]), ids=range(3)) == [[1, 0], [0, 1], [0, 1]]


def test_tasks_of_one_invocation_stay_apart(tmp_path):
    for task in ("arc", "gsm8k"):
        write(tmp_path, [1, 0, 0], task=task)
    data = load(tmp_path)
    assert data.problems == tuple(f"{task}/{i}" for task in ("arc", "gsm8k") for i in range(3))
    assert "several-tasks" in codes(data)


def test_settings_that_differ_are_said(tmp_path):
    write(tmp_path / "m", [1, 0, 0])
    write(tmp_path / "n", [1, 0, 0], model="n", config={"num_fewshot": 0})
    text = text_of(load(tmp_path), "settings-differ")
    assert text == "Settings of task gsm8k differ. num fewshot: 5 (org/m), 0 (n)."


def test_another_document_behind_an_id_is_refused(tmp_path):
    write(tmp_path / "m", [1, 0, 0])
    write(tmp_path / "n", [1, 0, 0], model="n", doc=lambda i: {"question": f"{2 - i}?"})
    assert refusal(tmp_path).code == "other-question"


def test_a_copy_in_another_directory_is_no_run(tmp_path):
    path = write(tmp_path / "m", [1, 0, 0])
    shutil.copytree(path.parent, tmp_path / "backup")
    data = load(tmp_path)
    assert outcomes_of(data, "org/m", range(3)) == [[1], [0], [0]]
    assert "copies-dropped" in codes(data)


REAL = "lm_eval_0.4.13_repeats3"


@pytest.mark.parametrize("name", ["first", "maj"])
def test_a_real_log(shared, name):
    """Each filter's score is 2/3, as the results beside say."""
    path = shared / "formats" / REAL
    assert refusal(path).code == "several-scorers"
    data = load(path, scorer=f"exact_match,{name}")
    assert outcomes_of(data, "dummy", range(3)) == [[1], [0], [1]]
    assert text_of(data, "repeats-scored-once").startswith("Of 3 repeats")
