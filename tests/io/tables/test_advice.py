"""What is offered where columns are not clear or rows repeat: typed as it stands, it works."""

from __future__ import annotations

import argparse
import re
import shlex

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repeval import load
from repeval.cli import _data_options
from repeval.io.columns import JUDGES, RUNS, SYSTEMS, TIMES, plain
from repeval.messages import RepevalError


def refusal(path, **options) -> RepevalError:
    with pytest.raises(RepevalError) as caught:
        load(path, **options)
    return caught.value


def offers(error: RepevalError) -> list[dict]:
    """The options that a message tells to type, as the command line reads them."""
    said = re.search(r"(?:Type|type) (--(?:columns|scale).*?)\.(?: |$)", error.text)
    parser = argparse.ArgumentParser()
    _data_options(parser)
    found = []
    for typed in said[1].split(" or ") if said else ():
        args = parser.parse_args(shlex.split(typed.partition(" and ")[0]))
        scale = tuple(args.scale) if args.scale else None
        found.append({"columns": args.columns, "scale": scale})
    return found


def read_as_offered(path, **before) -> list:
    """Load with every offer of the refusal; none may be refused."""
    error = refusal(path, **before)
    found = [load(path, **offer) for offer in offers(error)]
    assert found, error.text
    return found


def rates(data) -> dict:
    return {s: float(data.system(*s).rate.mean()) for s in data.systems}


def parts_of_problem(error: RepevalError) -> set[str]:
    """The columns that a message would make the problem's key, where they are several."""
    keys = re.findall(r"problem=([^,'\n]*?\+[^,'\n]*?)(?=[,' .]|$)", error.text)
    return {plain(part) for key in keys for part in key.split("+")}


HUMAN = [
    "Model Name,Question ID,Trial #,Pass/Fail", "modelId,InstanceID,trial-index,Resolved",
    "MODEL_NAME_OR_PATH,doc id,Epoch,Accepted (bool)", "model,problem,seed,Correct?",
]  # fmt: skip


@pytest.mark.parametrize("header", HUMAN)
def test_names_are_compared_without_case_spaces_and_marks(write, header):
    rows = "a,x,1,1\na,x,2,0\na,y,1,0\na,y,2,0\nb,x,1,1\nb,x,2,1\nb,y,1,1\nb,y,2,0\n"
    data = load(write("h.csv", f"{header}\n{rows}"))
    assert rates(data) == {("a", "default"): 0.25, ("b", "default"): 0.75}


def test_a_column_of_the_roles_own_name_comes_before_further_spellings(write):
    text = "model,model_name,problem,run,seed,outcome\na,A,x,1,7,1\na,A,y,1,7,0\n"
    data = load(write("b.csv", text))
    assert data.models == ("a",)
    assert set(data.frame["run"]) == {"1"}


def test_sample_id_is_the_problem_where_its_values_repeat(write):
    rows = ["a,x,1,1", "a,x,2,0", "a,y,1,0", "a,y,2,0"]
    head = "model,sample_id,run,outcome\n"
    data = load(write("s.csv", head + "\n".join(rows)))
    assert data.problems == ("x", "y")
    error = refusal(write("s.csv", head + "\n".join(rows[::2])))
    assert error.code == "doubtful-column"
    assert "--columns problem=sample_id" in error.text


def test_all_unclear_roles_are_in_one_message(write):
    rows = [f"{a},{t},{r},{(t * r + a) % 2}" for a in (0, 1) for t in range(4) for r in range(3)]
    path = write("u.csv", "llm,task,run_id,result\n" + "\n".join(rows))
    error = refusal(path)
    for role in ("model", "problem", "run", "outcome"):
        assert f"no column is surely the {role}" in error.text
    (data,) = read_as_offered(path)
    assert (data.models, len(data.problems)) == (("0", "1"), 4)


def test_a_column_of_the_outcomes_kind_is_offered_where_no_name_fits(write):
    path = write("n.csv", "model,problem,run,note,zahl\na,x,1,hm,1\na,y,1,hm,0\n")
    error = refusal(path)
    assert error.code == "missing-column"
    assert "model, problem, run, note, zahl" in error.text
    assert offers(error)[0]["columns"] == ["outcome=zahl"]


def test_where_no_option_helps_the_message_says_why(write):
    head = "model,id,outcome\n"
    error = refusal(write("same.csv", head + "a,x,1\na,x,0\na,y,1\na,z,1\n"))
    assert error.code == "doubtful-column"
    assert not offers(error)
    assert "--columns problem=id would not do" in error.text
    assert "there is no run column" in error.text
    assert "one problem" in refusal(write("one.csv", head + "a,x,1\n")).text
    assert "cannot be read" in refusal(write("bad.csv", head + "a,x,hm\na,y,1\n")).text


