"""Real builds, on two small notebooks that the tests write."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

import repeval
from repeval.companion.book import BuildFailed, build
from repeval.companion.book.execute import LIMITS
from repeval.messages import RepevalError
from repeval.report.format import STAND_IN

from .conftest import CHECKOUT, HOSTILE, lost_sources, make_outcomes, make_share, write_notebook

CRASH = "x = 1\nraise ArithmeticError('the sum is wrong')"
SLOW = """\
import os, pathlib, subprocess, sys, time
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("../../../../part").write_text(f"{os.getppid()} {os.getpid()} {worker.pid}")
pathlib.Path("../../../../part").rename("../../../../started")
time.sleep(600)"""
COMMAND = """\
import pathlib, signal, sys
from repeval import cli
from repeval.companion import book
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
sys.modules["repeval.companion.book.build"].share_dir = lambda: pathlib.Path("share")
sys.exit(cli.main(["build", "runs.csv", "--columns", "problem=problem", "--name", "mine"]))"""


def pages(home):
    found = (p.relative_to(home / "html").as_posix() for p in home.glob("html/*/*.html"))
    return {page for page in found if page.startswith(("book/", "notebooks/"))}


def test_everything_is_published_and_nothing_else_is_left(book):
    home, _, outcomes = book
    assert {p.name for p in home.iterdir()} == {
        "analysis.json", "summary.md", "summary.html", "data", "figures", "html", "notebooks",
        "tables",
    }  # fmt: skip
    summary = (home / "summary.html").read_text(encoding="utf-8")
    assert STAND_IN in (home / "summary.md").read_text(encoding="utf-8")
    assert "REPORT CARD" in summary
    assert "<table>" in summary
    assert "<th></th>" not in summary
    assert re.findall("<h[1-6]>", summary)[:2] == ["<h1>", "<h2>"]
    assert (home / "html" / "index.html").exists()
    assert {"notebooks/both.html", "notebooks/paper-only.html"} < pages(home)
    assert json.loads((home / "analysis.json").read_text())["data"]["basis"] == "stand-in"
    kinds = ("csv", "png", "svg")
    assert sorted(p.name for p in (home / "figures").iterdir()) == [
        f"{name}.stand-in.{kind}" for name in ("both", "paper-only") for kind in kinds
    ]
    page = (home / "html/notebooks/both.html").read_text(encoding="utf-8")
    links = re.findall(r'href="\.\./(figures/[^"]+)"', page)
    assert len(links) == len(kinds)
    assert all((home / "html" / link).is_file() for link in links)
    assert outcomes.source.n_rows == 72


def test_stand_in_data_are_named_on_every_page_and_in_captions(book):
    home, *_ = book
    for page in pages(home):
        assert STAND_IN in (home / "html" / page).read_text(encoding="utf-8"), page
    assert "Stand-in data." in (home / "html/notebooks/both.html").read_text(encoding="utf-8")


def test_names_from_data_are_text(book):
    home, *_ = book
    for path in home.rglob("*.html"):
        assert "<script>alert" not in path.read_text(encoding="utf-8")
    page = (home / "html/notebooks/both.html").read_text(encoding="utf-8")
    # In prose (glue) and in the table: all of it, nothing interpreted.
    escaped = HOSTILE.replace("<", "&lt;").replace(">", "&gt;")
    assert page.count(escaped) >= 2
    assert "made &lt;i&gt;up" in page


def test_figures_and_documented_names_lead_to_their_source(book):
    html = book[0] / "html"
    lost, found = lost_sources(html)
    assert lost == []
    assert found > len(repeval.__all__)
    first = (html / "book/index.html").read_text(encoding="utf-8")
    drawn = "repeval.companion.plots.intervals.two_questions"
    address = "../_modules/repeval/companion/plots/intervals.html#two_questions"
    assert f'Drawn by <a href="{address}"><code>{drawn}</code></a>' in first
    # What the book does not document is named and no more.
    page = (html / "notebooks/both.html").read_text(encoding="utf-8")
    assert "Drawn by <code>here.bars</code> from" in page


def test_the_package_is_documented_by_its_own_docstrings(book):
    html = book[0] / "html"
    page = (html / "book/api.html").read_text(encoding="utf-8")
    names = set(repeval.__all__) - {"__version__"}
    shown = re.findall(r'<dt class="[^"]*py" id="repeval\.(\w+)">', page)
    assert sorted(shown) == sorted(names)
    # Each name has one, and some of their methods.
    assert page.count(">Examples</p>") >= len(names)
    # Only what is documented is published: no module that no public name or figure is from.
    wings = ("stats", "io", "report")
    found = (p for wing in wings for p in html.glob(f"_modules/repeval/{wing}/**/*.html"))
    published = {p.stem for p in found}
    assert published == {getattr(repeval, name).__module__.split(".")[-1] for name in names} - {
        "messages"
    }


def test_no_machine_path_is_published(book):
    home, *_ = book
    machine = re.compile(re.escape(str(home.parents[1])) + "|stage-|ipykernel_")
    for path in home.rglob("*"):
        if path.suffix in {".html", ".ipynb", ".json", ".svg", ".csv", ".md", ".js"}:
            assert not machine.search(path.read_text(encoding="utf-8")), path


def test_two_builds_give_the_same_bytes(book, tmp_path):
    home, share, outcomes = book
    again = build(outcomes, share=share, directory=tmp_path, jobs=1).parents[1]
    files = [p.relative_to(home) for p in home.rglob("*") if p.is_file()]
    assert len(files) > 20
    assert [f for f in files if (home / f).read_bytes() != (again / f).read_bytes()] == []


def test_unchanged_pages_are_not_executed_again(share, outcomes, tmp_path, capfd):
    def executed():
        build(outcomes, share=share, directory=tmp_path, name="mine")
        return re.findall(r"executed (\S+)", capfd.readouterr().err)

    assert executed() == ["notebooks/both"]
    (share / "book/glossary.md").write_text("# Words\n")
    assert executed() == []
    code = "book.text('models', 1)\nbook.number('half', None)"
    write_notebook(share, "notebooks/both", code=code)
    assert executed() == ["notebooks/both"]


@pytest.mark.parametrize(("models", "runs"), [(("alone",), 3), (("a", "b"), 1)])
def test_other_data_get_the_pages_that_fit(share, tmp_path, models, runs):
    outcomes = make_outcomes(tmp_path, models=models, runs=runs)
    home = build(outcomes, share=share, directory=tmp_path, name="mine").parents[1]
    assert not {"notebooks/both.html", "notebooks/paper-only.html"} & pages(home)
    first = (home / "html/book/index.html").read_text(encoding="utf-8")
    assert STAND_IN not in first
    assert "(mine)" in first
    assert "The paper says" not in first
    assert "Independent recomputation" not in first
    assert "What the runs say" in first
    assert "Three things" not in first
    assert "Question by question" not in first  # a part without pages
    assert '<span class="caption-text">Reference</span>' in first
    assert "claim by claim" not in first


def test_a_page_cannot_require_what_is_not_known(share, outcomes, tmp_path):
    write_notebook(share, "notebooks/both", "requires: {model: 2}")
    with pytest.raises(BuildFailed, match="requires model; known: models, systems, ranked"):
        build(outcomes, share=share, directory=tmp_path)


def test_a_failed_cell_publishes_nothing(book, tmp_path):
    home, share, outcomes = book
    before = (home / "html/notebooks/both.html").stat()
    source = (share / "notebooks/both.md").read_text()
    write_notebook(share, "notebooks/both", code=CRASH)
    try:
        with pytest.raises(BuildFailed) as caught:
            build(outcomes, share=share, directory=home.parents[1])
    finally:
        (share / "notebooks/both.md").write_text(source)
    text = str(caught.value)
    assert "notebooks/both failed: cell In[4] raised ArithmeticError: the sum is wrong" in text
    assert "raise ArithmeticError('the sum is wrong')" in text  # the traceback
    kept = home / "failed" / "notebooks.both.ipynb"
    assert kept.name in text
    assert "the sum is wrong" in kept.read_text()
    assert (home / "html/notebooks/both.html").stat() == before
    assert not list(home.parent.rglob("stage-*"))


def test_parameters_are_exactly_the_four(share, outcomes, tmp_path):
    path = share / "notebooks/both.md"
    path.write_text(path.read_text().replace("seed = 1", "sede = 1"))
    with pytest.raises(BuildFailed) as caught:
        build(outcomes, share=share, directory=tmp_path)
    assert "data, name, sede, size; a notebook declares exactly data, name, size, seed" in str(
        caught.value
    )


def test_each_warning_of_sphinx_stops_the_build(share, outcomes, tmp_path):
    lines = {
        "no_such_number": "See {number}`no_such_number`.",
        "nowhere": "See [there](nowhere.md).",
        "paper-only": "{doc}`/notebooks/paper-only`",
    }
    (share / "notebooks/both.md").write_text("---\nabout: paper\n---\n# Left out\n")
    with (share / "book/glossary.md").open("a") as page:
        page.write("\n" + "\n\n".join(lines.values()) + "\n")
    with pytest.raises(BuildFailed) as caught:
        build(outcomes, share=share, directory=tmp_path)
    complaints = [line for line in str(caught.value).split("\n") if "glossary.md" in line]
    assert len(complaints) == len(lines)
    assert all(any(name in line for line in complaints) for name in lines)
    assert not (tmp_path / "_build/paper/html").exists()


def test_two_builds_of_one_name_do_not_meet(share, outcomes, tmp_path):
    stages = tmp_path / "_build" / ".stage" / "paper"
    stage = stages / "stage-of-the-other"
    stage.mkdir(parents=True)
    handle = os.open(stages, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(RepevalError, match="Another build of 'paper'"):
        build(outcomes, share=share, directory=tmp_path)
    os.close(handle)
    assert list(stages.iterdir()) == [stage]


def state(home):
    return {p: p.stat().st_mtime_ns for p in home.rglob("*")}


def running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_cell_that_does_not_end_is_ended(share, outcomes, tmp_path, monkeypatch):
    write_notebook(share, "notebooks/both", code="import time\ntime.sleep(600)")
    monkeypatch.setitem(LIMITS, "quick", 2)
    with pytest.raises(BuildFailed, match="both failed: a cell ran for more than 2 seconds"):
        build(outcomes, share=share, directory=tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_build_leaves_the_old_book_and_nothing_else(book, tmp_path, number):
    home = tmp_path / "_build" / "mine"
    shutil.copytree(book[0], home, ignore=shutil.ignore_patterns("failed"))
    make_outcomes(tmp_path)
    write_notebook(make_share(tmp_path / "share"), "notebooks/both", code=SLOW)
    before, started = state(home), home.parent / "started"
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not started.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    assert started.exists(), process.communicate()[1]
    pids = [int(pid) for pid in started.read_text().split()]
    assert all(map(running, pids))
    process.send_signal(number)
    try:
        # 60 s: the kernel is told to end, and killed after 15.
        said = process.communicate(timeout=60)[1]
        if number == signal.SIGKILL:
            while any(map(running, pids)) and time.monotonic() < deadline + 60:
                time.sleep(0.1)
        else:
            assert (said, process.returncode) == ("repeval: stopped\n", 130)
        assert not any(map(running, pids))
        assert state(home) == before
    finally:
        for pid in filter(running, [process.pid, *pids]):
            os.kill(pid, signal.SIGKILL)


def test_a_folder_that_cannot_be_written_is_named(outcomes, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RepevalError, match=r"Not a directory.*permissions") as caught:
        build(outcomes, name="mine", directory=tmp_path / "file")
    assert caught.value.code == "cannot-write"
    assert f"{tmp_path}/file/_build/mine, which cannot be written" in str(caught.value)


def test_a_read_only_folder_of_an_older_book_is_named(outcomes, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)  # the superuser may write everywhere
    with pytest.raises(RepevalError, match="_build/mine, which cannot be written: Permission"):
        build(outcomes, name="mine", directory=tmp_path)


def test_the_pipeline_is_not_imported_with_the_package():
    code = "import sys, repeval; print([m for m in sys.modules if 'companion' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
