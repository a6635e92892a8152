"""The stored timings of `make bench`: what the page on speed shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from repeval.io.registry import data_dir

if TYPE_CHECKING:
    import pandas as pd


def stored() -> dict[str, Any]:
    """Return the result file: `machine`, `versions`, and `seconds` by task and package."""
    return json.loads((data_dir() / "benchmarks.json").read_text(encoding="utf-8"))


def comparisons() -> pd.DataFrame:
    """Return each task that others were timed on: milliseconds, and how many times as long."""
    import pandas as pd

    rows = [
        (task, who, _digits(1000 * value), _digits(value / seconds["repeval"]))
        for task, seconds in stored()["seconds"].items()
        if len(seconds) > 1
        for who, value in sorted(seconds.items(), key=lambda item: item[1])
    ]
    return pd.DataFrame(rows, columns=["task", "by", "milliseconds", "times as long"])


def alone() -> pd.DataFrame:
    """Return the tasks that only this package was timed on."""
    import pandas as pd

    rows = [
        (task, _digits(seconds["repeval"]) if "MiB" in task else f"{_digits(1000 * value)} ms")
        for task, seconds in stored()["seconds"].items()
        if len(seconds) == 1 and (value := seconds["repeval"])
    ]
    return pd.DataFrame(rows, columns=["task", "measured"])


def machine() -> str:
    """Say where and with what the stored timings were taken."""
    found = stored()
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    where = found["machine"]
    return f"Timed on {where['processor']}, {where['cores']} cores, {where['system']}: {versions}."


def _digits(value: float) -> str:
    """Three digits, never in powers of ten."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
