"""Refusals and notices; every code has an explanation and a way out."""

from __future__ import annotations

from dataclasses import dataclass

from repeval.codes import REFUSED

__all__ = ["CODES", "NOTED", "Notice", "RepevalError"]


@dataclass(frozen=True)
class Notice:
    """One remark on data that are usable.

    Attributes
    ----------
    code : str
        Key of `CODES`.
    text : str
        One or two sentences with the figures of this data.
    """

    code: str
    text: str


class RepevalError(ValueError):
    """Input that is refused; the text says what is wrong, where, and what to do.

    Parameters
    ----------
    code : str
        Key of `CODES`.
    text : str
        The message.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


#: Notices: code -> (title, what it means and the way out); refusals are in `repeval.codes`.
NOTED: dict[str, tuple[str, str]] = {
    # columns
    "column-spelling": (
        "A column was recognised by another name",
        "Nothing to do if it is right; otherwise name the column with `--columns`.",
    ),
    "condition-default": (
        "There is no condition column",
        "All rows belong to one condition, called default.",
    ),
    "model-from-file": (
        "There is no model column",
        "The file's name is the model's name; `NAME=PATH` gives another.",
    ),
    "model-renamed": (
        "NAME=PATH replaced the model's name",
        "Nothing to do if that was meant.",
    ),
    "single-run": (
        "Every problem was run once",
        "Scores, intervals for new problems, pairs and ranks are given; the split into run noise "
        "and difficulty needs two runs of the same problem.",
    ),
    # missing runs and policies
    "missing-runs": (
        "Runs are missing",
        "Scores use what was recorded and bounds show what the missing runs could change. "
        "`--missing drop-problem` keeps complete problems only, `--missing fail` counts missing "
        "runs as failed, `--missing error` refuses.",
    ),
    "dropped-problems": (
        "Problems with missing runs were left out",
        "Only problems that every system ran in full are used; `--missing keep` uses all.",
    ),
    "filled-runs": (
        "Missing runs were counted as failed",
        "`--missing keep` uses what was recorded.",
    ),
    "errored-rows": (
        "Rows without an outcome",
        "They are missing runs; `--errors fail` counts them as failed.",
    ),
    "score-with-error": (
        "Rows with an outcome and an error",
        "The outcome counts.",
    ),
    "dataset-rule": (
        "A registered data set has its own rule for missing runs",
        "Choose another with `--missing`.",
    ),
    # what the data show by counting
    "pass-threshold": (
        "Scores were turned into passed and failed",
        "`--pass-at` sets the score from which a run passes.",
    ),
    "scores": (
        "Outcomes are scores, not passed or failed",
        "Figures that need passed or failed are left empty; `--pass-at 0.5` makes them.",
    ),
    "identical-runs": (
        "Repeated runs never differ",
        "Greedy decoding, a cache or a copied run: if runs were copied, keep one of them.",
    ),
    "few-mixed": (
        "Few problems have both passed and failed runs",
        "What is said about run noise rests on those few problems only.",
    ),
    "never-passed": (
        "Some problems were never passed by anyone",
        "Look at them: a broken test or a wrong reference answer looks the same.",
    ),
    "adaptive-stopping": (
        "The number of runs depends on the outcomes",
        "Stopping at the first pass biases scores; give every problem the same number of runs.",
    ),
    "several-tasks": (
        "Several tasks are in one table",
        "`--by COLUMN` gives one answer for each; pooled, large tasks outweigh small ones.",
    ),
    # what the statistics show
    "not-identified": (
        "Some systems have one run a problem",
        "Their scores can be compared on new problems; run noise needs a second run.",
    ),
    "no-run-noise": (
        "No problem changed its verdict",
        "Run noise is small, not zero: more runs or more problems would show it.",
    ),
    "no-upper-limit": (
        "The ceiling has no upper limit",
        "Problems differ no more than run noise makes them; more problems give a limit.",
    ),
    "bca-undefined": (
        "The BCa interval of a ceiling is left out",
        "Every resample lies on one side of the estimate; the percentile interval is given.",
    ),
    "no-variation": (
        "Every problem has the same result",
        "Wilson's interval says what is still possible; harder problems would say more.",
    ),
    "adjacent-only": (
        "Only neighbours are compared",
        "With over 200 models all pairs would fill the output; select models for others.",
    ),
    "pairs-left-out": (
        "Some pairs share fewer than two problems",
        "Systems can only be compared on problems that both were given.",
    ),
    "ranks-on-common": (
        "Ranks rest on fewer problems than scores do",
        "Ranks need problems that all models of a condition have.",
    ),
    "few-clusters": (
        "There are few clusters",
        "Below 30 clusters intervals use Student's t and stay rough.",
    ),
    "hidden-clusters": (
        "Problems stand or fall in groups",
        "`--cluster COLUMN` resamples whole groups: intervals then cover new groups.",
    ),
}

#: All of them.
CODES = REFUSED | NOTED
