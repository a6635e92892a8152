"""Parquet files that were damaged or made to harm: a sentence or an answer, in little memory.

What is read runs in processes of its own: a library may end them.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from repeval import RepevalError, load
from repeval.io.containers import footer
from repeval.io.containers.thrift import I32, Reader
from tests.io.engines.doors import everything_is_large

from . import crafted, flips, raw
from .test_budgets import measured, within

#: Of the bits of the descriptions, and of whole files, every so manieth is changed.
QUICK, FULL, WHOLE = 499, 5, 19
#: Crafted files that are quick to write and to read.
FEW = ("wide_value", "dictionary_size", "page_size", "rows", "long_run")


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> dict[str, Path]:
    return flips.files(tmp_path_factory.mktemp("flips"))


def harmless(way: str, step: int, path: Path) -> int:
    """Check all cases of a file; with checksums no other counts are read from changed pages."""
    lines = list(flips.read_in_processes(way, step, path))
    for line in lines:
        assert not line["said"].startswith(("died", "raised")), line
        within({**line, "size": path.stat().st_size})
    return len(lines)


def test_a_changed_bit_is_refused_or_harmless(written):
    assert harmless("held", QUICK, written["second"]) > 20


@pytest.mark.full
@pytest.mark.parametrize("way", ["held", "engine"])
def test_changed_bits_are_refused_or_harmless_in_many(written, way):
    assert sum(harmless(way, FULL, path) for path in written.values()) > 20_000


@pytest.mark.full
def test_changed_bits_anywhere(written):
    assert sum(harmless("held-whole", WHOLE, path) for path in written.values()) > 10_000


def rows(**more) -> bytes:
    """Two problems and two runs; `more` are fields of the description of the runs."""
    columns = {b"problem": [1, 1, 2, 2], b"run": [1, 2, 1, 2], b"outcome": [1, 0, 1, 1]}
    found = {name: raw.numbers(values) for name, values in columns.items()}
    return raw.made(4, {**found, b"run": raw.numbers(columns[b"run"], **more)})


def counts(path: Path, large: bool) -> list[list[int]]:
    with everything_is_large() if large else contextlib.nullcontext():
        return load(path).counts()[["runs", "passes"]].to_numpy().tolist()


@pytest.mark.parametrize("large", [False, True])
def test_a_file_written_byte_by_byte(tmp_path, large):
    assert counts(raw.save(tmp_path, "t", rows()), large) == [[2, 1], [2, 2]]


def test_statistics_of_sizes_that_end_other_programs_are_not_read(tmp_path):
    """PyArrow 26 ends the process where a histogram of levels has not one number for each."""
    levels = [raw.Long(1), raw.Long(2)]
    path = raw.save(tmp_path, "t", rows(f16={2: levels, 3: levels}))
    command = [sys.executable, "-m", "repeval", "check", path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("most", "is_right"), [(2, True), (1, False), (3, False)])
def test_wrong_statistics_are_refused_or_lose_no_rows(tmp_path, most, is_right):
    """An engine that believed them would pass over rows above."""
    bounds = {5: most.to_bytes(8, "little"), 6: (1).to_bytes(8, "little"), 3: raw.Long(0)}
    path = raw.save(tmp_path, "t", rows(f12=bounds))
    assert counts(path, large=True) == [[2, 1], [2, 2]]
    if is_right:
        assert counts(path, large=False) == [[2, 1], [2, 2]]
    else:
        with pytest.raises(RepevalError, match="column run does not agree with its statistics"):
            load(path)


@pytest.mark.parametrize("large", [False, True])
def test_groups_without_rows_are_read(written, tmp_path, large):
    """A table that is written as it is filtered has some."""
    whole = pq.read_table(written["plain"])
    path = tmp_path / "t.parquet"
    with pq.ParquetWriter(path, whole.schema) as writer:
        for some in (whole[:0], whole, whole[:0]):
            writer.write_table(some)
    assert pq.read_metadata(path).num_row_groups == 3
    assert counts(path, large) == counts(written["plain"], large)
    pq.write_table(whole[:0], path)
    with pytest.raises(RepevalError) as caught:
        counts(path, large)
    assert caught.value.code == "empty-file"


PAGES = """\
import contextlib, sys
from pathlib import Path
import pyarrow as pa
import pyarrow.parquet as pq
from repeval.io.containers.parquet import parquet_columns
from repeval.io.containers.room import Room

