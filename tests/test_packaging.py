"""What is shipped, what is pinned, and that both agree."""

import ast
import hashlib
import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import repeval

from .companion.book.conftest import lost_sources

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pins(text):
    pin = r"^\W*([A-Za-z0-9._-]+)(?:\[\w+\])?==(\S+)(?: ; [^\\\n]*)?(?: \\)?$"
    found = re.findall(pin, text, re.M)
    assert found
    return {canonicalize_name(name): version for name, version in found}


LOCK = pins((ROOT / "requirements.lock").read_text())
LOWEST = pins((ROOT / "requirements.lowest.lock").read_text())
ENVIRONMENT = pins((ROOT / "environment.yml").read_text())
EXTRAS = PROJECT["optional-dependencies"]
LOCKED = [*PROJECT["dependencies"], *EXTRAS["book"], *EXTRAS["test"]]


@pytest.mark.parametrize("requirement", LOCKED)
def test_every_range_holds_its_pin(requirement):
    requirement = Requirement(requirement)
    name = canonicalize_name(requirement.name)
    assert requirement.specifier.contains(LOCK[name])
    assert ENVIRONMENT[name] == LOCK[name]


@pytest.mark.parametrize("requirement", LOCKED)
def test_the_lowest_version_of_every_range_is_one_that_is_tried(requirement):
    requirement = Requirement(requirement)
    lowest = [s.version for s in requirement.specifier if s.operator in (">=", "==")]
    assert [Version(LOWEST[canonicalize_name(requirement.name)])] == [*map(Version, lowest)]


def test_environment_pins_only_what_is_used_directly():
    assert set(ENVIRONMENT) == {canonicalize_name(Requirement(r).name) for r in LOCKED}


def test_the_plain_install_is_four_libraries():
    names = {Requirement(r).name for r in PROJECT["dependencies"]}
    assert names == {"numpy", "scipy", "pandas", "narwhals"}


def test_pins_name_no_place():
    for name in ("requirements.lock", "requirements.lowest.lock", "environment.yml"):
        assert not re.search(r"://|file:|(^|\s)/|--(extra-)?index", (ROOT / name).read_text())


def test_every_pin_has_its_hashes():
    text = (ROOT / "requirements.lock").read_text()
    pin = r"^[A-Za-z0-9._-]+==\S+(?: ; [^\\\n]*[^\\\n ])?( \\\n    --hash=sha256:[0-9a-f]{64})?"
    pinned = re.findall(pin, text, re.M)
    assert len(pinned) == len(LOCK) > 100
    assert all(pinned)


@pytest.mark.parametrize("platform", [("linux", "Linux"), ("darwin", "Darwin")])
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_all_that_is_needed_is_pinned_on(python, platform):
    """Where hashes are required pip installs nothing that the lock does not name."""
    there = {"python_version": python, "python_full_version": f"{python}.0", "extra": "",
             "sys_platform": platform[0], "platform_system": platform[1]}  # fmt: skip
    lines = re.findall(r"^([^\s#]+==[^\\\n]*)", (ROOT / "requirements.lock").read_text(), re.M)
    found = [Requirement(line) for line in lines]
    pinned = {canonicalize_name(r.name) for r in found if not r.marker or r.marker.evaluate(there)}
    for dist in importlib.metadata.distributions():
        if canonicalize_name(dist.name) in pinned:
            needed = map(Requirement, dist.requires or ())
            names = {canonicalize_name(r.name) for r in needed
                     if not r.marker or r.marker.evaluate(there)}  # fmt: skip
            assert names <= pinned, dist.name


def test_mathjax_is_its_publisher_s_file_with_its_licence():
    folder = ROOT / "book" / "_mathjax"
    said = re.search(r"SHA-256 of the file: (\w{64})", (folder / "README.txt").read_text())[1]
    assert hashlib.sha256((folder / "tex-svg.js").read_bytes()).hexdigest() == said
    assert "Apache License" in (folder / "LICENSE").read_text()


