"""Totals that a log states itself are held against its single runs."""

from __future__ import annotations

import json

import pytest

from repeval import load
from repeval.io.readers.base import Record
from repeval.io.readers.totals import totals


def said(data) -> list[str]:
    return [n.text for n in data.notices if n.code == "totals-differ"]


RECORDS = [Record("a", "1", 1.0), Record("a", "2", 0.0), Record("b", "1", 1.0),
           Record("c", "1", None, "error")]  # fmt: skip


@pytest.mark.parametrize("stated", [3 / 4, 2 / 3, 1 / 2, 0.67, 0.667, None, True, float("nan")])
def test_any_of_the_usual_means_fits(tmp_path, stated):
    """By problem .75 or, with the error, .5; by run .667 or .5."""
    assert totals(tmp_path / "x.json", "accuracy", stated, RECORDS) == ()


@pytest.mark.parametrize("stated", [0.9, 0.0, 0.739, 0.6671])
def test_another_total_is_said(tmp_path, stated):
    ((code, text),) = totals(tmp_path / "x.json", "accuracy", stated, RECORDS)
    assert code == "totals-differ"
    assert f"accuracy {100 * stated:.1f} %" in text
    assert "75.0 %" in text


def inspect(write, values, accuracy, name="qa", **score):
    samples = [
        {"id": i, "epoch": 1, "input": f"q{i}", "target": "x", "scores": {name: {"value": v}}}
        for i, v in enumerate(values)
    ]
    header = {
        "version": 2, "status": "success",
        "eval": {"eval_id": "e", "run_id": "r", "task": "t", "task_id": "k", "model": "v/m"},
        "plan": {},
        "results": {
            "completed_samples": len(samples),
            "scores": [{"name": name, "scorer": name,
                        "metrics": {"accuracy": {"name": "accuracy", "value": accuracy}}, **score}],
        },
        "samples": samples,
    }  # fmt: skip
    return header, lambda: write("log.json", json.dumps(header))


@pytest.mark.parametrize("name", ["qa", "inspect_evals/qa"])
def test_inspect(write, name):
    values = ["C", "I", "P", "I"]
    assert not said(load(inspect(write, values, 0.375, name)[1]()))
    (text,) = said(load(inspect(write, values, 0.5, name)[1]()))
    assert "50.0 %" in text
    assert "37.5 %" in text
    # A reducer such as pass_at_2 gives another total by right.
    assert not said(load(inspect(write, values, 0.5, name, reducer="pass_at_2")[1]()))


def test_inspect_with_samples_lost(write):
    header, path = inspect(write, ["C", "I", "C"], 2 / 3)
    header["results"]["completed_samples"] = 5
    assert "there are 5 completed samples, and holds 3" in said(load(path()))[0]


def test_the_header_of_a_field_file_contradicts_its_samples(shared):
    path = shared / "field/35_inspect_header_contradicts_samples.json"
    log = json.loads(path.read_text())
    worth = {"C": 1.0, "P": 0.5, "I": 0.0}
    mean = sum(worth[s["scores"]["qa"]["value"]] for s in log["samples"]) / len(log["samples"])
    data = load(path)
    assert data.system("v/m", "default").rate.mean() == pytest.approx(mean) == 0.25
    (text,) = said(data)
    assert "50.0 %" in text
    assert "25.0 %" in text


@pytest.mark.parametrize(("accuracy", "differs"), [(0.5, False), (0.8, True)])
def test_openai_evals(write, accuracy, differs):
    spec = {"completion_fns": ["m"], "eval_name": "t.v1", "run_id": "r", "created_at": "2023"}
    lines = [{"spec": spec}, {"final_report": {"accuracy": accuracy}}]
    lines += [
        {"sample_id": f"t.{i}", "type": "match", "data": {"correct": i % 2 == 0}} for i in range(6)
    ]
    path = write("log.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert bool(said(load(path))) == differs


@pytest.mark.parametrize(("accuracy", "differs"), [(0.5, False), (0.8, True)])
def test_lm_eval(write, accuracy, differs):
    time = "2026-11-30T07-33-05.317738"
    lines = [
        {"doc_id": i, "doc": {"q": i}, "target": "x", "resps": [["x"]], "filter": "none",
         "metrics": ["acc"], "acc": float(i % 2)} for i in range(6)
    ]  # fmt: skip
    about = {"model_name": "m", "results": {"toy": {"alias": "toy", "acc,none": accuracy}}}
    write(f"results_{time}.json", json.dumps(about))
    path = write(f"samples_toy_{time}.jsonl", "".join(json.dumps(x) + "\n" for x in lines))
    texts = said(load(path))
    assert bool(texts) == differs
    assert all("80.0 %" in text and "50.0 %" in text for text in texts)


@pytest.mark.parametrize(("completed", "differs"), [(4, False), (5, True)])
def test_swebench(write, completed, differs):
    ids = [f"org__repo-{i}" for i in range(5)]
    report = {
        "total_instances": 9, "submitted_instances": 5, "completed_instances": completed,
        "resolved_instances": 2, "unresolved_instances": 2, "empty_patch_instances": 0,
        "error_instances": 1, "resolved_ids": ids[:2], "unresolved_ids": ids[2:4],
        "empty_patch_ids": [], "error_ids": ids[4:],
    }  # fmt: skip
    assert bool(said(load(write("m.r1.json", json.dumps(report))))) == differs


@pytest.mark.parametrize(("retries", "right"), [("first", 0), ("last", 1), ("best", 1)])
def test_retries_within_and_between_logs(write, retries, right):
    header, path = inspect(write, ["I", "C", "C"], None)
    again = {**header["samples"][0], "scores": {"qa": {"value": "C"}}}
    header["samples"].append(again)
    data = load(path(), retries=retries)
    assert data.system("v/m", "default").passes.tolist() == [right, 1, 1]
    assert "1 are left out" in {n.code: n.text for n in data.notices}["retries-chosen"]
