"""Refusals and notices, and the way out of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["ASSUMED", "CODES", "FIRST", "Notice", "RepevalError", "printable", "refused", "some"]


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
