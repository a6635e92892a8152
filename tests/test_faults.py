"""What goes wrong is one message with an exit code that says whose fault it is; 1 is a verdict."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from repeval import commands
from repeval.cli import main

ABSENT = """\
import sys
from repeval.cli import main
for name in sys.argv[1].split(","):
    sys.modules[name] = None
sys.exit(main(sys.argv[2:]))"""


def ran(*argv, code=None, **environment):
    head = ["-c", code] if code else ["-m", "repeval"]
    env = {k: v for k, v in {**os.environ, **environment}.items() if v is not None}
    done = subprocess.run(
        [sys.executable, *head, *map(str, argv)], env=env, capture_output=True, check=False
    )
    return done.returncode, done.stderr.decode(errors="replace")


@pytest.fixture
def table(tidy):
    rows = [{"model": m, "problem": p, "run": r, "outcome": (p + r) % 2}
            for m in "ab" for p in range(9) for r in range(2)]  # fmt: skip
    return tidy(rows)


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (KeyError("x\x1b[31m"), 3, "a fault of repeval: report it with"),
        (ZeroDivisionError("y" * 10**5), 3, "ZeroDivisionError"),
        (ModuleNotFoundError("no", name="repeval.gone"), 3, "ModuleNotFoundError"),
        (ModuleNotFoundError("no", name="tables.core"), 2, "tables.core is not installed"),
        (shutil.Error([("a", "b/a", "it is full"), ("c", "b/c", "")]), 2, "b/a: it is full"),
        (MemoryError(), 2, "the memory is not enough"),
        (KeyboardInterrupt(), 130, "stopped"),
    ],
)
def test_no_exception_is_uncaught(error, code, says, monkeypatch, capsys):
    def fail(_):
        raise error

    monkeypatch.setattr(commands, "check", fail)
    assert main(["check"]) == code
    said = capsys.readouterr().err
    assert says in said
    assert said.startswith("repeval: ")
    assert said.count("\n") == 1
    assert "\x1b" not in said
    assert len(said) < 1920  # 24 lines of 80


def test_the_way_to_a_fault_is_shown_when_asked_for(monkeypatch):
    monkeypatch.setenv("REPEVAL_TRACEBACK", "1")
    monkeypatch.setattr(commands, "check", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["check"])


def test_a_book_that_fails_is_no_verdict(monkeypatch, table, capsys):
    from repeval.companion import book

    def fail(*_, **__):
        raise book.BuildFailed("a page failed")

    monkeypatch.setattr(book, "build", fail)
    assert main(["build", str(table)]) == 3
    assert "a page failed" in capsys.readouterr().err


def test_messages_fit_on_a_screen(capsys):
    assert main(["check", "a" * 10**5]) == 2
    assert len(capsys.readouterr().err) < 1920
    with pytest.raises(SystemExit) as ended:
        main(["check", "--what-" + "a\x1b[31m" * 10**5])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert len(said) < 1920
    assert "\x1b" not in said


def test_a_name_that_is_no_text_is_a_sentence(table, tmp_path, capsys):
    odd = table.rename(tmp_path / os.fsdecode(b"bad\xff.csv"))
    assert main(["analyze", str(odd)]) == 2
    assert "bad?.csv: the name is not UTF-8 text" in capsys.readouterr().err


def test_without_standard_streams_the_code_stays(table):
    command = f'"{sys.executable}" -m repeval'
    for rest, code in (
        (f'analyze "{table}" >&-', 0),
        (f'analyze "{table}" --json - >&- 2>&-', 0),
        (f'gate a b "{table}" --margin 3 >&-', 1),
        ("check nowhere 2>&-", 2),
        ("check nowhere 2>/dev/full", 2),
    ):
        assert subprocess.run(f"{command} {rest}", shell=True, check=False).returncode == code


def test_without_a_home_nothing_is_fetched_and_all_else_works(monkeypatch, capsys):
    def nobody(_):
        raise KeyError("uid not found")

    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    assert main(["check"]) == 0
    assert main(["fetch"]) == 0
    assert main(["fetch", "hotpotqa-react"]) == 2
    assert "[no-home]" in capsys.readouterr().err


def test_a_relative_cache_is_none(monkeypatch, tmp_path):
    from repeval.io.registry import cache_dir

    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    assert cache_dir().is_absolute()
    assert not cache_dir().is_relative_to("here")


def test_missing_packages_are_named(table):
    few = ("--trials", "3", "--problems", "4", "--jobs", "1")
    assert ran("tqdm", "simulate", "coverage", *few, code=ABSENT) == (0, "")
    for command in (("claims",), ("build", table)):
        code, said = ran("matplotlib,yaml,jupytext,tqdm", *command, code=ABSENT)
        assert code == 2
        assert "pip install 'repeval[book]'" in said
        assert "Traceback" not in said


def test_no_output_steers_a_terminal_or_calls_anybody(tmp_path, capsys):
    name = "@octocat \x1b[31m\x9b1m\u202e#12 @a/b"
    rows = [f"{name},q{i},{r},{(i + r) % 2}" for i in range(9) for r in range(2)]
    rows += [row.replace("@octocat", "@other") for row in rows]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["model,problem,run,outcome", *rows]), encoding="utf-8")
    outputs = [tmp_path / f"o.{kind}" for kind in ("json", "md", "csv", "tex")]
    main(["rank", str(path), *(word for o in outputs for word in ("-o", str(o)))])
    pair = (name, name.replace("@octocat", "@other"), str(path))
    shown = [p.read_text(encoding="utf-8") for p in outputs]
    for argv in (
        ["analyze", path, "--markdown", "--all", "--components"], ["rank", path],
        ["analyze", path, "--json", "-"], ["compare", *pair, "--markdown", "--flips"],
        ["gate", *pair, "--margin", "3", "--markdown"], ["check", path],
    ):  # fmt: skip
        main([str(a) for a in argv])
        shown.append(capsys.readouterr().out)
        if "--markdown" in argv:
            shown.append(shown[-1])
    assert not any(c in text for text in shown for c in "\x1b\x9b\u202e")
    markdown = [shown[1], *(text for text in shown if "octocat" in text and "###" in text)]
    assert len(markdown) > 3
    for text in markdown:
        assert not re.search(r"[@#]\w", text), re.search(r".*[@#]\w.*", text)[0]


@pytest.mark.parametrize("runs", [1_000_000_001, 2**63 - 1, 99999999999999999999])
def test_more_runs_than_anybody_has_are_a_sentence(runs, tmp_path, capsys):
    (path := tmp_path / "c.csv").write_text(f"model,problem,runs,passes\nA,p,{runs},1\nA,q,3,1\n")
    assert main(["analyze", str(path)]) == 2
    assert "column runs is above 1,000,000,000 in row" in capsys.readouterr().err


def test_a_name_of_a_file_steers_no_terminal(table, tmp_path, capsys):
    odd = table.rename(tmp_path / "a\x1b]0;x\x07.csv")
    assert main(["check", str(odd)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_no_module_of_the_working_directory_is_run(table, tmp_path, monkeypatch):
    for name in ("__future__", "numpy", "argparse", "typing", "json", "pandas"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    assert ran("analyze", table) == (0, "")
    assert not (tmp_path / "canary").exists()
