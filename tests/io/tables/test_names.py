"""Several files of one shape: what their names say of models, conditions and runs."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from repeval import RepevalError, load
from repeval.cli import main

RNG = np.random.default_rng(2606)


def refusal(*args, **options) -> RepevalError:
    with pytest.raises(RepevalError) as caught:
        load(*args, **options)
    return caught.value


@pytest.fixture
def files(write, tmp_path):
    """Write one verdict for each of six problems into files of these names."""

    def made(*names: str, start: int = 0, **columns) -> list:
        for name in names:
            table = {"problem": [f"q{start + i}" for i in range(6)], **columns}
            table["outcome"] = RNG.integers(0, 2, 6)
            frame = pd.DataFrame(table)
            text = frame.to_csv(index=False) if ".csv" in name else frame.to_json(
                orient="records", lines=True)  # fmt: skip
            write(f"d/{name}", text)
        return [tmp_path / "d" / name for name in names]

    return made


def test_field_04_a_file_per_run(shared):
    data = load(shared / "field/04_file_per_run")
    files = sorted((shared / "field/04_file_per_run").glob("*.csv"))
    assert data.models == ("alpha-7b", "beta-70b")
    for model in data.models:
        tables = [pd.read_csv(f, index_col=0)["correct"] for f in files if f.name.startswith(model)]
        assert data.system(model, "default").passes.tolist() == sum(map(pd.Series.astype, tables,
               [int] * len(tables))).tolist()  # fmt: skip
        assert set(data.system(model, "default").runs) == {len(tables)}


def test_field_25b_a_folder_per_model_a_file_per_run(shared, write, tmp_path):
    # The outcome is nested there: written flat, under the same names.
    paths = sorted((shared / "field/25b_dir_per_model_file_per_run").rglob("*.jsonl"))
    want = {}
    for path in paths:
        nested = pd.read_json(path, lines=True)
        passed = [scores["ResolutionRate"] for scores in nested["scores"]]
        flat = pd.DataFrame({"instance_id": nested["InstanceID"], "resolved": passed})
        flat.to_csv(write(f"d/{path.parent.name}/{path.stem}.csv", ""), index=False)
        want.setdefault(path.parent.name, []).append(flat["resolved"].sum())
    data = load(tmp_path / "d")
    assert data.models == tuple(sorted(want))
    for model, passes in want.items():
        sample = data.system(model, "default")
        assert (len(sample), set(sample.runs)) == (30, {len(passes)})
        assert sample.passes.sum() == sum(passes)


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["alpha_run1.csv", "alpha_run2.csv"], "{model}_run{run}.csv"),
        (["alpha-trial-1.csv", "alpha-trial-2.csv"], "{model}-trial-{run}.csv"),
        (["alpha/seed_3.jsonl", "alpha/seed_4.jsonl", "beta/seed_3.jsonl"],
         "{model}/seed_{run}.jsonl"),
        (["alpha/res_seed_3.csv", "beta/res_seed_3.csv"], "{model}/res_seed_{run}.csv"),
        (["run1/alpha.csv", "run2/alpha.csv", "run2/beta.csv"], "run{run}/{model}.csv"),
        (["alpha/100.csv", "alpha/101.csv", "beta/100.csv"], "{model}/{run}.csv"),
        (["alpha/results.csv", "beta/results.csv"], "{model}/results.csv"),
        (["alpha_run1_verdicts.csv", "alpha_run2_verdicts.csv"], "{model}_run{run}_verdicts.csv"),
        (["gpt-4_run1.csv", "gpt-5_run1.csv"], "{model}_run{run}.csv"),
    ],
)  # fmt: skip
def test_names_of_one_pattern_are_read_and_the_pattern_is_shown(files, names, pattern):
    paths = files(*names)
    data = load(paths)
    regex = re.escape(pattern).replace(r"\{model\}", "(?P<model>.+)").replace(
        r"\{run\}", r"(?P<run>\d+)")  # fmt: skip
    want = {tuple(re.fullmatch(regex, name).groupdict().get(k, "1") for k in ("model", "run"))
            for name in names}  # fmt: skip
    assert set(data.frame[["model", "run"]].itertuples(index=False, name=None)) == want
    (notice,) = (n for n in data.notices if n.code == "names-read")
    assert f"pattern {pattern}:" in notice.text
    pd.testing.assert_frame_equal(load(paths, names=pattern).frame, data.frame)


def test_the_pattern_stands_at_the_head_of_the_answer(files, capsys):
    files("a_run1.csv", "a_run2.csv", "b_run1.csv", "b_run2.csv")
    path = str(files("a_run1.csv")[0].parent)
    assert main(["analyze", path]) == 0
    assert capsys.readouterr().out.startswith("Read 4 files by the pattern {model}_run{run}.csv")
    assert main(["analyze", path, "--names", "{condition}_run{run}.csv"]) == 0
    assert main(["analyze", path, "--names", "{model}.txt"]) == 2
    assert "names-unfit" in capsys.readouterr().err


@pytest.mark.parametrize("pattern", ["", "runs.csv", "{system}.csv", "{run}_{run}.csv"])
def test_patterns_that_say_nothing_are_refused(files, pattern):
    assert refusal(files("a_run1.csv", "a_run2.csv"), names=pattern).code == "bad-option"


@pytest.mark.parametrize(
    "names", [["ckpt_1000.csv", "ckpt_2000.csv"], ["a1.csv", "a2.csv", "b1.csv"],
              ["llama-7b.csv", "llama-70b.csv"], ["1.csv", "2.csv"], ["x-part1.csv", "x-part2.csv"]]
)  # fmt: skip
def test_a_number_alone_makes_no_model_and_every_way_out_works(files, names):
    paths = files(*names)
    error = refusal(paths)
    assert error.code == "doubtful-names"
    ways = re.findall(r"--names '([^']+)'", error.text)
    assert len(ways) == 2
    shapes = {(len(data.models), data.frame["run"].nunique(), len(data.frame))
              for data in (load(paths, names=way) for way in ways)}  # fmt: skip
    assert len(shapes) == 2
    assert {rows for *_, rows in shapes} == {6 * len(names)}
    assert (len(names), 1, 6 * len(names)) in shapes


def test_a_name_for_each_file_needs_no_pattern(files):
    one, two = files("ckpt_1000.csv", "ckpt_2000.csv")
    assert load([f"a={one}", f"b={two}"]).models == ("a", "b")


def test_different_names_are_models_as_before(files):
    data = load(files("alpha.csv", "beta.csv"))
    assert data.models == ("alpha", "beta")
    assert "names-read" not in {n.code for n in data.notices}


def test_parts_of_one_table_stay_parts(files):
    one = files("part1.csv", model="m", run="1")
    two = files("part2.csv", start=6, model="m", run="1")
    data = load(one + two)
    assert data.models == ("m",)
    assert len(data.problems) == 12
    again = files("half_run1.csv", model="m") + files("half_run2.csv", start=6, model="m")
    assert load(again).system("m", "default").runs.tolist() == [1] * 12


def test_parts_without_a_model_are_put_together_when_told(files):
    paths = files("m_part1.csv") + files("m_part2.csv", start=6)
    ways = re.findall(r"--names '([^']+)'", refusal(paths).text)
    assert ways[0] == "{model}_part*.csv"
    assert load(paths, names=ways[0]).system("m", "default").runs.tolist() == [1] * 12


def test_runs_of_files_that_name_their_model_inside(files):
    data = load(files("out_seed1.csv", "out_seed2.csv", model="m"))
    assert data.models == ("m",)
    assert sorted(data.frame["run"].unique()) == ["1", "2"]


def test_a_run_column_inside_is_part_of_the_run(files):
    paths = files("m_run1.csv", "m_run2.csv", trial="7")
    assert sorted(load(paths).frame["run"].unique()) == ["1/7", "2/7"]
    paths = files("k_run1.csv", trial="1") + files("k_run2.csv", trial="2")
    assert sorted(load(paths).frame["run"].unique()) == ["1", "2"]


def test_one_name_for_several_files_makes_runs(files):
    paths = files("x.csv", "y.csv", "z.csv")
    data = load([f"m={paths[0]}", f"m={paths[1]}", f"k={paths[2]}"])
    assert data.models == ("k", "m")
    assert data.system("m", "default").runs.tolist() == [2] * 6
    assert "runs-numbered" in {n.code for n in data.notices}
    copy = paths[0].with_name("copy.csv")
    copy.write_bytes(paths[0].read_bytes())
    assert "identical" in refusal([f"m={paths[0]}", f"m={copy}"]).text
    data = load([f"m={path}" for path in files("r_run5.csv", "r_run9.csv")])
    assert sorted(data.frame["run"].unique()) == ["5", "9"]


def test_one_name_for_a_folder_is_for_one_model(files):
    folder = files("a_run1.csv", "a_run2.csv", "b_run1.csv")[0].parent
    assert refusal(f"m={folder}").code == "several-models"
    (folder / "b_run1.csv").unlink()
    assert load(f"m={folder}").system("m", "default").runs.tolist() == [2] * 6


def test_one_name_for_parts_makes_no_runs(files):
    paths = files("x.csv") + files("y.csv", start=6)
    assert load([f"m={path}" for path in paths]).system("m", "default").runs.tolist() == [1] * 12


def test_wide_files_and_counts_have_names_too(write, tmp_path):
    for model in "ab":
        write(f"w/{model}.csv", "problem,run_1,run_2\nx,1,0\ny,0,0\n")
        for seed in (1, 2):
            write(f"c/{model}_seed{seed}.csv", f"problem,runs,passes\nx,4,{seed}\ny,3,2\n")
    assert load(tmp_path / "w").system("a", "default").passes.tolist() == [1, 0]
    sample = load(tmp_path / "c").system("b", "default")
    assert (sample.passes.tolist(), sample.runs.tolist()) == ([3, 4], [8, 6])
