"""The texts' claims, recomputed: what holds, what differs, and what nobody can check here."""

from repeval.claims import formulas, vc, vc_data  # noqa: F401  (they register their functions)
from repeval.claims.ledger import (
    VERDICTS,
    Claim,
    Estimate,
    Results,
    Verdict,
    claims,
    counts,
    table,
    verdicts,
)

__all__ = [
    "VERDICTS",
    "Claim",
    "Estimate",
    "Results",
    "Verdict",
    "claims",
    "counts",
    "table",
    "verdicts",
]
