"""From outcomes to a published book: stage, execute, build the site, publish."""

import ast
import base64
import html
import importlib.metadata
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

from repeval.companion.book.data import is_paper, save_data
from repeval.companion.book.downloads import write_downloads
from repeval.companion.book.execute import digest, execute
from repeval.companion.book.pages import write_claims
from repeval.companion.book.process import books, own_matplotlib, stoppable, write
from repeval.companion.book.publish import publish, refuse_mounts, restore
from repeval.companion.book.site import build_pdf, build_site
from repeval.companion.book.stage import front_matter, stage
from repeval.io.outputs import refuse_foreign
from repeval.io.registry import share_dir
from repeval.messages import RepevalError, refused
from repeval.report.format import json_text


def build(
    outcomes,
    *,
    name: str = "paper",
    full: bool = False,
    pdf: bool = False,
    seed: int = 2606,
    jobs: int | None = None,
    options: Mapping | None = None,
    share: Path | None = None,
    directory: Path | None = None,
) -> Path:
    """Run the notebooks on `outcomes` and publish the book under ``_build/NAME``.

    Parameters
    ----------
    outcomes : repeval.Outcomes
        The data of the book.
    name : str
        Name of the book: letters, digits, dots, dashes and underscores.
    full : bool
        Full instead of quick study sizes (the notebooks' parameter `size`).
    pdf : bool
        Also print every page to ``_build/NAME/pdf`` (needs Chromium).
    seed : int
        Seed of every resampling.
    jobs : int, optional
        Pages executed at once; never more than the cores at hand, which is the default.
    options : mapping, optional
        Further keywords of `repeval.analyze`, such as ``level`` or ``cluster``.
    share : Path, optional
        Folder with book, notebooks and both configuration files; the package's own by default.
    directory : Path, optional
        Folder that gets ``_build``; the current one by default.

    Returns
    -------
    Path
        The first page, ``_build/NAME/html/index.html``.

    Raises
    ------
    RepevalError
        The name or the folder is unusable, another build of that name is running, or the book's
        dependencies are missing.
    BuildFailed
        A page or the site failed. An older book of that name is left as it was.
    KeyboardInterrupt
        A signal (SIGINT, SIGTERM, SIGHUP) stopped the build. An older book is left as it was.
    """
    from repeval.report.analysis import analyze

    check(name)
    outcomes.rows()
    home = Path(directory or ".").resolve() / "_build" / name
    with stoppable() as refuse_stopping, staging(home) as root, own_matplotlib(root.parent):
        options = dict(options or {})
        analysis = analyze(outcomes, seed=seed, **options)
        pages, notebooks, studies = stage(outcomes, analysis, root, share or share_dir(), name)
        data, size = f"data/{name}.csv", "full" if full else "quick"
        inputs = save_data(outcomes, root / data, options)
        parameters = {"data": data, "name": name, "size": size, "seed": seed}
        run_studies(studies, outcomes, root, size, seed, jobs)
        last = {page: text for page, text in notebooks.items() if after_claims(text)}
        first = {page: text for page, text in notebooks.items() if page not in last}
        execute(first, root, parameters, inputs, jobs)
        if last:
            kept = collect_claims(root)
            execute(last, root, parameters, inputs + kept, jobs)
        collect_files(root)
        write(root / "analysis.json", json_text(analysis.to_dict()))
        write_summary(outcomes, analysis, root)
        build_site(root)
        write_downloads(root, is_paper(outcomes))
        if pdf:
            build_pdf(root, pages)
        refuse_stopping()
        return publish(root, home)


