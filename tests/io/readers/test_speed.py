"""How long a directory of large logs takes, and how much memory."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from .inspect_logs import log, write

SEED = 2606

MEASURE = """
import json, resource, sys, time
start = time.perf_counter()
from repeval import analyze, load
data = load(sys.argv[1])
read = time.perf_counter() - start
analyze(data)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([len(data.frame), read, time.perf_counter() - start, peak]))
"""


@pytest.mark.full
@pytest.mark.parametrize("name", ["eval", "json"])
def test_three_dozen_large_logs(tmp_path, name):
    """36 logs of 250 samples x 3 epochs, 20 MB each: at most 20 s and 500 MiB."""
    rng = np.random.default_rng(SEED)
    pad = rng.bytes(2**17).hex()
    for m in range(36):
        outcomes = rng.integers(0, 2, (250, 3)).tolist()
        whole = log(outcomes, model=f"m{m}", attachment=lambda i, r: pad[i + r : 27_000 + i + r])
        write(tmp_path / f"{m}.{name}", whole)
    command = [sys.executable, "-c", MEASURE, str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    rows, read, total, peak = json.loads(done.stdout)
    assert rows == 36 * 750
    assert read < 20
    assert total < 20
    assert peak < 500
