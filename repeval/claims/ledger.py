"""The ledger of claims: what the texts say, which function recomputes it, and the verdicts."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from repeval import registry
from repeval.analysis import Analysis
from repeval.claims.results import Results
from repeval.notices import RepevalError
from repeval.outcomes import Outcomes

# Every verdict with the words a reader sees.
VERDICTS = {
    "holds": "holds",
    "differs": "differs",
    "known": "differs, known",
    "calibrated": "agrees by construction",
    "pinned": "agrees by construction",
    "not checkable": "not checked here",
}
# Why a claim without a function has none, by its kind or by what it needs.
WHY_NOT = {
    "recommendation": "a recommendation, not a figure",
    "design": "a stated setting of the study; the outcomes do not show it",
    "external-runs": "needs new model calls or logs that were not released",
}
# Starts of ids whose study belongs to another page.
LATER = {"vc-s52-n50-band": "Appendix H", "vc-s53-": "Appendix E", "vc-t6-": "Appendix D"}


@dataclass(frozen=True)
class Claim:
    """One checkable number or formula of a text; the fields are those of `data/claims.yaml`."""

    id: str
    doc: str
    section: str
    quantity: str
    value: Any
    unit: str
    tolerance: dict[str, Any]
    needs: str
    also: str | None = None
    kind: str | None = None
    how: str | None = None
    recomputed: Any = None
    note: str | None = None


@dataclass(frozen=True)
class Verdict:
    """What came of recomputing a claim.

    `computed` is on the scale of `claim.unit` (a bool for a formula, None if not checked), `se` our
    Monte Carlo standard error, `verdict` a key of `VERDICTS`; `reason` says how it was computed,
    why it differs, or why it was not checked.
    """

    claim: Claim
    computed: Any
    se: float | None
    verdict: str
    reason: str


@functools.cache
def claims() -> tuple[Claim, ...]:
    """Return every claim of `data/claims.yaml`, in the order of the texts."""
    return tuple(Claim(**entry) for entry in _read("claims.yaml"))


@functools.cache
def paper() -> dict[str, Claim]:
    """Return the claims by id, for claims about the text's own figures."""
    return {c.id: c for c in claims()}


@functools.cache
def fitted() -> dict[str, tuple[str, str]]:
    """Return id -> (list, why) for the claims the stand-in was made to meet."""
    lists = _read("calibration.yaml")
    return {key: (name, g["why"]) for name in lists for g in lists[name] for key in g["ids"]}


@functools.cache
def errata() -> dict[str, str]:
    """Return id -> remark for claims that disagree with the texts' own formulas or figures."""
    return {entry["id"]: entry["text"] for entry in _read("errata.yaml")}


def _read(name: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        text = "the claims are read with PyYAML, which is missing: pip install 'repeval[book]'"
        raise RepevalError("claims-need-pyyaml", text) from error
    return yaml.safe_load((registry.data_dir() / name).read_text(encoding="utf-8"))


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
    says, ours = _parts(entry.value), _parts(computed)
    if rule == "exact" or len(says) != len(ours):
        return says == ours
    if rule == "range":
        lo, hi = bound
        # The fixed part of "12 of 15" lies outside the range of the other.
        return all(lo <= x <= hi or x == p for x, p in zip(ours, says, strict=True))
    allowed = 0.5 * 10.0 ** -_decimals(entry) + 1e-9
    if rule == "mc":
        allowed += bound["k"] * float(np.hypot(bound["se"], se))
    return all(abs(x - p) <= allowed for x, p in zip(ours, says, strict=True))


def _parts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def verdicts(analysis: Analysis, outcomes: Outcomes, section: str | None = None) -> list[Verdict]:
    """Recompute the claims of a section ("5.1", "Appendix D", "Table 6"), or all.

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
    function, placeholders = match
    try:
        found = function(results, **placeholders)
    except RepevalError as error:
        return Verdict(entry, None, None, "not checkable", error.text)
    value, se = found if isinstance(found, tuple) else (found, None)
    reason = " ".join(filter(None, (entry.how or function.__doc__, remark)))
    if not agrees(entry, value, se or 0):
        return Verdict(entry, value, se, "known" if remark else "differs", reason)
    if results.outcomes.source.basis == "stand-in" and entry.id in fitted():
        group, why = fitted()[entry.id]
        return Verdict(entry, value, se, group, f"{reason} On the stand-in: {why}.")
    return Verdict(entry, value, se, "holds", reason)


def _find(key: str) -> tuple[Callable[..., Any], dict[str, str]] | None:
    for pattern, function in _FUNCTIONS.items():
        if match := re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^-]+)", pattern), key):
            return function, match.groupdict()
    return None


def _why_not(entry: Claim) -> str:
    page = next((p for start, p in LATER.items() if entry.id.startswith(start)), entry.section)
    study = f"needs the study on {page}'s page"
    return WHY_NOT.get(entry.kind) or WHY_NOT.get(entry.needs) or study


def counts(found: Iterable[Verdict]) -> dict[str, int]:
    """Count verdicts; those that agree by construction stay apart from those that hold."""
    seen = [v.verdict for v in found]
    return {name: seen.count(name) for name in VERDICTS}


def table(found: Iterable[Verdict]) -> pd.DataFrame:
    """Return "paper says / we get" for verdicts: Quantity, Paper, Here, Verdict, id.

    Numbers are text, ours with one decimal more than the paper's. `legend` has the reasons.
    """
    rows = []
    for v in found:
        c, digits = v.claim, _decimals(v.claim)
        why = f": {v.reason}" if v.verdict == "not checkable" else ""
        says, here = _text(c, c.value, digits), _text(c, v.computed, digits + 1)
        if c.needs == "published-table":
            here = f"the paper's own table: {here}"
        rows.append((c.quantity, says, here, VERDICTS[v.verdict] + why, c.id))
    return pd.DataFrame(rows, columns=["Quantity", "Paper", "Here", "Verdict", "id"])


def legend(found: Iterable[Verdict]) -> list[str]:
    """Return the sentences under a `table`: each reason of its verdicts once."""
    found = list(found)
    fits = [fitted()[v.claim.id][1] for v in found if v.verdict in ("calibrated", "pinned")]
    told = [f"{v.claim.id}: {errata()[v.claim.id]}" for v in found if v.verdict == "known"]
    if fits:
        whys = "; ".join(dict.fromkeys(fits))
        told.append(f"Agreement by construction says nothing about the paper: {whys}.")
    if any(v.claim.needs == "published-table" for v in found):
        told.append("Where the paper's text is held against its own table, nothing is recomputed.")
    return told


def _decimals(entry: Claim) -> int:
    digits = entry.tolerance.get("mc", entry.tolerance).get("round")
    return digits if digits is not None else 2 * (entry.unit != "count")


def _text(entry: Claim, value: Any, decimals: int) -> str:
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "identity confirmed" if value else "identity fails"
    items = _parts(value)
    if any(isinstance(x, str) for x in items):
        return "; ".join(map(str, items))
    texts = [str(x) if isinstance(x, Integral) else f"{x:.{decimals}f}" for x in items]
    share = re.search("unresolved|positive|seeds", entry.quantity) is not None
    joined = (" of " if share else " to ").join(texts) if len(texts) == 2 else ", ".join(texts)
    return joined + (" pp" if entry.unit == "pp" else "")
