"""Every Eval Ever: ``UUID_samples.jsonl``, a record for each sample, beside ``UUID.json``.

Records number no runs: a field of their metadata does, or they stand in the order of the file. One
sample has a record for each result that it is part of, so results are this format's scorers.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from repeval.io.columns import FURTHER, SPELLINGS, plain
from repeval.io.readers.base import Log, Record, choose, parse
from repeval.io.readers.totals import counted, tallied, totals
from repeval.messages import RepevalError, refused

NAME, TITLE = "eee", "Every Eval Ever record"

#: Keys that every record of an evaluation, or of a sample, has.
EVALUATION = (b'"schema_version"', b'"evaluation_id"', b'"retrieved_timestamp"')
SAMPLE = (b'"evaluation_id"', b'"evaluation_name"', b'"sample_id"')
#: Metrics, as `plain` writes them, whose total is the mean over samples.
MEANS = {"accuracy", "acc", "accnorm", "mean", "exactmatch", "passrate", "passat1", "pass1", "em"}
_plain = functools.cache(plain)
#: Fields of the metadata that tell runs or conditions, the surest first.
RUN = ("run", *SPELLINGS["run"], *FURTHER["run"])
CONDITION = ("condition", "prompttype")


class _Row(NamedTuple):
    """What is kept of a line: neither texts nor messages."""

    number: int
    system: tuple[str, str, str]
    result: str
    sample: str
    value: float
    error: str | None
    question: str | None
    labels: dict[str, str]


def sniff(path: Path, head: bytes) -> bool:
    """Tell by the keys that records have."""
    if not head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        return False
    return any(all(key in head for key in keys) for keys in (EVALUATION, SAMPLE))


def samples(path: Path) -> Path:
    """Return the file with the samples of an evaluation, itself where there is none."""
    try:
        about = parse(path.read_bytes())
        named = about["detailed_evaluation_results"]["file_path"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        named = ""
    names = re.split(r"[/\\]", str(named))[-1], f"{path.stem}_samples.jsonl"
    beside = (path.parent / name for name in names if name and path.suffix == ".json")
    return next((p for p in beside if p.is_file()), path)


def read(path: Path, scorer: str | None) -> Iterator[Log]:
    """Yield a log for each model, evaluation and condition; `scorer` is the id of a result."""
    rows = list(_rows(path))
    if not rows:
        about = parse(path.read_bytes() or b"{}")
        model = _text(about.get("model_info") or {}, "id", "model_info.id") if about else ""
        yield Log(path, model, (), status="only totals are recorded")
        return
    beside = path.with_name(f"{path.stem.removesuffix('_samples')}.json")
    about = parse(beside.read_bytes()) if beside != path and beside.is_file() else {}
    results = [r for r in about.get("evaluation_results") or () if isinstance(r, dict)]
    _refuse_unnamed(rows, results, path)
    kept, chosen = _chosen(rows, scorer, path)
    logs: dict[tuple[str, ...], list[_Row]] = defaultdict(list)
    for row in kept:
        condition = _field(row.labels, CONDITION) or _condition(_result(results, row))
        logs[*row.system, condition].append(row)
    for (identity, model, task, condition), found in logs.items():
        result = _result(results, found[0])
        metric = result.get("metric_config") or {}
        if metric.get("lower_is_better") is True:
            what = f"{path.name}: of {found[0].result or task} lower scores are better"
            raise refused("lower-is-better", f"{what}.")
        records, single = _records(found, metric)
        notes = _notes(path, about, result, rows, records)
        notes += _samples(path, result, (rows, kept, found), records)
        if _means(records):
            records = tuple({record.problem: record for record in reversed(records)}.values())
            text = f"{path.name}: every run of a sample has the mean of its runs as its score, and"
            notes += (("means-as-runs", f"{text} counts as one run."),)
        yield Log(
            path, model, records, condition=condition, task=task, attempt=identity,
            run=identity if single else "",
            created=str(about.get("evaluation_timestamp") or about.get("retrieved_timestamp", "")),
            settings={"scorer": chosen, **_settings(result)},
            notes=notes,
        )  # fmt: skip


def _rows(path: Path) -> Iterator[_Row]:
    if path.suffix == ".json":
        whole = parse(path.read_bytes())
        if "evaluation_results" in whole:
            return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield _row(number, parse(line), path)
            except KeyError as error:
                raise ValueError(f"row {number} has no {error.args[0]}") from None
            except (TypeError, AttributeError) as error:
                raise ValueError(f"row {number}: {error}") from None
            except json.JSONDecodeError as error:
                raise ValueError(f"row {number} is no JSON, {error.msg}") from None


def _row(number: int, record: Mapping[str, Any], path: Path) -> _Row:
    score, sample = record["evaluation"]["score"], _text(record, "sample_id")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise TypeError(f"evaluation.score is {str(score)[:40]!r}, no number")
    if score != score:
        what = f"{path.name}: the outcome of row {number} (sample {sample!r}) is empty or NaN"
        raise refused("outcome-empty", f"{what}.")
    labels = record.get("metadata") or {}
    return _Row(
        number,
        tuple(_text(record, key) for key in ("evaluation_id", "model_id", "evaluation_name")),
        str(record.get("evaluation_result_id") or ""),
        sample,
        float(score),
        record.get("error") or None,
        record.get("sample_hash") or None,
        {str(key): value for key, value in labels.items() if isinstance(value, str)},
    )


def _text(record: Mapping[str, Any], key: str, shown: str = "") -> str:
    value = record[key]
    if not isinstance(value, str):
        raise TypeError(f"{shown or key} is {str(value)[:40]!r}, no text")
    return value


def _chosen(rows: Sequence[_Row], scorer: str | None, path: Path) -> tuple[list[_Row], str]:
    """Keep the rows of one result of each evaluation, and of one evaluation of each sample.

    Several metrics of one scorer often repeat its scores: then any of them will do.
    """
    series: dict[tuple[str, str], dict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
    asked: dict[tuple[str, str], set[Any]] = defaultdict(set)
    for row in rows:
        task = row.system[2]
        one = task, _short(row.result, task)
        series[one][row.system, row.sample, tuple(row.labels.items())].append(row.value)
        asked[one].add((row.sample, row.question) if row.question else (row.sample, one))
    tasks = {task for task, _ in series}
    distinct: list[tuple[str, str]] = []
    for one in sorted(series, key=lambda s: (s[0], _rank(s[1]), s[1])):
        others = (d for d in distinct if d[0] == one[0])
        if not any(series[one] == series[other] for other in others):
            distinct.append(one)
    several = [task for task in tasks if sum(one[0] == task for one in distinct) > 1]
    chosen = ""
    if several:
        chosen = choose((m for t, m in distinct if t in several), scorer, path, "results")
        distinct = [(t, m) for t, m in distinct if t not in several or m == chosen]
    elif len(tasks) > 1 and any(
        asked[one] & asked[other] for one in distinct for other in distinct if one[0] != other[0]
    ):
        # The same questions under two names were scored in two ways; a result's id names one, too.
        wanted = next((t for t, m in distinct if m == scorer), scorer)
        chosen = choose(tasks, wanted, path, "evaluations of the same samples")
        distinct = [one for one in distinct if one[0] == chosen]
    elif scorer is not None:
        chosen = choose((m or t for t, m in distinct), scorer, path, "results")
        distinct = [(t, m) for t, m in distinct if chosen in (t, m)]
    chosen = chosen or ", ".join(dict.fromkeys(m for _, m in distinct if m))
    keep = set(distinct)
    return [r for r in rows if (r.system[2], _short(r.result, r.system[2])) in keep], chosen


def _refuse_unnamed(rows: Sequence[_Row], results: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Refuse rows of several results that do not say which they are of: they look like runs."""
    names = Counter(result.get("evaluation_name") for result in results)
    again = Counter((row.system, row.sample) for row in rows if not row.result)
    for ((_, _, task), sample), n in again.items():
        if n > 1 and names[task] > 1:
            what = f"{path.name}: {task} has {names[task]} results, and the {n} rows of sample"
            what += f" {sample!r} do not say of which they are: each needs an evaluation_result_id"
            raise RepevalError("filters-unnamed", f"{what}.")


