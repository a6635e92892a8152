"""`repeval fetch` against a server on this machine; no test reaches further."""

import functools
import hashlib
import http.server
import json
import os
import threading

import pytest

import repeval
from repeval.cli import main
from repeval.companion.paper_data import released
from repeval.io import registry
from repeval.messages import RepevalError
from tests.companion.paper_data.releases import LAYOUTS, zipped

TABLE = b"item_id,draw_id,verdict\n" + b"".join(
    f"p{i},{r},{(i * r) % 2}\n".encode() for i in range(6) for r in range(3)
)
FILE = "owner/repo/abc/tables/runs.csv"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "repeval"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A folder served on the loopback address, in place of the real hosts."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{served.server_port}"
        monkeypatch.setattr(registry, "FILES", address)
        monkeypatch.setattr(released, "ARCHIVES", address)
        yield folder
        served.shutdown()


@pytest.fixture
def registered(monkeypatch):
    """One registered file and the release."""
    entries = dict(registry.registry())
    entries["runs"] = {
        **entries["hotpotqa-react"], "name": "runs", "file": "runs.csv", "repository": "owner/repo",
        "commit": "abc", "path": "tables/runs.csv", "sha256": hashlib.sha256(TABLE).hexdigest(),
    }  # fmt: skip
    monkeypatch.setattr(registry, "registry", lambda: entries)
    return entries


def put(folder, path, content):
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def put_release(folder, content):
    return put(folder, f"{registry.registry()[registry.RELEASED]['repository']}/zip/HEAD", content)


def fetch_release():
    return released.fetch_release(registry.entry_of(registry.RELEASED))


def test_a_file_is_checked_kept_and_not_fetched_again(server, registered, cache, capsys):
    served = put(server, FILE, TABLE)
    assert main(["fetch", "runs"]) == 0
    assert "SHA-256 as registered" in capsys.readouterr().out
    assert (cache / "runs.csv").read_bytes() == TABLE
    served.unlink()
    assert main(["fetch", "runs"]) == 0
    assert main(["analyze", str(cache / "runs.csv")]) == 0


def test_another_file_is_refused_and_nothing_kept(server, registered, cache, capsys):
    put(server, FILE, TABLE + b"p9,0,1\n")
    assert main(["fetch", "runs"]) == 2
    assert "hash" in capsys.readouterr().err
    assert not (cache / "runs.csv").exists()


@pytest.mark.parametrize("name", ["runs", registry.RELEASED])
def test_a_missing_file_and_no_server_are_said(name, server, registered, monkeypatch, capsys):
    assert main(["fetch", name]) == 2
    assert "cannot be fetched: 404" in capsys.readouterr().err
    for module, constant in ((registry, "FILES"), (released, "ARCHIVES")):
        monkeypatch.setattr(module, constant, "http://127.0.0.1:9")
    assert main(["fetch", name]) == 2
    said = capsys.readouterr().err
    assert "there is no connection to it" in said
    assert "Traceback" not in said


