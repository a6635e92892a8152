"""Write the logs of agent harnesses of known outcomes: tau-bench, tau2-bench, tb, Harbor.

`outcomes` is (problems, runs); None is a run that never was. What else is to be in a trial is given
by `more`, a mapping from (problem, run) positions, from 0, to keys that replace the usual ones.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

Outcomes = Sequence[Sequence[Any]]
More = Mapping[tuple[int, int], Mapping[str, Any]]


def _trials(outcomes: Outcomes) -> Iterator[tuple[int, int, Any]]:
    """Yield problem, run and outcome as harnesses run them: trial by trial."""
    for r in range(len(outcomes[0])):
        for i, row in enumerate(outcomes):
            if row[r] is not None:
                yield i, r, row[r]


def dump(path: Path, value: Any) -> Path:
    """Write JSON, and the directories for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1))
    return path


def tau_bench(path: Path, outcomes: Outcomes, more: More | None = None) -> Path:
    """Write a list of trials; tasks are called 0, 1, ..., as trials are."""

    def trial(i: int, r: int, y: Any) -> dict[str, Any]:
        task = {"user_id": f"user_{i}", "actions": [], "instruction": f"Do {i}.", "outputs": []}
        info = {"task": task, "source": "user", "user_cost": 0.1, "reward_info": {"reward": y}}
        one = {"task_id": i, "reward": float(y), "info": info}
        traj = [{"role": "system", "content": "policy"}]
        return {**one, "traj": traj, "trial": r, **(more or {}).get((i, r), {})}

    return dump(path, [trial(*one) for one in _trials(outcomes)])


#: What tau-bench writes where a trial crashed.
CRASHED = {"reward": 0.0, "info": {"error": "boom", "traceback": "..."}, "traj": []}


def tau2_bench(
    path: Path,
    outcomes: Outcomes,
    more: More | None = None,
    *,
    model: str | None = "m",
    domain: str = "airline",
    timestamp: str = "2026-01-01T00:00:00",
    args: Mapping[str, Any] | None = None,
) -> Path:
    """Write one JSON file or, where `path` has no extension, a directory."""
    tasks = [{"id": str(i), "user_scenario": {"instructions": f"Do {i}."},
              "evaluation_criteria": {"actions": []}} for i in range(len(outcomes))]  # fmt: skip
    info = {
        "git_commit": "abc", "num_trials": len(outcomes[0]), "max_steps": 200, "max_errors": 10,
        "user_info": {"implementation": "user_simulator", "llm": "u", "llm_args": {}},
        "agent_info": {"implementation": "llm_agent", "llm": model, "llm_args": dict(args or {})},
        "environment_info": {"domain_name": domain, "policy": "..."}, "seed": 300,
    }  # fmt: skip
    simulations = [
        {"id": f"s{i}-{r}", "task_id": str(i), "termination_reason": "user_stop", "trial": r,
         "reward_info": {"reward": float(y), "reward_basis": ["DB", "COMMUNICATE"],
                         "reward_breakdown": {"DB": float(y), "COMMUNICATE": 1.0}},
         "messages": [], "seed": 1,
         **(more or {}).get((i, r), {})}
        for i, r, y in _trials(outcomes)
    ]  # fmt: skip
    whole = {"timestamp": timestamp, "info": info, "tasks": tasks}
    if path.suffix:
        return dump(path, {**whole, "simulations": simulations})
    index = [{"id": s["id"], "task_id": s["task_id"], "trial": s["trial"]} for s in simulations]
    dump(path / "results.json", {**whole, "simulation_index": index})
    for one in simulations:
        dump(path / "simulations" / f"{one['id']}.json", one)
    return path


def pass_at_k(trials: Iterable[tuple[str, bool]]) -> dict[str, float]:
    """Return the share of tasks with a pass in k trials drawn of each, for k = 2, 4, 5."""
    tasks: dict[str, list[bool]] = {}
    for task, passed in trials:
        tasks.setdefault(task, []).append(passed)
    least = min(map(len, tasks.values()), default=0)
    return {
        str(k): fmean(fmean(map(any, combinations(runs, k))) for runs in tasks.values())
        for k in (2, 4, 5) if k <= least
    }  # fmt: skip


