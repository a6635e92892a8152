"""The schema of the JSON answer, made from the rows and their docstrings.

Write it anew with `python -m tests.report.schema`.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from pathlib import Path
from typing import Any

import repeval
from repeval.report import rows
from repeval.report.analysis import SCHEMA

NAME = f"analysis-{SCHEMA.rpartition('/')[2]}.schema.json"
PATH = Path(repeval.__file__).parent / "report" / NAME
PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}


def schema() -> dict[str, Any]:
    """Return the whole schema."""
    definitions: dict[str, Any] = {}

    def of(kind: Any) -> dict[str, Any]:
        origin, parts = typing.get_origin(kind), typing.get_args(kind)
        if kind is Any:
            return {}
        if kind in PLAIN:
            return {"type": PLAIN[kind]}
        if dataclasses.is_dataclass(kind):
            definitions.setdefault(kind.__name__, None)
            definitions[kind.__name__] = definitions[kind.__name__] or row(kind)
            return {"$ref": f"#/$defs/{kind.__name__}"}
        if origin is dict:
            return {"type": "object", "additionalProperties": of(parts[1])}
        if origin is tuple and parts[-1] is ...:
            return {"type": "array", "items": of(parts[0])}
        if origin is tuple:
            n = len(parts)
            items = [of(part) for part in parts]
            return {"type": "array", "prefixItems": items, "minItems": n, "maxItems": n}
        if origin in (typing.Union, types.UnionType):
            found = [of(part) for part in parts]
            if all(set(f) == {"type"} for f in found):
                return {"type": [f["type"] for f in found]}
            return {"anyOf": found}
        raise TypeError(f"no schema for {kind}")

    def row(kind: type) -> dict[str, Any]:
        hints = typing.get_type_hints(kind)
        about = (kind.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        properties = {name: of(hint) for name, hint in hints.items()}
        return {
            "type": "object", "description": " ".join(about.split()), "required": [*properties],
            "properties": properties,
        }  # fmt: skip

    text, whole = {"type": "string"}, {"type": "integer"}
    data = {
        "name": text,
        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "basis": {"enum": ["released", "stand-in", "user"]},
        **dict.fromkeys(["n_rows", "n_models", "n_conditions", "n_problems"], whole),
        "n_runs": {"type": ["integer", "null"]},
    }
    notice = {"code": text, "text": text}
    properties = {
        "schema": {"const": SCHEMA},
        "version": text,
        "data": {"type": "object", "required": [*data], "properties": data},
        "settings": of(rows.Settings),
        "notices": {
            "type": "array",
            "items": {"type": "object", "required": [*notice], "properties": notice},
        },
        "systems": {"type": "array", "items": of(rows.System)},
        "pairs": {"type": "array", "items": of(rows.Pair)},
        "condition_pairs": {"type": "array", "items": of(rows.ConditionPair)},
        "ranks": {"type": "array", "items": of(rows.Rank)},
        "summary": {"type": "object", "additionalProperties": of(rows.Summary)},
    }
    groups = {"type": "object", "additionalProperties": {"$ref": "#"}}
    by = {
        "type": "object",
        "description": "With --by: one analysis for each value of a label column.",
        "required": ["column", "groups"],
        "properties": {
            "column": text,
            "groups": groups,
            "macro": {"type": "array", "items": of(rows.Macro)},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "An analysis by repeval",
        "description": "Fractions, not percents; null where the data do not give a figure, with "
        "the reason in a notice or under methods; keys are only ever added.",
        "type": "object",
        "required": [*properties],
        "properties": {**properties, "by": by},
        "$defs": definitions,
    }


def text() -> str:
    """Return the file's content."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
