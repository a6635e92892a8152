"""Outcomes by run label, and words and tables on what was seen in them, and what could be."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repeval.messages import some
from repeval.report.format import count, percent, points
from repeval.stats.comparison import sidak
from repeval.stats.exchangeability import label_effect, run_agreement
from repeval.stats.sample import FloatArray

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

LEVEL = 0.95
ONE_RUN = "each problem has one run"
UNEQUAL = "problems have unequal numbers of runs (--missing drop-problem keeps those with all)"
OWN_LABELS = "the labels differ from problem to problem"
OTHER_LABELS = "the labels are not those of most models"


@dataclass(frozen=True, eq=False)
class Labelled:
    """Outcomes of a condition's models whose problems all have the same run labels.

    Attributes
    ----------
    condition : str
    labels : tuple of str
        In order; () where nothing can be tested.
    tables : dict of (N, R) arrays
        By model.
    pooled : dict of (N, R) arrays
        Those of models that enter pooled figures.
    left_out : dict
        Why models are not in `tables` -> their names.
    """

    condition: str
    labels: tuple[str, ...]
    tables: dict[str, FloatArray]
    pooled: dict[str, FloatArray]
    left_out: dict[str, list[str]]


def labelled(outcomes: Outcomes, condition: str) -> Labelled:
    """Return the outcomes of a condition by run label."""
    rows = outcomes.rows()
    tables, labels, left_out = {}, {}, {}
    for model, own in rows[rows["condition"] == condition].groupby("model", sort=False):
        sample = outcomes.system(model, condition)
        if sample.equal_runs and sample.runs[0] > 1:
            runs = own["run"].to_numpy().reshape(len(sample), -1)
            if (runs == runs[0]).all():
                tables[model] = own["outcome"].to_numpy(float).reshape(runs.shape)
                labels[model] = tuple(runs[0])
                continue
        why = ONE_RUN if sample.runs.max() == 1 else OWN_LABELS if sample.equal_runs else UNEQUAL
        left_out.setdefault(why, []).append(model)
    ((most, _),) = Counter(labels.values()).most_common(1) or [((), 0)]
    if others := [m for m in labels if labels[m] != most]:
        left_out[OTHER_LABELS] = others
    tables = {m: table for m, table in tables.items() if m not in others}
    pooled = {m: table for m, table in tables.items() if m not in outcomes.source.excluded}
    return Labelled(condition, most, tables, pooled or tables, left_out)


def everything(outcomes: Outcomes) -> list[Labelled]:
    """Return the conditions in which something can be tested."""
    return [f for c in outcomes.conditions if (f := labelled(outcomes, c)).tables]


def tested(found: Labelled) -> str:
    """Say which labels are compared, and which models are not and why."""
    left = [f"{some(models)}, as {why}" for why, models in found.left_out.items()]
    if not found.tables:
        return f"There is nothing to test here: {'; '.join(left)}."
    text = (
        f"Tested: {count(len(found.tables), 'model')}, with runs labelled {some(found.labels, 6)}."
    )
    return " ".join([text, *[f"Not tested: {why}." for why in left]])


def as_one(found: Labelled) -> FloatArray:
    """Return the pooled models' outcomes one below the other."""
    return np.concatenate([*found.pooled.values()])


def _ways(found: Labelled) -> dict[str, list[FloatArray]]:
    if len(found.pooled) == 1:
        return {"the one tested": [as_one(found)]}
    return {"one by one, summed": [*found.pooled.values()], "all as one": [as_one(found)]}


def label_table(outcomes: Outcomes) -> pd.DataFrame:
    """Return the test of label effects for every condition, summed over models and as one."""
    return pd.DataFrame(
        {"condition": f.condition, "models": how} | _row(tables)
        for f in everything(outcomes)
        for how, tables in _ways(f).items()
    )


def model_table(found: Labelled) -> pd.DataFrame:
    """Return the test of label effects for every model."""
    return pd.DataFrame({"model": m} | _row([table]) for m, table in found.tables.items())


