"""Count tests and oracles into data/counts.json, for the page on testing: run it as a module."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"all": "", "full": "full", "bench": "bench"}


def collected(mark):
    """Return the tests that a marker chooses, as pytest names them."""
    chosen = ["-m", mark] if mark else []
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-o", "addopts=", *chosen]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return re.findall(r"^tests/\S+\.py::.*$", done.stdout, re.MULTILINE)


def counted(names):
    """Return folder -> number of functions and of cases; `commands` are those of the door."""
    parts = [name.split("::")[0].split("/")[1] for name in names]
    folders = [part if "." not in part else "commands" for part in parts]
    functions = {(f, name.partition("[")[0]) for f, name in zip(folders, names, strict=True)}
    by_function, by_case = Counter(f for f, _ in functions), Counter(folders)
    return {f: [by_function[f], by_case[f]] for f in sorted(by_case)}


def oracles():
    """Return the rows of the table in tests/oracles: who computed what, and how many cases."""
    folder = ROOT / "tests" / "oracles"
    rows = re.findall(
        r"^\| `(\w+\.json)` \| (.+?) \| .+? \| (.+) \|$",
        (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE,
    )  # fmt: skip
    told = {name: json.loads((folder / name).read_text(encoding="utf-8")) for name, *_ in rows}
    return [
        {"data": name, "by": by, "holds": holds,
         "cases": sum(len(section) for section in told[name].values() if isinstance(section, list))}
        for name, by, holds in rows
    ]  # fmt: skip


if __name__ == "__main__":
    found = {kind: counted(collected(mark)) for kind, mark in KINDS.items()}
    found["oracles"] = oracles()
    target = ROOT / "data" / "counts.json"
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(target)
