"""Links on the way to an output: one's own are followed, planted ones in open folders are not."""

import os

import pytest

from repeval.cli import main
from repeval.io.outputs import outputs, write
from repeval.messages import RepevalError

SOMEBODY, OTHER = 12345, 23456
superuser = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="giving files away needs the superuser"
)


@pytest.fixture
def ways(tmp_path):
    """A folder of ours, and one like /tmp with a link to it."""
    ours, everybody = tmp_path / "ours", tmp_path / "everybody"
    ours.mkdir()
    everybody.mkdir()
    everybody.chmod(0o1777)
    link = everybody / "link"
    link.symlink_to(ours)
    return ours, link


@superuser
@pytest.mark.parametrize("mode", [0o1777, 0o777])
@pytest.mark.parametrize("folders", [False, True])
def test_a_folder_s_link_of_somebody_else_is_refused_where_everybody_writes(ways, mode, folders):
    ours, link = ways
    link.parent.chmod(mode)
    os.lchown(link, SOMEBODY, SOMEBODY)
    for target in (link / "a.json", link / "more" / "a.json"):
        with pytest.raises(RepevalError) as caught:
            write(target, b"new", folders=folders)
        assert caught.value.code == "cannot-write"
        assert f"{link}, which it passes through, is a link that belongs" in caught.value.text
    assert list(ours.iterdir()) == []


@superuser
def test_a_link_of_ours_does_not_hide_one_of_somebody_else(ways, tmp_path, monkeypatch):
    ours, link = ways
    os.lchown(link, SOMEBODY, SOMEBODY)
    first = tmp_path / "first"
    first.symlink_to("everybody/link")
    monkeypatch.chdir(tmp_path)
    for target in ("first/a.json", "ours/../first/a.json", str(first / "a.json")):
        with pytest.raises(RepevalError, match="which it passes through"):
            write(target, b"new")
    assert list(ours.iterdir()) == []


@superuser
@pytest.mark.parametrize(
    ("mode", "folder", "link"),
    [
        (0o1777, OTHER, 0),  # ours
        (0o755, OTHER, SOMEBODY),  # where only the owner writes, whose word must do
        (0o1777, SOMEBODY, SOMEBODY),  # the folder's owner could do all anyway
    ],
)
def test_links_that_the_kernel_would_follow_are_followed(ways, mode, folder, link):
    ours, path = ways
    path.parent.chmod(mode)
    os.chown(path.parent, folder, folder)
    os.lchown(path, link, link)
    write(path / "a.json", b"new")
    assert (ours / "a.json").read_bytes() == b"new"


def test_links_of_one_s_own_are_followed(ways):
    ours, link = ways
    write(link / "a.json", b"one")
    (ours / "b.json").symlink_to("a.json")
    # What is above the link is above what it leads to.
    write(link / ".." / "everybody" / "link" / "b.json", b"two")
    assert (ours / "a.json").read_bytes() == b"two"


def test_links_that_lead_to_each_other_are_one_sentence(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for target in (tmp_path / "a", tmp_path / "a" / "c.json"):
        with pytest.raises(RepevalError, match=r"cannot write .*: Too many levels"):
            write(target, b"new")
        with pytest.raises(RepevalError, match=r"cannot write .*: Too many levels"):
            outputs({"--json": target}, [])


@superuser
def test_a_command_says_so_before_it_computes(ways, tidy, capsys, monkeypatch):
    rows = [{"model": m, "problem": p, "run": 1, "outcome": p % 2} for m in "ab" for p in range(9)]
    table = tidy(rows)
    _, link = ways
    os.lchown(link, SOMEBODY, SOMEBODY)
    monkeypatch.setattr("repeval.io.load.load", None)
    assert main(["rank", str(table), "-o", str(link / "a.md")]) == 2
    assert "is a link that belongs to somebody else" in capsys.readouterr().err
