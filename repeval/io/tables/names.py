"""Several table files of one shape: models, conditions and runs that only their names tell."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from repeval.io.columns import resolve
from repeval.io.files import Table
from repeval.messages import Notice, RepevalError, refused, some

__all__ = ["RUN_WORD", "Read", "named"]

#: What people call a run, in the names of files and of columns.
RUN_WORD = (
    r"(?:runs?|trials?|seeds?|reps?|repeats?|repetitions?|attempts?|epochs?|iter(?:ation)?s?"
    r"|samples?|draws?|rounds?|tries|try)"
)
ENDS_WITH_RUN = re.compile(
    rf"^(?:(?P<before>.+?)(?P<sep>[ _.\-/]+))?(?P<word>{RUN_WORD})(?P<gap>[ _.\-#=]?)\d+"
    r"(?P<after>(?:[ _.\-][^/\d]*)?)$", re.I,
)  # fmt: skip
ENDS_WITH_NUMBER = re.compile(r"(.*?)((?:[ _.\-]+(?:[a-z]+[ _.\-#]*)?)?)\d+([^\d/]*)", re.I)
STARTS_WITH_RUN = re.compile(rf"^(?P<word>{RUN_WORD}[ _.\-#=]?)\d+/[^/]+$", re.I)
FIELDS = ("model", "condition", "run")


class Read(NamedTuple):
    """A table, and which columns play which role in it; `counts` are those of a counts table."""

    table: Table
    mapping: Mapping[str, str]
    counts: tuple[str, ...] = ()


def named(
    reads: Sequence[Read], paths: Sequence[Path], pattern: str | None, notices: list[Notice]
) -> list[Read]:
    """Give tables the model, condition and run that their files' names tell.

    Parameters
    ----------
    reads, paths
        The tables, in the same order as their files.
    pattern : str, optional
        Such as ``{model}_run{run}.csv``, held against the end of each path; ``*`` is any text.
        None: recognised where the names leave no doubt, and said.

    Raises
    ------
    RepevalError
        Names that do not fit `pattern`; names that differ in a number only, which could be that of
        a run or of a model: the message has the patterns that can be read.
    """
    if pattern is not None:
        return _applied(reads, paths, pattern, notices)
    free = [i for i, read in enumerate(reads) if not read.table.model]
    reads = list(reads)
    if len(free) > 1:
        some_reads, some_paths = [reads[i] for i in free], [paths[i] for i in free]
        for i, read in zip(free, _recognised(some_reads, some_paths, notices), strict=True):
            reads[i] = read
    return _numbered(reads, paths, notices)


def _recognised(
    reads: Sequence[Read], paths: Sequence[Path], notices: list[Notice]
) -> Sequence[Read]:
    """Read names by the pattern that all of them have, if they have one."""
    columns = [_roles(read) for read in reads]
    models = ["model" in roles for roles in columns]
    if any(models):
        parts = not all(models) or any("run" in roles for roles in columns)
        if parts or _distinct(reads):
            return reads
    pattern = _pattern(paths)
    if pattern and (not any(models) or "{model}" not in pattern):
        return _applied(reads, paths, pattern, notices)
    if pattern:  # The model column names the model; of the names only the run is news.
        return _applied(reads, paths, pattern.replace("{model}", "*"), notices)
    if not any(models):
        _refuse_numbers(reads, paths)
    return reads


def _numbered(reads: list[Read], paths: Sequence[Path], notices: list[Notice]) -> list[Read]:
    """Make runs of the tables that ``NAME=PATH`` gives one name, if they repeat problems."""
    by_model: dict[str, list[int]] = {}
    for i, read in enumerate(reads):
        if read.table.model and not {"run", "model"} & set(_roles(read)):
            by_model.setdefault(read.table.model, []).append(i)
    several = []
    for model, found in by_model.items():
        group = [reads[i] for i in found]
        if _distinct(group):
            continue
        pattern = _pattern([paths[i] for i in found]) or "{model}"
        fields = [_fields(paths[i], pattern) or {} for i in found]
        if "{run}" in pattern and len(models := {f.get("model") for f in fields}) > 1:
            what = f"by their names {pattern}, its files hold {some(sorted(map(str, models)))}"
            raise refused("several-models", f"{model}: {what}.")
        labels = [f.get("run") for f in fields]
        if None in labels or len(set(labels)) < len(found):
            if len({read.table.sha256 for read in group}) < len(group):
                what = f"Files of {model} are identical ({some([paths[i].name for i in found])})."
                raise RepevalError("duplicate-rows", f"{what} Give one of equal ones.")
            labels = [str(k) for k in range(1, len(found) + 1)]
        for i, label in zip(found, labels, strict=True):
            reads[i] = _with(reads[i], {"run": label})
        several.append(model)
    if several:
        text = f"Several files are runs of {some(several)}, numbered by name, else as given."
        notices.append(Notice("runs-numbered", text))
    return reads


def _applied(
    reads: Sequence[Read], paths: Sequence[Path], pattern: str, notices: list[Notice]
) -> list[Read]:
    """Give every table what `pattern` finds in the path of its file."""
    found = [_fields(path, pattern) for path in paths]
    if other := [path.name for path, fields in zip(paths, found, strict=True) if fields is None]:
        what = f"--names {pattern!r} does not fit {some(other)}."
        raise refused("names-unfit", what)
    if "{model}" not in pattern:
        found = [
            {"model": path.resolve().parent.name or "model", **fields}
            if not read.table.model and "model" not in _roles(read) else fields
            for read, path, fields in zip(reads, paths, found, strict=True)
        ]  # fmt: skip
    # A run column that tells all runs of a model apart needs no help from the names.
    named_only = [_with(read, {k: v for k, v in fields.items() if k != "run"})
                  for read, fields in zip(reads, found, strict=True)]  # fmt: skip
    if all("run" in _roles(read) for read in reads) and _distinct(named_only):
        new = named_only
    else:
        new = [_with(read, fields) for read, fields in zip(reads, found, strict=True)]
    told = [
        f"{len(values)} {field}{'s' * (len(values) > 1)} ({some(values)})" for field in FIELDS
        if (values := list(dict.fromkeys(f[field] for f in found if field in f)))
    ]  # fmt: skip
    files = f"{len(reads)} file{'s' * (len(reads) > 1)} by the pattern {pattern}"
    notices.append(Notice("names-read", f"{files}: {', '.join(told)}."))
    return new


def _with(read: Read, fields: Mapping[str, str]) -> Read:
    """Add to a table what the name of its file says; a run column inside stays part of the run."""
    table, mapping = read.table, dict(read.mapping)
    columns = dict(table.columns)
    for field, value in fields.items():
        if field == "model":
            table = replace(table, model=value)
            continue
        name = field if field not in columns else f"{field} of the file"
        columns[name] = np.full(len(table.rows), value, dtype=object)
        inside = _roles(read).get(field, ())
        mapping[field] = "+".join((name, *inside))
    return read._replace(table=replace(table, columns=columns), mapping=mapping)


def _fields(path: Path, pattern: str) -> dict[str, str] | None:
    """Return what stands for the fields of a pattern at the end of a path; None if it differs."""
    pieces = re.split(r"(\{[^{}]*\}|\*)", pattern)
    asked = [piece[1:-1] for piece in pieces if piece.startswith("{")]
    if not asked or set(asked) - set(FIELDS) or len(set(asked)) < len(asked):
        known = ", ".join(f"{{{field}}}" for field in FIELDS)
        what = f"--names {pattern!r}: it takes {known}, each once at most, and * for any text."
        raise RepevalError("bad-option", what)
    regex = "".join(
        f"(?P<{piece[1:-1]}>[^/]+)" if piece.startswith("{")
        else "[^/]*" if piece == "*" else re.escape(piece)
        for piece in pieces
    )  # fmt: skip
    found = re.search(rf"(?:^|/){regex}$", path.absolute().as_posix())
    return found.groupdict() if found else None


def _pattern(paths: Sequence[Path]) -> str | None:
    """Return the pattern that all names have, None where there is none beyond doubt."""
    stems, end = _stems(paths)
    fits = [ENDS_WITH_RUN.match(stem) for stem in stems]
    if all(fits):
        signs = {f.group("sep", "word", "gap", "after") for f in fits}
        folders, names = zip(*((f["before"] or "").rpartition("/")[::2] for f in fits), strict=True)
        if len(signs) == 1:
            ((sep, word, gap, after),) = signs
            run = f"{sep or ''}{word}{gap}{{run}}{after}{end}"
            if not any(folders):
                return "{model}" * all(names) + run if all(names) or not any(names) else None
            return f"{{model}}/{names[0]}{run}" if len(set(names)) == 1 else None
        return None
    starts = [STARTS_WITH_RUN.match(stem) for stem in stems]
    if all(starts) and len({s["word"] for s in starts}) == 1:
        return f"{starts[0]['word']}{{run}}/{{model}}{end}"
    if all(stem.count("/") == 1 for stem in stems):
        folders, names = zip(*(stem.split("/") for stem in stems), strict=True)
        if all(name.isdigit() for name in names):
            return f"{{model}}/{{run}}{end}"
        if len(set(names)) == 1 and not _differ_in_number(folders):
            return f"{{model}}/{names[0]}{end}"
    return None


def _stems(paths: Sequence[Path]) -> tuple[list[str], str]:
    """Return paths from their common directory on without the ending, and what to write for it."""
    full = [Path(os.path.abspath(path)) for path in paths]
    root = os.path.commonpath([path.parent for path in full])
    below = [path.relative_to(root).as_posix() for path in full]
    cut = [re.search(r"\.[a-z]+(\.gz)?$", name.lower()) for name in below]
    stems = [name[: c.start()] if c else name for name, c in zip(below, cut, strict=True)]
    ends = {name[len(stem) :] for name, stem in zip(below, stems, strict=True)}
    return stems, ends.pop() if len(ends) == 1 else ".*"


def _differ_in_number(stems: Sequence[str]) -> bool:
    """Tell whether two names differ in numbers only."""
    alike = [re.sub(r"\d+", "#", stem) for stem in stems]
    return len(set(alike)) < len(set(stems))


def _refuse_numbers(reads: Sequence[Read], paths: Sequence[Path]) -> None:
    """Refuse to make models of files whose names differ in a number only."""
    stems, end = _stems(paths)
    if not _differ_in_number(stems) or not all("problem" in _roles(read) for read in reads):
        return
    alike: dict[str, list[str]] = {}
    for stem in stems:
        alike.setdefault(re.sub(r"\d+", "#", stem), []).append(stem)
    names = next(group for group in alike.values() if len(group) > 1)
    ways = ["{model}" + end]
    fits = [ENDS_WITH_NUMBER.fullmatch(stem) for stem in stems]
    if all(fits) and len(signs := {fit.group(2, 3) for fit in fits}) == 1:
        ((before, after),) = signs
        # Repeated problems are runs; others are parts of one table.
        last = "*" if _distinct([_with(read, {"model": "m"}) for read in reads]) else "{run}"
        model = "{model}" if all(fit[1] for fit in fits) else ""
        ways.insert(0, f"{model}{before}{last}{after}{end}")
    tried = []
    for way in ways:
        try:
            new = _applied(reads, paths, way, [])
        except RepevalError:
            continue
        if _distinct(new):
            tried.append(f"--names '{way}'")
    what = f"The files {some([f'{name}{end}' for name in names])} differ in a number only: "
    what += "is it that of a run, or of a model?"
    way = f" Type {' or '.join(tried)}." if tried else ""
    raise RepevalError(
        "doubtful-names", f"{what}{way} NAME=PATH names the model of each file as well."
    )


def _roles(read: Read) -> dict[str, tuple[str, ...]]:
    """Return the roles of a table's columns, as far as they are found beyond doubt."""
    names, roles = list(read.table.columns), {}
    aside = {"problem": " ", "outcome": "  "}
    for role in ("model", "condition", "problem", "run"):
        # Asked one by one: a doubt about one role says nothing of the others.
        none = dict.fromkeys(["model", "condition", "run"], "")
        mapping = {**none, **aside}
        mapping.pop(role)
        if role in read.mapping:
            mapping[role] = read.mapping[role]
        try:
            found = resolve([*names, *aside.values()], mapping, read.table.name, [])
        except RepevalError:
            continue
        if role in found:
            roles[role] = found[role]
    return roles


def _distinct(reads: Sequence[Read]) -> bool:
    """Tell whether no model, condition, problem and run occurs in two tables."""
    seen: set[tuple] = set()
    for read in reads:
        roles = _roles(read)
        columns = [
            read.table.columns[column] for role in ("model", "condition", "problem", "run")
            if not (role == "model" and read.table.model) for column in roles.get(role, ())
        ]  # fmt: skip
        if "problem" not in roles:
            return False
        keys = {(read.table.model, *map(str, key)) for key in zip(*columns, strict=True)}
        if keys & seen:
            return False
        seen |= keys
    return True
