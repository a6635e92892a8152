"""The pages on logs: the worked example is what the commands print, and no reader is forgotten.

Write the example anew with `python -m tests.io.readers.test_pages`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

from repeval.cli import main
from repeval.io import readers
from repeval.messages import MESSAGES

from .asked import SEED
from .inspect_logs import log, write

BOOK = Path(__file__).resolve().parents[3] / "book"
PAGE = BOOK / "your-data.md"
BLOCK = re.compile(r"(?<=```console\n)\$ (.*?)\n.*?(?=```)", re.DOTALL)


def make_logs(folder: Path) -> None:
    """Write logs of made-up models: one errored, one stopped and tried again, one warmer."""
    rng = np.random.default_rng(SEED)
    hard, problems, epochs = rng.normal(0, 2, 120), 120, 3
    plan = {"model-a": 0.9, "model-b": 0.5, "model-c": 1.6, "model-d": 0.4}
    for day, (model, skill) in enumerate(plan.items(), 1):
        own = skill + hard + rng.normal(0, 0.8, problems)
        runs = rng.binomial(1, 1 / (1 + np.exp(-own[:, None])), (problems, epochs)).tolist()
        config = {"temperature": 1.0 if model == "model-b" else 0.7}
        options = {"model": model, "config": config, "created": f"2026-03-0{day}T09:00:00+00:00"}
        first = f"2026-03-0{day}-{model}"
        if model == "model-d":
            # The first try stopped early; the second ran all of it.
            tried = [row if i < 30 else [None] * epochs for i, row in enumerate(runs)]
            write(folder / f"{first}.eval", log(tried, **options, task_id="d", status="error"))
            first, options["created"] = f"2026-03-05-{model}", "2026-03-05T09:00:00+00:00"
            options["task_id"] = "d"
        errors = [(i, i % epochs) for i in range(0, 77, 7)] if model == "model-c" else []
        write(folder / f"{first}.eval", log(runs, **options, errors=errors))


def answers(page: str) -> str:
    """Return the page with the answer of every command that it shows."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            make_logs(Path("logs"))
            return BLOCK.sub(lambda block: f"$ {block[1]}\n{run(block[1])}", page)
        finally:
            os.chdir(here)


def run(command: str) -> str:
    name, *arguments = command.split()
    if name == "ls":
        return "".join(f"{path.name}\n" for path in sorted(Path(*arguments).iterdir()))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(arguments) == 0
    return printed.getvalue()


def test_the_worked_example_is_what_is_printed():
    page = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(page)) == 2
    assert page == answers(page)


def harness(name):
    """What people call it: the title of its reader without the word for a log."""
    return readers.reader(name).TITLE.rsplit(" ", 1)[0]


def test_every_harness_has_its_paragraph_and_nothing_else_has():
    page = (BOOK / "formats.md").read_text(encoding="utf-8")
    heads = re.findall(r"^### (.+): `(\w+)`$", page, re.MULTILINE)
    assert sorted(heads) == sorted((harness(name), name) for name in readers.READERS)


def test_the_readme_names_every_harness_and_no_other():
    text = (BOOK.parent / "README.md").read_text(encoding="utf-8")
    listed = re.search(r"^Logs of (.+?), or a table", text, re.MULTILINE | re.DOTALL)[1]
    assert sorted(re.split(r",\s|\sand\s", listed)) == sorted(map(harness, readers.READERS))


@pytest.mark.parametrize("page", ["formats", "your-data"])
def test_codes_and_options_on_the_pages_exist(page):
    text = (BOOK / f"{page}.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\[`([a-z-]+)`\]", text)) <= set(MESSAGES)


if __name__ == "__main__":
    PAGE.write_text(answers(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
