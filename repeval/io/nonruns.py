"""Rows that are no further runs: retries, cached and replayed answers, runs that never ran."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from repeval.io.outcomes import KEYS, System, in_order
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
    cached = pd.Series(False, rows.index)
    for column in cache_flags(texts):
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
    """Point at run labels in which everything failed; leave them out if `rule` says so."""
    found = dict(_failed_labels(rows))
    if not found:
        return rows
    keys = pd.MultiIndex.from_tuples([(*s, run) for s, labels in found.items() for run in labels])
    dead = pd.MultiIndex.from_frame(rows[["model", "condition", "run"]]).isin(keys)
    score = [
        part.groupby(KEYS[:3])["outcome"].mean().groupby(KEYS[:2]).mean()
        for part in (rows, rows[~dead])
    ]
    said = []
    for system, labels in found.items():
        mine = (rows[KEYS[:2]] == [*system]).all(axis=1)
        with_them, without = (100 * part[system] for part in score)
        said.append(
            f"{_name(system)}: {len(labels)} of {rows.loc[mine, 'run'].nunique()} run labels "
            f"({some(labels)}) failed on all {rows.loc[mine & dead, 'problem'].nunique()} "
            f"problems, {with_them:.1f} % with them, {without:.1f} % without"
        )
    end = (
        f"{dead.sum():,} rows are left out." if rule == "leave-out" else
        "If these runs were never made, and stored as failed: --failed-runs leave-out."
    )  # fmt: skip
    text = f"In some runs everything failed, while other runs did not: {some(said, sep='; ')}. "
    notices.append(Notice("failed-runs", text + end))
    return rows[~dead] if rule == "leave-out" else rows


def _failed_labels(rows: pd.DataFrame) -> Iterator[tuple[System, list[str]]]:
    """Yield the systems, and labels of theirs, that failed throughout though others did not.

    Of a problem with k passes in n other runs, a further run fails with probability
    1 - k/(n + 1) if runs are exchangeable.
    """
    judged = rows[rows["outcome"].notna()]
    system, run = _codes(judged, KEYS[:2]), _codes(judged, ["run"])[0]
    key = (system[0] * (system[1].max() + 1) + system[1]) * (run.max() + 1) + run
    dead = np.bincount(key, judged["outcome"] > 0)[key] == 0
    if not dead.any():
        return
    systems = pd.MultiIndex.from_frame(judged[KEYS[:2]])
    judged = judged.assign(dead=dead)[systems.isin(systems[dead])]
    for system, frame in judged.groupby(KEYS[:2], sort=False):
        others = frame[~frame["dead"]]
        passed = (others["outcome"] > 0).groupby(others["problem"]).agg(["sum", "size"])
        fails = np.log1p(-passed["sum"] / (passed["size"] + 1))
        chance = frame[frame["dead"]].set_index("run")["problem"].map(fails).fillna(0.0)
        chance = chance.groupby("run").sum() + np.log(frame["run"].nunique())
        if labels := list(in_order(chance.index[chance <= np.log(POINTED_AT)])):
            yield system, labels


def _codes(rows: pd.DataFrame, columns: list[str]) -> list[np.ndarray]:
    return [pd.factorize(rows[column])[0] for column in columns]


def _name(system: System) -> str:
    return system[0] if system[1] == "default" else " / ".join(system)