def terminal_bench(
    path: Path,
    outcomes: Outcomes,
    more: More | None = None,
    *,
    whole: bool = True,
    single: bool = True,
    meta: Mapping[str, Any] | None = None,
) -> Path:
    """Write the directory of an invocation: its results, and those of its trials."""
    n, results = len(outcomes[0]), []
    for i, r, y in _trials(outcomes):
        name = f"t{i}.{r + 1}-of-{n}.{path.name}"
        trial = {
            "id": f"{i}-{r}", "trial_name": name, "task_id": f"t{i}", "instruction": f"Do {i}.",
            "is_resolved": bool(y), "failure_mode": "unset", "parser_results": {"test": "passed"},
            **(more or {}).get((i, r), {}),
        }  # fmt: skip
        results.append(trial)
        if single:
            dump(path / f"t{i}" / name / "results.json", trial)
    tasks: dict[bool, list[str]] = {True: [], False: []}
    for trial in results:
        tasks[bool(trial["is_resolved"])].append(trial["task_id"])
    if whole:
        sums = {"n_resolved": len(tasks[True]), "resolved_ids": tasks[True],
                "n_unresolved": len(tasks[False]), "unresolved_ids": tasks[False],
                "accuracy": len(tasks[True]) / len(results) if results else 0.0,
                "pass_at_k": pass_at_k((t["task_id"], bool(t["is_resolved"])) for t in results),
        }  # fmt: skip
        dump(path / "results.json", {"id": "x", "results": results, **sums})
    if meta is not None:
        about = {"run_id": path.name, "agent_name": "terminus", "model_name": "m"}
        times = {"start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T01:00:00"}
        dump(path / "run_metadata.json", {**about, **times, **meta})
    return path


def harbor(
    path: Path,
    outcomes: Outcomes,
    more: More | None = None,
    *,
    model: str | None = "m",
    agent: str = "terminus-2",
    planned: int | None = None,
) -> Path:
    """Write the directory of a job; the names of trials do not tell in which order they ran."""
    rewards, wrong, trials = {}, {}, []
    for i, r, y in _trials(outcomes):
        name = f"t{i}__{'zyx'[r]}{agent}"
        trial = {
            "id": f"{i}-{r}", "task_name": f"t{i}", "trial_name": name, "trial_uri": "file:///x",
            "source": "tb", "task_checksum": f"sum{i}",
            "config": {"agent": {"name": agent, "kwargs": {}}, "timeout_multiplier": 1.0},
            "agent_info": {"name": agent, "version": "2",
                           "model_info": {"name": model, "provider": "p"} if model else None},
            "verifier_result": {"rewards": {"reward": float(y)}}, "exception_info": None,
            "started_at": f"2026-01-0{r + 1}T00:00:00", **(more or {}).get((i, r), {}),
        }  # fmt: skip
        dump(path / name / "result.json", trial)
        trials.append(trial)
        own = (trial["verifier_result"] or {}).get("rewards") or {}
        for reward, value in own.items():
            rewards.setdefault(reward, {}).setdefault(str(value), []).append(name)
        if trial["exception_info"]:
            wrong.setdefault(trial["exception_info"]["exception_type"], []).append(name)
    n, errors = len(trials), sum(map(len, wrong.values()))
    judged = [t for t in trials if (t["verifier_result"] or {}).get("rewards")]
    first = [next(iter(t["verifier_result"]["rewards"].values())) for t in judged]
    values = [(t["task_name"], y) for t, y in zip(judged, first, strict=True)]
    single, binary = len(rewards) == 1, all(y in (0, 1) for y in first)
    system = {
        "n_trials": len(judged), "n_errors": errors, "reward_stats": rewards,
        "exception_stats": wrong,
        "metrics": [{"mean": fmean(first)}] if single else [],
        "pass_at_k": pass_at_k(values) if single and binary else {},
    }  # fmt: skip
    key = "__".join(filter(None, (agent, model, "tb")))
    stats = {"n_completed_trials": n, "n_errored_trials": errors, "evals": {key: system}}
    dump(path / "config.json", {"job_name": path.name})
    dump(path / "result.json", {"id": "x", "finished_at": "2026-01-09T00:00:00",
                                 "n_total_trials": planned or n, "stats": stats})  # fmt: skip
    return path
