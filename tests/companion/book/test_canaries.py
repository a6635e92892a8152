"""What others left where a build looks: nothing of it runs, nothing of it changes a byte."""

import os
import shutil
import subprocess
import sys
from functools import partial

import pytest

from repeval.companion import kept
from repeval.companion.book import build
from repeval.companion.book.process import clean
from repeval.messages import RepevalError

from .conftest import CHECKOUT

BUILD = """\
import os, sys
from pathlib import Path
os.environ["PYTHONSTARTUP"] = os.path.join(os.environ["HOME"], "canary.py")
from repeval.companion.book import build
from tests.companion.book.conftest import make_outcomes
build(make_outcomes(Path(sys.argv[1]), basis="stand-in"), share=Path(sys.argv[2]))"""
RC = "backend: module://canary\nfigure.facecolor: red\nlines.linewidth: 9\nfont.size: 30\n"


def plant(folder, mark):
    """Leave code in every place of a folder from which Python, Jupyter or matplotlib take some."""
    code = f"open({str(mark)!r}, 'a').write(__file__ + '\\n')\n"
    spec = f'{{"argv": ["touch", "{mark}"], "display_name": "Python 3", "language": "python"}}'
    codes = (
        "canary.py", "numpy.py", "seaborn.py", "sitecustomize.py", "usercustomize.py",
        "ipython_config.py", "jupyter_config.py", "jupyter_nbconvert_config.py", "conf.py",
        "profile_default/ipython_config.py", "profile_default/startup/00-canary.py",
        ".ipython/profile_default/startup/00-canary.py", ".jupyter/jupyter_config.py",
        ".ipython/profile_default/ipython_config.py",
        ".local/lib/python3.11/site-packages/usercustomize.py",
    )  # fmt: skip
    texts = dict.fromkeys(codes, code)
    kernel = "kernels/python3/kernel.json"
    texts |= dict.fromkeys((kernel, f".local/share/jupyter/{kernel}", f"jupyter/{kernel}"), spec)
    texts |= dict.fromkeys(("matplotlibrc", ".config/matplotlib/matplotlibrc"), RC)
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_nothing_that_was_planted_runs_or_changes_a_byte(book, tmp_path):
    home, share, _ = book
    mark, work, other = tmp_path / "ran", tmp_path / "work", tmp_path / "home"
    for folder in (work, other, work / "_build", work / "_build/paper"):
        folder.mkdir()
        plant(folder, mark)
    plant(work / "_build/.cache", mark)
    plant(work / "_build/.cache/ipython", mark)
    plant(work / "_build/.stage/paper/stage-old/home", mark)
    # The store has every page, but none as it was written.
    shutil.copytree(home.parent / ".store", work / "_build/.store")
    for path in work.glob("_build/.store/*/*"):
        path.write_bytes(path.read_bytes().replace(b"model-a", b"model-X"))
    planted = ("IPYTHONDIR", "JUPYTER_PATH", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR",
               "MPLCONFIGDIR", "XDG_CONFIG_HOME")  # fmt: skip
    environment = {
        **os.environ, **dict.fromkeys(planted, str(other)), "HOME": str(other),
        "MATPLOTLIBRC": str(other / "matplotlibrc"), "PYTHONPATH": str(CHECKOUT),
    }  # fmt: skip
    command = [sys.executable, "-P", "-c", BUILD, str(tmp_path), str(share)]
    subprocess.run(command, cwd=work, env=environment, check=True, capture_output=True)
    assert not mark.exists(), mark.read_text()
    files = [p.relative_to(home) for p in home.rglob("*") if p.is_file()]
    files = [f for f in files if "failed" not in f.parts]
    built = work / "_build/paper"
    assert len(files) > 20
    assert [f for f in files if (home / f).read_bytes() != (built / f).read_bytes()] == []
    # What is not the book's own stayed beside it.
    assert (built / "canary.py").exists()


def test_the_environment_of_a_build_configures_nothing():
    given = {"PATH": "p", "PYTHONHOME": "h", "PYTHONSTARTUP": "x", "PYTHONOPTIMIZE": "2",
             "IPYTHONDIR": "x", "JUPYTER_PATH": "x", "MPLBACKEND": "x", "MATPLOTLIBRC": "x",
             "DOCUTILSCONFIG": "x", "LANG": "C"}  # fmt: skip
    found = clean(given)
    assert {k: v for k, v in found.items() if k in given} == {
        "PATH": "p", "PYTHONHOME": "h", "LANG": "C",
    }  # fmt: skip
    assert "x" not in found.values()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the superuser")
@pytest.mark.parametrize("part", ["_build", "_build/.store", "_build/.store/pages", "_build/paper"])
def test_a_folder_of_somebody_else_is_refused(part, share, outcomes, tmp_path):
    folder = tmp_path / part
    folder.mkdir(parents=True)
    os.chown(folder, 12345, 12345)
    page = tmp_path / "_build/.store/pages/x.kept"
    look = partial(kept.read, page) if "store" in part else partial(
        build, outcomes, share=share, directory=tmp_path
    )
    with pytest.raises(RepevalError, match="belongs to another user"):
        look()


def test_what_is_kept_comes_back_only_as_it_was_written(tmp_path):
    path = tmp_path / "a.kept"
    assert kept.read(path) is None
    kept.keep(path, "text\nmore")
    assert kept.read(path) == "text\nmore"
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole + b"x", whole.replace(b"more", b"mote"), b"", b"\xff\n"):
        path.write_bytes(damaged)
        assert kept.read(path) is None


def test_what_is_unused_is_dropped(tmp_path):
    for name, days in (("old", 40), ("older", 2), ("new", 1)):
        path = tmp_path / f"{name}.kept"
        kept.keep(path, "x" * 100)
        now = path.stat().st_mtime
        os.utime(path, (now - days * 86400, now - days * 86400))
    kept.prune(tmp_path)
    assert {p.stem for p in tmp_path.iterdir()} == {"older", "new"}
    kept.prune(tmp_path, most=200)
    assert {p.stem for p in tmp_path.iterdir()} == {"new"}
