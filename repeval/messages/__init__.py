"""Refusals and notices: one table of codes, with what each means and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repeval.messages import answering, reading

__all__ = [
    "KINDS", "MESSAGES", "Message", "Notice", "RepevalError", "clipped", "printable", "refused",
    "some",
]  # fmt: skip


@dataclass(frozen=True)
class Message:
    """What a code stands for: its kind is one of `KINDS`, meaning and way out are sentences."""

    group: str
    code: str
    kind: str
    meaning: str
    way_out: str


@dataclass(frozen=True)
class Notice:
    """One remark on data that are usable: a key of `MESSAGES`, and sentences with their figures."""

    code: str
    text: str

    @property
    def kind(self) -> str:
        """Return which of `KINDS` the code is."""
        return MESSAGES[self.code].kind


class RepevalError(ValueError):
    """Input that is refused: a key of `MESSAGES`, and what is wrong, where, and what to do.

    Examples
    --------
    >>> import repeval
    >>> try:
    ...     repeval.load("nowhere.csv")
    ... except repeval.RepevalError as error:
    ...     print(error.code)
    file-not-found
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def refused(code: str, what: str) -> RepevalError:
    """Return the error that says what is wrong and where; the way out is the code's."""
    return RepevalError(code, f"{what} {MESSAGES[code].way_out}")


def some(names: Iterable[object], n: int = 3, sep: str = ", ") -> str:
    """Write the first `n` names, and how many more there are."""
    texts = list(map(str, names))
    more = f" and {len(texts) - n} more" if len(texts) > n else ""
    return sep.join(texts[:n]) + more


def printable(text: object) -> str:
    """Write text from data for a terminal: no control characters, no line breaks."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def clipped(text: object, most: int = 1200) -> str:
    """Write text for a terminal so that it fits on one screen: its middle is left out."""
    shown = printable(text)
    if len(shown) <= most:
        return shown
    return f"{shown[: 2 * most // 3]} [...] {shown[-most // 3 :]}"


#: In the order in which notices are shown: `first` warns of what changes how every figure is read,
#: `warned` of the rest, `assumed` says how the data were read.
KINDS = ("refused", "first", "warned", "assumed")

#: By group: code, kind, what it means, and what to do about it or read from it.
TABLE = reading.TABLE | answering.TABLE

MESSAGES = {row[0]: Message(group, *row) for group, rows in TABLE.items() for row in rows}
