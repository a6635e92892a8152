"""The same rows in every container are the same outcomes, and what containers add is said."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repeval import load
from repeval.cli import main
from repeval.io.containers import room
from repeval.io.formats import FORMATS
from repeval.messages import RepevalError

from .test_load import codes, refusal, same

KINDS = (
    "csv", "tsv", "csv.gz", "tsv.gz", "semicolon.csv", "jsonl", "jsonl.gz", "ndjson", "json",
    "json.gz", "split.json", "parquet", "xlsx",
)  # fmt: skip
IDS = [f"q{i}" for i in range(12)]


def save(frame: pd.DataFrame, path: Path) -> Path:
    """Write a table as its name says."""
    kind = path.name.partition(".")[2]
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path, index=False)
    elif kind == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif "json" not in kind:
        mark = "\t" if "tsv" in kind else ";" if "semicolon" in kind else ","
        frame.to_csv(path, index=False, sep=mark)
    elif kind == "split.json":
        frame.to_json(path, orient="split", index=False)
    else:
        frame.to_json(path, orient="records", lines=not kind.startswith("json.") and kind != "json")
    return path


def table(seed: int = 2606, scores: bool = False) -> pd.DataFrame:
    """Runs of two models with a label, errors and odd names."""
    rng = np.random.default_rng(seed)
    rows = [
        {"model": m, "condition": "é 模", "problem": p, "run": r, "task": f"t{i % 3}",
         "outcome": rng.integers(0, 5) / 4 if scores else int(rng.integers(0, 2)), "status": "ok"}
        for m in ("alpha", "b, c") for i, p in enumerate((*IDS, "007", "7")) for r in range(3)
    ]  # fmt: skip
    frame = pd.DataFrame(rows).astype({"outcome": object})
    frame.loc[[3, 40], ["outcome", "status"]] = None, "error"
    return frame


@pytest.mark.parametrize("scores", [False, True])
def test_every_container_gives_the_same_outcomes_and_the_same_bytes(tmp_path, capsys, scores):
    frame, seen = table(scores=scores), {}
    for kind in KINDS:
        path = save(frame, tmp_path / f"runs.{kind}")
        data = load(path)
        assert main(["analyze", str(path), "--json", "-", "--resamples", "100"]) == 0
        text = capsys.readouterr().out
        for of_file in (f'"name": "runs.{kind}"', data.source.sha256):
            assert text.count(of_file) == 1
            text = text.replace(of_file, "")
        seen[kind] = data, text
    first, text = seen["csv"]
    assert len(first.frame) == 2 * 14 * 3 - 2
    assert list(first.labels["task"].loc[["007", "7"]]) == ["t0", "t1"]
    for data, other in seen.values():
        same(first, data)
        assert other == text


def test_every_format_is_among_the_containers():
    assert set(FORMATS) <= {part for kind in KINDS for part in kind.split(".")}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 4))
def test_random_rows_are_read_alike(tmp_path_factory, seed, n, runs):
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("c")
    frame = pd.DataFrame(
        [(m, p, r, float(rng.integers(0, 3)) / 2) for m in "ab" for p in range(n)
         for r in range(runs)], columns=["model", "problem", "run", "outcome"],
    ).sample(frac=1, random_state=seed)  # fmt: skip
    first = load(save(frame, folder / "r.csv"))
    for kind in ("json", "split.json", "xlsx", "tsv.gz"):
        same(first, load(save(frame, folder / f"r.{kind}")))


def test_json_lines_under_the_name_of_json(write, tmp_path):
    frame = table()
    text = frame.to_json(orient="records", lines=True)
    same(load(write("lines.json", text)), load(save(frame, tmp_path / "r.csv")))


def runs(seed: int = 2606, n: int = 5) -> list[dict[str, bool]]:
    rng = np.random.default_rng(seed)
    return [{p: bool(rng.integers(0, 2)) for p in IDS} for _ in range(n)]


def tidy_runs(model: str, labels, found) -> pd.DataFrame:
    return pd.DataFrame(
        [(model, p, r, int(y)) for r, one in zip(labels, found, strict=True)
         for p, y in one.items()], columns=["model", "problem", "run", "outcome"],
    )  # fmt: skip


@pytest.mark.parametrize("name", ["alpha.jsonl", "alpha.json", "alpha.jsonl.gz"])
@pytest.mark.parametrize("under", ["", "results"])
def test_a_run_on_each_line(write, tmp_path, name, under):
    found = runs()
    # A count called as an outcome is none, and a label of the whole run no run of its own.
    lines = [{"resolved": sum(one.values()), under: one} if under else one for one in found]
    text = json.dumps(lines) if name[5:] == ".json" else "\n".join(map(json.dumps, lines))
    data = load(write(name, text))
    right = load(save(tidy_runs("alpha", range(1, 6), found), tmp_path / "t.csv"))
    pd.testing.assert_frame_equal(data.frame, right.frame)
    assert {"runs-as-objects", "model-from-file"} <= set(codes(data))
    assert "numbered" in next(n.text for n in data.notices if n.code == "runs-as-objects")


def test_runs_keep_their_labels_and_their_models(write, tmp_path):
    found = {m: runs(i, 3) for i, m in enumerate("ab")}
    lines = [{"model": m, "run_id": f"{m}{k}", "passed": one}
             for m in "ab" for k, one in enumerate(found[m])]  # fmt: skip
    data = load(write("r.jsonl", "\n".join(map(json.dumps, lines))))
    parts = [tidy_runs(m, [f"{m}{k}" for k in range(3)], found[m]) for m in "ab"]
    same(data, load(save(pd.concat(parts), tmp_path / "t.csv")))
    # Labels that do not tell runs apart are replaced by numbers, for each model from 1.
    for line in lines:
        line["run_id"] = "all"
    data = load(write("r.jsonl", "\n".join(map(json.dumps, lines))))
    assert set(data.frame["run"]) == {"1", "2", "3"}
    assert data.frame.groupby("model")["outcome"].sum().to_dict() == {
        m: sum(sum(one.values()) for one in found[m]) for m in "ab"
    }


def test_one_object_is_a_run_that_its_file_may_name(write):
    data = load(write("alpha.json", json.dumps(runs(n=1)[0])))
    assert len(data.frame) == len(IDS)
    assert "no-run-column" in codes(data)


@pytest.mark.parametrize(
    "lines",
    [
        [{"alpha": 1, "beta": 0}, {"alpha": 0, "beta": 0}, {"alpha": 1, "beta": 1}],
        [{"run_1": 1, "run_2": 0, "run_3": 1}],
        [{"name": f"p{i}", "scores": {"built": 1, "solved": i % 2}} for i in range(4)],
        [{"model": "m", "scores": {"mmlu": 0.7, "gsm8k": 0.6, "arc": 0.5}}],
    ],
)
def test_objects_that_may_be_problems_or_totals_are_no_runs(write, lines):
    error = refusal(write("r.jsonl", "\n".join(map(json.dumps, lines))))
    assert error.code in ("missing-column", "doubtful-column", "doubtful-layout")


def test_numbers_inside_objects_can_be_named(write, tmp_path):
    rng = np.random.default_rng(2606)
    solved = rng.integers(0, 2, (12, 3))
    lines = [{"model": "m", "item": p, "run": r, "scores": {"built": 1, "solved": int(y)}}
             for p, row in zip(IDS, solved, strict=True) for r, y in enumerate(row)]  # fmt: skip
    path = write("r.jsonl", "\n".join(map(json.dumps, lines)))
    assert "scores.built, scores.solved" in refusal(path).text
    data = load(path, columns="outcome=scores.solved")
    assert data.frame["outcome"].sum() == solved.sum()
    # Where there is an outcome, objects are labels as they were.
    plain = [{**line, "outcome": 1, "scores": {"level": 2}} for line in lines]
    data = load(write("p.jsonl", "\n".join(map(json.dumps, plain))))
    assert set(data.labels["scores"]) == {"{'level': 2}"}


@pytest.mark.parametrize("mark", [";", "\t"])
def test_decimal_commas_are_read_where_commas_do_not_separate(write, tmp_path, mark):
    frame = table(scores=True).drop(columns="condition").replace({"b, c": "1,5"})
    plain = load(save(frame, tmp_path / "plain.csv"))
    text = frame.astype(object).to_csv(index=False, sep=mark, decimal=",", quoting=csv.QUOTE_NONE)
    text = text.replace("0.", "0,").replace("1.0", "1,0")
    data = load(write("comma.csv", text))
    pd.testing.assert_frame_equal(data.frame, plain.frame)
    # Names keep their commas.
    assert data.models == ("1,5", "alpha")
    notice = next(n.text for n in data.notices if n.code == "decimal-comma")
    assert "column outcome" in notice


def test_decimal_commas_beside_commas_or_points_stay_refused(write):
    head, rows = "model,problem,run,outcome\n", 'a,x,0,"0,5"\na,y,0,1\n'
    error = refusal(write("c.csv", head + rows))
    assert error.code == "outcome-unreadable"
    assert "'0,5'" in error.text
    both = head.replace(",", ";") + "a;x;0;0,5\na;y;0;0.5\n"
    assert refusal(write("b.csv", both)).code == "outcome-unreadable"


def test_latin_1_is_read_and_said(write):
    text = "model,problem,run,outcome\nModèle né à Zürich,«é»,0,1\nModèle né à Zürich,süß 5°,0,0\n"
    data = load(write("l.csv", text.encode("latin-1")))
    same(data, load(write("u.csv", text)))
    assert "row 2" in next(n.text for n in data.notices if n.code == "latin-1")


def test_what_is_no_row_is_refused_with_what_there_is(write):
    error = refusal(write("a.json", '{"accuracy": {"mmlu": 0.5}}'))
    assert error.code == "unknown-format"
    assert "accuracy" in error.text
    assert refusal(write("b.json", '{"x": [1]}'), format="json").code == "no-rows"
    ragged = '{"columns": ["problem", "outcome"], "data": [["x", 1], ["y"]]}'
    assert refusal(write("c.json", ragged)).code == "ragged-rows"
    assert refusal(write("d.json", '[{"problem": 1,')).code == "unreadable-file"
    assert refusal(write("e.json", "[" * 100_000), format="json").code == "unreadable-file"
    assert refusal(write("f.json", "[]")).code in ("empty-file", "unknown-format")
    twice = '[{"problem": "x", "outcome": 1, "outcome": 0}]'
    assert refusal(write("g.json", twice)).code == "duplicate-column"
    assert refusal(write("g.jsonl", twice[1:-1])).code == "duplicate-column"


def test_the_way_out_of_a_list_in_json_lines_works(write):
    path = write("a.jsonl", json.dumps(table().to_dict("records")))
    error = refusal(path)
    assert "--format json" in error.text
    assert load(path, format="json").models == ("alpha", "b, c")


class TestWorkbook:
    def test_without_openpyxl(self, write, monkeypatch):
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        error = refusal(write("a.xlsx", b"PK\3\4"))
        assert error.code == "needs-openpyxl"
        assert "pip install 'repeval[logs]'" in error.text

    def test_taken_for_text(self, tmp_path):
        path = save(table(), tmp_path / "a.xlsx")
        error = refusal(path, format="csv")
        assert error.code == "not-utf8"
        assert "--format xlsx" in error.text
        path = path.rename(tmp_path / "a.csv")
        assert "--format xlsx" in refusal(path).text
        assert load(path, format="xlsx").models == ("alpha", "b, c")

    def test_only_one_sheet_may_hold_anything(self, tmp_path):
        pytest.importorskip("openpyxl")
        path = tmp_path / "a.xlsx"
        with pd.ExcelWriter(path) as book:
            pd.DataFrame().to_excel(book, sheet_name="empty", index=False)
            table().to_excel(book, sheet_name="runs", index=False)
        assert load(path).models == ("alpha", "b, c")
        with pd.ExcelWriter(path) as book:
            table().to_excel(book, sheet_name="runs", index=False)
            table().to_excel(book, sheet_name="more", index=False)
        error = refusal(path)
        assert error.code == "several-sheets"
        assert "runs, more" in error.text

    def test_blank_rows_and_row_numbers(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in (["model", "problem", "run", "outcome", None], ["a", "x", 1, True], [],
                    ["a", "y", 1, 9, ""]):  # fmt: skip
            book.active.append(row)
        book.save(tmp_path / "a.xlsx")
        assert "row 4" in refusal(tmp_path / "a.xlsx").text
        book.active.cell(4, 4).value = False
        book.save(tmp_path / "a.xlsx")
        assert list(load(tmp_path / "a.xlsx").frame["outcome"]) == [1.0, 0.0]

    def test_damage_is_refused(self, tmp_path, monkeypatch):
        path = save(table(), tmp_path / "a.xlsx")
        whole = path.read_bytes()
        rng = np.random.default_rng(2606)
        for _ in range(40):
            at = int(rng.integers(len(whole)))
            path.write_bytes(whole[:at] + rng.bytes(3) + whole[at + int(rng.integers(9)) :])
            # Whatever else is raised fails the test.
            with contextlib.suppress(RepevalError):
                load(path, format="xlsx")
        packed = io.BytesIO(whole)
        with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/zeros", b"\0" * 2**20)
        path.write_bytes(packed.getvalue())
        monkeypatch.setattr(room, "ANYWAY", 2**16)
        assert refusal(path).code == "member-too-large"


def stopped(seed: int = 2606) -> pd.DataFrame:
    """Problems tried until a pass, three times at most, and what was stored of it."""
    tries = np.random.default_rng(seed).random((40, 3)) < 0.4
    passed = tries.any(axis=1)
    attempts = np.where(passed, tries.argmax(axis=1) + 1, 3)
    return pd.DataFrame(
        {"model": "m", "problem": range(40), "passed": passed, "attempts": attempts,
         "first": tries[:, 0]}
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["json", "csv", "xlsx"])
def test_attempts_until_a_pass_count_by_their_first(tmp_path, kind):
    frame = stopped()
    path = save(frame.drop(columns="first"), tmp_path / f"r.{kind}")
    data = load(path)
    assert data.frame["outcome"].sum() == frame["first"].sum()
    text = next(n.text for n in data.notices if n.code == "adaptive-stopping")
    assert "--columns run=" in text
    # The way out that it names: a row is one run whatever it took.
    data = load(path, columns="run=")
    assert data.frame["outcome"].sum() == frame["passed"].sum()
    assert "adaptive-stopping" not in {n.code for n in data.notices}


def test_attempts_that_cannot_be_told_apart_stay(tmp_path):
    frame = stopped().drop(columns="first")
    passed = frame["passed"].map({True: "Pass", False: "FAIL"})
    words = load(save(frame.assign(passed=passed), tmp_path / "w.json"))
    assert words.frame["outcome"].sum() == (frame["passed"] & (frame["attempts"] == 1)).sum()
    for changed in (frame.assign(attempts=3), frame.astype({"passed": int})):
        data = load(save(changed, tmp_path / "r.json"))
        assert data.frame["outcome"].sum() == frame["passed"].sum()


class TestField:
    """Files in layouts that people have; the figures are counted from the files again."""

    def rows(self, path: Path) -> pd.DataFrame:
        if path.suffix == ".xlsx":
            return pd.read_excel(path)
        if path.suffix == ".gz":
            return pd.read_csv(path, sep="\t")
        found = json.loads(path.read_text())
        if isinstance(found, dict):
            return pd.DataFrame(found["data"], columns=found["columns"])
        return pd.DataFrame(found)

    @pytest.mark.parametrize(
        "name",
        ["27_tidy_json_array.json", "30_mlflow_or_wandb_table.json", "30b_tidy.xlsx",
         "30c_tidy.tsv.gz"],
    )  # fmt: skip
    def test_tidy_rows(self, shared, name):
        data, rows = load(shared / "field" / name), self.rows(shared / "field" / name)
        assert len(data.frame) == len(rows) == 2 * 15 * 3
        right = rows.groupby("model")["outcome"].mean()
        assert data.frame.groupby("model")["outcome"].mean().to_dict() == right.to_dict()

    @pytest.mark.parametrize(
        ("name", "encoding"),
        [("20_semicolon_decimal_comma.csv", "utf-8-sig"), ("20b_semicolon_latin1.csv", "latin-1")],
    )
    def test_european_spreadsheets(self, shared, name, encoding):
        path = shared / "field" / name
        rows = pd.read_csv(path, sep=";", decimal=",", encoding=encoding)
        data = load(path)
        right = rows.groupby("model")["score"].mean()
        assert data.frame.groupby("model")["outcome"].mean().to_dict() == right.to_dict()
        assert ("latin-1" in codes(data)) == (encoding == "latin-1")

    def test_a_run_on_each_line(self, shared):
        folder = shared / "field" / "25_run_per_line_dict"
        data = load(folder)
        assert (len(data.models), len(data.problems), len(data.frame)) == (2, 30, 2 * 30 * 5)
        for path in folder.iterdir():
            found = [json.loads(line) for line in path.read_text().splitlines()]
            right = sum(sum(one["instance_results"].values()) for one in found)
            assert data.frame[data.frame["model"] == path.stem]["outcome"].sum() == right
            assert set(data.frame["run"]) == {one["run_id"] for one in found}

    def test_scores_inside_objects(self, shared):
        path = shared / "field/25b_dir_per_model_file_per_run/alpha/100.jsonl"
        data = load(path, columns="problem=InstanceID,outcome=scores.ResolutionRate")
        lines = map(json.loads, path.read_text().splitlines())
        assert data.frame["outcome"].sum() == sum(x["scores"]["ResolutionRate"] for x in lines)

    def test_stopped_at_a_pass(self, shared):
        path = shared / "field/26_stop_on_pass_json_list.json"
        data, rows = load(path, columns="model=experiment,problem=eval"), self.rows(path)
        right = (rows["passed"] & (rows["attempts"] == 1)).groupby(rows["experiment"]).mean()
        assert data.frame.groupby("model")["outcome"].mean().to_dict() == right.to_dict()

    def test_a_key_said_twice(self, shared):
        assert refusal(shared / "field/faults/dup.jsonl").code == "duplicate-column"
