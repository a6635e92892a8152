"""Dask on a cluster of two processes: the bytes and refusals of a held table, whoever dies."""

from __future__ import annotations

import os
import signal
import threading
import time

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.distributed import Client, LocalCluster

from repeval import RepevalError

from .doors import assert_same, everything_is_large, outcome_of

KEYS = ["model", "problem", "run"]


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1"}
    with (
        dask.config.set({"distributed.worker.memory.terminate": False}),
        LocalCluster(**options, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def judged(n_problems: int = 12, runs: int = 3) -> pd.DataFrame:
    """Rows of two systems in no order, one run missing, and labels of problems."""
    rng = np.random.default_rng(2606)
    keys = [(m, f"p{i}", r) for m in "ab" for i in range(n_problems) for r in range(runs)]
    frame = pd.DataFrame(keys, columns=KEYS).assign(topic=lambda f: f["problem"].str[-1])
    frame["outcome"] = rng.integers(0, 2, len(frame)).astype(float)
    return frame.sample(frac=1, random_state=2606, ignore_index=True).iloc[1:]


def test_a_cluster_gives_the_bytes_of_a_held_table(client):
    held, found = outcome_of(judged()), None
    with everything_is_large():
        found = outcome_of(dd.from_pandas(judged(), npartitions=3))
    assert_same(held, found)


@pytest.mark.parametrize("fault", ["duplicate", "nan", "range", "one problem"])
def test_a_cluster_refuses_what_a_held_table_is_refused_for(client, fault):
    frame = judged()
    if fault == "duplicate":  # In another partition than the first of them.
        frame = pd.concat([frame, frame.iloc[[0]]])
    elif fault == "one problem":
        frame = frame[frame["problem"] == "p3"]
    else:
        frame.iloc[7, frame.columns.get_loc("outcome")] = {"nan": np.nan, "range": 1.5}[fault]
    frame = frame.reset_index(drop=True)
    held = outcome_of(frame)
    with everything_is_large():
        found = outcome_of(dd.from_pandas(frame, npartitions=3))
    assert isinstance(held, RepevalError)
    assert_same(held, found)


def _slow(frame: pd.DataFrame) -> pd.DataFrame:
    time.sleep(0.1)
    return frame


def test_a_worker_that_is_killed_loses_nothing(client):
    before = set(client.run(os.getpid).values())

    def kill() -> None:
        time.sleep(0.5)
        os.kill(min(before), signal.SIGKILL)

    frame = dd.from_pandas(judged(), npartitions=4)
    frame = frame.map_partitions(_slow, meta=frame._meta)
    killer = threading.Thread(target=kill)
    killer.start()
    with everything_is_large():
        found = outcome_of(frame)
    killer.join()
    assert_same(outcome_of(judged()), found)
    client.wait_for_workers(2, timeout=30)
    assert min(before) not in client.run(os.getpid).values()
