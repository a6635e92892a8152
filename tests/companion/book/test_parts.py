"""The pieces of the pipeline that need no kernel and no Sphinx."""

import base64
import importlib.metadata
import json
import os
import re
import signal
import threading
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.companion.book import BuildFailed, build
from repeval.companion.book.build import check
from repeval.companion.book.data import load_data, save_data
from repeval.companion.book.execute import strip
from repeval.companion.book.html import table_html
from repeval.companion.book.notebook import Book
from repeval.companion.book.process import python, stoppable
from repeval.companion.book.stage import (
    fit_toc,
    front_matter,
    keep_passages,
    without_conditions,
)
from repeval.companion.plots import style
from repeval.report.tables import csv

from .conftest import HOSTILE, make_outcomes


@pytest.mark.parametrize("name", ["", ".", "..", ".store", "a/b", "a b", "é", "-x", "a" * 65])
def test_names_that_are_no_plain_folder_are_refused(outcomes, tmp_path, name):
    with pytest.raises(repeval.RepevalError, match="letters, digits"):
        build(outcomes, name=name, directory=tmp_path)
    assert not (tmp_path / "_build").exists()


def test_a_wrong_jupyter_book_is_named(monkeypatch):
    version = importlib.metadata.version
    found = {"jupyter-book": "2.1.7"}
    monkeypatch.setattr(importlib.metadata, "version", lambda p: found.get(p) or version(p))
    with pytest.raises(repeval.RepevalError, match=r"jupyter-book 2\.1\.7 .* needs 1\.x"):
        check("mine")

    def absent(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    with pytest.raises(repeval.RepevalError, match=r"pip install 'repeval\[book\]'"):
        check("mine")


def test_passages_are_kept_by_condition():
    text = "a\n% only: x\nb\n% end\n% only: x, y\nc\n% end\n% only: y\nd\n% end\n% a comment\ne"
    assert keep_passages(text, "p", {"x"}.__contains__) == "a\nb\n% a comment\ne"
    assert keep_passages(text, "p", {"x", "y"}.__contains__) == "a\nb\nc\nd\n% a comment\ne"


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("% only: x\na", 1),
        ("a\n% end", 2),
        ("% only: x\n% only: y\n% end\n% end", 1),
        ("% only: x\na\n% end\n\n% only: y\n", 5),
    ],
)
def test_passages_must_match(text, line, holds):
    with pytest.raises(BuildFailed, match=f"p.md, line {line}: '% .*' has no counterpart"):
        keep_passages(text, "p", lambda condition: holds)


def test_contents_lose_pages_and_empty_parts():
    toc = {
        "root": "r",
        "parts": [
            {"caption": "one", "chapters": [{"file": "a"}, {"file": "b"}]},
            {"caption": "two", "chapters": [{"file": "c"}]},
        ],
    }
    fitted, pages = fit_toc(toc, "a".__eq__)
    assert pages == ["r", "a"]
    assert fitted["parts"] == [{"caption": "one", "chapters": [{"file": "a"}]}]


def test_front_matter_of_pages_with_and_without_one():
    assert front_matter("---\nabout: paper\nrequires: {runs: 2}\n---\n# T\n\n---\n") == {
        "about": "paper",
        "requires": {"runs": 2},
    }
    assert front_matter("# T\n\n---\nabout: paper\n---\n") == {}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("---\nabout: paper\nx: 1\n---\nabout: me\n", "---\nx: 1\n---\nabout: me\n"),
        ("# T\n\n---\nabout: paper\n---\n", "# T\n\n---\nabout: paper\n---\n"),
    ],
)
def test_conditions_of_staging_leave_the_header_only(text, left):
    assert without_conditions(text) == left


