"""Names of models, conditions, problems and runs; where data come from, and how they were read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from repeval.messages import RepevalError, refused, some

__all__ = ["KEYS", "Policy", "Source", "System", "check_names", "in_order", "unknown_label"]

KEYS = ["model", "condition", "problem", "run"]

System = tuple[str, str]


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


def unknown_label(column: str, labels: Any) -> RepevalError:
    """Return the refusal of a column that is not there as a label, or has several values."""
    if found := labels.attrs.get("varying", {}).get(column):
        problem, *values = (repr(text[:40]) for text in found)
        what = f"{column!r} is no label: problem {problem} has {' and '.join(values)} in it."
    else:
        known = ", ".join(labels.columns) or "none"
        what = f"There is no label column {column!r}. Label columns: {known}."
    return refused("unknown-label", what)


@dataclass(frozen=True)
class Policy:
    """How a table was read: the options of `repeval.load`, recorded with every result.

    `columns` holds (role, column) pairs; `missing` is None before the data set's own rule is known.

    Examples
    --------
    >>> import repeval
    >>> outcomes = repeval.load("runs.csv", missing="fail")  # see the example of `repeval.load`
    >>> policy = outcomes.policy
    >>> policy.missing, policy.errors
    ('fail', 'missing')
    """

    columns: tuple[tuple[str, str], ...] = ()
    missing: str | None = None
    errors: str = "missing"
    scorer: str | None = None
    pass_at: float | None = None
    format: str | None = None
    scale: tuple[float, float] | None = None
    retries: str | None = None
    failed_runs: str | None = None
    wide: str | None = None
    names: str | None = None


@dataclass(frozen=True)
class Source:
    """Where outcomes come from.

    `basis` is "released" (the paper's tensor), "stand-in" (its reconstruction) or "user". `sha256`
    is of the input bytes, or of the sorted sums of several files. Models in `excluded` are left
    out of pooled statistics; `default_condition` is reported first.
    """

    name: str = "data"
    sha256: str = ""
    basis: str = "user"
    n_rows: int = 0
    excluded: tuple[str, ...] = ()
    default_condition: str | None = None

    def __post_init__(self) -> None:
        # The name of a file may be no text that an answer can hold.
        object.__setattr__(self, "name", self.name.encode("utf-8", "replace").decode())
