"""Functions that recompute claims no page computes yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from repeval.companion.ledger.entries import fitted, paper
from repeval.companion.ledger.results import Results
from repeval.messages import RepevalError

_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def claim(*patterns: str) -> Callable[[Callable[..., Any]], Any]:
    """Register a function for claims, by id or by a pattern such as `vc-t6-icc-{slug}`.

    The function takes `Results`, and the placeholders by name; it returns a value (a list for
    several numbers, a bool for a formula) or a tuple of it and our Monte Carlo standard error. How
    it does so is told by `how` in the ledger or by its docstring.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for pattern in patterns:
            if pattern in _FUNCTIONS:
                raise ValueError(f"two functions for {pattern}")
            _FUNCTIONS[pattern] = function
        return function

    return register


def computed(results: Results, keys: Iterable[str]) -> dict[str, tuple]:
    """Compute claims: value, error, value from printed figures, and why there is none."""
    found = {}
    for key in keys:
        if (match := _find(key)) is None:
            continue
        function, placeholders = match
        formula = key in fitted() and paper()[key].needs == "closed-form"
        ways = [results, results.printed] if formula else [results]
        try:
            values = [function(way, **placeholders) for way in ways]
        except RepevalError as error:
            found[key] = (None, None, None, error.text)
            continue
        pairs = [v if isinstance(v, tuple) else (v, None) for v in values]
        found[key] = (*pairs[0], pairs[-1][0] if formula else None, "")
    return found


def _find(key: str) -> tuple[Callable[..., Any], dict[str, str]] | None:
    if key in _FUNCTIONS:  # an id goes before patterns
        return _FUNCTIONS[key], {}
    for pattern, function in _FUNCTIONS.items():
        if match := re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^-]+)", pattern), key):
            return function, match.groupdict()
    return None
