"""Refusals and notices: one table of codes, with what each means and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["KINDS", "MESSAGES", "Message", "Notice", "RepevalError", "printable", "refused", "some"]


@dataclass(frozen=True)
class Message:
    """What a code stands for: its kind is one of `KINDS`, meaning and way out are sentences."""

    group: str
    code: str
    kind: str
    meaning: str
    way_out: str


@dataclass(frozen=True)
class Notice:
    """One remark on data that are usable: a key of `MESSAGES`, and sentences with their figures."""

    code: str
    text: str

    @property
    def kind(self) -> str:
        """Return which of `KINDS` the code is."""
        return MESSAGES[self.code].kind


class RepevalError(ValueError):
    """Input that is refused: a key of `MESSAGES`, and what is wrong, where, and what to do.

    Examples
    --------
    >>> import repeval
    >>> try:
    ...     repeval.load("nowhere.csv")
    ... except repeval.RepevalError as error:
    ...     print(error.code)
    file-not-found
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def refused(code: str, what: str) -> RepevalError:
    """Return the error that says what is wrong and where; the way out is the code's."""
    return RepevalError(code, f"{what} {MESSAGES[code].way_out}")


def some(names: Iterable[object], n: int = 3, sep: str = ", ") -> str:
    """Write the first `n` names, and how many more there are."""
    texts = list(map(str, names))
    more = f" and {len(texts) - n} more" if len(texts) > n else ""
    return sep.join(texts[:n]) + more


