"""Small Parquet files as many programs write them, with one bit changed; each read in a process.

``python -m tests.io.trust.flips WAY STEP START FILE`` reads a file with a bit changed, and another,
and prints a line of JSON for each: what was read, and what it took. WAY is held or engine.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[3]
#: Address space of a process, and seconds for one file.
LIMIT, LONGEST = 6 * 2**30, 20
SEED = 2606


def table(n: int = 60) -> pa.Table:
    """Two models, ten problems and three runs, and columns beside them."""
    rng = np.random.default_rng(SEED)
    return pa.table({
        "model": [("A", "B")[i % 2] for i in range(n)],
        "problem": [f"p{i // 6}" for i in range(n)],
        "run": [i // 2 % 3 for i in range(n)],
        "outcome": rng.integers(0, 2, n),
        "note": [None if i % 7 == 0 else f"note {i}" for i in range(n)],
    })  # fmt: skip


def beside(n: int = 60) -> dict[str, pa.Array]:
    """Columns of other kinds: lists, structures, maps, times, decimals, categories."""
    return {
        "tags": pa.array([[i, i + 1] if i % 3 else None for i in range(n)]),
        "info": pa.array([{"a": i, "b": [str(i)]} for i in range(n)]),
        "map": pa.array([[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int32())),
        "when": pa.array([i * 10**6 for i in range(n)], pa.timestamp("us", "UTC")),
        "price": pa.array(range(n), pa.int32()).cast(pa.decimal128(12, 2)),
        "half": pa.array([i / 7 for i in range(n)]),
        "kind": pa.array([f"k{i % 3}" for i in range(n)]).dictionary_encode(),
        "raw": pa.array([bytes([i] * 4) for i in range(n)], pa.binary(4)),
        "fits": pa.array([i % 5 == 0 for i in range(n)]),
    }


def files(folder: Path) -> dict[str, Path]:
    """Write the files."""
    rows, found = table(), {}
    many = rows
    for name, values in beside().items():
        many = many.append_column(name, values)
    options: dict[str, dict[str, Any]] = {
        "pages": {"write_page_checksum": True, "write_page_index": True},
        "second": {"data_page_version": "2.0", "write_page_index": True, "compression": "zstd"},
        "plain": {"compression": "none", "use_dictionary": False, "write_page_checksum": True},
        "gzip": {"compression": "gzip", "data_page_version": "2.0", "use_dictionary": False},
        "delta": {"use_dictionary": False, "column_encoding": {
            "model": "DELTA_BYTE_ARRAY", "problem": "DELTA_LENGTH_BYTE_ARRAY",
            "run": "DELTA_BINARY_PACKED", "outcome": "BYTE_STREAM_SPLIT"}},
        "bare": {"write_statistics": False, "store_schema": False, "compression": "lz4"},
    }  # fmt: skip
    # Programs split the bytes of floats; few read other numbers so.
    floats = rows.set_column(3, "outcome", rows["outcome"].cast(pa.float64()))
    for name, chosen in options.items():
        some = floats if name == "delta" else rows
        pq.write_table(some, folder / f"{name}.parquet", row_group_size=40, **chosen)
    pq.write_table(many, folder / "nested.parquet", write_page_index=True, write_page_checksum=True)
    pl.from_arrow(rows).write_parquet(folder / "polars.parquet")
    with duckdb.connect() as engine:
        engine.register("rows", rows)
        engine.execute(f"copy rows to '{folder}/duckdb.parquet' (format parquet)")
        how = "format parquet, parquet_version v2"
        engine.execute(f"copy rows to '{folder}/duckdb-v2.parquet' ({how})")
    for path in sorted(folder.glob("*.parquet")):
        found[path.stem] = path
    return found


def places(data: bytes) -> list[int]:
    """Return where the descriptions of a file are: headers of pages, indexes, the footer."""
    n = len(data)
    start = n - 8 - int.from_bytes(data[-8:-4], "little")
    about = pq.read_metadata(pa.BufferReader(data))
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    ends, heads = [4], []
    for group in groups:
        for i in range(about.num_columns):
            chunk = group.column(i)
            begin = chunk.dictionary_page_offset or chunk.data_page_offset
            heads += range(begin, begin + 30)
            heads += range(chunk.data_page_offset, chunk.data_page_offset + 40)
            ends.append(begin + chunk.total_compressed_size)
    # What lies between the last page and the footer are indexes of pages.
    return sorted({at for at in heads if at < start} | {*range(max(ends), n)})


def cases(path: Path, step: int, whole: bool) -> list[tuple[int, int]]:
    """Return every `step`th of all bits of the descriptions, or of the whole file."""
    data = path.read_bytes()
    found = [(at, bit) for at in (range(len(data)) if whole else places(data)) for bit in range(8)]
    return found[::step]


def counted(path: Path, large: bool) -> str:
    """Read a file; return a text of its counts, or the code of the refusal."""
    from repeval import RepevalError, load
    from tests.io.engines.doors import everything_is_large

    with everything_is_large(give_up=True) if large else contextlib.nullcontext():
        try:
            return load(path).counts().to_csv()
        except RepevalError as error:
            return f"{error.code}: {error.text}"


def read_all(way: str, step: int, start: int, path: Path) -> None:
    """Read a file with one bit after the other changed."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    large, whole = way.startswith("engine"), way.endswith("-whole")
    data, right = path.read_bytes(), counted(path, large)
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / path.name
        for number, (at, bit) in enumerate(cases(path, step, whole)[start:], start):
            flipped = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
            changed.write_bytes(flipped)
            print(json.dumps({"case": number, "at": at, "bit": bit}), flush=True)
            signal.alarm(LONGEST)
            Path("/proc/self/clear_refs").write_text("5")
            begin = time.process_time()
            try:
                said = counted(changed, large)
            except Exception as error:  # whatever it is, the test shows it
                said = f"raised: {error!r}"
            seconds = time.process_time() - begin
            status = Path("/proc/self/status").read_text().splitlines()
            (peak,) = (line.split()[1] for line in status if line.startswith("VmHWM"))
            line = {"said": "same" if said == right else said, "seconds": seconds}
            print(json.dumps({**line, "peak": int(peak) * 1024}), flush=True)


def read_in_processes(way: str, step: int, path: Path) -> Iterator[dict[str, Any]]:
    """Yield a line for each case; one that ended its process says so."""
    start = 0
    while True:
        command = [sys.executable, "-m", "tests.io.trust.flips", way, str(step), str(start), path]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        for case, took in zip(lines[::2], lines[1::2], strict=False):
            yield {"file": path.stem, **case, **took}
        if done.returncode == 0:
            return
        if not lines:
            raise AssertionError(done.stderr[-2000:])
        said = f"died: {done.returncode} {done.stderr.strip()[-200:]}"
        yield {"file": path.stem, **lines[-1 - (len(lines) + 1) % 2], "said": said}
        start = lines[-1 - (len(lines) + 1) % 2]["case"] + 1


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    read_all(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
