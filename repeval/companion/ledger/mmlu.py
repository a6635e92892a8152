"""The bootstrap post on MMLU-Pro: its runs were not released, so its tables are held together."""

from __future__ import annotations

import math
from statistics import fmean

import pandas as pd

from repeval.companion.ledger.bs import printed
from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.formulas import Z
from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.vc import ends
from repeval.stats.allocation import variance_factor, width_factor


@claim("bs-wang-{model}-diff", "bs-mmlu-{subject}-{model}-diff")
def difference(_: Results, model: str, subject: str = "") -> float:
    """Subtract the printed accuracies."""
    key = f"bs-mmlu-{subject}-{model}" if subject else f"bs-wang-{model}"
    return paper()[f"{key}-cot"].value - paper()[f"{key}-da"].value


@claim("bs-rho-{subject}-{model}-pred")
def predicted(_: Results, subject: str, model: str) -> float:
    """Put the printed ICC into sqrt(rho + (1-rho)/k)."""
    icc = paper()[f"bs-rho-{subject}-{model}-rho"].value
    return float(width_factor(icc, paper()["bs-mmlu-k"].value))


@claim("bs-rho-range")
def icc_range(_: Results) -> list[float]:
    """Take the ends of the printed ICCs."""
    return ends(printed(r"bs-rho-(\w+)-(\w+)-rho").values())


def differences() -> dict[tuple[str, ...], float]:
    """Return the printed differences by subject and model."""
    return printed(r"bs-mmlu-(\w+)-(\w+)-diff")


claim("bs-mmlu-intervals")(lambda _: len(printed(r"bs-mmlu-(\w+)-(\w+)-ci")))
claim("bs-mmlu-negative-count")(lambda _: sum(d < 0 for d in differences().values()))


@claim("bs-mmlu-negative-excluding-zero")
def negative(_: Results) -> int:
    """Count the printed intervals that end below zero."""
    return sum(high < 0 for _, high in printed(r"bs-mmlu-(\w+)-(\w+)-ci").values())


@claim("bs-format-average-{subject}-{what}")
def average(_: Results, subject: str, what: str) -> float:
    """Average the printed rows."""
    return fmean(printed(rf"bs-format-(\w+)-(cot|da)-{subject}-{what}").values())


@claim("bs-mmlu-llama-{subject}-{prompt}-bad", "bs-format-llama-{subject}-bad")
def unreadable(_: Results, subject: str, prompt: str = "cot") -> float:
    """Subtract the printed share of responses with an answer from one."""
    return 1 - paper()[f"bs-format-llama3-{prompt}-{subject}-format"].value


def half_widths() -> pd.DataFrame:
    """Hold the printed intervals against what accuracies, ICCs and numbers of questions allow.

    Nothing else compares these figures with each other. A run's difference is -1, 0 or 1, with mean
    d: its variance is how often the prompts disagree, less d². They disagree at least |d| of the
    time. If right answers under one prompt go along with right ones under the other, or have
    nothing to do with them, at most as often as if independent.

    Returns
    -------
    DataFrame
        One row a subject and model: half the width of the `printed` interval; the `least` possible
        one and that if `independent`, all in points; the correlation of right answers under both
        prompts that the printed one `implies`; and how far the middle of the interval is `off` the
        printed difference.

    References
    ----------
    BS, "Application to MMLU-Pro" and "Estimating ρ".
    """
    rows = []
    for (subject, model), (low, high) in printed(r"bs-mmlu-(\w+)-(\w+)-ci").items():
        key = f"bs-mmlu-{subject}-{model}"
        cot, direct, d = (paper()[f"{key}-{x}"].value / 100 for x in ("cot", "da", "diff"))
        icc = paper()[f"bs-rho-{subject}-{model}-rho"].value
        questions = paper()[f"bs-mmlu-n-{subject}"].value
        factor = float(variance_factor(icc, paper()["bs-mmlu-k"].value)) / questions
        half, apart = (high - low) / 2, cot * (1 - cot) + direct * (1 - direct)
        together = apart - (half / 100 / Z) ** 2 / factor
        rows.append(
            {
                "subject": subject,
                "model": paper()[f"{key}-ci"].quantity.split(",")[0],
                "printed": half,
                "least": 100 * Z * math.sqrt((abs(d) - d**2) * factor),
                "independent": 100 * Z * math.sqrt(apart * factor),
                "implies": together / 2 / math.sqrt(cot * (1 - cot) * direct * (1 - direct)),
                "off": (low + high) / 2 - 100 * d,
            }
        )
    return pd.DataFrame(rows)
