"""What is written: never over inputs, never through planted names, whole or not at all."""

import errno
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from repeval.cli import main
from repeval.io.outputs import outputs, write, write_all
from repeval.io.registry import data_dir
from repeval.messages import RepevalError
from tests.io.readers import inspect_logs


@pytest.fixture
def table(tidy):
    return tidy(
        [{"model": m, "problem": p, "run": r, "outcome": (p + r + (m == "b")) % 2}
         for m in "ab" for p in range(9) for r in range(2)]
    )  # fmt: skip


@pytest.fixture
def logs(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("run1", "run2"):
        inspect_logs.write(folder / f"{name}.json", inspect_logs.log([[1, 0], [0, 1]], model=name))
    return folder


def refused(capsys, *argv):
    code = main([str(a) for a in argv])
    return code == 2 and "is one of the inputs" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["analyze", "rank", "convert", "claims"])
def test_a_file_below_a_folder_that_is_read_stays(command, logs, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    target = logs / "run1.json"
    before = target.read_bytes()
    option = "--json" if command in ("analyze", "claims") else "-o"
    if command == "convert":
        target = target.rename(logs / "run1.csv")
    assert refused(capsys, command, logs, option, target)
    assert target.read_bytes() == before


def test_what_a_link_in_a_folder_leads_to_stays(table, tmp_path, capsys):
    (folder := tmp_path / "in").mkdir()
    (folder / "a.csv").symlink_to(table)
    (elsewhere := tmp_path / "more").mkdir()
    (other := elsewhere / "b.csv").write_text("x")
    (folder / "more").symlink_to(elsewhere)
    for target in (table, other):
        before = target.read_bytes()
        assert refused(capsys, "analyze", folder, "--json", target)
        assert target.read_bytes() == before


def test_what_lies_below_a_log_stays(tmp_path, capsys):
    """tau2-bench keeps simulations, Terminal-Bench trials and a description, in files apart."""
    (log := tmp_path / "results.json").write_text("{}")
    files = [tmp_path / "simulations" / "s-1.json", tmp_path / "t" / "t.1-of-2" / "results.json"]
    for path in (*files, tmp_path / "run_metadata.json"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
        assert refused(capsys, "analyze", log, "--json", path)
    outputs({"--json": tmp_path / "answer.json"}, [log])


def test_nothing_of_the_package_is_replaced(table, capsys):
    assert refused(capsys, "analyze", table, "--json", data_dir() / "README.md")


def test_a_pipe_without_a_name_is_written_to(table):
    command = f'"{sys.executable}" -m repeval analyze "{table}" --json >(head -c 20 >&2)'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "repeval/analysis" in done.stderr or '"schema"' in done.stderr


def test_every_command_asks(table, logs, tmp_path, capsys, monkeypatch):
    counts = tmp_path / "counts.csv"
    counts.write_text("3,1\n1,3\n")
    one, two = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text(table.read_text())
    two.write_text(table.read_text().replace("a,", "c,"))
    argvs = [
        ("simulate", "strategies", "--table", counts, "--csv", counts),
        ("compare", "a", "b", table, "--csv", table),
        ("compare", one, two, "--json", two),
        ("compare", f"x={one}", f"y={two}", "--json", one),
        ("gate", one, two, "--margin", "3", "--json", one),
        ("analyze", f"m={table}", "--json", table),
        ("analyze", "--json", "data/reconstruction.csv.gz"),
        ("claims", "--json", "data/claims.yaml"),
    ]
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert all(refused(capsys, *argv) for argv in argvs)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("how", ["symlink_to", "hardlink_to"])
def test_links_are_seen_through(how, table, tmp_path, capsys):
    other = tmp_path / "other.json"
    getattr(other, how)(table)
    assert refused(capsys, "analyze", table, "--json", other)
    assert refused(capsys, "analyze", other, "--json", table)


def test_what_belongs_to_a_log_is_read_with_it(tmp_path):
    names = ("e.json", "e_samples.jsonl", "samples_t_9.jsonl", "results_9.json", "other_8.json")
    for name in names:
        (tmp_path / name).write_text("{}")
    for given, beside in (
        ("e.json", "e_samples.jsonl"),
        ("e_samples.jsonl", "e.json"),
        ("samples_t_9.jsonl", "results_9.json"),
    ):
        with pytest.raises(RepevalError, match="one of the inputs"):
            outputs({"--json": tmp_path / beside}, [tmp_path / given])
    outputs({"--json": tmp_path / "other_8.json"}, [tmp_path / "samples_t_9.jsonl"])


def test_an_answer_in_a_folder_of_logs_is_written_again(logs, capsys):
    answer = logs / "answer.json"
    for _ in range(2):
        assert main(["analyze", str(logs), "--json", str(answer)]) == 0
        assert main(["rank", str(logs), "-o", str(logs / "board.md")]) == 0
    assert json.loads(answer.read_text())["schema"].startswith("repeval/")


def test_two_outputs_to_one_file_are_refused(tmp_path):
    with pytest.raises(RepevalError, match=r"--csv .* is what --json writes"):
        outputs({"--json": tmp_path / "f", "--csv": f"{tmp_path}/./f"}, [])
    with pytest.raises(RepevalError, match=r"-o .* is what -o writes"):
        outputs({"-o": [str(tmp_path / "f"), str(tmp_path / "f")]}, [])
    outputs({"--json": "-", "--csv": "-", "-o": ["/dev/null", "/dev/null"]}, [])


def test_a_planted_name_beside_is_not_written_to(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for name in (".o.json.part", ".o.json"):
        (tmp_path / name).symlink_to(victim)
    write(tmp_path / "o.json", b"answer")
    assert victim.read_text() == "mine"
    assert (tmp_path / "o.json").read_text() == "answer"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".o.json", ".o.json.part", "o.json",
                                                          "victim"]  # fmt: skip


def test_mode_and_owner_stay(tmp_path):
    target = tmp_path / "o.json"
    target.write_text("old")
    target.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(target, 12345, 12346)
    before = target.stat()
    write(target, b"new")
    after = target.stat()
    assert target.read_text() == "new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode, before.st_uid, before.st_gid,
    )  # fmt: skip
    mask = os.umask(0o027)
    try:
        write(tmp_path / "fresh", b"")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o640


def test_a_file_that_is_write_protected_is_refused(tmp_path, monkeypatch):
    target = tmp_path / "o.json"
    target.write_text("old")
    monkeypatch.setattr("os.access", lambda *_: False)  # the superuser may write everywhere
    with pytest.raises(RepevalError, match="cannot write"):
        write(target, b"new")
    assert target.read_text() == "old"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the superuser")
def test_somebody_else_s_link_is_not_followed(tmp_path):
    victim, link = tmp_path / "victim", tmp_path / "o.json"
    victim.write_text("mine")
    link.symlink_to(victim)
    os.lchown(link, 12345, 12345)
    with pytest.raises(RepevalError, match="belongs to somebody else"):
        write(link, b"new")
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("number", [16, 18, 13])  # EBUSY (a mounted file), EXDEV, EACCES
def test_where_nothing_can_be_renamed_the_file_itself_is_written(tmp_path, monkeypatch, number):
    target = tmp_path / "o.json"

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(RepevalError, match="cannot write"):
        write(target, b"new")
    assert list(tmp_path.iterdir()) == []
    target.write_text("older and longer")
    write(target, b"new")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_what_is_written_in_place_is_put_back_when_the_disk_is_full(tmp_path, monkeypatch):
    target, plain = tmp_path / "o.json", Path.write_bytes
    target.write_text("older and longer")

    def refuse(*_):
        raise OSError(16, os.strerror(16))

    def full(path, content):
        if content == b"new":
            plain(path, content[:1])
            raise OSError(28, os.strerror(28))
        return plain(path, content)

    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(RepevalError, match="No space left"):
        write(target, b"new")
    assert target.read_text() == "older and longer"
    assert list(tmp_path.iterdir()) == [target]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "o.json"
    target.write_text("old")

    def full(_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(RepevalError, match="No space left"):
        write(target, b"new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_several_files_are_written_all_or_none(tmp_path, monkeypatch, at):
    """As on a disk that is full from one of them on: `fsync` tells it."""
    old, wrote = tmp_path / "old" / "a", []
    old.parent.mkdir()
    old.write_bytes(b"old")
    sync = os.fsync

    def fsync(number):
        wrote.append(number)
        if len(wrote) > at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(number)

    files = {old: b"new", tmp_path / "more" / "b": b"1", tmp_path / "more" / "still" / "c": b"2"}
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(RepevalError, match=re.escape(f"cannot write {[*files][at]}: No space")):
        write_all(files, folders=True)
    assert [*tmp_path.rglob("*")] == [old.parent, old]
    assert old.read_bytes() == b"old"
    monkeypatch.setattr(os, "fsync", sync)
    write_all(files, folders=True)
    assert [path.read_bytes() for path in files] == [*files.values()]
