"""Keep the medians of one run, and write them to `_build/benchmarks.json` at its end."""

import importlib.metadata
import json
import os
import platform
from pathlib import Path

import pytest

from repeval import __version__

MEDIANS: dict[str, dict[str, float]] = {}


@pytest.fixture
def timed(benchmark):
    """Time a call: `timed(task, who, call, rounds)` keeps the median in seconds."""

    def run(task, who, call, rounds):
        benchmark.group = task
        benchmark.pedantic(call, rounds=rounds, warmup_rounds=1)
        MEDIANS.setdefault(task, {})[who] = benchmark.stats.stats.median
        return MEDIANS[task][who]

    return run


@pytest.fixture
def ratio():
    """Return how many times faster ours was than a peer, in this run."""

    def of(task, peer):
        if peer not in MEDIANS.get(task, {}):
            pytest.skip(f"{peer} was not timed")
        return MEDIANS[task][peer] / MEDIANS[task]["repeval"]

    return of


@pytest.fixture
def record():
    """Keep a figure that was measured in another way."""

    def keep(task, who, value):
        MEDIANS.setdefault(task, {})[who] = value

    return keep


def pytest_sessionfinish(session):
    if not MEDIANS:
        return
    packages = ("numpy", "scipy", "pandas", "pyarrow", "arch", "evalstats")
    versions = {"python": platform.python_version(), "repeval": __version__}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    model = "unknown processor"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [li for li in cpuinfo.read_text().splitlines() if li.startswith("model name")]
        model = names[0].split(":")[1].strip() if names else model
    machine = {"processor": model, "cores": os.cpu_count(), "system": platform.system()}
    target = Path(session.config.rootpath) / "_build" / "benchmarks.json"
    target.parent.mkdir(exist_ok=True)
    document = {"machine": machine, "versions": versions, "seconds": MEDIANS}
    target.write_text(json.dumps(document, indent=1) + "\n")
