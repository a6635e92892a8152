"""Logs of every format taken apart at random: a run lost, doubled or turned is never silent.

A log states totals of itself. Whatever one change makes of its scores is refused or said; where
nothing is said the scores are those of the whole log.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from repeval import load
from repeval.io.formats import READERS
from repeval.messages import RepevalError
from tests.io.readers import (
    agent_logs,
    eee_logs,
    evalplus_logs,
    inspect_logs,
    lm_eval_logs,
    openai_evals_logs,
    promptfoo_logs,
    swebench_logs,
)

SEED = 2606
CHANGES = ("lost", "doubled", "turned")
Rows = list[dict[str, Any]]
Outcomes = list[list[int]]


def outcomes(rng: random.Random, runs: int) -> Outcomes:
    """Random outcomes of problems between one that is always passed and one that never is."""
    rows = [[rng.randint(0, 1) for _ in range(runs)] for _ in range(rng.randint(4, 7))]
    return [[1] * runs, *rows, [0] * runs]


def apart(rows: Rows, change: str, rng: random.Random, turn: Callable[[Any], None]) -> None:
    """Change one row at random."""
    at = rng.randrange(len(rows))
    if change == "lost":
        del rows[at]
    elif change == "doubled":
        rows.insert(rng.randrange(len(rows) + 1), json.loads(json.dumps(rows[at])))
    elif change:
        turn(rows[at])


def rewrite(path: Path, rows: Callable[[Any], Rows], *args: Any) -> Path:
    whole = json.loads(path.read_text())
    apart(rows(whole), *args)
    path.write_text(json.dumps(whole))
    return path


def relines(path: Path, ours: Callable[[Any], Any], *args: Any) -> Path:
    """Change one of a file's lines that are ours."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    part = [row for row in rows if ours(row)]
    apart(part, *args)
    lines = [row for row in rows if not ours(row)] + part
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))
    return path


def flip(key: str, *below: str) -> Callable[[Any], None]:
    """Return what turns a number, or a truth value, below such keys."""

    def turn(row: Any) -> None:
        for one in below:
            row = row[one]
        row[key] = type(row[key])(1 - row[key])

    return turn


def inspect(folder: Path, change: str, rng: random.Random) -> Path:
    tensor = outcomes(rng, 2)
    whole = inspect_logs.log(tensor)
    metrics = {"accuracy": {"name": "accuracy", "value": fmean(map(fmean, tensor))}}
    whole["results"]["scores"] = [{"name": "choice", "scorer": "choice", "metrics": metrics,
                                   "scored_samples": len(tensor),
                                   "unscored_samples": 0}]  # fmt: skip

    def turn(sample: Any) -> None:
        score = sample["scores"]["choice"]
        score["value"] = {"C": "I", "I": "C"}[score["value"]]

    apart(whole["samples"], change, rng, turn)
    return inspect_logs.write(folder / f"a{rng.choice(['.json', '.eval'])}", whole)


def tau_bench(folder: Path, change: str, rng: random.Random) -> Path:
    path = agent_logs.tau_bench(folder / "log.json", outcomes(rng, 2))
    return rewrite(path, lambda whole: whole, change, rng, flip("reward"))


def tau2_bench(folder: Path, change: str, rng: random.Random) -> Path:
    path = agent_logs.tau2_bench(folder / "log.json", outcomes(rng, 2))
    return rewrite(path, lambda whole: whole["simulations"], change, rng,
                   flip("reward", "reward_info"))  # fmt: skip


def terminal_bench(folder: Path, change: str, rng: random.Random) -> Path:
    path = agent_logs.terminal_bench(folder / "log", outcomes(rng, 2), single=False)
    rewrite(path / "results.json", lambda w: w["results"], change, rng, flip("is_resolved"))
    return path


def harbor(folder: Path, change: str, rng: random.Random) -> Path:
    path = agent_logs.harbor(folder / "log", outcomes(rng, 2))
    one = rng.choice(sorted(path.glob("*/result.json")))
    if change == "lost":
        one.unlink()
    elif change == "doubled":
        shutil.copytree(one.parent, one.parent.with_name("again"))
    elif change:
        trial = json.loads(one.read_text())
        flip("reward", "verifier_result", "rewards")(trial)
        one.write_text(json.dumps(trial))
    return path


