"""Numbers in words, so that a number is put into words once: points, percent, ranges, limits."""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from repeval.stats.pairs.decision import FEWEST

if TYPE_CHECKING:
    from repeval.report.rows import Limits, Pair, System

STAND_IN = (
    "STAND-IN DATA, not the paper's runs: rebuilt from published totals. Do not cite as a check "
    "of the paper. The real runs: repeval fetch leetcode-repeated-runs."
)
STEERING = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
NOT_SHOWN = "not shown"
NO_LIMIT = "no limit is seen"
STEADY = f"{NOT_SHOWN}: no verdict changed between runs"
NEW = "new ones like them"
NEEDS_RUNS = "needs two runs of a problem"
TOO_FEW = f"no verdict on fewer than {FEWEST} problems"
LOPSIDED = "lopsided, see the scores"


def json_text(document: Any) -> str:
    """Return a document as JSON in text; numbers and arrays of numpy are plain ones.

    What would steer a terminal, or turn its text around, is written by its number.
    """
    plain = {"indent": 1, "ensure_ascii": False, "allow_nan": False}
    text = json.dumps(document, default=lambda value: value.tolist(), **plain)
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def points(value: float, digits: int = 1) -> str:
    """Return a fraction in points, with its sign where it is negative."""
    return f"{round(100 * value, digits) + 0.0:.{digits}f}"


def percent(share: float, digits: int = 0) -> str:
    """Return a share in percent, `95 %`; some is never said to be nothing, or all."""
    shown = points(share, digits)
    if float(shown) in (0, 100) and 0 < share < 1:
        return "<1 %" if share < 0.5 else ">99 %"
    return f"{shown} %"


def count(n: float | str, what: str) -> str:
    """Return a number of things, `1 run` or `3 runs`."""
    return f"{n} {what}" if str(n) == "1" else f"{n} {what}s"


def reach(values: Iterable[int], to: str = " to ") -> str:
    """Return the range of whole numbers, `3 to 5` or `1`."""
    found = sorted(values)
    return to.join(dict.fromkeys((str(found[0]), str(found[-1]))))


def spread(values: Collection[float | None], form: str) -> str:
    """Return the range of values, of three or more with their median, or the one value there is."""
    # A ceiling that is None has no upper limit: it is larger than any other.
    found = sorted(math.inf if v is None else v for v in values)
    low, middle, high = (
        "no limit" if v == math.inf else form.format(v)
        for v in (found[0], statistics.median(found), found[-1])
    )
    if low == high:
        return low
    return f"{low} to {high}" + f" (median {middle})" * (len(found) > 2)


def narrower(share: float) -> str:
    """Say by how much endless runs narrow an interval."""
    return NO_LIMIT if share >= 1 else f"{percent(share)} narrower"


def no_ceiling(row: System | Pair) -> str:
    """Say why a row has no finite ceiling, nothing where it has one."""
    if row.ceiling is not None:
        return ""
    if row.between is None:
        return NEEDS_RUNS
    return "no upper limit" if row.within or row.between else "nothing varied"


def limits(interval: Limits) -> str:
    """Return an interval in points, `12.3-45.6`."""
    return NOT_SHOWN if interval is None or None in interval else "-".join(map(points, interval))


def signed_limits(interval: Limits) -> str:
    """Return the interval of a difference in words."""
    if interval is None or None in interval:
        return NOT_SHOWN
    low, high = interval
    if low >= 0:
        return f"{points(low)} to {points(high)} points higher"
    if high <= 0:
        return f"{points(-high)} to {points(-low)} points lower"
    return f"{points(-low)} lower to {points(high)} higher"
