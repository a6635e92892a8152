"""Verdicts: which function recomputes a claim, whether they agree, and what that rests on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
from repeval.companion.ledger.results import Results
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


_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def claim(*patterns: str) -> Callable[[Callable[..., Any]], Any]:
    """Register a function for claims, by id or by a pattern such as `vc-t6-icc-{slug}`.

    The function takes `Results`, and the placeholders by name; it returns a value (a list for
    several numbers, a bool for a formula) or a tuple of it and our Monte Carlo standard error. How
    it does so is told by `how` in the ledger or by its docstring.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for pattern in patterns:
            if pattern in _FUNCTIONS:
                raise ValueError(f"two functions for {pattern}")
            _FUNCTIONS[pattern] = function
        return function

    return register


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


def verdicts(
    analysis: Analysis,
    outcomes: Outcomes,
    section: str | None = None,
    *,
    study: Callable[[str], pd.DataFrame] | None = None,
) -> list[Verdict]:
    """Recompute the claims of a section ("5.1", "Appendix D", "Table 6"), or all.

    Parameters
    ----------
    study : callable, optional
        Returns a study's table by name; by default each is computed in its quick size.

    Raises
    ------
    RepevalError
        If no claim has that section, or the data are not the paper's systems. The post's claims
        need no outcomes, and go with any data.
    """
    results = Results(analysis, outcomes, study)
    chosen = [c for c in claims() if section in (None, c.section)]
    if not chosen:
        known = ", ".join(dict.fromkeys(c.section for c in claims()))
        raise RepevalError("claims-no-section", f"no claims in section {section!r}; one of {known}")
    if any(c.doc == "variance-ceiling" for c in chosen):
        results.check()
    return [_judge(entry, results) for entry in chosen]


def _judge(entry: Claim, results: Results) -> Verdict:
    remark, basis = errata().get(entry.id, ""), results.outcomes.source.basis
    if (match := _find(entry.id)) is None:
        reason = ". ".join(filter(None, (_why_not(entry), remark)))
        return Verdict(entry, None, None, "not checkable", reason, basis=basis)
    function, placeholders = match
    group, why = fitted().get(entry.id, ("", ""))
    # A formula is not held against inputs that were fitted, where the text has printed some.
    formula = basis == "stand-in" and group and entry.needs == "closed-form"
    try:
        found = function(results.printed if formula else results, **placeholders)
    except RepevalError as error:
        return Verdict(entry, None, None, "not checkable", error.text, basis=basis)
    value, se = found if isinstance(found, tuple) else (found, None)
    reason = " ".join(f"{entry.how or function.__doc__ or ''} {remark}".split())
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
            reason = f"{reason} On the stand-in: {why}."
            verdict = group if agreed else "known"
    return Verdict(entry, value, se, verdict, reason, evidence, basis)


def _find(key: str) -> tuple[Callable[..., Any], dict[str, str]] | None:
    if key in _FUNCTIONS:  # an id goes before patterns
        return _FUNCTIONS[key], {}
    for pattern, function in _FUNCTIONS.items():
        if match := re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^-]+)", pattern), key):
            return function, match.groupdict()
    return None


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
