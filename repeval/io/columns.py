"""Which column plays which role: spellings known, explicit mapping, doubts refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from repeval.messages import Notice, RepevalError, refused, some

__all__ = ["ROLES", "STATUS", "Columns", "parse_columns", "resolve"]

ROLES = ("model", "condition", "problem", "run", "outcome")
STATUS = ("status", "error")

#: Other spellings of a role that are taken without asking.
SPELLINGS = {
    "model": (),
    "condition": ("prompt", "prompt_type"),
    "problem": ("item", "item_id", "question_id", "problem_id", "instance_id", "doc_id"),
    "run": ("epoch", "trial", "draw_id", "trial_index", "attempt"),
    "outcome": ("score", "verdict", "correct", "accepted", "accepted_bool", "passed", "resolved",
                "reward"),
}  # fmt: skip

#: Names that could play a role or another one: never taken without asking.
DOUBTFUL = {
    "model": ("model_name", "model_id", "system", "agent", "llm"),
    "condition": (),
    "problem": ("task_id", "sample", "sample_id", "id", "question", "example_id", "task"),
    "run": ("sample", "run_id"),
    "outcome": ("result", "label", "pass", "success", "is_correct", "acc", "accuracy", "grade"),
}

Columns = str | Mapping[str, str] | Iterable[str] | None


def parse_columns(columns: Columns) -> dict[str, str]:
    """Read a column mapping: ``"problem=task+item_id,run=epoch"``, or several such, or a dict.

    An empty column says that the role has none. A role that is unknown or named twice is refused.
    """
    if isinstance(columns, Mapping):
        columns = [f"{role}={column}" for role, column in columns.items()]
    # A column's name may hold a comma: only one before a role separates.
    comma = re.compile(rf",(?=\s*(?:{'|'.join((*ROLES, 'status'))})\s*=)")
    mapping: dict[str, str] = {}
    single = isinstance(columns, str) or not isinstance(columns, Iterable | None)
    items = [columns] if single else list(columns or ())
    if wrong := [item for item in items if not isinstance(item, str)]:
        raise _bad(f"{wrong[0]!r} is no text")
    for item in items:
        for part in filter(None, comma.split(item)):
            role, sign, column = (text.strip() for text in part.partition("="))
            if not sign:
                raise _bad(f"{part!r} is not ROLE=COLUMN")
            if role not in (*ROLES, "status"):
                raise _bad(f"{role!r} is not a role")
            if role in mapping:
                raise _bad(f"{role} is named twice ({mapping[role]}, {column})")
            if not column and role in ("problem", "outcome"):
                raise _bad(f"{role} needs a column")
            mapping[role] = column
    return mapping


def resolve(
    names: Sequence[str], mapping: Mapping[str, str], file: str, notices: list[Notice]
) -> dict[str, tuple[str, ...]]:
    """Find the columns of every role; several are a composite key, those of status tell errors.

    Roles without a column are absent. Spellings that were recognised are added to `notices`.
    """
    roles = {role: _named(role, mapping[role], names, file) for role in mapping if mapping[role]}
    used = {column for parts in roles.values() for column in parts}
    free = {name: name.strip().lower() for name in names if name not in used}
    # Five columns in canonical order: what follows are labels, whatever they are called.
    canonical = tuple(names[: len(ROLES)]) == ROLES
    for role in (role for role in ROLES if role not in mapping):
        if canonical:
            found = [role] if role in free else []
        else:
            found = [name for name, low in free.items() if low in (role, *SPELLINGS[role])]
        maybe = [name for name, low in free.items() if low in DOUBTFUL[role]]
        if len(found) > 1 or (maybe and not found):
            ways = " or ".join(f"--columns {role}={name}" for name in found or maybe)
            if found:
                what = f"{role} could be column {' or '.join(found)}"
            else:
                what = f"no column is surely the {role}; {some(maybe, 20)} could be"
                ways += f", or --columns {role}= if none does" * (role in ("model", "run"))
            raise RepevalError("doubtful-column", f"{file}: {what}. Type {ways}.")
        if found:
            roles[role] = (found[0],)
            if found[0] != role:
                notices.append(Notice("column-spelling", f"{role} is read from column {found[0]}."))
    status = tuple(name for name, low in free.items() if low in STATUS)
    if status and "status" not in mapping:
        roles["status"] = status
    for role in ("problem", "outcome"):
        if role not in roles:
            what = f"{file}: there is no {role} column. Columns: {some(names, 20)}."
            way = f"Name it: --columns {role}=COLUMN."
            if role == "outcome" and "response" in free.values():
                way += " For multiple-choice responses: repeval convert --choices."
            raise RepevalError("missing-column", f"{what} {way}")
    return roles


def _named(role: str, wanted: str, names: Sequence[str], file: str) -> tuple[str, ...]:
    """Return the columns that ``role=wanted`` names."""
    parts = (wanted,) if wanted in names else tuple(part.strip() for part in wanted.split("+"))
    for part in parts:
        if part not in names:
            what = f"--columns {role}={wanted}: there is no column {part!r}"
            raise RepevalError("missing-column", f"{file}: {what}. Columns: {some(names, 20)}.")
    if len(parts) > 1 and role in ("outcome", "status"):
        raise _bad(f"{role} takes one column, not {wanted}")
    return parts


def _bad(what: str) -> RepevalError:
    return refused("bad-columns", f"--columns: {what}.")
