"""The paper's released outcomes: recognise the layout they came in, return the canonical table.

What the release looks like is not known beforehand. Every layout that its description allows is
recognised by content: one row a run; one row a problem, with its runs in lists, in columns or
counted; an array with lists of names; in one file or in one for each experiment.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import itertools
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from repeval.io import registry
from repeval.io.containers import zips
from repeval.io.keys import KEYS
from repeval.io.outputs import write
from repeval.io.registry import Entry, download, recorded, target
from repeval.messages import refused, some

Rows = list[dict[str, Any]]

ARCHIVES = "https://codeload.github.com"

LAYOUTS = ("one row a run", "runs in lists", "runs in columns", "arrays", "passes counted")
SPELLINGS = {
    "model": ("model_name", "model", "model_id", "system"),
    "condition": ("prompt_type", "strategy", "condition", "prompt"),
    "problem": ("problem_id", "frontend_id", "question_id", "problem", "title"),
    "run": ("trial_index", "run", "trial", "attempt", "run_index"),
    "outcome": ("accepted_bool", "accepted", "passed", "outcome", "status", "verdict"),
    "passes": ("passes", "pass_count", "k"),
    "difficulty": ("difficulty",),
}
CONDITIONS = {
    "detailed": "Detailed",
    "with_prompt": "Detailed",
    "minimal": "Minimal",
    "without_prompt": "Minimal",
}
PASSED = {"1", "1.0", "true", "accepted", "pass", "passed"}
NO_ANSWER = {"", "none", "nan", "null"}
READABLE = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".json", ".npy", ".npz", ".txt")
LARGEST = 200_000_000
EXPERIMENT = re.compile(r"\d{8}[_-]\d{6}[_-]")
RUN_COLUMN = re.compile(r"(?:run|trial|r)_?\d+", re.IGNORECASE)
# What API names append to a system's own name.
SUFFIX = re.compile(r"(?:ing|preview|latest|exp|\d{4,8})*")


def read_release(archive: bytes, systems: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
    """Find the outcomes in a zipped repository.

    Parameters
    ----------
    archive : bytes
        The zip file.
    systems : sequence of str
        The paper's names of its systems, with which API names are matched.

    Returns
    -------
    table : DataFrame
        Columns model, condition, problem, run, outcome, and difficulty where it is recorded.
    said : list of str
        One sentence for all that was assumed or dropped.

    Raises
    ------
    RepevalError
        If no file has such rows, or two rows contradict each other.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as packed:
            members = {
                info.filename: packed.read(info)
                for info in zips.members(packed)
                if info.filename.lower().endswith(READABLE) and info.file_size <= LARGEST
            }
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError) as error:
        raise refused("no-release", f"What was downloaded is no archive: {error}.") from None
    found: dict[str, Rows] = {layout: [] for layout in LAYOUTS}
    for name, data in sorted(members.items()):
        # Whatever a file holds that is no outcome, it is not the one that is looked for.
        layout, rows = LAYOUTS[0], []
        with suppress(Exception):
            layout, rows = _rows(PurePosixPath(name), data, members)
        found[layout] += [c for row in rows if (c := _canonical(row, PurePosixPath(name)))]
    layout = next((each for each in LAYOUTS if found[each]), None)
    if layout is None:
        raise refused("no-release", f"No file has outcomes: {some(sorted(members), 8)}.")
    table = pd.DataFrame(found[layout])
    said = [f"Layout: {layout}."]
    names = {model: _name(model, systems) for model in table["model"].unique()}
    if unknown := [model for model, name in names.items() if name is None]:
        said.append(f"Not among the paper's systems, kept as they are: {some(unknown)}.")
    table["model"] = table["model"].map({model: name or model for model, name in names.items()})
    repeated, same = table.duplicated(KEYS), table.duplicated([*KEYS, "outcome"])
    if (repeated & ~same).any():
        row = table[repeated & ~same].iloc[0]
        where = f"{row.model!r}, {row.condition}, problem {row.problem!r}, run {row.run!r}"
        raise refused("release-contradicts", f"Two rows differ for {where}.")
    if same.any():
        said.append(f"{same.sum():,} rows are there twice, from runs that were resumed: dropped.")
    return table[~same].sort_values(KEYS, ignore_index=True), said


def fetch_release(entry: Entry, *, accept: bool = False) -> list[str]:
    """Fetch the paper's repository, write its outcomes as a table, and record the first one seen.

    The release's SHA-256 is unknown until somebody fetched it: the first table is trusted and
    recorded with its commit; a later one must be the same, unless it is to be accepted.
    """
    file = target(entry)
    record, seen = file.with_suffix(".json"), {} if accept else recorded(file)
    if file.exists() and seen:
        return [f"{file} is there, fetched {seen['fetched']}."]
    packed = download(f"{ARCHIVES}/{entry['repository']}/zip/HEAD", None, "release.zip")
    with (registry.data_dir() / "published-cells.csv").open(encoding="utf-8") as cells:
        systems = list(dict.fromkeys(row["model"] for row in csv.DictReader(cells)))
    try:
        archive = packed.read_bytes()
        table, said = read_release(archive, systems)
    finally:
        packed.unlink(missing_ok=True)
    text = table.to_csv(index=False, lineterminator="\n").encode()
    about = {
        "sha256": hashlib.sha256(text).hexdigest(), "commit": commit_of(archive),
        "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
        "repository": entry["repository"],
    }  # fmt: skip
    if seen and seen["sha256"] != about["sha256"]:
        was, now = (f"{each['sha256']} (commit {each.get('commit')})" for each in (seen, about))
        what = f"The release has changed: its outcomes had SHA-256 {was}, now {now}."
        raise refused("release-changed", f"{what} The record is {record}.")
    write(record, (json.dumps(seen or about, indent=1) + "\n").encode())
    write(file, text)
    return [
        *said,
        f"{file}: {len(table):,} runs of commit {about['commit']}, SHA-256 {about['sha256']}, "
        "trusted on first use and recorded.",
        "It now takes the place of the stand-in: make book builds the real-data edition.",
    ]


