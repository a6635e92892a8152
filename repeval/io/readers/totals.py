"""What a log states itself, held against the single runs that were read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

from repeval.io.readers.base import Record

__all__ = ["counted", "passed", "totals"]

#: A total may be off by half a unit of its last digit, by no more than half a point. A full float
#: is as exact as a mean in single precision.
LEAST, MOST = 1e-6, 0.005

Notes = tuple[tuple[str, str], ...]


def totals(path: Path, what: str, stated: Any, records: Iterable[Record]) -> Notes:
    """Return the note on a mean that a log states and that its records do not give.

    It may count runs without an outcome as failed or leave them out, and weigh problems or runs
    alike.
    """
    if isinstance(stated, bool) or not isinstance(stated, int | float) or stated != stated:
        return ()
    records = list(records)
    judged = [record for record in records if record.value is not None]
    if not judged:
        return ()
    found = []
    for rows in (judged, records):
        problems: dict[Any, list[float]] = {}
        for record in rows:
            problems.setdefault(record.problem, []).append(record.value or 0.0)
        found.append(fmean(map(fmean, problems.values())))
        found.append(fmean(record.value or 0.0 for record in rows))
    if any(abs(stated - mean) <= _off(stated) + 1e-9 for mean in found):
        return ()
    n = next(d for d in (1, 2, 3, 4) if d == 4 or round(100 * (stated - found[0]), d))
    text = (
        f"{path.name} itself says {what} {100 * stated:.{n}f} %, but its single runs give "
        f"{100 * found[0]:.{n}f} %, which is used."
    )
    return (("totals-differ", text),)


def counted(path: Path, what: str, stated: Any, read: int) -> Notes:
    """Return the note on a number of something, such as "samples", that a log does not hold."""
    if isinstance(stated, bool) or not isinstance(stated, int) or stated == read:
        return ()
    text = f"{path.name} itself says that there are {stated:,} {what}, and holds {read:,}."
    return (("totals-differ", text),)


def passed(records: Iterable[Record]) -> int:
    """Return how many runs have the full score."""
    return sum(record.value == 1 for record in records)


def _off(stated: float) -> float:
    """Return how far a mean may be from what is written of it."""
    digits = repr(float(stated)).partition(".")[2]
    whole = digits.isdecimal() and len(digits) > 1
    return max(LEAST, min(MOST, 0.5 * 10.0 ** -len(digits))) if whole else MOST
