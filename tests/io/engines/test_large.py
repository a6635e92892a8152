"""Large tables, reduced by an engine: the same answers, notices and refusals as held ones."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .doors import DOORS, Data, assert_same, held_and_reduced

SEED = 2606
LABELS = {
    "numbers": lambda r, i: r, "words": lambda r, i: f"run {r}", "zeros": lambda r, i: f"{r:02}",
    "own": lambda r, i: 1000 * i + r, "floats": lambda r, i: r + 0.5,
}  # fmt: skip
SCORES = {
    "binary": [0, 1], "bool": [False, True], "floats": [0.0, 1.0], "graded": [0.0, 0.25, 1.0],
    "thirds": [0.1, 0.2, 0.7, 1 / 3], "words": ["pass", "FAIL", "passed"], "ratings": [1, 2, 3, 5],
    "percent": ["50 %", "100%", "0 %"], "bad": [0.0, 1.0, 1.5], "mixed": ["pass", "yes", "no"],
}  # fmt: skip
OPTIONS = {
    "missing": [None, None, "keep", "drop-problem", "fail", "error"],
    "errors": ["missing", "missing", "fail"], "retries": [None, "last", "best", "first"],
    "failed_runs": [None, "leave-out"], "pass_at": [None, None, 0.5],
}  # fmt: skip


@st.composite
def tables(draw) -> tuple[Data, dict]:
    """Rows of systems with lost runs, errors, retries, cached and replayed answers, odd labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    pick = lambda options: draw(st.sampled_from(options))  # noqa: E731
    n_problems, n_runs = pick([2, 5, 12, 40]), pick([1, 2, 3, 5, 40])
    n_runs = min(n_runs, 400 // n_problems)
    label, kind = LABELS[pick(sorted(LABELS))], pick([*sorted(SCORES), *["binary"] * 6])
    values, rows = SCORES[kind], []
    lost, empty, again, cached = (pick([0, 0, 0, 0.05, 0.4]) for _ in range(4))
    shape = pick(["plain", "plain", "plain", "replay", "dead", "until-pass"])
    for model in ["m", "n/2"][: pick([1, 2])]:
        for condition in ["x", "y"][: pick([1, 1, 2])]:
            rates = rng.beta(0.5, 0.5, n_problems)
            for i in range(n_problems):
                at = (rng.random(n_runs) < rates[i]) * (len(values) - 1)
                at = np.where(rng.random(n_runs) < 0.5, at, rng.integers(0, len(values), n_runs))
                if shape == "replay" and n_runs > 2:
                    at[2] = at[0]
                if shape == "dead":
                    at[-1] = 0
                for r in range(n_runs):
                    if rng.random() < lost:
                        continue
                    for _ in range(1 + (rng.random() < again / 4)):
                        y = None if rng.random() < empty else values[at[r]]
                        hit = bool(rng.random() < cached)
                        topic = pick_by(rng, i)
                        rows.append((model, condition, f"p{i}", label(r, i), y, hit, topic))
                    if shape == "until-pass" and at[r]:
                        break
    order = rng.permutation(len(rows)) if rows else []
    rows = [rows[i] for i in order] or [("m", "x", "p0", 1, values[0], False, "t")]
    names = ["model", "condition", "problem", "run", "outcome", "cached", "topic"]
    data = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    if empty or pick([True, False]):
        data["status"] = ["error" if y is None or rng.random() < empty / 9 else "ok"
                          for y in data["outcome"]]  # fmt: skip
    for name, needed in (
        ("cached", cached),
        ("condition", pick([0, 1])),
        ("run", pick([0, 1, 1, 1])),
    ):
        if not needed:
            del data[name]
    if pick([0, 0, 1]):
        data["difficulty"] = [int(p[1:]) % 3 or None for p in data["problem"]]
        data["answer"] = [f"{i},x" for i in range(len(rows))]
        data["task"] = [f"t{int(p[1:]) % 2}" for p in data["problem"]]
    options = {name: pick(of) for name, of in OPTIONS.items()}
    if kind == "ratings":
        options["scale"] = pick([(1, 5), (0, 5), None])
    return data, options


def pick_by(rng: np.random.Generator, problem: int) -> str:
    return ["algebra", "number theory", ""][problem % 3]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), st.sampled_from(["parquet", "polars-lazy", "duckdb", "csv"]))
def test_every_table_is_read_as_a_held_one(tmp_path_factory, drawn, door):
    data, options = drawn
    given_ = DOORS[door](data, tmp_path_factory.mktemp("large"))
    held, found = held_and_reduced(given_, **options)
    assert_same(held, found, (door, options))
