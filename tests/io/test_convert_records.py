"""`repeval convert --to eee`: records that are valid, and that read back as what they were."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from repeval import load
from repeval.cli import main
from repeval.io.convert import convert_to_records, eee
from repeval.messages import RepevalError

from .answers import answer
from .readers.asked import TENSOR, refusal
from .readers.inspect_logs import log, write
from .test_frames import TEXT
from .tiny import BASE, same


def written(source, target, *options: str):
    assert main(["convert", str(source), "-o", str(target), "--to", "eee", *options]) == 0
    return target


@pytest.fixture
def table(tidy):
    rows = [{**row, "condition": c, "kind": "k" * (row["problem"] == "x")}
            for c in ("p", "q") for row in BASE]  # fmt: skip
    rows[3] |= {"outcome": "", "status": "error"}
    return tidy([{"status": "", **row} for row in rows])


def test_a_table_reads_back_the_same(table, tmp_path):
    target = written(table, tmp_path / "out")
    assert len(list(target.rglob("*.json"))) == len(list(target.rglob("*_samples.jsonl"))) == 4
    assert answer(load(target)) == answer(load(table))
    one, two = load(table), load(target)
    assert one.frame.equals(two.frame)
    assert one.errored.equals(two.errored)
    assert one.labels["kind"].equals(two.labels["kind"])
    for options in ({"errors": "fail"}, {"missing": "drop-problem"}):
        assert answer(load(target, **options)) == answer(load(table, **options))


def test_runs_that_an_answer_leaves_out_are_written_all_the_same(tidy, tmp_path):
    """Tries that stop at a pass, some without an outcome; and a run that repeats another one."""
    tries = [["error"] * (i % 4 == 0) + ["0"] * (i % 3) + ["1"] for i in range(30)]
    table = tidy([
        {"model": "a", "problem": i, "run": r, "outcome": y.strip("ero"),
         "status": y.strip("01") or "ok"}
        for i, outcomes in enumerate(tries) for r, y in enumerate(outcomes)
    ] + [
        {"model": "b", "problem": i, "run": r, "outcome": (i * (r % 2 + 1) + i // 7) % 2,
         "status": "ok"}
        for i in range(30) for r in range(3)
    ])  # fmt: skip
    target = written(table, tmp_path / "out")
    codes = {notice.code for notice in load(target).notices}
    assert {"adaptive-stopping", "replayed-runs", "errored-rows"} <= codes
    for options in ({}, {"errors": "fail"}, {"missing": "fail"}):
        assert answer(load(target, **options)) == answer(load(table, **options))


def test_logs_read_back_the_same(tmp_path):
    for task in ("a", "b"):
        one = log(TENSOR, errors=[(0, 0), (3, 2)], task=task)
        one["samples"][5]["error"] = {"message": "late"}
        write(tmp_path / "logs" / f"{task}.eval", one)
    write(tmp_path / "logs" / "c.json", log(TENSOR[::-1], model='n, "x"\r<b>', task="b"))
    target = written(tmp_path / "logs", tmp_path / "out")
    one, two = load(tmp_path / "logs"), load(target)
    same(one, two)
    assert answer(one) == answer(two)
    assert "checked" in next(n.text for n in two.notices if n.code == "logs-read")
    # And once more: records are logs, too.
    again = written(target, tmp_path / "again")
    assert answer(load(again)) == answer(one)


def test_other_questions_stay_other_questions(tmp_path):
    one, two = log(TENSOR), log(TENSOR, model="n", question=lambda i: f"other {i}")
    for name, whole in (("a", one), ("b", two)):
        written(write(tmp_path / f"{name}.json", whole), tmp_path / "out" / name)
    assert refusal(tmp_path / "out").code == "other-question"


def test_one_evaluation_goes_into_a_file_and_its_samples(tidy, tmp_path):
    table = tidy([row for row in BASE if row["model"] == "a"])
    written(table, tmp_path / "a.json")
    assert (tmp_path / "a_samples.jsonl").is_file()
    for name in ("a.json", "a_samples.jsonl"):
        assert answer(load(tmp_path / name)) == answer(load(table))


def test_the_same_input_gives_the_same_bytes(table, tmp_path):
    one, _ = convert_to_records(table, tmp_path / "out")
    two, _ = convert_to_records(table, tmp_path / "out")
    assert one == two


@pytest.mark.parametrize(
    ("given", "target", "options", "message"),
    [
        ("t.csv", "out.json", (), "Name a folder: -o out."),
        ("t.csv", "t.csv", (), "is one of the inputs"),
        ("t.csv", "out", ("--choices",), "leave out --to"),
        ("counts.csv", "out", (), "single rows are needed"),
        ("twice.csv", "out", (), "same model, condition, problem and run"),
    ],
)
def test_refusals_write_nothing(
    capsys, tmp_path, tidy, monkeypatch, given, target, options, message
):
    monkeypatch.chdir(tmp_path)
    tidy(BASE, "t.csv")
    tidy([*BASE, BASE[0]], "twice.csv")
    counts = [{"model": "a", "problem": p, "runs": 3, "passes": 1} for p in "xyz"]
    tidy(counts, "counts.csv")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(["convert", given, "-o", target, "--to", "eee", *options]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_record_that_does_not_fit_is_refused():
    sample = {"evaluation_id": "e", "model_id": 3}
    with pytest.raises(RepevalError) as caught:
        eee._hold(eee._validator("instance_level_eval"), sample)
    assert caught.value.code == "cannot-write"


def test_without_jsonschema_the_message_says_what_to_install(table, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    assert main(["convert", str(table), "-o", str(tmp_path / "out"), "--to", "eee"]) == 2
    assert "pip install 'repeval[logs]'" in capsys.readouterr().err


def test_the_packages_own_schemas_are_these():
    """Where the package is installed, which needs Python 3.12."""
    package = pytest.importorskip("every_eval_ever.schemas")
    from importlib import resources

    def bare(value, names=False):
        if isinstance(value, dict):
            return {k: bare(v, k in ("properties", "$defs")) for k, v in value.items()
                    if names or k != "description"}  # fmt: skip
        return [bare(v) for v in value] if isinstance(value, list) else value

    for name in ("eval", "instance_level_eval"):
        theirs = resources.files(package) / f"{name}.schema.json"
        assert bare(json.loads(theirs.read_text())) == eee._validator(name).schema


@st.composite
def tables(draw) -> list[dict]:
    """Systems of several problems, with unequal runs, scores or verdicts, errors and a label."""
    problems = draw(st.lists(TEXT, min_size=2, max_size=4, unique=True))
    systems = draw(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3, unique=True))
    outcome = draw(st.sampled_from([st.integers(0, 1), st.floats(0, 1)]))
    kinds = [draw(st.text("kl", max_size=2)) for _ in problems]
    found = []
    for model, condition in systems:
        for problem, kind in zip(problems, kinds, strict=True):
            for run in range(draw(st.integers(1, 3))):
                lost = draw(st.integers(0, 9)) == 0
                found.append({
                    "model": model, "condition": condition, "problem": problem, "run": f"r{run}",
                    "outcome": "" if lost else draw(outcome), "status": "error" * lost,
                    "kind": kind,
                })  # fmt: skip
    return found


@settings(max_examples=12, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(rows=tables())
def test_any_table_reads_back_the_same(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("any")
    path = folder / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    try:
        expected = load(path)
    except RepevalError:
        return
    files, _ = convert_to_records(path, folder / "out")
    for target, content in files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    found = load(folder / "out")
    assert expected.frame.equals(found.frame)
    assert expected.errored.equals(found.errored)
    assert answer(found) == answer(expected)


def test_the_packages_own_validator_finds_nothing(table, tmp_path):
    """Where the package is installed, which needs Python 3.12."""
    pytest.importorskip("every_eval_ever.validate")
    target = written(table, tmp_path / "out")
    command = [sys.executable, "-m", "every_eval_ever", "validate", f"{target}/data/*/*/*/*.json*"]
    assert subprocess.run(command, capture_output=True).returncode == 0


def test_names_of_any_length_are_written_and_read_back(tidy, tmp_path):
    """File systems end names at 255 bytes: two names may differ only beyond that."""
    long = "\u00e9" * 300
    rows = [{**row, "model": f"{long}{row['model']}"} for row in BASE]
    target = written(tidy(rows), tmp_path / "out")
    assert load(target).models == (f"{long}a", f"{long}b")
    folders = {path.parent.name for path in target.rglob("*.json")}
    assert len(folders) == 2
    assert all(len(name.encode()) <= 200 for name in folders)