def test_the_version_stands_in_one_place():
    assert f"\nversion: {repeval.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert "version" not in PROJECT
    assert f"## {repeval.__version__} " in (ROOT / "CHANGELOG.md").read_text()


def test_pip_is_quiet_but_for_errors():
    """A broken configuration of pip warns for every package."""
    calls = re.findall(r"pip install(.*)", (ROOT / "Makefile").read_text())
    assert calls
    assert all(call.startswith(" -qq ") for call in calls)


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """What `make dist` builds."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(dist):
    (path,) = dist.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(dist / "site")
    return dist / "site"


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_what_is_built_installs_and_answers_in_an_empty_folder(kind, dist, tmp_path):
    (path,) = dist.glob(kind)
    assert path.name.startswith(f"repeval-{repeval.__version__}")
    site, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    install = ["install", "-qq", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run(
        [sys.executable, "-m", "pip", *install, "--target", str(site), str(path)],
        check=True, capture_output=True,
    )  # fmt: skip
    answer = [sys.executable, "-m", "repeval", "analyze", "--json", "-"]
    answers = [
        subprocess.run(
            answer, cwd=folder, env={**os.environ, "PYTHONPATH": str(source)},
            check=True, capture_output=True,
        ).stdout
        for folder, source in ((work, site), (ROOT, ROOT))
    ]  # fmt: skip
    assert answers[0] == answers[1]
    assert list(work.iterdir()) == []


def test_the_wheel_carries_the_book_and_the_data(wheel):
    names = {p.relative_to(wheel).as_posix() for p in wheel.rglob("*") if p.is_file()}
    shared = {n.removeprefix("repeval/_share/") for n in names if n.startswith("repeval/_share/")}
    kept = {
        p.relative_to(ROOT).as_posix()
        for folder in ("book", "notebooks", "data")
        for p in (ROOT / folder).rglob("*")
        if p.is_file() and "__pycache__" not in p.parts and p.suffix != ".ipynb"
    }
    assert shared == kept | {"_config.yml", "_toc.yml"}
    top = {n.split("/")[0] for n in names}
    assert {n for n in top if not n.endswith(".dist-info")} == {"repeval"}
    assert not [n for n in names if "test" in n or n.endswith(".pyc")]


GAP = r"^\s*$|\b(nan|None|inf)\b"


def glued(notebooks):
    """The texts that executed pages put into their prose."""
    found = [
        text
        for path in sorted(notebooks.glob("*.ipynb"))
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
        if "scrapbook" in output.get("metadata", {})
        for text in output["data"].values()
    ]
    assert len(found) > 100
    return [ast.literal_eval(text) for text in found]


def test_the_installed_package_builds_in_an_empty_folder(wheel, tmp_path):
    """The whole book of the default data, from the wheel alone."""
    home = tmp_path / "home"
    work = tmp_path / "work"
    home.mkdir()
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(wheel), "HOME": str(home)}
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "IPYTHONDIR", "MPLCONFIGDIR"):
        environment.pop(name, None)
    code = "import sys; from repeval.cli import main; sys.exit(main(['build']))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=work, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-4000:]
    html = work / "_build/paper/html"
    assert (html / "index.html").exists()
    assert lost_sources(html)[0] == []
    pages = {p.stem: p.read_text(encoding="utf-8") for p in html.glob("notebooks/*.html")}
    assert any("Drawn by <a" in text for text in pages.values())
    assert [name for name, text in pages.items() if "Drawn by <code>" in text] == []
    gaps = [text for text in glued(html.parent / "notebooks") if re.search(GAP, text)]
    assert gaps == []
    assert [p.name for p in work.iterdir()] == ["_build"]
    assert [p for p in home.rglob("*") if p.is_file()] == []
    assert [p for p in wheel.rglob("*.ipynb")] == []