def lm_eval(folder: Path, change: str, rng: random.Random) -> Path:
    path = lm_eval_logs.write(folder, [row[0] for row in outcomes(rng, 1)])
    return relines(path, lambda row: True, change, rng, flip("acc"))


def swebench(folder: Path, change: str, rng: random.Random) -> Path:
    tensor = outcomes(rng, 1)
    ids = [f"org__repo-{i}" for i in range(len(tensor))]
    (path,) = swebench_logs.write_runs(folder, tensor, ids=ids)
    whole = json.loads(path.read_text())
    at = rng.choice(ids)
    ours = next(key for key in ("resolved_ids", "unresolved_ids") if at in whole[key])
    other = {"resolved_ids": "unresolved_ids", "unresolved_ids": "resolved_ids"}[ours]
    if change in ("lost", "turned"):
        whole[ours].remove(at)
    if change:
        whole[other if change == "turned" else ours] += [at] * (change != "lost")
    path.write_text(json.dumps(whole))
    return path


def evalplus(folder: Path, change: str, rng: random.Random) -> Path:
    path = evalplus_logs.write(folder / "m_eval_results.json", outcomes(rng, 3))
    task = f"HumanEval/{rng.randrange(6)}"

    def turn(row: Any) -> None:
        row["base_status"] = {"pass": "fail", "fail": "pass"}[row["base_status"]]

    return rewrite(path, lambda whole: whole["eval"][task], change, rng, turn)


def promptfoo(folder: Path, change: str, rng: random.Random) -> Path:
    path = folder / "log.json"
    promptfoo_logs.write(path, {("m", "p"): outcomes(rng, 2), ("n", "p"): outcomes(rng, 2)})
    return rewrite(path, lambda whole: whole["results"]["results"], change, rng, flip("success"))


def openai_evals(folder: Path, change: str, rng: random.Random) -> Path:
    path = openai_evals_logs.write(folder / "log.jsonl", [row[0] for row in outcomes(rng, 1)])
    return relines(path, lambda row: row.get("type") == "match", change, rng,
                   flip("correct", "data"))  # fmt: skip


def eee(folder: Path, change: str, rng: random.Random) -> Path:
    """Neither the number of rows nor a checksum is stated; samples or runs are counted."""
    tensor = outcomes(rng, 2)
    lines = eee_logs.rows(tensor, run=rng.choice(["epoch", ""]))
    size = rng.choice([len(tensor), len(lines)])
    about = eee_logs.evaluation(fmean(map(fmean, tensor)), n_samples=size)
    apart(lines, change, rng, flip("score", "evaluation"))
    return eee_logs.write(folder, lines, about)


WRITERS = {
    writer.__name__: writer
    for writer in (inspect, tau_bench, tau2_bench, terminal_bench, harbor, lm_eval, swebench,
                   evalplus, promptfoo, openai_evals, eee)
}  # fmt: skip


def read(path: Path) -> tuple[dict[Any, float], int]:
    """Return the pass rate of each system's problems, and how many runs are missing."""
    data = load(path)
    rates = {(row.model, row.problem): row.passes / row.runs for row in data.counts().itertuples()}
    return rates, sum(data.missing_runs(*system) for system in data.systems)


def said(path: Path) -> list[str]:
    return [notice.text for notice in load(path).notices if notice.code == "totals-differ"]


def check(name: str, change: str, seed: int, folder: Path) -> None:
    def written(change: str) -> Path:
        return WRITERS[name](folder / (change or "whole"), change, random.Random(f"{name}{seed}"))

    for part in ("whole", change):
        (folder / part).mkdir(parents=True)
    whole = written("")
    assert said(whole) == []
    path = written(change)
    try:
        texts = said(path)
    except RepevalError:
        return
    rates, missing = read(path)
    assert texts or missing or rates == read(whole)[0]


def test_all_formats_are_here():
    assert set(WRITERS) == set(READERS)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", WRITERS)
def test_a_run_lost_doubled_or_turned_is_never_silent(tmp_path, name, change):
    for seed in range(SEED, SEED + 2):
        check(name, change, seed, tmp_path / str(seed))


@pytest.mark.full
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", WRITERS)
def test_nor_are_many(tmp_path, name, change):
    for seed in range(SEED + 2, SEED + 202):
        check(name, change, seed, tmp_path / str(seed))
