"""`Outcomes`: systems, pairs, missing runs and what counting tells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from repeval import load
from repeval.io.checks import checks
from repeval.io.outcomes import Outcomes
from repeval.messages import RepevalError


def outcomes(cells: dict[tuple[str, str], list[str]], **options) -> Outcomes:
    """One string of runs per problem; an empty string is an absent problem, ? an error."""
    rows = [
        (model, condition, f"p{i:03}", str(r), y)
        for (model, condition), problems in cells.items()
        for i, runs in enumerate(problems)
        for r, y in enumerate(runs)
    ]
    frame = pd.DataFrame(rows, columns=["model", "condition", "problem", "run", "outcome"])
    return Outcomes._from_frame(frame.assign(outcome=frame["outcome"].astype(float)), **options)


def codes(data: Outcomes) -> list[str]:
    return [notice.code for notice in (*data.notices, *checks(data))]


def text_of(data: Outcomes, code: str) -> str:
    (notice,) = [n for n in (*data.notices, *checks(data)) if n.code == code]
    return notice.text


@pytest.fixture
def ragged() -> Outcomes:
    return outcomes(
        {
            ("a", "c"): ["111", "010", "00", ""],
            ("b", "c"): ["11", "", "01", "10"],
            ("a", "d"): ["1", "0", "1", "1"],
        }
    )


def test_system_and_its_problems(ragged):
    sample = ragged.system("a", "c")
    assert sample.passes.tolist() == [3, 1, 0]
    assert sample.runs.tolist() == [3, 3, 2]
    assert ragged.system_problems("b", "c") == ("p000", "p002", "p003")
    assert ragged.has("a", "d")
    assert not ragged.has("b", "d")
    assert ragged.systems == (("a", "c"), ("a", "d"), ("b", "c"))


def test_pair_has_common_problems_and_each_side_its_runs(ragged):
    one, two, problems = ragged.pair(("a", "c"), ("b", "c"))
    assert problems == ("p000", "p002")
    assert (one.passes.tolist(), one.runs.tolist()) == ([3, 0], [3, 2])
    assert (two.passes.tolist(), two.runs.tolist()) == ([2, 1], [2, 2])


def test_pair_without_common_problems():
    data = outcomes({("a", "c"): ["1", "1", "0", ""], ("b", "c"): ["", "", "1", "1"]})
    with pytest.raises(RepevalError, match="1 problems in common") as caught:
        data.pair(("a", "c"), ("b", "c"))
    assert caught.value.code == "no-common-problems"
    assert data.common("c") == ({}, ())


def test_common(ragged):
    samples, problems = ragged.common("c")
    assert list(samples) == ["a", "b"]
    assert problems == ("p000", "p002")
    assert samples["b"].passes.tolist() == [2, 1]


def test_unknown_names(ragged):
    for call, code in [
        (lambda: ragged.system("aa", "c"), "unknown-model"),
        (lambda: ragged.system("a", "x"), "unknown-condition"),
        (lambda: ragged.system("b", "d"), "unknown-model"),
        (lambda: ragged.common("x"), "unknown-condition"),
        (lambda: ragged.select(models=["z"]), "unknown-model"),
        (lambda: ragged.select(models=["b"], conditions=["d"]), "unknown-model"),
        (lambda: ragged.select(models=[]), "unknown-model"),
        (lambda: ragged.split_by("task"), "unknown-label"),
    ]:
        with pytest.raises(RepevalError) as caught:
            call()
        assert caught.value.code == code


def test_missing_runs_are_counted_and_bounded(ragged):
    # a/c: 8 of 3 x 4 runs recorded, 4 passed.
    assert ragged.missing_runs("a", "c") == 4
    assert ragged.missing_bounds("a", "c") == pytest.approx((4 / 12, 8 / 12))
    assert ragged.missing_bounds("b", "c") == pytest.approx((4 / 8, 6 / 8))
    assert ragged.missing_bounds("a", "d") is None
    assert "6 of 24 runs are missing, in 2 of 3 systems" in text_of(ragged, "missing-runs")


def test_select_drops_problems_nobody_has(ragged):
    part = ragged.select(models=["b"])
    assert part.problems == ("p000", "p002", "p003")
    assert part.missing_bounds("b", "c") is None
    assert "missing-runs" not in codes(part)


def test_scores():
    frame = pd.DataFrame(
        {"model": "m", "condition": "c", "problem": list("xxyz"), "run": list("1211"),
         "outcome": [0.2, 0.4, 1, 0]}
    )  # fmt: skip
    data = Outcomes._from_frame(frame)
    sample = data.system("m", "c")
    assert sample.passes is None
    np.testing.assert_allclose(sample.rate, [0.3, 1, 0])
    np.testing.assert_array_equal(sample.scores[1:], [[1, np.nan], [0, np.nan]])
    assert "scores" in codes(data)


def test_names_are_in_numerical_then_alphabetical_order():
    rows = [("m", "c", p, "0", 1.0) for p in ("b", "10", "9", "a", "09")]
    frame = pd.DataFrame(rows, columns=["model", "condition", "problem", "run", "outcome"])
    assert Outcomes._from_frame(frame).problems == ("09", "9", "10", "a", "b")


def test_split_keeps_the_order_of_problems():
    labels = pd.DataFrame({"task": ["u", "t", "u"]}, index=["p000", "p001", "p002"])
    data = outcomes({("a", "c"): ["10", "11", "00"]}, labels=labels)
    parts = data.split_by("task")
    assert list(parts) == ["u", "t"]
    assert parts["u"].problems == ("p000", "p002")
    assert "several-tasks" in codes(data)
    assert "several-tasks" not in codes(parts["u"])


def rows(text: str) -> str:
    return "model,problem,run,outcome,status\n" + text


STATUS = rows("a,x,0,1,ok\na,x,1,,timeout\na,y,0,0,ok\na,y,1,0,error\na,z,0,,x\na,z,1,,x\n")


def test_errors_are_missing_or_failed(write):
    data = load(write("e.csv", STATUS))
    assert data.problems == ("x", "y", "z")
    assert len(data.errored) == 3
    assert data.missing_bounds("a", "default") == pytest.approx((1 / 6, 4 / 6))
    assert {"errored-rows", "score-with-error", "missing-runs"} <= set(codes(data))
    failed = load(write("e.csv", STATUS), errors="fail")
    assert failed.system("a", "default").rate.tolist() == [0.5, 0, 0]
    assert failed.missing_bounds("a", "default") is None


def test_errors_survive_writing(write, tmp_path):
    data = load(write("e.csv", STATUS))
    data.to_csv(tmp_path / "out.csv")
    again = load(tmp_path / "out.csv")
    pd.testing.assert_frame_equal(data.errored, again.errored)
    pd.testing.assert_frame_equal(data.frame, again.frame)


RAGGED = """model,problem,run,outcome
a,x,0,1
a,x,1,1
a,y,0,1
a,y,1,0
a,z,0,1
b,x,0,1
b,y,0,0
"""


def test_rule_drop_problem(write):
    data = load(write("r.csv", RAGGED), missing="drop-problem")
    assert data.problems == ("x", "y")
    assert data.policy.missing == "drop-problem"
    assert "1 of 3 problems" in text_of(data, "dropped-problems")


def test_rule_fail(write):
    data = load(write("r.csv", RAGGED), missing="fail")
    assert data.system("a", "default").passes.tolist() == [2, 1, 1]
    assert data.system("a", "default").runs.tolist() == [2, 2, 2]
    assert data.system("b", "default").passes.tolist() == [1, 0, 0]
    assert "2 missing runs" in text_of(data, "filled-runs")


def test_rule_fail_fills_errors_too(write):
    text = rows("a,x,0,1,\na,x,1,,e\na,y,0,1,\na,y,1,1,\nb,y,0,0,\n")
    data = load(write("r.csv", text), missing="fail")
    assert data.system("a", "default").runs.tolist() == [2, 2]
    assert data.system("a", "default").passes.tolist() == [1, 2]
    assert data.system("b", "default").runs.tolist() == [1, 1]


def test_rule_error(write):
    with pytest.raises(RepevalError, match="2 runs are missing") as caught:
        load(write("r.csv", RAGGED), missing="error")
    assert "'a', default, problem 'z' lacks 1 of 2" in caught.value.text
    assert "'b', default, problem 'z' lacks 1 of 1" in caught.value.text
    load(write("full.csv", RAGGED.replace("a,z,0,1\n", "")), missing="error")


def test_nothing_complete(write):
    text = "model,problem,run,outcome\na,x,0,1\na,y,0,1\nb,z,0,1\n"
    with pytest.raises(RepevalError) as caught:
        load(write("n.csv", text), missing="drop-problem")
    assert caught.value.code == "nothing-complete"


def test_identical_runs_and_few_mixed():
    same = outcomes({("a", "c"): ["11", "00"] * 20})
    assert "identical-runs" in codes(same)
    assert "few-mixed" not in codes(same)
    few = outcomes({("a", "c"): ["11", "00"] * 20 + ["10"] * 9})
    assert "fewest 9" in text_of(few, "few-mixed")
    assert "few-mixed" not in codes(outcomes({("a", "c"): ["11", "00"] * 20 + ["10"] * 10}))


def test_never_passed():
    data = outcomes({("a", "c"): ["10", "00", "00"], ("b", "c"): ["01", "01", "00"]})
    assert "1 of 3 problems" in text_of(data, "never-passed")


def test_single_run():
    assert "single-run" in codes(outcomes({("a", "c"): ["1", "0"]}))
    assert "single-run" not in codes(outcomes({("a", "c"): ["1", "00"]}))


def test_stopping_at_the_first_pass_is_noticed():
    rng = np.random.default_rng(2606)
    p = rng.beta(1, 1, 60)
    runs = rng.random((60, 5)) < p[:, None]
    stop = ["".join(str(int(y)) for y in r[: (list(r).index(True) + 1) if r.any() else 5])
            for r in runs]  # fmt: skip
    assert "adaptive-stopping" in codes(outcomes({("a", "c"): stop}))
    assert "adaptive-stopping" in codes(outcomes({("a", "c"): ["1"] * 5 + ["001", "000", "01"]}))


def test_runs_missing_at_random_are_not_taken_for_stopping():
    # |r| sqrt(N-1) > 4 has probability 6e-5: 300 tables give one with probability 0.02.
    rng = np.random.default_rng(2606)
    for _ in range(300):
        p = rng.beta(0.5, 0.5, 80)
        table = ["".join("01"[int(rng.random() < q)] for _ in range(rng.integers(1, 6))) for q in p]
        assert "adaptive-stopping" not in codes(outcomes({("a", "c"): table}))


def test_tasks_that_share_ids_are_noticed(write):
    text = "model,task,problem,run,outcome\na,t,1,0,1\na,t,2,0,0\nb,u,1,0,1\nb,u,2,0,0\n"
    assert "--columns problem=task+problem" in text_of(load(write("t.csv", text)), "several-tasks")
