"""Reduced rows of all parts in common codes: attempts chosen, repeats found, runs taken apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from repeval.io.engines.groups import Packed
from repeval.io.engines.reduced import BITS
from repeval.io.keys import KEYS, in_order
from repeval.io.rules.nonruns import cached_text, retries_text
from repeval.io.rules.runs import Names, Runs
from repeval.messages import Notice

__all__ = ["Whole", "whole_of"]


@dataclass(eq=False)
class Whole:
    """All reduced rows, sorted by system, problem and chunk of runs."""

    models: tuple[str, ...]
    conditions: tuple[str, ...]
    names: Names
    system: np.ndarray
    problem: np.ndarray
    chunk: np.ndarray
    mask: np.ndarray
    n: np.ndarray
    y: np.ndarray
    error: np.ndarray

    def systems(self) -> Iterator[Runs]:
        """Yield the runs of one system after the other."""
        ends = [*(np.flatnonzero(np.diff(self.system)) + 1).tolist(), len(self.system)]
        for start, end in zip([0, *ends], ends, strict=False):
            at = slice(start, end)
            bits = self.mask[at].astype("<u4").view(np.uint8).reshape(-1, 4)
            row, bit = np.nonzero(np.unpackbits(bits, axis=1, bitorder="little"))
            y = self.y[at]
            yield Runs(
                self.name(int(self.system[start])), self.problem[at][row],
                self.chunk[at][row] * BITS + bit, y[row],
                int(self.n[at][self.error[at] & ~np.isnan(y)].sum()),
            )  # fmt: skip

    def name(self, system: int) -> tuple[str, str]:
        """Return the model and the condition of a system's code."""
        model, condition = divmod(system, len(self.conditions))
        return self.models[model], self.conditions[condition]

    def sha256(self) -> str:
        """Return a sum that no order of rows changes."""
        order = np.lexsort((self.y, self.chunk, self.problem, self.system))
        found = hashlib.sha256(repr((self.models, self.conditions, *self.names)).encode())
        for values in (self.system, self.problem, self.chunk, self.mask, self.y):
            found.update(np.ascontiguousarray(values[order]).tobytes())
        return found.hexdigest()

    def repeated(self, most: int) -> list[tuple[int, int]]:
        """Return systems and problems of which a run occurs twice, the first few."""
        at = np.flatnonzero(self._starts())
        n, mask = (np.add.reduceat(values, at) for values in (self.n, self.mask))
        # A sum of powers of two has as many bits as terms only if no two are equal.
        twice = at[np.bitwise_count(mask) != n]
        return list(zip(self.system[twice].tolist(), self.problem[twice].tolist(), strict=True))[
            :most
        ]

    def _starts(self) -> np.ndarray:
        """Tell where a system, a problem or a chunk begins."""
        new = np.ones(len(self.n), dtype=bool)
        columns = (self.system, self.problem, self.chunk)
        new[1:] = np.any([c[1:] != c[:-1] for c in columns], axis=0)
        return new


def whole_of(
    parts: Sequence[Packed], runs: tuple[str, ...], retries: str | None, notices: list[Notice]
) -> Whole | None:
    """Put reduced rows together, without cached answers, and of several attempts the one chosen.

    Returns
    -------
    None if which of several cached answers stays depends on the order of rows, and no row numbers
    were asked for.
    """
    codes, names = {}, {}
    for role in KEYS[:3]:
        names[role] = in_order(text for part in parts for text in part.names[role])
        place = {text: i for i, text in enumerate(names[role])}
        codes[role] = np.concatenate(
            [np.array([place[t] for t in p.names[role]], dtype=np.int32)[p.codes[role]]
             for p in parts]
        )  # fmt: skip
    system = codes["model"] * len(names["condition"]) + codes["condition"]
    rest = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("y", "error", "cached", "chunk", "mask", "n", "first", "last")
        if getattr(parts[0], name) is not None
    }
    columns = {"system": system, "problem": codes["problem"], **rest}
    columns["chunk"] = columns["chunk"].astype(np.int32)
    key = system.astype(np.int64) * len(names["problem"]) + codes["problem"]
    order = np.argsort(key * (len(runs) // BITS + 1) + columns["chunk"], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    if columns["cached"].any():
        keep = _uncached(columns, notices)
        if keep is None:
            return None
        columns = {name: values[keep] for name, values in columns.items()}
    if retries and "first" in columns:
        columns = _attempts(columns, retries, notices)
    for name in ("cached", "first", "last"):
        columns.pop(name, None)
    return Whole(names["model"], names["condition"], Names(names["problem"], runs), **columns)


def _uncached(columns: dict[str, np.ndarray], notices: list[Notice]) -> np.ndarray | None:
    """Return which rows are no cached answers, or stay because their problem has no other."""
    cached, n = columns["cached"], columns["n"]
    key = columns["system"].astype(np.int64) * (columns["problem"].max() + 1) + columns["problem"]
    cell = np.unique(key, return_inverse=True)[1]
    alone = (np.bincount(cell, ~cached) == 0)[cell]
    several = (np.bincount(cell, n) > 1)[cell]
    stays = alone.copy()
    if (alone & several).any():
        if "first" not in columns:
            return None
        first = np.full(cell.max() + 1, np.iinfo(np.int64).max)
        np.minimum.at(first, cell, columns["first"])
        stays = alone & (columns["first"] == first[cell])
        # Where a row number stands for several rows, one of them stays.
        columns["n"] = np.where(stays, 1, n)
    out = int(n.sum()) - int(columns["n"][~cached | stays].sum())
    if out:
        notices.append(cached_text(out, int(n.sum()), int(stays.sum())))
    return ~cached | stays


def _attempts(
    columns: dict[str, np.ndarray], retries: str, notices: list[Notice]
) -> dict[str, np.ndarray]:
    """Of several attempts at one run keep one."""
    judged = ~np.isnan(columns["y"])
    by = {
        "last": columns["last"], "first": -columns["first"],
        "best": np.where(judged, columns["y"], -1.0),
    }[retries]  # fmt: skip
    keys = [columns[name] for name in ("mask", "chunk", "problem", "system")]
    order = np.lexsort((columns["last"], by, judged, *keys))
    ends = np.ones(len(order), dtype=bool)
    ends[:-1] = np.any([k[order][1:] != k[order][:-1] for k in keys], axis=0)
    run = np.r_[0, np.cumsum(ends)[:-1]]
    tries = np.bincount(run, columns["n"][order]).astype(np.int64)
    several = tries > 1
    if several.any():
        notices.append(retries_text(retries, int(several.sum()), int(tries[several].sum())))
    chosen = order[ends]
    columns = {name: values[chosen] for name, values in columns.items()}
    columns["n"] = np.ones(len(chosen), dtype=np.int64)
    return columns
