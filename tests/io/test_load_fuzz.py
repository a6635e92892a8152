"""`load` on random tables and damaged files, and how long it takes."""

from __future__ import annotations

import contextlib
import time

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repeval import load
from repeval.messages import RepevalError
from tests.io.tiny import GOOD, HEAD, same

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.tuples(text, text, text, text), st.floats(0, 1), min_size=2, max_size=8),
    text,
)
def test_to_csv_reads_back_identically(tmp_path_factory, cells, label):
    if len({key[2] for key in cells}) < 2:
        return
    path = tmp_path_factory.mktemp("fuzz") / "in.jsonl"
    names = ("model", "condition", "problem", "run")
    frame = pd.DataFrame(
        [dict(zip(names, key, strict=True), outcome=y, item_id=label) for key, y in cells.items()]
    )
    path.write_text(frame.to_json(orient="records", lines=True), encoding="utf-8")
    one = load(path, columns="problem=problem")
    one.to_csv(path.with_name("out.csv.gz"))
    same(one, load(path.with_name("out.csv.gz")))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damage_is_refused_or_read_never_a_crash(tmp_path_factory, data):
    good = data.draw(st.sampled_from([GOOD, GOOD.replace(",", ";")])).encode()
    at = data.draw(st.integers(0, len(good)))
    new = data.draw(st.one_of(st.binary(max_size=6), st.sampled_from([b'"', b"\r", b"\n", b"\0"])))
    path = tmp_path_factory.mktemp("fuzz") / data.draw(st.sampled_from(["a.csv", "a.jsonl"]))
    path.write_bytes(good[:at] + new + good[at + data.draw(st.integers(0, 4)) :])
    with contextlib.suppress(RepevalError):
        load(path)


@pytest.mark.bench
def test_sixteen_thousand_rows_load_fast(tmp_path):
    path = tmp_path / "big.csv"
    rows = [f"m{m},p{p},{r},{(m * p + r) % 2}" for m in range(32) for p in range(100)
            for r in range(5)]  # fmt: skip
    path.write_text(HEAD + "\n".join(rows))
    load(path)
    start = time.process_time()
    data = load(path)
    loaded = time.process_time()
    for system in data.systems:
        data.system(*system)
    assert loaded - start < 0.15
    assert time.process_time() - loaded < 0.02
