"""Refusals and notices: one table of codes, with what each means and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from repeval.messages import answering, reading

__all__ = [
    "KINDS", "MESSAGES", "Message", "Notice", "RepevalError", "clipped", "printable", "refused",
    "some",
]  # fmt: skip


#: Characters of a message: a screen of 80 columns and 20 lines.
LONGEST = 1600


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", clipped(self.text))

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
        self.code = code
        self.text = clipped(text)
        super().__init__(self.text)


def clipped(text: object, most: int = LONGEST) -> str:
    """Leave out the middle of what fills more than a screen: names in data may be of any length."""
    text = str(text)
    return text if len(text) <= most else f"{text[: 2 * most // 3]} [...] {text[6 - most // 3 :]}"


def refused(code: str, what: str) -> RepevalError:
    """Return the error that says what is wrong and where; the way out is the code's."""
    return RepevalError(code, f"{what} {MESSAGES[code].way_out}")


def some(names: Iterable[object], n: int = 3, sep: str = ", ", of: int = 0) -> str:
    """Write the first `n` names, and how many more there are (of `of`, where names are fewer)."""
    texts = list(map(str, names))
    left = max(len(texts), of) - n
    more = f" and {left} more" if left > 0 else ""
    return sep.join(texts[:n]) + more


def printable(text: object) -> str:
    """Write text from data for a terminal: no control characters, no line breaks."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


#: In the order in which notices are shown: `first` warns of what changes how every figure is read,
#: `warned` of the rest, `assumed` says how the data were read.
KINDS = ("refused", "first", "warned", "assumed")

#: By group: code, kind, what it means, and what to do about it or read from it.
TABLE = reading.TABLE | answering.TABLE

MESSAGES = {row[0]: Message(group, *row) for group, rows in TABLE.items() for row in rows}
