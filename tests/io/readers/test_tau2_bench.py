"""tau2-bench: file and directory, rewards in parts, and trials that ended early."""

from __future__ import annotations

import pytest

from repeval import load

from .agent_logs import dump, tau2_bench
from .asked import TENSOR, codes, outcomes_of, refusal, text_of

IDS = range(12)


@pytest.mark.parametrize("name", ["m.json", "run"])
def test_round_trip(tmp_path, name):
    path = tau2_bench(tmp_path / name, TENSOR)
    for given in (path, tmp_path):
        data = load(given)
        assert outcomes_of(data, ids=IDS) == TENSOR
        assert text_of(data, "logs-read") == (
            "1 tau2-bench log: task airline, scorer reward; 1 model."
        )
        assert not {"partial-rewards", "files-skipped", "log-unfinished"} & codes(data)


def test_a_directory_may_be_given_by_its_results(tmp_path):
    path = tau2_bench(tmp_path / "run", TENSOR)
    assert outcomes_of(load(path / "results.json"), ids=IDS) == TENSOR


def test_rewards_in_parts_are_scores_and_near_one_is_one(tmp_path):
    rewards = [[1, 1 - 9e-7], [1 + 9e-7, 0], [0.5, 1]]
    data = load(tau2_bench(tmp_path / "m.json", rewards))
    assert outcomes_of(data, ids=range(3)) == [[1, 1], [1, 0], [0.5, 1]]
    assert text_of(data, "partial-rewards").startswith("Rewards between 0 and 1: 1.")
    passed = load(tmp_path / "m.json", pass_at=1)
    assert outcomes_of(passed, ids=range(3)) == [[1, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize("reason", ["max_steps", "infrastructure_error", "user_stop"])
def test_a_trial_without_a_reward_is_missing_and_no_zero(tmp_path, reason):
    early = {(0, 1): {"termination_reason": reason, "reward_info": None}}
    for name in ("m.json", "run"):
        path = tau2_bench(tmp_path / name, [[1, 1], [1, 0]], early)
        data = load(path)
        assert outcomes_of(data, ids=range(2)) == [[1, None], [1, 0]]
        assert "m 75.0 % (50.0 % if failed)" in text_of(data, "errored-rows")
        assert outcomes_of(load(path, errors="fail"), ids=range(2)) == [[1, 0], [1, 0]]


def test_a_reward_that_an_early_end_was_given_counts(tmp_path):
    """The harness itself gives most of them a 0, which is its verdict."""
    early = {(0, 1): {"termination_reason": "max_steps", "reward_info": {"reward": 0.0}}}
    data = load(tau2_bench(tmp_path / "m.json", [[1, 1], [1, 0]], early))
    assert outcomes_of(data, ids=range(2)) == [[1, 0], [1, 0]]
    assert "errored-rows" not in codes(data)


def test_models_are_named_and_settings_compared(tmp_path):
    tau2_bench(tmp_path / "a.json", TENSOR, model="a", args={"temperature": 0.0})
    tau2_bench(tmp_path / "b.json", TENSOR, model="b", args={"temperature": 1.0})
    data = load(tmp_path)
    assert data.models == ("a", "b")
    assert text_of(data, "settings-differ") == (
        "Settings of task airline differ. temperature: 0.0 (a), 1.0 (b)."
    )
    again = tau2_bench(tmp_path / "c.json", TENSOR, model="a", timestamp="2026-01-02")
    assert refusal(tmp_path).code == "same-model"
    assert load([tmp_path, f"a-2={again}"]).models == ("a", "a-2", "b")
    unnamed = tau2_bench(tmp_path / "x" / "d.json", TENSOR, model=None)
    assert load(unnamed).models == ("d",)


def test_domains_are_tasks(tmp_path):
    for domain in ("airline", "retail"):
        tau2_bench(tmp_path / f"{domain}.json", TENSOR, domain=domain)
    data = load(tmp_path)
    assert len(data.problems) == 24
    assert "several-tasks" in codes(data)


def test_what_was_planned_and_did_not_run_is_said(tmp_path):
    cut = [[1, 1, None], [0, None, None], [None] * 3]
    for name in ("m.json", "run"):
        data = load(tau2_bench(tmp_path / name, cut))
        assert outcomes_of(data, ids=range(2)) == [[1, 1], [0, None]]
        assert "unfinished after 3 runs" in text_of(data, "log-unfinished")
    path = tau2_bench(tmp_path / "run", cut)
    for one in (path / "simulations").iterdir():
        one.unlink()
    assert refusal(path).code == "no-samples"


def test_other_json_with_simulations_beside_it_is_none(tmp_path):
    dump(tmp_path / "results.json", {"info": {}})
    (tmp_path / "simulations").mkdir()
    assert refusal(tmp_path).code == "no-tables"
