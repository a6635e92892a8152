"""Large tables, read as counts: the same samples as reading them whole, and the same refusals."""

import gzip
import re

import numpy as np
import pytest

import repeval
from repeval.io import large
from repeval.io.checks import checks
from repeval.io.load import load

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch):
    monkeypatch.setattr(large, "MANY_BYTES", 0)
    monkeypatch.setattr(large, "MANY_ROWS", 0)
    # Merge after every batch, so that merging is tested too.
    monkeypatch.setattr(large, "MERGE_AT", 10)


def rows(seed=2606, models=3, problems=20, runs=4):
    rng = np.random.default_rng(seed)
    table = [
        (f"m{m}", c, f"p{i}", str(r), int(rng.random() < 0.5))
        for m in range(models) for c in ("x", "y") for i in range(problems)
        for r in range(rng.integers(1, runs + 1))
    ]  # fmt: skip
    return [table[i] for i in rng.permutation(len(table))]


NAMES = ["model", "condition", "problem", "run", "outcome"]


def csv_of(table, sep=","):
    return "\n".join(sep.join(map(str, row)) for row in [NAMES, *table]) + "\n"


def write(path, table):
    if path.suffix == ".parquet":
        columns = dict(zip(NAMES, map(list, zip(*table, strict=True)), strict=True))
        pq.write_table(pa.table(columns), path, row_group_size=50)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(csv_of(table).encode()))
    else:
        path.write_text(csv_of(table, ";" if path.stem == "semi" else ","))
    return path


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "semi.csv", "t.csv.gz"])
def test_counts_are_those_of_the_whole_table(tmp_path, monkeypatch, name):
    path = write(tmp_path / name, rows())
    streamed = load(path)
    monkeypatch.undo()
    whole = load(path)
    assert streamed.frame.empty
    assert (streamed.models, streamed.conditions) == (whole.models, whole.conditions)
    assert streamed.problems == whole.problems
    assert streamed.systems == whole.systems
    for system in whole.systems:
        assert streamed.system_problems(*system) == whole.system_problems(*system)
        one, two = streamed.system(*system), whole.system(*system)
        assert (one.passes.tolist(), one.runs.tolist()) == (two.passes.tolist(), two.runs.tolist())
    assert streamed.source == whole.source
    assert streamed.notices == whole.notices
    assert checks(streamed) == checks(whole)
    assert repeval.analyze(streamed).to_dict() == repeval.analyze(whole).to_dict()


@pytest.mark.parametrize(("name", "first"), [("t.parquet", 1), ("t.csv", 2)])
def test_a_duplicate_is_named_with_its_rows(tmp_path, name, first):
    table = rows()
    table.insert(150, table[12])
    with pytest.raises(repeval.RepevalError) as error:
        load(write(tmp_path / name, table))
    assert error.value.code == "duplicate-rows"
    assert f"row {150 + first} has the same" in error.value.text
    assert f"as row {12 + first} (" in error.value.text


def test_no_sum_of_labels_hides_a_duplicate():
    """popcount(sum of 2^label) equals the number of labels only if none occurs twice."""
    rng = np.random.default_rng(2606)
    for _ in range(2000):
        labels = rng.integers(0, large.MOST_RUNS, rng.integers(1, 40))
        total = np.sum(np.int64(1) << labels, dtype=np.int64)
        assert (np.bitwise_count(total) == len(labels)) == (len(set(labels)) == len(labels))


@pytest.mark.parametrize("word", ["2", "maybe", "", "0.5"])
def test_a_bad_outcome_is_named_with_its_row(tmp_path, word):
    table = rows()
    table[30] = (*table[30][:4], word)
    with pytest.raises(repeval.RepevalError, match=r"row 32 \("):
        load(write(tmp_path / "t.csv", table))


def test_an_empty_key_is_refused(tmp_path):
    table = rows()
    table[30] = ("", *table[30][1:])
    with pytest.raises(repeval.RepevalError, match="model"):
        load(write(tmp_path / "t.csv", table))


def test_too_many_run_labels(tmp_path):
    table = [("m", "c", f"p{i}", f"r{i}-{r}", r) for i in range(40) for r in range(2)]
    with pytest.raises(repeval.RepevalError, match="over 62 run labels"):
        load(write(tmp_path / "t.csv", table))


