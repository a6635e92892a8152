"""The texts' claims, recomputed: what holds, what differs, and what nobody can check here."""

from repeval.companion.ledger.entries import Claim, claims
from repeval.companion.ledger.functions import computed
from repeval.companion.ledger.page_table import page_html
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.scorecard import legend, place, table
from repeval.companion.ledger.verdicts import Verdict, check, counts, judge

__all__ = [
    "Claim", "Results", "Verdict", "check", "claims", "computed", "counts", "judge", "legend",
    "page_html", "place", "table",
]  # fmt: skip
