"""Hold the pages' cells to the rules of the code: `python -m tests.notebooks.cells`.

Lines are shorter than elsewhere, so that none is cut off on a page. With `--fix` the cells are
formatted; names of pages behind it choose some.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "notebooks"
SCRATCH = ROOT / "_build" / ".cache" / "cells"
CELL = re.compile(
    r"(?P<head>^```\{code-cell\}.*\n(?::\w+:.*\n)*)(?P<code>(?:.*\n)*?)(?=^```$)", re.MULTILINE
)
LONGEST = 80
# Cells import where they need, end on a value, are no modules, and read like the mathematics.
IGNORED = "D,E402,B018,E731,INP,B905,RUF007"


def main(fix: bool, names: list[str]) -> int:
    """Check pages, each as one file, and the form of each cell; return 1 where one fails."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    paths = [path for path in sorted(HOME.glob("*.md")) if not names or path.stem in names]
    pages = {path.stem: path.read_text(encoding="utf-8") for path in paths}
    for page, text in pages.items():
        (SCRATCH / page).mkdir(parents=True)
        cells = [found["code"] for found in CELL.finditer(text)]
        whole = "\n".join(f"# cell {i}\n{code}" for i, code in enumerate(cells))
        (SCRATCH / f"{page}.py").write_text(whole, encoding="utf-8")
        for i, code in enumerate(cells):
            (SCRATCH / page / f"{i:02}.py").write_text(code, encoding="utf-8")
    files = [str(SCRATCH / f"{page}.py") for page in pages]
    folders = [str(SCRATCH / page) for page in pages]
    config = ["--config", str(ROOT / "pyproject.toml"), "--no-cache"]
    length = ["--config", f"line-length={LONGEST}"]
    wrong = ruff(
        "check", *config, "--config", "line-length=120", "--extend-ignore", IGNORED, *files
    )
    if fix:
        ruff("check", *config, "--quiet", "--select", "I", "--fix", *folders)
    wrong |= ruff("format", *config, *length, *([] if fix else ["--diff"]), *folders)
    if fix:
        for page, text in pages.items():
            parts = iter(sorted((SCRATCH / page).glob("*.py")))
            formatted = CELL.sub(lambda m, p=parts: m["head"] + next(p).read_text("utf-8"), text)
            (HOME / f"{page}.md").write_text(formatted, encoding="utf-8")
    return wrong


def ruff(*arguments: str) -> int:
    """Run ruff; return whether it found something."""
    return int(
        subprocess.run([sys.executable, "-m", "ruff", *arguments], check=False).returncode > 0
    )


if __name__ == "__main__":
    sys.exit(main("--fix" in sys.argv, [a for a in sys.argv[1:] if a != "--fix"]))
