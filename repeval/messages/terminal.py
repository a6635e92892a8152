"""How messages reach a terminal, whatever is wrong with it."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from typing import Any

from repeval._version import __version__
from repeval.messages import RepevalError, clipped, printable, refused


def say(text: str) -> None:
    """Print one message to standard error; where even that is full or gone, nothing."""
    try:
        print(f"repeval: {printable(clipped(text))}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        discard(sys.stderr)


def say_why(text: str) -> None:
    """Say what is wrong, or that the working directory is gone, which is then the reason."""
    gone = deleted()
    say(f"{gone} [{gone.code}]" if gone else text)


def deleted() -> RepevalError | None:
    """Return the refusal of a working directory that was deleted; the system names no path then."""
    try:
        os.getcwd()
    except FileNotFoundError:
        where = os.environ.get("PWD", "")
        what = f"The working directory {where}".strip()
        return refused("deleted-folder", f"{what} was deleted.")
    return None


def fault(error: Exception) -> int:
    """Report what should not have happened, and where: it is no verdict and no bad input."""
    if os.environ.get("REPEVAL_TRACEBACK"):
        raise error
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "repeval" in f.filename]
    place = f"{os.path.basename(frames[-1].filename)}, line {frames[-1].lineno}" if frames else "?"
    versions = f"repeval {__version__}, Python {sys.version.partition(' ')[0]}"
    say(
        f"a fault of repeval: report it with the command and this line ({versions}; {place}; "
        f"{type(error).__name__}: {printable(clipped(error, 300))}). "
        "REPEVAL_TRACEBACK=1 shows the way to it."
    )
    return 3


def discard(stream: Any) -> None:
    """Leave nothing in the buffer that closing the output would fail on again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
