"""Several logs: nothing counts twice, and the same id is the same question."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from repeval import load
from repeval.io.readers import Found
from repeval.io.readers.base import Log, Record
from repeval.io.readers.merge import tables
from repeval.messages import RepevalError

from .asked import ALIKE, TENSOR, codes, outcomes_of, refusal, text_of
from .inspect_logs import log, write

FLIPPED = [[1 - y for y in row] for row in TENSOR]


def test_of_retries_the_latest_success_counts(tmp_path):
    first = log(TENSOR, task_id="T", created="2026-01-01", status="error", errors=[(0, 0), (1, 1)])
    # The retry judges the first problem anew, and again not the second problem's second run.
    again = log(FLIPPED[:2], task_id="T", created="2026-01-02", errors=[(1, 1), (0, 2)])
    write(tmp_path / "b" / "first.eval", first)
    write(tmp_path / "a" / "again.eval", again)
    data = load(tmp_path)
    assert outcomes_of(data) == [
        [*FLIPPED[0][:2], TENSOR[0][2]],
        [FLIPPED[1][0], None, FLIPPED[1][2]],
        *TENSOR[2:],
    ]
    assert text_of(data, "retries-merged").startswith("Logs of m are retries")
    # What the first log lacked is no news: the retry was complete.
    assert "log-unfinished" not in codes(data)


def test_copies_are_dropped(tmp_path):
    path = write(tmp_path / "a.eval", log(TENSOR))
    shutil.copy(path, tmp_path / "again.eval")
    data = load(tmp_path)
    assert outcomes_of(data) == TENSOR
    assert "again.eval of" in text_of(data, "copies-dropped")
    alone = load(path)
    assert alone.source.sha256 == data.source.sha256


def test_the_same_evaluation_in_two_formats_counts_once(tmp_path):
    whole = log(TENSOR)
    paths = [write(tmp_path / name, whole) for name in ("a.eval", "a.json")]
    data = load(paths)
    assert outcomes_of(data) == TENSOR
    assert "retries-merged" in codes(data)


@pytest.fixture
def twice(tmp_path):
    """Two evaluations of one model in a directory, with another model's."""
    folder = tmp_path / "logs"
    one = write(folder / "1.eval", log(TENSOR, created="2026-01-01", config={"temperature": 0.0}))
    two = write(folder / "2.eval", log(FLIPPED, created="2026-01-02", config={"temperature": 1.0}))
    write(folder / "n.eval", log(TENSOR, model="n", config={"temperature": 1.0}))
    return folder, one, two


def test_two_evaluations_of_one_model_are_refused_with_what_to_type(twice):
    folder, one, two = twice
    error = refusal(folder)
    assert error.code == "same-model"
    for words in ("'m'", "1.eval, 2.eval", "temperature: 0.0 (m), 1.0 (m)", f"m-2={two}",
                  f"m={one} m={two}"):  # fmt: skip
        assert words in error.text


def test_a_name_tells_them_apart_or_makes_them_runs(twice):
    folder, one, two = twice
    apart = load([folder, f"m-2={two}"])
    assert apart.models == ("m", "m-2", "n")
    assert outcomes_of(apart, "m-2") == FLIPPED
    assert "temperature: 0.0 (m), 1.0 (m-2, n)" in text_of(apart, "settings-differ")
    runs = load([folder, f"m={one}", f"m={two}"])
    assert runs.models == ("m", "n")
    both = [[*a, *b] for a, b in zip(TENSOR, FLIPPED, strict=True)]
    assert outcomes_of(runs) == both
    assert list(runs.frame["run"][:6]) == ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3"]
    assert "runs of m" in text_of(runs, "runs-numbered")
    assert refusal([folder, f"m={one}"]).code == "same-model"
    assert refusal([f"x={one}", f"y={one}"]).code == "bad-option"


