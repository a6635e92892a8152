"""Golden results: what a change of structure must leave equal, and every number that is published.

    python -m tests.golden record DIRECTORY [--book] [SHARED]
    python -m tests.golden compare BEFORE AFTER
    python -m tests.golden compare tests/golden.json AFTER
    python -m tests.golden sums DIRECTORY > tests/golden.json

`record` writes one JSON file a result into DIRECTORY: answers on the default data, the claims, the
public surface, the page of messages, with `--book` what the built book exports (the text of every
page, the rows of every table and of what every figure draws), and with a folder of reference data
(`realdata`, `formats`) the answers on each of its files. `compare` lists every value that moved, by
page and place; keys and lines that only AFTER has do not count.

`golden.json` has of the last version a sum for each result, with figures to nine digits, and the
numbers themselves: of the answer, of the claims, and of every line of every page and table of the
book, by the words that the line begins with. So a number that moved since is named, old and new,
without the old version. What figures draw has sums only: build both versions to see which point.
"""

from __future__ import annotations

import contextlib
import csv
import difflib
import hashlib
import inspect
import io
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).with_name("golden.json")
NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
#: Words of a line that say which line it is.
LABEL = 32
SCREENS = {"screen": [], "screen-all": ["--all", "--components"], "markdown": ["--markdown"]}
#: Options that a file of the reference data needs.
OPTIONS = {
    "mcq_gpt4o_t0_7tasks_r5": ["--columns", "problem=task+problem", "--by", "task"],
    "swebench_verified_6x500x10": [
        "--baseline", "Qwen_Qwen3-32B", "--candidate", "Qwen_Qwen3-32B-temp0",
    ],
    "inspect_0.3.125_two_scorers_epochs3": ["--scorer", "exact"],
    "lm_eval_0.4.13_repeats3": ["--scorer", "exact_match/first"],
    "evalplus_0.3.1_eval_results_n3": ["--scorer", "plus"],
}  # fmt: skip


def run(*argv: str) -> dict[str, Any]:
    """Run a command in this process; return its exit code and output, JSON read."""
    from repeval.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
    text = out.getvalue()
    with contextlib.suppress(ValueError):
        text = json.loads(text)
    return {"code": code, "out": text, "err": err.getvalue()}


def results(shared: Path | None, book: bool) -> Iterator[tuple[str, Any]]:
    """Yield every result with its name."""
    import repeval
    from repeval.companion.book.stage import messages_page

    public = {name: getattr(repeval, name) for name in dir(repeval)}
    yield "surface", {n: str(inspect.signature(v)) for n, v in public.items() if callable(v)}
    yield "messages", messages_page().split("\n\n")
    yield "analyze", run("analyze", "--json", "-")
    for name, options in SCREENS.items():
        yield name, run("analyze", *options)
    found = run("claims", "--json", "-")["out"]
    yield "claims", {key: found[key] for key in ("data", "counts", "claims")}
    for folder in ("realdata", "formats") if shared else ():
        for path in sorted((shared / folder).iterdir()):
            if path.stem != "README":
                name = path.name.split(".csv")[0].removesuffix(".json")
                options = OPTIONS.get(name, [])
                yield f"{folder}-{name}", run("analyze", "--json", "-", str(path), *options)
                yield f"{folder}-{name}-screen", run("analyze", "--all", str(path), *options)
    if book:
        yield "build", run("build")["code"]
        site = Path("_build/paper/html")
        for path in sorted([*site.parent.glob("*.json"), *site.parent.glob("*.md"), *files(site)]):
            yield "book-" + "-".join(path.relative_to(site.parent).parts), content(path)


def files(site: Path) -> Iterator[Path]:
    """Yield the tables and pages of a built book."""
    for path in site.rglob("*"):
        own = not {"_static", "_sources", "_modules"} & {*path.parts}
        if own and path.suffix in (".csv", ".html"):
            yield path


