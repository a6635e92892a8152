"""Rows that are no further runs: retries, cached and replayed answers, runs that never ran."""

from __future__ import annotations

import numpy as np
import pandas as pd

from repeval.io.keys import KEYS
from repeval.io.rules.runs import Names, Runs, dense
from repeval.messages import Notice, some

__all__ = [
    "CACHED", "cache_flags", "cached_text", "drop_cached", "failed_throughout", "hits",
    "one_attempt", "replayed", "retries_text",
]  # fmt: skip

CACHED = {"cached", "from_cache", "is_cached", "cache_hit"}
HIT, MISS = {"true", "1", "yes", "hit"}, {"false", "0", "no", "miss", "", "nan", "none"}
#: How rare by chance, for a system, what is left out must be, and what is pointed at.
LEFT_OUT, POINTED_AT = 1e-6, 1e-3


def cache_flags(texts: pd.DataFrame) -> list[str]:
    """Return the columns that say by name and words which answers came from a cache."""
    named = [c for c in texts if c.strip().lower().replace(" ", "_") in CACHED]
    return [c for c in named if set(_words(texts[c])) <= HIT | MISS]


def hits(column: pd.Series) -> pd.Series:
    """Tell which words of such a column mean a cached answer."""
    return _words(column).isin(HIT)


def _words(column: pd.Series) -> pd.Series:
    return column.fillna("").str.strip().str.lower()


def drop_cached(rows: pd.DataFrame, texts: pd.DataFrame, notices: list[Notice]) -> pd.DataFrame:
    """Leave out answers that a column says came from a cache.

    Of a problem that has no other answer, the first one stays: it is one run. A column with other
    words than yes and no is a label.
    """
    if not (flags := cache_flags(texts)):
        return rows
    cached = pd.Series(False, rows.index)
    for column in flags:
        cached |= hits(texts[column])
    out = rows[cached]
    fresh = pd.MultiIndex.from_frame(rows.loc[~cached, KEYS[:3]])
    only = out[~pd.MultiIndex.from_frame(out[KEYS[:3]]).isin(fresh)]
    stays = only.index[~only.duplicated(KEYS[:3])]
    out = out.index.difference(stays)
    if not len(out):
        return rows
    notices.append(cached_text(len(out), len(rows), len(stays)))
    return rows.drop(out)


def cached_text(out: int, rows: int, stays: int) -> Notice:
    """Say how many answers were cached, and of how many problems one of them stays."""
    text = f"{out:,} of {rows:,} answers came from a cache and are left out."
    if stays:
        text += f" Of {stays:,} problems without another answer the first one is their run."
    return Notice("cached-answers", text)


def one_attempt(rows: pd.DataFrame, retries: str | None, notices: list[Notice]) -> pd.DataFrame:
    """Apply ``--retries``: of several attempts at one run one counts, a judged one if there is."""
    again = rows.duplicated(KEYS, keep=False)
    if retries is None or not again.any():
        return rows
    tries = rows.loc[again, KEYS].assign(judged=rows["outcome"].notna(), at=range(again.sum()))
    if retries == "first":
        tries["at"] *= -1
    if retries == "best":
        tries["at"] = rows["outcome"].fillna(-1.0)
    chosen = tries.sort_values(["judged", "at"], kind="stable").drop_duplicates(KEYS, keep="last")
    out = tries.index.difference(chosen.index)
    notices.append(retries_text(retries, len(chosen), len(tries)))
    return rows.drop(out)


def retries_text(retries: str, chosen: int, tries: int) -> Notice:
    """Say how many runs have several rows, and which of them count."""
    text = (
        f"{chosen:,} runs have several rows ({tries:,}), taken for attempts at the same "
        f"run: the {retries} judged one counts (--retries {retries}), {tries - chosen:,} are left "
        "out."
    )
    if retries == "best":
        text += " The best of several favours runs that were tried more often."
    else:
        text += " Attempts are in the order of the rows."
    return Notice("retries-chosen", text)


def replayed(runs: Runs, names: Names) -> tuple[str, np.ndarray] | None:
    """Return which rows' labels equal an earlier one on every problem, and words for them.

    Given how many runs of a problem passed, two of them agree with a known probability if runs are
    exchangeable; only where agreement everywhere is rarer than `LEFT_OUT` are the later runs
    replays. Where runs never differ nothing can be told, and nothing is left out.
    """
    seen = runs.where(runs.judged)
    if not len(seen):
        return None
    (labels, run), (problems, problem) = dense(seen.run), dense(seen.problem)
    if len(labels) < 3 or len(seen) < 0.5 * len(labels) * len(problems):
        return None
    table = np.full((len(problems), len(labels)), np.nan)
    table[problem, run] = seen.y
    replays, varied = _replays(table)
    if not replays:
        return None
    called = [names.runs[label] for label in labels]
    pairs = some([f"run {called[b]} equals run {called[a]}" for b, a in replays.items()])
    text = f"{runs.name}: {pairs}, on all problems, of which {varied} vary"
    return text, np.isin(runs.run, labels[[*replays]])


