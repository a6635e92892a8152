"""EvalPlus: base, or base and plus; a run is a position in a task's list."""

from __future__ import annotations

import json

import pytest

from repeval import load

from .asked import TENSOR, codes, outcomes_of, refusal, text_of
from .evalplus_logs import results, write

IDS = [f"HumanEval/{i}" for i in range(12)]
#: What the extra tests alone say: never the same as the base tests.
EXTRA = [[1 - y for y in row] for row in TENSOR]
EXTRA[0] = [1, 1, 1]


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("name", ["m_eval_results.json", "m.eval_results.json",
                                  "m/eval_results.json"])  # fmt: skip
def test_round_trip(tmp_path, older, name):
    path = write(tmp_path / name, TENSOR, EXTRA, older=older)
    error = refusal(path)
    assert error.code == "several-scorers"
    assert error.text.endswith("Type --scorer base or --scorer plus.")
    data = load(path, scorer="base")
    assert data.models == ("m",)
    assert outcomes_of(data, ids=IDS) == TENSOR
    assert list(data.labels["task"]) == ["HumanEval"] * 12
    assert "after their files" in text_of(data, "model-from-file")
    # A pass is one of base and extra tests.
    both = [[0 if 0 in pair else 1 for pair in zip(*rows, strict=True)]
            for rows in zip(TENSOR, EXTRA, strict=True)]  # fmt: skip
    assert both[0] == TENSOR[0]
    assert outcomes_of(load(path, scorer="plus"), ids=IDS) == both


@pytest.mark.parametrize("older", [False, True])
def test_base_tests_alone_leave_no_choice(tmp_path, older):
    path = write(tmp_path / "m_eval_results.json", TENSOR, older=older)
    assert outcomes_of(load(path), ids=IDS) == TENSOR
    assert refusal(path, scorer="plus").code == "unknown-scorer"


def test_statuses(tmp_path):
    base = [["pass", "pass", "pass", "fail", "timeout", None]]
    plus = [["pass", "timeout", None, None, "pass", "pass"]]
    path = write(tmp_path / "m_eval_results.json", [*base, [1] * 6], [*plus, [1] * 6])
    for scorer, expected in (("base", [1, 1, 1, 0, 0, None]), ("plus", [1, 0, None, 0, 0, None])):
        data = load(path, scorer=scorer)
        assert outcomes_of(data, ids=IDS[:1]) == [expected]
        assert set(data.errored["problem"]) == {"HumanEval/0"}
    path = write(tmp_path / "m_eval_results.json", [["passed"], [1]])
    error = refusal(path)
    assert error.code == "outcome-unreadable"
    assert "HumanEval/0 has the status 'passed'" in error.text


def test_lists_of_different_lengths(tmp_path):
    path = write(tmp_path / "m_eval_results.json", [[1, 0, 1], [1], [0, 1, 1]])
    data = load(path)
    assert outcomes_of(data, ids=IDS[:3]) == [[1, 0, 1], [1, None, None], [0, 1, 1]]
    assert "problem 'HumanEval/1' lacks 2 of 3" in refusal(path, missing="error").text


def test_two_benchmarks_are_two_tasks(tmp_path):
    write(tmp_path / "h/m_eval_results.json", TENSOR)
    write(tmp_path / "m/m_eval_results.json", TENSOR, task="Mbpp")
    data = load(tmp_path)
    assert set(data.labels["task"]) == {"HumanEval", "Mbpp"}
    assert "several-tasks" in codes(data)


def test_two_files_of_one_name_are_refused(tmp_path):
    write(tmp_path / "a/m_eval_results.json", TENSOR)
    write(tmp_path / "b/m_eval_results.json", EXTRA)
    assert refusal(tmp_path).code == "same-model"


def test_a_real_log(shared):
    """Base tests: 2/3 of each task; with the extra tests 2/3, 1/3, 2/3."""
    path = shared / "formats/evalplus_0.3.1_eval_results_n3.json"
    assert refusal(path).code == "several-scorers"
    model = path.stem
    base = load(path, scorer="base")
    assert outcomes_of(base, model, IDS[:3]) == [[1, 1, 0], [1, 1, 0], [1, 0, 1]]
    plus = load(path, scorer="plus")
    assert outcomes_of(plus, model, IDS[:3]) == [[1, 1, 0], [0, 1, 0], [1, 0, 1]]
    assert json.loads(path.read_text())["eval"].keys() == results([[1]] * 3)["eval"].keys()