def test_one_name_for_several_models_is_refused(twice):
    folder, _, _ = twice
    error = refusal(f"x={folder}")
    assert error.code == "several-models"
    assert "x=" in error.text
    assert "m, n" in error.text


def test_a_name_is_said(tmp_path):
    data = load(f"x={write(tmp_path / 'a.eval', log(TENSOR))}")
    assert data.models == ("x",)
    assert text_of(data, "model-renamed") == "Model m of a.eval is called x."


@pytest.mark.parametrize("change", [{"input": "Another?"}, {"target": "B"}])
def test_another_question_behind_an_id_is_refused(tmp_path, change):
    whole = log(TENSOR, model="n")
    for sample in whole["samples"]:
        if sample["id"] == "q7":
            sample.update(change)
    paths = [write(tmp_path / "a.eval", log(TENSOR)), write(tmp_path / "b.json", whole)]
    error = refusal(paths)
    assert error.code == "other-question"
    for word in ("'q7'", "a.eval", "b.json", "repeval convert"):
        assert word in error.text
    checked = load([paths[0], write(tmp_path / "b.json", log(TENSOR, model="n"))])
    assert "same question in all of them: checked" in text_of(checked, "logs-read")


def test_settings_that_differ_are_said(tmp_path):
    one = write(tmp_path / "a.eval", log(TENSOR, generation="0.3.42", config={"max_tokens": 9}))
    two = log(TENSOR, model="n", limits={"message_limit": 30}, config={"max_tokens": 9})
    two["eval"]["task_version"] = 2
    two["plan"]["steps"][0]["solver"] = "react"
    three = log(TENSOR, model="o", scorers={"choice": lambda y: y, "f1": lambda y: y})
    paths = [one, write(tmp_path / "b.eval", two)]
    text = text_of(load(paths), "settings-differ")
    for words in ("message limit: unset (m), 30 (n)", "task version: 0 (m), 2 (n)",
                  "solver: generate (m), react (n)"):  # fmt: skip
        assert words in text
    assert "max tokens" not in text
    assert "settings-differ" not in codes(load(one))
    paths[1] = write(tmp_path / "c.eval", three)
    text = text_of(load(paths, scorer="choice"), "settings-differ")
    assert "scorer" not in text
    assert "max tokens: 9 (m), unset (o)" in text


def test_several_tasks_are_kept_apart_by_composite_ids(tmp_path):
    for task, values in (("gpqa", TENSOR), ("math", FLIPPED)):
        for model in "mn":
            whole = log(values, task=task, model=model, question=lambda i, t=task: f"{t} {i}")
            write(tmp_path / f"{task}-{model}.eval", whole)
    data = load(tmp_path)
    assert len(data.problems) == 24
    assert outcomes_of(data, "n", [f"math/{name}" for name in ALIKE]) == FLIPPED
    assert "--by task" in text_of(data, "several-tasks")
    parts = data.split_by("task")
    assert set(parts) == {"gpqa", "math"}
    assert "settings-differ" not in codes(data)


def test_composite_ids_of_hostile_names_stay_apart(tmp_path):
    one = log([[1], [0]], task="a", ids=["b/c", "x"])
    two = log([[0], [1]], task="a/b", ids=["c", "x"])
    data = load([write(tmp_path / "1.json", one), write(tmp_path / "2.json", two)])
    assert len(data.problems) == 4


def test_a_log_without_a_task_goes_with_no_other_task(tmp_path):
    one, two = log(TENSOR), log(TENSOR, model="n", task="")
    paths = [write(tmp_path / "1.json", one), write(tmp_path / "2.json", two)]
    assert refusal(paths).code == "several-formats"
    assert load(paths[1]).models == ("n",)


def test_labels_with_the_names_of_roles(tmp_path):
    names = ["model", "Run", "error", "status", "task", "outcome", "score", "prompt"]
    whole = log(TENSOR, metadata=lambda i: dict.fromkeys(names, f"label {i}"))
    data = load(write(tmp_path / "a.json", whole))
    assert outcomes_of(data) == TENSOR
    assert set(data.labels) == {"task", "score", "prompt",
                                *(f"original_{n}" for n in names[:6])}  # fmt: skip


