"""Run Jupyter Book on a stage whose notebooks are executed, with warnings as errors."""

import os
import shutil
import subprocess
from pathlib import Path

from repeval.companion.book.process import BuildFailed, python, python_path

# `python -m jupyter_book.cli.main` does nothing and ends well.
COMMAND = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
CHATTER = ("Running Jupyter-Book", "Source Folder", "Config Path", "Output Path", "=====")


def build_site(root: Path) -> None:
    """Build ``root/_build/html``, or raise `BuildFailed` with what Sphinx printed."""
    arguments = ("build", str(root), "-W", "-n", "--keep-going", "-q")
    # The pages on the package are written from its docstrings.
    environment = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": python_path()}
    status, printed = python(COMMAND, *arguments, cwd=root, **environment)
    if status or not (root / "_build" / "html" / "index.html").exists():
        lines = printed.replace(str(root) + os.sep, "").split("\n")
        printed = "\n".join(li for li in lines if li.strip() and not li.startswith(CHATTER))
        raise BuildFailed(
            "Jupyter Book stopped (each warning is an error). It printed:\n"
            f"{printed[-8000:]}\n\nNothing was published."
        )


def find_chromium() -> str | None:
    """Path of a system Chromium or Chrome, None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


def build_pdf(root: Path, pages: list[str]) -> None:
    """Print each built page to ``root/pdf`` with the system's Chromium, or raise `BuildFailed`."""
    chromium = find_chromium()
    if chromium is None:
        raise BuildFailed("--pdf prints with Chromium, and none is installed.")
    (root / "pdf").mkdir()
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    command += [f"--user-data-dir={root / '.work' / 'chromium'}"]
    command += ["--virtual-time-budget=20000"]  # lets MathJax finish
    for page in pages:
        target = root / "pdf" / f"{page.split('/')[-1]}.pdf"
        address = (root / "_build" / "html" / f"{page}.html").as_uri()
        # Judged by its file: Chromium's status says little.
        subprocess.run(
            [*command, f"--print-to-pdf={target}", address], capture_output=True, timeout=180
        )
        if not target.exists():
            raise BuildFailed(f"{chromium} did not print {page}.")
