"""Pages whose processes are forked from one: the same bytes, and nothing of one in another."""

import re
import shutil

import pytest

from repeval.companion.book import BuildFailed, warm
from repeval.companion.book.data import save_data
from repeval.companion.book.execute import execute

from .conftest import NOTEBOOK

SHOWS = """\
import os
import matplotlib as mpl, numpy as np
from repeval.companion.plots import style

assert np.sqrt(4) == 2 and "SPOILT" not in os.environ
assert list(book.claimed) == [] and book.outcomes.source.name != "spoilt"
print(mpl.get_backend(), mpl.rcParams["font.size"], book.analysis.summary)
figure, axes = style.canvas(2)
axes.plot([1, 2], [0, 1])
book.figure(figure, "{what}", caption="A.", alt="B.", data=book.analysis.to_frame())
"""
SPOILS = """
book.claimed["spoilt"] = 1
object.__setattr__(book.outcomes.source, "name", "spoilt")
np.sqrt = os.environ["SPOILT"] = "yes"
mpl.rcParams["font.size"] = 99"""


@pytest.fixture
def executed(outcomes, tmp_path):
    """Execute pages given by their code, one after another; return what they became."""

    def run(**codes):
        shutil.rmtree(tmp_path / "_build", ignore_errors=True)
        root = tmp_path / "_build/.stage/paper/stage-1/book"
        inputs = save_data(outcomes, root / "data/paper.csv", {})
        parameters = {"data": "data/paper.csv", "name": "paper", "size": "quick", "seed": 1}
        sources = {
            f"notebooks/{page}": NOTEBOOK.format(
                what=page, header="", code=code.replace("{what}", page)
            )
            for page, code in codes.items()
        }
        execute(sources, root, parameters, inputs, 1)
        return [(root / f"{page}.ipynb").read_text(encoding="utf-8") for page in sources]

    return run


@pytest.mark.skipif(not warm.FORKS, reason="pages are forked on Linux only")
def test_forked_pages_are_those_of_new_processes_and_do_not_meet(executed, monkeypatch):
    new = warm.python
    monkeypatch.setattr(warm, "python", lambda *_, **__: pytest.fail("nothing was forked"))
    forked = executed(a=SHOWS + SPOILS, b=SHOWS)
    assert "backend_inline" in forked[1]
    assert re.findall(r"image/svg\+xml", forked[1])
    # As when the process that forks ends by itself, for lack of memory perhaps.
    monkeypatch.setattr(warm, "python", new)
    monkeypatch.setattr(warm, "COMMAND", "pass")
    assert executed(a=SHOWS + SPOILS, b=SHOWS) == forked


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", "ended with status -9"),
        ("import os\nos._exit(3)", "DeadKernelError"),
    ],
)
def test_a_page_whose_process_or_kernel_dies_is_named(executed, code, said):
    with pytest.raises(BuildFailed, match=f"(?s)notebooks/a failed.*{said}"):
        executed(a=code)