def check(name: str) -> None:
    """Refuse a name that is no plain folder, and any Jupyter Book but 1.x."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise RepevalError(
            "bad-option",
            f"{name!r} cannot name a book: use letters, digits, dots, dashes and underscores, "
            "beginning with a letter or digit, at most 64 (for example --name my-evals).",
        )
    needed = ("jupyter-book", "papermill", "jupytext", "matplotlib")
    try:
        version, *_ = map(importlib.metadata.version, needed)
    except importlib.metadata.PackageNotFoundError as missing:
        text = f"Building the book needs {missing.name}: pip install 'repeval[book]'."
        raise RepevalError("book-extra", text) from None
    if version.split(".")[0] != "1":  # 2.x ends well having built nothing
        raise RepevalError(
            "book-version",
            f"jupyter-book {version} is installed, and the book needs 1.x: "
            "pip install 'jupyter-book==1.0.4.post1'.",
        )


@contextmanager
def staging(home: Path):
    """Yield a new folder beside the books, of which a book has one at a time; remove it after."""
    stages = home.parent / ".stage" / home.name
    for folder in (home.parent, home.parent / ".stage", stages, home):
        refuse_foreign(folder)
    with ExitStack() as held:
        try:
            stages.mkdir(parents=True, exist_ok=True)
            lock(stages, held)
            restore(home)
            refuse_mounts(home)
            for stale in (home / "failed", *home.glob("stage-*"), *stages.iterdir()):
                shutil.rmtree(stale, ignore_errors=True)
            stage = Path(tempfile.mkdtemp(prefix="stage-", dir=stages))
        except OSError as error:
            what = f"The book goes to {home}, which cannot be written: {error.strerror}."
            raise refused("cannot-write", what) from error
        held.callback(shutil.rmtree, stage, ignore_errors=True)
        root = stage / "book"
        root.mkdir()
        yield root


def lock(stages: Path, held: ExitStack) -> None:
    """Lock a folder until `held` ends; the lock goes with the process, too, and is no file."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        return
    handle = os.open(stages, os.O_RDONLY)
    held.callback(os.close, handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        what = f"Another build of {stages.name!r} is running in this folder."
        raise refused("book-busy", what) from None
    except OSError:  # some network disks lock no folders
        return


def run_studies(names, outcomes, root: Path, size: str, seed: int, jobs: int | None) -> None:
    """Write the tables of studies to the stage, from the store beside the books where it can."""
    from repeval.companion.studies import result, store

    options = {"size": size, "seed": seed, "store": books(root) / ".store" / "studies"}
    jobs = jobs or os.cpu_count() or 1
    with store.workers(jobs) if jobs > 1 else nullcontext() as pool:
        for name in names:
            table = result(name, outcomes, executor=pool, **options)
            store.write(table, root / "data" / "studies" / f"{name}.json")


def after_claims(text: str) -> bool:
    """Tell whether a page judges the claims that other pages compute."""
    return front_matter(text).get("after") == "claims"


def collect_claims(root: Path) -> str:
    """Write the claims that executed pages carry beside the data; return their hash."""
    import nbformat

    claimed = {}
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                found = output.get("metadata", {}).get("repeval", {}).get("claims", {})
                claimed |= {key: (*value, path.stem) for key, value in found.items()}
    write_claims(claimed, root / "data" / "claims.json")
    return digest(claimed)


def collect_files(root: Path) -> None:
    """Write what executed notebooks carry to the stage: figures and tables, for links, and texts.

    Other pages show a glued text by ``{number}`PAGE.NAME` ``.
    """
    import nbformat

    numbers = json.loads((root / "numbers.json").read_text(encoding="utf-8"))
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        for output in (o for cell in cells for o in cell.get("outputs", [])):
            metadata = output.get("metadata", {})
            if glued := metadata.get("scrapbook"):
                text = output["data"][f"{glued['mime_prefix']}text/plain"]
                numbers[f"{path.stem}.{glued['name']}"] = ast.literal_eval(text)
            about = metadata.get("repeval", {})
            if "csv" not in about:
                continue
            contents = {"csv": about["csv"].encode()}
            if "figure" in about:
                contents["svg"] = output["data"]["image/svg+xml"].encode()
                contents["png"] = base64.b64decode(output["data"]["image/png"])
            (what,) = about.keys() - {"csv"}
            for kind, content in contents.items():
                target = root / "extra" / f"{what}s" / f"{about[what]}.{kind}"
                if target.exists() and target.read_bytes() != content:
                    raise ValueError(f"two {what}s are called {target.name}")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
    write(root / "numbers.json", json.dumps(numbers))


SUMMARY = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: auto; padding: 1rem }}
h2 {{ font-size: 1.15rem }}
table {{ border-collapse: collapse; display: block; overflow-x: auto }}
p, li, td:first-child {{ overflow-wrap: anywhere }}
td:first-child {{ min-width: 9rem; max-width: 24rem }}
td, th {{ padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid #ddd }}
</style></head><body>
{body}</body></html>
"""


def write_summary(outcomes, analysis, root: Path) -> None:
    """Write the answer of every condition and the report card, as Markdown and as one web page."""
    from markdown_it import MarkdownIt

    from repeval.report.screen import summary

    text = summary(analysis, outcomes)
    write(root / "summary.md", text)
    body, title = MarkdownIt("js-default").render(text), html.escape(analysis.source.name)
    # Markdown has no tables without a head.
    body = body.replace("<thead>\n<tr>\n<th></th>\n<th></th>\n</tr>\n</thead>\n", "")
    page = SUMMARY.format(title=title, body=body)
    write(root / "summary.html", page)
    write(root / "extra" / "summary.html", page)
