"""Refusals and notices: their codes, what each means, and the way out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["ASSUMED", "CODES", "FIRST", "MEANINGS", "REFUSED", "Notice", "RepevalError", "page"]
__all__ += ["printable", "refused", "some"]


@dataclass(frozen=True)
class Notice:
    """One remark on data that are usable: a key of `CODES`, and sentences with their figures."""

    code: str
    text: str


class RepevalError(ValueError):
    """Input that is refused: a key of `CODES`, and what is wrong, where, and what to do."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def refused(code: str, what: str) -> RepevalError:
    """Return the error that says what is wrong and where; the way out is the code's."""
    return RepevalError(code, f"{what} {CODES[code]}")


def some(names: Iterable[object], n: int = 3, sep: str = ", ") -> str:
    """Write the first `n` names, and how many more there are."""
    texts = list(map(str, names))
    more = f" and {len(texts) - n} more" if len(texts) > n else ""
    return sep.join(texts[:n]) + more


def printable(text: object) -> str:
    """Write text from data for a terminal: no control characters, no line breaks."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


#: What to do about every refusal, and what every notice means.
CODES: dict[str, str] = {
    # files
    "file-not-found": "Check the path. NAME=PATH names a model, with a path that exists.",
    "unknown-format": "If it is one of these, say which: --format NAME.",
    "no-tables": "Give the files, or a directory that holds some.",
    "unreadable-file": "Check permissions, or fetch it again: a broken transfer cuts files short.",
    "not-utf8": "Save the file as UTF-8 (in a spreadsheet: CSV UTF-8).",
    "needs-pyarrow": "Install it: pip install 'repeval[logs]', or convert the file to CSV.",
    "empty-file": "A table has a header (model, problem, run, outcome) and a row for each run.",
    "ragged-rows": "Put fields that contain the separator in quotes.",
    "bad-json-line": "JSON Lines holds one object per line.",
    "no-logs": "To convert is for logs of evaluation harnesses; a table is one already. Answers in "
    "a table of multiple-choice responses are read with --choices.",
    "several-formats": "Give those of one kind, or choose one: --format NAME.",
    "unreadable-log": "It may be damaged or still being written; fetch it again or leave it out.",
    "member-too-large": "No data need that much: the file is damaged or hostile.",
    "needs-zstandard": "Type pip install 'repeval[logs]', or inspect log convert --to json.",
    "no-samples": "Scores of single runs are needed: do not log totals only (log_samples=False).",
    "export-without-model": "Export columns=EvalInfo + EvalTask + EvalModel + SampleSummary.",
    "filters-unnamed": "Older versions do not say which line is of which filter: evaluate with one "
    "filter, or with a newer version.",
    "several-in-one": "Write a line for each program into samples.jsonl, and evaluate again.",
    "several-scorers": "Nothing is guessed: type the --scorer that the message shows.",
    "unknown-scorer": "Type one of those that the message shows.",
    "same-model": "Nothing is counted twice silently: type what the message shows.",
    "other-question": "Ids move when data are shuffled or change. To compare all the same, write "
    "each log as a table (repeval convert) and read the tables.",
    "logs-read": "--format NAME takes them for logs of another harness.",
    "files-skipped": "A directory of logs may hold other files.",
    "copies-dropped": "A copy is no further run.",
    "identical-logs": "Copies make runs look steadier than they are: keep one, if they are any.",
    "retries-merged": "A retried run counts once.",
    "runs-numbered": "Each log is one run or more of the same system.",
    "repeats-scored-once": "With the default --seed a further invocation repeats the first.",
    "empty-patches": "A system that gives no patch has not solved the problem.",
    "cached-answers": "A repeated answer is no further run: promptfoo eval --no-cache.",
    "log-unfinished": "What ran is used; what did not is missing.",
    "settings-differ": "A difference in scores may come from them.",
    "no-choices": "--choices reads tables with columns response and answer (or target), the right "
    "letter from A to J: rename columns, leave out others.",
    "no-answer": "Such a response is wrong.",
    "partial-rewards": "With --pass-at 1 only whole rewards are passes; without it all are scores.",
    # columns
    "bad-columns": "Write ROLE=COLUMN (model, condition, problem, run, outcome, status), or =A+B.",
    "missing-column": "Name it: --columns ROLE=COLUMN.",
    "doubtful-column": "Nothing is guessed: type the --columns that the message shows.",
    "duplicate-column": "Rename one of them in the file.",
    "several-models": "Give the path alone: its model column names the models.",
    "no-run-column": "Where problems have several rows: --columns run=COLUMN.",
    "column-spelling": "If it is another column, name it with --columns.",
    "condition-default": "All rows belong to one condition, called default.",
    "model-from-file": "The file's name is the model's; NAME=PATH gives another.",
    "model-renamed": "NAME=PATH replaced the name in the file.",
    # rows
    "bad-key": "Fill the field, or take the row out.",
    "mixed-types": 'Write ids alike: 3 and "3" could be one or two.',
    "outcome-empty": "Take the row out, or say why in a status column: then --errors decides.",
    "outcome-unreadable": "Use 0/1, true/false, C/I, pass/fail, or a score from 0 to 1.",
    "outcome-range": "Divide scores by the largest possible one (logs: repeval convert first).",
    "duplicate-rows": "Keep one, or give repeated runs different run labels.",
    "one-problem": "At least two are needed: one says nothing about others.",
    "composite-key": "Write one id column in the file.",
    # options
    "bad-option": "The message names the values that are possible.",
    "scorer-not-used": "A table has one outcome column: --columns outcome=COLUMN.",
    "bad-confusion": "A row for each true label, a count for each predicted one, no header.",
    "unknown-model": "Write names as in the data.",
    "unknown-condition": "Write names as in the data.",
    "unknown-label": "A label is a further column with one value for each problem.",
    "no-common-problems": "A comparison needs at least two problems that both were given.",
    # missing runs
    "missing-refused": "Run what is missing, or use --missing keep, drop-problem or fail.",
    "nothing-complete": "Use --missing keep.",
    "missing-runs": "Bounds show what they could change; --missing gives other rules.",
    "dropped-problems": "--missing keep uses problems that lack runs of some system, too.",
    "filled-runs": "--missing keep uses only what was recorded.",
    "errored-rows": "They are missing runs; --errors fail counts them as failed.",
    "score-with-error": "The outcome counts.",
    "dataset-rule": "--missing chooses another rule.",
    # the data sets and files of the package
    "checksum": "Fetch or restore the file, or read it as your own data by its path.",
    "no-data": "Reinstall the package, or name a file.",
    "claims-need-pyyaml": "Install it: pip install 'repeval[book]'.",
    "claims-other-data": "Claims are recomputed on the paper's systems, by default those shipped.",
    "claims-no-section": "The message names the sections that have claims.",
    "unknown-dataset": "Without a name, repeval fetch lists the data sets.",
    "fetch-extra": "Install it: pip install 'repeval[logs]'.",
    "not-fetched": "Try again with a connection; everything but fetching works without one.",
    "no-release": "Save the outcomes as a table (model, condition, problem, run, outcome) instead.",
    "release-contradicts": "Two systems may share an API name: name them in a table of yours.",
    "release-changed": "Delete the record to trust the new one, and say so where you cite it.",
    "book-extra": "Install it: pip install 'repeval[book]'.",
    "book-version": "Install version 1: pip install 'jupyter-book==1.0.4.post1'.",
    "large-table": "So large a table is read as counts of passes and runs; split it for more.",
    "too-many-runs": "Number the runs of a problem 1, 2, ...: labels are shared by problems.",
    "cannot-write": "Check the folder and its permissions; nothing was half written.",
    "worker-ended": "Run it again, with --jobs 1 if memory is short; what was finished is kept.",
    # what counting shows
    "pass-threshold": "--pass-at is the score from which a run passes.",
    "scores": "What needs passed or failed is left out; --pass-at 0.5 would make them.",
    "single-run": "Telling run noise from difficulty needs two runs of the same problem.",
    "identical-runs": "Greedy decoding, a cache or copies: of copied runs keep one.",
    "few-mixed": "What is said about run noise rests on these problems only.",
    "never-passed": "A broken test or a wrong reference answer looks the same.",
    "adaptive-stopping": "Stopping at a pass biases scores: run every problem equally often.",
    "several-tasks": "--by COLUMN answers for each; pooled, large tasks outweigh small ones.",
    # what the statistics show
    "not-identified": "Scores compare on new problems; run noise needs a second run.",
    "no-run-noise": "It is small, not zero: more runs or more problems would show it.",
    "no-upper-limit": "Problems differ no more than run noise makes them; more give a limit.",
    "bca-undefined": "All resamples are on one side of the estimate; see the percentile interval.",
    "no-variation": "Wilson's interval says what is still possible; harder problems say more.",
    "adjacent-only": "With over 200 models only neighbours are paired; select models for others.",
    "pairs-left-out": "Systems compare only on problems that both were given.",
    "ranks-on-common": "Ranks need problems that all models of a condition have.",
    "few-clusters": "Below 30 clusters intervals use Student's t and stay rough.",
    "hidden-clusters": "--cluster COLUMN resamples whole groups: intervals then cover new groups.",
    "few-problems": "Collect more problems, or speak of these only.",
    "shorter-than-fixed": "Of the two intervals trust the longer one; more problems settle it.",
}

#: Notices on how the data were read; all others warn.
ASSUMED = frozenset(
    {"column-spelling", "condition-default", "model-from-file", "model-renamed", "no-run-column",
     "dataset-rule", "dropped-problems", "pass-threshold", "scores", "logs-read", "files-skipped",
     "copies-dropped", "retries-merged", "runs-numbered", "partial-rewards", "empty-patches",
     "no-answer"}
)  # fmt: skip

#: Warnings that change how every figure is read come first.
FIRST = frozenset({"few-clusters", "few-problems", "hidden-clusters", "adaptive-stopping"})

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