def content(path: Path) -> Any:
    """Read a file: JSON, the rows of a table, the text of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix == ".csv":
        return list(csv.reader(io.StringIO(text)))
    if path.suffix == ".html":
        article = re.search(r"<article.*?</article>", text, re.DOTALL)
        tags = re.compile(r"<(style|script|svg).*?</\1>|<[^>]*>", re.DOTALL)
        text = tags.sub("", article[0] if article else "")
    return [line.strip() for line in text.splitlines() if line.strip()]


def moved(before: Any, after: Any, where: str = "") -> Iterator[str]:
    """Yield a line for every value that is not as it was; what is new does not count."""
    before, after = placeless(before), placeless(after)
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            place = f"{where}: {key}" if where else key
            if key not in after:
                yield f"{place}: gone"
            else:
                yield from moved(value, after[key], place)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after) or all(isinstance(x, str) for x in before):
            yield from moved_lines([*map(str, before)], [*map(str, after)], where)
            return
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            yield from moved(a, b, f"{where}[{i}]")
    elif not alike(before, after):
        yield f"{where}: {change(str(before), str(after))}"


def moved_lines(before: list[str], after: list[str], where: str) -> Iterator[str]:
    """Yield the lines that are gone or have another text, each beside what replaced it."""
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for kind, i, i_end, j, j_end in blocks:
        if kind in ("replace", "delete"):
            for line, old in enumerate(before[i:i_end]):
                if line < j_end - j:
                    if not alike(old, after[j + line]):
                        yield f"{where}[{i + line}]: {change(old, after[j + line])}"
                else:
                    yield f"{where}[{i + line}]: {old[:120]!r}: gone"


def change(before: str, after: str) -> str:
    """Say how two texts differ: by which numbers, or in words."""
    if NUMBER.sub("#", before) == NUMBER.sub("#", after):
        pairs = zip(NUMBER.findall(before), NUMBER.findall(after), strict=True)
        told = ", ".join(f"{a} -> {b}" for a, b in pairs if a != b)
        words = "" if NUMBER.fullmatch(before) else f"  in {before[:120]!r}"
        return told + words
    return f"{before[:200]!r} -> {after[:200]!r}"


def alike(before: Any, after: Any) -> bool:
    """Whether two values are the same but for the order in which sums were taken.

    Of nine digits the last may then be another, which is at most a hundred-millionth.
    """
    if before == after:
        return True
    try:
        return math.isclose(float(before), float(after), rel_tol=1.01e-8, abs_tol=1e-12)
    except (TypeError, ValueError):
        return False


def numbers(name: str, value: Any) -> dict[str, Any] | None:
    """Return the numbers of a result by where they stand; None for results that are no numbers."""
    if name == "analyze":
        return of_answer(value["out"])
    if name == "claims":
        return {row["id"]: rounded(row["computed"]) for row in value["claims"]}
    figures = name.startswith("book-html-figures-") or name == "book-analysis.json"
    if figures or not name.startswith("book-"):
        return None
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    label = "numbers"
    for line in value:
        text = " ".join(line) if isinstance(line, list) else line
        words = re.sub(r"[\W\d_]+", " ", NUMBER.sub("", text)).strip()
        # A cell of a table on a page is a line: numbers belong to the words before them.
        label = words[:LABEL].strip() or label
        if told := NUMBER.findall(text):
            seen[label] += 1
            found[f"{label} ({n})" if (n := seen[label]) > 1 else label] = " ".join(told)
    return found


def of_answer(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of an answer: a row for each system, neighbouring pair and rank."""
    found = {"summary": only_numbers(answer["summary"])}
    for kind in ("systems", "pairs", "condition_pairs", "ranks"):
        for row in answer[kind]:
            if row.get("adjacent", True):
                keys = ("condition", "condition_a", "condition_b", "model", "model_a", "model_b")
                label = ", ".join(str(row[key]) for key in keys if key in row)
                found[f"{kind}: {label}"] = only_numbers(row)
    return found


