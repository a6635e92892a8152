"""The entries of the ledger of claims, and when a recomputed value agrees with one."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from repeval import registry
from repeval.notices import RepevalError


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
    recomputed: Any = None
    note: str | None = None


@functools.cache
def claims() -> tuple[Claim, ...]:
    """Return every claim of `data/claims.yaml`, in the order of the texts."""
    return tuple(Claim(**entry) for entry in _read("claims.yaml"))


@functools.cache
def fitted() -> dict[str, tuple[str, str]]:
    """Return id -> (list, why) for the claims the stand-in was made to meet."""
    return {
        key: (name, group["why"])
        for name, groups in _read("calibration.yaml").items()
        for group in groups
        for key in group["ids"]
    }


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
    with open(registry.data_dir() / name, encoding="utf-8") as file:
        return yaml.safe_load(file)


def agrees(entry: Claim, computed: Any, se: float | None = None) -> bool:
    """Decide whether a recomputed value agrees with the paper's, by the entry's tolerance.

    Parameters
    ----------
    entry : Claim
        `tolerance` is one of {"round": d}, {"range": [lo, hi]}, {"exact": true} and
        {"mc": {"se", "k", "round"}}; lists are compared component by component.
    computed : float, list, str or bool
        A bool is the outcome of testing a formula.
    se : float, optional
        Our own standard error, for "mc".
    """
    if isinstance(computed, (bool, np.bool_)):
        return bool(computed)
    (rule, bound), *_ = entry.tolerance.items()
    paper, ours = parts(entry.value), parts(computed)
    if rule == "exact":
        return paper == ours
    if rule == "range":
        # The fixed part of "12 of 15" lies outside the range of the other.
        given = paper if len(paper) == len(ours) else [None] * len(ours)
        lo, hi = bound
        return all(lo <= x <= hi or x == p for x, p in zip(ours, given, strict=True))
    if len(paper) != len(ours):
        return False
    digits = bound["round"] if rule == "mc" else bound
    allowed = 0.5 * 10.0**-digits + 1e-9
    if rule == "mc":
        allowed += bound["k"] * float(np.hypot(bound["se"], se or 0))
    return all(abs(x - p) <= allowed for x, p in zip(ours, paper, strict=True))


def parts(value: Any) -> list[Any]:
    """Return the components of a value: itself, or the items of a list."""
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
