"""What any small file may take: 40 times its bytes and 300 MiB of memory, and 20 seconds.

Where DuckDB reads a packed file that cannot be held it takes 50 MiB more.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from repeval.io.containers.room import ANYWAY, TIMES
from repeval.io.rules.settle import MOST_SYSTEMS
from repeval.report.rows import ALL_PAIRS, MOST_PAIRS
from repeval.stats.pairs import apart, many
from repeval.stats.resampling import MANY_RUNS, NEAR

from .awkward import QUICK, ROWS, SHAPES
from .bombs import BOMBS

#: Shapes that are refused.
REFUSED = {"own_models": "too-many-systems", "wide_runs": "member-too-large"}
ROOT = Path(__file__).resolve().parents[3]
MIB = 2**20
#: Bombs with a fault beside their size, which some versions of DuckDB get to first.
SAID = {"headers": {"doubtful-layout"}, "rows": {"member-too-large", "duplicate-rows"}}


def measured(*paths: Path, module: str = "bombs") -> dict[str, dict]:
    """Use files one after the other in a process of their own."""
    command = [sys.executable, "-m", f"tests.io.trust.{module}", *map(str, paths)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return {line["name"]: line for line in map(json.loads, done.stdout.splitlines())}


def within(line: dict, anyway: int = 300) -> None:
    assert line["peak"] <= 40 * line["size"] + anyway * MIB, line
    assert line["seconds"] <= 20, line


@pytest.fixture(scope="module")
def lines(tmp_path_factory) -> dict[str, dict]:
    folder = tmp_path_factory.mktemp("bombs")
    paths = {bomb(folder).name: name for name, bomb in BOMBS.items()}
    found = measured(*(folder / name for name in paths))
    return {paths[name]: line for name, line in found.items()}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_takes_little(lines, name):
    line = lines[name]
    assert line["size"] < 10 * MIB
    within(line)
    assert line["said"] in SAID.get(name, {"member-too-large"})


def answers(folder: Path, names: Collection[str], n: int) -> None:
    paths = {SHAPES[name](folder, n).name: name for name in names}
    for line in measured(*(folder / name for name in paths), module="awkward").values():
        assert line["size"] < 10 * MIB, line
        within(line, 350 if paths[line["name"]] == "zipped" else 300)
        assert line["said"] == REFUSED.get(paths[line["name"]], "read"), line


def test_answers_for_awkward_shapes_take_little(tmp_path):
    answers(tmp_path, QUICK, ROWS // 20)


@pytest.mark.full
@pytest.mark.parametrize("name", SHAPES)
def test_answers_for_large_awkward_shapes_take_little(tmp_path, name):
    answers(tmp_path, [name], ROWS)


def test_room_is_what_is_promised_less_what_python_itself_takes():
    assert TIMES == 40
    assert ANYWAY < 172 * MIB


def test_the_faults(shared):
    faults = shared / "field/faults"
    names = ("bomb_sp.csv.gz", "bomb_nest.jsonl.gz", "bomb_summaries.eval", "fat2.parquet")
    for line in measured(*(faults / name for name in names)).values():
        within(line)
        assert line["said"] == "member-too-large"


def test_the_page_names_the_limits_that_are():
    text = (ROOT / "book" / "trust.md").read_text(encoding="utf-8")
    for limit in (
        f"**{MOST_SYSTEMS:,} systems**", f"**{ALL_PAIRS} models**", f"Beyond {MOST_PAIRS:,} pairs",
        f"**{apart.MOST_DRAWN:,} models**", f"**{many.MOST_DRAWN} candidates**",
        f"**{MANY_RUNS:,} runs**", f"off by {100 * NEAR:g} % at most",
    ):  # fmt: skip
        assert limit in text
