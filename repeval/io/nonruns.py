"""Rows that are no further runs: retries, cached and replayed answers, runs that never ran."""

from __future__ import annotations

import numpy as np
import pandas as pd

from repeval.io.keys import KEYS, System, in_order
from repeval.messages import Notice, some

__all__ = ["cache_flags", "drop_cached", "drop_replayed", "one_attempt", "treat_failed_runs"]

CACHED = {"cached", "from_cache", "is_cached", "cache_hit"}
HIT, MISS = {"true", "1", "yes", "hit"}, {"false", "0", "no", "miss", "", "nan", "none"}
#: How rare by chance, for a system, what is left out must be, and what is pointed at.
LEFT_OUT, POINTED_AT = 1e-6, 1e-3


def cache_flags(texts: pd.DataFrame) -> list[str]:
    """Return the columns that say by name and words which answers came from a cache."""
    named = [c for c in texts if c.strip().lower().replace(" ", "_") in CACHED]
    return [c for c in named if set(_words(texts[c])) <= HIT | MISS]


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
        cached |= _words(texts[column]).isin(HIT)
    out = rows[cached]
    fresh = pd.MultiIndex.from_frame(rows.loc[~cached, KEYS[:3]])
    only = out[~pd.MultiIndex.from_frame(out[KEYS[:3]]).isin(fresh)]
    stays = only.index[~only.duplicated(KEYS[:3])]
    out = out.index.difference(stays)
    if not len(out):
        return rows
    text = f"{len(out):,} of {len(rows):,} answers came from a cache and are left out."
    if len(stays):
        text += f" Of {len(stays):,} problems without another answer the first one is their run."
    notices.append(Notice("cached-answers", text))
    return rows.drop(out)


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
    text = (
        f"{len(chosen):,} runs have several rows ({len(tries):,}), taken for attempts at the same "
        f"run: the {retries} judged one counts (--retries {retries}), {len(out):,} are left out."
    )
    if retries == "best":
        text += " The best of several favours runs that were tried more often."
    else:
        text += " Attempts are in the order of the rows."
    notices.append(Notice("retries-chosen", text))
    return rows.drop(out)


def drop_replayed(rows: pd.DataFrame, notices: list[Notice]) -> pd.DataFrame:
    """Leave out runs whose label equals an earlier one on every problem.

    Given how many runs of a problem passed, two of them agree with a known probability if runs are
    exchangeable; only where agreement everywhere is rarer than `LEFT_OUT` are the later runs
    replays. Where runs never differ nothing can be told, and nothing is left out.
    """
    out, said = np.zeros(len(rows), dtype=bool), []
    problem, run, y = *_codes(rows, ["problem", "run"]), rows["outcome"].to_numpy(float)
    for system, every in rows.groupby(KEYS[:2], sort=False).indices.items():
        at = every[~np.isnan(y[every])]
        labels = np.unique(run[at])
        if len(labels) < 3 or len(at) < 0.5 * len(labels) * len(np.unique(problem[at])):
            continue
        table = np.full((problem.max() + 1, len(labels)), np.nan)
        table[problem[at], np.searchsorted(labels, run[at])] = y[at]
        table = table[~np.isnan(table).all(axis=1)]
        names = rows["run"].to_numpy()[[at[run[at] == label][0] for label in labels]]
        order = pd.Index(names).get_indexer(in_order(names))
        replays, varied = _replays(table[:, order])
        if replays:
            names = names[order]
            pairs = some([f"run {names[b]} equals run {names[a]}" for b, a in replays.items()])
            said.append(f"{_name(system)}: {pairs}, on all problems, of which {varied} vary")
            out[every] |= np.isin(run[every], labels[order[[*replays]]])
    if not said:
        return rows
    text = f"Replayed answers are no further runs: {out.sum():,} rows are left out ({some(said)})."
    notices.append(Notice("replayed-runs", text))
    return rows[~out]


