"""SWE-bench reports: sets of instances to outcomes; nothing is made up for what did not run."""

from __future__ import annotations

import json

import pytest

from repeval import load

from .asked import ALIKE, TENSOR, codes, outcomes_of, refusal, text_of
from .swebench_logs import report, write_runs


@pytest.mark.parametrize("model", ["m", "org__gpt-4.1-2025.04"])
def test_round_trip(tmp_path, model):
    write_runs(tmp_path, TENSOR, ids=ALIKE, model=model)
    write_runs(tmp_path, TENSOR[::-1], ids=ALIKE, model="n")
    data = load(tmp_path)
    assert set(data.models) == {model, "n"}
    assert outcomes_of(data, model) == TENSOR
    assert outcomes_of(data, "n") == TENSOR[::-1]
    assert text_of(data, "logs-read") == "6 SWE-bench reports: scorer resolved; 2 models."
    assert "cut at the last dot" in text_of(data, "model-from-file")
    assert not {"empty-patches", "log-unfinished"} & codes(data)


def test_errors_are_missing_empty_patches_failed_and_the_rest_did_not_run(tmp_path):
    write_runs(tmp_path, [[1, "error"], ["empty", 0], [0, 1], [1, None], [None, None]],
               ids=ALIKE[:5])  # fmt: skip
    data = load(tmp_path)
    # q4 ran nowhere: it is no problem of these data.
    assert data.problems == ("q0", "q1", "q2", "q3")
    assert outcomes_of(data, ids=ALIKE[:4]) == [[1, None], [0, 0], [0, 1], [1, None]]
    assert list(data.errored["problem"]) == ["q0"]
    # (1 + 0 + 1/2 + 1) / 4, and (1/2 + 0 + 1/2 + 1) / 4 with the error as a failure.
    assert "m 62.5 % (50.0 % if failed)" in text_of(data, "errored-rows")
    assert "empty patch count as failed" in text_of(data, "empty-patches")
    text = text_of(data, "log-unfinished")
    assert "m.run_0.json: 1 not run after 4 runs" in text
    assert "m.run_1.json: 2 not run after 3 runs" in text


def test_instances_are_those_of_all_reports(tmp_path):
    write_runs(tmp_path, [[1], [0]], ids=["a", "b"])
    write_runs(tmp_path, [[1], [0]], ids=["b", "c"], model="n")
    data = load(tmp_path)
    assert data.problems == ("a", "b", "c")
    assert len(data.system("m", "default")) == 2


def test_equal_reports_are_runs_and_said(tmp_path):
    write_runs(tmp_path, [[1, 1], [0, 0]], ids=["a", "b"])
    data = load(tmp_path)
    assert outcomes_of(data, ids=["a", "b"]) == [[1, 1], [0, 0]]
    assert "run_0" in text_of(data, "identical-logs")


def test_a_report_without_a_run_in_its_name_is_no_silent_run(tmp_path):
    paths = []
    for folder, values in (("a", [1, 0]), ("b", [0, 1])):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "report.json")
        paths[-1].write_text(json.dumps(report(values, ["x", "y"])))
    assert load(paths[0]).models == ("report",)
    assert refusal(paths).code == "same-model"
    data = load([f"m={path}" for path in paths])
    assert outcomes_of(data, ids=["x", "y"]) == [[1, 0], [0, 1]]


def test_an_instance_in_two_sets_is_refused(tmp_path):
    whole = report([1, 0], ["x", "y"])
    whole["unresolved_ids"] = ["x"]
    (tmp_path / "m.a.json").write_text(json.dumps(whole))
    error = refusal(tmp_path)
    assert error.code == "duplicate-rows"
    assert "'x'" in error.text


def test_counts_without_their_ids_are_refused(tmp_path):
    whole = report([1, 0], ["x", "y"])
    del whole["unresolved_ids"]
    (tmp_path / "m.a.json").write_text(json.dumps(whole))
    error = refusal(tmp_path)
    assert error.code == "no-samples"
    assert "m.a.json lists 0 of 1 unresolved_ids" in error.text


def test_real_outcomes(shared):
    """Five instances; resolved per run as the reports count them: 3, 3, 3 and 5, 5, 5."""
    folder = shared / "formats/swebench_reports"
    data = load(folder)
    for path in folder.iterdir():
        model, run = path.stem.split(".run_")
        frame = data.frame[(data.frame[["model", "run"]] == [model, str(int(run) + 1)]).all(axis=1)]
        assert frame["outcome"].sum() == json.loads(path.read_text())["resolved_instances"]
        assert len(frame) == 5
