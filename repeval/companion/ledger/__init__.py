"""The texts' claims, recomputed: what holds, what differs, and what nobody can check here."""

from repeval.companion.ledger.entries import Claim, claims
from repeval.companion.ledger.page_table import page_html
from repeval.companion.ledger.scorecard import legend, place, table
from repeval.companion.ledger.verdicts import Verdict, check, counts, judge

__all__ = [
    "Claim", "Verdict", "check", "claims", "counts", "judge", "legend", "page_html", "place",
    "table",
]  # fmt: skip
