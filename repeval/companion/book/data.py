"""The data of a book: written beside the pages, and read back by each of them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from repeval.companion.book.process import write


def is_paper(outcomes) -> bool:
    """Whether the data are the paper's, released or rebuilt."""
    return outcomes.source.basis in ("released", "stand-in")


def save_data(outcomes, path: Path, options: Mapping) -> str:
    """Write the canonical table and, beside it, what a table cannot say; return their hash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    outcomes.to_csv(path)
    about = {
        "source": asdict(outcomes.source),
        "policy": asdict(outcomes.policy),
        "notices": [asdict(notice) for notice in outcomes.notices],
        "analyze": dict(options),
    }
    beside = json.dumps(about, indent=1)
    write(path.with_suffix(".json"), beside)
    before = save_data(outcomes.before, before_of(path), {}) if outcomes.before else ""
    return hashlib.sha256(path.read_bytes() + (beside + before).encode()).hexdigest()


def before_of(path: Path) -> Path:
    """Where the data lie as they were before a rule left out, or filled, missing runs."""
    return path.with_name(f"{path.stem}.before.csv")


def load_data(path: Path, name: str) -> tuple:
    """Read back what `save_data` wrote: outcomes and options; or any table that stands alone."""
    from repeval import load
    from repeval.io.keys import Policy, Source
    from repeval.messages import Notice

    beside = Path(path).with_suffix(".json")
    if not beside.exists():
        return load(path, name=name), {}
    about = json.loads(beside.read_text(encoding="utf-8"))
    policy, source = about["policy"], about["source"]
    policy["columns"] = tuple(map(tuple, policy["columns"]))
    source["excluded"] = tuple(source["excluded"])
    roles = ("model", "condition", "problem", "run", "outcome")
    whole = before_of(Path(path))
    outcomes = replace(
        # Named outright: a label may be called like another spelling of a role.
        load(path, columns={role: role for role in roles}, missing="keep"),
        source=Source(**source),
        policy=Policy(**policy),
        notices=tuple(Notice(**notice) for notice in about["notices"]),
        before=load_data(whole, name)[0] if whole.exists() else None,
    )
    return outcomes, about["analyze"]
