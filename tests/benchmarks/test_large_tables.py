"""Large tables to components of all models, and a duplicate among them (`make bench`).

Each is read by a program of its own, so that its peak of memory is its own. Time is that of all
processor cores, beside that of DuckDB for the same reduction written in SQL.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.bench
duckdb = pytest.importorskip("duckdb")

READ = """
import sys, time
start, began = time.perf_counter(), time.process_time()
import repeval
try:
    found = repeval.load(sys.argv[1:])
    ceilings = [repeval.components(found.system(*s)).ceiling for s in found.systems]
    print(len(ceilings), "models,", int(found.source.n_rows), "rows")
except repeval.RepevalError as error:
    print(error)
seconds = time.perf_counter() - start, time.process_time() - began
# The peak of this program alone: getrusage would count the one that started it, too.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(*seconds, int(peak.split()[1]) / 1024)
"""
#: By run first, so that a run that occurs twice is seen, then by problem.
QUERY = """
import sys, time, duckdb
duckdb.execute("SET enable_progress_bar = false")
began = time.process_time()
duckdb.sql(f'''
    SELECT model, problem, count(*), sum(y), sum(y * y), max(n) FROM (
        SELECT model, problem, run, count(*) AS n, sum(outcome) AS y
        FROM read_parquet({sys.argv[1:]}) GROUP BY ALL
    ) GROUP BY ALL
''').to_arrow_table()
print(time.process_time() - began)
"""
#: Scattered rows: the i-th one is number (i * STEP) modulo all, and STEP is prime.
STEP = 1_000_003
duckdb.execute("SET enable_progress_bar = false")


def write(folder, models, problems, runs, parts=1, outcome="(u < rate)::TINYINT", kind="parquet"):
    """Write rows with known rates to files."""
    size, paths = models * problems * runs, []
    for part in range(parts):
        paths.append(folder / f"part-{chr(97 + part)}.{kind}")
        low, high = part * size // parts, (part + 1) * size // parts
        duckdb.sql(f"""
            COPY (
                SELECT 'model-' || (j // {problems * runs}) AS model,
                       'problem-' || (j // {runs} % {problems}) AS problem,
                       j % {runs} AS run, {outcome} AS outcome
                FROM (
                    SELECT (i * {STEP}) % {size} AS j, hash(j) / 2.0 ** 64 AS u,
                           hash(j // {runs} % {problems}) / 2.0 ** 64 AS rate
                    FROM range({low}, {high}) AS t(i)
                )
            ) TO '{paths[-1]}' (FORMAT {kind})
        """)
    return paths


def ran(program, paths):
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, paths)], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return done.stdout.strip().split("\n")


def read(paths):
    text, figures = ran(READ, paths)
    return text, *map(float, figures.split())


@pytest.mark.parametrize(
    ("what", "shape", "options"),
    [
        ("R = 5", (16, 125_000, 5), {}),
        ("R = 5, 20 parts", (16, 125_000, 5), {"parts": 20}),
        ("R = 5, CSV", (16, 125_000, 5), {"kind": "csv"}),
        ("R = 100", (16, 6_250, 100), {}),
        ("R = 10,000", (10, 100, 10_000), {}),
        ("R = 100, scores of ten steps", (16, 6_250, 100), {"outcome": "round(u * rate, 1)"}),
        ("R = 100, scores", (16, 6_250, 100), {"outcome": "u * rate"}),
    ],
)
def test_ten_million_rows(tmp_path, record, what, shape, options):
    paths = write(tmp_path, *shape, **options)
    text, seconds, used, mebibytes = read(paths)
    assert text == f"{shape[0]} models, 10000000 rows"
    record(f"10,000,000 rows, {what}", "repeval", seconds)
    record(f"10,000,000 rows, {what}, processor", "repeval", used)
    record(f"10,000,000 rows, {what}, MiB", "repeval", mebibytes)
    print(what, f"{seconds:.1f} s, processor {used:.1f} s, {mebibytes:.0f} MiB")
    # Of scores that all differ every row arrives.
    every_row = what == "R = 100, scores"
    assert mebibytes < (2048 if every_row else 1024)
    if options.get("kind") != "csv":
        (query,) = map(float, ran(QUERY, paths))
        record(f"10,000,000 rows, {what}, processor", "DuckDB", query)
        print(f"DuckDB's group-by: {query:.1f} s")
        assert used < (6 if every_row else 3) * query


def test_a_hundred_million_rows(tmp_path, record):
    paths = write(tmp_path, 20, 50_000, 100, parts=20)
    text, seconds, used, mebibytes = read(paths)
    assert text == "20 models, 100000000 rows"
    for name, value in {"": seconds, ", processor": used, ", MiB": mebibytes}.items():
        record(f"100,000,000 rows in 20 parts, R = 100{name}", "repeval", value)
    print(f"{seconds:.1f} s, processor {used:.1f} s, {mebibytes:.0f} MiB")
    assert mebibytes < 2048


@pytest.mark.parametrize(("kind", "first"), [("parquet", 1), ("csv", 2)])
def test_a_duplicate_among_them(tmp_path, kind, first):
    (path,) = write(tmp_path, 16, 125_000, 5, kind=kind)
    doubled, at = tmp_path / f"doubled.{kind}", 7_654_320
    source = f"(SELECT *, row_number() OVER () - 1 AS i FROM '{path}')"
    duckdb.sql(f"""
        COPY (
            SELECT * EXCLUDE (i, k) FROM (
                SELECT *, i + (i >= {at})::INT AS k FROM {source}
                UNION ALL SELECT *, {at} AS k FROM {source} WHERE i = 12
            ) ORDER BY k
        ) TO '{doubled}' (FORMAT {kind})
    """)
    text, _, _, mebibytes = read([doubled])
    assert f"row {at + first} has the same" in text
    assert f"as row {12 + first} " in text
    assert mebibytes < 1536
