"""The commands: what is printed, exit codes, and kind failures."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import repeval
from repeval.cli import main
from repeval.io.formats import FORMATS, READERS


@pytest.fixture
def table(tmp_path):
    """Write a table of 3 models, 12 problems, 3 runs with known passes."""
    path = tmp_path / "evals.csv"
    lines = ["model,problem,run,outcome,topic"]
    for m, shift in (("alpha", 0), ("beta", 1), ("gamma", 5)):
        for i in range(12):
            k = (i * 5 + shift) % 4
            lines += [f"{m},q{i},{r},{int(r < k)},{'xy'[i % 2]}" for r in range(3)]
    path.write_text("\n".join(lines) + "\n")
    return path


def run(capsys, *argv):
    code = main([str(a) for a in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_default_data_say_they_are_a_stand_in(capsys):
    code, out, _ = run(capsys, "analyze")
    assert code == 0
    assert out.startswith("STAND-IN DATA")
    assert "8 apart, 7 not" in out
    assert "3 apart, 12 not" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("command", ["analyze", "convert"])
def test_help_names_every_format(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "400")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    about = re.search(r"--format F +(.*)", capsys.readouterr().out)[1]
    assert {*FORMATS, *READERS} <= set(re.findall(r"\w+", about))


def test_questions_come_before_methods(capsys, table):
    _, out, _ = run(capsys, "analyze", table)
    order = [
        "HOW SURE IS A SCORE?",
        "WHO IS TOLD APART?",
        "WHAT WOULD MORE RUNS BUY?  for new problems",
    ]
    assert [out.index(q) for q in order] == sorted(out.index(q) for q in order)
    for word in ("significant", "aleatoric", "estimand", "p-value", "ICC"):
        assert word not in out


def test_json_to_file_and_screen(capsys, table, tmp_path):
    target = tmp_path / "out.json"
    assert run(capsys, "analyze", table, "--json", target)[0] == 0
    code, out, _ = run(capsys, "analyze", table, "--json", "-")
    assert code == 0
    assert json.loads(out) == json.loads(target.read_text())
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".part"] == []


def test_jobs_do_not_change_bytes(capsys, table):
    one, two = (run(capsys, "analyze", table, "--json", "-", "--jobs", j)[1] for j in (1, 2))
    assert one == two


def test_by(capsys, table):
    code, out, _ = run(capsys, "analyze", table, "--by", "topic")
    assert code == 0
    assert "macro" in out
    document = json.loads(run(capsys, "analyze", table, "--by", "topic", "--json", "-")[1])
    assert set(document["by"]["groups"]) == {"x", "y"}


def test_who_answers_by_task_is_not_told_to(capsys, table):
    tasks = table.with_name("tasks.csv")
    tasks.write_text(table.read_text().replace("topic", "task"))
    assert "[several-tasks]" in run(capsys, "analyze", tasks, "--all")[1]
    assert "[several-tasks]" not in run(capsys, "analyze", tasks, "--all", "--by", "task")[1]


def test_baseline_and_candidate(capsys, table):
    _, out, _ = run(capsys, "analyze", table, "--baseline", "alpha", "--candidate", "beta")
    assert out.splitlines()[2].startswith("DID beta GET WORSE THAN alpha?")
    _, other, _ = run(capsys, "analyze", table, "--baseline", "beta", "--candidate", "alpha")
    assert "DID alpha GET WORSE THAN beta?" in other
    assert "Problems that scored lower: " in out
    assert re.search(
        r"seen 4 times in 5 if it is \S+ points \(these\s+problems\), \S+\s+points", out
    )


def test_markdown_escapes_names(capsys, tmp_path):
    path = tmp_path / "x.csv"
    rows = [f"<b>a</b>|*,q{i},{r},{(i + r) % 2}" for i in range(4) for r in range(2)]
    path.write_text("\n".join(["model,problem,run,outcome", *rows]))
    _, out, _ = run(capsys, "analyze", path, "--markdown")
    assert "<b>" not in out
    assert "&lt;b&gt;a&lt;/b&gt;\\|\\*" in out


def test_control_characters_do_not_reach_the_terminal(capsys, tmp_path):
    path = tmp_path / "x.csv"
    rows = [f"a\x1b[31m,q{i},{r},{(i + r) % 2}" for i in range(4) for r in range(2)]
    path.write_text("\n".join(["model,problem,run,outcome", *rows]))
    assert "\x1b" not in run(capsys, "analyze", path)[1]


def test_components_only_when_asked(capsys, table):
    assert "VARIANCE COMPONENTS" not in run(capsys, "analyze", table)[1]
    assert "VARIANCE COMPONENTS" in run(capsys, "analyze", table, "--components")[1]


def test_check(capsys, table):
    code, out, _ = run(capsys, "check", table)
    assert code == 0
    assert "alpha, default: 12 problems x 3 runs" in out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["analyze", "nowhere.csv"], "nowhere.csv"),
        (["analyze", "--level", "95"], "--level"),
        (["analyze", "--resamples", "3"], "--resamples"),
        (["analyze", "--seed", "-1"], "--seed"),
        (["analyze", "--jobs", "0"], "--jobs"),
        (["analyze", "--baseline", "GPT-4.1"], "--candidate"),
        (["analyze", "--baseline", "GPT-4.1", "--candidate", "GPT-4.1"], "same system"),
        (["analyze", "--baseline", "GPT-4.1", "--candidate", "GPT-5"], "GPT-5"),
        (["analyze", "--condition", "Short"], "Detailed"),
        (["analyze", "--cluster", "colour"], "difficulty"),
        (["analyze", "--by", "colour"], "difficulty"),
        (["analyze", "--json", "no/such/folder/x.json"], "cannot write"),
        (["build", "--by", "difficulty"], "--by"),
        (["build", "--name", "../x"], "name"),
    ],
)
def test_bad_input_is_one_message_and_exit_2(capsys, argv, message):
    code, out, err = run(capsys, *argv)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.startswith("repeval: ")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["analyse"], "invalid choice: 'analyse'"),
        (["compare", "a", "b", "--margin", "three"], "argument --margin: invalid float value"),
        (["gate", "a", "b"], "required: --margin (see repeval gate --help)"),
        (["plan", "--bogus=x"], "unrecognized arguments: --bogus=x"),
        (["fetch", "one", "two"], "unrecognized arguments: two"),
    ],
)
def test_usage_errors_are_one_sentence_and_exit_2(capsys, argv, words):
    with pytest.raises(SystemExit) as error:
        main(argv)
    assert error.value.code == 2
    assert words in (err := capsys.readouterr().err)
    assert err.startswith("repeval: ")
    assert err.count("\n") == 1


def test_data_may_follow_options(capsys, table):
    names = repeval.load(table).models[:2]
    answers = []
    for argv in ([*names, table, "--margin", "3"], [*names, "--margin", "3", table]):
        assert main(["compare", *map(str, argv), "--json", "-"]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


def test_a_closed_pipe_is_no_failure():
    command = f"{sys.executable} -m repeval analyze --json - | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr


def test_json_does_not_replace_inputs_or_devices(capsys, table, tmp_path):
    before = table.read_text()
    code, _, err = run(capsys, "analyze", table, "--json", table)
    assert code == 2
    assert "is one of the inputs" in err
    assert table.read_text() == before
    link, target = tmp_path / "link.json", tmp_path / "target.json"
    target.write_text("{}")
    link.symlink_to(target)
    assert run(capsys, "analyze", table, "--json", link)[0] == 0
    assert link.is_symlink()
    assert json.loads(target.read_text())["schema"] == "repeval/analysis/2"
    assert run(capsys, "analyze", table, "--json", "/dev/null")[0] == 0
    assert not Path("/dev/null").is_file()


def test_a_cluster_column_of_one_value_is_refused(capsys, tmp_path):
    path = tmp_path / "x.csv"
    rows = [f"a,q{i},{r},{(i + r) % 2},one" for i in range(4) for r in range(2)]
    path.write_text("\n".join(["model,problem,run,outcome,family", *rows]))
    code, _, err = run(capsys, "analyze", path, "--cluster", "family")
    assert code == 2
    assert "one value" in err


def test_a_full_disk_is_one_message(table):
    command = [sys.executable, "-m", "repeval", "analyze", str(table)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--json", "--by", "--cluster", "--condition"])
def test_empty_options_are_refused(capsys, table, option):
    code, _, err = run(capsys, "analyze", table, option, "")
    assert code == 2
    assert f"{option} is empty" in err


def test_control_characters_reach_no_terminal_from_logs_and_errors(capsys, tmp_path):
    from tests.io.readers.inspect_logs import log, write

    write(tmp_path / "a.json", log([[1, 0], [0, 1]], model="\x1b[31m", task="\x1b[32m"))
    shown = [
        run(capsys, "check", tmp_path / "a.json"),
        run(capsys, "convert", tmp_path / "a.json", "-o", tmp_path / "out.csv"),
        run(capsys, "analyze", tmp_path / "a.json", "--scorer", "\x1b[33m"),
    ]
    assert [code for code, *_ in shown] == [0, 0, 2]
    assert "\x1b" not in "".join(out + err for _, out, err in shown)
