"""promptfoo: repeats are rows of the same test; an error is no failed assertion."""

from __future__ import annotations

import json

import pytest

from repeval import load

from .asked import ALIKE, TENSOR, codes, outcomes_of, refusal, text_of
from .promptfoo_logs import write

FLIPPED = [[1 - y for y in row] for row in TENSOR]
SYSTEMS = {("m", "short"): TENSOR, ("m", "long"): FLIPPED, ("n", "short"): TENSOR[::-1]}


def by(data, model, condition, ids=ALIKE):
    frame = data.frame[(data.frame[["model", "condition"]] == [model, condition]).all(axis=1)]
    table = frame.pivot(index="problem", columns="run", values="outcome")
    return [list(table.loc[name]) for name in ids]


def test_round_trip(tmp_path):
    data = load(write(tmp_path / "out.json", SYSTEMS))
    assert set(data.systems) == set(SYSTEMS)
    for system, tensor in SYSTEMS.items():
        assert by(data, *system) == tensor
    text = text_of(data, "logs-read")
    assert text.startswith("1 promptfoo log: scorer success; 2 models.")
    assert not {"cached-answers", "errored-rows"} & codes(data)


def test_an_error_is_missing_a_failed_assertion_failed(tmp_path):
    path = write(tmp_path / "out.json", {("m", "p"): [[1, "error"], [0, 0], [0.5, 1]]})
    data = load(path)
    assert outcomes_of(data, ids=ALIKE[:3]) == [[1, None], [0, 0], [0, 1]]
    assert list(data.errored["problem"]) == ["q0"]


def test_older_rows_give_no_reason(tmp_path):
    path = write(tmp_path / "out.json", {("m", "p"): [[1, "error"], [0, 0], [0, 1]]})
    whole = path.read_text()
    for reason in (0, 1, 2):
        whole = whole.replace(f'"failureReason": {reason}', '"x": 0')
    path.write_text(whole)
    assert outcomes_of(load(path), ids=ALIKE[:3]) == [[1, None], [0, 0], [0, 1]]


def test_scores_are_there_for_who_asks(tmp_path):
    path = write(tmp_path / "out.json", {("m", "p"): [[1, 0.25], [0, 0.5], [0, 1]]})
    assert outcomes_of(load(path), ids=ALIKE[:3]) == [[1, 0], [0, 0], [0, 1]]
    data = load(path, scorer="score")
    assert outcomes_of(data, ids=ALIKE[:3]) == [[1, 0.25], [0, 0.5], [0, 1]]
    data = load(path, scorer="tone")
    assert outcomes_of(data, ids=ALIKE[:3]) == [[0, 0.75], [1, 0.5], [1, 0]]
    error = refusal(path, scorer="tune")
    assert error.code == "unknown-scorer"
    assert "--scorer score or --scorer success or --scorer tone" in error.text


CASES = {
    "variables": (lambda i: {"vars": {"q": f"x{i}", "n": i}}, ["x0, 0", "x1, 1"]),
    "a long variable": (lambda i: {"vars": {"q": "word " * 20 + str(i)}}, None),
    "equal descriptions": (lambda i: {"description": "t", "vars": {"q": i}}, None),
    "other assertions": (lambda i: {"vars": {"q": 1}, "assert": [{"type": "equals", "value": i}]},
                         None),
    "no variables": (lambda i: {"assert": [{"type": "equals", "value": i}]}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_tests_are_told_apart_by_what_makes_them(tmp_path, name):
    case, expected = CASES[name]
    data = load(write(tmp_path / "out.json", {("m", "p"): TENSOR[:2]}, case=case))
    assert len(data.problems) == 2
    assert set(data.frame["run"]) == {"1", "2", "3"}
    assert all(len(problem) < 75 for problem in data.problems)
    assert sorted(data.frame.groupby("problem")["outcome"].sum()) == sorted(map(sum, TENSOR[:2]))
    if expected:
        assert list(data.problems) == expected


def test_a_list_of_values_is_a_test_for_each(tmp_path):
    """Some versions keep the list in the test, and the value in the row."""
    path = write(tmp_path / "out.json", {("m", "p"): TENSOR[:2]},
                 case=lambda i: {"vars": {"q": f"x{i}"}})  # fmt: skip
    whole = json.loads(path.read_text())
    for row in whole["results"]["results"]:
        row["testCase"]["vars"] = {"q": ["x0", "x1"]}
    path.write_text(json.dumps(whole))
    data = load(path)
    assert outcomes_of(data, ids=["x0", "x1"]) == TENSOR[:2]


def test_labels_of_tests(tmp_path):
    def case(i):
        return {"description": f"q{i}", "metadata": {"topic": "ab"[i % 2], "deep": {}}}

    data = load(write(tmp_path / "out.json", {("m", "p"): TENSOR}, case=case))
    assert dict(data.labels["topic"]) == {f"q{i}": "ab"[i % 2] for i in range(12)}
    assert list(data.labels) == ["topic"]


def test_long_prompts_are_cut_to_names(tmp_path):
    prompts = ["Say it.\n" * 20 + end for end in "ab"]
    data = load(write(tmp_path / "out.json", {("m", p): TENSOR for p in prompts}))
    assert len(data.conditions) == 2
    assert all(len(c) < 75 and "\n" not in c for c in data.conditions)


def test_providers_of_one_name_stay_apart(tmp_path):
    path = write(tmp_path / "out.json", {("m", "p"): TENSOR, ("n", "p"): FLIPPED})
    path.write_text(path.read_text().replace('"label": "n"', '"label": "m"'))
    data = load(path)
    assert data.models == ("m [0]", "m [1]")
    assert outcomes_of(data, "m [1]") == FLIPPED


def test_two_evaluations_of_one_system_are_refused(tmp_path):
    one = write(tmp_path / "a.json", {("m", "p"): TENSOR})
    two = write(tmp_path / "b.json", {("m", "p"): FLIPPED}, evaluation="eval-def")
    assert refusal([one, two]).code == "same-model"
    assert load([one, f"m-2={two}"]).models == ("m", "m-2")
    # The same evaluation written twice is one.
    two = write(tmp_path / "b.json", {("m", "p"): TENSOR})
    two.write_text(two.read_text() + "\n")
    assert outcomes_of(load([one, two])) == TENSOR


def test_cached_answers_are_said(tmp_path):
    data = load(write(tmp_path / "out.json", {("m", "p"): TENSOR}, cached=True))
    assert text_of(data, "cached-answers") == "36 of 36 answers came from a cache."


def test_a_real_log(shared):
    """3 failures of model-a, 1 error of model-b, 8 successes, as the log counts them."""
    data = load(shared / "formats/promptfoo_0.118_repeat3_two_providers.json")
    assert set(data.systems) == {("model-a", "{{q}}"), ("model-b", "Q: {{q}}")}
    ids = ["case-1", "case-2"]
    assert outcomes_of(data, "model-a", ids) == [[1, 1, 1], [0, 0, 0]]
    assert outcomes_of(data, "model-b", ids) == [[1, 1, 1], [1, None, 1]]
    assert "1 of 12 rows" in text_of(data, "errored-rows")
