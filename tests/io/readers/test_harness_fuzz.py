"""Damaged and hostile logs of harnesses: one message, never a crash, and no reader for two."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repeval import load
from repeval.io import readers
from repeval.messages import RepevalError

from . import (
    eee_logs,
    evalplus_logs,
    lm_eval_logs,
    openai_evals_logs,
    promptfoo_logs,
    swebench_logs,
)
from .asked import refusal
from .test_fuzz import HOSTILE, places, spoil

#: Lists of lines are JSON Lines.
NAMES = {
    "lm_eval": "samples_t_2026-11-30T07-33-05.3.jsonl", "swebench": "m.run_1.json",
    "evalplus": "m_eval_results.json", "promptfoo": "out.json", "openai_evals": "run.jsonl",
    "eee": "6d866c28-d9a3-40b2-b383-b5e1342c8013_samples.jsonl",
}  # fmt: skip
FORMATS = sorted(NAMES)
SYSTEM = {("m", "p"): [[1, 0], [0, "error"]]}


def content(name, text=""):
    """A small log that holds a text where names may be."""
    if name == "lm_eval":
        filters = {f"f{text}": {f"acc{text}": float}, "g": {"em": float}}
        return lm_eval_logs.lines([1, 0, 1], filters=filters, repeats=2)
    if name == "swebench":
        ids = [f"{text}{i}" for i in range(5)]
        return swebench_logs.report([1, 0, "empty", "error", None], ids)
    if name == "evalplus":
        return evalplus_logs.results([[1, 0], [None, 1]], [[1, 1], [1, 0]], task=f"T{text}")
    if name == "promptfoo":

        def case(i):
            return {"description": f"{i}{text}", "metadata": {f"k{text}": text}}

        systems = {(f"m{text}", f"p{text}"): SYSTEM["m", "p"]}
        return promptfoo_logs.output(systems, case=case, evaluation=f"e{text}")
    if name == "eee":
        about = {"metadata": {f"k{text}": text, "condition": f"c{text}"}, "model": f"m{text}"}
        scores = {f"a{text}": float, "f1": lambda y: (1 + y) / 2}
        return eee_logs.rows([[1, 0], [0, None], [1, 1]], task=f"t{text}", results=scores, **about)
    metrics = {f"m{text}": float, "f1": float}
    return openai_evals_logs.events([1, 0, None], model=f"m{text}", metrics=metrics)


def write(folder, name, whole):
    path = folder / NAMES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = whole if isinstance(whole, list) else [whole]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def read_all(path, **options):
    """Read a log by every scorer that a refusal offers; return the data."""
    with contextlib.suppress(RepevalError):
        return [load(path, **options)]
    error = refusal(path, **options)
    if error.code != "several-scorers":
        return []
    ways = error.text.partition("Type ")[2].removesuffix(".").split(" or ")
    found = []
    for way in ways:
        with contextlib.suppress(RepevalError):
            found.append(load(path, scorer=way.removeprefix("--scorer "), **options))
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_only_its_own_reader_knows_it(tmp_path, name):
    path = write(tmp_path, name, content(name))
    head = path.read_bytes()[: 2**16]
    assert [r for r in readers.READERS if readers.reader(r).sniff(path, head)] == [name]
    assert readers.find(path).reader is readers.reader(name)
    assert read_all(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_all(path)


@pytest.mark.parametrize("name", FORMATS)
def test_half_a_log_is_one_message(tmp_path, name):
    path = write(tmp_path, name, content(name))
    whole = path.read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        error = refusal(path, format=name)
        # Lines that are not there yet leave an empty log.
        assert error.code == "unreadable-log" or (error.code, size) == ("no-samples", 0)
        assert path.name in error.text
        assert "\n" not in error.text


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_wrong_types_anywhere(tmp_path_factory, name, data):
    whole = json.loads(json.dumps(content(name)))
    spots = [place for place in places(whole) if place]
    for place in data.draw(st.lists(st.sampled_from(spots), min_size=1, max_size=2)):
        spoil(whole, place, data)
    path = write(tmp_path_factory.mktemp("fuzz"), name, whole)
    read_all(path, format=name)
    with contextlib.suppress(RepevalError):
        load(path)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_damaged_bytes(tmp_path_factory, name, data):
    path = write(tmp_path_factory.mktemp("fuzz"), name, content(name))
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    gone = data.draw(st.sampled_from([0, 1, 4, len(whole)]))
    path.write_bytes(whole[:at] + data.draw(st.binary(max_size=8)) + whole[at + gone :])
    read_all(path, format=name)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("name", FORMATS)
def test_hostile_names_are_only_text(tmp_path, monkeypatch, name, text):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, name, content(name, text))
    found = read_all(path)
    assert found
    for data in found:
        for notice in data.notices:
            notice.text.encode()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", FORMATS)
def test_half_characters_are_one_message_or_a_mark(tmp_path, name):
    path = write(tmp_path, name, content(name, "\ud800"))
    for data in read_all(path):
        for notice in data.notices:
            notice.text.encode()


@pytest.mark.parametrize("name", FORMATS)
def test_deeply_nested_json(tmp_path, name):
    path = tmp_path / NAMES[name]
    path.write_text('{"eval": ' + "[" * 100_000)
    assert refusal(path, format=name).code == "unreadable-log"
