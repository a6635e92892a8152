"""What the processes of a build have in common."""

import json
import os
import re
import signal
import site
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import repeval
from repeval.io.registry import cache_dir
from repeval.messages import RepevalError

# The date in built files where the caller gives none.
EPOCH = "1767225600"
WATCHED = "from repeval.companion.book.process import watch; watch()\n"
CONFIGURING = re.compile(r"PYTHON(?!HOME$)|IPYTHON|JUPYTER|IPYKERNEL|MPL|MATPLOTLIB|DOCUTILS")


class BuildFailed(Exception):
    """A build that stopped: nothing was published and an older book is as it was.

    The text says which page or step failed and where its files are. The command prints it and
    exits 3.
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

    Its environment is `clean` and `environment`. The process is out of reach of a terminal's
    Ctrl-C: when this thread is interrupted, or the event `stop` is set, it is told to end, and in
    the end made to. Where this process is ended from outside it ends itself.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", WATCHED + code, *arguments],
        cwd=cwd,
        env={**clean(os.environ), **environment},
        stdin=subprocess.PIPE,  # which ends with this process
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    pipe, process.stdin = process.stdin, None  # left open: `communicate` would close it
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
    finally:
        pipe.close()


def watch() -> None:
    """End this process, and the kernel that it runs, when who started it is gone."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(15)  # as long as a kernel is given elsewhere
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what configures Python, Jupyter and matplotlib.

    What was set for somebody's own sessions would run, or change figures, in a build as well. What
    makes output repeatable is added, and where `repeval` is.
    """
    kept = {k: v for k, v in environment.items() if not CONFIGURING.match(k)}
    return {
        **kept,
        "SOURCE_DATE_EPOCH": environment.get("SOURCE_DATE_EPOCH", EPOCH),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": python_path(),
    }


def own_home(stage: Path) -> dict[str, str]:
    """Return the variables of a home that is empty but for the running interpreter as kernel."""
    from ipykernel.kernelspec import get_kernel_dict

    home = stage / "home"
    kernel = home / "jupyter" / "kernels" / "python3" / "kernel.json"
    write(kernel, json.dumps(get_kernel_dict(python_arguments=["-P"])))
    folders = {
        "HOME": "", "IPYTHONDIR": "ipython", "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "jupyter", "JUPYTER_PATH": "jupyter", "JUPYTER_RUNTIME_DIR": "runtime",
        "MPLCONFIGDIR": "matplotlib",
    }  # fmt: skip
    for folder in folders.values():
        (home / folder).mkdir(parents=True, exist_ok=True)
    found = {variable: str(home / folder) for variable, folder in folders.items()}
    # What is fetched stays where it is, and so do packages that are installed for one user.
    with suppress(RepevalError):
        found["XDG_CACHE_HOME"] = str(cache_dir().parent)
    if site.ENABLE_USER_SITE:
        found["PYTHONUSERBASE"] = site.getuserbase()
    return found


@contextmanager
def own_matplotlib(stage: Path):
    """Draw without anybody's matplotlibrc, and with a list of fonts of this build's own."""
    folder = stage / "home" / "matplotlib"
    folder.mkdir(parents=True, exist_ok=True)
    names = ("MPLCONFIGDIR", "MPLBACKEND", "MATPLOTLIBRC")
    before = {name: os.environ.pop(name, None) for name in names}
    # A backend is code: one that a file in the working directory names is not even looked for.
    os.environ |= {"MPLCONFIGDIR": str(folder), "MPLBACKEND": "Agg"}
    import matplotlib as mpl
    from matplotlib import font_manager

    fonts = f"fontlist-v{font_manager.FontManager.__version__}.json"
    font_manager.json_dump(font_manager.fontManager, str(folder / fonts))
    try:
        with mpl.rc_context():
            mpl.rcdefaults()
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def books(root: Path) -> Path:
    """Return the folder of all books from where one is built."""
    return root.parents[3]


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
    """Return text without a terminal's colours, and a mark for each other control character."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)
