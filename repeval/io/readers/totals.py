"""What a log states itself, held against the single runs that were read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import comb
from pathlib import Path
from statistics import fmean
from typing import Any

from repeval.io.readers.base import Record

__all__ = ["counted", "means", "passed", "solved", "summed", "tallied", "totals"]

#: A total may be off by half a unit of its last digit, by no more than half a point. A full float
#: is as exact as a mean in single precision.
LEAST, MOST = 1e-6, 0.005

Notes = tuple[tuple[str, str], ...]


def totals(path: Path, what: str, stated: Any, records: Iterable[Record]) -> Notes:
    """Return the note on a mean that a log states and that its records do not give.

    It may count runs without an outcome as failed or leave them out, and weigh problems or runs
    alike.
    """
    records = list(records)
    judged = [record for record in records if record.value is not None]
    if not judged:
        return ()
    found = []
    for rows in (judged, records):
        problems = _values(rows)
        found.append(fmean(map(fmean, problems.values())))
        found.append(fmean(record.value or 0.0 for record in rows))
    return means(path, what, stated, found)


def solved(path: Path, stated: Any, records: Iterable[Record]) -> Notes:
    """Return the notes on pass@k that a log states, by k or "pass@k", and its runs do not give.

    Runs without an outcome may count as failed or be left out; problems of fewer runs are.
    """
    records = list(records)
    judged = [record for record in records if record.value is not None]
    notes: Notes = ()
    for key, value in (stated if isinstance(stated, Mapping) else {}).items():
        if not (named := re.fullmatch(r"(?:pass@)?([1-9]\d*)", str(key))):
            continue
        k, found = int(named[1]), []
        for rows in (judged, records):
            tries = [(sum(y != 1 for y in ys), len(ys)) for ys in _values(rows).values()]
            missed = [comb(fails, k) / comb(n, k) for fails, n in tries if n >= k]
            found += [1 - fmean(missed)] if missed else []
        notes += means(path, f"pass@{k}", value, found)
    return notes


def means(
    path: Path, what: str, stated: Any, found: list[float], gives: str = "single runs give"
) -> Notes:
    """Return the note on a share that a log states and that is none of those found."""
    if not _number(stated) or not found:
        return ()
    if any(abs(stated - mean) <= _off(stated) + 1e-9 for mean in found):
        return ()
    n = next(d for d in (1, 2, 3, 4) if d == 4 or round(100 * (stated - found[0]), d))
    text = (
        f"{path.name} itself says {what} {100 * stated:.{n}f} %, but its {gives} "
        f"{100 * found[0]:.{n}f} %, which is used."
    )
    return (("totals-differ", text),)


def summed(path: Path, what: str, stated: Any, read: Iterable[float]) -> Notes:
    """Return the note on a sum that a log states and that what was read does not add up to."""
    values = list(read)
    if not _number(stated) or abs(stated - sum(values)) <= LEAST * max(1, len(values)):
        return ()
    text = f"{path.name} itself says that {what} add up to {stated:.6g}, and holds "
    return (("totals-differ", f"{text}{sum(values):.6g}."),)


def tallied(path: Path, what: str, stated: Any, read: Iterable[Any]) -> Notes:
    """Return the note on ids that a log lists, once for each run, and does not hold so often."""
    if not isinstance(stated, list):
        return ()
    listed, found = Counter(map(str, stated)), Counter(map(str, read))
    differ = sorted(one for one in listed | found if listed[one] != found[one])
    if not differ:
        return ()
    first = differ[0]
    text = f"{path.name} itself lists {first[:40]} {_often(listed[first])} among its {what}, and "
    others = f" So it is with {len(differ) - 1:,} more." if len(differ) > 1 else ""
    return (("totals-differ", f"{text}holds it {_often(found[first])}.{others}"),)


def counted(path: Path, what: str, stated: Any, read: int) -> Notes:
    """Return the note on a number of something, such as "samples", that a log does not hold."""
    if isinstance(stated, bool) or not isinstance(stated, int) or stated == read:
        return ()
    text = f"{path.name} itself says that there are {stated:,} {what}, and holds {read:,}."
    return (("totals-differ", text),)


def passed(records: Iterable[Record]) -> int:
    """Return how many runs have the full score."""
    return sum(record.value == 1 for record in records)


def _values(records: Iterable[Record]) -> dict[Any, list[float]]:
    """Return the outcomes of each problem, 0 where there is none."""
    problems: dict[Any, list[float]] = {}
    for record in records:
        problems.setdefault(record.problem, []).append(record.value or 0.0)
    return problems


def _number(stated: Any) -> bool:
    return isinstance(stated, int | float) and not isinstance(stated, bool) and stated == stated


def _often(n: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(n, f"{n:,} times")


def _off(stated: float) -> float:
    """Return how far a mean may be from what is written of it."""
    digits = repr(float(stated)).partition(".")[2]
    whole = digits.isdecimal() and len(digits) > 1
    return max(LEAST, min(MOST, 0.5 * 10.0 ** -len(digits))) if whole else MOST
