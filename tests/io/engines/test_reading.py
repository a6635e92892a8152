"""What large tables are read from, what is refused, and what can be asked of them afterwards."""

from __future__ import annotations

import contextlib
import re
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from repeval import RepevalError, analyze, load
from repeval.io.engines import groups, size

from .doors import DOORS, Data, answer, assert_same, everything_is_large, held_and_reduced

SEED = 2606


def judged(models=("a", "b"), problems: int = 20, runs: int = 4, **more: list) -> Data:
    rng = np.random.default_rng(SEED)
    keys = [(m, f"p{i}", r) for m in models for i in range(problems) for r in range(runs)]
    keys = [keys[i] for i in rng.permutation(len(keys))]
    data = dict(zip(("model", "problem", "run"), map(list, zip(*keys, strict=True)), strict=True))
    return {**data, "outcome": rng.integers(0, 2, len(keys)).tolist(), **more}


def changed(fault: str) -> Data:
    data = judged()
    if fault == "duplicate":
        return {name: [*values[:50], values[3], *values[50:]] for name, values in data.items()}
    if fault == "one problem":
        return {**data, "problem": ["p"] * 160, "run": list(range(160))}
    bad = {"nan": None, "range": 1.5, "key": 0}[fault]
    name = "problem" if fault == "key" else "outcome"
    values = [float(v) for v in data["outcome"]] if name == "outcome" else data[name]
    values[30] = None if fault == "key" else bad
    return {**data, name: values}


@pytest.mark.parametrize("door", sorted(DOORS))
@pytest.mark.parametrize("often", [1, 80])
def test_a_column_with_two_values_for_a_problem_says_which(tmp_path, door, often):
    """Of several problems any is named, with two values that its rows have."""
    problems = judged()["problem"]
    family = [f"f{int(p[1:]) % 3}" for p in problems]
    # The last rows are of another run than the first.
    family[-often:] = [f"g{i % 2}" for i in range(often)]
    data = judged(family=family)
    for outcomes in held_and_reduced(DOORS[door](data, tmp_path)):
        with pytest.raises(RepevalError) as caught:
            analyze(outcomes, cluster="family", n_resamples=20)
        assert caught.value.code == "unknown-label"
        found = re.match(
            r"'family' is no label: problem '(p\d+)' has '(..)' and '(..)' in it\. A label is",
            caught.value.text,
        )
        rows = {one for p, one in zip(problems, family, strict=True) if p == found[1]}
        assert found[2] != found[3]
        assert {found[2], found[3]} <= rows
        with pytest.raises(RepevalError, match="'family' is no label: problem"):
            outcomes.select(models=outcomes.models[:1]).split_by("family")
        with pytest.raises(RepevalError, match="There is no label column 'x'"):
            outcomes.split_by("x")


@pytest.mark.parametrize("door", sorted(DOORS))
def test_every_door_leads_to_the_same_answer(tmp_path, door):
    topics = [["easy", "hard"][int(p[1:]) % 2] for p in judged()["problem"]]
    given = DOORS[door](judged(topic=topics, answer=[f"a{i}" for i in range(160)]), tmp_path)
    held, found = held_and_reduced(given)
    assert_same(held, found)
    assert list(found.labels) == ["topic"]
    assert answer(found) == answer(load(DOORS["csv"](judged(topic=topics), tmp_path)))


@pytest.mark.parametrize("fault", ["duplicate", "nan", "range", "one problem", "key"])
@pytest.mark.parametrize("door", ["csv", "csv.gz", "jsonl", "parquet", "polars-lazy", "duckdb"])
def test_every_door_refuses_alike(tmp_path, door, fault):
    held, found = held_and_reduced(DOORS[door](changed(fault), tmp_path))
    assert isinstance(held, RepevalError)
    assert_same(held, found)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_parts_of_one_table(tmp_path, kind):
    whole, paths = pd.DataFrame(judged()), []
    for i, at in enumerate(np.array_split(np.arange(len(whole)), 3)):
        folder = tmp_path / "abc"[i]
        folder.mkdir()
        paths.append(DOORS[kind](whole.iloc[at].to_dict("list"), folder))
    for given in (paths, tmp_path):
        held, found = held_and_reduced(given)
        assert_same(held, found)
        assert answer(found) == answer(load(whole))
    (tmp_path / "d").mkdir()
    again = DOORS[kind](whole.iloc[[3]].to_dict("list"), tmp_path / "d")
    held, found = held_and_reduced([*paths, again])
    assert held.code == "duplicate-rows"
    assert_same(held, found)