def _row(tables: list[FloatArray]) -> dict[str, str | int | None]:
    e = label_effect(*tables)
    return {
        "largest gap, points": points(e.gap),
        "Q": _known(e.statistic, f"{e.statistic:.1f}"),
        "df": e.df,
        "p": _p(e.p_value),
        "smallest found, points": _shift(e.detectable),
    }


def agreement_table(outcomes: Outcomes) -> pd.DataFrame:
    """Return agreement of neighbouring and other runs, for conditions and all of them together."""
    groups = {f.condition: [as_one(f)] for f in everything(outcomes) if _ordered(f)}
    if len(groups) > 1 and len({t.shape[1] for (t,) in groups.values()}) == 1:
        groups["all"] = [t for (t,) in groups.values()]
    rows = []
    for condition, tables in groups.items():
        a = run_agreement(*tables)
        rows.append(
            {
                "condition": condition,
                "mixed problems": a.n_mixed,
                "neighbours agree": _known(a.adjacent, percent(a.adjacent, 1)),
                "others agree": _known(a.apart, percent(a.apart, 1)),
                "p": _p(a.p_value),
                "smallest found, points": _shift(a.detectable),
            }
        )
    return pd.DataFrame(rows)


def effects(outcomes: Outcomes) -> str:
    """Say by how much labels differ in each condition, and what would have been found."""
    said = []
    for f in everything(outcomes):
        where = "" if f.condition == "default" else f" under {f.condition}"
        gap = points(label_effect(as_one(f)).gap)
        said.append(f"Labels differ by at most {gap} points{where}.")
        said += [f"{how.capitalize()}: {_seen(*tables)}." for how, tables in _ways(f).items()]
    return " ".join(said) or "Nothing can be said about labels here."


def _seen(*tables: FloatArray) -> str:
    e = label_effect(*tables)
    if not e.df:
        return "no problem's runs differ, so no label can"
    seen = "an" if e.p_value < 1 - LEVEL else "no"
    finds = "none it could find" if e.detectable >= 1 else f"{points(e.detectable)} points"
    return f"{_p_is(e.p_value)}, {seen} effect seen; shift of one label found 4 times in 5: {finds}"


def smallest_p(outcomes: Outcomes) -> str:
    """Name the smallest p-value of single models, and how often so many yield a smaller one."""
    tests = [
        (label_effect(table).p_value, model, f.condition)
        for f in everything(outcomes) for model, table in f.pooled.items()
    ]  # fmt: skip
    tests = [test for test in tests if not math.isnan(test[0])]
    if not tests:
        return "No single model can be tested."
    p, *who = min(tests)
    named = ", ".join(name for name in who if name != "default")
    return (
        f"Of {count(len(tests), 'test')} of single models the smallest has {_p_is(p)} ({named}). "
        "If no label mattered, the smallest of so many would have a lower one still in "
        f"{percent(sidak(p, len(tests)))} of cases."
    )


def agreement(outcomes: Outcomes) -> str:
    """Say whether neighbouring runs agree more than others, or why that cannot be asked."""
    table = agreement_table(outcomes).dropna()
    if table.empty:
        return (
            "Whether neighbouring runs agree more cannot be asked here: it takes pass or fail, "
            "three runs with common labels, and problems whose runs differ."
        )
    row = table.iloc[-1]
    return (
        f"On {count(row['mixed problems'], 'problem')} with runs that differ, neighbouring runs "
        f"agree in {row['neighbours agree']} of pairs and others in {row['others agree']} "
        f"(p = {row['p']}). A difference would be found 4 times in 5 from "
        f"{row['smallest found, points']} points on."
    ).replace("= <", "< ")


def _ordered(found: Labelled) -> bool:
    """Tell whether agreement of runs can be compared."""
    binary = all(np.isin(t, (0, 1)).all() for t in found.pooled.values())
    return binary and len(found.labels) > 2


def _shift(shift: float) -> str | None:
    return _known(shift, "none" if shift >= 1 else points(shift))


def _p(p: float) -> str | None:
    return _known(p, "<0.001" if p < 0.001 else f"{p:.3f}")


def _p_is(p: float) -> str:
    return f"p = {_p(p)}".replace("= <", "< ")


def _known(value: float, text: str) -> str | None:
    return None if math.isnan(value) else text