def _short(result: str, task: str) -> str:
    """Return the id of a result without the evaluation's name, as it is for all of them."""
    return result.replace(task, "").strip(" :/,.|_-") or result


def _rank(result: str) -> int:
    """Order results: means first."""
    return 0 if any(plain(part) in MEANS for part in re.split(r"[:/,|]", result)) else 1


def _result(results: Iterable[Mapping[str, Any]], row: _Row) -> Mapping[str, Any]:
    """Return the evaluation's result that a row is part of."""
    named = [r for r in results if row.result and r.get("evaluation_result_id") == row.result]
    named = named or [r for r in results if r.get("evaluation_name") == row.system[2]]
    return named[0] if len(named) == 1 else {}


def _field(labels: Mapping[str, str], names: Sequence[str]) -> str:
    """Return the value of the first field that has one of the names."""
    fields = {_plain(key): value for key, value in reversed(labels.items())}
    return next((fields[name] for name in names if fields.get(name)), "")


def _condition(result: Mapping[str, Any]) -> str:
    details = (result.get("generation_config") or {}).get("additional_details") or {}
    return _field({k: v for k, v in details.items() if isinstance(v, str)}, CONDITION)


def _records(rows: Sequence[_Row], metric: Mapping[str, Any]) -> tuple[tuple[Record, ...], bool]:
    """Return the records of a log, and whether it is one run of every sample."""
    runs: list[str] = []
    for name in RUN:
        found = [_field(row.labels, (name,)) for row in rows]
        if all(found) and (name == "run" or len(set(found)) > 1):
            runs = found
            break
    seen: Counter[str] = Counter()
    counted = [str((seen.update([row.sample]), seen[row.sample])[1]) for row in rows]
    single = not runs and max(seen.values()) == 1
    unknown = metric.get("score_type") == "levels" and metric.get("has_unknown_level") is True
    records = []
    for row, run in zip(rows, runs or (["" for _ in rows] if single else counted), strict=True):
        labels = dict(row.labels)
        status = labels.pop("status", None)
        # A score is required: beside an error a zero says nothing.
        lost = (row.error and row.value == 0) or (unknown and row.value == -1)
        if row.error or lost:
            status = " ".join(str(row.error or "unscored").split())[:80] if lost else "error"
        gone = {key for key in labels if _plain(key) in ("run", "condition")}
        kept = {key: value for key, value in labels.items() if key not in gone}
        value = None if lost else row.value
        records.append(Record(row.sample, run, value, status, row.question, kept))
    return tuple(records), single