def test_files_that_are_runs_or_models_by_name(tmp_path):
    frame = pd.DataFrame(judged())
    for (model, run), rows in frame.groupby(["model", "run"]):
        rows[["problem", "outcome"]].to_csv(tmp_path / f"{model}_run{run}.csv", index=False)
    held, found = held_and_reduced(tmp_path)
    assert_same(held, found)
    assert "names-read" in {n.code for n in found.notices}
    assert found.counts().equals(load(frame).counts())
    named = [f"k={path}" for path in sorted(tmp_path.glob("a_*.csv"))]
    assert_same(*held_and_reduced(named))
    assert_same(*held_and_reduced(tmp_path, names="{model}_run{run}.csv"))


def test_a_name_for_a_file(tmp_path):
    path = DOORS["csv"](judged(), tmp_path)
    held, found = held_and_reduced([f"other={path}"])
    assert held.code == found.code == "several-models"
    path = DOORS["csv"](judged(["a"]), tmp_path)
    assert_same(*held_and_reduced([f"other={path}"]))


def test_first_attempts_count_where_rows_took_several(tmp_path):
    """Retried until a pass, all pass in the end: the score is that of the first attempts."""
    rng = np.random.default_rng(SEED)
    tries = rng.geometric(0.3, 300).clip(max=4)
    data = {"problem": [f"p{i}" for i in range(300)], "attempts": tries.tolist(),
            "passed": [bool(t < 4) for t in tries]}  # fmt: skip
    for door in ("csv", "parquet", "polars-lazy"):
        held, found = held_and_reduced(DOORS[door](data, tmp_path))
        assert_same(held, found)
        (system,) = found.systems
        assert found.system(*system).rate.mean() == (tries == 1).mean()


@pytest.mark.parametrize("door", ["csv", "duckdb", "polars-lazy", "parquet"])
def test_cached_answers_are_none_whatever_their_order(tmp_path, door):
    data = judged()
    data["cached"] = [(r > 0 and p != "p3") or p == "p5" for r, p in
                      zip(data["run"], data["problem"], strict=True)]  # fmt: skip
    assert_same(*held_and_reduced(DOORS[door](data, tmp_path)))


@pytest.mark.parametrize("word", ["temperature", "agent"])
def test_columns_that_tell_systems_apart_are_no_silent_labels(tmp_path, word):
    data = judged()
    data[word] = [["x", "y"][r % 2] for r in data["run"]]
    held, found = held_and_reduced(DOORS["csv"](data, tmp_path))
    assert held.code == found.code == "doubtful-column"
    assert held.text == found.text
    assert_same(*held_and_reduced(DOORS["csv"](data, tmp_path), columns=f"condition={word}"))


def test_keys_of_several_columns_stay_apart(tmp_path):
    data = judged(task=[["a/b", "a"][int(p[1:]) % 2] for p in judged()["problem"]])
    data["item"] = [["c", "b/c", "z"][int(p[1:]) % 3] + p for p in data.pop("problem")]
    for door in ("csv", "parquet", "polars-lazy"):
        given = DOORS[door](data, tmp_path)
        assert_same(*held_and_reduced(given, columns="problem=task+item"))


def test_ids_of_samples_that_repeat_are_problems(tmp_path):
    data = judged()
    data = {("sample_id" if name == "problem" else name): v for name, v in data.items()}
    assert_same(*held_and_reduced(DOORS["csv"](data, tmp_path)))
    data["sample_id"] = list(range(160))
    assert_same(*held_and_reduced(DOORS["csv"](data, tmp_path)))


def test_tables_of_another_layout_are_held(tmp_path):
    counts = load(judged()).counts()
    wide = pd.DataFrame({"problem": ["p", "q"], "run_1": [0, 1], "run_2": [1, 1]})
    for name, frame in {"counts": counts, "wide": wide}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        held, found = held_and_reduced(tmp_path / f"{name}.csv")
        assert held.notices == found.notices
        assert held.counts().equals(found.counts())


def test_decimal_commas_line_breaks_and_blank_lines(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f'm;p{i};{r};0,{r + 1};"two\nlines"\n' for i in range(5) for r in range(2)]
    path.write_text(
        "\nmodel;problem;run;score;answer\n" + "".join(rows[:4]) + "\n\n" + "".join(rows[4:])
    )
    assert_same(*held_and_reduced(path))
    path.write_text(path.read_text() + rows[1])
    assert_same(*held_and_reduced(path))


