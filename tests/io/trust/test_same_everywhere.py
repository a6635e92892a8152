"""The same runs, written in another way, give the same answer, or are refused for the same reason.

Data and policies are those of `tables`: lost runs, errors, retries, stopping at a pass, labels.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from repeval import RepevalError, load
from repeval.io.convert import convert_to_records
from repeval.io.engines import size
from repeval.io.outcomes import Outcomes
from tests.io.answers import answer
from tests.io.engines.doors import DOORS, Data, everything_is_large, outcome_of
from tests.io.engines.test_large import tables

#: Quick and full numbers of cases, and how many of them share their data.
QUICK, FULL, EACH = 1_000, 30_000, 8

Given = tuple[Any, dict[str, Any]]
Change = Callable[[Data, dict[str, Any], Path, np.random.Generator], Given]


def taken(data: Data, order: Any) -> Data:
    return {name: [values[i] for i in order] for name, values in data.items()}


def door(name: str) -> Change:
    return lambda data, options, folder, rng: (DOORS[name](data, folder), options)


def shuffled(data: Data, options: dict, folder: Path, rng: np.random.Generator) -> Given:
    """Other orders of rows, where they do not number attempts or runs."""
    n = len(data["outcome"])
    free = not options["retries"] and "cached" not in data and "run" in data
    return DOORS["csv"](taken(data, rng.permutation(n) if free else range(n)), folder), options


def turned(data: Data, options: dict, folder: Path, rng: np.random.Generator) -> Given:
    return DOORS["csv"](dict(reversed(data.items())), folder), options


def renamed(data: Data, options: dict, folder: Path, rng: np.random.Generator) -> Given:
    """Names that mean nothing, and an option that says what they are."""
    roles = {r: f"col {i}" for i, r in enumerate(("problem", "outcome")) if r in data}
    other = {roles.get(name, name): values for name, values in data.items()}
    return DOORS["csv"](other, folder), {**options, "columns": roles}


def annotated(data: Data, options: dict, folder: Path, rng: np.random.Generator) -> Given:
    """A column of notes, all different."""
    notes = [f"note {i};\n" for i in rng.permutation(len(data["outcome"]))]
    return DOORS["csv"]({"comment": notes, **data}, folder), options


def split(data: Data, options: dict, folder: Path, rng: np.random.Generator) -> Given:
    """Parts in folders, in the order of the rows; notes, since equal parts are one part twice."""
    n = len(data["outcome"])
    data = {**data, "comment": [f"note {i}" for i in range(n)]}
    for i, at in enumerate(np.array_split(np.arange(n), min(n, 3))):
        (folder / "t" / f"{i}").mkdir(parents=True)
        DOORS["csv"](taken(data, at), folder / "t" / f"{i}").rename(folder / "t" / f"{i}/part.csv")
    return folder / "t", options


def json_list(data: Data, options: dict, folder: Path, rng: np.random.Generator) -> Given:
    rows = [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]
    path = folder / "t.json"
    path.write_text(json.dumps(rows))
    return path, options


def split_json(data: Data, options: dict, folder: Path, rng: np.random.Generator) -> Given:
    frame = pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in data.items()})
    path = folder / "t.json"
    path.write_text(json.dumps({"columns": list(frame), "data": frame.to_numpy().tolist()}))
    return path, options


def workbook(data: Data, options: dict, folder: Path, rng: np.random.Generator) -> Given:
    book = openpyxl.Workbook()
    for row in [list(data), *zip(*data.values(), strict=True)]:
        book.active.append(list(row))
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx", options


def converted(data: Data, options: dict, folder: Path, rng: np.random.Generator) -> Given:
    """Every Eval Ever records of what is read without options; what is refused so stays."""
    path = DOORS["csv"](data, folder)
    if "cached" in data:
        return path, options
    try:
        files, _ = convert_to_records(path, folder / "eee")
    except RepevalError:
        return path, options
    for name, content in files.items():
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_bytes(content)
    return folder / "eee", options


CHANGES: dict[str, Change] = {
    **{name: door(name) for name in DOORS if name != "csv"},
    **{change.__name__: change for change in (shuffled, turned, renamed, annotated, split,
                                              json_list, split_json, workbook, converted)},
}  # fmt: skip


def essence(found: Outcomes | RepevalError, whole: bool = True) -> str:
    """Return the answer, or the code of the refusal; `whole`: what was said of the rows, too."""
    if isinstance(found, RepevalError):
        return found.code
    try:
        text = answer(found)
    except RepevalError as error:
        return error.code
    if not whole:
        parts = json.loads(text)
        del parts["notices"], parts["data"]["n_rows"]
        text = json.dumps(parts)
    return text


def ways() -> Any:
    """Some of the ways of writing, each held or reduced by an engine."""
    every = [(change, large) for change in sorted(CHANGES) for large in (False, True)]
    return st.lists(st.sampled_from(every), min_size=EACH, max_size=EACH, unique=True)


def same_everywhere(factory: Any, drawn: Any, ways: list[tuple[str, bool]], seed: int) -> None:
    data, options = drawn
    folder = factory.mktemp("same")
    found = outcome_of(DOORS["csv"](data, folder), **options)
    # Replayed runs, and what was wrong with runs that count, do not become records.
    expected = {whole: essence(found, whole) for whole in (True, False)}
    for i, (change, large) in enumerate(ways):
        (folder / str(i)).mkdir()
        rng = np.random.default_rng(seed)
        other, changed = CHANGES[change](data, dict(options), folder / str(i), rng)
        with everything_is_large() if large else contextlib.nullcontext():
            found = outcome_of(other, **changed)
        whole = change != "converted"
        assert essence(found, whole) == expected[whole], (change, large, options)
    shutil.rmtree(folder)


CASES = given(tables(), ways(), st.integers(0, 99))
#: A failure shows its data; to make them smaller takes minutes.
HOW = {"deadline": None, "suppress_health_check": list(HealthCheck), "phases": [Phase.generate]}


@settings(max_examples=QUICK // EACH, **HOW)
@CASES
def test_another_way_of_writing_changes_nothing(tmp_path_factory, drawn, ways, seed):
    same_everywhere(tmp_path_factory, drawn, ways, seed)


@pytest.mark.full
@settings(max_examples=FULL // EACH, **HOW)
@CASES
def test_another_way_of_writing_changes_nothing_in_many(tmp_path_factory, drawn, ways, seed):
    same_everywhere(tmp_path_factory, drawn, ways, seed)


def until_pass(n: int) -> tuple[Data, list[float]]:
    """Two systems that try a problem until they pass, five times at most; means of first runs."""
    rng, rows, means = np.random.default_rng(2606), [], []
    for model, share in (("model-alpha", 0.3), ("model-beta", 0.5)):
        rates = rng.beta(0.5, 0.5, n) * 2 * share
        passed = rng.random((n, 5)) < np.minimum(rates, 1)[:, None]
        means.append(float(passed[:, 0].mean()))
        tries = np.where(passed.any(axis=1), passed.argmax(axis=1) + 1, 5)
        rows += [(model, "some-long-condition-name", f"problem-{i:07d}", r, int(passed[i, r]))
                 for i in range(n) for r in range(tries[i])]  # fmt: skip
    names = ["model", "condition", "problem", "run", "outcome"]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), means


def first_runs(path: Path, means: list[float], *, held: bool) -> None:
    """Trying stopped at a pass: the score is that of first runs, and it is said."""
    data = load(path)
    assert data.frame.empty != held
    found = [data.system(*system).rate.mean() for system in data.systems]
    assert found == pytest.approx(means, abs=1e-12)
    assert "adaptive-stopping" in {n.code for n in data.notices}


@pytest.mark.parametrize("name", ["csv", "csv.gz", "jsonl", "parquet"])
def test_tries_until_a_pass_count_by_their_first(tmp_path, name):
    data, means = until_pass(300)
    path = DOORS[name](data, tmp_path)
    first_runs(path, means, held=True)
    with everything_is_large():
        first_runs(path, means, held=False)


def awkward(n: int, kind: str) -> tuple[Data, dict[str, Any]]:
    """Rows with lost runs, errors and retries; many scores, or nearly a million labels."""
    rng = np.random.default_rng(2606)
    problem, run = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(40), indexing="ij"))
    at = np.flatnonzero(rng.random(len(problem)) < 0.9)
    at = np.sort(np.concatenate([at, at[rng.random(len(at)) < 0.02]]))
    problem, run, failed = problem[at], run[at], rng.random(len(at)) < 0.03
    scores = rng.beta(0.5, 0.5, n)[problem].round(4)
    if kind != "scores":
        scores = (rng.random(len(at)) < scores).astype(float)
    data = {
        "model": np.where(problem % 2, "some/model-alpha", "some/model-beta").tolist(),
        "problem": [f"a-long-identifier-of-a-problem-{i // 2:05d}" for i in problem],
        # An engine takes a million labels.
        "run": (40 * (problem % 24_000) * (kind == "labels") + run).tolist(),
        "outcome": [None if e else y for y, e in zip(scores.tolist(), failed, strict=True)],
        "status": np.where(failed, "error", "ok").tolist(),
        "topic": [f"t{i // 2 % 9}" for i in problem],
        "digest": [rng.bytes(8).hex() for _ in at],
    }
    return data, {"errors": "fail", "missing": "fail", "retries": "last"}


@pytest.mark.full
@pytest.mark.parametrize("kind", ["passes", "scores", "labels"])
def test_above_every_size_that_is_held(tmp_path, kind):
    """Tables above 64 MiB and two million rows, as read by an engine and as read if held."""
    data, options = awkward(60_000, kind)
    assert len(data["run"]) > size.MANY_ROWS
    held = outcome_of(data, **options)  # a mapping of columns is never an engine's
    assert not held.frame.empty
    expected = essence(held)
    for name in sorted(DOORS):
        found = outcome_of(DOORS[name](data, tmp_path), **options)
        assert found.frame.empty, name
        assert essence(found) == expected, name
        for path in tmp_path.iterdir():
            path.unlink()


@pytest.mark.full
def test_tries_until_a_pass_above_the_size_that_is_held(tmp_path):
    data, means = until_pass(230_000)
    path = DOORS["csv"](data, tmp_path)
    assert path.stat().st_size > size.MANY_BYTES
    first_runs(path, means, held=False)
    first_runs(DOORS["csv"](until_pass(20_000)[0], tmp_path), until_pass(20_000)[1], held=True)
