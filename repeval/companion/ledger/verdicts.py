"""Verdicts: whether a recomputed value agrees with a claim, and what that rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from repeval.companion.ledger.entries import (
    Claim,
    claims,
    decimals,
    differing,
    errata,
    fitted,
    parts,
)
from repeval.companion.ledger.places import page_of
from repeval.io import registry
from repeval.io.outcomes import Outcomes
from repeval.messages import RepevalError
from repeval.report.analysis import Analysis

# Every verdict with the words a reader sees.
VERDICTS = {
    "holds": "holds",
    "differs": "differs",
    "known": "differs, known",
    "calibrated": "agrees by construction",
    "pinned": "agrees by construction",
    "not checkable": "not checked here",
}
# What a comparison rests on, with the words a reader sees.
EVIDENCE = {
    "independent": "needs no outcomes",
    "emergent": "from outcomes, nothing tuned to it",
    "pinned": "copied into the stand-in",
    "calibrated": "the stand-in was fitted to it",
}
# What a formula is computed from as long as outcomes are a stand-in.
FORMULA = "Computed from medians that the text prints, or from the counts of its earlier version."
# Why a claim without a function has none, by its kind or by what it needs.
WHY_NOT = {
    "recommendation": "a recommendation, not a figure",
    "design": "a stated setting, which no result shows",
    "copied": "a stated setting, which the simulation here copies",
    "external-runs": "needs new model calls or logs that were not released",
    "published-table": "quoted from another text",
    "missing-table": "the printed cells are not in the text at hand; the page shows ours",
}


@dataclass(frozen=True)
class Verdict:
    """What came of recomputing a claim.

    `computed` is on the scale of `claim.unit` (a bool for a formula, None if not checked), `se` our
    Monte Carlo standard error, `verdict` a key of `VERDICTS`; `reason` says how it was computed,
    why it differs, or why it was not checked. `evidence` is a key of `EVIDENCE`, empty where
    nothing was checked, and `basis` that of the data.
    """

    claim: Claim
    computed: Any
    se: float | None
    verdict: str
    reason: str
    evidence: str = ""
    basis: str = ""


def agrees(entry: Claim, computed: Any, se: float = 0) -> bool:
    """Decide whether a recomputed value agrees, by a rule that `data/claims.yaml` explains.

    Lists are compared component by component; a bool is the outcome of testing a formula. `se` is
    our own standard error, for the rule "mc".
    """
    if isinstance(computed, bool):
        return computed
    rule, bound = next(iter(entry.tolerance.items()))
    says, ours = parts(entry.value), parts(computed)
    if rule == "exact" or len(says) != len(ours):
        return says == ours
    if rule == "range":
        lo, hi = bound
        # The fixed part of "12 of 15" lies outside the range of the other.
        return all(lo <= x <= hi or x == p for x, p in zip(ours, says, strict=True))
    allowed = 0.5 * 10.0 ** -decimals(entry) + 1e-9
    if rule == "mc":
        allowed += bound["k"] * float(np.hypot(bound["se"], se))
    return all(abs(x - p) <= allowed for x, p in zip(ours, says, strict=True))


def judge(
    claimed: Mapping[str, Sequence[Any]], outcomes: Outcomes, sections: Sequence[str] | None = None
) -> list[Verdict]:
    """Hold recomputed values against the entries of the ledger, in its order.

    Parameters
    ----------
    claimed : mapping
        By id: value, its Monte Carlo standard error or None, the value from printed figures or
        None, and why there is no value (see `Book.claim`). More behind these is not looked at.
    outcomes : Outcomes
        The data that were used.
    sections : sequence of str, optional
        Judge what is claimed, and of the entries of these sections ("5.1", "Appendix D", "Table
        6") those that no page computes. None: judge all entries.

    Raises
    ------
    RepevalError
        If no entry has one of these sections.
    """
    known = dict.fromkeys(c.section for c in claims())
    if unknown := set(sections or ()) - set(known):
        what = f"no claims in section {min(unknown)!r}; one of {', '.join(known)}"
        raise RepevalError("claims-no-section", what)
    if unknown := set(claimed) - {c.id for c in claims()}:
        raise RepevalError("claims-no-section", f"no claim is called {min(unknown)!r}")
    return [
        _judge(entry, outcomes.source.basis, *claimed.get(entry.id, (None, None, None, ""))[:4])
        for entry in claims()
        if sections is None
        or entry.id in claimed
        or (entry.section in sections and page_of(entry.id) is None)
    ]


def accepted(entry: Claim, se: float = 0) -> str:
    """Say which values would agree, `0 to 7`; empty where that is no range of numbers."""
    rule, bound = next(iter(entry.tolerance.items()))
    says = parts(entry.value)
    if rule == "exact" or not all(isinstance(p, Real) for p in says):
        return ""
    if rule == "range":
        return f"{bound[0]:g} to {bound[1]:g}"
    allowed = 0.5 * 10.0 ** -decimals(entry)
    if rule == "mc":
        allowed += bound["k"] * float(np.hypot(bound["se"], se))
    digits = decimals(entry) + 1
    # Counts and shares are not negative.
    least = 0.0 if min(says) >= 0 else -math.inf
    ends = (f"{max(p - allowed, least):.{digits}f} to {p + allowed:.{digits}f}" for p in says)
    return " and ".join(ends)


def check(analysis: Analysis, outcomes: Outcomes) -> None:
    """Refuse data that are not the paper's systems, or lack their components."""
    cells = pd.read_csv(registry.data_dir() / "published-cells.csv")
    wanted = set(zip(cells["model"], cells["prompt"], strict=True))
    if wanted != set(outcomes.systems):
        raise refusal(
            f"the claims are about the paper's {len(wanted)} systems, and these data hold "
            "others; run `repeval claims` without a file, or on the paper's outcomes"
        )
    settings = analysis.settings
    if settings.level != 0.95 or settings.cluster is not None:
        raise refusal(
            "the claims are about 95% intervals with problems as the unit; leave both as is"
        )
    for row in analysis.systems:
        if row.ceiling is None:
            raise refusal(f"{row.model}, {row.condition}: no ceiling, so no claim about it")


def refusal(text: str) -> RepevalError:
    """Return the error that leaves all claims unchecked."""
    return RepevalError("claims-other-data", text)


def _judge(
    entry: Claim, basis: str, value: Any, se: float | None, printed: Any, why: str
) -> Verdict:
    remark = errata().get(entry.id, "")
    if value is None:
        reason = why or ". ".join(filter(None, (_why_not(entry), remark)))
        return Verdict(entry, None, None, "not checkable", reason, basis=basis)
    group, fit = fitted().get(entry.id, ("", ""))
    # A formula is not held against inputs that were fitted, where the text has printed some.
    formula = basis == "stand-in" and group and entry.needs == "closed-form"
    if formula:
        if printed is None:
            raise ValueError(f"{entry.id} needs its value from printed figures: printed=...")
        value = printed
    reason = " ".join(f"{entry.how or ''} {remark}".split())
    agreed = agrees(entry, value, se or 0)
    verdict = "holds" if agreed else "known" if entry.id in differing() else "differs"
    # What the stand-in was made to meet comes from outcomes elsewhere, whatever the ledger says it
    # needs. So do the paper's simulations, which draw from laws matched to the outcomes.
    matched = (entry.doc, entry.needs) == ("variance-ceiling", "simulation")
    from_data = group or matched or entry.needs == "released-tensor"
    evidence = "emergent" if from_data else "independent"
    if formula:
        reason, evidence = f"{reason} {FORMULA}", "independent"
    elif basis == "stand-in" and group:
        evidence = evidence if group == "limits" else group
        if agreed != (group == "limits"):
            reason = f"{reason} On the stand-in: {fit}."
            verdict = group if agreed else "known"
    return Verdict(entry, value, se, verdict, reason, evidence, basis)


def _why_not(entry: Claim) -> str:
    if entry.kind == "recommendation" and entry.note:
        return f"{WHY_NOT[entry.kind]}: {entry.note}"
    copied = (entry.kind, entry.needs) == ("design", "simulation")
    study = f"needs the study on {entry.section}'s page"
    return WHY_NOT.get("copied" if copied else entry.kind) or WHY_NOT.get(entry.needs) or study


def counts(found: Iterable[Verdict]) -> dict[str, int]:
    """Count verdicts; those that agree by construction stay apart from those that hold."""
    seen = [v.verdict for v in found]
    return {name: seen.count(name) for name in VERDICTS}