def test_names(capsys, registered):
    assert main(["fetch"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name, e in registered.items() if e.get("repository"))
    assert "reconstruction" not in listed
    assert main(["fetch", "nope"]) == 2
    assert "one of: leetcode" in capsys.readouterr().err


def test_the_release_takes_the_place_of_the_stand_in(server, cache, capsys):
    before = repeval.load()
    assert before.source.basis == "stand-in"
    put_release(server, zipped(LAYOUTS["rows"]))
    assert main(["fetch", registry.RELEASED]) == 0
    said = capsys.readouterr().out
    assert "15,995 runs" in said
    assert "trusted on first use" in said
    after = repeval.load()
    assert after.source.basis == "released"
    assert after.source.excluded == before.source.excluded
    dropped = [n.text for n in after.notices if n.code == "dropped-problems"]
    assert dropped == [n.text for n in before.notices if n.code == "dropped-problems"]
    for system in before.systems:
        assert sorted(after.system(*system).passes) == sorted(before.system(*system).passes)
    assert main(["fetch", registry.RELEASED]) == 0
    assert "is there, fetched" in capsys.readouterr().out


def test_a_changed_release_is_refused(server, cache):
    put_release(server, zipped(LAYOUTS["rows"]))
    fetch_release()
    (cache / "released.csv").unlink()
    put_release(server, zipped(LAYOUTS["other outcome"]))
    with pytest.raises(RepevalError, match="has changed") as caught:
        fetch_release()
    assert caught.value.code == "release-changed"
    assert not (cache / "released.csv").exists()


def test_a_damaged_copy_in_the_cache_is_refused(server, cache):
    put_release(server, zipped(LAYOUTS["rows"]))
    fetch_release()
    with (cache / "released.csv").open("a") as file:
        file.write("x,Detailed,1,1,1,Easy\n")
    with pytest.raises(RepevalError) as caught:
        repeval.load()
    assert caught.value.code == "checksum"


def test_fetching_needs_pooch(registered, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pooch", None)
    with pytest.raises(RepevalError, match=r"repeval\[logs\]"):
        registry.fetch_file(registry.entry_of("runs"))


def test_the_record_is_readable(server, cache):
    put_release(server, zipped(LAYOUTS["rows"]))
    fetch_release()
    record = json.loads((cache / "released.json").read_text())
    text = (cache / "released.csv").read_bytes()
    assert record["sha256"] == hashlib.sha256(text).hexdigest()
    assert record["fetched"].startswith("20")


@pytest.mark.parametrize("left", ["", "{", "[]", '{"sha256": 3}', "[" * 10**5, None])
def test_a_damaged_record_is_named(left, server, cache, capsys):
    put_release(server, zipped(LAYOUTS["rows"]))
    fetch_release()
    if left is None:
        (cache / "released.json").unlink()
    else:
        (cache / "released.json").write_text(left)
    for argv in (["analyze"], ["fetch", registry.RELEASED]):
        assert main(argv) == 2
        said = capsys.readouterr().err
        assert "released.json, beside released.csv, is no record" in said


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><p>Log in", b"\n<!-- x -->\n<HTML>", b"no zip"])
@pytest.mark.parametrize("name", ["runs", registry.RELEASED])
def test_a_login_page_is_no_file(page, name, server, registered, cache, capsys):
    put(server, FILE, page)
    put_release(server, page)
    assert main(["fetch", name]) == 2
    said = capsys.readouterr().err
    assert ("web page" in said) == (b"<" in page)
    assert "Traceback" not in said
    assert not cache.exists() or list(cache.iterdir()) == []


def test_the_commit_is_recorded_and_a_new_release_is_taken_only_when_told(server, cache, capsys):
    def served(layout, commit):
        content = bytearray(zipped(LAYOUTS[layout]))
        content[-2:] = len(commit).to_bytes(2, "little")
        put_release(server, bytes(content) + commit.encode())

    served("rows", "a" * 40)
    fetch_release()
    assert json.loads((cache / "released.json").read_text())["commit"] == "a" * 40
    (cache / "released.csv").unlink()
    served("other outcome", "b" * 40)
    assert main(["fetch", registry.RELEASED]) == 2
    said = capsys.readouterr().err
    assert "a" * 40 in said
    assert "b" * 40 in said
    assert "--accept-new" in said
    assert main(["fetch", registry.RELEASED, "--accept-new"]) == 0
    assert json.loads((cache / "released.json").read_text())["commit"] == "b" * 40
    assert repeval.load().source.basis == "released"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the superuser")
def test_a_cache_of_somebody_else_is_refused(server, cache, capsys):
    put_release(server, zipped(LAYOUTS["rows"]))
    fetch_release()
    os.chown(cache / "released.csv", 12345, 12345)
    assert main(["analyze"]) == 2
    assert "belongs to another user" in capsys.readouterr().err