@pytest.mark.parametrize(
    "content",
    [b"model,problem,run,outcome\nm,p,1,1\nm,p,2\n", b"", b"model,problem,outcome\n",
     b"a,a\n1,2\n", b"model,problem,run,outcome\nm\xe9,p,1,1\nm,q,1,1\n"],
)  # fmt: skip
def test_what_an_engine_cannot_read_is_as_a_small_table(tmp_path, content):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    texts = []
    for large in (False, True):
        with everything_is_large(give_up=True) if large else contextlib.nullcontext():
            try:
                texts.append(load(path).notices)
            except RepevalError as error:
                texts.append(error.text)
    assert texts[0] == texts[1]


@pytest.mark.parametrize("scale", [None, (-1.0, 2.0)])
def test_many_different_scores(tmp_path, monkeypatch, scale):
    """Scores inside the scale are then numbers, and no values that are read one by one."""
    monkeypatch.setattr(groups, "MOST_SCORES", 3)
    scores = np.random.default_rng(SEED).random(160).round(2)
    scores[:9] = 0, 1, np.nan, 0, 1, 0, 1, 1, 0
    status = ["error" if np.isnan(y) else "" for y in scores]
    data = judged(status=status, score=[None if np.isnan(y) else float(y) for y in scores])
    del data["outcome"]
    for door in ("parquet", "polars-lazy", "duckdb"):
        given = DOORS[door](data, tmp_path)
        assert_same(*held_and_reduced(given, scale=scale))
        assert_same(*held_and_reduced(given, scale=scale, pass_at=0.4))
    data["score"][20] = 2.5
    assert_same(*held_and_reduced(DOORS["parquet"](data, tmp_path), scale=scale))


def test_text_is_read_as_by_the_csv_module(tmp_path):
    path = tmp_path / "t.csv"
    words = ["#x", " y ", 'a"b', "NULL", "nan", '"q,""r"""', "'s'", "\\t", "é", "1e3", "TRUE"]
    rows = [f"{w},{r},{(i + r) % 2},{w}" for i, w in enumerate(words) for r in range(2)]
    for mark, end in (("", "\n"), ("\ufeff", "\r\n")):
        text = end.join([mark + "problem,run,outcome,note", *rows, ""])
        path.write_bytes(text.encode())
        assert_same(*held_and_reduced(path))


def test_parts_of_what_was_reduced(tmp_path):
    """Systems are chosen from counts, labels from single runs, which are made when needed."""
    data = judged(topic=[["x", "y"][int(p[1:]) % 2] for p in judged()["problem"]])
    data = {name: values[:-7] for name, values in data.items()}
    held, found = held_and_reduced(DOORS["parquet"](data, tmp_path))
    one, two = (o.select(models=["b"]) for o in (held, found))
    assert two.frame.empty
    assert_same(one, two)
    _, found = held_and_reduced(DOORS["parquet"](data, tmp_path))
    for value, part in found.split_by("topic").items():
        pd.testing.assert_frame_equal(part.frame, held.split_by("topic")[value].frame)
    found.to_csv(tmp_path / "again.csv")
    pd.testing.assert_frame_equal(load(tmp_path / "again.csv").frame, held.frame)


def test_too_many_run_labels(tmp_path, monkeypatch):
    monkeypatch.setattr(groups, "MOST_LABELS", 100)
    data = judged()
    data["run"] = list(range(len(data["run"])))
    with everything_is_large(), pytest.raises(RepevalError, match="over 100 run labels") as error:
        load(DOORS["csv"](data, tmp_path))
    assert error.value.code == "too-many-runs"


def test_without_an_engine_only_what_cannot_be_held_is_refused(tmp_path, monkeypatch):
    path = DOORS["csv"](judged(), tmp_path)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with everything_is_large():
        assert len(load(path).frame) == 160
        monkeypatch.setattr(size, "MOST_BYTES", 10)
        with pytest.raises(RepevalError, match=r"pip install 'repeval\[fast\]'") as error:
            load(path)
    assert error.value.code == "needs-fast"


def test_names_may_hold_anything(tmp_path):
    path = tmp_path / "t.parquet"
    columns = {"model": ["a\0b"] * 4, "problem": ["p'", "q", "p'", "q"], "run": [1, 1, 2, 2],
               "outcome": [0, 1, 1, 1], "it's": ["x"] * 4}  # fmt: skip
    pq.write_table(pa.table(columns), path)
    assert_same(*held_and_reduced(path))
