"""The texts' claims, recomputed: what holds, what differs, and what nobody can check here."""

from repeval.claims import formulas, vc  # noqa: F401  (they register their functions)
from repeval.claims.ledger import Claim, Verdict, claims, counts, legend, table, verdicts

__all__ = ["Claim", "Verdict", "claims", "counts", "legend", "table", "verdicts"]
