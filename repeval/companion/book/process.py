"""What the processes of a build have in common."""

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path

import repeval

# The date in built files where the caller gives none.
EPOCH = "1767225600"


class BuildFailed(Exception):
    """A build that stopped: nothing was published and an older book is as it was.

    The text says which page or step failed and where its files are. The command prints it and
    exits 1.
    """


@contextmanager
def stoppable():
    """Turn what stops a program into one KeyboardInterrupt; yield a function that refuses it.

    Nothing cuts the tidying short that follows. Only the main thread hears signals; one that the
    program ignores stays ignored.
    """
    main = threading.current_thread() is threading.main_thread()
    names = [n for n in ("SIGINT", "SIGTERM", "SIGHUP") if main and hasattr(signal, n)]
    before = {n: signal.getsignal(n) for n in (getattr(signal, name) for name in names)}
    before = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}

    def refuse() -> None:
        for number in before:
            signal.signal(number, signal.SIG_IGN)

    def stop(*_) -> None:
        refuse()
        raise KeyboardInterrupt

    try:
        for number in before:
            signal.signal(number, stop)
        yield refuse
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def python(code: str, *arguments: str, cwd: Path, stop=None, **environment) -> tuple[int, str]:
    """Run code in a process of its own; return its status, and what it printed without colours.

    The environment is this process's, with what makes output repeatable, and `environment`. The
    process is out of reach of a terminal's Ctrl-C: when this thread is interrupted, or the event
    `stop` is set, it is told to end, and in the end made to.
    """
    fixed = {
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", EPOCH),
        "PYTHONHASHSEED": "0",
    }
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env={**os.environ, **fixed, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        while not (stop and stop.is_set()):
            with suppress(subprocess.TimeoutExpired):
                printed, _ = process.communicate(timeout=0.2)
                return process.returncode, plain(printed)
        raise KeyboardInterrupt
    except BaseException:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=15)  # until a kernel, which holds the pipe too, is gone
        process.kill()
        raise


def python_path() -> str:
    """Return a ``PYTHONPATH`` on which a process finds the `repeval` that runs, before others."""
    paths = [str(Path(repeval.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    return os.pathsep.join(filter(None, paths))


def write(path: Path, text: str) -> None:
    """Write text by rename, so that no reader meets half a file, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def plain(text: str) -> str:
    """Return text without a terminal's colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
