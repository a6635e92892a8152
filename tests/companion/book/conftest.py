import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import repeval
from repeval.companion.book import build

CHECKOUT = Path(__file__).resolve().parents[3]
HOSTILE = "<script>alert(1)</script> `x` $y$ **b** {{ z }}"

TOC = """\
format: jb-book
root: book/index
parts:
  - caption: Start
    chapters:
      - file: book/your-data
  - caption: The paper, claim by claim
    chapters:
      - file: notebooks/both
      - file: notebooks/paper-only
      - file: notebooks/claims
  - caption: Reference
    chapters:
      - file: book/commands
      - file: book/trust
      - file: book/checked
      - file: book/glossary
      - file: book/references
      - file: book/api
      - file: book/drawings
"""

NOTEBOOK = """\
---
kernelspec:
  name: python3
  display_name: Python 3
  language: python
{header}
---

# Is it {what}?

Said of {{glue:text}}`models`: {{glue:text}}`half`, $x^2$.

```{{code-cell}} python
:tags: [parameters, remove-cell]
data = "data/paper.csv"
name = "paper"
size = "quick"
seed = 1
```

```{{code-cell}} python
from repeval.companion.book import notebook

book = notebook.open(data, name, size, seed)
```

```{{code-cell}} python
:tags: [hide-input]
{code}
```
"""

CODE = """\
from repeval.companion.plots import style

figure, axes = style.canvas(2)
frame = book.analysis.to_frame()[["model", "mean"]]
axes.barh(range(len(frame)), frame["mean"])
book.text("models", " and ".join(book.outcomes.models))
book.number("half", 0.5, ".0%")
book.table(frame, "Scores")
book.show(style.Plot(figure, "A <b>.", 'Bars "x".', frame, "here.bars"), "{what}")\
"""

# As many rows as the ledgers of both texts have together.
CLAIMS = """\
from dataclasses import replace
from IPython.display import HTML, display
from repeval.companion.ledger import Verdict, claims, scorecard

kinds = [("holds", "emergent"), ("known", "independent"), ("not checkable", "")]
book.text("models", "made-up verdicts")
book.number("half", 0.5, ".0%")
more = [replace(c, id=f"{c.id}-again", value="", unit="text") for c in claims()]
found = [
    Verdict(c, c.value, None, kinds[i % 3][0], "Because <b>.", kinds[i % 3][1], "stand-in")
    for i, c in enumerate([*claims(), *more, *more][:622])
]
display(HTML(scorecard.rows_html(found, book.outcomes.source)))\
"""


def lost_sources(html):
    """Links of a book to the package's source that lead nowhere, and how many there are in all."""
    pages = {path: path.read_text(encoding="utf-8") for path in html.rglob("*.html")}
    links = [
        (path, (path.parent / file).resolve(), anchor)
        for path, text in pages.items()
        for file, anchor in re.findall(r'href="([^"#:]*_modules/[^"#]*)#([^"]+)"', text)
    ]
    lost = [link for link in links if f'id="{link[2]}"' not in pages.get(link[1], "")]
    return lost, len(links)


def write_notebook(share, page, header="", code=CODE):
    what = page.split("/")[-1]
    text = NOTEBOOK.format(header=header, what=what, code=code.replace("{what}", what))
    path = share / f"{page}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.replace("\n\n---\n", "\n---\n"), encoding="utf-8")


@pytest.fixture
def share(tmp_path):
    return make_share(tmp_path / "share")


def make_share(folder):
    """The project's own pages and configuration, with two small notebooks."""
    shutil.copytree(
        CHECKOUT / "book", folder / "book", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(CHECKOUT / "_config.yml", folder)
    (folder / "_toc.yml").write_text(TOC, encoding="utf-8")
    write_notebook(folder, "notebooks/both", "requires: {models: 2, runs: 2}")
    write_notebook(folder, "notebooks/paper-only", "about: paper")
    write_notebook(folder, "notebooks/claims", "about: paper", CLAIMS)
    return folder


def make_outcomes(folder, basis="user", models=("model-a", HOSTILE), runs=3):
    path = folder / "runs.csv"
    rows = [
        f'"{model}",q{i},{r},{(i * (m + 2) + r) % 3 % 2},{"ab"[i % 2]}'
        for m, model in enumerate(models)
        for i in range(12)
        for r in range(runs)
    ]
    path.write_text("\n".join(["model,problem,run,outcome,task_id", *rows]) + "\n")
    outcomes = repeval.load(path, columns="problem=problem")
    return replace(outcomes, source=replace(outcomes.source, name="made <i>up", basis=basis))


@pytest.fixture
def outcomes(tmp_path):
    return make_outcomes(tmp_path)


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    """One book on stand-in data: its folder and its ingredients."""
    folder = tmp_path_factory.mktemp("book")
    share = make_share(folder / "share")
    outcomes = make_outcomes(folder, basis="stand-in")
    page = build(outcomes, share=share, directory=folder)
    return page.parents[1], share, outcomes
