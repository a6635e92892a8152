"""`repeval convert --choices`: responses to multiple-choice questions to outcomes."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from repeval import load
from repeval.cli import main

RESPONSES = pd.DataFrame(
    [
        ("m", "q1", 1, "I think the answer is (B).", "B", "law"),
        ("m", "q1", 2, "The answer is (A).\nNo: the answer is\n(b)", "B", "law"),
        ("m", "q1", 3, "The answer is (A), \"surely\".", "B", "law"),
        ("m", "q2", 1, "Answer: j", "J", "physics"),
        ("m", "q2", 2, "I cannot tell, é.", "J", "physics"),
        ("m", "q2", 3, "", "J", "physics"),
    ],
    columns=["model", "problem", "run", "response", "answer", "subject"],
)  # fmt: skip
OUTCOMES, LETTERS = [1, 1, 0, 1, 0, 0], ["B", "B", "A", "J", "", ""]


def convert(tmp_path, frame, *options, name="in.csv", target="out.csv"):
    """Write a table, convert it, and return the exit code and what was written."""
    path = tmp_path / name
    if name.endswith("l"):
        lines = (json.dumps(row) for row in frame.to_dict("records"))
        path.write_text("\n".join(lines), encoding="utf-8")
    elif name.endswith("t"):
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)
    code = main(["convert", str(path), "-o", str(tmp_path / target), "--choices", *options])
    read = {".csv": pd.read_csv, ".parquet": pd.read_parquet}[(tmp_path / target).suffix]
    return code, read(tmp_path / target).astype(object).fillna("") if not code else None


@pytest.mark.parametrize("name", ["in.csv", "in.jsonl", "in.parquet"])
@pytest.mark.parametrize("target", ["out.csv", "out.parquet"])
def test_letters_become_outcomes(tmp_path, capsys, name, target):
    pytest.importorskip("pyarrow")
    code, found = convert(tmp_path, RESPONSES, name=name, target=target)
    assert code == 0
    assert list(found) == [
        "model", "condition", "problem", "run", "outcome", "status", "answer", "subject",
        "extracted",
    ]  # fmt: skip
    assert found["outcome"].tolist() == OUTCOMES
    assert target == "out.parquet" or ',"q1","1",1,"' in (tmp_path / target).read_text("utf-8")
    assert found["extracted"].tolist() == LETTERS
    assert found["status"].tolist() == [""] * 4 + ["no answer"] * 2
    said = capsys.readouterr().out
    assert "2 of 6 responses give no letter, 1 of them because they are empty" in said
    data = load(tmp_path / target)
    assert data.system("m", "default").passes.tolist() == [2, 1]
    assert data.labels["subject"].tolist() == ["law", "physics"]


def test_other_names_of_columns_are_told_or_typed(tmp_path, capsys):
    frame = RESPONSES.rename(columns={"answer": "Target", "run": "epoch", "problem": "question"})
    assert convert(tmp_path, frame)[0] == 2
    assert "--columns problem=question" in capsys.readouterr().err
    code, found = convert(tmp_path, frame.drop(columns="model"), "--columns", "problem=question")
    assert code == 0
    assert set(found["model"]) == {"in"}
    assert found["outcome"].tolist() == OUTCOMES


def test_an_outcome_that_is_there_stays_a_label(tmp_path):
    _, found = convert(tmp_path, RESPONSES.assign(outcome=1, score=0.5))
    assert found["outcome"].tolist() == OUTCOMES
    assert found["original_outcome"].tolist() == [1] * 6
    assert found["score"].tolist() == [0.5] * 6


def test_an_error_without_a_response_is_no_answer_of_the_model(tmp_path, capsys):
    frame = RESPONSES.assign(error=["", "late", "", "", "", "timeout"])
    _, found = convert(tmp_path, frame)
    assert found["outcome"].tolist() == [*OUTCOMES[:5], ""]
    assert found["status"].tolist() == ["", "error", "", "", "no answer", "error"]
    assert "1 of 5 responses give no letter." in capsys.readouterr().out
    for errors, runs in (("missing", [3, 2]), ("fail", [3, 3])):
        data = load(tmp_path / "out.csv", errors=errors)
        assert data.system("m", "default").runs.tolist() == runs


def test_several_files_are_several_models(tmp_path):
    for name in ("a", "b"):
        RESPONSES.drop(columns="model").to_csv(tmp_path / f"{name}.csv", index=False)
    given = [f"one={tmp_path / 'a.csv'}", str(tmp_path / "b.csv")]
    assert main(["convert", *given, "--choices", "-o", str(tmp_path / "out.csv")]) == 0
    assert [model for model, _ in load(tmp_path / "out.csv").systems] == ["b", "one"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": ["B", "b", "2", "J", "", "J"]}, "no letter from A to J in rows 6, 8 ('2')"),
        ({"answer": None}, "has no column answer or target"),
        ({"response": [1, 2, 3, 4, 5, 6]}, "is no text in rows 1, 2, 3"),
        ({"response": None}, "has no column response"),
        ({"target": "A"}, "has columns answer and target"),
        ({"run": [1, 2, 2, 1, 2, 3]}, "row 6 has the same model"),
        ({"problem": None}, "there is no problem column"),
    ],
)
def test_bad_tables_are_one_message(tmp_path, capsys, change, message):
    frame = RESPONSES.assign(**change).dropna(axis=1, how="all")
    numbers = frame.get("response", RESPONSES["response"]).dtype == int
    assert convert(tmp_path, frame, name="in.jsonl" if numbers else "in.csv")[0] == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out.csv").exists()


def test_what_to_type_is_said(tmp_path, capsys):
    RESPONSES.to_csv(tmp_path / "in.csv", index=False)
    for command in (["check"], ["convert", "-o", str(tmp_path / "out.csv")]):
        assert main([*command, str(tmp_path / "in.csv")]) == 2
        assert "--choices" in capsys.readouterr().err
