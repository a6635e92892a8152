"""Execute notebooks with papermill, each in its own process, or take them from the store."""

import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import signal
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import repeval
from repeval.companion import kept
from repeval.companion.book.process import BuildFailed, books, own_home, plain, write
from repeval.companion.book.warm import Warm
from repeval.io.registry import data_dir

PARAMETERS = ("data", "name", "size", "seed")
LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib", "myst-nb", "papermill", "ipykernel")
#: Seconds that a cell may run; the slowest needs about a minute, and at full size about an hour.
LIMITS = {"quick": 15 * 60, "full": 6 * 3600}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def execute(notebooks: Mapping[str, str], root: Path, parameters, inputs: str, jobs) -> None:
    """Write every notebook (md:myst by page), executed and stripped, to ``root/PAGE.ipynb``.

    A page is executed in `root`, at most `jobs` and the cores at hand at once, unless the store
    beside the books has it from the same source, package, parameters, libraries and data (whose
    hash is `inputs`). `BuildFailed` names each failed notebook with its cell and traceback.
    """
    from tqdm import tqdm

    pages = books(root) / ".store" / "pages"
    common = {
        "package": package_hash(),
        "parameters": parameters,
        "inputs": inputs,
        "python": platform.python_version(),
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
    }
    places = {
        page: pages / f"{digest({**common, 'source': text})}.kept"
        for page, text in notebooks.items()
    }
    stored = {page: text for page in places if (text := kept.read(places[page])) is not None}
    waiting = [page for page in notebooks if page not in stored]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    environment = {**ONE_THREAD, **own_home(root.parent), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    problems: list[str] = []
    stop = threading.Event()

    def run(page: str) -> str | None:
        if problems:  # one failure is enough to know that nothing will be published
            return None
        start = time.monotonic()
        try:
            stored[page] = run_page(page, notebooks[page], root, parameters, executed, stop)
            kept.keep(places[page], stored[page])
        except BuildFailed as problem:
            problems.append(str(problem))
            return f"failed {page}"
        return f"executed {page} ({time.monotonic() - start:.0f} s)"

    with (
        Warm(parameters, root, environment) as executed,
        ThreadPoolExecutor(max(1, min(jobs or cores, cores, len(waiting)))) as pool,
    ):
        running = as_completed([pool.submit(run, page) for page in waiting])
        # A bar on a terminal, one line a page elsewhere.
        bar = tqdm(running, total=len(waiting), unit="page", disable=None if waiting else True)
        try:
            for done in bar:
                if (line := done.result()) and bar.disable:
                    print(line, file=sys.stderr, flush=True)
        except BaseException:  # Ctrl-C, a full disk: nothing runs on
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    shutil.rmtree(root / ".work", ignore_errors=True)  # else Sphinx reads it
    if problems:
        raise BuildFailed("\n\n".join(problems) + "\n\nNothing was published.")
    for page in notebooks:
        write(root / f"{page}.ipynb", stored[page])


def run_page(page, source, root, parameters, executed, stop) -> str:
    """Execute one page in its own process and return the stripped notebook."""
    work = root / ".work" / page.replace("/", ".")
    work.mkdir(parents=True)
    limit = LIMITS[parameters["size"]]
    request = {"source": source, "parameters": parameters, "root": str(root), "limit": limit}
    write(work / "request.json", json.dumps(request))
    status, printed = executed(str(work), stop=stop)
    report, output = work / "problem.txt", work / "out.ipynb"
    if status == 0 and not report.exists():
        text, noise = strip(output.read_text(encoding="utf-8"), page, root)
        if noise:
            print(f"{page} wrote to standard error:\n{noise}", file=sys.stderr)
        return text
    what = f"the process that ran it ended with status {status}"
    if report.exists():
        what = report.read_text(encoding="utf-8")
    lines = [f"{page} failed: {what}"]
    if printed.strip():
        lines.append("The kernel and papermill wrote:\n" + printed.strip()[-4000:])
    if output.exists():
        failed = books(root) / parameters["name"] / "failed" / f"{page.replace('/', '.')}.ipynb"
        write(failed, output.read_text(encoding="utf-8"))
        lines.append(f"The notebook as far as it went: {os.path.relpath(failed)}")
    raise BuildFailed("\n".join(lines))


def execute_here(work: Path, manager=None) -> None:
    """Execute the notebook that ``work/request.json`` describes; problems go to a file.

    `manager` is the class that starts the kernel, where not a new process is to become it.
    """
    import jupytext
    import nbformat
    import papermill
    from nbclient.exceptions import CellTimeoutError
    from traitlets.config import Config

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # papermill then ends the kernel
    request = json.loads((work / "request.json").read_text(encoding="utf-8"))
    nbformat.write(jupytext.reads(request["source"], fmt="md:myst"), work / "in.ipynb")
    declared = set(papermill.inspect_notebook(str(work / "in.ipynb")))
    if declared != set(PARAMETERS):  # papermill would only warn, and build the wrong book
        problem = (
            f"its parameters are {', '.join(sorted(declared)) or 'missing'}; a notebook declares "
            f"exactly {', '.join(PARAMETERS)}, in one cell tagged 'parameters'."
        )
        return write(work / "problem.txt", problem)
    try:
        papermill.execute_notebook(
            str(work / "in.ipynb"),
            str(work / "out.ipynb"),
            parameters=request["parameters"],
            cwd=request["root"],
            progress_bar=False,
            start_timeout=120,
            execution_timeout=request["limit"],
            # Parallel kernels over plain TCP warn, over IPC they collide.
            config=Config({"KernelManager": {"transport_encryption": "required"}}),
            **({"kernel_manager_class": manager} if manager else {}),
        )
    except CellTimeoutError:
        what = f"a cell ran for more than {request['limit']:,} seconds, the limit; it was ended."
        write(work / "problem.txt", what)
    except papermill.PapermillExecutionError as error:
        problem = f"cell In[{error.exec_count}] raised {error.ename}: {error.evalue}\n"
        write(work / "problem.txt", problem + plain("\n".join(error.traceback)))


def strip(text: str, page: str, root: Path) -> tuple[str, str]:
    """Return an executed notebook without what differs between two runs, and its standard error.

    Cell ids are numbered, timings, papermill's notes and staging's header are dropped, printed
    lines are joined, and the stage's path is written as a dot. An output that is an error is
    refused: Jupyter Book would publish it without a word.
    """
    import nbformat

    notebook = nbformat.reads(text, as_version=4)
    for key in set(notebook.metadata) - {"kernelspec", "language_info"}:
        del notebook.metadata[key]
    noise = []
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        tags = cell.metadata.get("tags", [])
        if "injected-parameters" in tags:
            cell.metadata["tags"] = [*tags, "remove-cell"]
        outputs = cell.get("outputs", [])
        for output in outputs:
            if output.output_type == "error":
                raise BuildFailed(
                    f"{page}, cell {number}: {output.ename}: {output.evalue}. "
                    "A page with an error is not published."
                )
        heard = [output for output in outputs if output.get("name") == "stderr"]
        noise += [output.text for output in heard]
        if outputs:
            cell.outputs = joined([output for output in outputs if output not in heard])
    text = nbformat.writes(notebook).replace(str(root), ".")
    return text + "\n", "".join(noise).strip()


def joined(outputs: list) -> list:
    """Join what a cell printed: in how many pieces it arrives is a matter of time."""
    found: list = []
    for output in outputs:
        if found and output.get("name") == found[-1].get("name") == "stdout":
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def package_hash() -> str:
    """Hash of the package's source and of the published figures it is held against."""
    home = Path(repeval.__file__).parent
    files = [*home.rglob("*.py"), *(path for path in data_dir().iterdir() if path.is_file())]
    names = [(f"{path.parent.name}/{path.name}", path) for path in sorted(files)]
    return digest([(name, hashlib.sha256(p.read_bytes()).hexdigest()) for name, p in names])


def digest(value) -> str:
    """SHA-256 of a value's JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
