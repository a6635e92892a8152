"""Execute notebooks with papermill, each in its own process, or take them from the store.

`execute` starts a process that calls `execute_here` for each notebook, never more at once than
there are cores.
"""

import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import repeval
from repeval.book.errors import BuildFailed
from repeval.book.process import child_environment, plain
from repeval.registry import data_dir

__all__ = ["PARAMETERS", "execute"]

PARAMETERS = ("data", "name", "size", "seed")
LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib", "myst-nb", "papermill", "ipykernel")
COMMAND = (
    "import sys, pathlib; from repeval.book.execute import execute_here; "
    "execute_here(pathlib.Path(sys.argv[1]))"
)
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def execute(
    notebooks: Mapping[str, str],
    *,
    root: Path,
    parameters: Mapping,
    inputs: str,
    jobs: int | None,
    store: Path | None,
    scratch: Path,
    failed: Path,
) -> None:
    """Write every notebook, executed and stripped, to ``root/PAGE.ipynb``.

    Parameters
    ----------
    notebooks : mapping
        md:myst source by page name.
    root : Path
        The stage, and the working directory of the kernels.
    parameters : mapping
        Values of `PARAMETERS`.
    inputs : str
        Hash of the staged data.
    jobs : int or None
        Notebooks at once; capped at, and by default, the cores at hand.
    store : Path or None
        Folder of executed pages by key; None executes everything.
    scratch : Path
        Folder for what kernels and plots keep beside their output.
    failed : Path
        Folder that keeps the notebooks that failed.

    Raises
    ------
    BuildFailed
        Naming each failed notebook, its cell, the traceback and where the notebook is kept.
    """
    common = {
        "package": package_hash(),
        "parameters": dict(parameters),
        "inputs": inputs,
        "python": platform.python_version(),
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
    }
    keys = {page: digest({**common, "source": text}) for page, text in notebooks.items()}
    stored = {page: store / f"{key}.ipynb" for page, key in keys.items()} if store else {}
    waiting = []
    for page in notebooks:
        if page in stored and stored[page].exists():
            replace_file(root / f"{page}.ipynb", stored[page].read_text(encoding="utf-8"))
        else:
            waiting.append(page)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    environment = kernel_environment(scratch)
    problems: list[str] = []

    def run(page: str) -> str | None:
        if problems:  # one failure is enough to know that nothing will be published
            return None
        start = time.monotonic()
        text = run_one(page, notebooks[page], root, parameters, environment, failed, problems)
        if text is not None:
            replace_file(root / f"{page}.ipynb", text)
            if page in stored:
                replace_file(stored[page], text)
        verb = "failed" if text is None else "executed"
        return f"{verb} {page} ({time.monotonic() - start:.0f} s)"

    with (
        ThreadPoolExecutor(max(1, min(jobs or cores, cores, len(waiting)))) as pool,
        Progress(len(waiting)) as progress,
    ):
        for done in as_completed([pool.submit(run, page) for page in waiting]):
            progress.step(done.result())
    shutil.rmtree(root / ".work", ignore_errors=True)  # else Sphinx reads it
    if problems:
        raise BuildFailed("\n\n".join(problems) + "\n\nNothing was published.")


