"""Systems to compare, as people name them: models of the data, or a path for each."""

from __future__ import annotations

import filecmp
import itertools
from collections.abc import Sequence
from pathlib import Path

from repeval.messages import RepevalError, refused

#: Endings by which a name that is no model's is told to be a file's.
TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx", ".gz", ".eval")


def sorted_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the systems among words, the baseline first, and the data.

    Paths are data; where all words are paths, or the baseline is the only one, they are systems. A
    folder alone beside a baseline that is a path holds the candidates: all models in it.
    """
    if len(words) == 2 and _is_path(words[0]) and "=" not in words[1] and Path(words[1]).is_dir():
        names, data = systems(words[:1], [])
        return names, [*data, words[1]]
    paths = [w for w in words[1:] if _is_path(w)]
    names = [words[0], *(w for w in words[1:] if w not in paths)]
    if _is_path(words[0]) and (len(names) == 1 or not paths):
        return list(words), []
    return names, paths


def systems(given: Sequence[str], data: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of systems, and the data that hold them: DATA, or a path for each.

    Parameters
    ----------
    given : sequence of str
        Names of models, or paths of one model each, NAME=PATH too.
    data : sequence of str
        Where given, all names are those of models.

    Raises
    ------
    RepevalError
        For paths that do not exist, are the same file, or give two systems one name.
    """
    if data or not any(map(_is_path, given)):
        return list(given), list(data)
    files = [Path(g.partition("=")[2] or g) for g in given]
    for file in files:
        if not file.exists():
            raise refused("file-not-found", f"{file}: there is no such file or directory.")
    names = [g.partition("=")[0] if "=" in g else Path(g).name.partition(".")[0] for g in given]
    for a, b in itertools.combinations(range(len(given)), 2):
        both = f"{given[a]} and {given[b]}"
        if all(files[i].is_file() for i in (a, b)) and filecmp.cmp(files[a], files[b], False):
            what = f"{both} are the same file; name the candidate's own."
            raise RepevalError("bad-option", what)
        if names[a] == names[b]:
            what = f"{both} have one name; type NAME=PATH with two names."
            raise RepevalError("bad-option", what)
    return names, [f"{name}={file}" for name, file in zip(names, files, strict=True)]


def _is_path(word: str) -> bool:
    file = Path(word.partition("=")[2] or word)
    return file.exists() or file.suffix in TABLES
