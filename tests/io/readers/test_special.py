"""What is no file on a disk is refused at once: pipes, devices, and what the kernel makes up."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from repeval import load
from repeval.io.readers import KERNEL
from repeval.messages import RepevalError

CHECKOUT = Path(__file__).resolve().parents[3]
#: Some of these wait, some never end, some are directories of both; reading them is up to nobody.
MADE_UP = ("/proc/kmsg", "/proc/self/mem", "/proc/cpuinfo", "/proc", "/proc/self", "/sys/kernel",
           "/sys/kernel/debug/tracing/trace_pipe")  # fmt: skip
DEVICES = ("/dev/zero", "/dev/random", "/dev/full")
there = pytest.mark.skipif(
    not all(top.is_mount() for top in KERNEL), reason="needs /proc and /sys as Linux has them"
)


@there
@pytest.mark.parametrize("format", [None, "csv", "jsonl", "inspect", "harbor"])
def test_they_are_refused_whatever_the_format(format):
    for name in (*filter(os.path.exists, MADE_UP), *filter(os.path.exists, DEVICES)):
        for given in (name, f"m={name}"):
            with pytest.raises(RepevalError) as caught:
                load(given, format=format)
            assert caught.value.code == "unreadable-file", name
            assert "a pipe or a device" in caught.value.text or "made up" in caught.value.text


@there
def test_links_to_them_in_a_folder_too(tmp_path):
    (tmp_path / "a.jsonl").symlink_to("/proc/kmsg")
    with pytest.raises(RepevalError, match="is made up by the system"):
        load(tmp_path)


@there
def test_a_file_of_ours_that_is_reached_through_them_is_read(tmp_path):
    """As /dev/fd/N and /proc/self/cwd lead out again, to what they stand for."""
    path = tmp_path / "a.csv"
    path.write_text("model,problem,run,outcome\n" + "".join(f"m,{i},1,{i % 2}\n" for i in range(9)))
    with path.open() as file:
        named = f"/proc/self/fd/{file.fileno()}"
        data = load(named, format="csv")
    assert data.models == ("m",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_that_nobody_writes_to_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(RepevalError, match="is a pipe or a device"):
        load(tmp_path / "pipe.csv", format="csv")


@there
def test_the_command_ends_in_seconds():
    command = [sys.executable, "-m", "repeval", "analyze", "/proc/kmsg", "--format", "inspect"]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    # 60 s stand for "does not hang", on a machine that does much else.
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "is made up by the system as it is read" in done.stderr


@pytest.mark.parametrize("arguments", [["analyze", "m=runs.csv", "--json", "a.json"], ["build"]])
def test_a_working_directory_that_was_deleted_is_one_sentence(tmp_path, arguments):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = (
        "import os, sys, repeval.cli\n"
        f"os.rmdir({str(gone)!r})\n"
        f"sys.exit(repeval.cli.main({arguments!r}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PWD": str(gone)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=gone, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert " ".join(done.stderr.split()) == (
        f"repeval: The working directory {gone} was deleted. Change to a folder that exists (cd), "
        "and give the command again. [deleted-folder]"
    )
