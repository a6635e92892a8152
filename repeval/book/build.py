"""From outcomes to a published book: stage, execute, build the site, publish."""

import importlib.metadata
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

from repeval.book.errors import BuildFailed
from repeval.book.execute import execute
from repeval.book.publish import collect_figures, publish, write_json
from repeval.book.site import build_pdf, build_site
from repeval.book.stage import stage
from repeval.notices import RepevalError

__all__ = ["build"]


def build(
    outcomes,
    *,
    name: str = "paper",
    full: bool = False,
    pdf: bool = False,
    seed: int = 2606,
    jobs: int | None = None,
    options: Mapping | None = None,
    cache: bool = True,
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
    cache : bool
        Take unchanged pages from ``_build/.store/pages`` instead of executing them.
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
        The name is unusable or the book's dependencies are missing.
    BuildFailed
        A page or the site failed. An older book of that name is left as it was.
    """
    from repeval.analysis import analyze

    check_name(name)
    check_dependencies()
    if share is None:
        from repeval.registry import share_dir

        share = share_dir()
    top = (Path.cwd() if directory is None else Path(directory)).resolve() / "_build"
    home = top / name
    with locked(home):
        shutil.rmtree(home / "failed", ignore_errors=True)
        for stale in home.glob("stage-*"):
            shutil.rmtree(stale, ignore_errors=True)
        options = dict(options or {})
        analysis = analyze(outcomes, seed=seed, **options)
        root = Path(tempfile.mkdtemp(prefix="stage-", dir=home))
        try:
            staged = stage(outcomes, analysis, root, share=share, name=name, options=options)
            parameters = {
                "data": staged.data,
                "name": name,
                "size": "full" if full else "quick",
                "seed": seed,
            }
            execute(
                staged.notebooks,
                root=root,
                parameters=parameters,
                inputs=staged.inputs,
                jobs=jobs,
                store=top / ".store" / "pages" if cache else None,
                scratch=top / ".cache",
                failed=home / "failed",
            )
            collect_figures(root)
            write_json(root / "analysis.json", analysis.to_dict())
            build_site(root)
            if pdf:
                build_pdf(root, staged.pages)
            return publish(root, home)
        finally:
            shutil.rmtree(root, ignore_errors=True)


def check_name(name: str) -> None:
    """Refuse a book name that is not a plain folder name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise RepevalError(
            "bad-option",
            f"{name!r} cannot name a book: use letters, digits, dots, dashes and underscores, "
            "beginning with a letter or digit, at most 64 (for example --name my-evals).",
        )


def check_dependencies() -> None:
    """Refuse to start without Jupyter Book 1.x: 2.x ends well having built nothing."""
    try:
        version = importlib.metadata.version("jupyter-book")
        for package in ("papermill", "jupytext", "matplotlib", "django-static-mathjax"):
            importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError as missing:
        raise RepevalError(
            "book-extra",
            f"Building the book needs {missing.name}: pip install 'repeval[book]'.",
        ) from None
    if version.split(".")[0] != "1":
        raise RepevalError(
            "book-version",
            f"jupyter-book {version} is installed, and the book needs 1.x: "
            "pip install 'jupyter-book==1.0.4.post1'.",
        )


@contextmanager
def locked(home: Path):
    """Hold the only build of `home`; the lock goes with the process, however it ends."""
    home.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    with (home / ".lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BuildFailed(
                f"Another build of {home.name!r} is running in this folder: wait until it ends, "
                "or build under another --name."
            ) from None
        yield
