"""Ten million rows to components of 16 models, and a duplicate among them (`make bench`)."""

import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.bench
pa = pytest.importorskip("pyarrow")

MODELS, PROBLEMS, RUNS = 16, 125_000, 5
READ = """
import sys, time
start = time.perf_counter()
import repeval
try:
    found = repeval.load(sys.argv[1])
    ceilings = [repeval.components(found.system(*s)).ceiling for s in found.systems]
    print(len(ceilings), "models")
except repeval.RepevalError as error:
    print(error)
seconds = time.perf_counter() - start
# The peak of this program alone: getrusage would count the one that started it, too.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(seconds, int(peak.split()[1]) / 1024)
"""


@pytest.fixture(scope="module")
def table():
    """Shuffled rows with known rates."""
    rng = np.random.default_rng(2606)
    size = MODELS * PROBLEMS * RUNS
    order = rng.permutation(size)
    model, rest = np.divmod(order, PROBLEMS * RUNS)
    problem, run = np.divmod(rest, RUNS)
    passed = rng.random(size) < rng.beta(0.2, 0.11, PROBLEMS)[problem]
    names = [pa.array([f"{kind}-{i}" for i in range(n)]) for kind, n in
             (("model", MODELS), ("problem", PROBLEMS))]  # fmt: skip
    return pa.table({
        "model": names[0].take(pa.array(model)), "problem": names[1].take(pa.array(problem)),
        "run": pa.array(run), "outcome": pa.array(passed.astype(np.int8)),
    })  # fmt: skip


def write(table, path):
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path, row_group_size=2**20)
    else:
        import pyarrow.csv as pc

        pc.write_csv(table, path)
    return path


def read(path):
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True,
                          check=True)  # fmt: skip
    text, figures = done.stdout.strip().split("\n")
    return text, *map(float, figures.split())


@pytest.mark.parametrize(("name", "limit"), [("t.parquet", 10), ("t.csv", 30)])
def test_ten_million_rows(table, tmp_path, record, name, limit):
    text, seconds, mebibytes = read(write(table, tmp_path / name))
    kind = {"t.parquet": "Parquet", "t.csv": "CSV"}[name]
    record(f"10,000,000 rows of {kind}", "repeval", seconds)
    record(f"10,000,000 rows of {kind}, MiB", "repeval", mebibytes)
    assert text == f"{MODELS} models"
    assert seconds < limit
    assert mebibytes < 1536


@pytest.mark.parametrize(("name", "first"), [("t.parquet", 1), ("t.csv", 2)])
def test_a_duplicate_among_them(table, tmp_path, name, first):
    at = 7_654_320
    doubled = pa.concat_tables([table.slice(0, at), table.slice(12, 1), table.slice(at)])
    text, _, mebibytes = read(write(doubled, tmp_path / name))
    assert f"row {at + first} has the same" in text
    assert f"as row {12 + first} " in text
    assert mebibytes < 1536