def test_spellings_defaults_and_composite_keys(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("task,item_id,draw_id,verdict\n" + "\n".join(
        f"{t},{i},{r},{'C' if (i + r) % 2 else 'I'}" for t in "ab" for i in range(3)
        for r in range(2)) + "\n")  # fmt: skip
    found = load(path, columns="problem=task+item_id")
    assert found.models == ("t",)
    assert found.conditions == ("default",)
    assert found.problems[0] == "a/0"
    assert {n.code for n in found.notices} >= {"column-spelling", "model-from-file"}
    assert load([f"other={path}"], columns="problem=task+item_id").models == ("other",)


def test_what_needs_single_rows_is_refused(tmp_path):
    found = load(write(tmp_path / "t.csv", rows()))
    with pytest.raises(repeval.RepevalError, match="single rows"):
        found.to_csv(tmp_path / "out.csv")
    with pytest.raises(repeval.RepevalError, match="single rows"):
        found.select(models=["m0"])
    with pytest.raises(repeval.RepevalError, match="--missing"):
        load(write(tmp_path / "t.csv", rows()), missing="fail")


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 nothing")
    with pytest.raises(repeval.RepevalError, match="cannot be read"):
        load(path)
    path = tmp_path / "t.csv"
    path.write_text("model,problem,run,outcome\nm,p,1,1\nm,p,2\n")
    with pytest.raises(repeval.RepevalError, match="cannot be read"):
        load(path)


def both(path, monkeypatch, **options):
    """Read a file as counts and whole: outcomes, or the codes of the refusals."""
    found = []
    for limit in (0, 10**12):
        monkeypatch.setattr(large, "MANY_BYTES", limit)
        monkeypatch.setattr(large, "MANY_ROWS", limit)
        try:
            found.append(load(path, **options))
        except repeval.RepevalError as error:
            found.append(error)
    return found


def test_different_composite_keys_stay_apart(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    keys = [("a/b", "c"), ("a", "b/c"), ("q", "z")]
    path.write_text("model,task,item,run,outcome\n" + "".join(
        f"m,{t},{i},{r},{r}\n" for t, i in keys for r in (0, 1)))  # fmt: skip
    one, two = both(path, monkeypatch, columns="problem=task+item")
    assert one.problems == two.problems
    assert len(one.problems) == 3


@pytest.mark.parametrize("value", [None, ""])
def test_an_empty_part_of_a_composite_key_is_refused(tmp_path, monkeypatch, value):
    columns = {
        "model": ["m"] * 4, "task": ["t", value, "t", "t"], "item": ["a", "a", "b", "c"],
        "run": [1] * 4, "outcome": [0, 1, 1, 0],
    }  # fmt: skip
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path)
    one, two = both(path, monkeypatch, columns="problem=task+item")
    assert one.code == two.code == "bad-key"
    assert "row 2" in one.text


def test_numbers_that_are_none_are_no_ids(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    columns = {"model": ["m"] * 3, "problem": [1.0, float("nan"), 2.5], "outcome": [0, 1, 1]}
    pq.write_table(pa.table(columns), path)
    one, two = both(path, monkeypatch)
    assert one.code == two.code == "bad-key"


def test_line_breaks_in_fields_and_blank_lines(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    lines = [f'm,p{i},{r},{(i + r) % 2},"two\nlines"' for i in range(5) for r in range(2)]
    text = "\nmodel,problem,run,outcome,answer\n" + "\n".join(lines[:4]) + "\n\n\n"
    path.write_text(text + "\n".join(lines[4:]) + "\n")
    one, two = both(path, monkeypatch)
    assert one.system("m", "default").passes.tolist() == two.system("m", "default").passes.tolist()
    path.write_text(text + "\n".join([*lines[4:], lines[1]]) + "\n")
    one, two = both(path, monkeypatch)
    assert one.code == two.code == "duplicate-rows"
    rows_named = [re.findall(r"row (\d+)", error.text) for error in (one, two)]
    assert rows_named[0] == rows_named[1]


def test_a_name_for_a_file_of_several_models(tmp_path, monkeypatch):
    path = write(tmp_path / "t.csv", rows())
    one, two = both([f"other={path}"], monkeypatch)
    assert one.code == two.code == "several-models"
    path = write(tmp_path / "one.csv", rows(models=1))
    one, two = both([f"other={path}"], monkeypatch)
    assert one.models == two.models == ("other",)
    assert [n.code for n in checks(one)] == [n.code for n in checks(two)]
    assert one.notices == two.notices


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("model,problem,x,x,outcome\nm,p,1,1,1\n", "duplicate-column"),
        ("model,prompt,problem,run,outcome\nm,one,p1,1,1\nm,two,p2,1,0\n", "doubtful-column"),
        ("model,problem,outcome\nm,p,1\nm,p,0\nm,q,0\n", "no-run-column"),
    ],
)
def test_refused_like_a_table_read_whole(tmp_path, monkeypatch, text, code):
    path = tmp_path / "t.csv"
    path.write_text(text)
    one, two = both(path, monkeypatch)
    assert one.code == two.code == code


def test_columns_that_cannot_be_keys(tmp_path):
    path = tmp_path / "t.parquet"
    columns = {"model": ["m", "m"], "problem": [[1], [2]], "run": [1, 1], "outcome": [0, 1]}
    pq.write_table(pa.table(columns), path)
    with pytest.raises(repeval.RepevalError):
        load(path)


def test_names_may_hold_anything(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    columns = {"model": ["a\0b", "a\0b"], "problem": ["p", "q"], "run": [1, 1], "outcome": [0, 1]}
    pq.write_table(pa.table(columns), path)
    one, two = both(path, monkeypatch)
    assert one.models == two.models