def _replays(y: np.ndarray) -> tuple[dict[int, int], int]:
    """Return which runs of a system repeat which, and on how many problems runs vary.

    Parameters
    ----------
    y : array, shape (n_problems, n_labels)
        Outcomes, NaN where there is none.
    """
    seen = ~np.isnan(y)
    # A label with one outcome throughout resembles others without being a copy of them.
    mixed = [k for k in range(y.shape[1]) if len(np.unique(y[seen[:, k], k])) > 1]
    if seen.all():
        first: dict[bytes, int] = {}
        same = ((first.setdefault(y[:, k].tobytes(), k), k) for k in mixed)
        alike = [(a, b) for a, b in same if a != b]
    else:
        equal = ~((y[:, :, None] != y[:, None]) & seen[:, :, None] & seen[:, None]).any(axis=0)
        alike = [(a, b) for b in mixed for a in mixed if a < b and equal[a, b]]
    if not alike:
        return {}, 0
    n = seen[:, mixed].sum(axis=1)
    # Ordered pairs of a problem's runs that agree.
    agreeing = sum((y[:, mixed] == y[:, k, None]).sum(axis=1) for k in mixed) - n
    with np.errstate(divide="ignore", invalid="ignore"):
        agree = np.where(n > 1, np.log(agreeing / (n * (n - 1))), 0.0)
    bound = np.log(LEFT_OUT / (len(mixed) * (len(mixed) - 1) / 2))
    replays: dict[int, int] = {}
    for a, b in alike:
        rare = agree[seen[:, a] & seen[:, b]].sum() <= bound
        if rare and a not in replays and b not in replays:
            replays[b] = a
    kept = y[:, [k for k in mixed if k not in replays]]
    binary = np.isin(y[seen], (0.0, 1.0)).all()
    if binary and kept.shape[1] == 2 and not (kept[:, 0] == kept[:, 1]).any():
        # Two runs that are opposite everywhere follow a pattern, which runs of no system do.
        return {}, 0
    return replays, int((agree < 0).sum())


def treat_failed_runs(rows: pd.DataFrame, rule: str | None, notices: list[Notice]) -> pd.DataFrame:
    """Point at run labels in which everything failed; leave them out if `rule` says so.

    Of a problem with k passes in n other runs, a further run fails with probability
    1 - k/(n + 1) if runs are exchangeable: only labels whose failing throughout is rarer than
    `POINTED_AT` are meant.
    """
    model, condition, problem, run = _codes(rows, KEYS)
    system, cell, key = (
        pd.factorize((model * (condition.max() + 1) + condition) * (codes.max() + 1) + codes)[0]
        for codes in (np.zeros(len(rows), dtype=int), problem, run)
    )
    y = rows["outcome"].to_numpy(float)
    judged = ~np.isnan(y)
    failed = judged & (np.bincount(key[judged], y[judged] > 0, key.max() + 1)[key] == 0)
    if not failed.any():
        return rows
    others, size = judged & ~failed, cell.max() + 1
    k, n = np.bincount(cell[others], y[others] > 0, size), np.bincount(cell[others], minlength=size)
    chance = np.bincount(key[failed], np.log1p(-k / (n + 1))[cell[failed]], key.max() + 1)
    labels = np.bincount(system[np.unique(key, return_index=True)[1]])
    rare = chance[key] + np.log(labels[system]) <= np.log(POINTED_AT)
    dead = rare & np.isin(key, key[failed])
    if not dead.any():
        return rows
    models, conditions = (rows[column].to_numpy() for column in KEYS[:2])
    said = []
    for one in dict.fromkeys(system[dead].tolist()):
        mine, out = system == one, (system == one) & dead
        name = _name((models[mine.argmax()], conditions[mine.argmax()]))
        names = in_order(rows["run"].to_numpy()[out])
        with_them, without = (
            100 * _score(cell[which], y[which]) for which in (mine & judged, mine & judged & ~dead)
        )
        said.append(
            f"{name}: {len(names)} of {labels[one]} run labels ({some(names)}) failed on all "
            f"{len(np.unique(problem[out]))} problems, {with_them:.1f} % with them, "
            f"{without:.1f} % without"
        )
    end = (
        f"{dead.sum():,} rows are left out." if rule == "leave-out" else
        "If these runs were never made, and stored as failed: --failed-runs leave-out."
    )  # fmt: skip
    text = f"In some runs everything failed, while other runs did not: {some(said, sep='; ')}. "
    notices.append(Notice("failed-runs", text + end))
    return rows[~dead] if rule == "leave-out" else rows


def _score(cell: np.ndarray, y: np.ndarray) -> float:
    """Return the mean of problems' means."""
    n = np.bincount(cell)
    return float((np.bincount(cell, y)[n > 0] / n[n > 0]).mean())


def _codes(rows: pd.DataFrame, columns: list[str]) -> list[np.ndarray]:
    return [pd.factorize(rows[column])[0] for column in columns]


def _name(system: System) -> str:
    return system[0] if system[1] == "default" else " / ".join(system)
