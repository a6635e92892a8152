"""What tests of readers ask: outcomes, notices, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from repeval import load
from repeval.io.checks import checks
from repeval.io.outcomes import Outcomes
from repeval.messages import RepevalError

SEED = 2606
#: 12 problems, 3 runs.
TENSOR = np.random.default_rng(SEED).integers(0, 2, (12, 3)).tolist()
ALIKE = [f"q{i}" for i in range(12)]


def outcomes_of(data, model="m", ids=ALIKE) -> list[list[float | None]]:
    """The outcomes that were read, by problem and run; None where there is none."""
    frame = data.frame[data.frame["model"] == model]
    table = frame.pivot(index="problem", columns="run", values="outcome")
    return [[None if np.isnan(y) else y for y in table.loc[str(name)]] for name in ids]


def text_of(data, code: str) -> str:
    (text,) = [notice.text for notice in (*data.notices, *checks(data)) if notice.code == code]
    return text


def codes(data) -> set[str]:
    """The codes of outcomes, or of an analysis, which has those of counting already."""
    counted = checks(data) if isinstance(data, Outcomes) else ()
    return {notice.code for notice in (*data.notices, *counted)}


def refusal(paths, **options) -> RepevalError:
    with pytest.raises(RepevalError) as caught:
        load(paths, **options)
    return caught.value
