"""The answer to data without what tells where it came from and how it was read."""

from __future__ import annotations

import json
from typing import Any

from repeval import analyze

#: Options of reading, which say nothing of the data.
READING = ("columns", "format", "wide", "names", "scorer")


def answer(data: Any, *, without: tuple[str, ...] = ()) -> str:
    """Return the JSON answer but for its source: name, sum, notices and options of reading."""
    analysis = analyze(data, n_resamples=200)
    found = analysis.to_dict()
    for key in ("name", "sha256"):
        del found["data"][key]
    for key in READING:
        found["settings"]["policy"].pop(key, None)
    kinds = {notice.code: notice.kind for notice in analysis.notices}
    found["notices"] = [
        n for n in found["notices"] if kinds[n["code"]] != "assumed" and n["code"] not in without
    ]
    return json.dumps(found, ensure_ascii=False, allow_nan=False)
