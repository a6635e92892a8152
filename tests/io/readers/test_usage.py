"""What runs cost by the logs: as it was written, by model, and as the price that a plan takes."""

import json
from dataclasses import astuple

import pytest

from repeval.cli import main
from repeval.io.readers.base import amount
from repeval.io.readers.usage import stated
from tests.io.readers import agent_logs, inspect_logs, promptfoo_logs

TENSOR = [[1, 0, 1], [1, 1, 1], [0, 0, 0], [0, 1, 0]]
PLACES = [(i, r) for i in range(4) for r in range(3)]


def harbor(path, cost=0.25, copies=1):
    used = {"n_input_tokens": 900, "n_output_tokens": 100, "cost_usd": cost}
    more = {(i, r): {"agent_result": used} for i in range(4 * copies) for r in range(3)}
    return agent_logs.harbor(path / "job", TENSOR * copies, more)


def test_harbor_states_cost_and_tokens(tmp_path):
    assert astuple(stated([harbor(tmp_path)])["m"]) == (3.0, 12, 12_000.0, 12)


def test_a_name_that_is_typed_is_the_models(tmp_path):
    harbor(tmp_path)
    assert [*stated([f"mine={tmp_path / 'job'}"])] == ["mine"]


def test_tau2_states_cost_where_it_does(tmp_path):
    more = {place: {"agent_cost": 0.5, "user_cost": 9.0} for place in PLACES[:10]}
    path = agent_logs.tau2_bench(tmp_path / "runs.json", TENSOR, more)
    assert astuple(stated([path])["m"]) == (5.0, 10, 0, 0)


def test_promptfoo_states_both_and_cached_answers_say_nothing(tmp_path):
    whole, path = promptfoo_logs.output({("m", "Q"): TENSOR}), tmp_path / "out.json"
    rows = whole["results"]["results"]
    for i, row in enumerate(rows):
        row["cost"] = 0.5
        row["response"] = {"tokenUsage": {"total": 40}, "cached": i == 0}
    path.write_text(json.dumps(whole))
    (used,) = stated([path]).values()
    assert astuple(used) == (0.5 * (len(rows) - 1), len(rows) - 1, 40 * (len(rows) - 1), 11)


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_inspect_states_the_tokens_of_an_evaluation(tmp_path, suffix):
    whole = inspect_logs.log(TENSOR)
    usage = {"m": {"total_tokens": 1000}, "judge": {"total_tokens": 200}}
    path = inspect_logs.write(tmp_path / f"a{suffix}", whole | {"stats": {"model_usage": usage}})
    (used,) = stated([path]).values()
    assert astuple(used) == (0, 0, 1200, 12)
    usage["judge"]["total_cost"], usage["m"]["total_cost"] = 1, 2
    path = inspect_logs.write(tmp_path / f"b{suffix}", whole | {"stats": {"model_usage": usage}})
    (used,) = stated([path]).values()
    assert astuple(used) == (3, 12, 1200, 12)


def test_tables_and_silent_logs_state_nothing(tmp_path):
    (tmp_path / "runs.csv").write_text("model,problem,run,outcome\na,1,1,1\na,2,1,0\n")
    assert stated([tmp_path / "runs.csv"]) == {}
    assert stated([agent_logs.harbor(tmp_path / "job", TENSOR)]) == {}


@pytest.mark.parametrize("row", [None, [], {"x": None}, {"x": {"y": "3"}}, {"x": {"y": True}},
                                 {"x": {"y": -1}}, {"x": {"y": float("nan")}}])  # fmt: skip
def test_what_is_no_amount_is_not_stated(row):
    assert amount(row, "x", "y") is None
    assert amount({"x": {"y": 3}}, "x", "y") == 3.0


def test_a_plan_takes_the_price_of_the_logs(tmp_path, capsys):
    path = str(harbor(tmp_path, copies=2))  # no plan is made from four problems

    def told(*options):
        assert main(["plan", path, "--problem-cost", "2", "--json", "-", *options]) == 0
        return json.loads(capsys.readouterr().out)

    by_logs, by_hand = told(), told("--run-cost", "0.25")
    assert (by_logs["run_cost"], by_logs["run_cost_stated"], by_logs["tokens"]) == (
        0.25,
        True,
        1000,
    )
    assert not by_hand["run_cost_stated"]
    assert by_logs["next"] == by_hand["next"]
    assert by_logs["next"] != told("--run-cost", "1")["next"]
    assert main(["plan", path, "--problem-cost", "2"]) == 0
    assert "A run cost 0.25 by the logs; --run-cost for another." in capsys.readouterr().out
    free = str(harbor(tmp_path / "free", cost=None, copies=2))
    assert main(["plan", free, "--problem-cost", "2"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "A run used 1,000 tokens by the logs: --run-cost, their price." in out
