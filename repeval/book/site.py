"""Run Jupyter Book on a stage whose notebooks are executed, with warnings as errors."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from repeval.book.errors import BuildFailed
from repeval.book.process import child_environment, plain

__all__ = ["build_pdf", "build_site", "find_chromium"]

# `python -m jupyter_book.cli.main` does nothing and ends well.
COMMAND = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"

CHATTER = ("Running Jupyter-Book", "Source Folder", "Config Path", "Output Path", "=====")


def build_site(root: Path) -> None:
    """Build ``root/_build/html``.

    Raises
    ------
    BuildFailed
        Sphinx warned or failed; the message holds what it printed.
    """
    arguments = ["build", str(root), "-W", "-n", "--keep-going", "-q"]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        cwd=root,
        env=child_environment(PYTHONDONTWRITEBYTECODE="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    first = root / "_build" / "html" / "index.html"
    if done.returncode or not first.exists():
        lines = plain(done.stdout).replace(str(root) + os.sep, "").split("\n")
        printed = "\n".join(li for li in lines if li.strip() and not li.startswith(CHATTER))
        raise BuildFailed(
            "Jupyter Book stopped (each warning is an error). It printed:\n"
            f"{printed[-8000:]}\n\nNothing was published."
        )


def find_chromium() -> str | None:
    """Path of a system Chromium or Chrome, None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


def build_pdf(root: Path, pages: tuple[str, ...]) -> None:
    """Print each built page to ``root/pdf`` with the system's Chromium.

    Raises
    ------
    BuildFailed
        There is no Chromium, or it failed.
    """
    chromium = find_chromium()
    if chromium is None:
        raise BuildFailed("--pdf prints with Chromium, and none is installed.")
    for page in pages:
        target = root / "pdf" / f"{page.split('/')[-1]}.pdf"
        target.parent.mkdir(exist_ok=True)
        subprocess.run(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                f"--user-data-dir={root / '.work' / 'chromium'}",
                "--virtual-time-budget=20000",  # lets MathJax finish
                "--no-pdf-header-footer",
                f"--print-to-pdf={target}",
                (root / "_build" / "html" / f"{page}.html").as_uri(),
            ],
            capture_output=True,
            timeout=180,
            check=False,
        )
        if not target.exists():
            raise BuildFailed(f"{chromium} did not print {page}.")
