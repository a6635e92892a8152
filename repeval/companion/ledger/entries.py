"""The entries of the ledger: what the texts say, what the stand-in was fitted to, and remarks."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import pandas as pd

from repeval.io import registry
from repeval.messages import RepevalError

# Where the page of disagreements has its table of the smaller ones, and what is the stand-in's.
SMALLER, INVENTED = "smaller-ones", "invented"


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
    """Return id -> (list, why) for the claims the stand-in was made to meet, or cannot meet."""
    lists = _read("calibration.yaml")
    return {key: (name, g["why"]) for name in lists for g in lists[name] for key in g["ids"]}


@functools.cache
def errata() -> dict[str, str]:
    """Return id -> remark for claims that disagree with the texts' own formulas or figures."""
    return {entry["id"]: entry["text"] for entry in disagreements() if "id" in entry}


@functools.cache
def differing() -> frozenset[str]:
    """Return the ids of claims whose difference the errata explain; a remark alone excuses none."""
    return frozenset(entry["id"] for entry in disagreements() if entry.get("differs"))


@functools.cache
def disagreements() -> tuple[dict[str, Any], ...]:
    """Return the entries of `data/errata.yaml`: claims with a remark, and places on the page."""
    return tuple(_read("errata.yaml"))


@functools.cache
def anchors() -> dict[str, str]:
    """Return id -> place on the page of disagreements, for the claims that have a remark."""
    places = {i: e["anchor"] for e in disagreements() for i in e.get("items", ())}
    return {e["id"]: places.get(e["item"], SMALLER) for e in disagreements() if "id" in e}


@functools.cache
def headlines() -> dict[str, str]:
    """Return id -> one plain sentence for the claims that stand first."""
    return {entry["id"]: entry["text"] for entry in _read("headlines.yaml")}


def _read(name: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        text = "the claims are read with PyYAML, which is missing: pip install 'repeval[book]'"
        raise RepevalError("claims-need-pyyaml", text) from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # six times as fast
    return yaml.load((registry.data_dir() / name).read_text(encoding="utf-8"), loader)


def parts(value: Any) -> list[Any]:
    """Return the numbers of a claim, one or several, as a list."""
    return value if isinstance(value, list) else [value]


def decimals(entry: Claim) -> int:
    """Return how many decimals the paper prints."""
    digits = entry.tolerance.get("mc", entry.tolerance).get("round")
    return digits if digits is not None else 2 * (entry.unit != "count")


def printed(condition: str, runs: int) -> pd.DataFrame:
    """Return components by model from the earlier version's table of counts; no outcome enters.

    Columns n, mean, within, between, spread; `plain` is run noise without R/(R-1), as that version
    gave it.
    """
    cells = pd.read_csv(registry.data_dir() / "published-cells.csv", index_col="model")
    cells = cells[cells["prompt"] == condition]
    n, mixed = cells["n_problems"], cells["sum_k_times_5_minus_k"]
    mean = cells["sum_passes"] / (n * runs)
    spread = ((cells["sum_passes"] * runs - mixed) / runs**2 - n * mean**2) / (n - 1)
    plain = mixed / (n * runs**2)
    within = plain * runs / (runs - 1)
    columns = {"n": n, "mean": mean, "plain": plain, "within": within, "spread": spread}
    return pd.DataFrame(columns).assign(between=spread - within / runs)
