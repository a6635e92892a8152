"""The GitHub Action: its scripts, run as a workflow would, with a stand-in for GitHub."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from repeval.report.gate import MARKER
from tests.report.test_versus import drawn, table

HOME = Path(__file__).parent.parent / ".github" / "actions" / "repeval-gate"
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
# A stand-in for `gh`: keeps what it was called with, and lists one comment if there is a file.
GH = """#!/usr/bin/env bash
echo "$@" >> "$RUNNER_TEMP/calls"
case "$*" in *--jq*) cat "$RUNNER_TEMP/known" 2> /dev/null || true ;; esac
"""


@pytest.fixture
def runner(tmp_path):
    """Run a script of the action; what it printed, its exit code, and the folder of its files."""
    tools, temp = tmp_path / "bin", tmp_path / "temp"
    tools.mkdir()
    temp.mkdir()
    python = f'#!/usr/bin/env bash\nexec "{sys.executable}" '
    for name, text in {"repeval": f'{python}-m repeval "$@"\n', "python": f'{python}"$@"\n',
                       "gh": GH}.items():  # fmt: skip
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    table(drawn(0.0)).to_csv(tmp_path / "runs.csv", index=False)
    inputs = yaml.safe_load((HOME / "action.yml").read_text())["inputs"]
    known = {k.upper(): v.get("default", "") for k, v in inputs.items()}
    place = {"RUNNER_TEMP": temp, "GITHUB_STEP_SUMMARY": temp / "summary",
             "GITHUB_OUTPUT": temp / "output", "GITHUB_REPOSITORY": "a/b", "NUMBER": 7}  # fmt: skip
    root = str(HOME.parents[2])

    def run(script, **given):
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        values = {**os.environ, **known, **place, **given, "PATH": path, "PYTHONPATH": root}
        done = subprocess.run(
            ["bash", str(HOME / script)], cwd=tmp_path, capture_output=True, text=True,
            env={k: str(v) for k, v in values.items()}, check=False,
        )  # fmt: skip
        return done, temp

    return run


ASKED = {"BASELINE": "base", "CANDIDATE": "cand", "DATA": "runs.csv"}


@pytest.mark.parametrize(("margin", "code"), [("20", "0"), ("1", "1")])
def test_the_gate_fills_summary_and_outputs(runner, margin, code):
    done, temp = runner("gate.sh", **ASKED, MARGIN=margin)
    assert done.returncode == 0, done.stderr
    output = dict(line.split("=", 1) for line in (temp / "output").read_text().splitlines())
    assert output["code"] == code
    answer = json.loads(Path(output["json"]).read_text())
    assert answer["verdict"] == output["verdict"]
    assert (temp / "summary").read_text() == done.stdout
    assert done.stdout.startswith(MARKER)


def test_what_cannot_be_asked_stops_the_step(runner):
    done, temp = runner("gate.sh", **ASKED, MARGIN="0")
    assert done.returncode == 2
    assert "between 0 and 100 points" in done.stderr
    assert not (temp / "output").exists()


def test_inputs_are_no_part_of_the_script(runner):
    done, temp = runner("gate.sh", **{**ASKED, "CANDIDATE": '"; touch evil; $(touch evil)'})
    assert done.returncode == 2
    assert not (temp.parent / "evil").exists()


def test_one_comment_is_written_and_then_updated(runner):
    _, temp = runner("gate.sh", **ASKED, MARGIN="20")
    done, _ = runner("comment.sh")
    assert done.returncode == 0, done.stderr
    calls = (temp / "calls").read_text().splitlines()
    assert "--method POST repos/a/b/issues/7/comments" in calls[-1]
    (temp / "known").write_text("41\n42\n")
    runner("comment.sh", KEY="nightly --> x")
    calls = (temp / "calls").read_text().splitlines()
    assert "--method PATCH repos/a/b/issues/comments/41 " in calls[-1]
    body = Path(re.search(r"body=@(\S+)", calls[-1])[1]).read_text()
    assert body.startswith("<!-- repeval-gate: nightly  x -->\n**PASS")


def test_every_input_is_used_and_every_script_there():
    text = (HOME / "action.yml").read_text()
    action = yaml.safe_load(text)
    for name in action["inputs"]:
        assert re.search(rf"inputs\.{name}\b", text), name
    assert set(re.findall(r"GITHUB_ACTION_PATH/(\w+\.sh)", text)) == {
        path.name for path in HOME.glob("*.sh")
    }
    # Nothing that a workflow fills in stands inside a script.
    assert not any("${{" in step["run"] for step in action["runs"]["steps"])
