"""A table with runs and attempts at them: both readings are named, and neither is taken."""

import pytest

from repeval.io.load import load
from repeval.messages import RepevalError
from tests.io.engines.doors import everything_is_large

ROWS = [
    (model, problem, run, attempt, int(attempt == 2 or (problem + run) % 3 > 0))
    for model in "AB" for problem in range(6) for run in range(3)
    for attempt in ((1,) if (problem + run) % 3 else (1, 2))
]  # fmt: skip


NAMES = ("model", "problem", "run", "attempt", "outcome")


@pytest.fixture(params=["held", "large", "attempts first"])
def table(request, tmp_path):
    path = tmp_path / "att.csv"
    order = (3, 0, 1, 2, 4) if request.param == "attempts first" else range(5)
    lines = [",".join(str(row[i]) for i in order) for row in (NAMES, *ROWS)]
    path.write_text("\n".join(lines) + "\n")
    if request.param != "large":
        yield path
    else:
        pytest.importorskip("duckdb")
        with everything_is_large():
            yield path


def test_both_readings_of_attempts_are_named(table):
    with pytest.raises(RepevalError) as refusal:
        load(table)
    assert refusal.value.code == "doubtful-column"
    assert str(refusal.value).partition(". ")[2] == (
        "If they are attempts at one run, type --columns run=run --retries last (or first, or "
        "best). If each attempt is a run of its own, type --columns run=run+attempt."
    )


@pytest.mark.parametrize("retries", ["last", "first", "best"])
def test_with_retries_only_runs_are_suggested_and_that_is_read(table, retries):
    with pytest.raises(RepevalError) as refusal:
        load(table, retries=retries)
    assert f"type --columns run=run --retries {retries}." in str(refusal.value)
    assert "run=run+attempt" not in str(refusal.value)
    read = load(table, columns="run=run", retries=retries)
    # Every second attempt passes, every third run has one.
    assert read.rows()["outcome"].mean() == pytest.approx(2 / 3 if retries == "first" else 1)
