"""One data set through every door: the same JSON bytes, and the same refusals."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from repeval import analyze, load
from repeval.cli import main
from repeval.messages import RepevalError

from .answers import answer
from .readers import eee_logs, inspect_logs

KEYS = ["model", "condition", "problem", "run"]
N, R = 12, 4
Rows = list[dict[str, Any]]
DRAWN = np.random.default_rng(2606).random((2, 2, N, R))


def tensor(scores: bool) -> list:
    return (DRAWN.round(3) if scores else (DRAWN < 0.6).astype(int)).tolist()


def rows_of(scores: bool = False) -> Rows:
    """Two models under two conditions, run labels that are not in alphabetical order."""
    return [
        dict(zip([*KEYS, "outcome"], (f"m{m}", f"c{c}", f"p{i}", str(r + 9), y), strict=True))
        for m, conditions in enumerate(tensor(scores))
        for c, problems in enumerate(conditions)
        for i, runs in enumerate(problems)
        for r, y in enumerate(runs)
    ]  # fmt: skip


def columns(rows: Rows) -> dict[str, list]:
    return {key: [row[key] for row in rows] for key in rows[0]}


def write_csv(rows: Rows, path: Path, separator: str = ",") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=separator, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def gz(rows: Rows, folder: Path) -> Path:
    path = folder / "t.csv.gz"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def parquet(rows: Rows, folder: Path) -> Path:
    pq.write_table(pa.table(columns(rows)), folder / "t.parquet")
    return folder / "t.parquet"


def jsonl(rows: Rows, folder: Path) -> Path:
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def json_array(rows: Rows, folder: Path) -> Path:
    path = folder / "t.json"
    path.write_text(json.dumps(rows))
    return path


def xlsx(rows: Rows, folder: Path) -> Path:
    book = openpyxl.Workbook()
    for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
        # A workbook has no NaN: an empty cell.
        book.active.append([None if isinstance(v, float) and v != v else v for v in row])
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def parts(rows: Rows, folder: Path) -> Path:
    (folder / "parts").mkdir()
    for i in range(3):
        write_csv(rows[i::3], folder / "parts" / f"part-{i}.csv")
    return folder / "parts"


def wide(rows: Rows, folder: Path) -> Path:
    cells: dict[tuple, dict] = {}
    for row in rows:
        cell = cells.setdefault(tuple(row[key] for key in KEYS[:3]), {})
        cell[f"run_{row['run']}"] = row["outcome"]
    found = [{**dict(zip(KEYS[:3], key, strict=True)), **cell} for key, cell in cells.items()]
    return write_csv(found, folder / "wide.csv")


def counts(rows: Rows, folder: Path) -> Path:
    frame = pd.DataFrame(rows)
    groups = frame.groupby(KEYS[:3], sort=False)["outcome"]
    found = groups.agg(runs="size", passes="sum").reset_index()
    if not frame["outcome"].isin([0, 1]).all():
        squares = groups.agg(lambda y: (y**2).sum()).to_numpy()
        found = found.rename(columns={"passes": "total"}).assign(total_sq=squares)
    found.to_csv(folder / "counts.csv", index=False)
    return folder / "counts.csv"


def eee(rows: Rows, folder: Path) -> Path:
    for i, system in enumerate(dict.fromkeys((row["model"], row["condition"]) for row in rows)):
        lines = []
        for row in rows:
            if (row["model"], row["condition"]) == system:
                about = {"run": row["run"], "condition": row["condition"]}
                lines += eee_logs.rows(
                    [[row["outcome"]]], model=row["model"], ids=[row["problem"]], run="",
                    identity=f"t/{system}/1", metadata=about,
                )  # fmt: skip
        eee_logs.write(folder / "eee", lines, key=f"{eee_logs.KEY}{i}")
    return folder / "eee"


def converted(rows: Rows, folder: Path) -> Path:
    table = write_csv(rows, folder / "t.csv")
    assert main(["convert", str(table), "-o", str(folder / "eee"), "--to", "eee"]) == 0
    return folder / "eee"


def back(rows: Rows, folder: Path) -> Path:
    """To records, and from these to a table."""
    target = folder / "back.csv"
    assert main(["convert", str(converted(rows, folder)), "-o", str(target)]) == 0
    return target


#: With a row for each run: duplicates and bad outcomes can be there, with their row.
DOORS: dict[str, Callable[[Rows, Path], Any]] = {
    "csv": lambda rows, folder: write_csv(rows, folder / "t.csv"),
    "tsv": lambda rows, folder: write_csv(rows, folder / "t.tsv", "\t"),
    "semicolons": lambda rows, folder: write_csv(rows, folder / "t.csv", ";"),
    "gz": gz, "parquet": parquet, "jsonl": jsonl, "json": json_array, "xlsx": xlsx,
    "pandas": lambda rows, _: pd.DataFrame(rows),
    "polars-lazy": lambda rows, _: pl.LazyFrame(columns(rows)),
    "pyarrow": lambda rows, _: pa.table(columns(rows)),
    "duckdb": lambda rows, _: duckdb.from_arrow(pa.table(columns(rows))),
}  # fmt: skip
FURTHER = {"parts": parts, "wide": wide, "counts": counts, "eee": eee, "convert": converted,
           "convert-and-back": back}  # fmt: skip


@pytest.mark.parametrize(
    ("door", "scores"),
    [
        (door, scores)
        for door in [*DOORS, *FURTHER]
        for scores in (False, True)
        if (door, scores) != ("counts", True)
    ],
)
def test_the_answer_is_the_same(tmp_path, door, scores):
    rows = rows_of(scores)
    (tmp_path / "csv").mkdir()
    expected = answer(load(DOORS["csv"](rows, tmp_path / "csv")))
    given = (DOORS | FURTHER)[door](rows, tmp_path)
    # Columns of scores could be something else than runs: asked.
    found = answer(load(given, wide="runs" if door == "wide" and scores else None))
    if door == "counts":
        # Its rows are fewer.
        found = found.replace(f'"n_rows": {4 * N}', f'"n_rows": {4 * N * R}')
    assert found == expected
    if not scores:
        assert load(given).counts().equals(load(pd.DataFrame(rows)).counts())


def test_sums_of_scores_give_their_components(tmp_path):
    """A variance from sums of squares keeps 12 of 16 digits; single scores are not known."""
    rows = rows_of(scores=True)
    one, two = (analyze(load(x), n_resamples=100).systems
                for x in (pd.DataFrame(rows), counts(rows, tmp_path)))  # fmt: skip
    for exact, found in zip(one, two, strict=True):
        for name in ("mean", "within", "between", "icc", "ceiling", "aleatoric_share"):
            right = getattr(exact, name)
            near = None if right is None else pytest.approx(right, rel=1e-11)
            assert getattr(found, name) == near, name


def test_a_harnesss_log_is_a_door(tmp_path):
    for m in range(2):
        whole = inspect_logs.log(tensor(False)[m][0], model=f"m{m}")
        inspect_logs.write(tmp_path / "logs" / f"{m}.eval", whole)
    expected = answer(load(tmp_path / "logs"))
    assert main(["convert", str(tmp_path / "logs"), "-o", str(tmp_path / "t.csv")]) == 0
    assert main(["convert", str(tmp_path / "logs"), "-o", str(tmp_path / "t.parquet")]) == 0
    assert main(["convert", str(tmp_path / "logs"), "-o", str(tmp_path / "e"), "--to", "eee"]) == 0
    for name in ("t.csv", "t.parquet", "e"):
        assert answer(load(tmp_path / name)) == expected


def test_counts_say_which_checks_they_cannot_make(tmp_path):
    data = load(counts(rows_of(), tmp_path))
    (text,) = [n.text for n in data.notices if n.code == "counts-read"]
    assert "cannot be seen" in text
    for check in ("replayed", "failed", "stopped", "missing"):
        assert check in text


#: What is wrong in row 3 (of 1, 2, ...), and the code of its refusal.
WRONG = {
    "duplicate": ("duplicate-rows", lambda rows: rows[2].update(run=rows[1]["run"])),
    "nan": ("outcome-empty", lambda rows: rows[2].update(outcome=float("nan"))),
    "high": ("outcome-range", lambda rows: rows[2].update(outcome=1.5)),
    "one problem": ("one-problem", lambda rows: rows.__delitem__(slice(R, None))),
}
#: The row of a file that a person calls the third: below a header it is row 4.
HEADED = {"csv", "tsv", "semicolons", "gz", "xlsx"}


def refusal(given) -> RepevalError:
    with pytest.raises(RepevalError) as caught:
        load(given)
    return caught.value


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("door", DOORS)
def test_the_refusal_is_the_same(tmp_path, door, wrong):
    code, spoil = WRONG[wrong]
    rows = [{**row, "outcome": float(row["outcome"])} for row in rows_of()]
    spoil(rows)
    error = refusal(DOORS[door](rows, tmp_path))
    assert error.code == code
    if wrong == "one problem":
        assert "'p0'" in error.text
        return
    assert re.search(rf"\brow {4 if door in HEADED else 3}\b", error.text)
    if wrong == "duplicate":
        assert "'m0', condition 'c0', problem 'p0', run '10'" in error.text
    if wrong == "high":
        assert "('1.5')" in error.text


@pytest.mark.parametrize("wrong", WRONG)
def test_records_are_refused_alike(tmp_path, wrong):
    code, spoil = WRONG[wrong]
    rows = rows_of()
    spoil(rows)
    error = refusal(eee(rows, tmp_path))
    assert error.code == code
    said = {"duplicate": "problem 'p0' has run 10 twice", "nan": "row 3 (sample 'p0')",
            "high": "row 3 (problem p0, run 11) ('1.5')", "one problem": "'p0'"}  # fmt: skip
    assert said[wrong] in error.text


@pytest.mark.parametrize("wrong", ["high", "one problem"])
def test_a_wide_table_is_refused_alike(tmp_path, wrong):
    """A blank field there is a run that was not made."""
    code, spoil = WRONG[wrong]
    rows = rows_of()
    spoil(rows)
    error = refusal(wide(rows, tmp_path))
    assert error.code == code
    assert {"high": "row 2 ('1.5')", "one problem": "'p0'"}[wrong] in error.text


def test_scores_in_columns_of_runs_are_asked_about(tmp_path):
    error = refusal(wide(rows_of(scores=True), tmp_path))
    assert error.code == "doubtful-layout"
    assert "Type --wide runs;" in error.text


def test_counts_are_refused_by_key_and_row(tmp_path):
    path = counts(rows_of(), tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[2]]) + "\n")
    error = refusal(path)
    assert error.code == "duplicate-counts"
    assert "row 50" in error.text
    assert "problem 'p1'" in error.text
    for bad, code in (("1.5", "bad-counts"), ("9", "bad-counts"), ("", "bad-counts")):
        path.write_text("\n".join([lines[0], lines[1].rpartition(",")[0] + f",{bad}", *lines[2:]]))
        error = refusal(path)
        assert error.code == code
        assert "row 2" in error.text
    path.write_text("\n".join(lines[:2]) + "\n")
    assert refusal(path).code == "one-problem"
