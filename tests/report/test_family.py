"""`repeval compare --many`: candidates against one baseline, all asked together."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.cli import main
from repeval.messages import RepevalError
from repeval.report.family import family
from repeval.report.versus import versus
from repeval.stats.comparison import holm
from tests.report.test_versus import table


def drawn(problems=80, runs=5, seed=2606):
    """Rows of a baseline, three that differ from it by run noise, one lower and one higher."""
    rng = np.random.default_rng(seed)
    p = rng.beta(2, 1.5, problems)
    base, low, high = (rng.binomial(runs, np.clip(p + d, 0, 1)) for d in (0.0, -0.3, 0.25))
    moved = np.where((base > 0) & (base < runs), (-1) ** np.arange(problems), 0)
    alike = {f"c{i}": base + np.roll(moved, i) * (moved != 0) for i in (1, 2, 3)}
    return table({"base": base, **alike, "low": low, "high": high}, runs)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drawn().to_csv("runs.csv", index=False)
    return tmp_path / "runs.csv"


def ran(capsys, *argv):
    code = main(["compare", *map(str, argv)])
    caught = capsys.readouterr()
    return code, caught.out, caught.err


def test_differences_are_candidate_minus_baseline_best_first():
    found = family(repeval.load(drawn()), "base")
    assert found.candidates[0].candidate == "high"
    assert found.candidates[-1].candidate == "low"
    told = {c.candidate: (c.these.verdict, c.new.verdict) for c in found.candidates}
    assert told["low"] == ("worse", "worse")
    assert told["high"] == ("better", "better")
    assert told["c1"] == told["c2"] == told["c3"] == ("not shown", "not shown")
    for c in found.candidates:
        assert c.difference == pytest.approx(c.mean - found.mean_baseline)
        for answer in (c.new, c.these):
            assert answer.interval[0] < c.difference < answer.interval[1]


def test_each_pair_is_that_of_compare_and_all_together_are_less_sure():
    outcomes = repeval.load(drawn())
    found = family(outcomes, "base")
    for c in found.candidates:
        alone = versus(outcomes, "base", c.candidate)
        assert c.new.p_value == pytest.approx(alone.pair.p_value, abs=1e-9)  # of an exact law
        assert c.new.p_adjusted >= c.new.p_value
        assert c.new.interval[0] < alone.new.interval[0]
        assert c.new.interval[1] > alone.new.interval[1]
    for question in ("new", "these"):
        answers = [getattr(c, question) for c in found.candidates]
        theirs = holm([a.p_value for a in answers])
        assert all(a.p_adjusted <= p + 1e-12 for a, p in zip(answers, theirs, strict=True))
    (one,) = family(outcomes, "base", ["low"]).candidates
    alone = versus(outcomes, "base", "low")
    assert (one.new.interval, one.these.interval) == (alone.new.interval, alone.these.interval)


def test_the_same_verdict_on_screen_in_markdown_json_csv_and_python(path, capsys):
    code, out, _ = ran(capsys, "base", "--many", "runs.csv")
    assert code == 0
    lines = out.splitlines()
    assert lines[2] == "5 CANDIDATES AGAINST base"
    assert "1 WORSE (low), 1 BETTER (high), 3 not shown" in " ".join(lines[3:5])
    assert max(map(len, lines)) <= 80
    _, out, _ = ran(capsys, "base", "--many", "runs.csv", "--markdown")
    assert "1 WORSE (low), 1 BETTER (high), 3 not shown" in out
    _, out, _ = ran(capsys, "base", "runs.csv", "--many", "--json", "-", "--csv", "all.csv")
    told = json.loads(out)
    assert told["schema"] == "repeval/compare-many/1"
    assert told["direction"] == "candidate minus baseline"
    rows = pd.read_csv("all.csv").set_index("candidate")
    mine = family(repeval.load(path), "base")
    for row, c in zip(told["candidates"], mine.candidates, strict=True):
        assert row["candidate"] == c.candidate
        assert row["new"]["p_adjusted"] == c.new.p_adjusted
        assert rows.loc[c.candidate, "new_verdict"] == row["new"]["verdict"] == c.new.verdict
        assert rows.loc[c.candidate, "these_low"] == pytest.approx(c.these.interval[0])


@pytest.mark.parametrize(
    "words",
    [
        ["base", "--many", "low", "c1", "runs.csv"],
        ["base", "low", "c1", "runs.csv", "--many"],
        ["base", "low", "runs.csv", "--many", "c1"],
    ],
)
def test_candidates_are_named_before_or_after_the_option(path, capsys, words):
    code, out, _ = ran(capsys, *words, "--json", "-")
    assert code == 0
    assert {c["candidate"] for c in json.loads(out)["candidates"]} == {"c1", "low"}


def test_paths_are_systems_of_one_model_each(path, capsys):
    rows = pd.read_csv(path)
    for name in ("base", "low", "high"):
        rows[rows["model"] == name].drop(columns="model").to_csv(f"{name}.csv", index=False)
    code, out, _ = ran(capsys, "base.csv", "--many", "low.csv", "up=high.csv", "--json", "-")
    assert code == 0
    told = json.loads(out)
    assert [c["candidate"] for c in told["candidates"]] == ["up", "low"]
    assert told["baseline"] == "base"


@pytest.mark.parametrize("how", ["files", "one table", "with the baseline"])
def test_a_folder_after_a_path_holds_the_candidates(path, capsys, how):
    """Whatever its files are: a model each, or several; the baseline may be one of them."""
    rows, folder = pd.read_csv(path), path.parent / "logs"
    folder.mkdir()
    models = dict(tuple(rows.groupby("model")))
    base = (folder if how == "with the baseline" else path.parent) / "base.csv"
    models.pop("base").to_csv(base, index=False)
    if how == "one table":
        pd.concat(models.values()).to_csv(folder / "all.csv", index=False)
    for name, part in models.items() if how != "one table" else ():
        part.to_csv(folder / f"{name}.csv", index=False)
    direct = json.loads(ran(capsys, "base", "--many", path, "--json", "-")[1])
    for words in (["--many", "logs"], ["logs", "--many"]):
        code, out, err = ran(capsys, base, *words, "--json", "-")
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert found["baseline"] == "base"
        assert found["candidates"] == direct["candidates"]
    # Under a name of its own a folder is one candidate.
    code, _, err = ran(capsys, base, "--many", "x=logs")
    assert code == 2 or how == "with the baseline"


def test_a_margin_makes_equivalents(path, capsys):
    found = family(repeval.load(path), "base", margin=0.4)
    told = {c.candidate: c.new.verdict for c in found.candidates}
    assert told["c1"] == "equivalent"
    assert told["low"] == "worse"
    for c in found.candidates:
        low, high = c.new.interval
        assert c.new.within_margin == (low > -0.4 and high < 0.4)
    assert "margin of 40.0" in ran(capsys, "base", "--many", "runs.csv", "--margin", 40)[1]


def test_who_is_told_apart_in_a_later_step_is_marked():
    found = family(repeval.load(drawn()), "base")
    assert "*" not in found.screen()
    last = found.candidates[-1]
    wider = replace(last, new=replace(last.new, interval=(-0.5, 0.01)))
    text = replace(found, candidates=(*found.candidates[:-1], wider)).screen()
    assert "worse* -50.0 to 1.0" in text
    assert "* Told apart once the clearer ones were set aside" in text


def test_a_screen_has_twenty_candidates_and_the_rest_on_request():
    rows = pd.concat([
        table({f"m{i:02}": [i % 3, 2, 1, 3] * 5}, 3) for i in range(24)
    ])  # fmt: skip
    found = family(repeval.load(rows), "m00", n_resamples=100)
    assert "... 3 more: --all." in found.screen()
    assert "m23" in found.screen(everything=True)
    assert "more: --all" not in found.screen(markdown=True)


def test_single_runs_say_nothing_of_these_problems():
    found = family(repeval.load(drawn(runs=1)), "base")
    assert {c.these.verdict for c in found.candidates} == {"no verdict"}
    assert all(c.these.interval is None and c.these.p_adjusted is None for c in found.candidates)
    assert "5 no verdict" in found.screen()
    json.dumps(found.to_dict(), allow_nan=False)


def test_problems_that_one_lacks_are_left_out_and_counted():
    rows = drawn()
    found = family(repeval.load(rows[(rows["model"] != "c2") | (rows["problem"] > "q003")]), "base")
    assert (found.n_problems, found.n_left_out) == (76, 4)
    assert "Left out: 4 problems that one of them lacks." in found.screen()
    without = family(repeval.load(rows[rows["problem"] > "q003"]), "base")
    assert found.candidates == without.candidates


def test_clusters_and_others_alone_change_what_they_should():
    rows = drawn().assign(family=lambda t: t["problem"].str[:3])
    few = family(repeval.load(rows), "base", ["low", "c1"])
    alone = rows[rows["model"].isin(["base", "low", "c1"])]
    assert few.candidates == family(repeval.load(alone), "base").candidates
    grouped = family(repeval.load(rows), "base", ["low", "c1"], cluster="family")
    assert grouped.candidates[0].new.interval != few.candidates[0].new.interval
    assert grouped.candidates[0].these == few.candidates[0].these


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["base", "--many", "base", "runs.csv"], "one system is named twice"),
        (["base", "--many", "c1", "c1", "runs.csv"], "one system is named twice"),
        (["base", "--many", "nobody", "runs.csv"], "nobody"),
        (["nobody", "--many", "runs.csv"], "nobody"),
        (["base", "--many", "runs.csv", "--flips"], "not with --many"),
        (["base", "--many", "runs.csv", "--margin", "0"], "between 0 and 100 points"),
        (["base", "--many", "runs.csv", "--csv", "runs.csv"], "is one of the inputs"),
        (["base", "--many", "runs.csv", "--by", "x"], "--by is not for compare"),
        (["base", "--many", "runs.csv", "nofile.csv"], "nofile.csv"),
        (["runs.csv", "--many", "c1"], "c1: there is no such file"),
    ],
)
def test_refusals_are_one_sentence(path, capsys, words, said):
    code, out, err = ran(capsys, *words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_baseline_alone_is_refused():
    rows = drawn()
    with pytest.raises(RepevalError, match="no candidate beside the baseline 'base'"):
        family(repeval.load(rows[rows["model"] == "base"]), "base")
    other = rows[rows["model"].isin(["base", "c1"])].copy()
    other.loc[other["model"] == "c1", "problem"] += "x"
    with pytest.raises(RepevalError, match="no two problems that all of them"):
        family(repeval.load(other), "base")
