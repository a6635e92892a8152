"""Layouts met elsewhere: samples without a run, matrices, rows and outcomes that lie deeper."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repeval import load
from repeval.messages import RepevalError

from .tables.test_advice import offers, rates, read_as_offered

SIZES = {"problems": st.integers(2, 6), "runs": st.integers(2, 4), "seed": st.integers(0, 10**6)}
few = settings(max_examples=6)


def drawn(problems: int, runs: int, seed: int) -> list[list[int]]:
    return np.random.default_rng(seed).integers(0, 2, (problems, runs)).tolist()


def refusal(path, **options) -> RepevalError:
    with pytest.raises(RepevalError) as caught:
        load(path, **options)
    return caught.value


def tensor_of(data, model: str) -> list[list[float]]:
    table = data.frame[data.frame["model"] == model].pivot(
        index="problem", columns="run", values="outcome"
    )
    return table.to_numpy().tolist()


@few
@given(**SIZES)
def test_samples_of_a_task_that_nothing_numbers(tmp_path_factory, problems, runs, seed):
    """Lines as code benchmarks write them: task_id, completion, passed."""
    tensor = drawn(problems, runs, seed)
    path = tmp_path_factory.mktemp("samples") / "m.jsonl"
    rows = [{"task_id": f"T/{i}", "completion": "x", "passed": bool(y)}
            for i, ys in enumerate(tensor) for y in ys]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "run=#" in refusal(path).text
    for data in read_as_offered(path):
        assert tensor_of(data, "m") == tensor
        assert "runs-counted" in [notice.code for notice in data.notices]


def test_a_few_problems_judged_twice_are_not_numbered(tidy):
    rows = [{"problem": f"q{i}", "outcome": i % 2} for i in range(12)]
    assert "run=#" not in refusal(tidy([*rows, rows[3]])).text.partition("number them")[0]


def test_a_column_that_is_called_so_is_meant(tidy):
    rows = [{"problem": p, "#": r, "outcome": int(r == "b")} for p in "xy" for r in "ab"]
    data = load(tidy(rows), columns="run=#")
    assert set(data.frame["run"]) == {"a", "b"}


@few
@given(**SIZES)
def test_a_matrix_of_systems_and_problems(tmp_path_factory, problems, runs, seed):
    """A row for each agent, a column for each task."""
    tensor = drawn(runs, problems, seed)
    path = tmp_path_factory.mktemp("matrix") / "m.csv"
    lines = [["agent", *(f"task_{i:02d}" for i in range(problems))]]
    lines += [[f"a{m}", *map(str, row)] for m, row in enumerate(tensor)]
    path.write_text("\n".join(map(",".join, lines)))
    assert "Type --wide problems;" in refusal(path).text
    found = rates(load(path, wide="problems"))
    assert found == {(f"a{m}", "default"): pytest.approx(np.mean(row))
                     for m, row in enumerate(tensor)}  # fmt: skip


@few
@given(**SIZES, keyed=st.booleans())
def test_rows_under_one_key_with_lists_of_outcomes(tmp_path_factory, problems, runs, seed, keyed):
    tensor = drawn(problems, runs, seed)
    rows = [{"id": f"q{i}", "trials": [bool(y) for y in ys]} for i, ys in enumerate(tensor)]
    inside = {row.pop("id"): row for row in rows} if keyed else rows
    path = tmp_path_factory.mktemp("inside") / "f.json"
    path.write_text(json.dumps({"model": "x-1", "date": "today", "results": inside}))
    data = load(path) if keyed else read_as_offered(path)[0]
    assert tensor_of(data, "x-1") == tensor
    assert [notice.code for notice in data.notices].count("nested-read") == 2


@few
@given(**SIZES, text=st.booleans())
def test_lists_of_outcomes_in_a_table(tmp_path_factory, problems, runs, seed, text):
    """As text in a CSV file, as lists in a frame."""
    tensor = drawn(problems, runs, seed)
    data = {"model": ["m"] * problems, "problem_id": [f"q{i}" for i in range(problems)],
            "rollouts": tensor}  # fmt: skip
    if text:
        path = tmp_path_factory.mktemp("lists") / "t.csv"
        pd.DataFrame(data).to_csv(path, index=False)
        data = path
    assert tensor_of(load(data), "m") == tensor
    assert tensor_of(load(data, columns="outcome=rollouts"), "m") == tensor


@few
@given(**SIZES)
def test_ids_that_count_within_a_subject(tmp_path_factory, problems, runs, seed):
    tensor = {s: drawn(problems, runs, seed + i) for i, s in enumerate(("law", "art"))}
    path = tmp_path_factory.mktemp("subjects") / "t.csv"
    lines = [f"{s},{i},a,{r},{y}" for s, found in tensor.items()
             for i, ys in enumerate(found) for r, y in enumerate(ys)]  # fmt: skip
    path.write_text("\n".join(["subject,question_idx,llm,trial_no,is_correct", *lines]))
    every = [y for found in tensor.values() for ys in found for y in ys]
    if len(set(every)) < 2:
        return
    for data in read_as_offered(path):
        assert len(data.problems) == 2 * problems
        assert [*rates(data).values()] == [pytest.approx(np.mean(every))]


def test_two_lists_of_rows_are_not_chosen_between(write):
    rows = [{"id": p, "passed": True} for p in "xy"]
    path = write("f.json", json.dumps({"public": rows, "private": rows}))
    assert refusal(path).code == "unknown-format"


def test_settings_beside_tables_are_no_rows(write, tidy, tmp_path):
    write("d/settings.json", json.dumps({"stages": [{"name": "a"}, {"name": "b"}]}))
    tidy([{"problem": p, "outcome": 1} for p in "xy"], "d/t.csv")
    assert load(tmp_path / "d").problems == ("x", "y")


def test_each_metric_is_an_outcome_of_its_own(tidy):
    rows = [
        {"traceId": f"{r}{p}", "itemId": p, "runName": r, "scoreName": s, "value": int(p < "c")}
        for r in ("one", "two") for p in "abcd" for s in ("right", "short")
    ]  # fmt: skip
    path = tidy(rows)
    for data in read_as_offered(path):
        assert data.conditions == ("right", "short")
        assert data.problems == ("a", "b", "c", "d")
        assert set(rates(data).values()) == {0.5}


def test_preferences_between_two_generators_are_not_covered(write):
    rows = [{"instruction": f"q{i}", "generator_1": "a", "generator_2": "b", "preference": 1.5}
            for i in range(3)]  # fmt: skip
    error = refusal(write("a.json", json.dumps(rows)))
    assert error.code == "pairwise-verdicts"
    assert not offers(error)
