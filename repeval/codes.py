"""What every code means, and the way out."""

from __future__ import annotations

__all__ = ["REFUSED"]

#: Refusals: code -> (title, what it means and the way out)
REFUSED: dict[str, tuple[str, str]] = {
    # files
    "file-not-found": (
        "The file does not exist",
        "Check the path. NAME=PATH names a model; the part after = must exist.",
    ),
    "unknown-format": (
        "The kind of file is not known",
        "Tables are .csv, .tsv, .jsonl, .ndjson (each also .gz) or .parquet; otherwise say "
        "`--format csv`, `tsv`, `jsonl` or `parquet`.",
    ),
    "no-tables": (
        "The directory holds no table",
        "Give a directory with .csv, .tsv, .jsonl, .ndjson or .parquet files, or the files.",
    ),
    "unreadable-file": (
        "The file is damaged or is not what its name says",
        "Write it again; an interrupted download leaves a truncated file.",
    ),
    "not-utf8": (
        "The text is not UTF-8",
        "Save the file as UTF-8 (in a spreadsheet: CSV UTF-8).",
    ),
    "needs-pyarrow": (
        "Parquet needs one more library",
        "Install it with `pip install repeval[logs]`, or convert the file to CSV.",
    ),
    "empty-file": (
        "The file or table is empty",
        "At least a header line and the rows of two problems are needed.",
    ),
    "ragged-rows": (
        "Lines have more or fewer fields than the header",
        "A field that contains the separator must be quoted.",
    ),
    "bad-json-line": (
        "A line is not a JSON object",
        "JSON Lines holds one object per line, such as "
        '{"model": "m", "problem": "p", "run": 0, "outcome": 1}.',
    ),
    # columns
    "bad-columns": (
        "The column mapping cannot be used",
        "Write `--columns ROLE=COLUMN`, with ROLE one of model, condition, problem, run, "
        "outcome, status; `ROLE=A+B` joins two columns.",
    ),
    "missing-column": (
        "A column that is needed is not there",
        "Name it with `--columns`, for instance `--columns problem=question`.",
    ),
    "doubtful-column": (
        "A column could mean two things, or two columns could fill one role",
        "Nothing is guessed: type the `--columns` that the message shows.",
    ),
    "duplicate-column": (
        "Two columns have the same name",
        "Rename one of them in the file.",
    ),
    "several-models": (
        "NAME=PATH was given for a file with several models",
        "Give the path alone: its model column names the models.",
    ),
    "no-run-column": (
        "There is no run column",
        "With one row per problem that is one run each; with more, name the column that tells "
        "runs apart: `--columns run=COLUMN`.",
    ),
    # rows
    "bad-key": (
        "A model, condition, problem or run is empty or is not text or a number",
        "Fill the field, or take the row out.",
    ),
    "mixed-types": (
        "The same id is written as a number and as text",
        'Write one of them: 3 and "3" could be one problem or two.',
    ),
    "outcome-empty": (
        "An outcome is empty",
        "Take the row out (a missing run), or add a `status` column: then empty outcomes are "
        "missing (`--errors missing`) or failed (`--errors fail`).",
    ),
    "outcome-unreadable": (
        "An outcome is not one of the words or numbers known",
        "Use 0/1, true/false, C/I, pass/fail, or a score from 0 to 1.",
    ),
    "outcome-range": (
        "An outcome lies outside 0 to 1",
        "Divide by the largest possible score, so that scores run from 0 to 1.",
    ),
    "duplicate-rows": (
        "Two rows have the same model, condition, problem and run",
        "Keep one, give repeated runs different run labels, or complete the problem's key with "
        "`--columns problem=A+B`.",
    ),
    "one-problem": (
        "There is only one problem",
        "Nothing can be said on new problems from one; give at least two.",
    ),
    "composite-key": (
        "A composite key cannot be joined without confusion",
        "Write one id column in the file.",
    ),
    # options
    "bad-option": (
        "An option has a value it cannot have",
        "The message names the values that are possible.",
    ),
    "scorer-not-used": (
        "`--scorer` was given for a table",
        "A table has one outcome column: choose it with `--columns outcome=COLUMN`.",
    ),
    "unknown-model": (
        "There is no such model in the data",
        "Names must be written as in the data.",
    ),
    "unknown-condition": (
        "There is no such condition in the data",
        "Names must be written as in the data.",
    ),
    "unknown-label": (
        "There is no such label column",
        "A label is a further column with one value for each problem.",
    ),
    "no-common-problems": (
        "Two systems share no problem",
        "They can only be compared on problems that both were given.",
    ),
    # missing runs and policies
    "missing-refused": (
        "Runs are missing and `--missing error` was asked for",
        "Run what is missing, or choose another `--missing`.",
    ),
    "nothing-complete": (
        "Fewer than two problems were run in full by every system",
        "Use `--missing keep`.",
    ),
    # registry
    "checksum": (
        "A registered file is not the one that was registered",
        "Fetch it again, or restore it from the release.",
    ),
    "no-data": (
        "The default data are not there",
        "Reinstall the package, or name a file.",
    ),
    # claims
    "claims-need-pyyaml": (
        "The list of claims is read with PyYAML",
        "Install it with `pip install 'repeval[book]'`.",
    ),
    "claims-other-data": (
        "A claim is about data that are not these",
        "Claims are recomputed on the paper's systems, by default on the data set shipped.",
    ),
    "claims-no-section": (
        "No claim belongs to that section",
        "The message names the sections that have claims.",
    ),
    # the book
    "book-extra": (
        "The libraries that build the book are not installed",
        "Install them with `pip install 'repeval[book]'`.",
    ),
    "book-version": (
        "The installed Jupyter Book cannot build this book",
        "Install version 1: `pip install 'jupyter-book==1.0.4.post1'`.",
    ),
    # writing
    "cannot-write": (
        "A file cannot be written",
        "Check the folder and its permissions; nothing was half written.",
    ),
}
