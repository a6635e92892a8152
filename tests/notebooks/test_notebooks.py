"""Every notebook, run in this process on the default data and on awkward ones."""

import ast
import functools
import re
from pathlib import Path

import IPython.display
import jupytext
import numpy as np
import pytest
import yaml

import repeval
import repeval.report.analysis
from repeval.companion.book.data import load_data, save_data
from repeval.companion.book.pages import fitted
from repeval.companion.book.stage import fits
from repeval.companion.studies import result
from tests.notebooks import visible

HOME = Path(__file__).resolve().parents[2] / "notebooks"
PAGES = sorted(path.stem for path in HOME.glob("*.md"))
PARAMETERS = ["data", "name", "size", "seed"]
HOSTILE = (
    "<script>x</script>|*_",
    "模型名称非常长非常长非常长非常长非常长非常长非常长",
    "a $x_1$ {{ y }}",
)


def made(models, *, problems=24, runs=2, seed=2606, score=False, right=()):
    """Rows of made-up runs; `runs` is a number or a function of the problem."""
    rng = np.random.default_rng(seed)
    difficulty = rng.beta(0.6, 0.6, problems)
    rows = []
    for m, model in enumerate(models):
        for i, p in enumerate(difficulty):
            for r in range(runs(i) if callable(runs) else runs):
                passed = model in right or rng.random() < p * (1 - 0.15 * m)
                value = round(rng.beta(2, 2), 3) if score else int(passed)
                rows.append((model, "default", f"q{i}", r, value))
    return rows


DATA = {
    "default": None,
    "small": made(["a", "b", "c"]),
    "always-right": made(["a", "b", "perfect"], right=["perfect"]),
    "unequal-runs": made(["a", "b", "c"], runs=lambda i: 1 + i % 3),
    "one-model": made(["solo"]),
    "one-run": made(["a", "b", "c"], runs=1),
    "one-model-one-run": made(["solo"], runs=1),
    "scores": made(["a", "b", "c"], score=True),
    "names": made(HOSTILE),
    "equal": [(m, *row[1:]) for m in ("a", "b") for row in made(["a"])],
    "always-wrong": [(*row[:4], 0) for row in made(["a", "b"])],
    "two-conditions": [(m, c, *row) for c in ("A", "B") for m, _, *row in made(["solo"])],
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder of staged data; one analysis of each serves all pages."""
    root, made_, analyze = tmp_path_factory.mktemp("book"), {}, repeval.report.analysis.analyze

    def stage(key):
        path = root / "data" / f"{key}.csv"
        if not path.exists():
            table = root / f"{key}.csv"
            if DATA[key] is not None:
                lines = [",".join(f'"{v}"' for v in row) for row in DATA[key]]
                table.write_text("\n".join(["model,condition,problem,run,outcome", *lines]) + "\n")
            save_data(repeval.load(None if DATA[key] is None else table), path, {})
        return root

    def once(outcomes, **kwargs):
        key = outcomes.source.sha256
        if key not in made_:
            made_[key] = analyze(outcomes, **kwargs)
        return made_[key]

    return stage, once


def read(page):
    return jupytext.read(HOME / f"{page}.md")


def prose(page):
    return "\n".join(cell.source for cell in read(page).cells if cell.cell_type == "markdown")


def run(page, key, prepared, monkeypatch):
    """Execute a page's cells in order; what it displayed, and the texts it glued."""
    stage, once = prepared
    shown, glued = [], {}
    home = stage(key)
    monkeypatch.chdir(home)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    # Pages share studies, too.
    stored = functools.partial(result, store=home / "studies")
    monkeypatch.setattr(repeval.companion.studies, "result", stored)
    monkeypatch.setattr(repeval.report.analysis, "analyze", once)
    monkeypatch.setattr(
        IPython.display, "display", lambda value, **_: shown.append(getattr(value, "data", value))
    )
    monkeypatch.setattr("myst_nb.glue", lambda name, value, display: glued.update({name: value}))
    space = {"__name__": "__main__"}
    source = (HOME / f"{page}.md").read_text(encoding="utf-8")
    outcomes = loaded(home, key)
    if not fits(source, page, outcomes):
        pytest.skip("the page is left out of a book of these data")
    cells = jupytext.reads(fitted(source, page, outcomes), fmt="md:myst").cells
    for number, cell in enumerate(cells):
        if cell.cell_type == "code":
            exec(compile(cell.source, f"{page}, cell {number}", "exec"), space)
            if "parameters" in cell.metadata.get("tags", []):
                space |= {"data": f"data/{key}.csv", "name": key}
    return shown, glued


@functools.cache
def loaded(home, key):
    return load_data(home / "data" / f"{key}.csv", key)[0]


# Left to `make full` for time.
FURTHER = {"small", "one-model-one-run", "equal", "always-right", "two-conditions"}
KINDS = [pytest.param(k, marks=[pytest.mark.full] * (k in FURTHER)) for k in DATA]


@pytest.mark.parametrize("key", KINDS)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
def test_runs_and_leaves_no_gap(page, key, prepared, monkeypatch):
    shown, glued = run(page, key, prepared, monkeypatch)
    source = (HOME / f"{page}.md").read_text(encoding="utf-8")
    drawn = fitted(source, page, loaded(prepared[0](key), key))
    used = re.findall(r"\{glue:text\}`([\w-]+)`", drawn)
    assert used
    assert set(used) <= set(glued), "a text in prose that no cell gives"
    assert [name for name in used if not glued[name].strip()] == []
    assert not any(re.search(r"\b(nan|None|inf|\de\+\d+)\b", text) for text in glued.values())
    html = [value["text/html"] if isinstance(value, dict) else value for value in shown]
    figures = [text for text in html if text.startswith("<figure")]
    assert bool(figures) == any(f"book.{x}(" in drawn for x in ("show", "figure"))
    assert all(re.search(r' alt="[^"]{20,}"', text) for text in figures)
    assert all(len(re.search("<figcaption>(.*?)<span", text)[1]) > 20 for text in figures)
    assert not any("<script" in text for text in html)
    said = "\n".join([*glued.values(), *html])
    assert not re.search(r"<td[^>]*>-?(nan|inf|None)<", said)
    assert re.findall(r"(?<![\d,.-])1 (?:model|system|pair|problem|run|test)s\b", said) == []
    assert key == "default" or not re.search(r"\bthe (?:paper|post)\b", said)
    if key == "default":
        stand_in = repeval.load().source.basis == "stand-in"
        about = [text for text in figures if "(SHA-256 " in text]
        assert all(("stand-in" in text.lower()) == stand_in for text in about)


def test_one_difference_is_no_list(prepared, monkeypatch):
    _, glued = run("paired-conditions", "two-conditions", prepared, monkeypatch)
    assert glued["answer"].startswith("solo scores the same under A and under B.")
    assert "nothing to correct" in glued["asked"]
    assert "1 difference" not in " ".join(glued.values())


def test_warnings_reach_the_pages(prepared, monkeypatch):
    shown, glued = run("setup", "names", prepared, monkeypatch)
    codes = re.findall(r"[a-z]+-[a-z-]+", glued["warned"])
    assert "few-mixed" in codes
    html = [value["text/html"] for value in shown if isinstance(value, dict)]
    (table,) = (text for text in html if "<caption>Warnings" in text)
    assert all(f"<td>{code}</td>" in table for code in codes)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in visible.EXEMPT])
