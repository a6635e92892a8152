"""promptfoo: ``-o FILE.json``, a row for each test, repeat, prompt and provider.

Nothing numbers the repeats: rows of one test under one prompt and provider are its runs.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from repeval.io.parse import number
from repeval.io.readers.base import Log, Record, Usage, amount, choose, digest, parse
from repeval.io.readers.totals import counted, summed

NAME, TITLE = "promptfoo", "promptfoo log"

SUMMARY = re.compile(rb'"results"\s*:\s*\{\s*"version"\s*:\s*\d+\s*,\s*"timestamp"\s*:')
#: The `failureReason` of a test that an error kept from its verdict.
ERROR = 2
#: What every row has: the verdict, which is taken if none is named, and the share of it.
VERDICTS = ("success", "score")
#: What rows are counted as.
OUTCOMES = ("successes", "failures", "errors")
#: Assertions that look at all answers to a test.
COMPARISONS = ("select-best", "max-score")
#: Names made of prompts and tests are cut here.
LONGEST = 60


def sniff(path: Path, head: bytes) -> bool:
    """Tell by the keys before the rows."""
    return bool(SUMMARY.search(head))


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield a log for each prompt and provider; `scorer` is success, score or a named score."""
    whole = parse(path.read_bytes())
    rows = sorted(whole["results"]["results"], key=lambda row: row.get("testIdx") or 0)
    names = {name for row in rows for name in row.get("namedScores") or ()}
    name = choose({*VERDICTS, *names}, scorer or "success", path)
    columns = defaultdict(list)
    for row in rows:
        columns[row.get("promptIdx"), *_system(row)].append(row)
    alike = Counter((model, condition) for _, model, condition in columns)
    texts = {_test(row): _short(_text(row)) for row in rows}
    same = Counter(texts.values())
    tests = {key: t if same[t] == 1 else f"{t} #{digest(key)[:6]}" for key, t in texts.items()}
    notes = [*_totals(path, whole["results"], rows)]
    if cached := sum(bool((row.get("response") or {}).get("cached")) for row in rows):
        notes.append(("cached-answers", f"{cached} of {len(rows)} answers came from a cache."))
    for (column, model, condition), found in columns.items():
        runs: Counter[str] = Counter()
        records = []
        for row in found:
            key = _test(row)
            runs[key] += 1
            records.append(_record(row, name, tests[key], runs[key], digest(key)))
        yield Log(
            path,
            model if alike[model, condition] == 1 else f"{model} [{column}]",
            tuple(records),
            condition,
            attempt=whole.get("evalId") or "",
            created=whole["results"].get("timestamp") or "",
            settings={"scorer": name},
            notes=tuple(notes),
            usage=Usage.of(map(_used, found)),
        )


def _used(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return cost and tokens of a row; a cached answer cost nothing, and says nothing."""
    if (row.get("response") or {}).get("cached"):
        return None, None
    return amount(row, "cost"), amount(row, "response", "tokenUsage", "total")


def _totals(
    path: Path, results: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Hold the counts of the whole output, and of each prompt and provider, against the rows."""
    stats = results.get("stats") or {}
    yield from _counts(path, "", [stats.get(what) for what in OUTCOMES], rows)
    columns = defaultdict(list)
    for row in rows:
        columns[row.get("promptIdx")].append(row)
    # Older versions do not say which column a row is of, or number prompts otherwise.
    prompts = results.get("prompts") or ()
    for column, prompt in enumerate(prompts if {*columns} <= {*range(len(prompts))} else ()):
        found, metrics = columns[column], prompt.get("metrics") or {}
        name = f" of prompt {column + 1} ({str(prompt.get('provider'))[:LONGEST]})"
        keys = ("testPassCount", "testFailCount", "testErrorCount")
        yield from _counts(path, name, [metrics.get(key) for key in keys], found)
        # Older versions let comparisons change scores that they had added up.
        if not any(_compared(row) for row in found):
            scores = (number(row.get("score") or 0) for row in found)
            yield from summed(path, f"the scores{name}", metrics.get("score"), scores)


def _counts(
    path: Path, name: str, stated: Sequence[Any], rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    verdicts = Counter(
        "errors" if _broken(row) else "successes" if row.get("success") else "failures"
        for row in rows
    )
    if stated[-1] is None:  # Older versions count errors as failures.
        verdicts["failures"] += verdicts["errors"]
    for what, n in zip(OUTCOMES, stated, strict=True):
        yield from counted(path, f"{what}{name}", n, verdicts[what])


def _compared(row: Mapping[str, Any]) -> bool:
    asserts = (row.get("testCase") or {}).get("assert") or ()
    return any(isinstance(one, Mapping) and one.get("type") in COMPARISONS for one in asserts)


def _broken(row: Mapping[str, Any]) -> bool:
    """Tell whether an error kept a test from its verdict; older versions give no reason."""
    broken = row.get("error") and not row.get("gradingResult")
    return row.get("failureReason", ERROR if broken else 0) == ERROR


def _system(row: Mapping[str, Any]) -> tuple[str, str]:
    provider, prompt = row["provider"], row.get("prompt") or {}
    model = provider if isinstance(provider, str) else provider.get("label") or provider["id"]
    return model, _short(prompt.get("label") or prompt.get("raw") or "")


def _test(row: Mapping[str, Any]) -> str:
    """Return what makes a test the same test: description, variables, assertions."""
    case = row.get("testCase") or {}
    given = case.get("vars") or {}
    # A list stands for one test with each of its values.
    if not given or any(isinstance(value, list) for value in given.values()):
        given = row.get("vars")
    return json.dumps([case.get("description"), given, case.get("assert")], sort_keys=True)


def _text(row: Mapping[str, Any]) -> str:
    values = (row.get("vars") or {}).values()
    return (row.get("testCase") or {}).get("description") or ", ".join(map(str, values)) or "test"


def _short(text: str) -> str:
    line = " ".join(text.split())[:LONGEST]
    return line if line == text else f"{line}... {digest(text)[:6]}"


def _record(row: Mapping[str, Any], name: str, test: str, run: int, question: str) -> Record:
    metadata = ((row.get("testCase") or {}).get("metadata") or {}).items()
    labels = {key: value for key, value in metadata if isinstance(value, str | int | float)}
    if _broken(row):
        return Record(test, str(run), None, "error", question, labels)
    scores = row if name in VERDICTS else row.get("namedScores") or {}
    value = number(scores.get(name, math.nan))
    missing = math.isnan(value)
    status = "unscored" if missing else None
    return Record(test, str(run), None if missing else value, status, question, labels)
