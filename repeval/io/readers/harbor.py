"""Harbor: the directory of a job, with a ``result.json`` in the directory of each trial."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from repeval.io.readers.base import Log, Record, Usage, amount, choose, parse_file, partial
from repeval.io.readers.totals import counted, solved, tallied, totals

NAME, TITLE = "harbor", "Harbor job"

KEYS = (b'"task_name"', b'"trial_name"')


def sniff(path: Path, head: bytes) -> bool:
    """Tell a job by the results of its trials; a trial alone is none."""
    return any(all(key in _head(file) for key in KEYS) for file in _trials(path))


def _trials(path: Path) -> Iterator[Path]:
    return (file for file in path.glob("*/result.json") if file.is_file())


def _head(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(2**16)


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield a log for each data set and system of a job; `scorer` is one of the rewards."""
    trials = [parse_file(file) for file in _trials(path)]
    reward = choose((key for trial in trials for key in _rewards(trial)), scorer, path, "rewards")
    # Which attempt a trial was is written nowhere.
    trials.sort(key=lambda trial: (trial.get("started_at") or "", trial["trial_name"]))
    systems: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for trial in trials:
        agent = trial.get("agent_info") or {}
        model = (agent.get("model_info") or {}).get("name")
        systems[trial.get("source") or "", agent.get("name") or "", model or ""].append(trial)
    several = len({agent for _, agent, _ in systems}) > 1
    job = path / "result.json"
    about = parse_file(job) if job.is_file() else {}
    planned = about.get("n_total_trials")
    notes = tuple(_totals(path, about, trials, reward))
    for (source, agent, model), found in systems.items():
        seen: Counter[str] = Counter()
        records = tuple(_record(trial, reward, seen) for trial in found)
        yield Log(
            path,
            (f"{agent}/{model}" if several else model) if model else agent,
            records,
            task=source,
            created=found[0].get("started_at") or "",
            status="unfinished" if (planned or 0) > len(trials) else "",
            settings={"scorer": reward, **_settings(found[0])},
            notes=(*partial(records), *notes),
            usage=Usage.of(map(_used, found)),
        )


def _used(trial: Mapping[str, Any]) -> tuple[float | None, float | None]:
    tokens = [amount(trial, "agent_result", f"n_{way}_tokens") for way in ("input", "output")]
    return amount(trial, "agent_result", "cost_usd"), None if None in tokens else sum(tokens)


def _totals(
    path: Path, about: Mapping[str, Any], trials: Sequence[Mapping[str, Any]], reward: str
) -> Iterator[tuple[str, str]]:
    """Hold a job's numbers of trials and errors, and what it says of each system, against them."""
    stats, names = about.get("stats") or {}, Counter(trial["trial_name"] for trial in trials)
    # While a job runs it is summed up a little later than its trials.
    running = about.get("finished_at", "") is None

    def held(what: str, stated: Any, *read: int) -> Iterator[tuple[str, str]]:
        late = running and isinstance(stated, int) and stated < max(read)
        if stated not in read and not late:
            yield from counted(path, what, stated, read[0])

    failed = {trial["trial_name"] for trial in trials if _failed(trial)}
    done, errors = stats.get("n_completed_trials"), stats.get("n_errored_trials")
    yield from held("trials", stats.get("n_trials") if done is None else done, len(trials))
    errors = stats.get("n_errors") if errors is None else errors
    yield from held("errors", errors, *_broken(trials))
    yield from tallied(path, "trials", [*names], names.elements())
    own = {trial["trial_name"]: _rewards(trial).get(reward) for trial in trials}
    for system, one in (stats.get("evals") or {}).items():
        for value, listed in (one.get("reward_stats") or {}).get(reward, {}).items():
            n = sum(own.get(name) == float(value) for name in listed)
            yield from counted(path, f"trials of {reward} {value}", len(listed), n)
        for wrong, listed in (one.get("exception_stats") or {}).items():
            yield from counted(path, f"trials with {wrong}", len(listed), len({*listed} & failed))
        if not (ours := [trial for trial in trials if _system(trial) == system]):
            continue
        judged = [trial for trial in ours if _rewards(trial)]
        # Newer versions say beside which errors a reward does not count.
        void = [trial["trial_name"] for trial in judged if not trial.get("reward_valid", True)]
        n = (len(judged) - len(void), len(judged), len(ours))
        yield from held(f"trials of {system}", one.get("n_trials"), *n)
        yield from held(f"errors of {system}", one.get("n_errors"), *_broken(ours))
        if running or any(len(_rewards(trial)) > 1 for trial in judged):
            continue
        judged = [t for t in ours if t["trial_name"] not in void]
        rest = [{**t, "verifier_result": None} for t in ours if t["trial_name"] in void]
        records = [_record(trial, reward, Counter()) for trial in (*judged, *rest)]
        for metric in one.get("metrics") or ():
            yield from totals(path, f"mean {reward} of {system}", metric.get("mean"), records)
        yield from solved(path, one.get("pass_at_k"), records)


def _system(trial: Mapping[str, Any]) -> str:
    """Return what a job calls agent, model and data set of a trial."""
    agent = trial.get("agent_info") or {}
    model = (agent.get("model_info") or {}).get("name")
    parts = (agent.get("name"), model, trial.get("source") or "adhoc")
    return "__".join(str(part) for part in parts if part)


def _broken(trials: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Return how many trials broke off, or had a step that did, and how many themselves did."""
    return sum(map(_failed, trials)), sum(bool(trial.get("exception_info")) for trial in trials)


def _failed(trial: Mapping[str, Any]) -> bool:
    """Tell whether a trial, or a step of it, broke off."""
    parts = (trial, *(trial.get("step_results") or ()))
    return any(part.get("exception_info") for part in parts)


def _rewards(trial: Mapping[str, Any]) -> dict[str, Any]:
    return (trial.get("verifier_result") or {}).get("rewards") or {}


def _record(trial: Mapping[str, Any], reward: str, seen: Counter[str]) -> Record:
    value, wrong = _rewards(trial).get(reward), trial.get("exception_info")
    status = wrong["exception_type"] if wrong else "unscored"
    seen[trial["task_name"]] += 1
    return Record(
        trial["task_name"],
        str(seen[trial["task_name"]]),
        # A score beside an exception counts: time ran out after the task was solved.
        None if value is None else float(value),
        status if value is None else "error" if wrong else None,
        trial.get("task_checksum"),
    )


def _settings(trial: Mapping[str, Any]) -> dict[str, str]:
    config, agent = trial.get("config") or {}, trial.get("agent_info") or {}
    found = {"agent": agent.get("name"), "agent version": agent.get("version")}
    found |= {"agent options": (config.get("agent") or {}).get("kwargs") or None}
    found |= {"timeout multiplier": config.get("timeout_multiplier")}
    return {key: str(value) for key, value in found.items() if value is not None}
