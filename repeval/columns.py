"""Which column plays which role: spellings known, explicit mapping, doubts refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from repeval.notices import Notice, RepevalError

__all__ = ["ROLES", "parse_columns", "resolve"]

ROLES = ("model", "condition", "problem", "run", "outcome")
STATUS = ("status", "error")

#: Other spellings of a role that are taken without asking.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "model": (),
    "condition": ("prompt", "prompt_type"),
    "problem": ("item", "item_id", "question_id", "problem_id", "instance_id", "doc_id"),
    "run": ("epoch", "trial", "draw_id", "trial_index", "attempt"),
    "outcome": ("score", "verdict", "correct", "accepted", "accepted_bool", "passed", "resolved",
                "reward"),
}  # fmt: skip

#: Names that could play a role or another one: never taken without asking.
DOUBTFUL: dict[str, tuple[str, ...]] = {
    "model": ("model_name", "model_id", "system", "agent", "llm"),
    "problem": ("task_id", "sample", "sample_id", "id", "question", "example_id", "task"),
    "run": ("sample", "run_id"),
    "outcome": ("result", "label", "pass", "success", "is_correct", "acc", "accuracy", "grade"),
}

Columns = str | Mapping[str, str | Sequence[str]] | Iterable[str | tuple[str, str]] | None


def parse_columns(columns: Columns) -> dict[str, str]:
    """Read a column mapping.

    Parameters
    ----------
    columns : str, mapping, or iterable of str or pairs
        ``"problem=task+item_id,run=epoch"``, ``["problem=item_id"]``,
        ``{"problem": "item_id"}``. An empty column says that the role has none.

    Returns
    -------
    dict of str to str

    Raises
    ------
    RepevalError
        If a role is unknown or named twice.
    """
    if not columns:
        return {}
    if isinstance(columns, Mapping):
        pairs = [(r, c if isinstance(c, str) else "+".join(c)) for r, c in columns.items()]
    else:
        pairs = []
        for item in [columns] if isinstance(columns, str) else columns:
            if not isinstance(item, str):
                pairs.append((item[0], item[1]))
                continue
            for part in re.split(rf",(?=\s*(?:{'|'.join((*ROLES, 'status'))})\s*=)", item):
                role, sign, column = part.partition("=")
                if not sign:
                    raise _bad(f"{part!r} is not ROLE=COLUMN")
                pairs.append((role, column))
    mapping: dict[str, str] = {}
    for role, column in ((r.strip(), c.strip()) for r, c in pairs):
        if role not in (*ROLES, "status"):
            raise _bad(f"{role!r} is not a role")
        if role in mapping:
            raise _bad(f"{role} is named twice ({mapping[role]}, {column})")
        if not column and role in ("problem", "outcome"):
            raise _bad(f"{role} needs a column")
        mapping[role] = column
    return mapping


def resolve(
    names: Sequence[str], mapping: Mapping[str, str], file: str
) -> tuple[dict[str, tuple[str, ...]], list[Notice]]:
    """Find the columns of every role.

    Parameters
    ----------
    names : sequence of str
        Column names of the table.
    mapping : mapping of str to str
        From `parse_columns`.
    file : str
        Name for messages.

    Returns
    -------
    roles : dict of str to tuple of str
        Columns per role (several: a composite key); roles without a column are absent. ``status``
        holds the columns that tell errors.
    notices : list of Notice
        One for each spelling that was recognised.
    """
    roles: dict[str, tuple[str, ...]] = {}
    notices: list[Notice] = []
    for role, wanted in mapping.items():
        if not wanted:
            continue
        parts = (wanted,) if wanted in names else tuple(p.strip() for p in wanted.split("+"))
        if absent := [p for p in parts if p not in names]:
            raise RepevalError(
                "missing-column",
                f"{file}: --columns {role}={wanted}: there is no column {absent[0]!r}. "
                f"Columns: {_list(names)}.",
            )
        if len(parts) > 1 and role in ("outcome", "status"):
            raise _bad(f"{role} takes one column, not {wanted}")
        roles[role] = parts
    # Five columns in canonical order: what follows are labels, whatever they are called.
    canonical = tuple(names[: len(ROLES)]) == ROLES
    used = {c for parts in roles.values() for c in parts}
    free = [n for n in names if n not in used]
    for role in ROLES:
        if role in mapping:
            continue
        known = (role,) if canonical else (role, *SPELLINGS[role])
        found = [n for n in free if n.strip().lower() in known]
        if canonical:
            found = [n for n in found if n == role]
        if len(found) > 1:
            raise _doubt(file, f"{role} could be column {' or '.join(found)}", role, found)
        if found:
            roles[role] = (found[0],)
            if found[0] != role:
                notices.append(Notice("column-spelling", f"{role} is read from column {found[0]}."))
            continue
        _refuse_doubtful(role, roles, mapping, free, file)
    status = [n for n in free if n.strip().lower() in STATUS]
    if "status" not in mapping and status:
        roles["status"] = tuple(status)
    for role in ("problem", "outcome"):
        if role not in roles:
            raise RepevalError(
                "missing-column",
                f"{file}: there is no {role} column. Columns: {_list(names)}. "
                f"Name it: --columns {role}=COLUMN.",
            )
    return roles, notices


def _refuse_doubtful(role, roles, mapping, free, file) -> None:
    taken = {c for parts in roles.values() for c in parts}
    maybe = [n for n in free if n.strip().lower() in DOUBTFUL.get(role, ()) and n not in taken]
    if not maybe:
        return
    ways = [(role, n) for n in maybe]
    no_run = "run" not in mapping and not any(
        n.strip().lower() in ("run", *SPELLINGS["run"]) for n in free
    )
    if role == "problem" and no_run:
        ways += [("run", n) for n in maybe if n.strip().lower() in DOUBTFUL["run"]]
    none = f", or --columns {role}= if none does" if role in ("model", "run") else ""
    what = f"no column is surely the {role}; {_list(maybe)} could be"
    raise RepevalError(
        "doubtful-column",
        f"{file}: {what}. Type {' or '.join(f'--columns {r}={n}' for r, n in ways)}{none}.",
    )


def _doubt(file: str, what: str, role: str, names: Sequence[str]) -> RepevalError:
    ways = " or ".join(f"--columns {role}={n}" for n in names)
    return RepevalError("doubtful-column", f"{file}: {what}. Type {ways}.")


def _bad(what: str) -> RepevalError:
    return RepevalError(
        "bad-columns",
        f"--columns: {what}. Write ROLE=COLUMN with ROLE one of {', '.join(ROLES)}, status; "
        "ROLE=A+B joins two columns.",
    )


def _list(names: Sequence[str], n: int = 20) -> str:
    more = f" and {len(names) - n} more" if len(names) > n else ""
    return (", ".join(names[:n]) or "none") + more
