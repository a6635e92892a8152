"""Golden results: what a change of structure must leave equal.

    python -m tests.golden record DIRECTORY [--book] [SHARED]
    python -m tests.golden compare BEFORE AFTER
    python -m tests.golden sums DIRECTORY

`record` writes one JSON file a result into DIRECTORY: answers on the default data, the claims, the
public surface, the page of messages, with `--book` what the built book exports, and with a folder
of reference data (`realdata`, `formats`) the answers on each of its files. `compare` lists every
value that moved; keys that only AFTER has do not count. `sums` prints a sum for each result, with
figures to nine digits: `golden.json` holds those of the last version.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import inspect
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SUMS = Path(__file__).with_name("golden.json")
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
            if key not in after:
                yield f"{where}.{key}: gone"
            else:
                yield from moved(value, after[key], f"{where}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            yield from moved(a, b, f"{where}[{i}]")
    elif rounded(before, 12) != rounded(after, 12):
        yield f"{where}: {str(before)[:300]!r} -> {str(after)[:300]!r}"


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
    before, *after = (
        {p.stem: json.loads(p.read_text(encoding="utf-8")) for p in place.glob("*.json")}
        for place in (folder, *map(Path, rest))
    )
    if command == "sums":
        own = sorted(n for n in before if not n.startswith(("realdata-", "formats-")))
        print(json.dumps({name: total(before[name]) for name in own}, indent=1))
        return 0
    lines = list(moved(before, after[0]))
    print("\n".join(lines) or f"{len(before)} results are equal.")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
