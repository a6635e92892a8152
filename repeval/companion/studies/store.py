"""Run a study, or take its table from the store that is addressed by all it depends on."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy

import repeval
from repeval.messages import refused
from repeval.stats.resampling import DEFAULT_SEED

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

#: Every study, and what it computes.
STUDIES: dict[str, str] = {
    "coverage": "how often the named intervals cover, on data sets drawn from matched Betas",
    "pilot": "components from a few runs of half the problems against the other half",
    "halfsplits": "one half of the problems predicted from the other",
    "subsets": "ceilings on random subsets of the problems",
    "pairsize": "how often a paired comparison tells two equally good systems apart",
    "temperature": "components and ceilings of simulated problems at rising temperature",
    "rank_coverage": "how often rank intervals and rank sets hold the true rank",
    "strategies": "how often five bootstrap strategies cover the value of a single run",
}

#: What may change a figure, below the package.
NUMERIC = ("stats/**/*.py", "io/outcomes.py", "companion/studies/*.py")


def result(
    name: str,
    outcomes: Outcomes | None,
    *,
    size: str = "quick",
    seed: int = DEFAULT_SEED,
    jobs: int = 1,
    store: Path | None = None,
    executor: Executor | None = None,
) -> pd.DataFrame:
    """Return the table of a study, computing it unless the store has it.

    Parameters
    ----------
    name : str
        A key of `STUDIES`.
    outcomes : Outcomes or None
        The data, for studies of data.
    size : {"quick", "full"}
    seed : int
    jobs : int
        Processes. The table does not depend on it.
    store : Path, optional
        Folder of stored tables. None: neither read nor written.
    executor : concurrent.futures.Executor, optional
        Where to compute in place of `jobs` processes: threads, processes, or a cluster's, such as
        Dask's ``client.get_executor()``. It is left open, and the table does not depend on it.

    Raises
    ------
    RepevalError
        If the data lack what the study needs.
    """
    study = importlib.import_module(f"repeval.companion.studies.{name}")
    options = {"seed": seed, "jobs": jobs, "store": store, "executor": executor}
    return run(name, outcomes, study.SIZES[size], **options)


def run(
    name: str,
    outcomes: Outcomes | None,
    parameters: dict[str, Any],
    *,
    seed: int = DEFAULT_SEED,
    jobs: int = 1,
    store: Path | None = None,
    executor: Executor | None = None,
) -> pd.DataFrame:
    """Return the table of a study for parameters of one's own; else as `result`."""
    study = importlib.import_module(f"repeval.companion.studies.{name}")
    path = store and Path(store) / f"{name}-{key(name, outcomes, parameters, seed)}.json"
    if path and path.exists():
        with contextlib.suppress(ValueError):  # what a full disk or a crash damaged is made again
            return read(path)
    tasks = study.tasks(outcomes, **parameters)
    done = each(functools.partial(study.rows, seed=seed, **parameters), tasks, jobs, name, executor)
    table = pd.DataFrame([row for rows in done for row in rows])
    if path:
        write(table, path)
    return table


def key(name: str, outcomes: Outcomes | None, parameters: dict[str, Any], seed: int) -> str:
    """Return the hash of all that a study's table depends on."""
    home = Path(repeval.__file__).parent
    files = [path for pattern in NUMERIC for path in home.glob(pattern)]
    depends = {
        "study": name,
        "parameters": parameters,
        "seed": seed,
        "data": outcomes and fingerprint(outcomes),
        "source": {
            path.relative_to(home).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(files)
        },
        "versions": [np.__version__, scipy.__version__, pd.__version__],
    }
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:32]


def fingerprint(outcomes: Outcomes) -> str:
    """Return the hash of the outcomes as they are used, after all policies."""
    frame = outcomes.rows().to_csv(index=False)
    about = [outcomes.source.excluded, outcomes.source.default_condition]
    return hashlib.sha256((frame + json.dumps(about)).encode()).hexdigest()


def read(path: Path) -> pd.DataFrame:
    """Read a stored table; text stays text, and numbers keep every digit."""
    return pd.DataFrame(json.loads(path.read_text(encoding="utf-8")))


def write(table: pd.DataFrame, path: Path) -> None:
    """Write a table beside its place and rename it: never half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(table.to_dict("list")), encoding="utf-8")
    part.replace(path)


def each(
    function: Callable[[Any], Any],
    tasks: Iterable[Any],
    jobs: int,
    what: str,
    executor: Executor | None = None,
) -> Iterator[Any]:
    """Yield the function's value for every task, in order, with a bar on a terminal."""
    from tqdm import tqdm

    tasks: Sequence[Any] = list(tasks)
    jobs = max(1, min(jobs, len(tasks)))
    bar = functools.partial(tqdm, total=len(tasks), desc=what, unit="piece", disable=None)
    if jobs == 1 and executor is None:
        yield from bar(map(function, tasks))
        return
    # Spawned: a fork of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    pool = executor or ProcessPoolExecutor(jobs, mp_context=context)
    waiting = []
    try:
        waiting = [pool.submit(function, task) for task in tasks]
        yield from bar(future.result() for future in waiting)
    except BrokenExecutor:
        text = f"A process that computed {what} was ended from outside, for lack of memory perhaps."
        raise refused("worker-ended", text) from None
    except BaseException:
        if executor is None:
            for process in multiprocessing.active_children():
                process.terminate()
        raise
    finally:
        for future in waiting:
            future.cancel()
        if executor is None:
            pool.shutdown(cancel_futures=True)
