"""`load`: formats, names, spellings, ids and outcomes that are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from repeval import load
from repeval.io.checks import checks
from repeval.messages import RepevalError
from tests.io.tiny import BASE, GOOD, HEAD, same


def codes(data) -> list[str]:
    return [notice.code for notice in (*data.notices, *checks(data))]


def refusal(path, **options) -> RepevalError:
    with pytest.raises(RepevalError) as caught:
        load(path, **options)
    return caught.value


def test_every_format_reads_alike(write, tidy, tmp_path):
    one = load(tidy(BASE))
    assert (one.models, one.conditions, one.problems) == (("a", "b"), ("default",), tuple("xyz"))
    text = tidy(BASE).read_text()
    others = [
        write("c.csv.gz", text),
        write("s.csv", text.replace(",", ";")),
        write("t.tsv", text.replace(",", "\t")),
        write("bom.csv", "\ufeff" + text),
        write("crlf.csv", text.replace("\n", "\r\n")),
        write("blank.csv", text.replace("\n", "\n\n")),
        write("case.csv", text.replace("model,problem", " Model ,PROBLEM")),
        tidy(BASE, "j.jsonl"),
        tidy(BASE, "j.jsonl.gz"),
    ]
    pytest.importorskip("pyarrow")
    pd.DataFrame(BASE).to_parquet(tmp_path / "p.parquet")
    for path in [*others, tmp_path / "p.parquet"]:
        same(one, load(path))


def test_order_of_rows_does_not_matter(tidy):
    same(load(tidy(BASE)), load(tidy(BASE[::-1], "reversed.csv")))


def test_many_files_and_directories(write, tidy, tmp_path):
    write("d/a.csv", "problem,run,outcome\nx,0,1\ny,0,0\n")
    write("d/b.csv", "problem,run,outcome\nx,0,0\ny,0,1\n")
    write("d/notes.md", "no table")
    data = load(tmp_path / "d")
    assert data.models == ("a", "b")
    assert codes(data).count("model-from-file") == 2
    sums = sorted(load(tmp_path / "d" / f"{m}.csv").source.sha256 for m in "ab")
    assert data.source.sha256 not in sums
    assert load([tmp_path / "d/b.csv", tmp_path / "d/a.csv"]).source.sha256 == data.source.sha256
    assert refusal(write("e/notes.md", "").parent).code == "no-tables"


@pytest.mark.parametrize("name", ["GPT 4", "模型", "a=b", "x,y|z"])
def test_name_equals_path_names_the_model(write, name):
    path = write("one.csv", GOOD)
    data = load(f"{name}={path}")
    assert data.models == (name,)
    assert "model-renamed" in codes(data)
    assert load(f"{name}={write('w.csv', GOOD.replace('model', 'agent'))}").models == (name,)


def test_name_equals_path_only_where_the_whole_is_no_path(write, tidy):
    assert load(write("k=v.csv", GOOD)).models == ("a",)
    error = refusal(f"m={tidy(BASE)}")
    assert error.code == "several-models"
    assert refusal("m=nowhere.csv").code == "file-not-found"


def test_odd_names_survive(write):
    path = write("odd.csv", HEAD + '"a, b|c=d é 模",007,r 1,1\n"a, b|c=d é 模",7,x,0\n')
    data = load(path)
    assert data.models == ("a, b|c=d é 模",)
    assert set(data.problems) == {"007", "7"}


SPELLINGS = {
    "problem": "item item_id question_id problem_id instance_id doc_id",
    "condition": "prompt prompt_type",
    "model": "model_name model_id model_name_or_path ModelName modelId",
    "run": "epoch trial draw_id trial_index attempt seed",
    "outcome": "score verdict correct accepted accepted_bool passed resolved reward",
}


@pytest.mark.parametrize(
    ("role", "spelling"), [(r, s) for r, names in SPELLINGS.items() for s in names.split()]
)
def test_spellings_are_recognised_and_reported(tidy, role, spelling):
    rows = [{"condition": "c", **row} for row in BASE]
    renamed = [{spelling if k == role else k: v for k, v in row.items()} for row in rows]
    data = load(tidy(renamed))
    same(load(tidy(rows, "plain.csv")), data)
    (notice,) = [n for n in data.notices if n.code == "column-spelling"]
    assert role in notice.text
    assert spelling in notice.text


def test_composite_key(tidy):
    rows = [{**row, "task": t} for t in ("t1", "t2") for row in BASE]
    error = refusal(tidy(rows))
    assert error.code == "duplicate-rows"
    assert "--columns problem=task+problem" in error.text
    data = load(tidy(rows), columns="problem=task+problem")
    assert data.problems[0] == "t1/x"
    assert set(data.labels["task"]) == {"t1", "t2"}
    assert "several-tasks" in codes(data)


def test_composite_key_keeps_different_keys_apart(write):
    path = write("k.csv", "model,a,b,run,outcome\nm,x/y,z,0,1\nm,x,y/z,0,0\n")
    assert len(load(path, columns="problem=a+b").problems) == 2


WORDS = {"1": 1, "0": 0, "True": 1, "FALSE": 0, " 1 ": 1}


def test_outcome_words(write):
    rows = [f"m,{i},0,{word}" for i, word in enumerate([*WORDS, "1.0", "0e0"])]
    data = load(write("w.csv", HEAD + "\n".join(rows)))
    assert list(data.frame["outcome"]) == [*WORDS.values(), 1, 0]
    assert data.binary


def test_outcomes_of_json_and_scores(tidy):
    rows = [{"model": "m", "problem": i, "run": 0, "outcome": y}
            for i, y in enumerate([True, False, 1, 0.25, "0.5"])]  # fmt: skip
    data = load(tidy(rows, "s.jsonl"))
    assert list(data.frame["outcome"]) == [1, 0, 1, 0.25, 0.5]
    assert not data.binary
    assert "scores" in codes(data)
    passed = load(tidy(rows, "s.jsonl"), pass_at=0.5)
    assert list(passed.frame["outcome"]) == [1, 0, 1, 0, 1]
    assert passed.binary


def test_ids_are_text_as_written(write):
    assert set(load(write("z.csv", HEAD + "m,007,0,1\nm,1.0,0,1\nm,1e3,0,1\n")).problems) == {
        "007", "1.0", "1e3"}  # fmt: skip
    row = '{"model":"m","problem":%s,"run":0,"outcome":1}\n'
    assert load(write("n.jsonl", row % 3 + row % '"03"')).problems == ("03", "3")
    error = refusal(write("m.jsonl", row % 3 + row % '"3"'))
    assert error.code == "mixed-types"
    assert "row 1" in error.text
    assert "row 2" in error.text
    assert refusal(write("l.jsonl", row % "[3]" + row % 4)).code == "bad-key"
    assert refusal(write("u.jsonl", row % '"\\ud800"' + row % 4)).code == "bad-key"


def test_parquet_ids_and_labels(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(BASE).assign(
        problem=lambda d: d["problem"].astype("category"), run=lambda d: d["run"] * 1.0,
        outcome=lambda d: d["outcome"].astype(bool), tags=[["t"]] * len(BASE),
    )  # fmt: skip
    frame.to_parquet(tmp_path / "p.parquet")
    data = load(tmp_path / "p.parquet")
    assert set(data.frame["run"]) == {"0", "1"}
    assert set(data.labels["tags"]) == {"['t']"}
    frame.loc[3, "run"] = np.nan
    frame.to_parquet(tmp_path / "p.parquet")
    error = refusal(tmp_path / "p.parquet")
    assert error.code == "bad-key"
    assert "row 4" in error.text


def test_no_run_column(tidy):
    rows = [{k: v for k, v in row.items() if k != "run"} for row in BASE if row["run"] == 0]
    data = load(tidy(rows))
    assert {"no-run-column", "single-run"} <= set(codes(data))
    twice = [{**row, "replica": s} for s in (1, 2) for row in rows]
    error = refusal(tidy(twice))
    assert error.code == "no-run-column"
    assert "--columns run=replica" in error.text
    assert load(tidy(twice), columns="run=replica").frame["run"].nunique() == 2


def test_half_characters_in_a_name_do_not_break_writing(write, tmp_path):
    rest = ', "outcome": 1, "\\ud800k": "\\udfff"}\n'
    data = load(write("s.jsonl", f'{{"problem": 1{rest}{{"problem": 2{rest}'))
    data.to_csv(tmp_path / "out.csv")
    assert load(tmp_path / "out.csv").labels.to_dict() == {"?k": {"1": "?", "2": "?"}}


def test_hostile_text_is_only_text(write):
    name = "<script>alert(1)</script>{{7*7}}"
    assert load(write("x.csv", GOOD.replace("a,", f"{name},"))).models == (name,)


REAL = {
    "hotpotqa_react_4x200x10.verdicts.csv.gz": (4, 200, 10),
    "tau_bench_airline_gpt4o_50x4.csv": (1, 50, 4),
    "swebench_verified_6x500x10.csv.gz": (6, 500, 10),
    "code_comprehension_t0_4x1500x8.csv.gz": (4, 1500, 8),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files(shared: Path, name: str):
    data = load(shared / "realdata" / name)
    models, problems, runs = REAL[name]
    assert len(data.models) == models
    assert len(data.problems) == problems
    for system in data.systems:
        sample = data.system(*system)
        assert len(sample) == problems
        assert (sample.runs == runs).all()
        assert data.missing_bounds(*system) is None
    assert "several-tasks" not in codes(data)
    spelled = 3 if name.startswith("hotpotqa") else 0
    assert codes(data).count("column-spelling") == spelled


def test_real_composite_key(shared: Path):
    path = shared / "realdata" / "mcq_gpt4o_t0_7tasks_r5.csv"
    assert "--columns problem=task+problem" in refusal(path).text
    data = load(path, columns="problem=task+problem")
    assert len(data.problems) == 1407
    assert "answer" not in data.labels
    parts = data.split_by("task")
    assert len(parts) == 7
    assert sum(len(part.problems) for part in parts.values()) == 1407
    assert all("several-tasks" not in codes(part) for part in parts.values())
