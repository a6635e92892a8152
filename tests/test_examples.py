"""Every public name has an Example, and it gives what it prints."""

import doctest
import importlib

import pytest

import repeval

NAMES = [name for name in repeval.__all__ if name != "__version__"]


def examples(name):
    """What the docstrings of a public name, and of the methods of its class, have as doctests."""
    thing = getattr(repeval, name)
    module = importlib.import_module(thing.__module__)
    found = doctest.DocTestFinder().find(thing, name, module=module, globs={})
    return [test for test in found if test.examples]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """The folder in which the example of `load` has written its table."""
    monkeypatch.chdir(tmp_path)
    for test in examples("load"):
        doctest.DocTestRunner().run(test, out=lambda text: None)


@pytest.mark.parametrize("name", NAMES)
def test_the_example_gives_what_it_prints(name, table):
    tests = examples(name)
    assert name in [test.name for test in tests], f"repeval.{name} has no Example"
    printed = []
    for test in tests:
        doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert not printed, f"repeval.{name}:\n{''.join(printed)}"


@pytest.mark.parametrize("name", NAMES)
def test_an_example_shows_a_result_in_plain_numbers(name):
    """Results without the names of numpy's types, which not all its versions print."""
    results = [example.want for test in examples(name) for example in test.examples]
    assert any(results)
    assert not [want for want in results if "np." in want or "array(" in want]


INNER = ["report.gate", "report.leaderboard", "report.versus", "stats.leaderboard"]
INNER += ["report.plan", "report.subset", "stats.design.separate", "stats.design.subset"]
INNER += [f"stats.pairs.{name}" for name in ("gate", "looks", "margin", "noise", "power", "reruns")]
INNER += ["report.family", "report.items", "stats.pairs.items", "stats.pairs.many"]


@pytest.mark.parametrize("name", INNER)
def test_the_examples_of_inner_modules_give_what_they_print(name, table):
    found = doctest.testmod(importlib.import_module(f"repeval.{name}"))
    assert found.attempted
    assert not found.failed