def commit_of(archive: bytes) -> str:
    """Return the commit that a zipped repository says it is of, "unknown" where it does not."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        text = packed.comment.decode(errors="replace").strip()
    return text if re.fullmatch(r"[0-9a-f]{40}", text) else "unknown"


def _rows(path: PurePosixPath, data: bytes, members: dict[str, bytes]) -> tuple[str, Rows]:
    """Return a file's layout and its runs, one dictionary each; no runs where it has none."""
    if path.suffix in (".npy", ".npz"):
        return "arrays", _array_rows(data, members)
    rows = _dictionaries(path, data)
    if not rows or not all(isinstance(row, dict) for row in rows):
        return LAYOUTS[0], []
    lists = [c for c in rows[0] if c.lower() in CONDITIONS and isinstance(rows[0][c], list)]
    columns = [c for c in rows[0] if RUN_COLUMN.fullmatch(c)]
    if lists:
        return "runs in lists", [
            {**row, "condition": c, "run": i, "outcome": v["status"] if isinstance(v, dict) else v}
            for row in rows
            for c in lists
            for i, v in enumerate(row[c])
        ]
    if len(columns) > 1:
        return "runs in columns", [
            {**row, "run": i, "outcome": row[c]} for row in rows for i, c in enumerate(columns)
        ]
    if _column(rows[0], "outcome") and _column(rows[0], "run"):
        return LAYOUTS[0], rows
    if passes := _column(rows[0], "passes"):
        runs = range(max(int(row[passes]) for row in rows))
        return "passes counted", [
            {**row, "run": run, "outcome": run < int(row[passes])} for row in rows for run in runs
        ]
    return LAYOUTS[0], []


def _dictionaries(path: PurePosixPath, data: bytes) -> list[Any]:
    if path.suffix == ".gz":
        path, data = path.with_suffix(""), gzip.decompress(data)
    if path.suffix == ".csv":
        return pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False).to_dict("records")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in data.splitlines() if line.strip()]
    content = json.loads(data) if path.suffix == ".json" else []
    return list(content.values() if isinstance(content, dict) else content)


def _array_rows(data: bytes, members: dict[str, bytes]) -> Rows:
    """Return the runs of an array (models, conditions, problems, runs); NaN is no run."""
    loaded = np.load(io.BytesIO(data), allow_pickle=False)
    arrays = list(loaded.values()) if hasattr(loaded, "values") else [loaded]
    tensor = next(a for a in arrays if a.ndim == 4)
    lists = [a.astype(str).tolist() for a in arrays if a.ndim == 1]
    lists += [names for text in members.values() if (names := _list_of_names(text))]
    axes = [next((names for names in lists if len(names) == n), None) for n in tensor.shape[:3]] + [
        list(range(tensor.shape[3]))
    ]
    if None in axes:
        raise refused("no-release", "The array's models, conditions or problems have no names.")
    keys = ("model", "condition", "problem", "run")
    return [
        {**dict(zip(keys, labels, strict=True)), "outcome": value}
        for labels, value in zip(itertools.product(*axes), tensor.ravel().tolist(), strict=True)
    ]


def _list_of_names(text: bytes) -> list[str] | None:
    try:
        names = json.loads(text)
    except ValueError:
        names = text.decode(errors="replace").split("\n") if len(text) < 10_000 else None
    if not isinstance(names, list) or not all(isinstance(n, str | int) for n in names):
        return None
    return [str(name).strip() for name in names if str(name).strip()]


def _column(names: Iterable[str], role: str) -> str | None:
    lower = {name.lower(): name for name in names}
    return next((lower[s] for s in SPELLINGS[role] if s in lower), None)


def _canonical(row: dict[str, Any], path: PurePosixPath) -> dict[str, Any] | None:
    """Return a run under the canonical names; None where it was not judged or lacks a key."""
    values = {role: row[c] for role in SPELLINGS if (c := _column(row, role))}
    if "model" not in values:  # one file an experiment, called after its time and its model
        values["model"] = EXPERIMENT.sub("", path.name.split(".json")[0].split(".csv")[0])
    verdict = str(values.get("outcome")).strip().lower()
    if verdict in NO_ANSWER or any(key not in values for key in KEYS):
        return None
    keys = {key: str(values[key]).strip() for key in KEYS}
    keys["condition"] = CONDITIONS.get(keys["condition"].lower(), keys["condition"])
    thinking = {key.lower(): str(value).lower() for key, value in row.items()}.get("thinking")
    if thinking in PASSED:
        keys["model"] += "-thinking"
    more = {"difficulty": str(values["difficulty"])} if "difficulty" in values else {}
    return {**keys, "outcome": int(verdict in PASSED), **more}


def _name(model: str, systems: Sequence[str]) -> str | None:
    """Return the paper's name of a system: the longest that its API name begins with."""
    plain = _plain(model)
    known = sorted((s for s in systems if plain.startswith(_plain(s))), key=len, reverse=True)
    return next((s for s in known if SUFFIX.fullmatch(plain.removeprefix(_plain(s)))), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
