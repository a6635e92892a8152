"""Run a study, or take its table from the store that is addressed by all it depends on."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import json
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy

import repeval
from repeval.companion import kept
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
    path = store and Path(store) / f"{name}-{key(name, outcomes, parameters, seed)}.kept"
    if path and (text := kept.read(path)):  # what a full disk or a crash damaged is made again
        return pd.DataFrame(json.loads(text))
    tasks = study.tasks(outcomes, **parameters)
    done = each(functools.partial(study.rows, seed=seed, **parameters), tasks, jobs, name, executor)
    table = pd.DataFrame([row for rows in done for row in rows])
    if path:
        kept.keep(path, json.dumps(table.to_dict("list")))
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
    """Write a table, as `read` takes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(table.to_dict("list")), encoding="utf-8")


def _bar(total: int, what: str) -> Callable[[Iterable[Any]], Iterable[Any]]:
    """Return what shows how far a loop is, on a terminal; without tqdm nothing is shown."""
    try:
        from tqdm import tqdm
    except ImportError:
        return iter
    return functools.partial(tqdm, total=total, desc=what, unit="piece", disable=None)


def end_with_parent() -> None:
    """End this process when the one that started it is gone: it would wait for ever."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent:
            parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextlib.contextmanager
def workers(jobs: int) -> Iterator[Executor]:
    """Yield processes, which start when they are first asked, for one study or more."""
    # Spawned: a fork of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=end_with_parent)
    try:
        yield pool
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def each(
    function: Callable[[Any], Any],
    tasks: Iterable[Any],
    jobs: int,
    what: str,
    executor: Executor | None = None,
) -> Iterator[Any]:
    """Yield the function's value for every task, in order, with a bar on a terminal."""
    tasks: Sequence[Any] = list(tasks)
    jobs = max(1, min(jobs, len(tasks)))
    bar = _bar(len(tasks), what)
    if jobs == 1 and executor is None:
        yield from bar(map(function, tasks))
        return
    with workers(jobs) if executor is None else contextlib.nullcontext(executor) as pool:
        waiting = []
        try:
            waiting = [pool.submit(function, task) for task in tasks]
            yield from bar(future.result() for future in waiting)
        except BrokenExecutor:
            text = f"A process that computed {what} was ended from outside"
            raise refused("worker-ended", f"{text}, for lack of memory perhaps.") from None
        finally:
            for future in waiting:
                future.cancel()
