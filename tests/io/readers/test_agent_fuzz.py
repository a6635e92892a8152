"""Damaged logs of agent harnesses: one message, never a crash, and no reader takes another's."""

from __future__ import annotations

import contextlib
import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repeval import load
from repeval.io import readers
from repeval.messages import RepevalError

from .agent_logs import CRASHED, harbor, tau2_bench, tau_bench, terminal_bench
from .asked import TENSOR, outcomes_of, refusal
from .test_fuzz import places, spoil

#: A few trials, some of which went wrong, in every layout.
SMALL = [[1, 0], [0, None]]
NULL = {"is_resolved": None, "failure_mode": "parse_error"}
EXCEPTION = {"exception_info": {"exception_type": "E"}, "verifier_result": None}
WRITTEN = {
    "tau_bench": lambda path: tau_bench(path / "m.json", SMALL, {(0, 1): CRASHED}),
    "tau2_bench": lambda path: tau2_bench(path / "m", SMALL, {(0, 1): {"reward_info": None}}),
    "terminal_bench": lambda path: terminal_bench(path / "m", SMALL, {(0, 1): NULL}, meta={}),
    "harbor": lambda path: harbor(path / "m", SMALL, {(0, 1): EXCEPTION}),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_only_its_own_reader_knows_it_and_half_of_it_is_one_message(tmp_path, name):
    path = WRITTEN[name](tmp_path)
    assert readers.find(path).reader is readers.reader(name)
    known = [other for other in readers.READERS if readers.reader(other).sniff(path, head(path))]
    assert known == [name]
    for file in files(path):
        whole = file.read_bytes()
        for size in (0, 1, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:size])
            error = refusal(path, format=name)
            # Where the only file that tells a directory is damaged, nothing tells what it is.
            lost = name == "tau2_bench" and file.name == "results.json"
            assert error.code == "unreadable-log" or (lost and error.code == "no-tables")
            assert lost or file.name in error.text
            assert "\n" not in error.text
        file.write_bytes(whole)
    load(path)


def head(path):
    return path.read_bytes()[: 2**16] if path.is_file() else b""


def files(path):
    """What is read of a log."""
    inside = [path] if path.is_file() else sorted(path.rglob("*.json"))
    return [file for file in inside if file.name != "config.json"]


def test_a_text_about_logs_is_no_log(tmp_path):
    quoted = [file.read_text() for write in WRITTEN.values() for file in files(write(tmp_path))]
    text = "# Formats\n\n" + "\n".join(quoted)
    for name in readers.READERS:
        assert not readers.reader(name).sniff(tmp_path / "README.md", text.encode())


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_wrong_types_anywhere(tmp_path_factory, name, data):
    folder = tmp_path_factory.mktemp("fuzz")
    path = WRITTEN[name](folder)
    file = data.draw(st.sampled_from(files(path)))
    whole = json.loads(file.read_text())
    for place in data.draw(st.lists(st.sampled_from(list(places(whole))[1:]), max_size=2)):
        spoil(whole, place, data)
    file.write_text(json.dumps(whole))
    for options in ({}, {"format": name}):
        with contextlib.suppress(RepevalError):
            load(path, **options)
    shutil.rmtree(folder)


@pytest.mark.parametrize("name", ["../x", "<b>", "a\nb", "模型", "=cmd()", " ", "a.1-of-2.b"])
def test_hostile_names_are_only_text(tmp_path, name):
    ids = [f"{name}{i}" for i in range(12)]

    def called(key):
        return {(i, r): {key: ids[i]} for i in range(12) for r in range(3)}

    made = [
        tau_bench(tmp_path / "m.json", TENSOR, called("task_id")),
        tau2_bench(tmp_path / "2.json", TENSOR, called("task_id"), model="m"),
        harbor(tmp_path / "job", TENSOR, called("task_name")),
    ]
    for path in made:
        assert outcomes_of(load(path), ids=ids) == TENSOR
