"""A real build ended from outside at moments nobody chose: the book is the old one or the new."""

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

from .conftest import CHECKOUT, CODE, make_outcomes, make_share, write_notebook
from .test_build import COMMAND
from .test_publish import put

SEED, KILLS = 2606, 3


def contents(home):
    return {
        path.relative_to(home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in home.rglob("*")
        if path.is_file()
    }


def prepared(folder, old):
    """Return the place of an old book beside which another one is to be built."""
    home = folder / "_build" / "mine"
    shutil.copytree(old, home)
    put(home, ["notes.txt"], "mine")
    make_outcomes(folder)
    write_notebook(make_share(folder / "share"), "notebooks/both", code=CODE + "\nx = 'another'")
    return home


def begun(folder, token):
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "REPEVAL_TEST": token}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND], cwd=folder, env=environment, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def descended(token, known=()):
    """Return the processes that still run of a build: those seen before, or with its mark."""
    found = []
    for process in psutil.process_iter():
        try:
            ours = process in known or process.environ().get("REPEVAL_TEST") == token
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


@pytest.mark.full
def test_kills_at_random_moments_of_a_build_leave_a_whole_book_and_no_process(book, tmp_path):
    home = prepared(tmp_path / "whole", book[0])
    old, start = contents(home), time.monotonic()
    whole = begun(tmp_path / "whole", "whole")
    said = whole.communicate()[1]
    assert whole.returncode == 0, said
    takes, new = time.monotonic() - start, contents(home)
    assert new != old
    moments = random.Random(SEED)
    for n in range(KILLS):
        folder = tmp_path / str(n)
        home = prepared(folder, book[0])
        process = begun(folder, str(n))
        time.sleep(takes * moments.random())
        known = [process, *psutil.Process(process.pid).children(recursive=True)]
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # Kernels and workers look whether the build is there, each second or so.
        deadline = time.monotonic() + 60
        while (left := descended(str(n), known)) and time.monotonic() < deadline:
            time.sleep(0.2)
        for one in left:
            one.kill()
        assert not left
        assert contents(home) in (old, new)
        # What is left behind is in nobody's way.
        again = begun(folder, "again")
        said = again.communicate()[1]
        assert again.returncode == 0, said
        assert contents(home) == new
