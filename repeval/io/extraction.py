"""The answer to a multiple-choice question, found in a response as the bootstrap post finds it."""

from __future__ import annotations

import re

# Up to where "the ... answer is ..." may stretch; words of lower case only.
_PHRASE = re.compile(r"[Tt]he [a-z ]*")
_AFTER = re.compile(r"[:\s]*\(?([A-Ja-j])")
_LABELLED = re.compile(r"[Aa]nswer:\s+\(?([A-Ja-j])")


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
