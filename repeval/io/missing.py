"""Runs without an outcome, runs that are missing, and runs whose number outcomes decided."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd

from repeval.io.keys import KEYS, in_order
from repeval.io.planned import lacking_by_system
from repeval.messages import Notice, refused, some

#: Problems with fewer runs than others that show a rule: of stopping at a pass or a failure, and
#: of stopping at a difference, which half of all pairs of runs may show by chance (2^-10 < .001).
FEWEST_SHORT, MORE_SHORT = 5, 10


def apply_errors(rows: pd.DataFrame, errors: str, notices: list[Notice]) -> pd.DataFrame:
    """Apply ``--errors`` to the rows without outcome."""
    empty = rows["outcome"].isna()
    if both := int((rows["error"] & ~empty).sum()):
        text = f"{both:,} rows have an outcome and an error: the outcome counts."
        notices.append(Notice("score-with-error", text))
    if not empty.any():
        return rows
    lost = rows.loc[empty, "model"].value_counts()
    # Most first, then by name: the order of the rows says nothing.
    models = [f"{model}: {-n}" for n, model in sorted((-lost[m], m) for m in lost.index)]
    left_out, failed = (
        rows.assign(y=y).groupby(KEYS[:3])["y"].mean().groupby(KEYS[:2]).mean() * 100
        for y in (rows["outcome"], rows["outcome"].fillna(0.0))
    )
    verdict, other, used, unused = (
        ("missing, not failed (--errors fail counts them as failed)", "if failed", left_out, failed)
        if errors == "missing"
        else ("counted as failed", "without them", failed, left_out)
    )
    both = [
        f"{system[0]} {used[system]:.1f} % ({unused[system]:.1f} % {other})"
        for system in left_out.index[left_out.round(1) > failed.round(1)]
    ]
    text = f"{empty.sum():,} of {len(rows):,} rows have no outcome ({some(models)}): they are "
    scores = f" Scores: {some(both)}." if both else ""
    notices.append(Notice("errored-rows", f"{text}{verdict}.{scores}"))
    return rows.fillna({"outcome": 0.0}) if errors == "fail" else rows


def apply_missing(rows: pd.DataFrame, rule: str, notices: list[Notice]) -> pd.DataFrame:
    """Apply ``--missing``.

    A cell (model, condition, problem) is incomplete if it lacks runs that were planned (see
    `planned.lacking`).
    """
    if rule == "keep":
        return rows
    problems = pd.Index(in_order(rows["problem"]), name="problem")
    judged = rows["outcome"].notna().to_numpy()
    counted = dict(lacking_by_system(rows, judged, problems))
    index = pd.MultiIndex.from_tuples([(*s, p) for s in counted for p in problems], names=KEYS[:3])
    absent, unjudged = (
        pd.Series(n, index) for n in np.concatenate(list(counted.values()), axis=1)
    )  # fmt: skip
    lacks = absent + unjudged
    lacks = lacks[lacks > 0]
    if not len(lacks):
        return rows
    if rule == "error":
        done = rows[judged].groupby(KEYS[:3]).size().reindex(lacks.index, fill_value=0)
        shown = [
            f"{model!r}, {condition}, problem {problem!r} lacks {n} of {n + k}"
            for ((model, condition, problem), n), k in zip(lacks.items(), done, strict=True)
        ]
        what = f"{lacks.sum():,} runs are missing: {some(shown, sep='; ')}."
        raise refused("missing-refused", what)
    if rule == "drop-problem":
        dropped = in_order(lacks.index.get_level_values("problem"))
        share = f"{len(dropped)} of {rows['problem'].nunique()} problems"
        if rows["problem"].nunique() - len(dropped) < 2:
            what = f"--missing drop-problem leaves out {share}, because some system lacks runs of"
            raise refused("nothing-complete", f"{what} {some(dropped, 5)}.")
        text = f"Left out because a system lacks runs of them: {share} ({some(dropped, 5)})."
        notices.append(Notice("dropped-problems", text))
        return rows[~rows["problem"].isin(dropped)]
    notices.append(Notice("filled-runs", f"{lacks.sum():,} missing runs are counted as failed."))
    # A row without outcome takes the place of one of its cell's missing runs.
    filled = absent.index.repeat(absent).to_frame(index=False)
    filled["run"] = [f"missing-{k + 1}" for n in absent for k in range(n)]
    return pd.concat([rows, filled], ignore_index=True).fillna({"outcome": 0.0})


def first_runs(rows: pd.DataFrame, notices: list[Notice]) -> pd.DataFrame:
    """Keep first runs only where outcomes decided whether a problem ran again.

    Whatever decided about the second run, the first one is unbiased.
    """
    reasons: dict[str, list[str]] = defaultdict(list)
    later = np.zeros(len(rows), dtype=bool)
    problem = pd.factorize(rows["problem"])[0]
    place = pd.Index(in_order(rows["run"].unique())).get_indexer(rows["run"])
    for (model, condition), at in rows.groupby(KEYS[:2], sort=False).indices.items():
        sizes = np.bincount(problem[at])
        if np.ptp(sizes[sizes > 0]) == 0:
            continue
        frame = rows.iloc[at].assign(place=place[at], at=at).sort_values("place", kind="stable")
        if not (reason := _stopping(frame)):
            continue
        reasons[reason].append(model if condition == "default" else f"{model} / {condition}")
        # A first run is the first that was judged.
        frame = frame.assign(unjudged=frame["outcome"].isna()).sort_values(
            "unjudged", kind="stable"
        )
        later[frame["at"][frame.duplicated("problem")]] = True
    for reason, systems in reasons.items():
        text = (
            f"For {some(systems)} runs of a problem went on {reason}, which biases what is said "
            "about runs. Scores are from first runs only, and run noise is not identified."
        )
        notices.append(Notice("adaptive-stopping", text))
    return rows[~later]


def _stopping(frame: pd.DataFrame) -> str:
    """Return what a system's runs, in order, were stopped by; "" if by nothing that shows.

    In none of these may a problem lack a label before its last one: numbers of runs that chance
    made unequal leave such gaps.
    """
    sizes = frame.groupby("problem").size()
    done = frame[frame["outcome"].notna()]
    short = sizes.reindex(done["problem"].unique()) < sizes.max()
    if sizes.max() == 1 or short.sum() < FEWEST_SHORT or not done["outcome"].isin([0, 1]).all():
        return ""
    if frame["run"].duplicated().any():
        places = frame["place"].rank(method="dense").groupby(frame["problem"])
        if (places.max() > sizes).any():
            return ""
    y = done.groupby("problem")["outcome"]
    n, passes, first, last = (x.reindex(short.index) for x in (
        y.size(), y.sum(), y.first(), y.last()))  # fmt: skip
    for one, hits, words in ((1, passes, "until one passed"), (0, n - passes, "until one failed")):
        stopped = (hits == 1) & (last == one)
        if (stopped[short]).all() and (stopped | (hits == 0))[~short].all():
            return words
    same = (passes == 0) | (passes == n)
    # All runs but the last agree, and it differs from them.
    turned = (first != last) & (np.where(last == 1, passes, n - passes) == 1)
    if short.sum() < MORE_SHORT:
        return ""
    if turned[short].all() and (turned | same)[~short].all():
        return "until one differed"
    if same.all() and sizes[short.index][short].nunique() > 2:
        return "only while they agreed (no problem has runs that differ)"
    return ""