def _replays(y: np.ndarray) -> tuple[dict[int, int], int]:
    """Return which runs of a system repeat which, and on how many problems runs vary.

    Parameters
    ----------
    y : array, shape (n_problems, n_labels)
        Outcomes, NaN where there is none.
    """
    # A label with one outcome throughout resembles others without being a copy of them.
    low, high = np.nanmin(y, axis=0), np.nanmax(y, axis=0)
    mixed = np.flatnonzero(low < high).tolist()
    if len(mixed) < 2:
        return {}, 0
    # Labels with equal outcomes are compared once; 0.0 makes one zero of two.
    numbers: dict[bytes, int] = {}
    which = [numbers.setdefault((y[:, k] + 0.0).tobytes(), len(numbers)) for k in mixed]
    distinct = y[:, [mixed[k] for k in np.unique(which, return_index=True)[1]]]
    agreeing = [[np.square(np.unique(x[x == x], return_counts=True)[1]).sum(), (x == x).sum()]
                for x in y[:, mixed]]  # fmt: skip
    # Ordered pairs of a problem's runs that agree, and all.
    agreeing, n = np.array(agreeing).T
    with np.errstate(divide="ignore", invalid="ignore"):
        agree = np.where(n > 1, np.log((agreeing - n) / (n * (n - 1))), 0.0)
    bound = np.log(LEFT_OUT / (len(mixed) * (len(mixed) - 1) / 2))
    seen = ~np.isnan(distinct)
    copies: list[list[int]] = [[] for _ in numbers]
    for a, b in [*((k, k) for k in range(len(numbers))), *_alike(distinct)]:
        if agree[seen[:, a] & seen[:, b]].sum() <= bound:
            copies[a].append(b)
            copies[b].append(a)
    replays: dict[int, int] = {}
    first: dict[int, int] = {}
    for k, number in zip(mixed, which, strict=True):
        earlier = [first[other] for other in copies[number] if other in first]
        if earlier:
            replays[k] = min(earlier)
        else:
            first.setdefault(number, k)
    kept = y[:, [k for k in mixed if k not in replays]]
    binary = np.isin(y[~np.isnan(y)], (0.0, 1.0)).all()
    if binary and kept.shape[1] == 2 and not (kept[:, 0] == kept[:, 1]).any():
        # Two runs that are opposite everywhere follow a pattern, which runs of no system do.
        return {}, 0
    return replays, int((agree < 0).sum())


def _alike(y: np.ndarray) -> list[tuple[int, int]]:
    """Return the pairs of different columns that agree wherever both have a value."""
    whole = ~np.isnan(y).any(axis=1)
    # Where all have a value, those that agree have the same ones.
    groups: dict[bytes, list[int]] = {}
    for k, column in enumerate(y[whole].T):
        groups.setdefault((column + 0.0).tobytes(), []).append(k)
    rest = y[~whole]
    return [
        (group[a], group[b])
        for group in groups.values() if len(group) > 1 for a, b in _agreeing(rest[:, group])
    ]  # fmt: skip


def _agreeing(y: np.ndarray) -> list[tuple[int, int]]:
    """Return these pairs by comparing all columns."""
    n, size = y.shape
    alike, start = np.tri(size, k=-1, dtype=bool).T, 0
    step = 256 if np.isin(y, (0.0, 1.0)).sum() == (~np.isnan(y)).sum() else 1 + 2**22 // size**2
    # Few problems tell most pairs apart; what is left is compared pair by pair.
    while start < n and alike.sum() > size:
        block, start = y[start : start + step], start + step
        if step == 256:
            ones, zeros = (np.float32(block == value) for value in (1, 0))
            differ = ones.T @ zeros > 0
            alike &= ~(differ | differ.T)
        else:
            known = ~np.isnan(block)
            differ = (block[:, :, None] != block[:, None]) & known[:, :, None] & known[:, None]
            alike &= ~differ.any(axis=0)
    pairs = zip(*map(np.ndarray.tolist, np.nonzero(alike)), strict=True)
    rest = y[start:]
    return [(a, b) for a, b in pairs if not (np.abs(rest[:, a] - rest[:, b]) > 0).any()]


def failed_throughout(runs: Runs, names: Names) -> tuple[str, np.ndarray] | None:
    """Return which rows' labels failed on all problems, and words for them.

    Of a problem with k passes in n other runs, a further run fails with probability
    1 - k/(n + 1) if runs are exchangeable: only labels whose failing throughout is rarer than
    `POINTED_AT` are meant.
    """
    (labels, run), (_, cell) = dense(runs.run), dense(runs.problem)
    judged, passed = runs.judged, runs.y > 0
    failed = judged & (np.bincount(run[passed], minlength=len(labels))[run] == 0)
    if not failed.any():
        return None
    others, size = judged & ~failed, cell.max() + 1
    k, n = np.bincount(cell[passed], minlength=size), np.bincount(cell[others], minlength=size)
    chance = np.bincount(run[failed], np.log1p(-k / (n + 1))[cell[failed]], len(labels))
    rare = chance[run] + np.log(len(labels)) <= np.log(POINTED_AT)
    dead = rare & np.isin(run, run[failed])
    if not dead.any():
        return None
    called = [names.runs[label] for label in np.unique(runs.run[dead])]
    with_them, without = (
        100 * _score(cell[which], runs.y[which]) for which in (judged, judged & ~dead)
    )
    text = (
        f"{runs.name}: {len(called)} of {len(labels)} run labels ({some(called)}) failed on all "
        f"{len(np.unique(cell[dead]))} problems, {with_them:.1f} % with them, "
        f"{without:.1f} % without"
    )
    return text, dead


def _score(cell: np.ndarray, y: np.ndarray) -> float:
    """Return the mean of problems' means."""
    n = np.bincount(cell)
    return float((np.bincount(cell, y)[n > 0] / n[n > 0]).mean())