def _settings(result: Mapping[str, Any]) -> dict[str, str]:
    config = result.get("generation_config") or {}
    found = {**(config.get("generation_args") or {}), **(config.get("additional_details") or {})}
    return {
        key.replace("_", " "): str(value) for key, value in found.items()
        if value is not None and plain(key) not in CONDITION
    }  # fmt: skip


def _notes(
    path: Path,
    about: Mapping[str, Any],
    result: Mapping[str, Any],
    rows: Sequence[_Row],
    records: Sequence[Record],
) -> tuple[tuple[str, str], ...]:
    """Hold the evaluation's own totals against its samples."""
    notes, metric = [], result.get("metric_config") or {}
    names = [metric.get(key) for key in ("metric_kind", "metric_id", "metric_name")]
    what = next((n for n in names if isinstance(n, str) and plain(n) in MEANS), "")
    stated, most = (result.get("score_details") or {}).get("score"), metric.get("max_score")
    judged = [record.value for record in records if record.value is not None]
    if isinstance(most, int | float) and most > 1 and judged and max(judged) <= 1:
        stated = stated / most if isinstance(stated, int | float) else None
    if what:
        notes += totals(path, what, stated, records)
    detailed = about.get("detailed_evaluation_results") or {}
    notes += counted(path, "rows", detailed.get("total_rows"), len(rows))
    sha256 = str(detailed.get("hash_algorithm")).replace("-", "").lower() == "sha256"
    if sha256 and detailed.get("checksum") not in (None, _sha256(path)):
        text = f"{path.name} is not the file that the evaluation was written with: its checksum"
        notes.append(("totals-differ", f"{text} is another."))
    return tuple(notes)


def _samples(
    path: Path,
    result: Mapping[str, Any],
    parts: tuple[Sequence[_Row], Sequence[_Row], Sequence[_Row]],
    records: Sequence[Record],
) -> tuple[tuple[str, str], ...]:
    """Hold the samples that a result is said to be of, and their number, against its rows.

    The number may be of samples or of runs, with those that broke off or without; one result may
    be of several conditions. Samples may be listed of all splits.
    """
    uncertain = (result.get("score_details") or {}).get("uncertainty") or {}
    rows, kept, found = parts
    ways = (
        [row.sample for row in found],
        [record.problem for record in records if record.value is not None],
        [row.sample for row in kept if row.result == found[0].result],
    )
    numbers = {n for ids in ways for n in (len(ids), len(set(ids)))}
    if (n := uncertain.get("num_samples")) not in (None, *numbers):
        return counted(path, "samples", n, len(set(ways[0])))
    listed = {str(one) for one in (result.get("source_data") or {}).get("sample_ids") or ()}
    there = listed & {row.sample for row in rows}
    # Where none of them is there they are called otherwise.
    return tallied(path, "samples", sorted(listed), there) if there else ()


@functools.lru_cache(8)
def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _means(records: Sequence[Record]) -> bool:
    """Tell whether all runs of a sample have one score that is a mean of as many 0s and 1s."""
    scores: dict[Any, list[float]] = defaultdict(list)
    for record in records:
        if record.value is not None:
            scores[record.problem].append(record.value)
    if not all(len(set(found)) == 1 for found in scores.values()):
        return False
    totals = [sum(found) for found in scores.values()]
    whole = all(abs(total - round(total)) < 1e-6 for total in totals)
    return whole and any(0 < found[0] < 1 for found in scores.values())
