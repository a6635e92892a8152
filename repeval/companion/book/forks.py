"""A process that has imported what pages use, and forks for each page a process and a kernel."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import socket
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from repeval.companion.book.process import watch

#: What nearly every page imports, or what shows its results does.
MODULES = (
    "ipykernel.kernelapp", "jupytext", "matplotlib.pyplot", "myst_nb", "nbclient", "pandas",
    "papermill", "scipy.stats", "repeval.companion.book.execute",
)  # fmt: skip


def serve(parameters: str) -> None:
    """Import, open the book, and fork a process for every folder that standard input names."""
    # As a kernel has it before matplotlib is imported.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for module in MODULES:
        importlib.import_module(module)
    from repeval.companion.book import notebook

    notebook.keep_open(**json.loads(parameters))
    if len(os.listdir("/proc/self/task")) > 1:
        return
    gc.collect()
    gc.freeze()
    running: dict[Forked, socket.socket] = {}
    control = socket.socket(fileno=0)
    asked = [control]
    while asked or running:
        if select.select(asked, [], [], 0.02)[0]:
            work, pages, *_ = socket.recv_fds(control, 4096, 1)
            if work:
                page = socket.socket(fileno=pages[0])
                others = [control, *running.values()]
                running[Forked(partial(execute, Path(work.decode()), page, others))] = page
            else:
                asked = []
        for process in [p for p in running if p.poll() is not None]:
            with running.pop(process) as page, contextlib.suppress(OSError):
                page.sendall(str(process.returncode).encode())


def execute(work: Path, page: socket.socket, others: Iterable[socket.socket]) -> None:
    """Execute the page of a folder in this process, and its cells in one that is forked at once."""
    from jupyter_client import AsyncKernelManager
    from jupyter_client.provisioning import LocalProvisioner

    from repeval.companion.book.execute import execute_here

    for other in others:
        other.close()
    printed = os.open(work / "printed.txt", os.O_WRONLY | os.O_CREAT)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    reads, writes = os.pipe()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # Before there are threads and sockets.
    kernel = Forked(partial(become_kernel, reads, writes, page))
    os.close(reads)
    os.dup2(page.fileno(), 0)
    page.close()
    watch()

    class Provisioner(LocalProvisioner):
        async def launch_kernel(self, cmd, **kwargs):
            self.process, self.pid, self.pgid = kernel, kernel.pid, kernel.pid
            with open(writes, "w") as pipe:
                json.dump([cmd[cmd.index("-f") :], kwargs["env"]], pipe)
            return self.connection_info

    class Manager(AsyncKernelManager):
        async def _async_pre_start_kernel(self, **options):
            if self.provisioner is None:
                self.provisioner = Provisioner(kernel_spec=self.kernel_spec, parent=self)
            return await super()._async_pre_start_kernel(**options)

    execute_here(work, Manager)


def become_kernel(reads: int, writes: int, page: socket.socket) -> None:
    """Turn this process into the kernel that is asked for through a pipe."""
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    os.close(writes)
    page.close()
    with open(reads) as pipe:
        asked = pipe.read()
    if asked:
        arguments, environment = json.loads(asked)
        os.environ |= environment
        parent = f"--IPKernelApp.parent_handle={os.getppid()}"
        IPKernelApp.launch_instance([*arguments, parent])


class Forked:
    """A process that this one forked, with what `subprocess.Popen` has and a kernel needs."""

    stdin = stdout = stderr = None

    def __init__(self, run: Callable[[], None]) -> None:
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid:
            return
        try:
            run()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        sys.stdout.flush()
        os._exit(0)

    def poll(self) -> int | None:
        """Return the status of a process that has ended, else None."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    wait = poll  # called on one that has ended

    def send_signal(self, number: int) -> None:
        """Send a signal."""
        if self.poll() is None:
            os.kill(self.pid, number)
