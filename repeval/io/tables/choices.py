"""Raw responses to multiple-choice questions: the letter that each gives, and a tidy table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from repeval.io.files import Table, rows_text
from repeval.io.keys import KEYS
from repeval.io.parse import label_text, part_of
from repeval.io.tables.advice import refuse_duplicates
from repeval.io.tables.ways import Data
from repeval.messages import Notice, refused

__all__ = ["extract_choice", "judged"]

# No column of a file is called so: names are stripped.
OUTCOME = " outcome of the response"
# Up to where "the ... answer is ..." may stretch; words of lower case only.
_PHRASE = re.compile(r"[Tt]he [a-z ]*")
_AFTER = re.compile(r"[:\s]*\(?([A-Ja-j])")
_LABELLED = re.compile(r"[Aa]nswer:\s+\(?([A-Ja-j])")


def judged(
    tables: Sequence[Table], mapping: Mapping[str, str], notices: list[Notice]
) -> pd.DataFrame:
    """Return the runs in tables of responses, with the outcome that the letter found in each has.

    Parameters
    ----------
    tables : sequence of Table
        Columns `response`, a text, and `answer` or `target`, the right letter from A to J; all
        others as in any table, but an outcome is not needed and counts as a label.
    mapping : mapping
        Column of each role that its name does not tell.
    notices : list of Notice
        What was assumed is added.

    Returns
    -------
    DataFrame
        Columns model, condition, problem, run, outcome, status, labels, and `extracted`: the
        letter. A response without one is wrong, and its status "no answer"; without an outcome
        are only runs that have an error and no response.

    References
    ----------
    BS, "Answer extraction".
    """
    parts, letters, empty = [], [], []
    for table in tables:
        response, right = _column(table, "response"), _column(table, "answer", "target")
        texts = [label_text(value) for value in table.columns[response]]
        odd = [
            t != "" and not isinstance(v, str)
            for t, v in zip(texts, table.columns[response], strict=True)
        ]
        if any(odd):
            what = f"the response (column {response}) is no text in"
            where = rows_text(table.rows, np.flatnonzero(odd))
            raise refused("no-choices", f"{table.name}: {what} {where}.")
        answers = np.array([label_text(v).strip().upper() for v in table.columns[right]])
        if (bad := ~np.isin(answers, list("ABCDEFGHIJ"))).any():
            where = rows_text(table.rows, np.flatnonzero(bad))
            what = f"the right answer (column {right}) is no letter from A to J in {where}"
            raise refused("no-choices", f"{table.name}: {what} ({answers[bad][0][:40]!r}).")
        found = [extract_choice(text) or "" for text in texts]
        columns = {c: values for c, values in table.columns.items() if c != response}
        columns[OUTCOME] = (answers == found).astype(object)
        roles = {**mapping, "outcome": OUTCOME}
        parts.append(part_of(replace(table, columns=columns), roles, notices))
        letters += found
        empty += [not text.strip() for text in texts]
    rows = pd.concat([part.rows for part in parts], ignore_index=True)
    labels = pd.concat([part.labels for part in parts], ignore_index=True).fillna("")
    tables = [part.table for part in parts]
    refuse_duplicates(rows, labels, parts, Data(tables, mapping, fixed={"outcome": OUTCOME}))
    blank, error = np.array(empty), rows["error"].to_numpy()
    lost = error & blank
    wrong = (np.array(letters) == "") & ~lost
    if wrong.any():
        text = f"{wrong.sum():,} of {(~lost).sum():,} responses give no letter"
        none = f", {(wrong & blank).sum():,} of them because they are empty"
        notices.append(Notice("no-answer", f"{text}{none * bool((wrong & blank).any())}."))
    rows["outcome"] = rows["outcome"].astype(object).mask(lost)
    rows["status"] = np.select([error, wrong], ["error", "no answer"], "")
    return rows[[*KEYS, "outcome", "status"]].join(labels.assign(extracted=letters))


def _column(table: Table, *names: str) -> str:
    """Return the one column with one of these names."""
    found = [column for column in table.columns if column.strip().lower() in names]
    if len(found) != 1:
        what = f"columns {' and '.join(found)}" if found else f"no column {' or '.join(names)}"
        raise refused("no-choices", f"{table.name} has {what}.")
    return found[0]


def extract_choice(response: str) -> str | None:
    """Return the letter, A to J, that a response gives as its answer; None if there is none.

    The last "the ... answer is X" counts; without one, the last "answer: X". A bracket before the
    letter is allowed, and a small letter. A response without a letter is counted as wrong.

    Notes
    -----
    The same letters as by the post's patterns, in time proportional to the length of the response,
    whatever it holds. As there, letters of words count: "the answer is unclear" gives A.

    References
    ----------
    BS, "Answer extraction".
    """
    found = [letter for match in _PHRASE.finditer(response) if (letter := _letter(match))]
    found = found or _LABELLED.findall(response)
    return found[-1].upper() if found else None


def _letter(phrase: re.Match[str]) -> str:
    """Return the letter behind a phrase, else its last from a to j after "answer is", if any."""
    _, is_answer, words = phrase[0].partition("answer is")
    if not is_answer:
        return ""
    if after := _AFTER.match(phrase.string, phrase.end()):
        return after[1]
    return words[-1:] if (words := re.sub("[^a-j]", "", words)) else ""