SYSTEM = ["agent", "temperature", "Temp", "prompt_id", "system prompt", "scaffold", "agent_name"]
NUMBERED = ["attempt_no", "iteration", "rep", "judge", "rater", "tstamp", "created_at"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
@given(
    st.sampled_from(SYSTEM + NUMBERED), st.booleans(), st.booleans(), st.integers(2, 3),
    st.integers(3, 6), st.randoms(use_true_random=False),
)  # fmt: skip
def test_what_tells_systems_or_runs_apart_is_never_part_of_a_problem(
    tmp_path_factory, name, with_run, distinct_runs, levels, problems, random
):
    """Rows of one problem that only one column tells apart: runs in each level, or none."""
    rows = [
        (f"v{level}", f"q{i}", run + 2 * level * distinct_runs, random.randint(0, 1))
        for level in range(levels) for i in range(problems) for run in range(2 if with_run else 1)
    ]  # fmt: skip
    head = ["model", name, "problem", *["run"] * with_run, "outcome"]
    lines = [["m", v, q, *[str(run)] * with_run, str(y)] for v, q, run, y in rows]
    path = tmp_path_factory.mktemp("apart") / "t.csv"
    path.write_text("\n".join(",".join(line) for line in [head, *lines]))
    if name in NUMBERED and with_run and distinct_runs:
        assert len(load(path).frame) == len(rows)
        return
    error = refusal(path)
    assert not parts_of_problem(error) & {plain(name)}
    found = [load(path, **offer) for offer in offers(error)]
    assert found
    assert all(len(data.frame) == len(rows) for data in found)
    if name in SYSTEM:
        apart = [data for data in found if len(data.systems) == levels]
        assert {len(data.models) for data in apart} == {1, levels}
        assert {len(data.conditions) for data in apart} == {1, levels}
    else:
        assert any(data.frame["run"].nunique() >= levels for data in found)


def test_names_that_are_no_part_of_a_key():
    for name in ("model", "agent", "temperature", "prompt", "model_name_or_path", "system_prompt"):
        assert SYSTEMS.fullmatch(plain(name))
    for name in ("prompt_tokens", "model_patch", "model_output", "task", "difficulty", "agency"):
        assert not any(kind.fullmatch(plain(name)) for kind in (SYSTEMS, RUNS, JUDGES, TIMES))
    assert all(RUNS.fullmatch(plain(name)) for name in ("attempt", "Run #", "trial_index"))


def test_a_text_of_its_own_for_each_row_is_a_label(write):
    rows = [f"m,p{i},{r},{(i + r) % 2},answer {i} {r}" for i in range(3) for r in range(2)]
    data = load(write("l.csv", "model,problem,run,outcome,agent\n" + "\n".join(rows)))
    assert data.systems == (("m", "default"),)


def test_who_says_that_no_column_is_a_condition_is_believed(write):
    rows = [f"m,p{i},{r},{(i + r) % 2},{r // 2}" for i in range(3) for r in range(4)]
    path = write("l.csv", "model,problem,run,outcome,agent\n" + "\n".join(rows))
    condition, model, none = read_as_offered(path)
    assert condition.conditions == ("0", "1")
    assert model.models == ("m/0", "m/1")
    assert none.systems == (("m", "default"),)
    assert len(none.frame) == 12


@pytest.mark.parametrize("role", ["model", "condition"])
def test_two_columns_make_a_model_or_a_condition(write, role):
    rows = [f"{a},{t},p{i},{r},{(i + r) % 2}" for a in "ab" for t in (0, 1)
            for i in range(2) for r in range(2)]  # fmt: skip
    head = "model,temperature,problem,run,outcome\n"
    data = load(write("j.csv", head + "\n".join(rows)), columns=f"{role}=model+temperature")
    names = data.models if role == "model" else data.conditions
    assert names == ("a/0", "a/1", "b/0", "b/1")


def test_few_repeated_rows_are_attempts_and_many_are_runs(write):
    head = "model,problem,outcome,tstamp\n"
    first = [f"m,p{i},{i % 2},{100 + i}" for i in range(10)]
    again = [f"m,p{i},{(i + 1) % 2},{200 + i}" for i in range(10)]
    few = refusal(write("few.csv", head + "\n".join([*first, *again[:2]])))
    assert few.code == "no-run-column"
    assert not offers(few)
    assert "--retries last, --retries best or --retries first" in few.text
    (many,) = read_as_offered(write("many.csv", head + "\n".join([*first, *again])))
    assert many.system("m", "default").runs.tolist() == [2] * 10


# Files of people, each with what a few lines find in it.


def rows_of(path) -> list[dict]:
    import pandas as pd

    read = pd.read_csv if path.suffix == ".csv" else lambda p, **_: pd.read_json(p, lines=True)
    return read(path, keep_default_na=False).to_dict("records")


def mean_by(rows, problem: str, outcome, of=lambda row: True) -> float:
    """The mean over problems of the mean over their rows."""
    problems: dict = {}
    for row in filter(of, rows):
        problems.setdefault(row[problem], []).append(outcome(row))
    return sum(sum(ys) / len(ys) for ys in problems.values()) / len(problems)


def near(value: float):
    # Sums of at most 400 numbers below 1, in another order.
    return pytest.approx(value, abs=1e-13)


def test_headers_that_people_write(shared):
    path = shared / "field" / "28_human_headers.csv"
    mean = mean_by(rows_of(path), "Question ID", lambda row: row["Pass/Fail"])
    data = load(path)
    assert rates(data) == {("a", "default"): near(mean)}
    assert data.system("a", "default").runs.tolist() == [2] * len(data.problems)


@pytest.mark.parametrize("name", ["29_swebench_model_name_or_path", "29b_model_column_other_name"
                                  "_unique_run_ids", "29c_modelId_unique_run_ids"])  # fmt: skip
def test_the_model_under_another_name(shared, name):
    path = shared / "field" / f"{name}.csv"
    rows = rows_of(path)
    (column,) = [c for c in rows[0] if c.startswith("model")]
    found = [load(path)] if name.startswith("29_") else read_as_offered(path)
    for data in found:
        assert data.models == ("org/alpha", "org/beta")
        for model, published in (("org/alpha", 0.3), ("org/beta", 22 / 30)):
            mean = mean_by(rows, "instance_id", lambda row: row["resolved"],
                           lambda row, m=model: row[column] == m)  # fmt: skip
            # The README gives 30.0 % and 73.3 %.
            assert mean == pytest.approx(published, abs=5e-4)
            assert data.system(model, "default").rate.mean() == near(mean)


def test_a_temperature_is_a_condition_or_part_of_the_model(shared):
    path = shared / "field" / "32_temperature_column.csv"
    rows = rows_of(path)
    error = refusal(path)
    assert not parts_of_problem(error)
    condition, model = read_as_offered(path)
    assert len(model.models) == len(condition.conditions) == 2
    for t in {row["temperature"] for row in rows}:
        mean = mean_by(rows, "problem", lambda row: row["outcome"],
                       lambda row, t=t: row["temperature"] == t)  # fmt: skip
        assert condition.system("alpha", str(t)).rate.mean() == near(mean)
        assert model.system(f"alpha/{t}", "default").rate.mean() == near(mean)


def test_ids_of_rows_are_no_problems(shared):
    path = shared / "field" / "15_braintrust_export_no_trial_index.csv"
    mean = mean_by(rows_of(path), "input", lambda row: row["scores.Factuality"])
    (data,) = read_as_offered(path)
    assert [*rates(data).values()] == [near(mean)]
    assert (data.system(*data.systems[0]).runs == 4).all()


def test_questions_judged_twice_are_attempts(shared):
    error = refusal(shared / "field" / "11_livebench_judgment_duplicates.jsonl")
    assert "--retries last" in error.text
    assert not offers(error)


def test_ratings_of_judges(shared):
    path = shared / "field" / "12_mtbench_judge_five_runs.jsonl"
    rows = [{**row, "key": (row["question_id"], row["turn"])} for row in rows_of(path)]
    data = read_as_offered(path)[0]
    assert data.policy.scale == (1, 10)
    judged = [row for row in rows if row["score"] != -1]
    for model in ("alpha", "beta"):
        mean = mean_by(judged, "key", lambda row: (row["score"] - 1) / 9,
                       lambda row, m=model: row["model"] == m)  # fmt: skip
        assert data.system(model, "default").rate.mean() == near(mean)
    assert len(data.errored) == sum(row["score"] == -1 for row in rows) == 4
    assert "judges-as-runs" in [notice.code for notice in data.notices]
    assert "no runs" in refusal(path).text
    (asked,) = read_as_offered_with(path, scale=(1, 10))
    assert rates(asked) == rates(data)


def read_as_offered_with(path, scale):
    return [load(path, columns=offer["columns"], scale=scale)
            for offer in offers(refusal(path, scale=scale))]  # fmt: skip


def test_ratings_of_several_raters(shared):
    path = shared / "field" / "13b_ratings_1_to_5.csv"
    rows = rows_of(path)
    data = read_as_offered(path)[0]
    for model in ("alpha", "beta"):
        mean = mean_by(rows, "item_id", lambda row: (row["rating"] - 1) / 4,
                       lambda row, m=model: row["model"] == m)  # fmt: skip
        assert data.system(model, "default").rate.mean() == near(mean)
    assert "judges-as-runs" in [notice.code for notice in data.notices]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("22_pairwise_judge.jsonl", "pairwise-verdicts"),
        ("24_promptfoo_wide.csv", "promptfoo-table"),
        ("19b_accuracy_per_run.csv", "totals-only"),
    ],
)
def test_what_holds_no_single_outcomes(shared, name, code):
    error = refusal(shared / "field" / name)
    assert error.code == code
    assert not offers(error)


def test_totals_of_runs_typed_as_problems(write):
    text = "repetition,num_total,num_solved,accuracy\n1,30,2,0.1\n2,30,3,0.1\n"
    path = write("totals.csv", text)
    assert refusal(path).code == "totals-only"
    for columns in ("problem=repetition", "problem=repetition,outcome=accuracy"):
        assert refusal(path, columns=columns).code == "totals-only"


def test_trials_that_are_the_problems_are_no_totals(write):
    path = write("trials.csv", "model,trial,correct\na,t1,1\na,t2,0\n")
    data = load(path, columns={"problem": "trial", "run": ""})
    assert data.problems == ("t1", "t2")
    assert load(path, columns="problem=trial").problems == ("t1", "t2")
    assert refusal(path).code == "missing-column"
