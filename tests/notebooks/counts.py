"""Count the tests by folder into data/counts.json, for the page on testing: run it as a module."""

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


if __name__ == "__main__":
    found = {kind: counted(collected(mark)) for kind, mark in KINDS.items()}
    target = ROOT / "data" / "counts.json"
    target.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(target)
