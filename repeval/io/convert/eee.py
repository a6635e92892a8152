"""Runs as records of Every Eval Ever: a file for each evaluation, and one for its samples.

The schemas are those of every-eval-ever 0.3.0 without their descriptions (``schemas/LICENSE``): the
package needs Python 3.12 and much that is of no use here.

References
----------
EvalEval Coalition, https://evalevalai.com: ``eval.schema.json`` for an evaluation,
``instance_level_eval.schema.json`` for a sample.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd

from repeval.io.keys import KEYS
from repeval.messages import RepevalError, refused

__all__ = ["QUESTION", "records"]

#: The column of digests of questions; no file has one of that name, names are stripped.
QUESTION = " question"
VERSION = "0.3.0"
#: What a folder of the datastore may not be called, or hold.
UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')
UNKNOWN = "unstated"
#: Bytes of a folder's name; file systems allow some more.
LONGEST = 200


def records(
    table: pd.DataFrame, target: Path, *, name: str, scorer: str, library: str, written: int
) -> dict[Path, bytes]:
    """Return the files that hold a table's runs as records, each with its content.

    Parameters
    ----------
    table : DataFrame
        Columns model, condition, problem, run, outcome (empty: none), status; task, `QUESTION` and
        labels.
    target : Path
        A folder, which is laid out as the datastore is: ``data/EVALUATION/DEVELOPER/MODEL``. Or,
        for one model under one condition, the evaluation's file, whose name ends in ``.json``.
    name : str
        Of the evaluation, where the table has no column task.
    scorer, library : str
        What judged the runs, and what ran them; "" where unknown.
    written : int
        When the inputs were, in seconds since 1970: the same inputs give the same bytes.

    Raises
    ------
    RepevalError
        Where one file is asked for and there are several evaluations, or a record does not fit its
        schema.
    """
    evaluation, sample = (_validator(n) for n in ("eval", "instance_level_eval"))
    files: dict[Path, bytes] = {}
    groups = list(_evaluations(table.copy(), name))
    if target.suffix == ".json" and len(groups) > 1:
        what = f"-o {target}: there are {len(groups)} evaluations, each a file of its own. "
        raise RepevalError("bad-option", f"{what}Name a folder: -o {target.with_suffix('')}.")
    for (task, model, condition), rows in groups:
        shown = task if condition == "default" else f"{task} ({condition})"
        identity = f"{shown}/{model}/{written}"
        about = {"schema_version": VERSION, "evaluation_id": identity, "model_id": model}
        lines = list(_samples(rows, about, task, scorer))
        for line in lines:
            _hold(sample, line)
        content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        key = str(uuid.UUID(bytes=hashlib.sha256(content).digest()[:16], version=4))
        developer, _, rest = model.partition("/") if "/" in model else (UNKNOWN, "", model)
        folders = [_folder(part) for part in (task, developer, rest)]
        whole = _evaluation(rows, identity, (task, model, condition), scorer, library, written)
        whole["model_info"] |= {"developer": UNKNOWN} if developer == UNKNOWN else {}
        whole["detailed_evaluation_results"] = {
            "format": "jsonl", "file_path": "/".join(["data", *folders, f"{key}_samples.jsonl"]),
            "hash_algorithm": "sha256", "checksum": hashlib.sha256(content).hexdigest(),
            "total_rows": len(lines),
        }  # fmt: skip
        _hold(evaluation, whole)
        path = target if target.suffix == ".json" else target.joinpath("data", *folders, key)
        path = path.with_suffix("") if target.suffix == ".json" else path
        files[path.with_name(f"{path.name}.json")] = (
            json.dumps(whole, ensure_ascii=False, indent=1).encode() + b"\n"
        )
        files[path.with_name(f"{path.name}_samples.jsonl")] = content
    return files


def _validator(name: str) -> Any:
    try:
        import jsonschema
    except ImportError:
        raise refused("needs-jsonschema", "Records are held against their schema.") from None
    schema = resources.files("repeval.io.convert") / "schemas" / f"{name}.schema.json"
    return jsonschema.Draft7Validator(json.loads(schema.read_text(encoding="utf-8")))


def _hold(validator: Any, record: Mapping[str, Any]) -> None:
    if error := next(validator.iter_errors(record), None):
        where = "/".join(map(str, error.absolute_path)) or "the record"
        what = f"A record of {record['evaluation_id']} does not fit the schema at {where}: "
        raise RepevalError("cannot-write", f"{what}{error.message[:200]}. Nothing was written.")


def _evaluations(
    table: pd.DataFrame, name: str
) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Yield evaluation, model and condition, and their rows; ids lose the task in front of them."""
    task, problem = [name] * len(table), list(table["problem"])
    if "task" in table and table["task"].nunique() == 1:
        task = list(table.pop("task"))
    elif "task" in table:
        for sep in ("/", "|", "::", " // "):
            fronts = [f"{text}{sep}" for text in table["task"]]
            if all(map(str.startswith, problem, fronts)):
                table["problem"] = [p[len(f) :] for p, f in zip(problem, fronts, strict=True)]
                task = list(table.pop("task"))
                break
    keys = [pd.Series(task, index=table.index), table["model"], table["condition"]]
    yield from table.groupby(keys, sort=False)


