"""`load`: what is refused, where, and in which words."""

from __future__ import annotations

import gzip

import pytest

from repeval import load
from repeval.io.containers import room
from repeval.messages import RepevalError
from tests.io.tiny import BASE, GOOD, HEAD


def refusal(path, **options) -> RepevalError:
    with pytest.raises(RepevalError) as caught:
        load(path, **options)
    return caught.value


@pytest.mark.parametrize(
    ("header", "option"),
    [
        ("model,sample,run,outcome", "--columns problem=sample"),
        ("model,task_id,run,outcome", "--columns problem=task_id"),
        ("model,problem,sample,outcome", "--columns run=sample"),
        ("llm,problem,run,outcome", "--columns model=llm"),
        ("model,problem,run,acc", "--columns outcome=acc"),
    ],
)
def test_doubtful_columns_are_refused_with_what_to_type(write, header, option):
    path = write("d.csv", GOOD.replace(HEAD.strip(), header))
    error = refusal(path)
    assert error.code == "doubtful-column"
    assert option in error.text
    assert load(path, columns=option.removeprefix("--columns ")).problems == ("x", "y")


def test_two_columns_for_one_role(write):
    path = write("two.csv", "model,item_id,question_id,run,outcome\na,x,1,0,1\na,y,2,0,1\n")
    error = refusal(path)
    assert error.code == "doubtful-column"
    assert "--columns problem=item_id or --columns problem=question_id" in error.text
    data = load(path, columns={"problem": "item_id"})
    assert list(data.labels["question_id"]) == ["1", "2"]


def test_a_prompt_text_is_no_condition(write):
    path = write("p.csv", "model,problem,prompt,run,outcome\na,x,Why?,0,1\na,y,How?,0,0\n")
    error = refusal(path)
    assert error.code == "doubtful-column"
    assert "--columns condition= " in error.text
    assert load(path, columns="condition=").conditions == ("default",)


@pytest.mark.parametrize("columns", ["problem", "item=problem", "problem=a,problem=b", "problem="])
def test_bad_mapping(tidy, columns):
    assert refusal(tidy(BASE), columns=columns).code == "bad-columns"


def test_mapping_names_a_column_that_is_not_there(tidy):
    error = refusal(tidy(BASE), columns="problem=nope")
    assert error.code == "missing-column"
    assert "model, problem, run, outcome" in error.text


@pytest.mark.parametrize("pass_at", [0, -1, 1.5, float("nan")])
def test_bad_threshold(tidy, pass_at):
    assert refusal(tidy(BASE), pass_at=pass_at).code == "bad-option"