def printable(text: object) -> str:
    """Write text from data for a terminal: no control characters, no line breaks."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


#: In the order in which notices are shown: `first` warns of what changes how every figure is read,
#: `warned` of the rest, `assumed` says how the data were read.
KINDS = ("refused", "first", "warned", "assumed")

#: By group: code, kind, what it means, and what to do about it or read from it.
TABLE: dict[str, tuple[tuple[str, str, str, str], ...]] = {"Files": (
    ("file-not-found", "refused",
     "What was given is no file and no directory, or nothing was given.",
     "Check the path. NAME=PATH names a model, with a path that exists."),
    ("unknown-format", "refused", "The file is neither a table nor a log that is known.",
     "If it is one of these, say which: --format NAME."),
    ("no-tables", "refused", "The directory holds neither tables nor logs that are known.",
     "Give the files, or a directory that holds some."),
    ("unreadable-file", "refused", "The file cannot be read, or its content is damaged.",
     "Check permissions, or fetch it again: a broken transfer cuts files short."),
    ("not-utf8", "refused", "The table is no text in UTF-8, and its bytes have no sure reading.",
     "Save the file as UTF-8 (in a spreadsheet: CSV UTF-8)."),
    ("needs-pyarrow", "refused",
     "Parquet files, and some frames, are read with pyarrow, which is not installed.",
     "Install it: pip install 'repeval[logs]', or convert the file to CSV."),
    ("empty-file", "refused", "The file is empty, or holds a header only.",
     "A table has a header (model, problem, run, outcome) and a row for each run."),
    ("ragged-rows", "refused", "Rows of the table have more or fewer fields than the header.",
     "Put fields that contain the separator in quotes."),
    ("bad-json-line", "refused", "A line is no JSON object.",
     "JSON Lines holds one object per line; --format json reads a list of objects."),
    ("unknown-object", "refused",
     "What was given is neither a path, nor a list of paths, nor a frame.",
     "Give a path, a list of paths, or one frame (pandas, Polars, PyArrow, DuckDB and others): "
     "put several frames, or a list of rows, into one first."),
    ("unreadable-frame", "refused",
     "A frame cannot be computed, or its columns do not make a table.",
     "Compute it outside repeval first; columns need a value, or a null, for each row."),
    ("member-too-large", "refused", "A file, or one inside an archive, unpacks to far too much.",
     "No data need that much: the file is damaged or hostile."),
    ("needs-openpyxl", "refused", "Workbooks are read with openpyxl, which is not installed.",
     "Install it: pip install 'repeval[logs]', or save the sheet as CSV."),
    ("several-sheets", "refused", "Several sheets of the workbook hold something.",
     "Save the sheet with the runs as CSV, or alone in a workbook."),
    ("no-rows", "refused", "The JSON file holds no rows, and is no log that is known.",
     "Rows are a list of objects, an object of columns and data, or objects that give each "
     "problem its verdict. Of a log, say which: --format NAME."),
    ("lists-inside", "refused", "Rows hold lists of numbers, which could be runs or raters.",
     "Write a row for each (model, problem, run or rater, outcome); --scale 1 5 maps ratings."),
    ("nested-read", "assumed", "Rows, or the outcomes of a row's runs, are a list inside others.",
     "If they are something else, write a row for each run."),
    ("latin-1", "assumed", "The text is not in UTF-8 and reads well as Latin-1.",
     "If names look wrong, save the file as UTF-8."),
    ("decimal-comma", "assumed", "Numbers are written with a decimal comma.",
     "It is read so only where fields are separated by semicolons or tabs."),
    ("runs-as-objects", "assumed", "Each object gives every problem its verdict: it is one run.",
     "If its keys are no problems, write a row for each run."),
), "Logs of harnesses": (
    ("no-logs", "refused", "There is nothing to convert: the files are tables.",
     "To convert is for logs of evaluation harnesses; a table is one already. Answers in a table "
     "of multiple-choice responses are read with --choices."),
    ("several-formats", "refused",
     "Logs of several harnesses, or logs and tables, were given at once.",
     "Give those of one kind, or choose one: --format NAME."),
    ("unreadable-log", "refused",
     "A log is cut off, damaged, or not of the format that it looks like.",
     "It may be damaged or still being written; fetch it again or leave it out."),
    ("needs-zstandard", "refused", "The log is compressed in a way that this Python cannot undo.",
     "Type pip install 'repeval[logs]', or inspect log convert --to json."),
    ("no-samples", "refused", "The log holds no single runs, but totals at most.",
     "Scores of single runs are needed: do not log totals only (log_samples=False)."),
    ("export-without-model", "refused", "A table holds several evaluations and no model's name.",
     "Export columns=EvalInfo + EvalTask + EvalModel + SampleSummary."),
    ("filters-unnamed", "refused",
     "A problem has several lines, and none says which filter it is of.",
     "Older versions do not say which line is of which filter: evaluate with one filter, or with "
     "a newer version."),
    ("several-in-one", "refused",
     "Several programs were judged as one text: the verdict is of none.",
     "Write a line for each program into samples.jsonl, and evaluate again."),
    ("several-scorers", "refused",
     "Several scorers, metrics, filters or rewards could be the outcome.",
     "Nothing is guessed: type the --scorer that the message shows."),
    ("unknown-scorer", "refused", "The log has no scorer, metric, filter or reward of that name.",
     "Type one of those that the message shows."),
    ("same-model", "refused",
     "A model has several logs, and they are no retries of one evaluation.",
     "Nothing is counted twice silently: type what the message shows."),
    ("other-question", "refused", "The same id stands for different questions or right answers.",
     "Ids move when data are shuffled or change. To compare all the same, write each log as a "
     "table (repeval convert) and read the tables."),
    ("lower-is-better", "refused", "The scores of a log are better the lower they are.",
     "Name another one (--scorer), or give a table of 1 - score."),
    ("no-choices", "refused", "The table lacks responses, or the letters that are right.",
     "--choices reads tables with columns response and answer (or target), the right letter from "
     "A to J: rename columns, leave out others."),
    ("logs-read", "assumed",
     "What the files were taken for, with task, scorer and number of models.",
     "--format NAME takes them for logs of another harness."),
    ("files-skipped", "assumed", "Files of the directory are not of the kind that was read.",
     "A directory may hold other files."),
    ("means-as-runs", "first", "Every run of a sample has the mean of its runs as its score.",
     "Such records do not tell what single runs did: convert the harness's own log instead."),
    ("copies-dropped", "assumed", "Logs are equal, byte for byte, to others of the same run.",
     "A copy is no further run."),
    ("identical-logs", "warned", "Logs that should be different runs are equal, byte for byte.",
     "Copies make runs look steadier than they are: keep one, if they are any."),
    ("retries-merged", "assumed", "Several logs are attempts at one evaluation.",
     "A retried run counts once."),
    ("runs-numbered", "assumed", "Several logs of a model were put together as its runs.",
     "Each log is one run or more of the same system."),
    ("repeats-scored-once", "warned", "The harness asked several times and scored one answer.",
     "With the default --seed a further invocation repeats the first."),
    ("empty-patches", "assumed", "Some answers hold no patch.",
     "A system that gives no patch has not solved the problem."),
    ("cached-answers", "warned", "Answers came from a cache instead of the model.",
     "A repeated answer is no further run: promptfoo eval --no-cache."),
    ("log-unfinished", "warned", "An evaluation was cancelled, broke off, or still goes on.",
     "What ran is used; what did not is missing."),
    ("settings-differ", "warned", "Logs that are compared were made with different settings.",
     "A difference in scores may come from them."),
    ("no-answer", "assumed", "Responses give no letter that could be right or wrong.",
     "Such a response is wrong."),
    ("partial-rewards", "assumed",
     "Rewards lie between 0 and 1; the harness calls only 1 a success.",
     "With --pass-at 1 only whole rewards are passes; without it all are scores."),
), "Columns": (
    ("bad-columns", "refused", "The option that names columns is not written as it should be.",
     "Write ROLE=COLUMN (model, condition, problem, run, outcome, status), or =A+B."),
    ("missing-column", "refused", "A column that is needed was not found.",
     "Name it: --columns ROLE=COLUMN."),
    ("doubtful-column", "refused", "A column could be what is looked for, or several could be.",
     "Nothing is guessed: type the --columns that the message shows."),
    ("duplicate-column", "refused", "Two columns have the same name.",
     "Rename one of them in the file."),
    ("doubtful-layout", "refused",
     "Several columns hold outcomes, and no name says of which run, model or condition.",
     "Nothing is guessed: type the --wide that the message shows."),
    ("not-wide", "refused", "The data have no column for each run, model or condition.",
     "The other columns say whose a row is: leave the option out, or rename columns."),
    ("doubtful-names", "refused",
     "Names of files differ in a number only, which could be that of a run or of a model.",
     "Nothing is guessed: type the --names that the message shows."),
    ("names-unfit", "refused", "A pattern of names does not fit all files.",
     "It is held against the end of each path; an asterisk is any text."),
    ("mixed-layouts", "refused", "Some tables hold counts, others single runs.",
     "Give those of one kind, or write all as counts."),
    ("counts-only", "refused", "The table holds counts, and what was asked needs single runs.",
     "Give a table with a row for each run; scores, limits and comparisons need none."),
    ("several-models", "refused", "One name was given to the rows or logs of several models.",
     "Give the path alone: its model column names the models."),
    ("no-run-column", "assumed",
     "No column names runs: every row is taken as its problem's only run.",
     "Where problems have several rows: --columns run=COLUMN, or run=# to number them."),
    ("runs-counted", "assumed", "Runs were numbered in the order of the rows, as was asked.",
     "Name a column that tells them apart where there is one."),
    ("column-spelling", "assumed", "A column was recognised by another common name.",
     "If it is another column, name it with --columns."),
    ("condition-default", "assumed", "No column names a prompt or setting.",
     "All rows belong to one condition, called default."),
    ("model-from-file", "assumed", "No model is named inside.",
     "The file's name is the model's; NAME=PATH gives another."),
    ("model-renamed", "assumed", "The name that was given differs from the one inside.",
     "NAME=PATH replaced the name in the file."),
    ("names-read", "assumed", "Names of files told the model, condition or run.",
     "If they are others, give the pattern with --names."),
    ("wide-read", "assumed", "The table has a column for each run, model or condition.",
     "If the columns are something else, say so with --wide."),
    ("wide-left", "warned", "One of several columns of runs was named as the outcome.",
     "The others are not read; --wide runs reads them all."),
    ("counts-read", "assumed", "The table holds counts of runs and passes.",
     "If the columns count something else, rename them, or name the outcome's."),
), "Rows": (
    ("bad-key", "refused",
     "A model, condition, problem or run is empty, or neither text nor a number.",
     "Fill the field, or take the row out."),
    ("mixed-types", "refused", "The same id occurs as a number and as text.",
     'Write ids alike: 3 and "3" could be one or two.'),
    ("outcome-empty", "refused", "Rows have no outcome, and nothing says why.",
     "Take the row out, or say why in a status column: then --errors decides."),
    ("outcome-unreadable", "refused", "An outcome is neither a number nor a word that is known.",
     "Use 0/1, true/false, yes/no, C/I, pass/fail, correct/incorrect, success/failure, or a score "
     "from 0 to 1."),
    ("outcome-range", "refused", "An outcome lies outside 0 to 1.",
     "--scale LOW HIGH maps ratings on a scale to 0 to 1; no scale is guessed."),
    ("duplicate-rows", "refused", "Two rows have the same model, condition, problem and run.",
     "Keep one, or give repeated runs different run labels; of attempts at one run --retries last, "
     "best or first keeps one."),
    ("bad-counts", "refused", "Counts of runs, passes or sums cannot be right.",
     "Runs are whole and at least 1, passes whole and at most as many."),
    ("duplicate-counts", "refused", "Two rows count the same model, condition and problem.",
     "Keep one, or add them up, or say which column tells them apart (--columns)."),
    ("one-problem", "refused", "There is only one problem.",
     "At least two are needed: one says nothing about others."),
    ("composite-key", "refused", "The parts of an id cannot be joined without confusing two ids.",
     "Write one id column in the file."),
    ("outcome-mixed", "refused", "A column mixes words for outcomes, such as yes and passed.",
     "One word could mean two things: write all outcomes alike, best as 0 and 1."),
    ("pairwise-verdicts", "refused", "The table says which of two models won.",
     "Single outcomes are needed, a row for each model, problem and run: pairwise verdicts are not "
     "covered."),
    ("promptfoo-table", "refused", "The table is promptfoo's CSV, which is made for reading.",
     "Give its JSON instead: promptfoo eval --output results.json."),
    ("totals-only", "refused", "The table has totals of whole runs, not outcomes of problems.",
     "Single outcomes are needed, a row for each problem and run: totals do not tell run noise "
     "from difficulty."),
    ("scaled", "assumed", "Ratings were mapped to 0 to 1.",
     "--scale LOW HIGH names the ends of the scale, whether or not they occur."),
    ("percent-signs", "assumed", "Every outcome has a percent sign.", "They are divided by 100."),
    ("error-value", "warned", "One value of the outcome column marks errors.",
     "Such a run has no outcome: --errors fail counts it as failed."),
    ("judges-as-runs", "first", "Runs are told apart by who judged, or when.",
     "Judgments of one answer show the noise of judging, not that of the system."),
), "Options": (
    ("bad-option", "refused", "An option has a value that is not possible, or lacks another one.",
     "The message names the values that are possible."),
    ("scorer-not-used", "refused", "A scorer was named, and the data are a table.",
     "A table has one outcome column: --columns outcome=COLUMN."),
    ("bad-confusion", "refused", "The file is no square table of counts.",
     "A row for each true label, a count for each predicted one, no header."),
    ("unknown-model", "refused", "The data have no model of that name.",
     "Write names as in the data."),
    ("unknown-condition", "refused", "The data have no condition of that name.",
     "Write names as in the data."),
    ("unknown-label", "refused", "The data have no label of that name.",
     "A label is a further column with one value for each problem."),
    ("no-common-problems", "refused", "Two systems that are to be compared hardly share a problem.",
     "A comparison needs at least two problems that both were given."),
), "Missing runs": (
    ("missing-refused", "refused", "Runs are missing, and the rule that was chosen allows none.",
     "Run what is missing, or use --missing keep, drop-problem or fail."),
    ("nothing-complete", "refused", "Fewer than two problems have all their runs.",
     "Use --missing keep."),
    ("missing-runs", "warned", "Some runs were planned and not judged.",
     "Bounds show what they could change; --missing gives other rules."),
    ("dropped-problems", "assumed", "Problems were left out because runs of them are missing.",
     "--missing keep uses problems that lack runs of some system, too."),
    ("filled-runs", "warned", "Missing runs were counted as failed.",
     "--missing keep uses only what was recorded."),
    ("errored-rows", "warned", "Runs ended without a verdict.",
     "They are missing runs; --errors fail counts them as failed."),
    ("score-with-error", "warned", "Runs have both an outcome and an error.",
     "The outcome counts."),
    ("dataset-rule", "assumed", "The data set comes with a rule for missing runs.",
     "--missing chooses another rule."),
), "Data sets and files": (
    ("checksum", "refused", "A file is not, byte for byte, the registered one.",
     "Fetch or restore the file, or read it as your own data by its path."),
    ("no-data", "refused", "A file of the package is missing.",
     "Reinstall the package, or name a file."),
    ("claims-need-pyyaml", "refused", "The claims are stored as YAML, which needs PyYAML.",
     "Install it: pip install 'repeval[book]'."),
    ("claims-other-data", "refused", "The data are not the paper's, or not all of them.",
     "Claims are recomputed on the paper's systems, by default those shipped."),
    ("claims-no-section", "refused", "No claim belongs to that section.",
     "The message names the sections that have claims."),
    ("unknown-dataset", "refused", "No data set is registered under that name.",
     "Without a name, repeval fetch lists the data sets."),
    ("fetch-extra", "refused", "Downloading needs a package that is not installed.",
     "Install it: pip install 'repeval[logs]'."),
    ("not-fetched", "refused", "The download failed, or there is no connection.",
     "Try again with a connection; everything but fetching works without one."),
    ("no-release", "refused", "The downloaded files hold no outcomes in a layout that is known.",
     "Save the outcomes as a table (model, condition, problem, run, outcome) instead."),
    ("release-contradicts", "refused", "The downloaded files give one run two outcomes.",
     "Two systems may share an API name: name them in a table of yours."),
    ("release-changed", "refused", "The outcomes are not those that were downloaded first.",
     "Delete the record to trust the new one, and say so where you cite it."),
    ("book-extra", "refused", "Building the book needs packages that are not installed.",
     "Install it: pip install 'repeval[book]'."),
    ("book-version", "refused", "The Jupyter Book that is installed does not build this book.",
     "Install version 1: pip install 'jupyter-book==1.0.4.post1'."),
    ("needs-fast", "refused",
     "The table is too large to hold, and what reduces it is not installed.",
     "Install it: pip install 'repeval[fast]'."),
    ("too-many-runs", "refused",
     "A large table has more different run labels than can be told apart.",
     "Number the runs of a problem 1, 2, ...: labels are shared by problems."),
    ("needs-jsonschema", "refused", "Records are checked with jsonschema, which is not installed.",
     "Install it: pip install 'repeval[logs]'."),
    ("cannot-write", "refused", "A file or folder cannot be written.",
     "Check the folder and its permissions; nothing was half written."),
    ("worker-ended", "refused", "One of the processes that share a long computation was ended.",
     "Run it again, with --jobs 1 if memory is short; what was finished is kept."),
), "What counting shows": (
    ("pass-threshold", "assumed", "Scores were made passed or failed.",
     "--pass-at is the score from which a run passes."),
    ("scores", "assumed", "Outcomes are scores between 0 and 1, not just passed or failed.",
     "What needs passed or failed is left out; --pass-at 0.5 would make them."),
    ("single-run", "warned", "Every problem has one run.",
     "Telling run noise from difficulty needs two runs of the same problem."),
    ("identical-runs", "warned", "Repeated runs never differ.",
     "Greedy decoding, a cache or copies: of copied runs keep one."),
    ("few-mixed", "warned", "Very few problems have runs that differ.",
     "What is said about run noise rests on these problems only."),
    ("never-passed", "warned", "No run of any system passed some problems.",
     "A broken test or a wrong reference answer looks the same."),
    ("adaptive-stopping", "first", "The number of a problem's runs goes with its pass rate.",
     "Stopping at a pass biases scores: run every problem equally often."),
    ("retries-chosen", "assumed", "Several rows are attempts at one run, and one of them counts.",
     "--retries last, best or first says which."),
    ("replayed-runs", "warned", "Runs repeat others on every problem: a cache, or copied files.",
     "They are left out, as no further runs; run them again without the cache."),
    ("failed-runs", "first", "In some runs everything failed, while other runs did not.",
     "Runs that were never made are often stored as failed: --failed-runs leave-out."),
    ("totals-differ", "warned", "A log's own total is not what its single runs give.",
     "Single runs are what counts here; find out which of the two is right."),
    ("several-tasks", "warned", "The problems belong to several tasks.",
     "--by COLUMN answers for each; pooled, large tasks outweigh small ones."),
), "What the statistics show": (
    ("not-identified", "warned", "Of some systems every problem has one run: no components.",
     "Scores compare on new problems; run noise needs a second run."),
    ("no-run-noise", "warned", "No problem of a system changed its verdict between runs.",
     "It is small, not zero: more runs or more problems would show it."),
    ("no-upper-limit", "warned", "The difficulty spread comes out at zero or below.",
     "Problems differ no more than run noise makes them; more give a limit."),
    ("no-variation", "warned", "Every problem of a system has the same result.",
     "Wilson's interval says what is still possible; harder problems say more."),
    ("adjacent-only", "warned", "There are too many models to compare each with each.",
     "With over 200 models only neighbours are paired; select models for others."),
    ("pairs-left-out", "warned", "Some pairs of models hardly share a problem.",
     "Systems compare only on problems that both were given."),
    ("ranks-on-common", "warned", "Not all models have the same problems.",
     "Ranks need problems that all models of a condition have."),
    ("few-clusters", "first", "There are few clusters of problems.",
     "Intervals go by Student's t over clusters: more clusters help, not more of each."),
    ("blank-clusters", "warned", "Problems have no value in the column of clusters.",
     "Fill the column: problems of one family that are taken apart look surer than they are."),
    ("hidden-clusters", "first", "Problems with the same label stand or fall together.",
     "--cluster COLUMN takes each group as one draw: intervals then cover new groups."),
    ("few-problems", "first", "There are fewer than ten problems.",
     "Collect more problems, or speak of these only."),
)}  # fmt: skip

MESSAGES = {row[0]: Message(group, *row) for group, rows in TABLE.items() for row in rows}