def _samples(
    rows: pd.DataFrame, about: Mapping[str, Any], task: str, scorer: str
) -> Iterator[dict[str, Any]]:
    labels = [c for c in rows if c not in (*KEYS, "outcome", "status", QUESTION)]
    questions = rows[QUESTION] if QUESTION in rows else [None] * len(rows)
    for row, question in zip(rows.to_dict("records"), questions, strict=True):
        lost = pd.isna(row["outcome"])
        metadata = {"run": row["run"], "condition": row["condition"]}
        metadata |= {label: row[label] for label in labels if row[label] != ""}
        if row["status"] and not lost:
            metadata["status"] = row["status"]
        score = 0.0 if lost else float(row["outcome"])
        yield {
            **about, "evaluation_name": task, "evaluation_result_id": scorer or "mean",
            "sample_id": row["problem"], **({"sample_hash": question} if question else {}),
            "interaction_type": "single_turn", "input": {"raw": "", "reference": []},
            "output": {"raw": []}, "answer_attribution": [],
            "evaluation": {"score": score, "is_correct": score == 1.0},
            **({"error": row["status"] or "error"} if lost else {}), "metadata": metadata,
        }  # fmt: skip


def _evaluation(
    rows: pd.DataFrame,
    identity: str,
    system: tuple[str, str, str],
    scorer: str,
    library: str,
    written: int,
) -> dict[str, Any]:
    task, model, condition = system
    outcome = rows["outcome"].astype(float)
    # Of a problem without any outcome there is no mean.
    means = outcome.groupby(rows["problem"], sort=True).mean().dropna()
    judged = outcome.dropna()
    binary = bool(judged.isin([0.0, 1.0]).all())
    metric = {
        "metric_id": scorer or "mean", "metric_name": scorer or "mean", "metric_kind": "mean",
        "lower_is_better": False, "score_type": "binary" if binary else "continuous",
        "min_score": min([0.0, *judged]), "max_score": max([1.0, *judged]),
    }  # fmt: skip
    return {
        "schema_version": VERSION,
        "evaluation_id": identity,
        "retrieved_timestamp": str(written),
        "source_metadata": {
            "source_type": "evaluation_run", "source_organization_name": UNKNOWN,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": library or UNKNOWN, "version": "unknown"},
        "model_info": {
            "name": model, "id": model,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [{
            "evaluation_result_id": scorer or "mean",
            "evaluation_name": task,
            "source_data": {"dataset_name": task, "source_type": "other"},
            "metric_config": metric,
            "score_details": {
                "score": float(means.mean()) if len(means) else 0.0,
                "details": {"runs": str(len(rows)), "judged": str(len(judged))},
            },
            "generation_config": {"additional_details": {"condition": condition}},
        }],
    }  # fmt: skip


def _folder(text: str) -> str:
    """Return a name that a folder of the datastore may have."""
    name = UNSAFE.sub("_", text).strip(" .") or "_"
    if len(name.encode()) > LONGEST:
        # What was cut off may be all that tells two names apart.
        start = name.encode()[: LONGEST - 13].decode(errors="ignore")
        name = f"{start}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return f"{name}_" if name == "data" else name


def newest(paths: Iterable[Path]) -> int:
    """Return when the newest of some files was written, in seconds since 1970."""
    return int(max(path.stat().st_mtime for path in paths))
