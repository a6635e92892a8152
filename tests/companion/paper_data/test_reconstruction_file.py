"""The shipped stand-in file: its bytes, its checksum, the command that writes it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from repeval.companion.paper_data.reconstruction import main, to_bytes
from repeval.io.registry import registry

DATA = Path(__file__).resolve().parents[3] / "data"
SHIPPED = (DATA / "reconstruction.csv.gz").read_bytes()
STREAM = [-1.4131047531880654, 0.1474861095288165, 471, 422, 0, 1, 3, 2]


def test_gzip_header_carries_neither_time_nor_name():
    assert SHIPPED[3] == 0
    assert SHIPPED[4:8] == bytes(4)


def test_checksum_is_stated_in_the_readme_and_the_registry():
    digest = hashlib.sha256(SHIPPED).hexdigest()
    assert digest in (DATA / "README.md").read_text("utf-8")
    entry = registry()["reconstruction"]
    assert entry["sha256"] == digest
    targets = json.loads((DATA / "reconstruction-targets.json").read_text("utf-8"))
    assert entry["excluded_systems"] == targets["excluded_systems"]


def test_rows_survive_reading_and_writing():
    frame = pd.read_csv(io.BytesIO(SHIPPED), compression="gzip", dtype={"problem": str})
    assert gzip.decompress(to_bytes(frame)) == gzip.decompress(SHIPPED)


def test_command_writes_the_shipped_rows(tmp_path):
    rng = np.random.default_rng(2606)
    stream = [rng.normal(), rng.exponential(), *rng.integers(1000, size=2), *rng.permutation(4)]
    if stream != pytest.approx(STREAM, abs=1e-12):
        pytest.skip("this numpy draws other streams; test_reconstruction checks the figures")
    target = tmp_path / "again.csv.gz"
    main(["-o", str(target)])
    assert gzip.decompress(target.read_bytes()) == gzip.decompress(SHIPPED)


def test_command_needs_an_output_file(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    assert "--output" in capsys.readouterr().err


def test_command_says_what_it_cannot_write(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["-o", str(tmp_path / "no such directory" / "x.csv.gz")])
    assert stop.value.code == 2
    assert "cannot write" in capsys.readouterr().err
