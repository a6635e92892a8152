"""The texts' claims, recomputed: what holds, what differs, and what nobody can check here."""

from repeval.companion.ledger import (  # noqa: F401  (they register their functions)
    appendix_c,
    appendix_e,
    appendix_g,
    appendix_h,
    bs,
    bs_formulas,
    formulas,
    mmlu,
    table6,
    vc,
)
from repeval.companion.ledger.entries import Claim, claims
from repeval.companion.ledger.functions import computed
from repeval.companion.ledger.judge import Verdict, check, counts, judge
from repeval.companion.ledger.page_table import page_html
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.scorecard import legend, place, table

__all__ = [
    "Claim", "Results", "Verdict", "check", "claims", "computed", "counts", "judge", "legend",
    "page_html", "place", "table",
]  # fmt: skip
