"""Outcomes as they are written to numbers: words, percent signs, and ratings on a scale."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

__all__ = [
    "EMPTY", "NUMBERS", "PERCENT", "Scale", "fitting_scales", "number", "numbers", "sentinel",
    "vocabularies",
]  # fmt: skip

Scale = tuple[float, float]

#: Words for outcomes; those of one column belong to one of these.
VOCABULARIES: dict[str, dict[str, float]] = {
    "0/1 or true/false": {"0": 0.0, "1": 1.0, "true": 1.0, "false": 0.0},
    "T/F": {"t": 1.0, "f": 0.0},
    "yes/no": {"yes": 1.0, "no": 0.0},
    "Y/N": {"y": 1.0, "n": 0.0},
    "C/I/P/N": {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0},
    "pass/fail": {"pass": 1.0, "fail": 0.0, "passed": 1.0, "failed": 0.0},
    "correct/incorrect": {"correct": 1.0, "incorrect": 0.0},
    "success/failure": {"success": 1.0, "failure": 0.0},
    "resolved/unresolved": {"resolved": 1.0, "unresolved": 0.0},
    "✓/✗": {"✓": 1.0, "✔": 1.0, "✅": 1.0, "✗": 0.0, "✘": 0.0, "❌": 0.0},
}
WORDS = {word: value for words in VOCABULARIES.values() for word, value in words.items()}
EMPTY = {"", "nan", "null", "none", "na", "n/a"}
NUMBERS, PERCENT = "0/1 or true/false", "percent"
SIGNED = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)\s*%")

#: Scales that people rate on; every scale may also begin at 0.
HIGHEST = (2, 3, 4, 5, 7, 10, 100)


def number(value: Any) -> float:
    """Read one outcome; NaN if empty, infinite if unreadable. A percent sign divides by 100."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word in WORDS:
            return WORDS[word]
        if word in EMPTY:
            return math.nan
        if "_" in word or "inf" in word:
            return math.inf
        if SIGNED.fullmatch(word):
            return float(word.rstrip("% ")) / 100
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.inf


def numbers(values: Iterable[Any]) -> np.ndarray:
    """Read many numbers as `number` does; most are written again and again."""
    values = [*values]
    try:
        known = {value: number(value) for value in set(values)}
    except TypeError:  # a list or an array among them is no key
        return np.array([*map(number, values)])
    return np.array([known[value] for value in values])


def vocabularies(values: Iterable[Any]) -> set[str]:
    """Return the vocabularies that all readable values of a column could be of.

    Empty if the column mixes several; `PERCENT` where every value has a percent sign.
    """
    given = [v for v in values if v is not None and v == v]
    words = {v.strip().lower() if isinstance(v, str) else "0" for v in given} - EMPTY
    common = {*VOCABULARIES, PERCENT}
    for word in words:
        if SIGNED.fullmatch(word):
            common &= {PERCENT}
        elif word in WORDS:
            common &= {name for name, known in VOCABULARIES.items() if word in known}
        else:
            common &= {NUMBERS}
    # P and N alone could be positive and negative as well as partly right and no answer.
    return common if "c" in words or "i" in words or "p" not in words else set()


def sentinel(values: Collection[float], scale: Scale) -> float | None:
    """Return the one negative whole number outside a scale, such as −1, that may mark errors."""
    outside = {v for v in values if v < scale[0] or v > scale[1]}
    (mark,) = outside if len(outside) == 1 else (math.nan,)
    return mark if mark < 0 <= scale[0] and mark.is_integer() else None


def fitting_scales(values: Collection[float]) -> list[Scale]:
    """Return usual scales, as (LOW, HIGH), that hold ratings.

    A scale is what raters could say, not what they did say: data cannot tell whether it begins at
    0 or at 1.
    """

    def up(value: float) -> float:
        return next((float(top) for top in HIGHEST if top >= value), value)

    low, high = min(values), max(values)
    if low < 0:
        top = 1.0 if max(-low, high) <= 1 else up(max(-low, high))
        return [(-top, top)]
    return [(1.0, up(high)), (0.0, up(high))] if low >= 1 and high <= 10 else [(0.0, up(high))]
