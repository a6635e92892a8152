"""The README: its picture is what the code draws, its Python runs.

Draw the picture anew with `python tests/test_readme.py`.
"""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "book" / "_static" / "two-questions.svg"


def picture() -> bytes:
    from repeval import analyze, load
    from repeval.companion.book.html import images
    from repeval.companion.plots.intervals import two_questions

    analysis = analyze(load())
    return images(two_questions(analysis, analysis.condition).figure)[0]


def test_picture_is_what_the_code_draws():
    found = pytest.importorskip("matplotlib").__version__
    if f"matplotlib=={found} " not in (ROOT / "requirements.lock").read_text():
        pytest.skip(f"matplotlib {found} draws other bytes than the pinned one")
    assert PICTURE.read_bytes() == picture()


def test_python_example_runs(tmp_path, monkeypatch, capsys):
    text = (ROOT / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    rows = [f"{m},q{i},{r},{(i + r) % 2}" for m in "ab" for i in range(4) for r in range(2)]
    (tmp_path / "evals.csv").write_text("\n".join(["model,problem,run,outcome", *rows]))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "example.py").write_text(code)
    runpy.run_path("example.py")
    assert capsys.readouterr().out.strip()


def test_readme_is_a_screen_and_a_half():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 90


if __name__ == "__main__":
    PICTURE.write_bytes(picture())
