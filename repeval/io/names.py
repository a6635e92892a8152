"""Names of models, conditions, problems and runs: their order, and names that are not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from repeval.messages import RepevalError, some

__all__ = ["KEYS", "check_names", "in_order"]

KEYS = ["model", "condition", "problem", "run"]


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return distinct names: numbers first and by value, then the others alphabetically."""

    def rank(name: str) -> tuple[bool, int, str]:
        number = name.isascii() and name.isdigit() and len(name) < 19
        return not number, int(name) if number else 0, name

    return tuple(sorted(dict.fromkeys(map(str, names)), key=rank))


def check_names(code: str, names: Iterable[str], known: Sequence[str]) -> None:
    """Refuse names that are not known, with those that are like them."""
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known) or known
            text = f"There is no {code.removeprefix('unknown-')} {name!r}, but {some(near, 12)}."
            raise RepevalError(code, text)
