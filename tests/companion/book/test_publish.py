"""Publishing is one switch: whatever ends it, and whenever, a book is the old one or the new."""

import os
import subprocess
import sys

import pytest

from repeval.companion.book import publish as publishing
from repeval.companion.book.publish import publish, refuse_mounts, restore
from repeval.messages import RepevalError

from .conftest import CHECKOUT

FILES = ("analysis.json", "data/paper.csv", "_build/html/index.html", "_build/html/a/b.html")
MINE = ("notes.txt", "more/of/mine.txt")

# A child is killed before its first, second, ... call of the system, and after it, until one ends
# by itself. Where two steps must do, what the next build does first comes before the look.
KILLED = """\
import os, shutil, signal, sys
from pathlib import Path
from repeval.companion.book import publish as p
from tests.companion.book.test_publish import made, whole

# What only looks changes nothing; the exchange itself is told by what asks for its error.
CHANGING = ("rename", "replace", "mkdir", "link", "unlink", "rmdir", "open", "chmod", "get_errno")
top, exchange = Path(sys.argv[1]), sys.argv[2] == "exchange"
if not exchange:
    p._exchanged = lambda one, two: False
states = []
for last in range(100_000):
    shutil.rmtree(top, ignore_errors=True)
    home, root = made(top)
    child = os.fork()
    if child == 0:
        seen = 0
        def count(frame, event, argument):
            global seen
            if event[:2] == "c_" and argument.__name__ in CHANGING:
                seen += 1
                if seen == last:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.setprofile(count)
        p.publish(root, home)
        shutil.rmtree(root.parent)
        sys.setprofile(None)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not exchange:
        p.restore(home)
    states.append(whole(home))
    if last and status == 0:
        break
print(*states)"""


def put(folder, names, text):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def made(top):
    """An old book with files of a person beside it, and a stage with a new one."""
    home, root = top / "paper", top / ".stage" / "paper" / "stage-x" / "book"
    put(home, [name.removeprefix("_build/") for name in FILES], "old")
    put(home, ["pdf/old.pdf"], "old")
    put(home, MINE, "mine")
    put(root, FILES, "new")
    return home, root


def whole(home):
    """Return which book a folder has: "old", "new", or what it is made of."""
    found = {p.relative_to(home).as_posix(): p.read_text() for p in home.rglob("*") if p.is_file()}
    books = {}
    for age, more in (("old", ["pdf/old.pdf"]), ("new", [])):
        names = [*(name.removeprefix("_build/") for name in FILES), *more]
        books[age] = dict.fromkeys(names, age) | dict.fromkeys(MINE, "mine")
    return next((age for age, book in books.items() if book == found), repr(found))


@pytest.mark.parametrize("how", ["exchange", "two-steps"])
def test_a_kill_at_any_moment_leaves_a_whole_book(how, tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "books"), how]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    states = done.stdout.split()
    assert len(states) > 50
    assert set(states) == {"old", "new"}
    # Never back and forth; the first stands for a run that nothing ended.
    assert states[1:] == sorted(states[1:], reverse=True)
    assert states[0] == states[-1] == "new"


@pytest.mark.parametrize("exchange", [True, False])
def test_a_rename_that_fails_leaves_the_old_book(exchange, tmp_path, monkeypatch):
    if not exchange:
        monkeypatch.setattr(publishing, "_exchanged", lambda *_: False)
    rename, failed = type(tmp_path).rename, []
    for last in range(20):
        home, root = made(tmp_path / str(last))
        calls = []

        def failing(path, target, last=last, calls=calls):
            calls.append(path)
            if len(calls) == last:
                raise OSError(5, os.strerror(5))
            return rename(path, target)

        with monkeypatch.context() as patched:
            patched.setattr("pathlib.Path.rename", failing)
            patched.setattr("pathlib.Path.replace", failing)
            try:
                publish(root, home)
            except OSError:
                failed.append(last)
        restore(home)
        # The last step in two only moves the old book away: the new one is there by then.
        assert whole(home) in ({"old"} if exchange and last in failed else {"old", "new"})
    assert failed
    assert whole(home) == "new"


def test_an_exchange_that_fails_leaves_the_old_book(tmp_path, monkeypatch):
    home, root = made(tmp_path)

    def refuse(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(publishing, "_exchanged", refuse)
    with pytest.raises(OSError, match="No space"):
        publish(root, home)
    assert whole(home) == "old"


def test_the_first_book_has_no_place_to_change_with(tmp_path):
    _, root = made(tmp_path)
    assert publish(root, tmp_path / "other") == tmp_path / "other" / "html" / "index.html"
    assert (tmp_path / "other/html/index.html").read_text() == "new"


@pytest.mark.parametrize("mounted", ["paper/html", "paper", "paper/more/of"])
def test_a_mount_point_in_the_way_is_refused_and_nothing_lost(mounted, tmp_path):
    home, root = made(tmp_path)
    other = tmp_path / "other"
    put(other, ["volume.txt"], "volume")
    mount = ["mount", "--bind", str(other), str(tmp_path / mounted)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting needs the privilege to")
    try:
        with pytest.raises(RepevalError, match="is a mount point") as caught:
            publish(root, home)
        assert caught.value.code == "mounted-book"
        assert (other / "volume.txt").read_text() == "volume"
    finally:
        subprocess.run(["umount", str(tmp_path / mounted)], check=True)
    assert whole(home) == "old"
    assert publish(root, home)
    assert whole(home) == "new"


def test_books_may_all_lie_on_a_volume_of_their_own(tmp_path):
    """As `_build` does where a container mounts it: nothing is switched across its edge."""
    (tmp_path / "volume").mkdir()
    (tmp_path / "_build").mkdir()
    mount = ["mount", "--bind", str(tmp_path / "volume"), str(tmp_path / "_build")]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting needs the privilege to")
    try:
        home, root = made(tmp_path / "_build")
        publish(root, home)
        assert whole(home) == "new"
    finally:
        subprocess.run(["umount", str(tmp_path / "_build")], check=True)
    assert whole(tmp_path / "volume" / "paper") == "new"


@pytest.mark.parametrize("linked", ["paper", "paper/html"])
def test_a_link_in_the_way_is_refused_and_stays(linked, tmp_path):
    home, root = made(tmp_path)
    moved = (tmp_path / linked).rename(tmp_path / "elsewhere")
    (tmp_path / linked).symlink_to(moved)
    with pytest.raises(RepevalError, match="is a link"):
        refuse_mounts(home)
    with pytest.raises(RepevalError, match="is a link"):
        publish(root, home)
    assert (tmp_path / linked).is_symlink()
    (tmp_path / linked).unlink()
    moved.rename(tmp_path / linked)
    assert whole(home) == "old"
