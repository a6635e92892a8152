"""What every reader of a harness's logs returns, and what readers share."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from repeval.io.containers.room import Room
from repeval.io.containers.words import decoded
from repeval.messages import RepevalError, some

__all__ = [
    "Log",
    "Record",
    "Usage",
    "amount",
    "choose",
    "digest",
    "parse",
    "parse_file",
    "partial",
]

#: Bytes that a record takes, with what it is made of and becomes.
RECORD = 700


@dataclass(frozen=True, slots=True)
class Record:
    """One run of a problem, as the harness wrote it.

    `problem` keeps its type: 3 and "3" in one task are refused, not merged. `run` is "" where the
    log is one run. `value` is the outcome, None where there is none; `status` says what went wrong
    ("error", "timeout", "cancelled", ...), also beside a value. `question` is a digest of what was
    asked and of the right answer, where the log has them: the same problem has the same question.
    """

    problem: str | int
    run: str
    value: float | None
    status: str | None = None
    question: str | None = None
    labels: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Usage:
    """What runs cost and how many tokens they used: totals, each of the runs that state it."""

    cost: float = 0.0
    priced: int = 0
    tokens: float = 0.0
    counted: int = 0

    @classmethod
    def of(cls, runs: Iterable[tuple[float | None, float | None]]) -> Usage:
        """Add up cost and tokens of runs, None where one is not stated."""
        rows = list(runs)
        columns = [[row[i] for row in rows if row[i] is not None] for i in (0, 1)]
        return cls(*(f(column) for column in columns for f in (sum, len)))

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Log:
    """The records of one model under one condition, from one log.

    Attributes
    ----------
    path : Path
    model : str
        "" where the log does not name it: the file's name, or ``NAME=PATH``, then does.
    records : tuple of Record
    condition, task : str
        "" where the log names none.
    run : str
        Not empty for formats whose log is one run of every problem: several logs of a model are
        then its runs, in the order of `created`.
    attempt : str
        Logs of a model with the same attempt are retries of one evaluation; "" where unknown.
    created : str
        ISO time by which logs are ordered; "" where unknown: then by path.
    status : str
        Why the log holds less than was planned ("cancelled", "error", ...), "" if it is whole.
    settings : mapping
        Scorer, temperature, limits, version of the task: what may differ between two logs.
    notes : tuple of (code, text)
        What else there is to say, as notices; of several logs the same is said once.
    usage : Usage
    """

    path: Path
    model: str
    records: tuple[Record, ...]
    condition: str = ""
    task: str = ""
    run: str = ""
    attempt: str = ""
    created: str = ""
    status: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[tuple[str, str], ...] = ()
    usage: Usage = field(default_factory=Usage)

    def __post_init__(self) -> None:
        # Names that are no text, or no text that a file can hold, make the log unreadable.
        runs = (record.run for record in self.records)
        ids = (record.problem for record in self.records if isinstance(record.problem, str))
        names = (self.model, self.condition, self.task, self.run, self.attempt)
        for text in (*names, self.created, self.status, *runs, *ids):
            text.encode()


def amount(row: Any, *path: str) -> float | None:
    """Return a number that stands in a log below such keys, None where there is none."""
    for key in path:
        row = row.get(key) if isinstance(row, Mapping) else None
    known = isinstance(row, int | float) and not isinstance(row, bool) and 0 <= row < math.inf
    return float(row) if known else None


def choose(names: Iterable[str], wanted: str | None, path: Path, what: str = "scorers") -> str:
    """Return the one name that fits `wanted`, itself or as ``wanted/KEY``; "" if there is none.

    Raises
    ------
    RepevalError
        "several-scorers" or "unknown-scorer", with the ``--scorer NAME`` to type.
    """
    known = sorted(set(names))
    fit = [n for n in known if wanted is None or n.startswith(f"{wanted}/")]
    fit = [wanted] if wanted in known else fit
    if len(fit) == 1 or not known:
        return fit[0] if fit else ""
    ways = some([f"--scorer {name}" for name in fit or known], 12, " or ")
    if fit:
        raise RepevalError("several-scorers", f"{path.name} has several {what}. Type {ways}.")
    raise RepevalError("unknown-scorer", f"{path.name} has no {wanted!r} among its {what}: {ways}.")


def digest(*texts: str) -> str:
    """Return a short digest of texts."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()[:16]


def partial(records: Iterable[Record]) -> tuple[tuple[str, str], ...]:
    """Return the note on rewards that are neither 0 nor 1, if there are any."""
    between = sum(0 < (record.value or 0) < 1 for record in records)
    text = f"Rewards between 0 and 1: {between}. The harness calls only 1 a success: --pass-at 1."
    return (("partial-rewards", text),) if between else ()


def parse(data: bytes) -> Any:
    """Read JSON, see `decoded`; a byte order mark and NaN are taken as harnesses write them."""
    # Each object may become a record.
    Room(len(data)).hold(f"JSON of {len(data):,} bytes", RECORD * data.count(b"{"))
    return decoded(data.decode("utf-8-sig"))


def parse_file(path: Path) -> Any:
    """Read one JSON file of many; a damaged one is named with its directory."""
    try:
        return parse(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.parent.name}/{path.name}: {error}") from None
