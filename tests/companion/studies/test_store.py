"""The store of studies: its key, its files, and tables that no number of processes changes."""

import importlib
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pandas as pd
import psutil
import pytest

import repeval
from repeval.companion.studies import STUDIES, result, store
from repeval.messages import RepevalError
from tests.companion.studies import doubling


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setitem(sys.modules, "repeval.companion.studies.doubling", doubling)


def test_every_study_is_listed_and_keeps_the_convention():
    for name in STUDIES:
        study = importlib.import_module(f"repeval.companion.studies.{name}")
        assert set(study.SIZES) == {"quick", "full"}
        assert set(study.SIZES["quick"]) == set(study.SIZES["full"])
        assert callable(study.tasks)
        assert callable(study.rows)


def test_processes_do_not_change_the_table():
    one = result("doubling", None)
    two = result("doubling", None, jobs=2)
    pd.testing.assert_frame_equal(one, two)
    assert one["drawn"].nunique() == len(one)


class Backwards(ThreadPoolExecutor):
    """What is waited for last is computed first, as a cluster may do."""

    def __init__(self):
        super().__init__(1)
        self.waiting = []

    def submit(self, function, /, *args):
        future = Future()
        self.waiting.append((future, function, args))
        if len(self.waiting) == 4:
            for future_, function_, args_ in reversed(self.waiting):
                future_.set_result(function_(*args_))
        return future


@pytest.mark.parametrize(
    "executor", [lambda: ThreadPoolExecutor(3), lambda: ProcessPoolExecutor(2), Backwards]
)
def test_no_executor_changes_the_table(executor, tmp_path):
    result("doubling", None, store=tmp_path / "one")
    with executor() as pool:
        for folder, jobs in (("two", 1), ("three", 5)):
            result("doubling", None, store=tmp_path / folder, jobs=jobs, executor=pool)
            if isinstance(pool, Backwards):
                pool.waiting.clear()
        # It is not ours to shut down.
        assert pool.submit(os.getpid) is not None
    files = [path for path in tmp_path.rglob("*.kept")]
    assert len(files) == 3
    assert len({path.read_bytes() for path in files}) == 1


def test_an_executor_that_loses_its_processes_is_told_in_a_sentence():
    with ProcessPoolExecutor(2) as pool, pytest.raises(RepevalError) as caught:
        list(store.each(die, range(4), 1, "doubling", pool))
    assert caught.value.code == "worker-ended"


def test_a_failing_piece_leaves_the_executor_open(monkeypatch):
    monkeypatch.setitem(doubling.SIZES, "quick", {"n": -1})
    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(ValueError, match="no piece"):
            result("doubling", None, executor=pool)
        assert pool.submit(abs, -1).result() == 1


def test_a_stored_table_is_read_and_not_computed(tmp_path, monkeypatch):
    first = result("doubling", None, store=tmp_path)
    monkeypatch.setattr(doubling, "rows", None)
    pd.testing.assert_frame_equal(result("doubling", None, store=tmp_path), first)
    assert [path.suffix for path in tmp_path.iterdir()] == [".kept"]


def test_numbers_come_back_to_the_last_bit_and_names_as_text(tmp_path):
    table = pd.DataFrame(
        {"model": ["1.0", "NA"], "x": [0.1 + 0.2, np.inf], "n": [1, 2], "y": [np.nan, 1.0]}
    )
    store.write(table, tmp_path / "a.json")
    pd.testing.assert_frame_equal(store.read(tmp_path / "a.json"), table)


def test_size_seed_and_data_change_the_key():
    data = repeval.load()
    keys = {
        store.key("doubling", None, {"n": 1}, 2606),
        store.key("doubling", None, {"n": 2}, 2606),
        store.key("doubling", None, {"n": 1}, 1),
        store.key("doubling", data, {"n": 1}, 2606),
        store.key("doubling", data.select(models=data.models[:2]), {"n": 1}, 2606),
        store.key("other", None, {"n": 1}, 2606),
    }
    assert len(keys) == 6


@pytest.mark.parametrize(
    ("edited", "changes"),
    [("stats/exact.py", True), ("companion/studies/store.py", True), ("io/outcomes.py", True),
     ("report/sentences.py", False), ("companion/plots/style.py", False), ("cli.py", False)],
)  # fmt: skip
def test_an_edit_changes_the_key_where_figures_may_change(edited, changes, tmp_path, monkeypatch):
    home = tmp_path / "repeval"
    shutil.copytree(
        repeval.__path__[0], home, ignore=shutil.ignore_patterns("__pycache__", "_share")
    )
    monkeypatch.setattr(repeval, "__file__", str(home / "__init__.py"))
    before = store.key("doubling", None, {}, 2606)
    with (home / edited).open("a") as file:
        file.write("\nZERO = 0\n")
    assert (store.key("doubling", None, {}, 2606) != before) == changes


def test_a_failing_piece_ends_the_study(monkeypatch, tmp_path):
    monkeypatch.setitem(doubling.SIZES, "quick", {"n": -1})
    with pytest.raises(ValueError, match="no piece"):
        result("doubling", None, jobs=2, store=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("left", ["", '{"twice": [0'])
def test_a_damaged_table_is_computed_again(left, tmp_path):
    first = result("doubling", None, store=tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_text()
    path.write_text(left)
    pd.testing.assert_frame_equal(result("doubling", None, store=tmp_path), first)
    assert path.read_text() == whole


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_told_in_a_sentence():
    with pytest.raises(RepevalError, match="that computed doubling was ended") as caught:
        list(store.each(die, range(4), 2, "doubling"))
    assert caught.value.code == "worker-ended"


ORPHAN = """\
from repeval.companion.studies import store
from tests.companion.studies.test_store import sleep
list(store.each(sleep, range(2), 2, "sleeping"))"""


def sleep(_):
    os.write(1, f"{os.getpid()}\n".encode())  # in one piece: two processes write
    time.sleep(600)


def test_processes_end_with_the_one_that_started_them():
    process = subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True)
    pids = [int(process.stdout.readline()) for _ in range(2)]
    process.kill()
    process.wait()
    deadline = time.monotonic() + 30
    while any(map(psutil.pid_exists, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(psutil.pid_exists, pids))
