"""Structures in Thrift's compact protocol: what is expected is read and copied, all else left out.

The protocol: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

__all__ = ["BINARY", "BOOL", "I32", "I64", "RAW", "Reader", "Spec", "packed"]

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)
#: A truth value, which is its own kind; a value of any kind, which is only copied.
BOOL, RAW = 0, -1
#: How deep structures may lie in each other, how long a list may be, and how many fields and
#: members there may be.
DEEPEST, LONGEST, MOST = 24, 100_000, 4_000_000
#: Bytes of kinds of one size; truth values have none as fields and one in lists.
WIDTH = {TRUE: 1, FALSE: 1, BYTE: 1, DOUBLE: 8, UUID: 16}

#: What a structure may have: names, and kinds or what is in them, by the numbers up to 63.
Spec = dict[int, tuple[str, Any]]


class Reader:
    """Read structures, one after the other.

    Parameters
    ----------
    data : bytes
    at : int
        Where the first begins; later, where the next does.
    aside : set of str
        Names of fields that are read and not copied.

    Raises
    ------
    ValueError, IndexError
        For what is no such structure: cut off, of another kind, a field twice, too deep.
    """

    def __init__(self, data: bytes, at: int = 0, aside: Collection[str] = ()) -> None:
        self.data, self.at, self.aside, self.n = data, at, aside, 0
        #: The same structures with the fields that were expected.
        self.copy = bytearray()

    def struct(self, spec: Spec, last: int = 0, depth: int = 0) -> dict[str, Any]:
        r"""Return the fields of a structure by their names; the field `last` is the last one read.

        Examples
        --------
        Field 1 is the number -3, field 3 the text "ab", and field 4 is not expected:

        >>> reader = Reader(bytes([0x15, 5, 0x28, 2, 97, 98, 0x11, 0]))
        >>> reader.struct({1: ("n", I32), 3: ("name", BINARY)})
        {'n': -3, 'name': b'ab'}
        >>> bytes(reader.copy)
        b'\x05\x02\x05\x08\x06\x02ab\x00'
        """
        found: dict[str, Any] = {}
        field = 0
        self._count(depth)
        while field != last or not last:
            head = self.data[self.at]
            self.at += 1
            kind, step = head & 15, head >> 4
            if not kind:
                break
            field = field + step if step else self._number()
            name, wanted = spec.get(field, ("", RAW))
            if not name:
                self._skip(kind, depth)
                continue
            if name in found:
                raise ValueError("a field of its description is there twice")
            size = len(self.copy)
            self.copy += bytes((kind, 2 * field))
            found[name] = self._value(kind, wanted, depth + 1)
            if name in self.aside:
                del self.copy[size:]
        self.copy.append(0)
        return found

    def _value(self, kind: int, wanted: Any, depth: int) -> Any:
        start = self.at
        if isinstance(wanted, dict) and kind == STRUCT:
            return self.struct(wanted, depth=depth)
        if isinstance(wanted, list) and kind == LIST:
            n, inside = self._length()
            self.copy += self.data[start : self.at]
            return [self._value(inside, wanted[0], depth + 1) for _ in range(n)]
        if wanted == BOOL and kind in (TRUE, FALSE):
            return kind == TRUE
        if wanted not in (RAW, kind):
            raise ValueError("a field of its description is of another kind")
        found: Any = None
        if wanted in (I32, I64):
            found = self._number()
            if wanted == I32 and not -(2**31) <= found < 2**31:
                raise ValueError("a number in its description is too large")
        elif wanted == BINARY:
            n = self._unsigned()
            self._move(n)
            found = self.data[self.at - n : self.at]
        else:
            self._skip(kind, depth)
            found = self.data[start : self.at]
        self.copy += self.data[start : self.at]
        return found

    def _skip(self, kind: int, depth: int, listed: bool = False) -> None:
        """Pass over a value of any kind."""
        self._count(depth)
        if kind in (I16, I32, I64):
            self._number()
        elif kind in (TRUE, FALSE) and not listed:
            pass
        elif kind in WIDTH:
            self._move(WIDTH[kind])
        elif kind == BINARY:
            self._move(self._unsigned())
        elif kind in (LIST, SET):
            n, inside = self._length()
            for _ in range(n):
                self._skip(inside, depth + 1, listed=True)
        elif kind == STRUCT:
            while head := self.data[self.at]:
                self.at += 1
                if not head >> 4:
                    self._number()
                self._skip(head & 15, depth + 1)
            self.at += 1
        else:
            raise ValueError("a field of its description is of no known kind")

    def _count(self, depth: int) -> None:
        self.n += 1
        if depth > DEEPEST or self.n > MOST:
            raise ValueError("its description is too deep or too long")

    def _length(self) -> tuple[int, int]:
        head = self.data[self.at]
        self.at += 1
        n = head >> 4 if head >> 4 < 15 else self._unsigned()
        if n > min(LONGEST, len(self.data) - self.at):
            raise ValueError("a list in its description is too long")
        return n, head & 15

    def _move(self, n: int) -> None:
        if n > len(self.data) - self.at:
            raise ValueError("its description is cut off")
        self.at += n

    def _number(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)

    def _unsigned(self) -> int:
        found = shift = 0
        for byte in self.data[self.at : self.at + 10]:
            self.at += 1
            found |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        else:
            raise ValueError("its description is cut off, or a number in it is too large")
        if found >= 2**64:
            raise ValueError("a number in its description is too large")
        return found


def packed(number: int) -> bytes:
    """Write a number as `_unsigned` reads it."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes((*found, number))
