"""Which files are read, and by which reader."""

from __future__ import annotations

import importlib
import os

import pytest

from repeval import load
from repeval.io import readers

from . import inspect_logs
from .asked import TENSOR, codes, outcomes_of, refusal, text_of
from .inspect_logs import log


def make(path, **options):
    return inspect_logs.write(path, log(TENSOR, **options))


TABLE = "model,problem,run,outcome\na,x,0,1\na,x,1,0\na,y,0,1\na,y,1,1\n"


def test_content_decides_not_the_name(tmp_path):
    for name in ("a.eval", "a.json"):
        path = make(tmp_path / name)
        assert outcomes_of(load(path.rename(tmp_path / "nothing.txt"))) == TENSOR


def test_nested_directories_are_walked_and_what_is_no_log_is_counted(tmp_path):
    make(tmp_path / "x" / "y" / "a.eval")
    make(tmp_path / "b.json", model="n")
    make(tmp_path / ".hidden" / "c.eval", model="o")
    for name in ("notes.md", "x/table.csv", "x/eval.json", ".DS_Store"):
        (tmp_path / name).write_text(TABLE)
    os.symlink(tmp_path, tmp_path / "x" / "loop")
    data = load(tmp_path)
    assert data.models == ("m", "n")
    assert data.source.name == tmp_path.name
    assert text_of(data, "files-skipped").startswith("Left aside as no Inspect logs: 3 (notes.md,")


def test_files_and_directories_mix(tmp_path):
    make(tmp_path / "d" / "a.eval")
    path = make(tmp_path / "b.json", model="n")
    assert load([tmp_path / "d", path, path]).models == ("m", "n")


def test_a_directory_of_tables_is_read_with_those_below_it(write, tmp_path):
    write("d/a.csv", TABLE)
    write("d/notes.md", "no table")
    assert load(tmp_path / "d").models == ("a",)
    write("d/deeper/b.csv", TABLE.replace("a,", "b,"))
    write("d/.hidden/c.csv", "no,table\n")
    write("d/~$b.xlsx", "the lock of a workbook")
    data = load(tmp_path / "d")
    assert data.models == ("a", "b")
    assert not {"files-skipped", "logs-read"} & codes(data)


def test_json_beside_tables_that_is_none_is_left_aside_and_said(write, tmp_path):
    write("d/a.csv", TABLE)
    write("d/config.json", '{"temperature": 0.7, "model": "a"}')
    data = load(tmp_path / "d")
    assert data.models == ("a",)
    assert "config.json" in next(n.text for n in data.notices if n.code == "files-skipped")


def test_the_format_that_was_asked_for_is_named_where_it_is_not_there(tmp_path):
    make(tmp_path / "a.eval")
    assert "is of the format promptfoo" in refusal(tmp_path, format="promptfoo").text


def test_a_folder_that_may_not_be_read_is_no_empty_one(tmp_path, monkeypatch):
    make(tmp_path / "d" / "a.eval")

    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    error = refusal(tmp_path / "d")
    assert error.code == "unreadable-file"
    assert f"{tmp_path / 'd'}: Permission denied." in error.text


def test_one_kind_at_a_time(write, tmp_path):
    table = write("a.csv", TABLE)
    error = refusal([table, make(tmp_path / "a.eval")])
    assert error.code == "several-formats"
    assert "a.csv (table)" in error.text
    assert "a.eval (Inspect log)" in error.text


@pytest.mark.parametrize("name", ["a.json", "a.txt", "a.eval", "a"])
def test_what_is_not_recognised_gets_the_list_of_what_is(write, name):
    path = write(name, '{"results": []}')
    for given, code in ((path, "unknown-format"), (path.parent, "no-tables")):
        error = refusal(given)
        assert error.code == code
        for word in (".csv", ".parquet", *(readers.reader(r).TITLE for r in readers.READERS)):
            assert word in error.text


def test_format_overrides(write, tmp_path):
    assert load(write("a.log", TABLE), format="csv").models == ("a",)
    path = tmp_path / "b.json"
    path.write_text("no log")
    error = refusal(path, format="inspect")
    assert error.code == "unreadable-log"
    assert "b.json is no Inspect log that can be read" in error.text
    error = refusal(path, format="inspct")
    assert error.code == "bad-option"
    assert "inspect" in error.text


@pytest.mark.parametrize("name", readers.READERS)
def test_every_reader_has_what_readers_must(name, tmp_path):
    module = importlib.import_module(f"repeval.io.readers.{name}")
    assert (module.NAME, bool(module.TITLE)) == (name, True)
    assert not module.sniff(tmp_path, b"")
    for head in (b"", b"{}", b"[]", b"PK\3\4", b"PAR1", b"\xff\xfe", TABLE.encode()):
        path = tmp_path / "file"
        path.write_bytes(head)
        assert not module.sniff(path, head)