def test_the_mathematics_is_visible(page):
    cells = visible.visible_cells(page)
    assert sum(map(visible.computing, cells)) >= visible.LEAST
    assert [source for source in cells if not visible.computing(source)] == []


@pytest.mark.parametrize("page", PAGES)
def test_source_is_clean(page):
    text = (HOME / f"{page}.md").read_text(encoding="utf-8")
    header = yaml.safe_load(text.split("---")[1])
    assert "jupytext_version" not in text
    assert header["kernelspec"]["name"] == "python3"
    assert not any(cell.get("outputs") for cell in read(page).cells)
    assert set(header) <= {"jupytext", "kernelspec", "requires", "about", "after", "studies"}


def test_nothing_but_sources():
    assert {path.suffix for path in HOME.iterdir() if path.is_file()} == {".md"}


@pytest.mark.parametrize("page", PAGES)
def test_parameters(page):
    cells = [c for c in read(page).cells if "parameters" in c.metadata.get("tags", [])]
    assert [c.metadata["tags"] for c in cells] == [["parameters", "remove-cell"]]
    names = [node.targets[0].id for node in ast.parse(cells[0].source).body]
    assert names == PARAMETERS
    values = {n.targets[0].id: ast.literal_eval(n.value) for n in ast.parse(cells[0].source).body}
    assert not Path(values["data"]).is_absolute()
    assert values["size"] == "quick"


@pytest.mark.parametrize("page", PAGES)
def test_no_result_is_typed(page):
    text = re.sub(r"\$[^$]*\$|`[^`]*`|\]\([^)]*\)", "", prose(page))
    text = re.sub(r"[Ss]ections? \d(\.\d)?((,| and| to) \d(\.\d)?)*", "", text)
    typed = re.findall(
        r"\d+\.\d+|\d+ ?%|\b\d{2,}\b|\b\d+ (?:of|models?|problems?|runs?|systems?)\b", text
    )
    assert typed == []


@pytest.mark.parametrize("page", PAGES)
def test_opens_with_words(page):
    first = next(c.source for c in read(page).cells if c.cell_type == "markdown")
    title, *_ = first.split("\n")
    assert title.startswith("# ")
    assert "$" not in first
    assert "What this page does not show" in prose(page)


def test_every_public_function_is_called_on_some_page():
    code = "\n".join(c.source for page in PAGES for c in read(page).cells if c.cell_type == "code")
    names = [name for name in repeval.__all__ if callable(getattr(repeval, name))]
    functions = [name for name in names if not isinstance(getattr(repeval, name), type)]
    # `load` and `analyze` are what opens the book on every page.
    waiting = set(functions) - {"load", "analyze"} - set(re.findall(r"\brepeval\.(\w+)\(", code))
    assert waiting == set()