class Progress:
    """A bar on a terminal, one line a page elsewhere; both on standard error."""

    def __init__(self, total: int):
        from tqdm import tqdm

        self.bar = tqdm(
            total=total, unit="page", file=sys.stderr, disable=not (total and sys.stderr.isatty())
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.bar.close()

    def step(self, line: str | None) -> None:
        """Count one page."""
        self.bar.update()
        if self.bar.disable and line:
            print(line, file=sys.stderr, flush=True)


def run_one(page, source, root, parameters, environment, failed, problems) -> str | None:
    """Execute one page in its own process; the stripped notebook, or None and a problem noted."""
    from repeval.book.strip import strip

    work = root / ".work" / page.replace("/", ".")
    work.mkdir(parents=True)
    request = {"source": source, "parameters": dict(parameters), "root": str(root)}
    (work / "request.json").write_text(json.dumps(request), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, str(work)],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
    )
    report, output = work / "problem.txt", work / "out.ipynb"
    if done.returncode == 0 and not report.exists():
        text, noise = strip(output.read_text(encoding="utf-8"), page, root)
        if noise:
            print(f"{page} wrote to standard error:\n{noise}", file=sys.stderr)
        return text
    if report.exists():
        what = report.read_text(encoding="utf-8")
    else:
        what = f"the process that ran it ended with status {done.returncode}"
    lines = [f"{page} failed: {what}"]
    if noise := done.stderr.strip():
        lines.append("The kernel and papermill wrote:\n" + plain(noise[-4000:]))
    if output.exists():
        kept = failed / f"{page.replace('/', '.')}.ipynb"
        replace_file(kept, output.read_text(encoding="utf-8"))
        lines.append(f"The notebook as far as it went: {os.path.relpath(kept)}")
    problems.append("\n".join(lines))
    return None


def execute_here(work: Path) -> None:
    """Execute the notebook that ``work/request.json`` describes; problems go to a file."""
    import jupytext
    import nbformat
    import papermill
    from traitlets.config import Config

    request = json.loads((work / "request.json").read_text(encoding="utf-8"))
    notebook = jupytext.reads(request["source"], fmt="md:myst")
    notebook.metadata.setdefault(
        "kernelspec", {"name": "python3", "display_name": "Python 3", "language": "python"}
    )
    nbformat.write(notebook, work / "in.ipynb")
    declared = set(papermill.inspect_notebook(str(work / "in.ipynb")))
    if declared != set(PARAMETERS):  # papermill would only warn, and build the wrong book
        (work / "problem.txt").write_text(
            f"its parameters are {', '.join(sorted(declared)) or 'missing'}; a notebook declares "
            f"exactly {', '.join(PARAMETERS)}, in one cell tagged 'parameters'.",
            encoding="utf-8",
        )
        return
    try:
        papermill.execute_notebook(
            str(work / "in.ipynb"),
            str(work / "out.ipynb"),
            parameters=request["parameters"],
            cwd=request["root"],
            progress_bar=False,
            start_timeout=120,
            # Parallel kernels over plain TCP warn, over IPC they collide.
            config=Config({"KernelManager": {"transport_encryption": "required"}}),
        )
    except papermill.PapermillExecutionError as error:
        trace = plain("\n".join(error.traceback))
        (work / "problem.txt").write_text(
            f"cell In[{error.exec_count}] raised {error.ename}: {error.evalue}\n{trace}",
            encoding="utf-8",
        )


def kernel_environment(scratch: Path) -> dict[str, str]:
    """Environment of the executing processes: one thread each, nothing written elsewhere."""
    scratch = scratch.resolve()
    for folder in ("ipython", "jupyter", "matplotlib"):
        (scratch / folder).mkdir(parents=True, exist_ok=True)
    paths = [str(Path(repeval.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    return child_environment(
        **ONE_THREAD,
        IPYTHONDIR=str(scratch / "ipython"),
        JUPYTER_RUNTIME_DIR=str(scratch / "jupyter"),
        MPLCONFIGDIR=str(scratch / "matplotlib"),
        PYDEVD_DISABLE_FILE_VALIDATION="1",
        PYTHONPATH=os.pathsep.join(filter(None, paths)),
    )


def package_hash() -> str:
    """Hash of the package's source and of the published figures it is held against."""
    home = Path(repeval.__file__).parent
    files = [*sorted(home.rglob("*.py")), *sorted(p for p in data_dir().iterdir() if p.is_file())]
    return digest([(f.name, hashlib.sha256(f.read_bytes()).hexdigest()) for f in files])


def digest(value) -> str:
    """SHA-256 of a value's JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def replace_file(path: Path, text: str) -> None:
    """Write by rename, so that no reader meets half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)

