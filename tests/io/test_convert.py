"""`repeval convert`: logs to a tidy table and back."""

from __future__ import annotations

import pandas as pd
import pytest

from repeval import load
from repeval.cli import main

from .readers.asked import TENSOR
from .readers.inspect_logs import export, log, write


@pytest.fixture
def logs(tmp_path):
    """A directory of logs with errors, one of them scored, and an odd name."""
    one = log(TENSOR, errors=[(0, 0), (3, 2)])
    one["samples"][5]["error"] = {"message": "late"}
    write(tmp_path / "logs" / "a.eval", one)
    write(tmp_path / "logs" / "b.json", log(TENSOR[::-1], model='n, "x"\r<b>'))
    return tmp_path / "logs"


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_the_table_reads_back_as_the_logs(capsys, logs, tmp_path, name):
    pytest.importorskip("pyarrow")
    target = tmp_path / name
    assert main(["convert", str(logs), "-o", str(target)]) == 0
    assert "2 Inspect logs" in capsys.readouterr().out
    for options in ({}, {"errors": "fail"}, {"missing": "drop-problem"}):
        one, two = load(logs, **options), load(target, **options)
        pd.testing.assert_frame_equal(one.frame, two.frame)
        pd.testing.assert_frame_equal(one.errored, two.errored)
        pd.testing.assert_frame_equal(one.labels, two.labels)
        shown = [
            {n.code: n.text for n in data.notices}
            for data in (one, two)
        ]  # fmt: skip
        assert shown[0]["score-with-error"] == shown[1]["score-with-error"]


def test_scores_beyond_one_are_written_as_they_are(tmp_path):
    path = write(tmp_path / "a.eval", log([[7.5, 1], [10, 0]]))
    target = tmp_path / "out.csv"
    assert main(["convert", str(path), "-o", str(target)]) == 0
    assert pd.read_csv(target)["outcome"].tolist() == [7.5, 10, 1, 0]


def test_several_tasks_read_back(tmp_path):
    for task in ("a", "b"):
        write(tmp_path / "logs" / f"{task}.json", log(TENSOR, task=task))
    assert main(["convert", str(tmp_path / "logs"), "-o", str(tmp_path / "out.csv")]) == 0
    one, two = load(tmp_path / "logs"), load(tmp_path / "out.csv")
    pd.testing.assert_frame_equal(one.frame, two.frame)
    assert len(two.problems) == 24


@pytest.mark.parametrize(
    ("given", "target", "message"),
    [
        ("df.csv", "df.csv", "is one of the inputs"),
        ("link.csv", "df.csv", "is one of the inputs"),
        ("t.csv", "out.csv", "a table is one already"),
        ("df.csv", "out.json", "must end in .csv or .parquet"),
        ("df.csv", "no/such/out.csv", "cannot write"),
        ("nothing.eval", "out.csv", "no such file"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_overwritten(
    capsys, tmp_path, monkeypatch, given, target, message
):
    monkeypatch.chdir(tmp_path)
    export(tmp_path / "df.csv", log(TENSOR))
    (tmp_path / "t.csv").write_text("problem,outcome\nx,1\ny,0\n")
    (tmp_path / "link.csv").symlink_to("df.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(["convert", given, "-o", target]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
