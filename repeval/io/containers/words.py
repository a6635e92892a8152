"""Words that name roles and verdicts in JSON, before columns are told."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from repeval.io.columns import DOUBTFUL, SPELLINGS

__all__ = ["FAILS", "NUMBERED", "VERDICTS", "Columns", "TwiceError", "array", "decoded",
           "is_verdict", "plain", "spelled", "verdicts"]  # fmt: skip

Columns = dict[str, np.ndarray]

#: Words of a pass, and what a fail is beside them.
FAILS = {"pass": "fail", "passed": "failed", "true": "false", "correct": "incorrect",
         "resolved": "unresolved", "success": "failure", "yes": "no"}  # fmt: skip
#: Words that an object {problem: outcome} may hold.
VERDICTS = {*FAILS, *FAILS.values()}
#: Keys that number runs or models rather than name problems.
NUMBERED = re.compile(r"(run|trial|epoch|attempt|seed|sample|draw|rep|model)\W?_?\d+", re.I)


class TwiceError(ValueError):
    """An object of JSON has a key twice."""

    def __init__(self, key: str) -> None:
        super().__init__(f"an object has {key!r} twice")
        self.key = key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise TwiceError(next(key for key, n in Counter(k for k, _ in pairs).items() if n > 1))
    return made


#: Of two values under one key the standard decoder keeps the last, in silence.
_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def decoded(text: str) -> Any:
    """Read JSON; NaN and infinity are taken as numbers.

    Raises
    ------
    TwiceError
        Where an object has a key twice.
    ValueError, RecursionError
        For what is no JSON, or is nested too deeply.
    """
    return _DECODER.decode(text.strip())


def array(values: Sequence[Any]) -> np.ndarray:
    """Return values as they are; `np.array` would make lists in them a second dimension."""
    return np.fromiter(values, dtype=object, count=len(values))


@lru_cache(4096)
def plain(name: str) -> str:
    """Return a name in lower case without spaces, dashes and underscores."""
    return re.sub(r"[\s_-]", "", name.lower())


@cache
def spelled(role: str) -> frozenset[str]:
    """Return the names that a role may have, also the doubtful ones, as `plain` writes them."""
    return frozenset({plain(name) for name in (role, *SPELLINGS[role], *DOUBTFUL[role])})


def verdicts(value: Any) -> bool:
    """Tell whether a value is an object of verdicts only: shares could be totals of tasks."""
    if not isinstance(value, dict) or not any(v is not None for v in value.values()):
        return False
    if all(map(NUMBERED.fullmatch, value)):
        return False
    return all(v is None or is_verdict(v) for v in value.values())


def is_verdict(value: Any) -> bool:
    """Tell whether a value is 0, 1, true, false or a word of a verdict."""
    if isinstance(value, str):
        return value.strip().lower() in VERDICTS
    return isinstance(value, int | float) and value in (0, 1)
