"""Every Eval Ever: the records of samples, beside those of evaluations."""

from __future__ import annotations

import json

import numpy as np
import pytest

from repeval import load
from repeval.cli import main

from . import eee_logs
from .asked import ALIKE, TENSOR, codes, outcomes_of, refusal, text_of
from .eee_logs import KEY, evaluation, rows, write

MEAN = float(np.mean(TENSOR))


@pytest.mark.parametrize("run", ["run", "epoch", "trial", "seed", ""])
def test_round_trip(tmp_path, run):
    write(tmp_path / "d", rows(TENSOR, run=run), evaluation(MEAN, n_rows=36))
    other = rows(TENSOR[::-1], run=run, model="v/n")
    write(tmp_path / "d", other, evaluation(MEAN, model="v/n"), key=f"{KEY}4")
    data = load(tmp_path / "d")
    assert outcomes_of(data) == TENSOR
    assert outcomes_of(data, "v/n") == TENSOR[::-1]
    said = text_of(data, "logs-read")
    assert said.startswith("2 Every Eval Ever records: task t; 2 models.")
    assert said.endswith("The same id is the same question in all of them: checked.")
    assert "totals-differ" not in codes(data)


@pytest.mark.parametrize("given", ["samples", "evaluation", "both", "folder"])
def test_either_file_names_both(tmp_path, given):
    samples = write(tmp_path, rows(TENSOR), evaluation(MEAN))
    whole = tmp_path / f"{KEY}3.json"
    paths = {"samples": samples, "evaluation": whole, "both": [whole, samples], "folder": tmp_path}
    data = load(paths[given])
    assert outcomes_of(data) == TENSOR
    assert data.source.n_rows == 36


def test_an_evaluation_without_samples_has_totals_only(tmp_path):
    write(tmp_path, rows(TENSOR), evaluation(MEAN))
    alone = tmp_path / "other.json"
    about = evaluation(MEAN, model="n", key=f"{KEY}9")
    alone.write_text(json.dumps(about))
    assert refusal(alone).code == "no-samples"
    data = load(tmp_path)
    assert data.models == ("m",)
    assert "other.json: only totals are recorded" in text_of(data, "log-unfinished")


def test_evaluations_with_a_record_of_each_sample_are_runs(tmp_path):
    for r in range(3):
        lines = rows([[row[r]] for row in TENSOR], run="", identity=f"t/m/{r}")
        about = evaluation(float(np.mean([row[r] for row in TENSOR])), created=r)
        write(tmp_path, lines, about, key=f"{KEY}{9 - r}")
    data = load(tmp_path)
    assert outcomes_of(data) == TENSOR
    assert "runs-numbered" in codes(data)


def test_two_evaluations_of_several_runs_are_not_put_together(tmp_path):
    for r in range(2):
        write(
            tmp_path, rows(TENSOR, identity=f"t/m/{r}"),
            evaluation(MEAN, created=r, config={"temperature": r / 2}), key=f"{KEY}{r}",
        )  # fmt: skip
    error = refusal(tmp_path)
    assert error.code == "same-model"
    assert "temperature: 0.0 (m), 0.5 (m)" in error.text


def test_the_condition_of_a_record(tmp_path):
    lines = [line for c in "xy" for line in rows(TENSOR, metadata={"condition": c})]
    assert load(write(tmp_path, lines)).systems == (("m", "x"), ("m", "y"))


def test_results_are_chosen_and_those_alike_are_one(tmp_path):
    half = {"match:accuracy": float, "match:mean": float}
    assert outcomes_of(load(write(tmp_path / "a", rows(TENSOR, results=half)))) == TENSOR
    scores = {"acc": float, "f1": lambda y: (1 + y) / 2}
    path = write(tmp_path / "b", rows(TENSOR, results=scores), evaluation({"acc": MEAN, "f1": 0.1}))
    error = refusal(path)
    assert error.code == "several-scorers"
    assert error.text.endswith("Type --scorer acc or --scorer f1.")
    assert outcomes_of(load(path, scorer="acc")) == TENSOR
    data = load(path, scorer="f1")
    assert outcomes_of(data) == [[(1 + y) / 2 for y in row] for row in TENSOR]
    assert "accuracy 10.0 %" in text_of(data, "totals-differ")
    assert refusal(path, scorer="bleu").code == "unknown-scorer"


def test_the_same_samples_under_two_names_are_two_scorings(tmp_path):
    strict = rows(TENSOR[::-1], task="t/strict", results={"em:strict": float})
    path = write(tmp_path, [*rows(TENSOR, task="t", results={"em": float}), *strict])
    assert refusal(path).text.endswith("Type --scorer t or --scorer t/strict.")
    assert outcomes_of(load(path, scorer="em:strict")) == TENSOR[::-1]
    assert outcomes_of(load(path, scorer="t/strict")) == TENSOR[::-1]


