"""Harbor: jobs of trials; rewards, exceptions, and attempts whose number is written nowhere."""

from __future__ import annotations

import shutil

from repeval import load

from .agent_logs import harbor
from .asked import TENSOR, codes, outcomes_of, refusal, text_of

IDS = [f"t{i}" for i in range(12)]
TIMEOUT = {"exception_type": "AgentTimeoutError", "exception_message": "late"}


def test_round_trip(tmp_path):
    path = harbor(tmp_path / "job", TENSOR)
    for given in (path, tmp_path):
        data = load(given)
        assert outcomes_of(data, ids=IDS) == TENSOR
        assert set(data.frame["run"]) == {"1", "2", "3"}
        assert text_of(data, "logs-read") == "1 Harbor job: task tb, scorer reward; 1 model."
        assert not {"log-unfinished", "partial-rewards"} & codes(data)


def test_without_times_the_names_of_trials_order_them(tmp_path):
    bare = {(i, r): {"started_at": None} for i in range(12) for r in range(3)}
    data = load(harbor(tmp_path / "job", TENSOR, bare))
    assert outcomes_of(data, ids=IDS) == [row[::-1] for row in TENSOR]


def test_a_trial_alone_is_no_log(tmp_path):
    path = harbor(tmp_path / "job", TENSOR)
    for given in (next(path.glob("*/result.json")), path / "result.json"):
        error = refusal(given)
        assert error.code == "unknown-format"
        assert "Harbor jobs" in error.text


def test_rewards_count_and_exceptions_do_not(tmp_path):
    more = {
        (0, 0): {"exception_info": TIMEOUT},
        (0, 1): {"exception_info": TIMEOUT, "verifier_result": None},
        (1, 0): {"verifier_result": None},
        (1, 1): {"verifier_result": {"rewards": {"reward": 0.25}}},
    }
    path = harbor(tmp_path / "job", [[1, 1], [0, 0], [1, 1]], more)
    data = load(path)
    assert outcomes_of(data, ids=IDS[:3]) == [[1, None], [None, 0.25], [1, 1]]
    assert len(data.errored) == 2
    assert text_of(data, "score-with-error").startswith("1 rows have an outcome and an error")
    assert text_of(data, "partial-rewards").startswith("Rewards between 0 and 1: 1.")
    passed = load(path, errors="fail", pass_at=1)
    assert outcomes_of(passed, ids=IDS[:3]) == [[1, 0], [0, 0], [1, 1]]


def test_several_rewards_are_listed_and_chosen(tmp_path):
    two = {
        (i, r): {"verifier_result": {"rewards": {"style": 0.5, "reward": y}}}
        for i, row in enumerate(TENSOR)
        for r, y in enumerate(row)
    }
    path = harbor(tmp_path / "job", TENSOR, two)
    error = refusal(path)
    assert error.code == "several-scorers"
    assert error.text.endswith("Type --scorer reward or --scorer style.")
    assert outcomes_of(load(path, scorer="reward"), ids=IDS) == TENSOR


def test_models_and_agents(tmp_path):
    """One agent: systems are called after their models; several in a job: after both."""
    for job, model in (("1", "m"), ("2", "n")):
        harbor(tmp_path / job, TENSOR, model=model, agent=f"agent-{job}")
    data = load(tmp_path)
    assert data.models == ("m", "n")
    assert "agent: agent-1 (m), agent-2 (n)" in text_of(data, "settings-differ")
    both = harbor(tmp_path / "1", [row[::-1] for row in TENSOR], agent="other")
    data = load(both)
    assert data.models == ("agent-1/m", "other/m")
    assert outcomes_of(data, "other/m", IDS) == [row[::-1] for row in TENSOR]
    assert load(harbor(tmp_path / "x", TENSOR, model=None, agent="oracle")).models == ("oracle",)


def test_two_jobs_of_a_model_are_not_put_together_unasked(tmp_path):
    one, two = (harbor(tmp_path / name, TENSOR, agent=name) for name in "ab")
    error = refusal(tmp_path)
    assert error.code == "same-model"
    assert "agent: a (m), b (m)" in error.text
    data = load([f"m={one}", f"m={two}"])
    assert outcomes_of(data, ids=IDS) == [[*row, *row] for row in TENSOR]


def test_trials_without_a_result_are_said(tmp_path):
    path = harbor(tmp_path / "job", TENSOR, planned=37)
    (path / "t0__running").mkdir()
    data = load(path)
    assert outcomes_of(data, ids=IDS) == TENSOR
    assert "unfinished after 36 runs" in text_of(data, "log-unfinished")
    (path / "result.json").unlink()
    assert outcomes_of(load(path), ids=IDS) == TENSOR


def test_a_task_that_changed_is_another_question(tmp_path):
    harbor(tmp_path / "1", TENSOR)
    harbor(tmp_path / "2", TENSOR, {(0, 0): {"task_checksum": "new"}}, model="n")
    assert refusal(tmp_path).code == "other-question"
    shutil.rmtree(tmp_path / "2")
    harbor(tmp_path / "2", TENSOR, model="n")
    assert "same question in all of them: checked" in text_of(load(tmp_path), "logs-read")