def test_a_model_that_never_ran_is_said_not_refused(tmp_path):
    write(tmp_path / "a.eval", log(TENSOR))
    write(tmp_path / "b.eval", {**log(TENSOR, model="n", status="error"), "samples": []})
    data = load(tmp_path)
    assert data.models == ("m",)
    assert "b.eval: error after 0 runs" in text_of(data, "log-unfinished")
    (tmp_path / "a.eval").unlink()
    assert refusal(tmp_path).code == "no-samples"


def test_a_crash_before_the_first_sample_is_no_second_evaluation(tmp_path):
    write(tmp_path / "a.eval", log(TENSOR, created="2026-01-02"))
    crashed = log(TENSOR, status="error", created="2026-01-01")
    write(tmp_path / "b.eval", {**crashed, "samples": []})
    data = load(tmp_path)
    assert outcomes_of(data) == TENSOR
    assert "b.eval: error after 0 runs" in text_of(data, "log-unfinished")
    assert "runs-numbered" not in codes(data)


def put_together(tmp_path, *logs: Log, names=()):
    """The tables and notices of a reader whose logs these are, one for each file."""
    for i, one in enumerate(logs):
        if not one.path.exists():
            one.path.write_text(f"log {i}")
    by_path = {one.path: one for one in logs}
    reader = SimpleNamespace(TITLE="toy log", read=lambda path, scorer: [by_path[path]])
    files = [(one.path, None) for one in logs]
    notices = []
    found = tables(Found(reader, files, [], ["here"]), None, notices)
    return found, {n.code: n.text for n in notices}


def one_run(path, outcomes, **more):
    records = tuple(Record(i, "", float(y)) for i, y in enumerate(outcomes))
    return Log(path, "m", records, run=path.stem, **more)


def test_logs_that_are_one_run_each_are_numbered_by_time(tmp_path):
    late = one_run(tmp_path / "a.log", [1, 1], created="2026-01-02")
    early = one_run(tmp_path / "b.log", [0, 1], created="2026-01-01")
    found, notices = put_together(tmp_path, late, early)
    runs = {run: list(t.columns["outcome"]) for t in found for run in t.columns["run"]}
    assert runs == {"1": [0, 1], "2": [1, 1]}
    assert "runs-numbered" in notices
    assert "identical-logs" not in notices
    (alone,), _ = put_together(tmp_path, late)
    assert list(alone.columns["run"]) == ["1", "1"]


def test_equal_files_of_different_runs_count_and_are_said(tmp_path):
    """A report that only lists ids is the same twice if the same problems passed twice."""
    paths = [tmp_path / "run_0.log", tmp_path / "run_1.log"]
    for path in paths:
        path.write_text("same")
    found, notices = put_together(tmp_path, *(one_run(path, [0, 1]) for path in paths))
    assert len(found) == 2
    assert "run_0.log" in notices["identical-logs"]


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ([Record("a", "1", 1.0), Record("a", "1", 0.0)], "duplicate-rows"),
        ([Record(None, "1", 1.0)], "bad-key"),
        ([Record("", "1", 1.0)], "bad-key"),
        ([Record(["a"], "1", 1.0)], "bad-key"),
        ([Record(3, "1", 1.0), Record("3", "1", 1.0)], "mixed-types"),
        ([], "no-samples"),
    ],
)
def test_bad_records_are_refused(tmp_path, records, code):
    with pytest.raises(RepevalError) as caught:
        put_together(tmp_path, Log(tmp_path / "a.log", "m", tuple(records)))
    assert caught.value.code == code
    # A log is compared with another one, not with itself.
    assert "a.log and a.log" not in caught.value.text