def test_staged_data_come_back_as_they_were(tmp_path):
    rows = ["model,item_id,question_id,epoch,score,status"]
    rows += [
        f'"m{m}, ""x""",q{i},k{i},{r},{(i + r + m) % 2 if i else ""},{"" if i else "error"}'
        for m in range(2)
        for i in range(6)
        for r in range(3)
    ]
    (tmp_path / "in.csv").write_text("\n".join(rows) + "\n")
    # A label called like another spelling of a role must not stop the second reading.
    outcomes = repeval.load(tmp_path / "in.csv", columns="problem=item_id")
    save_data(outcomes, tmp_path / "data" / "b.csv", {"level": 0.9})
    again, options = load_data(tmp_path / "data" / "b.csv", "b")
    assert options == {"level": 0.9}
    pd.testing.assert_frame_equal(again.frame, outcomes.frame)
    pd.testing.assert_frame_equal(again.labels, outcomes.labels)
    one, two = (repeval.analyze(o, n_resamples=200).to_dict() for o in (outcomes, again))
    assert json.dumps(one) == json.dumps(two)


def notebook_with(*outputs):
    cell = nbformat.v4.new_code_cell("1", outputs=list(outputs))
    cell.metadata["execution"] = {"iopub.status.busy": "2026-01-01"}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"papermill": {"x": "/here/y"}})
    return nbformat.writes(notebook)


def test_strip_leaves_nothing_that_differs(tmp_path):
    stream = nbformat.v4.new_output("stream", name="stdout", text=f"{tmp_path}/data")
    noise = nbformat.v4.new_output("stream", name="stderr", text="a warning")
    one, heard = strip(notebook_with(stream, noise), "p", tmp_path)
    two, _ = strip(notebook_with(stream, noise), "p", tmp_path)
    assert one == two
    assert heard == "a warning"
    assert json.loads(one)["cells"][0]["outputs"][0]["text"] == ["./data"]
    assert not any(word in one for word in ("papermill", "busy", "a warning", str(tmp_path)))


def test_strip_refuses_an_error(tmp_path):
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])
    with pytest.raises(BuildFailed, match="p, cell 0: ValueError: no"):
        strip(notebook_with(error), "p", tmp_path)


def test_tables_are_escaped_and_named():
    frame = pd.DataFrame(
        {
            HOSTILE: [HOSTILE, None],
            "n": [3, 4],
            "x": [0.12345, np.nan],
            "ok": [True, False],
        }
    )
    html = table_html(frame, 'Say "hi" <b>')
    assert "<script>" not in html
    assert "<b>" not in html
    assert html.count('<th scope="col">') == 4
    assert "<caption>Say &quot;hi&quot; &lt;b&gt;</caption>" in html
    assert 'tabindex="0"' in html
    assert '<td class="number">3</td><td class="number">0.123</td><td>yes</td>' in html
    assert "<td>–</td>" in html
    assert "<td>no</td>" in html


def test_numbers_have_the_decimals_that_their_column_needs():
    columns = {"a": [51.6, 45.61], "b": [2.0, np.inf], "c": [0.09998, 1], "d": [np.nan, 7]}
    frame = pd.DataFrame(columns)
    rows = re.findall(r"<td[^>]*>([^<]*)</td>", table_html(frame))
    assert rows == ["51.60", "2", "0.100", "–", "45.61", "no limit", "1.000", "7"]


def test_ids_do_not_wrap_and_notes_stand_below():
    html = table_html(pd.DataFrame({"n": [1], "id": ["a-<b>"]}), "T", ["One <i>.", "Two."])
    assert '<td class="text-nowrap small">a-&lt;b&gt;</td>' in html
    assert html.endswith("</table></div><p>One &lt;i&gt;.</p><p>Two.</p>")


@pytest.mark.parametrize("start", "=+-@\N{FULLWIDTH EQUALS SIGN}")
def test_no_text_of_a_download_is_a_formula(start):
    frame = pd.DataFrame({start: [f"{start}1+1", "a=b", None], "x": [-1.5, np.nan, 2], "n": -3})
    lead = f"'{start}"
    head, one, *rest = csv(frame).replace('"', "").split("\n")
    assert (head, one) == (f"{lead},x,n", f"{lead}1+1,-1.5,-3")
    assert rest == ["a=b,,-3", ",2.0,-3", ""]


