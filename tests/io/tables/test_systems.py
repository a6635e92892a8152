"""Systems named by models of the data, or by a path each."""

import pytest

from repeval.io.tables.systems import sorted_words, systems
from repeval.messages import RepevalError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()  # may be the name of a model, too
    for name, text in (("a.csv", "1"), ("b.csv", "2"), ("c.csv", "3"), ("copy.csv", "1")):
        (tmp_path / name).write_text(text)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["base", "x", "a.csv", "y"], (["base", "x", "y"], ["a.csv"])),
        (["base", "m=a.csv", "n=b.csv"], (["base"], ["m=a.csv", "n=b.csv"])),
        (["base", "gone.csv"], (["base"], ["gone.csv"])),
        (["a.csv", "b.csv", "x=c.csv"], (["a.csv", "b.csv", "x=c.csv"], [])),
        (["gpt-4.1", "gpt=4"], (["gpt-4.1", "gpt=4"], [])),
        (["a.csv", "model"], (["a.csv", "model"], [])),
        (["folder", "model", "a.csv"], (["folder", "model"], ["a.csv"])),
    ],
)
def test_paths_among_words_are_data_unless_the_baseline_is_one(words, found):
    assert sorted_words(words) == found


def test_names_of_models_or_a_path_each():
    assert systems(["x", "y"], []) == (["x", "y"], [])
    assert systems(["a", "b"], ["a.csv"]) == (["a", "b"], ["a.csv"])
    named = systems(["a.csv", "new=b.csv", "c.csv"], [])
    assert named == (["a", "new", "c"], ["a=a.csv", "new=b.csv", "c=c.csv"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["a.csv", "gone.csv"], "gone.csv: there is no such file"),
        (["a.csv", "b.csv", "copy.csv"], "a.csv and copy.csv are the same file"),
        (["x=b.csv", "a.csv", "x=c.csv"], "have one name; type NAME=PATH"),
        (["a.csv", "model"], "model: there is no such file"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, words):
    with pytest.raises(RepevalError, match=words):
        systems(given, [])
