"""The texts' claims, recomputed: what holds, what differs, and what nobody can check here."""

from repeval.claims import (  # noqa: F401  (they register their functions)
    appendix_c,
    appendix_e,
    appendix_f,
    appendix_g,
    appendix_h,
    bs,
    bs_formulas,
    formulas,
    mmlu,
    table6,
    vc,
)
from repeval.claims.ledger import Claim, Verdict, claims, counts, verdicts
from repeval.claims.scorecard import legend, place, table

__all__ = ["Claim", "Verdict", "claims", "counts", "legend", "place", "table", "verdicts"]
