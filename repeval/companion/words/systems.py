"""Every system in full, as VC Appendix B lists them: one row of figures each, and their tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from repeval.messages import some
from repeval.report.compute import Answers, known_or_none
from repeval.report.format import NOT_SHOWN, count, no_ceiling, points, reach, spread
from repeval.report.summary import width
from repeval.stats.betabinomial import fit_beta_binomial
from repeval.stats.ceiling import ceiling_interval, component_limits

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes
    from repeval.report.analysis import Analysis

# VC's three widths: for reference, for new problems, and for exactly these.
WIDTHS = {
    "pooled_wilson": "runs pooled",
    "two_level": "new problems",
    "fixed_normal": "these problems",
}
COMPONENTS = ("within", "between", "icc", "ceiling")


def cells(analysis: Analysis, outcomes: Outcomes) -> pd.DataFrame:
    """Return one row for each system, the condition reported first on top, best first.

    Components and ceiling have the columns `_low` and `_high`; `alpha_paper` and `beta_paper` are
    matched as in VC, `alpha` and `beta` as in this package. A missing limit is none, and `note`
    says why a ceiling is missing.

    References
    ----------
    VC Tables 1 to 4.
    """
    run, rows = Answers(outcomes, analysis.settings), []
    conditions = sorted(analysis.summary, key=lambda c: c != analysis.condition)
    for s in (s for c in conditions for s in analysis.ranked(c)):
        system = s.model, s.condition
        sample = outcomes.system(*system)
        problems = outcomes.system_problems(*system)
        own = component_limits(sample, **run.options(problems, "components", *system))
        options = run.options(problems, "ceiling", *system)
        law = ceiling_interval(sample, kind="percentile", **options)
        pairs = (law.icc_low, law.icc_high), (law.low, law.high)
        ends = [tuple(map(known_or_none, pair)) for pair in pairs]
        limits = dict(zip(COMPONENTS, (*own, *ends), strict=True))
        fit = fit_beta_binomial(sample, method="paper") if sample.binary else None
        row = {"condition": s.condition, "model": s.model, "excluded": s.model in analysis.excluded}
        row |= {"n_problems": s.n_problems, "runs": reach(s.runs_range, "-"), "mean": s.mean}
        for name in COMPONENTS:
            low, high = limits[name] if limits[name] is not None else (None, None)
            # Where nothing varied between resamples there is no interval.
            low, high = (None, None) if low == high else (low, high)
            row |= {name: getattr(s, name), f"{name}_low": low, f"{name}_high": high}
        row |= {"alpha_paper": fit and fit.alpha, "beta_paper": fit and fit.beta}
        row |= {"alpha": s.alpha, "beta": s.beta}
        row |= {f"width_{name}": width(s, name) for name in WIDTHS}
        rows.append({**row, "note": no_ceiling(s)})
    found = pd.DataFrame(rows)
    figures = found.columns.drop(["condition", "model", "excluded", "n_problems", "runs", "note"])
    return found.astype(dict.fromkeys(figures, float))


def tables(analysis: Analysis, found: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, str, list]]:
    """Yield for each condition two tables of `cells`, each with its caption and notes."""
    level = f"{100 * analysis.settings.level:g} %"
    for condition, rows in found.groupby("condition", sort=False):
        lead = "All systems" if condition == "default" else condition
        names = rows["model"] + np.where(rows["excluded"], " *", "")
        shown = {"model": names, "score": rows["mean"].map(points)}
        for name, word in WIDTHS.items():
            wide = rows[f"width_{name}"]
            shown[word] = wide.map(points).where(wide.notna(), NOT_SHOWN)
        shown |= {"α (paper)": rows["alpha_paper"], "β (paper)": rows["beta_paper"]}
        shown |= {"α": rows["alpha"], "β": rows["beta"]}
        yield (
            pd.DataFrame(shown),
            f"{lead}: scores in percent, widths of three {level} intervals in points, and Betas",
            [
                *_told(rows[rows["alpha_paper"].isna()], "No Beta by the paper's matching"),
                *_told(rows[rows["alpha"].isna()], "No Beta by ours"),
                *["* left out of medians."] * bool(rows["excluded"].any()),
            ],
        )
        without = rows[rows["note"] != ""].groupby("note")
        yield (
            pd.DataFrame(
                {
                    "model": names,
                    "within": _limited(rows, "within", 3),
                    "between": _limited(rows, "between", 3),
                    "icc": rows["icc"],
                    "ceiling": _limited(rows, "ceiling", 2),
                }
            ),
            f"{lead}: components and ceilings with {level} intervals from resampled problems",
            [note for why, who in without for note in _told(who, f"Ceiling ({why})")],
        )


def matchings(found: pd.DataFrame) -> str:
    """Say how the two ways to match a Beta differ here.

    References
    ----------
    VC Appendix B and C; α+β is m(1-m)/σ_b² - 1 there and μ_w/σ_b² here.
    """
    paper, ours = (found["alpha" + end] + found["beta" + end] for end in ("_paper", ""))
    text = (
        f"Of {count(len(found), 'system')}, the paper's matching gives a Beta for "
        f"{paper.notna().sum()} and ours for {ours.notna().sum()}."
    )
    shortfall = (1 - paper / ours).dropna()
    if len(shortfall):
        lower = spread(100 * shortfall, "{:.1f} %")
        text += f" Where both do, the paper's α+β is lower by {lower}."
    return text


def _limited(rows: pd.DataFrame, name: str, digits: int) -> list[str]:
    def form(value: float) -> str:
        # No zero with a minus sign.
        return f"{round(value, digits) + 0.0:.{digits}f}" if value == value else "no limit"

    return [
        NOT_SHOWN if value != value and low != low
        else f"{form(value)} [{f'{form(low)}, {form(high)}' if low == low else NOT_SHOWN}]"
        for value, low, high in rows[[name, f"{name}_low", f"{name}_high"]].to_numpy()
    ]  # fmt: skip


def _told(rows: pd.DataFrame, text: str) -> list[str]:
    return [f"{text}: {some(rows['model'], 6)}."] if len(rows) else []
