"""The ledger of claims: which function recomputes what, and the verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from repeval.analysis import Analysis
from repeval.claims.entries import Claim, agrees, claims, errata, fitted, parts
from repeval.claims.results import Results
from repeval.notices import RepevalError
from repeval.outcomes import Outcomes

# Every verdict with the words a reader sees.
VERDICTS = {
    "holds": "holds",
    "differs": "differs",
    "known": "differs, as expected",
    "calibrated": "agrees by construction: the stand-in was fitted to it",
    "pinned": "agrees by construction: the stand-in copies it",
    "not checkable": "not checked",
}


@dataclass(frozen=True)
class Verdict:
    """What came of recomputing a claim.

    Attributes
    ----------
    claim : Claim
    computed : float, list, str, bool or None
        Our value on the scale of `claim.unit`; for a formula whether the identity holds.
    se : float or None
        Our Monte Carlo standard error, None if there is none.
    verdict : str
        A key of `VERDICTS`.
    reason : str
        How it was computed, why it differs, or why it was not checked.
    """

    claim: Claim
    computed: Any
    se: float | None
    verdict: str
    reason: str


class Estimate(NamedTuple):
    """A value that carries our own Monte Carlo standard error."""

    value: Any
    se: float


_FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {}
# Starts of ids whose study belongs to another page.
LATER: dict[str, str] = {}


def claim(*patterns: str, how: str | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Register a function for claims, by id or by a pattern such as `vc-t6-icc-{slug}`.

    The function takes `Results`, and the placeholders by name; it returns a value (a list
    for several numbers, a bool for a formula) or an `Estimate`.

    Parameters
    ----------
    *patterns : str
    how : str, optional
        How the value is computed; else the first line of the function's docstring.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        words = how or (function.__doc__ or "").strip().split("\n")[0]
        for pattern in patterns:
            if pattern in _FUNCTIONS:
                raise ValueError(f"two functions for {pattern}")
            _FUNCTIONS[pattern] = function, words
        return function

    return register


def verdicts(analysis: Analysis, outcomes: Outcomes, section: str | None = None) -> list[Verdict]:
    """Recompute the claims of one section, or all, on a data set.

    Parameters
    ----------
    analysis : Analysis
        Of `outcomes`.
    outcomes : Outcomes
        The paper's data or the stand-in for it.
    section : str, optional
        As in the ledger: "5.1", "Appendix D", "Table 6".

    Raises
    ------
    RepevalError
        If the data are not the paper's systems, or no claim has that section.
    """
    results = Results(analysis, outcomes)
    results.check()
    chosen = [c for c in claims() if section in (None, c.section)]
    if not chosen:
        known = ", ".join(dict.fromkeys(c.section for c in claims()))
        raise RepevalError("claims-no-section", f"no claims in section {section!r}; one of {known}")
    return [_judge(entry, results) for entry in chosen]


def _judge(entry: Claim, results: Results) -> Verdict:
    remark = errata().get(entry.id, "")
    if (match := _find(entry.id)) is None:
        reason = ". ".join(filter(None, (_why_not(entry), remark)))
        return Verdict(entry, None, None, "not checkable", reason)
    function, placeholders, how = match
    try:
        found = function(results, **placeholders)
    except RepevalError as error:
        return Verdict(entry, None, None, "not checkable", error.text)
    value, se = found if isinstance(found, Estimate) else (found, None)
    reason = f"{how} {remark}".strip()
    if not agrees(entry, value, se):
        return Verdict(entry, value, se, "known" if remark else "differs", reason)
    if results.outcomes.source.basis == "stand-in" and entry.id in fitted():
        group, why = fitted()[entry.id]
        return Verdict(entry, value, se, group, f"{reason} On the stand-in: {why}.")
    return Verdict(entry, value, se, "holds", reason)


def _find(key: str) -> tuple[Callable[..., Any], dict[str, str], str] | None:
    for pattern, (function, how) in _FUNCTIONS.items():
        named = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^-]+)", re.escape(pattern))
        if match := re.fullmatch(named, key):
            return function, match.groupdict(), how
    return None


def _why_not(entry: Claim) -> str:
    if entry.kind == "recommendation":
        return "a recommendation, not a figure"
    if entry.kind == "design":
        return "a stated setting of the study; the outcomes do not show it"
    if entry.needs == "external-runs":
        return "needs new model calls or logs that were not released"
    page = next((p for start, p in LATER.items() if entry.id.startswith(start)), entry.section)
    return f"needs the study on {page}'s page"


def counts(found: Iterable[Verdict]) -> dict[str, int]:
    """Count verdicts; those that agree by construction stay apart from those that hold."""
    seen = [v.verdict for v in found]
    return {name: seen.count(name) for name in VERDICTS}


def table(analysis: Analysis, outcomes: Outcomes, section: str | None = None) -> pd.DataFrame:
    """Return "paper says / we get" for a section.

    Returns
    -------
    DataFrame
        Columns Quantity, Paper, Here, Verdict, id; numbers as text, ours with one decimal
        more than the paper's.
    """
    rows = []
    for v in verdicts(analysis, outcomes, section):
        c = v.claim
        why = {"known": errata().get(c.id), "not checkable": v.reason}.get(v.verdict)
        words = ": ".join(filter(None, (VERDICTS[v.verdict], why)))
        here = _text(c, v.computed, _decimals(c) + 1)
        rows.append((c.quantity, _text(c, c.value, _decimals(c)), here, words, c.id))
    return pd.DataFrame(rows, columns=["Quantity", "Paper", "Here", "Verdict", "id"])


def _decimals(entry: Claim) -> int:
    (rule, bound), *_ = entry.tolerance.items()
    if rule == "mc":
        return bound["round"]
    if rule == "round":
        return bound
    return 0 if entry.unit == "count" else 2


def _text(entry: Claim, value: Any, decimals: int) -> str:
    if value is None:
        return "—"
    if isinstance(value, (bool, np.bool_)):
        return "identity confirmed" if value else "identity fails"
    items = parts(value)
    if any(isinstance(x, str) for x in items):
        return "; ".join(map(str, items))
    texts = [str(x) if isinstance(x, (int, np.integer)) else f"{x:.{decimals}f}" for x in items]
    share = re.search("unresolved|positive|seeds", entry.quantity) is not None
    joined = (" of " if share else " to ").join(texts) if len(texts) == 2 else ", ".join(texts)
    return joined + (" pp" if entry.unit == "pp" else "")
