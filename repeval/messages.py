"""What every message means: a sentence for each code of `notices.CODES`, which has the way out."""

from __future__ import annotations

import re

from repeval.notices import CODES

__all__ = ["MEANINGS", "REFUSED", "page"]

#: By group, then by what the message does, then by code.
MEANINGS: dict[str, dict[str, dict[str, str]]] = {
    "Files": {
        "refused": {
            "file-not-found": "What was given is no file and no directory, or nothing was given.",
            "unknown-format": "The file is neither a table nor a log that is known.",
            "no-tables": "The directory holds neither tables nor logs that are known.",
            "unreadable-file": "The file cannot be read, or its content is damaged.",
            "not-utf8": "The table is no text in UTF-8.",
            "needs-pyarrow": "Parquet files are read with pyarrow, which is not installed.",
            "empty-file": "The file is empty, or holds a header only.",
            "ragged-rows": "Rows of the table have more or fewer fields than the header.",
            "bad-json-line": "A line is no JSON object.",
            "member-too-large": "A file, or one inside an archive, unpacks to far too much.",
        }
    },
    "Logs of harnesses": {
        "refused": {
            "no-logs": "There is nothing to convert: the files are tables.",
            "several-formats": "Logs of several harnesses, or logs and tables, were given at once.",
            "unreadable-log": "A log is cut off, damaged, or not of the format that it looks like.",
            "needs-zstandard": "The log is compressed in a way that this Python cannot undo.",
            "no-samples": "The log holds no single runs, but totals at most.",
            "export-without-model": "A table holds several evaluations and no model's name.",
            "filters-unnamed": "A problem has several lines, and none says which filter it is of.",
            "several-in-one": "Several programs were judged as one text: the verdict is of none.",
            "several-scorers": "Several scorers, metrics, filters or rewards could be the outcome.",
            "unknown-scorer": "The log has no scorer, metric, filter or reward of that name.",
            "same-model": "A model has several logs, and they are no retries of one evaluation.",
            "other-question": "The same id stands for different questions or right answers.",
            "no-choices": "The table lacks responses, or the letters that are right.",
        },
        "noticed": {
            "logs-read": "What the files were taken for, with task, scorer and number of models.",
            "files-skipped": "Files of the directory are no logs of the kind that was read.",
            "copies-dropped": "Logs are equal, byte for byte, to others of the same run.",
            "identical-logs": "Logs that should be different runs are equal, byte for byte.",
            "retries-merged": "Several logs are attempts at one evaluation.",
            "runs-numbered": "Several logs of a model were put together as its runs.",
            "repeats-scored-once": "The harness asked several times and scored one answer.",
            "empty-patches": "Some answers hold no patch.",
            "cached-answers": "Answers came from a cache instead of the model.",
            "log-unfinished": "An evaluation was cancelled, broke off, or still goes on.",
            "settings-differ": "Logs that are compared were made with different settings.",
            "no-answer": "Responses give no letter that could be right or wrong.",
            "partial-rewards": "Rewards lie between 0 and 1; the harness calls only 1 a success.",
        },
    },
    "Columns": {
        "refused": {
            "bad-columns": "The option that names columns is not written as it should be.",
            "missing-column": "A column that is needed was not found.",
            "doubtful-column": "A column could be what is looked for, or several could be.",
            "duplicate-column": "Two columns have the same name.",
            "several-models": "One name was given to the rows or logs of several models.",
        },
        "noticed": {
            "no-run-column": "No column names runs: every row is taken as its problem's only run.",
            "column-spelling": "A column was recognised by another common name.",
            "condition-default": "No column names a prompt or setting.",
            "model-from-file": "No model is named inside.",
            "model-renamed": "The name that was given differs from the one inside.",
        },
    },
    "Rows": {
        "refused": {
            "bad-key": "A model, condition, problem or run is empty, or neither text nor a number.",
            "mixed-types": "The same id occurs as a number and as text.",
            "outcome-empty": "Rows have no outcome, and nothing says why.",
            "outcome-unreadable": "An outcome is neither a number nor a word that is known.",
            "outcome-range": "An outcome lies outside 0 to 1.",
            "duplicate-rows": "Two rows have the same model, condition, problem and run.",
            "one-problem": "There is only one problem.",
            "composite-key": "The parts of an id cannot be joined without confusing two ids.",
        }
    },
    "Options": {
        "refused": {
            "bad-option": "An option has a value that is not possible, or lacks another one.",
            "scorer-not-used": "A scorer was named, and the data are a table.",
            "bad-confusion": "The file is no square table of counts.",
            "unknown-model": "The data have no model of that name.",
            "unknown-condition": "The data have no condition of that name.",
            "unknown-label": "The data have no label of that name.",
            "no-common-problems": "Two systems that are to be compared hardly share a problem.",
        }
    },
    "Missing runs": {
        "refused": {
            "missing-refused": "Runs are missing, and the rule that was chosen allows none.",
            "nothing-complete": "Fewer than two problems have all their runs.",
        },
        "noticed": {
            "missing-runs": "Some problems have fewer runs than the others.",
            "dropped-problems": "Problems were left out because runs of them are missing.",
            "filled-runs": "Missing runs were counted as failed.",
            "errored-rows": "Runs ended without a verdict.",
            "score-with-error": "Runs have both an outcome and an error.",
            "dataset-rule": "The data set comes with a rule for missing runs.",
        },
    },
    "Data sets and files": {
        "refused": {
            "checksum": "A file is not, byte for byte, the registered one.",
            "no-data": "A file of the package is missing.",
            "claims-need-pyyaml": "The claims are stored as YAML, which needs PyYAML.",
            "claims-other-data": "The data are not the paper's, or not all of them.",
            "claims-no-section": "No claim belongs to that section.",
            "unknown-dataset": "No data set is registered under that name.",
            "fetch-extra": "Downloading needs a package that is not installed.",
            "not-fetched": "The download failed, or there is no connection.",
            "no-release": "The downloaded files hold no outcomes in a layout that is known.",
            "release-contradicts": "The downloaded files give one run two outcomes.",
            "release-changed": "The outcomes are not those that were downloaded first.",
            "book-extra": "Building the book needs packages that are not installed.",
            "book-version": "The Jupyter Book that is installed does not build this book.",
            "large-table": "The table is too large to hold, and what was asked needs single rows.",
            "too-many-runs": "A large table has more different run labels than can be told apart.",
            "cannot-write": "A file or folder cannot be written.",
            "worker-ended": "One of the processes that share a long computation was ended.",
        }
    },
    "What counting shows": {
        "noticed": {
            "pass-threshold": "Scores were made passed or failed.",
            "scores": "Outcomes are scores between 0 and 1, not just passed or failed.",
            "single-run": "Every problem has one run.",
            "identical-runs": "Repeated runs never differ.",
            "few-mixed": "Very few problems have runs that differ.",
            "never-passed": "No run of any system passed some problems.",
            "adaptive-stopping": "The number of a problem's runs goes with its pass rate.",
            "several-tasks": "The problems belong to several tasks.",
        }
    },
    "What the statistics show": {
        "noticed": {
            "not-identified": "Of some systems every problem has one run: no components.",
            "no-run-noise": "No problem of a system changed its verdict between runs.",
            "no-upper-limit": "The difficulty spread comes out at zero or below.",
            "bca-undefined": "One of the ceiling's intervals cannot be computed.",
            "no-variation": "Every problem of a system has the same result.",
            "adjacent-only": "There are too many models to compare each with each.",
            "pairs-left-out": "Some pairs of models hardly share a problem.",
            "ranks-on-common": "Not all models have the same problems.",
            "few-clusters": "There are few clusters to resample.",
            "hidden-clusters": "Problems with the same label stand or fall together.",
            "few-problems": "There are fewer than ten problems.",
            "shorter-than-fixed": "An interval that has more to cover is the shorter one.",
        }
    },
}

#: Codes of input that is not used; all others say something of input that is.
REFUSED = frozenset(c for kinds in MEANINGS.values() for c in kinds.get("refused", ()))

HEADS = {"refused": "**Refused:** nothing was computed.", "noticed": "**Said:** the data are used."}
#: What is to be typed, whose dashes and quotes must stay as they are.
TYPED = re.compile(
    r"pip install '[^']+'|(?:(?:inspect|promptfoo) [a-z ]+)?--[a-z-]+"
    r"(?: (?:json|keep|fail|[\d.]*\d|(?:[a-z]+=)?[A-Z]+(?:=[A-Z]+)?)\b)?"
)


def page() -> str:
    """Return the messages as Markdown, each at an anchor that is its code."""
    lines = []
    for group, kinds in MEANINGS.items():
        lines.append(f"## {group}")
        for kind, meanings in kinds.items():
            lines.append(HEADS[kind])
            for code, meaning in meanings.items():
                way = TYPED.sub(lambda typed: f"`{typed[0]}`", CODES[code])
                lines.append(f"({code})=\n`{code}`\n: {meaning} {way}")
    return "\n\n".join(lines)
