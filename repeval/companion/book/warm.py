"""Starts the process that forks pages, asks it for each, and waits for them: see `forks`."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from repeval.companion.book.process import clean, plain, python

COMMAND = "import sys; from repeval.companion.book.forks import serve; serve(sys.argv[1])"
COLD = (
    "import sys, pathlib; from repeval.companion.book.execute import execute_here; "
    "execute_here(pathlib.Path(sys.argv[1]))"
)
#: Of pyarrow's, which pandas imports: a fork of a process with threads may hang.
NO_THREADS = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
#: Elsewhere libraries of the system do not bear it.
FORKS = sys.platform == "linux"


class Warm:
    """Executes the page of a folder when called, as `process.python` runs code; closed at the end.

    Where nothing can be forked, each page gets a new process.
    """

    def __init__(self, parameters: Mapping, root: Path, environment: Mapping[str, str]) -> None:
        self.cold = partial(python, COLD, cwd=root, **environment)
        self.command = [sys.executable, "-P", "-c", COMMAND, json.dumps(parameters)]
        self.root, self.environment = root, {**clean(os.environ), **environment, **NO_THREADS}
        self.lock, self.asks = threading.Lock(), None

    def __enter__(self) -> Warm:
        return self

    def __exit__(self, *_) -> None:
        if self.asks:
            self.asks.close()  # it ends, once its pages have
            self.process.wait()

    def start(self) -> None:
        """Start the process that forks, once."""
        with self.lock:
            if self.asks:
                return
            asks, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with asked, (self.root.parent / "warm.txt").open("w") as log:
                self.process = subprocess.Popen(
                    self.command, cwd=self.root, env=self.environment, stdin=asked,
                    stdout=log, stderr=log, start_new_session=True,
                )  # fmt: skip
            self.asks = asks

    def __call__(self, work: str, stop: threading.Event) -> tuple[int, str]:
        """Execute the page of a folder; return its process's status, and what it printed."""
        if not FORKS:
            return self.cold(work, stop=stop)
        self.start()
        ours, theirs = socket.socketpair()
        with ours:
            with theirs, contextlib.suppress(OSError):
                socket.send_fds(self.asks, [work.encode()], [theirs.fileno()])
            status = ended(ours, stop)
        printed = Path(work, "printed.txt")
        if not printed.exists():  # the process that forks had ended
            return self.cold(work, stop=stop)
        return status, plain(printed.read_text(encoding="utf-8", errors="replace"))


def ended(page: socket.socket, stop: threading.Event) -> int:
    """Wait until a page has ended, and return its status; where `stop` is set, it is told to."""
    while not stop.is_set():
        if select.select([page], [], [], 0.2)[0]:
            return int(page.recv(16) or 1)
    page.shutdown(socket.SHUT_WR)
    select.select([page], [], [], 15)
    raise KeyboardInterrupt
