"""Damaged, foreign and hostile logs: one message that names the file, never a crash."""

from __future__ import annotations

import contextlib
import json
import struct
import time
import zipfile

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repeval import load
from repeval.messages import RepevalError

from .asked import TENSOR, outcomes_of, refusal
from .inspect_logs import log, members, write, zstandard

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    | st.sampled_from(["\ud800", 10**400, "C", "1e999"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner,
                                                                max_size=2),
    max_leaves=4,
)  # fmt: skip


def places(value, here=()):
    """Every place in a JSON value, as keys and positions."""
    yield here
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*here, key))


def spoil(whole, place, data):
    """Put anything at a place of a JSON value, or take it out."""
    with contextlib.suppress(LookupError, TypeError):
        part = whole
        for key in place[:-1]:
            part = part[key]
        if data.draw(st.booleans()):
            part[place[-1]] = data.draw(anything)
        else:
            del part[place[-1]]


WHOLE = json.loads(json.dumps(log(TENSOR[:3], errors=[(0, 0)], limits={"message_limit": 3})))
PLACES = [place for place in places(WHOLE) if place]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_wrong_types_anywhere(tmp_path_factory, data):
    whole = json.loads(json.dumps(WHOLE))
    for place in data.draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=2)):
        spoil(whole, place, data)
    folder = tmp_path_factory.mktemp("fuzz")
    path = folder / "a.json"
    path.write_text(json.dumps(whole))
    with contextlib.suppress(RepevalError):
        load(path, format="inspect")
    archive = folder / "a.eval"
    archive.touch()
    # The generator, too, may stumble over what was put in.
    with contextlib.suppress(LookupError, TypeError, AttributeError, ValueError):
        write(archive, whole, summaries=data.draw(st.booleans()))
    with contextlib.suppress(RepevalError):
        load(archive, format="inspect")


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_damaged_bytes(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("fuzz")
    kind = data.draw(st.sampled_from(["stored.eval", "deflated.eval", "zstandard.eval", "a.json"]))
    path = folder / kind
    if kind.startswith("zstandard"):
        pytest.importorskip("pyarrow")
        path.write_bytes(zstandard(members(WHOLE)))
    else:
        method = zipfile.ZIP_STORED if kind.startswith("stored") else zipfile.ZIP_DEFLATED
        write(path, WHOLE, method=method)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    gone = data.draw(st.sampled_from([0, 1, 4, len(whole)]))
    path.write_bytes(whole[:at] + data.draw(st.binary(max_size=8)) + whole[at + gone :])
    with contextlib.suppress(RepevalError):
        load(path)
    with contextlib.suppress(RepevalError):
        load(path, format="inspect")


@pytest.mark.parametrize("size", [0, 3, 40, 400, -1, -30])
def test_a_truncated_archive_is_one_message(tmp_path, size):
    path = write(tmp_path / "a.eval", WHOLE)
    path.write_bytes(path.read_bytes()[:size])
    error = refusal(path, format="inspect")
    assert error.code == "unreadable-log"
    assert "a.eval" in error.text
    assert "\n" not in error.text


def without(path, *gone):
    """Write the archive of a log without some of its members."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members(WHOLE).items():
            if name not in gone:
                archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    "gone", ["header.json", "summaries.json", "_journal/start.json", "samples/q0_epoch_1.json"]
)
def test_one_missing_member_loses_nothing(tmp_path, gone):
    whole, cut = load(write(tmp_path / "a.eval", WHOLE)), load(without(tmp_path / "b.eval", gone))
    pd.testing.assert_frame_equal(whole.frame, cut.frame)


@pytest.mark.parametrize("gone", [["_journal/start.json", "header.json"], list(members(WHOLE))])
def test_an_archive_without_a_header_is_one_message(tmp_path, gone):
    error = refusal(without(tmp_path / "a.eval", *gone), format="inspect")
    assert error.code == "unreadable-log"


HOSTILE = ["../../etc/passwd", "<script>alert(1)</script>", "a\x1b[31m", "\u202eabc", "=cmd()",
           "a\nb", "C:\\x", "模型", "|`*_", " "]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_only_text(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    whole = log(TENSOR, model=name, ids=[f"{name}{i}" for i in range(12)], task=name,
                metadata=lambda i: {name: name})  # fmt: skip
    for file in ("a.eval", "a.json"):
        data = load(write(tmp_path / file, whole))
        assert data.models == (name,)
        assert outcomes_of(data, name, [f"{name}{i}" for i in range(12)]) == TENSOR
    assert {path.name for path in tmp_path.iterdir()} == {"a.eval", "a.json"}


def test_half_characters_in_names_are_refused(tmp_path):
    for change in ({"model": "\ud800"}, {"task": "\ud800"}):
        whole = log(TENSOR)
        whole["eval"] |= change
        assert refusal(write(tmp_path / "a.json", whole)).code == "unreadable-log"
    half = {"\ud800": "\ud800"}
    whole = log(TENSOR, metadata=lambda i: half, config={"system_message": "\ud800"})
    other = write(tmp_path / "b.json", log(TENSOR, model="n"))
    data = load([write(tmp_path / "a.json", whole), other])
    assert "?" in data.labels
    for notice in data.notices:
        notice.text.encode()


def bomb(path, name, size):
    """An archive whose member is `size` zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, content in members(WHOLE).items():
            if other != name:
                archive.writestr(other, content)
        with archive.open(name, "w") as file:
            for _ in range(size // 2**20):
                file.write(bytes(2**20))


def test_a_zip_bomb_is_refused_without_inflating_it(tmp_path):
    path = tmp_path / "a.eval"
    bomb(path, "summaries.json", 2**29)
    start = time.process_time()
    error = refusal(path)
    assert error.code == "member-too-large"
    assert time.process_time() - start < 1
    # Nor is more inflated than the archive admits to.
    whole = path.read_bytes()
    path.write_bytes(whole.replace(struct.pack("<I", 2**29), struct.pack("<I", 2**20)))
    error = refusal(path)
    assert error.code == "unreadable-log"


def test_deeply_nested_json(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"version": 2, "status": "success", "eval": {"task": ' + "[" * 100_000)
    assert refusal(path).code == "unreadable-log"
