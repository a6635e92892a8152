"""A table small enough to see whole, as records and as text, and when two readings of it agree."""

from __future__ import annotations

import pandas as pd

BASE = [
    {"model": m, "problem": p, "run": r, "outcome": int((i + r) % 3 > 0)}
    for m in ("a", "b")
    for i, p in enumerate(("x", "y", "z"))
    for r in range(2)
]
HEAD = "model,problem,run,outcome\n"
GOOD = HEAD + "a,x,0,1\na,x,1,0\na,y,0,1\na,y,1,1\n"


def same(one, two) -> None:
    pd.testing.assert_frame_equal(one.frame, two.frame)
    pd.testing.assert_frame_equal(one.labels, two.labels)
    pd.testing.assert_frame_equal(one.errored, two.errored)
    assert one.models == two.models
    assert one.problems == two.problems
