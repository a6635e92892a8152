"""The one-screen answer on logs: what was read comes first, what differs under the verdict."""

from __future__ import annotations

import pytest

from repeval.cli import main

from .asked import TENSOR
from .inspect_logs import log, write


@pytest.fixture
def logs(tmp_path):
    """Logs of three models, of which one has another temperature."""
    for model, temperature in (("a", 0.0), ("b", 1.0), ("m.a", 0.0)):
        whole = log(TENSOR, model=model, config={"temperature": temperature})
        write(tmp_path / "logs" / f"{model}.eval", whole)
    return str(tmp_path / "logs")


def answer(capsys, *arguments):
    assert main(["analyze", *arguments]) == 0
    return capsys.readouterr().out


def test_what_was_read_comes_first(capsys, logs):
    text = answer(capsys, logs, "--all")
    first, _, rest = text.partition("logs: 3 models x 12 problems x 3 runs.")
    assert " ".join(first.split()) == (
        "Read 3 Inspect logs: task gpqa, scorer choice; 3 models. The same id is the same question "
        "in all of them: checked."
    )
    assert "logs-read" not in rest
    assert "[settings-differ]" in rest
    marked = answer(capsys, logs, "--markdown")
    assert marked.startswith("**Read 3 Inspect logs: task gpqa")


@pytest.mark.parametrize(
    ("pair", "differ"), [(("a", "b"), True), (("b", "m.a"), True), (("a", "m.a"), False)]
)
def test_settings_that_differ_stand_under_the_verdict(capsys, logs, pair, differ):
    text = answer(capsys, logs, "--baseline", pair[0], "--candidate", pair[1], "--all")
    verdict, _, rest = text.partition("HOW SURE IS A SCORE?")
    assert ("temperature: 0.0 (a, m.a), 1.0 (b)" in verdict) == differ
    assert ("[settings-differ]" in rest) != differ
