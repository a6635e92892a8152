"""tau-bench: what was written is read back; a crash is no failed trial."""

from __future__ import annotations

import pandas as pd
import pytest

from repeval import load
from repeval.io import registry

from .agent_logs import CRASHED, tau_bench
from .asked import TENSOR, outcomes_of, refusal, text_of

IDS = range(12)


def test_round_trip(tmp_path):
    data = load(tau_bench(tmp_path / "gpt-4o-airline.json", TENSOR))
    assert outcomes_of(data, "gpt-4o-airline", IDS) == TENSOR
    assert text_of(data, "model-from-file").endswith(": gpt-4o-airline.")
    assert load(f"m={tmp_path / 'gpt-4o-airline.json'}").models == ("m",)


def test_a_crashed_trial_has_no_outcome_and_both_scores_are_said(tmp_path):
    # (1 + 1/2) / 2 without the crash, (1/2 + 1/2) / 2 with it as a failure.
    path = tau_bench(tmp_path / "m.json", [[1, 1], [1, 0]], {(0, 1): CRASHED})
    data = load(path)
    assert outcomes_of(data, ids=range(2)) == [[1, None], [1, 0]]
    assert "m 75.0 % (50.0 % if failed)" in text_of(data, "errored-rows")
    assert outcomes_of(load(path, errors="fail"), ids=range(2)) == [[1, 0], [1, 0]]


def test_a_trial_without_a_reward_is_missing(tmp_path):
    data = load(tau_bench(tmp_path / "m.json", TENSOR, {(0, 0): {"reward": None}}))
    assert outcomes_of(data, ids=IDS) == [[None, *TENSOR[0][1:]], *TENSOR[1:]]


def test_two_files_are_two_models_or_runs_of_one(tmp_path):
    paths = [tau_bench(tmp_path / f"{name}.json", TENSOR) for name in "ab"]
    assert load(tmp_path).models == ("a", "b")
    later = tau_bench(paths[1], [row[::-1] for row in TENSOR])
    both = load([f"m={paths[0]}", f"m={later}"])
    assert outcomes_of(both, ids=IDS) == [[*row, *row[::-1]] for row in TENSOR]


def test_two_domains_do_not_mix(tmp_path):
    other = {(3, r): {"info": {"task": {"instruction": "Buy shoes."}}} for r in range(3)}
    tau_bench(tmp_path / "airline.json", TENSOR)
    tau_bench(tmp_path / "retail.json", TENSOR, other)
    assert refusal(tmp_path).code == "other-question"


def test_the_example(shared):
    data = load(f"gpt-4o={shared / 'formats' / 'tau_bench_results_2x4.json'}")
    theirs = load(shared / "realdata" / "tau_bench_airline_gpt4o_50x4.csv")
    found = [outcomes_of(outcomes, "gpt-4o", [2, 7]) for outcomes in (data, theirs)]
    assert found == [[[0, 0, 1, 0]] * 2] * 2


def test_the_registered_trajectories(shared):
    """Where they were fetched: the outcomes that somebody else took from them."""
    (entry,) = (e for e in registry.registry().values() if e.get("format") == "tau_bench")
    path = registry.cache_dir() / entry["file"]
    if not path.exists():
        pytest.skip("not fetched: repeval fetch tau-bench-airline-gpt4o")
    theirs = load(shared / "realdata" / "tau_bench_airline_gpt4o_50x4.csv")
    pd.testing.assert_frame_equal(load(f"gpt-4o={path}").frame, theirs.frame)
