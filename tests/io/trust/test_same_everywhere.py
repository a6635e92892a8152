"""The same runs, written in another way, give the same answer, or are refused for the same reason.

Data and policies are those of `tables`: lost runs, errors, retries, stopping at a pass, labels.
"""

from __future__ import annotations

import json
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

#: Quick and full numbers of cases.
QUICK, FULL = 40, 50_000

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
    """Parts in folders, in the order of the rows."""
    n = len(data["outcome"])
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


def same_everywhere(tmp_path_factory: Any, drawn: Any, change: str, large: bool, seed: int) -> None:
    data, options = drawn
    folder = tmp_path_factory.mktemp("same")
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    # Replayed runs, and what was wrong with runs that count, do not become records.
    whole = change != "converted"
    expected = essence(outcome_of(DOORS["csv"](data, folder / "a"), **options), whole)
    rng = np.random.default_rng(seed)
    other, changed = CHANGES[change](data, dict(options), folder / "b", rng)
    if large:
        with everything_is_large():
            found = outcome_of(other, **changed)
    else:
        found = outcome_of(other, **changed)
    assert essence(found, whole) == expected, (change, large, options)


CASES = given(tables(), st.sampled_from(sorted(CHANGES)), st.booleans(), st.integers(0, 99))
#: A failure shows its data; to make them smaller takes minutes.
HOW = {"deadline": None, "suppress_health_check": list(HealthCheck), "phases": [Phase.generate]}


@settings(max_examples=QUICK, **HOW)
@CASES
def test_another_way_of_writing_changes_nothing(tmp_path_factory, drawn, change, large, seed):
    same_everywhere(tmp_path_factory, drawn, change, large, seed)


@pytest.mark.full
@settings(max_examples=FULL, **HOW)
@CASES
def test_another_way_of_writing_changes_nothing_in_many(
    tmp_path_factory, drawn, change, large, seed
):
    same_everywhere(tmp_path_factory, drawn, change, large, seed)


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


@pytest.mark.full
def test_tries_until_a_pass_above_the_size_that_is_held(tmp_path):
    data, means = until_pass(230_000)
    path = DOORS["csv"](data, tmp_path)
    assert path.stat().st_size > size.MANY_BYTES
    first_runs(path, means, held=False)
    first_runs(DOORS["csv"](until_pass(20_000)[0], tmp_path), until_pass(20_000)[1], held=True)
