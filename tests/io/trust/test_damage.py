"""What is damaged, or no file, is one sentence and is never read in part, nor waited for."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from repeval import RepevalError, load
from repeval.cli import main
from repeval.io.containers import room
from repeval.io.engines import reduced
from repeval.messages import LONGEST, Notice, clipped
from tests.io.engines.doors import everything_is_large

HEADER = "model,problem,run,outcome,note\n"


def text(n: int = 3000, seed: int = 2606) -> bytes:
    """Rows with notes that do not shrink when they are packed."""
    rng = np.random.default_rng(seed)
    rows = (f"m,p{i // 3},{i % 3},{rng.integers(2)},{rng.bytes(20).hex()}\n" for i in range(n))
    return (HEADER + "".join(rows)).encode()


def refusal(path: Path, large: bool) -> RepevalError:
    engine = everything_is_large(give_up=True) if large else contextlib.nullcontext()
    with engine, pytest.raises(RepevalError) as caught:
        load(path)
    return caught.value


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.99])
def test_a_packed_table_that_was_cut(write, large, share):
    data = gzip.compress(text())
    path = write("t.csv", data[: int(len(data) * share)])
    assert refusal(path.rename(path.with_name("cut.csv.gz")), large).code == "unreadable-file"


@pytest.mark.parametrize("large", [False, True])
def test_one_bit_of_a_packed_table(tmp_path, large):
    """Where the stream still unpacks, its sum tells; DuckDB does not look at it."""
    path, data = tmp_path / "t.csv.gz", bytearray(gzip.compress(text(), 1))
    rng = np.random.default_rng(2606)
    for at in rng.integers(20, len(data) - 8, size=12):
        data[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(data)
        assert refusal(path, large).code in ("unreadable-file", "member-too-large")
        path.write_bytes(gzip.compress(text(), 1))
        data = bytearray(path.read_bytes())


@pytest.mark.parametrize("large", [False, True])
def test_one_bit_of_a_page_with_a_checksum(tmp_path, large):
    n = 4000
    values = np.random.default_rng(2606).integers(2, size=n)
    table = pa.table({"problem": [i // 4 for i in range(n)], "run": [i % 4 for i in range(n)],
                      "outcome": values})  # fmt: skip
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, write_page_checksum=True, compression="none", use_dictionary=False)
    with everything_is_large() if large else contextlib.nullcontext():
        assert load(path).counts()["passes"].sum() == values.sum()
    column = pq.read_metadata(path).row_group(0).column(2)
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + column.total_compressed_size - 9] ^= 1
    path.write_bytes(data)
    error = refusal(path, large)
    assert error.code == "unreadable-file"
    assert "checksum" in error.text


@pytest.mark.parametrize("large", [False, True])
def test_checksums_of_the_faults(shared, large):
    folder = shared / "field/faults"
    with everything_is_large() if large else contextlib.nullcontext():
        data = load(folder / "parquet_checksum_ok.parquet")
    assert data.system(*data.systems[0]).rate.mean() == pytest.approx(0.50725)
    assert refusal(folder / "parquet_checksum_damaged.parquet", large).code == "unreadable-file"


@pytest.mark.parametrize("large", [False, True])
def test_a_key_that_is_there_twice(write, large):
    row = '{"problem":"a","run":%d,"outcome":1}\n'
    lines = [row % 1, "\n", row % 2, '{"problem":"b","run":1,"outcome":1,"outcome":0}\n']
    error = refusal(write("t.jsonl", "".join(lines)), large)
    assert error.code == "duplicate-column"
    assert "row 4: an object has 'outcome' twice" in error.text


@pytest.mark.parametrize("large", [False, True])
def test_a_key_that_is_there_twice_in_the_faults(shared, large):
    assert refusal(shared / "field/faults/dup.jsonl", large).code == "duplicate-column"


def test_a_packed_table_is_read_alike_held_and_by_an_engine(write, monkeypatch):
    """What would take too much is reduced by an engine; one that cannot be is refused."""
    data = text()
    held = load(write("held.csv", data)).counts()
    path = write("t.csv.gz", data)
    monkeypatch.setattr(room, "ANYWAY", 0)
    monkeypatch.setattr(room, "TIMES", 12)
    monkeypatch.setattr(reduced, "ENGINE", 0)
    found = load(path)
    assert found.frame.empty
    assert found.counts().equals(held)
    with pytest.raises(RepevalError, match="unpack it"):
        load(path, columns="run=#")


@pytest.mark.parametrize("name", ["t.csv", "log.json", "t.parquet"])
def test_a_pipe_is_no_file_and_is_not_waited_for(tmp_path, capsys, name):
    os.mkfifo(tmp_path / name)
    assert main(["check", str(tmp_path / name)]) == 2
    assert "is a pipe or a device" in capsys.readouterr().err
    # In a folder it is passed over, as what is no file.
    with pytest.raises(RepevalError) as caught:
        load(tmp_path)
    assert caught.value.code == "no-tables"


def test_a_device_is_no_file():
    with pytest.raises(RepevalError, match="is a pipe or a device"):
        load("/dev/zero")


@pytest.mark.skipif(sys.platform == "darwin", reason="names there are UTF-8 always")
def test_a_name_that_is_not_utf_8_is_refused_where_it_is_read(tmp_path):
    good = b"problem,run,outcome\na,1,1\nb,1,0\n"
    inside = os.fsencode(tmp_path)
    for name in (b"\xff.csv", b"\xff.txt"):
        with open(inside + b"/" + name, "wb") as file:
            file.write(good)
    with pytest.raises(RepevalError, match="the name is not UTF-8 text"):
        load(os.fsdecode(inside + b"/\xff.csv"))
    with pytest.raises(RepevalError, match="the name is not UTF-8 text"):
        load(tmp_path)
    os.unlink(inside + b"/\xff.csv")
    (tmp_path / "t.csv").write_bytes(good)
    assert load(tmp_path).models == ("t",)


@pytest.mark.parametrize("name", ["a=b.csv", "=.csv", "a=b/c=d.csv", "x/y/z.csv"])
def test_names_with_equals_signs_and_tables_in_folders(write, tmp_path, monkeypatch, name):
    path = write(name, "problem,run,outcome\na,1,1\nb,1,0\n")
    monkeypatch.chdir(tmp_path)
    assert load(name).models == load(path).models == (path.stem,)
    assert load(f"M={name}").models == ("M",)
    assert load(tmp_path).models == (path.stem,)


def test_messages_end_within_a_screen(write):
    long = "x" * 300_000
    with pytest.raises(RepevalError) as caught:
        load(write("t.csv", f"{long},b\n1,2\n1,3\n"))
    assert len(caught.value.text) <= LONGEST
    assert str(caught.value) == caught.value.text
    assert len(Notice("logs-read", long).text) <= LONGEST
    assert clipped("y" * LONGEST) == "y" * LONGEST


def test_too_little_memory_is_a_sentence(monkeypatch, capsys, write):
    path = write("t.csv", "problem,run,outcome\na,1,1\nb,1,0\n")

    def full(*_, **__):
        raise MemoryError

    monkeypatch.setattr("repeval.io.files._csv", full)
    assert main(["check", str(path)]) == 2
    assert "the memory is not enough" in capsys.readouterr().err
