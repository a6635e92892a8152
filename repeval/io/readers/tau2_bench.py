"""tau2-bench: a JSON file, or a directory of one that lacks its simulations, and these."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from repeval.io.readers.base import Log, Record, Usage, amount, digest, parse_file, partial
from repeval.io.readers.totals import counted

NAME, TITLE = "tau2_bench", "tau2-bench log"

KEYS = (b'"info"', b'"agent_info"')
OTHERS = (b'"user_info"', b'"tasks"', b'"simulations"')
#: How a simulation ends when nothing went wrong.
ENDED = ("user_stop", "agent_stop")
#: The harness's own tolerance for a reward of 1.
TOLERANCE = 1e-6


def sniff(path: Path, head: bytes) -> bool:
    """Tell by the keys that come first, also for a directory."""
    if (path / "simulations").is_dir() and (path / "results.json").is_file():
        with (path / "results.json").open("rb") as file:
            head = file.read(2**16)
    start = head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
    return start and all(key in head for key in KEYS) and any(key in head for key in OTHERS)


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield the log of a file or directory; `scorer` has nothing to choose."""
    file = path / "results.json" if path.is_dir() else path
    results = parse_file(file)
    simulations: Sequence[dict[str, Any]] = results.get("simulations") or [
        parse_file(one) for one in sorted((file.parent / "simulations").glob("*.json"))
    ]
    info, tasks = results["info"], results.get("tasks") or ()
    asked = {str(task["id"]): digest(json.dumps(task, sort_keys=True)) for task in tasks}
    records = tuple(_record(one, asked) for one in simulations)
    agent, voice = info["agent_info"], info.get("audio_native_config") or {}
    planned = len(tasks) * (info.get("num_trials") or 0)
    yield Log(
        path,
        agent.get("llm") or voice.get("model") or "",
        records,
        task=(info.get("environment_info") or {}).get("domain_name") or "",
        created=results.get("timestamp") or "",
        status="unfinished" if len(records) < planned else "",
        settings={"scorer": "reward", **_settings(info)},
        notes=(*partial(records), *_totals(path, results, simulations)),
        usage=Usage.of((amount(one, "agent_cost"), None) for one in simulations),
    )


def _totals(
    path: Path, results: Mapping[str, Any], simulations: Sequence[Mapping[str, Any]]
) -> tuple[tuple[str, str], ...]:
    """Hold the index of a directory against its files, and each reward against its parts."""
    index, wrong = results.get("simulation_index"), 0
    for one in simulations:
        judged = one.get("reward_info") or {}
        # A reward is the product of its parts.
        if parts := (judged.get("reward_breakdown") or {}).values():
            wrong += _full(judged["reward"]) != all(map(_full, parts))
    return (
        *(counted(path, "simulations", len(index), len(simulations)) if index else ()),
        *counted(path, "trials whose details give another reward", 0, wrong),
    )


def _full(reward: float) -> bool:
    return abs(reward - 1) <= TOLERANCE


def _record(one: Mapping[str, Any], asked: Mapping[str, str]) -> Record:
    judged, reason = one.get("reward_info"), one.get("termination_reason")
    value = float(judged["reward"]) if judged else None
    if value is not None and _full(value):
        value = 1.0
    status = reason if reason not in (*ENDED, None) else "unscored" if value is None else None
    trial = one.get("trial")
    run = "" if trial is None else str(trial)
    return Record(one["task_id"], run, value, status, asked.get(str(one["task_id"])))


def _settings(info: Mapping[str, Any]) -> dict[str, str]:
    agent, user = info["agent_info"], info.get("user_info") or {}
    found = {"agent": agent.get("implementation"), "user": user.get("llm")}
    found |= agent.get("llm_args") or {}
    found |= {key.replace("_", " "): info.get(key) for key in ("max_steps", "max_errors")}
    return {key: str(value) for key, value in found.items() if value is not None}
