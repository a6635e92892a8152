"""Numbers in words, so that a number is put into words once: points, percent, ranges, limits."""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from repeval.report.rows import columns
from repeval.stats.pairs.decision import FEWEST

if TYPE_CHECKING:
    from repeval.report.rows import Limits, Pair, System

STAND_IN = (
    "STAND-IN DATA, not the paper's runs: rebuilt from published totals. Do not cite as a check "
    "of the paper. The real runs: repeval fetch leetcode-repeated-runs."
)
STEERING = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
NOT_SHOWN = "not shown"
NO_LIMIT = "no limit is seen"
STEADY = f"{NOT_SHOWN}: no verdict changed between runs"
NEW = "new ones like them"
NEEDS_RUNS = "needs two runs of a problem"
TOO_FEW = f"no verdict on fewer than {FEWEST} problems"
LOPSIDED = "lopsided, see the scores"


# As `json` writes text, words and numbers.
ATOMS = {
    str: encode_basestring,
    float: lambda x: repr(x) if math.isfinite(x) else json.dumps(x, allow_nan=False),
    int: repr,
    bool: ("false", "true").__getitem__,
    type(None): lambda _: "null",
}


def json_text(document: Mapping[str, Any]) -> str:
    """Return a document as JSON in text; rows are objects, numbers and arrays of numpy plain ones.

    What would steer a terminal, or turn its text around, is written by its number.
    """
    return "".join(json_pieces(document))


def json_pieces(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the same row by row: as one text an answer may be larger than all it was made of."""
    for text in _pieces(document, "\n"):
        plain = text.isascii() and "\x7f" not in text
        yield text if plain else STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    yield "\n"


def _pieces(value: Any, line: str) -> Iterator[str]:
    """Yield the JSON of objects and lists item by item, one that is none as a whole.

    As `json.dumps` does with an indent of 1, which takes ten times as long.

    Parameters
    ----------
    value : Any
    line : str
        Ends a line, and indents the next as far as the value.
    """
    if not (isinstance(value, dict | list | tuple) and value):
        yield _json(value, line)
        return
    items, signs = zip(itertools.repeat(""), value, strict=False), "[]"
    if isinstance(value, dict):
        items, signs = ((f"{_key(k)}: ", v) for k, v in value.items()), "{}"
    start = signs[0] + (inner := line + " ")
    for name, one in items:
        yield start + name
        yield from _pieces(one, inner)
        start = "," + inner
    yield line + signs[1]


def _json(value: Any, line: str) -> str:
    """Return the JSON of a value as one text."""
    if write := ATOMS.get(type(value)):
        return write(value)
    inner = line + " "
    if isinstance(value, list | tuple):
        items, signs = [_json(one, inner) for one in value], "[]"
    elif is_dataclass(value) or isinstance(value, dict):
        found = value if isinstance(value, dict) else columns(value)
        items, signs = (
            [
                f"{_key(k)}: {w(v) if (w := ATOMS.get(type(v))) else _json(v, inner)}"
                for k, v in found.items()
            ],
            "{}",
        )
    else:
        plain = {"indent": 1, "ensure_ascii": False, "allow_nan": False}
        return json.dumps(value, default=lambda x: x.tolist(), **plain).replace("\n", line)
    body = f"{inner}{f',{inner}'.join(items)}{line}" if items else ""
    return signs[0] + body + signs[1]


@functools.lru_cache(maxsize=1024, typed=True)
def _key(name: Any) -> str:
    return encode_basestring(name if isinstance(name, str) else json.dumps(name))


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
