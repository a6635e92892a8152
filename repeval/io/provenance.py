"""Where outcomes come from and how they were read: recorded with every result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """How a table was read: the options of `repeval.load`, recorded with every result.

    `columns` holds (role, column) pairs; `missing` is None before the data set's own rule is known.
    """

    columns: tuple[tuple[str, str], ...] = ()
    missing: str | None = None
    errors: str = "missing"
    scorer: str | None = None
    pass_at: float | None = None
    format: str | None = None


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