def test_other_samples_under_two_names_are_two_tasks(tmp_path):
    other = [f"{i}x" for i in range(12)]
    lines = [*rows(TENSOR, task="t"), *rows(TENSOR[::-1], task="u", questions=other)]
    data = load(write(tmp_path, lines))
    assert outcomes_of(data, ids=[f"u/{i}" for i in ALIKE]) == TENSOR[::-1]
    assert len(data.problems) == 24


def test_results_without_a_name_are_no_runs(tmp_path):
    lines = rows([[row[0]] for row in TENSOR], results={"a": float, "b": float}, run="")
    lines = [{k: v for k, v in line.items() if k != "evaluation_result_id"} for line in lines]
    path = write(tmp_path, lines, evaluation({"a": MEAN, "b": MEAN}))
    assert refusal(path).code == "filters-unnamed"


def test_one_id_with_two_hashes_is_two_questions(tmp_path):
    write(tmp_path, rows(TENSOR))
    other = [f"{11 - i:064x}" for i in range(12)]
    write(tmp_path, rows(TENSOR, model="n", questions=other), key=f"{KEY}4")
    error = refusal(tmp_path)
    assert error.code == "other-question"
    assert "'q0' is not the same question everywhere" in error.text
    # Without a hash nothing is known.
    write(tmp_path, rows(TENSOR, model="n", questions=[None] * 12), key=f"{KEY}4")
    assert load(tmp_path).models == ("m", "n")


def test_errors_are_missing_and_a_score_beside_one_counts(tmp_path):
    lines = rows([[1, None], [0, 1], [1, 1]])
    lines[2]["error"] = "late"
    data = load(write(tmp_path, lines))
    assert outcomes_of(data, ids=["q0", "q1", "q2"]) == [[1, None], [0, 1], [1, 1]]
    assert list(data.errored["run"]) == ["2"]
    assert "score-with-error" in codes(data)
    failed = load(write(tmp_path, lines), errors="fail")
    assert outcomes_of(failed, ids=["q0"]) == [[1, 0]]


def test_own_totals_are_held_against_the_samples(tmp_path):
    data = load(write(tmp_path, rows(TENSOR), evaluation(MEAN + 0.1, n_rows=40)))
    text = [n.text for n in data.notices if n.code == "totals-differ"]
    assert len(text) == 2
    assert f"accuracy {100 * MEAN + 10:.1f} %" in text[0]
    assert "itself says that there are 40 rows, and holds 36" in text[1]
    percent = evaluation(100 * MEAN, metric={"max_score": 100})
    assert "totals-differ" not in codes(load(write(tmp_path, rows(TENSOR), percent)))


def test_lower_scores_that_are_better_are_refused(tmp_path):
    about = evaluation(MEAN, metric={"lower_is_better": True})
    assert refusal(write(tmp_path, rows(TENSOR), about)).code == "lower-is-better"


def test_an_unknown_level_is_no_outcome(tmp_path):
    about = evaluation(0.5, metric={"score_type": "levels", "has_unknown_level": True})
    data = load(write(tmp_path, rows([[1, -1], [0, 1]]), about))
    assert data.missing_runs("m", "default") == 1


def test_means_in_place_of_runs_are_said_and_counted_once(tmp_path):
    path = write(tmp_path, rows([[1 / 3] * 3, [2 / 3] * 3, [1.0] * 3]))
    data = load(path)
    assert "means-as-runs" in codes(data)
    assert data.system("m", "default").runs.tolist() == [1, 1, 1]


DAMAGE = {
    "row 2 has no sample_id": lambda line: line.pop("sample_id"),
    "row 2 has no score": lambda line: line["evaluation"].pop("score"),
    "row 2: evaluation.score is 'x', no number": lambda line: line["evaluation"].update(score="x"),
    "row 2: evaluation.score is 'True'": lambda line: line["evaluation"].update(score=True),
    "row 2: model_id is '7', no text": lambda line: line.update(model_id=7),
    "row 2 (sample 'q1') is empty or NaN": lambda line: line["evaluation"].update(score=np.nan),
    "row 2 (problem q1, run 1) ('1.5')": lambda line: line["evaluation"].update(score=1.5),
    "problem 'q0' has run 1 twice": lambda line: line.update(sample_id="q0"),
}


@pytest.mark.parametrize("message", DAMAGE)
def test_a_damaged_record_is_one_message(tmp_path, capsys, message):
    lines = rows(TENSOR)
    DAMAGE[message](lines[1])
    path = write(tmp_path, lines)
    assert main(["analyze", str(path)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_a_row_that_is_no_json(tmp_path):
    path = write(tmp_path, rows(TENSOR))
    path.write_text(path.read_text() + "{")
    error = refusal(path)
    assert error.code == "unreadable-log"
    assert "row 37 is no JSON" in error.text


def test_the_key_of_this_generator_is_valid_by_the_schema(tmp_path):
    """What is read here are such records as the schema has."""
    from repeval.io.convert import eee

    for name, record in (("eval", evaluation(0.5)), ("instance_level_eval", rows(TENSOR)[0])):
        assert list(eee._validator(name).iter_errors(record)) == []
    assert eee_logs.KEY.count("-") == 4
