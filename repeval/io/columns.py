"""Which column plays which role: spellings known, explicit mapping, doubts refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from repeval.messages import Notice, RepevalError, refused, some

__all__ = [
    "COUNTED", "JUDGES", "METRICS", "ROLES", "RUNS", "STATUS", "SYSTEMS", "TIMES", "Columns",
    "Unclear", "name_fits", "parse_columns", "plain", "resolve",
]  # fmt: skip

ROLES = ("model", "condition", "problem", "run", "outcome")
STATUS = ("status", "error")

#: Other spellings of a role that are taken without asking, as `plain` writes them.
SPELLINGS = {
    "model": (),
    "condition": ("prompt", "prompttype"),
    "problem": ("item", "itemid", "questionid", "problemid", "instanceid", "docid"),
    "run": ("epoch", "trial", "drawid", "trialindex", "attempt"),
    "outcome": ("score", "verdict", "correct", "accepted", "acceptedbool", "passed", "resolved",
                "reward", "passfail"),
}  # fmt: skip

#: Taken without asking where no column has one of the spellings above.
FURTHER = {"model": ("modelname", "modelid", "modelnameorpath"), "run": ("seed",)}

#: Names that could play a role or another one: never taken without asking.
DOUBTFUL = {
    "model": ("system", "agent", "llm"),
    "condition": (),
    "problem": ("taskid", "sample", "sampleid", "id", "question", "exampleid", "task", "input",
                "inputs"),
    "run": ("sample", "runid"),
    "outcome": ("result", "label", "pass", "success", "iscorrect", "acc", "accuracy", "grade",
                "rating", "solved", "scores", "correctness"),
}  # fmt: skip

#: Names of what tells systems, runs or judges apart, and of times: no part of a problem's key.
SYSTEMS = re.compile(
    "(language)?model(s?|name|id|nameorpath|version|type|size|family|key)|.*agent(name|id|type)?|"
    "policy|temp(erature)?|top[kp]|(system)?prompt(type|id|name|version|template|style)?|system|"
    "llm|scaffold|provider|engine|checkpoint|(reasoning)?effort|variant|config(uration)?|setting|"
    "condition|experiment(name|id)?|harness"
)
RUNS = re.compile(
    "(run|epoch|episode|trial|draw|attempt|seed|repetition|repeat|rep|iteration|try|retry|trace|"
    "span|session|request|thread)"
    "(id|index|number|no|name|s)?"
)
JUDGES = re.compile("(judge|rater|grader|annotator|reviewer|evaluator|labell?er)(id|name|model)?")
TIMES = re.compile(".*(time(stamp)?|tstamp|date|created(at)?|uuid)|id")

#: Names of columns that say what was scored: each is an outcome of its own.
METRICS = re.compile(
    "(metric|score|scorer|evaluator|criterion|dimension)(name|id|key)|metric|scorer"
)

#: Typed as the column of runs: rows of a problem are numbered as they stand.
COUNTED = "#"

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


class Unclear(RepevalError):
    """Roles whose columns are not clear.

    `maybe` has the columns that each could be, none where no name fits; others are `taken`.
    """

    def __init__(
        self, file: str, names: Sequence[str], maybe: dict[str, list[str]], taken: Iterable[str]
    ) -> None:
        self.maybe, self.taken = maybe, set(taken)
        self.what = f"{file}: {'; '.join(_unclear(maybe))}."
        code = "doubtful-column" if all(maybe.values()) else "missing-column"
        if code == "missing-column":
            self.what += f" Columns: {some(names, 20)}."
        ways = [
            " or ".join(f"--columns {role}={name}" for name in found or ["COLUMN"])
            + f", or --columns {role}= if none does" * (role in ("model", "run"))
            for role, found in maybe.items()
        ]
        if maybe.get("outcome") == [] and "response" in map(plain, names):
            ways.append("for multiple-choice responses: repeval convert --choices")
        super().__init__(code, f"{self.what} Type {'; '.join(ways)}.")


def _unclear(maybe: Mapping[str, list[str]]) -> Iterable[str]:
    for role, found in maybe.items():
        if not found:
            yield f"there is no {role} column"
        elif len(found) > 1 and all(name_fits(role, name) for name in found):
            yield f"{role} could be column {' or '.join(found)}"
        else:
            yield f"no column is surely the {role}; {some(found, 20)} could be"


def plain(name: str) -> str:
    """Return a column's name without case, spaces, dashes and other marks: InstanceID, Trial #."""
    return re.sub(r"[\W_]+", "", name.casefold())


def name_fits(role: str, name: str) -> bool:
    """Tell whether a name is a spelling of a role that is taken without asking."""
    return plain(name) in (role, *SPELLINGS[role], *FURTHER.get(role, ()))


def resolve(
    names: Sequence[str], mapping: Mapping[str, str], file: str, notices: list[Notice]
) -> dict[str, tuple[str, ...]]:
    """Find the columns of every role; several are a composite key, those of status tell errors.

    Roles without a column are absent. Spellings that were recognised are added to `notices`.

    Raises
    ------
    Unclear
        With all the roles that no column, or more than one, can be taken for.
    """
    roles = {role: _named(role, mapping[role], names, file) for role in mapping if mapping[role]}
    used = {column for parts in roles.values() for column in parts}
    free = {name: plain(name) for name in names if name not in used}
    # Five columns in canonical order: what follows are labels, whatever they are called.
    canonical = tuple(names[: len(ROLES)]) == ROLES
    unclear: dict[str, list[str]] = {}
    for role in (role for role in ROLES if role not in mapping):
        if canonical:
            found = [role] if role in free else []
        else:
            known = (role, *SPELLINGS[role])
            found = [name for name, text in free.items() if text in known]
            if role == "outcome" and not found:
                # An outcome column may say itself, by a value that is none, which runs are errors.
                found = [name for name in roles.get("status", ()) if plain(name) in known]
            further = FURTHER.get(role, ())
            found = found or [name for name, text in free.items() if text in further]
        maybe = [name for name, text in free.items() if text in DOUBTFUL[role]]
        if len(found) > 1 or (maybe and not found):
            unclear[role] = found or maybe
        elif found:
            roles[role] = (found[0],)
            if found[0] != role:
                notices.append(Notice("column-spelling", f"{role} is read from column {found[0]}."))
        elif role in ("problem", "outcome"):
            unclear[role] = []
    if unclear:
        taken = (column for parts in roles.values() for column in parts)
        raise Unclear(file, names, unclear, taken)
    status = tuple(name for name in free if name.strip().lower() in STATUS)
    if status and "status" not in mapping:
        roles["status"] = status
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