def test_no_text_of_a_download_begins_a_row():
    frame = pd.DataFrame({"problem": ["q\r=1+1", "\n=2", "\t=3", "a\x1b[0m"]})
    assert csv(frame) == "problem\nq?=1+1\n?=2\n?=3\na?[0m\n"


SLEEP = "import time; time.sleep(600)"


@contextmanager
def answered(number, how):
    """Answer a signal in a way of one's own: nohup, for one, has SIGHUP ignored."""
    before = signal.signal(number, how)
    try:
        yield
        assert signal.getsignal(number) is how
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_command_and_a_second_one_disturbs_nothing(number):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), number))
    with answered(number, signal.SIG_DFL), stoppable():
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            python(SLEEP, cwd=".")
        os.kill(os.getpid(), number)


def test_a_book_that_is_being_published_is_not_stopped():
    with stoppable() as refuse:
        refuse()
        os.kill(os.getpid(), signal.SIGTERM)


def test_a_signal_that_the_program_ignores_stays_ignored():
    with answered(signal.SIGHUP, signal.SIG_IGN), stoppable():
        os.kill(os.getpid(), signal.SIGHUP)


def test_another_thread_stops_a_command():
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(KeyboardInterrupt):
        python(SLEEP, cwd=".", stop=stop)


def test_a_figure_brings_caption_alt_and_the_same_bytes(tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *a, **k: shown.append((a, k)))
    outcomes = make_outcomes(tmp_path, basis="stand-in")
    for _ in range(2):
        figure, axes = style.canvas(2)
        axes.set_title(HOSTILE)
        plot = style.Plot(figure, HOSTILE, 'a "b"', pd.DataFrame({"x": [1]}), "f<g>")
        Book(outcomes, None, "paper", "quick", 1, tmp_path).show(plot, "bars")
    (bundle,), options = shown[0]
    assert shown[0] == shown[1]
    assert options["metadata"]["repeval"] == {"figure": "bars.stand-in", "csv": "x\n1\n"}
    html = bundle["text/html"]
    assert "<script>" not in html
    assert 'alt="a &quot;b&quot;"' in html
    assert "Stand-in data." in html
    assert "Drawn by <code>f&lt;g&gt;</code> from made &lt;i&gt;up" in html
    assert 'href="../figures/bars.stand-in.svg"' in html
    source = html.split("base64,")[1].split('"')[0]
    assert base64.b64decode(source).decode() == bundle["image/svg+xml"]


def test_policy_of_staged_data_is_the_first_reading_s(tmp_path):
    outcomes = make_outcomes(tmp_path)
    save_data(outcomes, tmp_path / "b.csv", {})
    again, _ = load_data(tmp_path / "b.csv", "b")
    assert asdict(again.policy) == asdict(outcomes.policy)
    assert again.policy.columns == (("problem", "problem"),)
    assert again.source == outcomes.source


def test_what_a_cell_prints_is_one_output():
    made = nbformat.v4.new_output
    pieces = [made("stream", text=text) for text in ("a\n", "b\n")]
    picture = made("display_data", {"text/plain": "c"})
    cell = nbformat.v4.new_code_cell("x", outputs=[*pieces, picture, made("stream", text="d\n")])
    text = nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))
    stripped, _ = strip(text, "page", Path("/stage"))
    outputs = nbformat.reads(stripped, as_version=4).cells[0].outputs
    assert [o.get("text") for o in outputs] == ["a\nb\n", None, "d\n"]


@pytest.mark.parametrize("number", ["-1.5", "-3", "+2e-7", "-.5"])
def test_a_negative_number_written_as_text_stays_one(number):
    assert csv(pd.DataFrame({"x": [number]})) == f"x\n{number}\n"


@pytest.mark.parametrize("formula", ["-1+1", "-A1", "+1%", "--1", "-1 ", "-inf", "=1"])
def test_what_is_more_than_a_number_is_guarded(formula):
    assert csv(pd.DataFrame({"x": [formula]})).replace('"', "").startswith(f"x\n'{formula}")


def test_no_download_steers_a_terminal():
    assert csv(pd.DataFrame({"x": ["\x1b[31m\x9b\u202e"]})) == "x\n?[31m??\n"
