"""Run Jupyter Book on a stage whose notebooks are executed, with warnings as errors."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from repeval.companion.book.process import BuildFailed, own_home, python
from repeval.messages import refused

# `python -m jupyter_book.cli.main` does nothing and ends well.
COMMAND = "import sys; from jupyter_book.cli.main import main; sys.exit(main())"
#: Chromium asks nobody for anything: no host has an address.
OFFLINE = (
    "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run",
)  # fmt: skip
CHATTER = ("Running Jupyter-Book", "Source Folder", "Config Path", "Output Path", "=====")


def build_site(root: Path) -> None:
    """Build ``root/_build/html``, or raise `BuildFailed` with what Sphinx printed."""
    arguments = ("build", str(root), "-W", "-n", "--keep-going", "-q")
    status, printed = python(COMMAND, *arguments, cwd=root, **own_home(root.parent))
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
    """Print each built page to ``root/pdf`` with the system's Chromium, or raise `BuildFailed`.

    In its sandbox, but where Chromium has none: for the superuser, and on systems that forbid it.
    """
    chromium = find_chromium()
    if chromium is None:
        raise refused("needs-chromium", "--pdf prints with Chromium.")
    (root / "pdf").mkdir()
    command = [chromium, "--headless", "--disable-gpu", "--no-pdf-header-footer", *OFFLINE]
    command += [f"--user-data-dir={root.parent / 'chromium'}"]
    command += ["--virtual-time-budget=20000"]  # lets MathJax finish
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")
    for page in pages:
        target = root / "pdf" / f"{page.split('/')[-1]}.pdf"
        address = (root / "_build" / "html" / f"{page}.html").as_uri()
        if not printed(command, target, address) and "--no-sandbox" not in command:
            print("Chromium cannot use its sandbox here: it prints without.", file=sys.stderr)
            command.append("--no-sandbox")
            printed(command, target, address)
        if not target.exists():
            raise BuildFailed(f"{chromium} did not print {page}.")


def printed(command: list[str], target: Path, address: str) -> bool:
    """Print a page; tell by its file whether that was done: Chromium's status says little."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [*command, f"--print-to-pdf={target}", address], capture_output=True, timeout=180
        )
    return target.exists()