data = Path(sys.argv[1]).read_bytes()
chunk = pq.read_metadata(sys.argv[1]).row_group(1).column(4)
start = chunk.dictionary_page_offset
for at in range(chunk.data_page_offset, start + chunk.total_compressed_size):
    for bit in range(8):
        changed = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1:]
        with contextlib.suppress(pa.ArrowException, OSError, ValueError, IndexError):
            parquet_columns(changed, "t", Room(10**9))
"""


def test_texts_that_are_not_in_their_dictionary_are_refused(written):
    """Where levels say that there are more texts, their numbers are whatever memory held."""
    command = [sys.executable, "-c", PAGES, str(written["second"])]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_texts_beyond_their_bounds_are_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(flips.table(), path, compression="none")
    content = path.read_bytes()
    assert content.count(b"\1\0\0\0B") == 1
    path.write_bytes(content.replace(b"\1\0\0\0B", b"\1\0\0\0b"))
    with pytest.raises(RepevalError, match="column model does not agree with its statistics"):
        load(path)


@pytest.mark.parametrize("large", [False, True])
def test_what_programs_write_is_read(written, tmp_path, large):
    """Pages of both versions, packed or not, with sums or not; lists, times, decimals beside."""
    expected = counts(written["plain"], large)
    assert len(expected) == 20
    for name, path in written.items():
        assert counts(path, large) == expected, name
    labels = load(written["plain"]).labels
    assert labels.equals(load(written["bare"]).labels)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x15", "cut off"),  # a number that is not there
        (b"\x28\x05ab\0", "cut off"),  # a text that is shorter than it says
        (b"\x15\2\x05\2\2\0", "twice"),
        (b"\x18\2ab\0", "another kind"),
        (b"\x15" + b"\xff" * 9 + b"\x7f\0", "too large"),
        (b"\x15" + b"\xff" * 5 + b"\1\0", "too large"),
        (b"\x29\xf5\xff\xff\x7f", "too long"),
        (b"\x2c" + b"\x1c" * 30 + b"\0" * 32, "too deep"),
        (b"\x2b\0\0", "no known kind"),
    ],
)
def test_structures_are_read_exactly(content, said):
    with pytest.raises((ValueError, IndexError), match=f"{said}|out of range"):
        Reader(content).struct({1: ("n", I32)})


def test_the_copy_of_a_description_reads_alike(written):
    """What another reader finds in it, but for what is left out."""
    for path in written.values():
        content = path.read_bytes()
        about = footer.footer(footer.piece_of(content), len(content))
        one = pq.read_metadata(pa.BufferReader(about.file))
        two = pq.read_metadata(path)
        assert one.schema.equals(two.schema)
        assert (one.num_rows, one.metadata) == (two.num_rows, two.metadata)
        assert about.names == two.schema.to_arrow_schema().names
        assert footer.head(path) == (about.names, two.num_rows)
        for i in range(two.num_row_groups):
            for k in range(two.num_columns):
                a, b = one.row_group(i).column(k), two.row_group(i).column(k)
                for field in ("path_in_schema", "num_values", "compression", "encodings",
                              "data_page_offset", "total_compressed_size"):  # fmt: skip
                    assert getattr(a, field) == getattr(b, field), (path, field)


def small(folder: Path, names: Iterable[str]) -> dict[str, dict]:
    found = measured(*(crafted.CRAFTED[name](folder) for name in names))
    for line in found.values():
        within(line)
        assert "raise" not in line["said"]
    return found


def test_a_crafted_file_takes_little(tmp_path):
    found = small(tmp_path, FEW)
    said = {name.removesuffix(".parquet"): line["said"] for name, line in found.items()}
    assert {said[n] for n in ("wide_value", "page_size", "rows")} == {"member-too-large"}


@pytest.mark.full
@pytest.mark.parametrize("name", crafted.CRAFTED)
def test_crafted_files_take_little(tmp_path, name):
    small(tmp_path, [name])