def line(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


BAD_CSV = {
    "outcome-range": (line("a,x,1,0", "a,x,1,1.5"), "row 3"),
    "outcome-unreadable": (line("a,x,1,0", "a,x,1,maybe"), "row 3"),
    "outcome-empty": (line("a,x,1,0", "a,x,1,"), "row 3"),
    "bad-key": (line("a,x,1,0", "a,,1,0"), "row 3"),
    "duplicate-rows": (line("a,x,1,0", "a,x,0,0"), "row 3"),
    "missing-column": (line("problem", "puzzle"), "model, puzzle, run, outcome"),
    "ragged-rows": (line("a,x,1,0", "a,x,1"), "row 3"),
    "duplicate-column": (line("run", "model"), "model"),
    "one-problem": (HEAD + "a,x,0,1\na,x,1,0\n", "x"),
    "empty-file": ("", "empty"),
    "no-run-column": ("model,problem,outcome\na,x,1\na,x,0\na,y,1\n", "Type --columns 'run=#'"),
}


@pytest.mark.parametrize("code", BAD_CSV)
def test_bad_csv_is_refused_with_file_and_row(write, code):
    text, shown = BAD_CSV[code]
    error = refusal(write("bad.csv", text))
    assert error.code == code
    assert "bad.csv" in error.text
    assert shown in error.text


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("h.csv", HEAD, "empty-file"),
        ("w.csv", " \n \n", "empty-file"),
        ("more.csv", GOOD + "a,z,0,1,1\n", "ragged-rows"),
        ("nan.csv", GOOD + "a,z,0,NaN\n", "outcome-empty"),
        ("inf.csv", GOOD + "a,z,0,inf\n", "outcome-unreadable"),
        ("minus.csv", GOOD + "a,z,0,-0.1\n", "outcome-range"),
        ("russian.csv", GOOD.encode() + "a,модель,0,1\n".encode("cp1251"), "not-utf8"),
        ("chinese.csv", GOOD.encode() + "a,模型,0,1\n".encode("gbk"), "not-utf8"),
        ("one.csv", GOOD.encode() + "a,中,0,1\n".encode("gbk"), "not-utf8"),
        ("mixed.csv", GOOD.encode() + "a,café,0,1\n".encode() + b"a,caf\xe9,1,1\n", "not-utf8"),
        ("quotes.csv", GOOD.encode() + "a,“x”,0,1\n".encode("cp1252"), "not-utf8"),
        ("utf16.csv", GOOD.encode("utf-16"), "not-utf8"),
        ("log.txt", GOOD, "unknown-format"),
        ("e.parquet", b"", "empty-file"),
        ("list.jsonl", "[1, 2]\n", "bad-json-line"),
        ("cut.jsonl", '{"model": "m"', "bad-json-line"),
        ("deep.jsonl", "[" * 100_000, "bad-json-line"),
        ("quote.csv", GOOD + 'a,z,0,"1\n', "unreadable-file"),
        ("inside.csv", GOOD + 'a,z,0,"1"2\n', "unreadable-file"),
        ("bom.csv", "\ufeff\n", "empty-file"),
        ("quotes.csv", '""\n', "empty-file"),
        ("none.jsonl", "{}\n", "missing-column"),
        ("huge.jsonl", '{"problem": 1, "outcome": 1%s}\n' % ("0" * 400), "outcome-unreadable"),
    ],
)
def test_bad_files(write, name, content, code):
    assert refusal(write(name, content)).code == code


def test_damaged_gzip(write, tmp_path):
    whole = gzip.compress(GOOD.encode() * 50)
    for i, data in enumerate((whole[:-9], whole[:20] + b"\0\0" + whole[22:], GOOD.encode())):
        path = tmp_path / f"{i}.csv.gz"
        path.write_bytes(data)
        assert refusal(path).code == "unreadable-file"
    assert refusal(tmp_path / "none.csv").code == "file-not-found"


def test_row_numbers_count_lines_of_the_file(write):
    text = 'model,problem,run,outcome,note\na,x,0,1,"two\nlines"\n\na,y,0,9,\n'
    assert "row 5" in refusal(write("n.csv", text)).text
    lines = '{"model":"a","problem":1,"run":0,"outcome":1}\n\n{"model":"a","problem":2,"run":0}\n'
    assert "row 3" in refusal(write("n.jsonl", lines)).text


def test_duplicates_name_both_files(write):
    one, two = write("one.csv", GOOD), write("two.csv", GOOD)
    error = refusal([one, two])
    assert "two.csv: row 2" in error.text
    assert "row 2 of one.csv" in error.text
    assert "identical" in error.text


def test_damaged_parquet(write):
    pytest.importorskip("pyarrow")
    assert refusal(write("p.parquet", b"PAR1 nothing")).code == "unreadable-file"


def test_no_pyarrow(write, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    error = refusal(write("p.parquet", b"PAR1"))
    assert error.code == "needs-pyarrow"
    assert "pip install 'repeval[logs]'" in error.text


def test_options_are_checked(tidy):
    path = tidy(BASE)
    for options in ({"missing": "drop"}, {"errors": "drop"}, {"format": "xls"}):
        assert refusal(path, **options).code == "bad-option"
    assert refusal(path, scorer="s").code == "scorer-not-used"
    assert load(path.rename(path.with_suffix(".log")), format="csv").models == ("a", "b")


def test_a_small_file_that_unpacks_to_endless_blanks_is_no_reason_to_fill_the_memory(
    write, monkeypatch
):
    monkeypatch.setattr(room, "ANYWAY", 2**16)
    error = refusal(write("bomb.csv.gz", GOOD.rstrip("\n") + " " * 2**22))
    assert error.code == "member-too-large"
    assert "bomb.csv.gz would take over" in error.text
    assert len(load(write("fine.csv.gz", GOOD)).frame) > 1