def only_numbers(value: Any) -> Any:
    """Return what is left of a value without texts, to nine digits."""
    if isinstance(value, dict):
        kept = {key: only_numbers(v) for key, v in value.items()}
        return {key: v for key, v in kept.items() if v not in (None, {}, [])}
    if isinstance(value, list):
        return [only_numbers(v) for v in value if not isinstance(v, str)]
    return None if isinstance(value, str) else rounded(value)


def placeless(value: Any) -> Any:
    """Return a text, or the lines of a page, without where in the package a name is found."""
    if isinstance(value, list):
        return [v for v in value if not (isinstance(v, str) and v.startswith(("from ", "import ")))]
    return re.sub(r"\brepeval\.(?:\w+\.)*", "", value) if isinstance(value, str) else value


def rounded(value: Any, digits: int = 9) -> Any:
    """Return a result with its figures rounded: sums in another order differ in the last digits."""
    if isinstance(value, dict):
        return {key: rounded(v, digits) for key, v in value.items()}
    if isinstance(value, list):
        return [rounded(v, digits) for v in value]
    if isinstance(value, str) and re.fullmatch(r"-?\d+\.\d{9,}(e-\d+)?", value):
        value = float(value)
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def total(value: Any) -> str:
    """Return the sum of a result."""
    return hashlib.sha256(json.dumps(rounded(value), sort_keys=True).encode()).hexdigest()[:16]


def main(argv: list[str]) -> int:
    """Record, compare or add up."""
    command, first, *rest = argv
    folder = Path(first)
    if command == "record":
        folder.mkdir(parents=True, exist_ok=True)
        paths = [Path(p) for p in rest if p != "--book"]
        for name, value in results(paths[0] if paths else None, "--book" in rest):
            (folder / f"{name}.json").write_text(json.dumps(value, indent=1), encoding="utf-8")
        return 0
    if command == "sums":
        print(dumped(golden(recorded(folder))))
        return 0
    after = recorded(Path(rest[0]))
    lines = list(moved(recorded(folder), after) if folder.is_dir() else since(folder, after))
    print("\n".join(lines) or "no value moved")
    return bool(lines)


def since(file: Path, found: dict[str, Any]) -> Iterator[str]:
    """Yield what moved since `golden.json` was written, of the results that are recorded now."""
    told, now = json.loads(file.read_text(encoding="utf-8")), golden(found)
    for name, before in told["sums"].items():
        if now["sums"].get(name, before) != before:
            old, new = (x["numbers"].get(name, {}) for x in (told, now))
            lines = list(moved({name: old}, {name: new}))
            yield from lines or [f"{name}: another sum; no number moved that is kept here"]


def recorded(folder: Path) -> dict[str, Any]:
    """Read what `record` wrote."""
    return {p.stem: json.loads(p.read_text(encoding="utf-8")) for p in folder.glob("*.json")}


def golden(found: dict[str, Any]) -> dict[str, Any]:
    """Return what `golden.json` keeps: sums, and numbers by result and place."""
    own = sorted(n for n in found if not n.startswith(("realdata-", "formats-")))
    return {
        "sums": {name: total(found[name]) for name in own},
        "numbers": {n: told for n in own if (told := numbers(n, found[n])) is not None},
    }


def dumped(found: dict[str, Any]) -> str:
    """Return it as JSON with a line for each place, so that a difference of versions is read."""
    parts = [f' "sums": {json.dumps(found["sums"], indent=1)}']
    for name, told in found["numbers"].items():
        rows = (f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in told.items())
        parts.append(f" {json.dumps(name)}: {{\n" + ",\n".join(rows) + "\n }")
    return "{\n" + parts[0] + ',\n "numbers": {\n' + ",\n".join(parts[1:]) + "\n }\n}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
