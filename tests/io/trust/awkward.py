"""Write valid files of awkward shapes, answer for each in a process, and say what it took.

``python -m tests.io.trust.awkward FILE ...`` prints a line of JSON for each.
"""

from __future__ import annotations

import gzip
import json
import resource
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from .bombs import LIMIT, taken

HEADER = "model,problem,run,outcome\n"
CONDITIONS = "model,condition,problem,run,outcome\n"
LOG = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m", "config": {}}}
#: Rows of a table of about nine megabytes.
ROWS = 400_000


def bit(i: int) -> int:
    """Return 0 or 1, without a pattern that any rule of runs would see."""
    return (i * 2654435761 >> 7) & 1


def score(i: int) -> str:
    return f"{i * 7919 % 1000003 / 1000003:.6f}"


def own_models(n: int) -> Iterable[str]:
    return (f"m{i},p{i % 1000},1,{bit(i)}\n" for i in range(n))


def models(n: int) -> Iterable[str]:
    return (f"m{i // 50},p{i % 50},1,{bit(i)}\n" for i in range(n))


def models_apart(n: int) -> Iterable[str]:
    return (f"m{i // 100},p{i},1,{bit(i)}\n" for i in range(n))


def problems(n: int) -> Iterable[str]:
    return (f"m{i % 2},p{i // 4},{i // 2 % 2},{bit(i)}\n" for i in range(n))


def runs(n: int) -> Iterable[str]:
    return (f"m,p{i % 2},{i // 2},{bit(i)}\n" for i in range(n))


def run_labels(n: int) -> Iterable[str]:
    return (f"m{i % 2},p{i // 2 % 500},r{i},{bit(i)}\n" for i in range(n))


def scores(n: int) -> Iterable[str]:
    return (f"m,p{i // 100},{i % 100},{score(i)}\n" for i in range(n))


def one_long(n: int) -> Iterable[str]:
    """A problem with as many runs as there are others, which have one."""
    for i in range(n // 2):
        yield f"m,p0,{i},{score(i)}\n"
        yield f"m,p{i + 1},1,{score(i + 7)}\n"


def unequal(n: int) -> Iterable[str]:
    most = int((2 * n) ** 0.5)
    return (f"m,p{i},{r},{bit(i * 977 + r)}\n" for i in range(most) for r in range(i + 1))


def labels(n: int) -> Iterable[str]:
    return (f"m,p{i // 4},{i % 4},{bit(i)},{f'a{i // 40},' * 5}{i}\n" for i in range(n // 4))


def conditions(n: int) -> Iterable[str]:
    return (f"m,c{i // 50},p{i % 50},1,{bit(i)}\n" for i in range(n))


def crossed(n: int) -> Iterable[str]:
    return (f"m{i // 50 % 20},c{i // 1000},p{i % 50},1,{bit(i)}\n" for i in range(n))


def objects(folder: Path, n: int) -> Path:
    rows = (f'{{"problem":"p{i // 4}","run":{i % 4},"outcome":{bit(i)}}}' for i in range(n // 2))
    return written(folder / "objects.json", ["[", ",".join(rows), "]"])


def lines(folder: Path, n: int) -> Path:
    rows = (f'{{"problem":{i},"outcome":{bit(i)},"x":{{"a":[{{}}]}}}}\n' for i in range(n // 2))
    return written(folder / "lines.jsonl", rows)


def deep(folder: Path, n: int) -> Path:
    inner = "[" * 900 + "]" * 900
    rows = (f'{{"problem":{i},"outcome":{bit(i)},"x":{inner}}}\n' for i in range(n // 100))
    return written(folder / "deep.jsonl", rows)


def wide_runs(folder: Path, n: int) -> Path:
    names = "".join(f",run_{i}" for i in range(5000))
    rows = (f"m,p{k}," + ",".join(str(bit(k * 5000 + i)) for i in range(5000)) + "\n"
            for k in range(n // 1000))  # fmt: skip
    return written(folder / "wide_runs.csv", [f"model,problem{names}\n", *rows])


def cells(folder: Path, n: int) -> Path:
    rows = (f"m,p{k // 2},{k % 2},{bit(k)},{'x' * (n // 5)}\n" for k in range(100))
    return written(folder / "cells.csv", [HEADER.strip() + ",answer\n", *rows])


def ids(folder: Path, n: int) -> Path:
    rows = (f"m{k % 3},{'p' * 10_000}{k // 6},{k // 3 % 2},{bit(k)}\n" for k in range(n // 500))
    return written(folder / "ids.csv", [HEADER, *rows])


def counts(folder: Path, n: int) -> Path:
    rows = (f"m{i // 50},p{i % 50},5,{i % 6}\n" for i in range(n))
    return written(folder / "counts.csv", ["model,problem,n,c\n", *rows])


def log(folder: Path, n: int) -> Path:
    one = '{{"id":{},"epoch":{},"scores":{{"a":{{"value":"{}"}}}}}}'
    rows = ",".join(one.format(i % 9, i // 9 + 1, "CI"[bit(i)]) for i in range(n // 3))
    return written(folder / "log.json", [json.dumps(LOG)[:-1], ',"samples":[', rows, "]}"])


def zipped(folder: Path, n: int) -> Path:
    path = folder / "zipped.csv.gz"
    path.write_bytes(gzip.compress((HEADER + "".join(problems(n))).encode(), 6))
    return path


def written(path: Path, texts: Iterable[str]) -> Path:
    path.write_text("".join(texts))
    return path


def table(header: str, rows: Callable[[int], Iterable[str]]) -> Callable[[Path, int], Path]:
    return lambda folder, n: written(folder / f"{rows.__name__}.csv", [header, *rows(n)])


#: A function that writes each shape, with about so many rows, into a folder.
SHAPES: dict[str, Callable[[Path, int], Path]] = {
    rows.__name__: table(HEADER, rows)
    for rows in (own_models, models, models_apart, problems, runs, run_labels, scores, one_long,
                 unequal)
} | {
    rows.__name__: table(CONDITIONS, rows) for rows in (conditions, crossed)
} | {
    "labels": table(HEADER.strip() + ",a,b,c,d,e,f\n", labels),
} | {
    write.__name__: write
    for write in (objects, lines, deep, wide_runs, cells, ids, counts, log, zipped)
}  # fmt: skip
#: Those that are quick at a twentieth of the size, and took too much before.
QUICK = (
    "own_models", "models", "models_apart", "run_labels", "scores", "one_long", "unequal",
    "conditions", "objects",
)  # fmt: skip


def answered(path: Path) -> dict[str, object]:
    """Read a file, check it and write its JSON; return what `taken` does."""
    from repeval import analyze, load
    from repeval.report.format import json_pieces

    # As the command does, but to nowhere.
    return taken(path, lambda path: sum(map(len, json_pieces(analyze(load(path)).document()))))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
    for given in sys.argv[1:]:
        print(json.dumps(answered(Path(given))), flush=True)
