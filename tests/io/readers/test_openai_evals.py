"""OpenAI Evals: the verdicts among the events; a file is a run."""

from __future__ import annotations

import pytest

from repeval import load

from .asked import ALIKE, TENSOR, outcomes_of, refusal, text_of
from .openai_evals_logs import write


def write_runs(folder, tensor, **options):
    folder.mkdir(exist_ok=True)
    name = options.get("model", "m")
    return [
        write(folder / f"{name}{r}.jsonl", [row[r] for row in tensor], run=f"{name}{r}", **options)
        for r in range(3)
    ]


@pytest.mark.parametrize("metrics", [None, {"accuracy": float}])
def test_round_trip(tmp_path, metrics):
    write_runs(tmp_path / "d", TENSOR, metrics=metrics)
    write_runs(tmp_path / "d", TENSOR[::-1], model="n", metrics=metrics)
    data = load(tmp_path / "d")
    assert outcomes_of(data) == TENSOR
    assert outcomes_of(data, "n") == TENSOR[::-1]
    name = "accuracy" if metrics else "match"
    expected = f"6 OpenAI Evals logs: task test.s1, scorer {name}; 2 models."
    assert text_of(data, "logs-read") == expected


def test_several_metrics_are_listed(tmp_path):
    metrics = {"em": float, "f1": lambda y: (1 + y) / 2, "text": str}
    path = write(tmp_path / "a.jsonl", [1, 0, 1], metrics=metrics)
    assert refusal(path).text.endswith("Type --scorer em or --scorer f1.")
    assert outcomes_of(load(path, scorer="f1"), ids=ALIKE[:3]) == [[1], [0.5], [1]]


def test_a_sample_without_a_verdict_and_a_run_without_a_report(tmp_path):
    data = load(write(tmp_path / "a.jsonl", [1, None, 0], report=False))
    assert sorted(data.frame["problem"]) == ["q0", "q2"]
    assert list(data.errored["problem"]) == ["q1"]
    assert "a.jsonl: unfinished after 3 runs" in text_of(data, "log-unfinished")


def test_a_run_recorded_twice_counts_once(tmp_path):
    one = write(tmp_path / "a.jsonl", [1, 0, 1])
    two = tmp_path / "b.jsonl"
    two.write_text(one.read_text() + "\n")
    assert outcomes_of(load([one, two]), ids=ALIKE[:3]) == [[1], [0], [1]]


def test_a_real_log(shared):
    """Accuracy 1/3, as its report says."""
    data = load(shared / "formats/openai_evals_2023_one_run.jsonl")
    ids = [f"test-match.s1.{i}" for i in range(3)]
    assert outcomes_of(data, "auto_gpt_completion_fn", ids) == [[0], [1], [0]]
