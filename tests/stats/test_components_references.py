"""Variance components against the texts and data of other people."""

import math
from statistics import median

import pytest

from repeval.stats.components import components, difference_components
from tests.oracles import clean

# ---- published figures ----------------------------------------------------------------------


def spread_of(name: str, prompt: str = "Detailed") -> tuple[float, float, float]:
    values = [getattr(components(k, 5), name) for k in clean(prompt).values()]
    return median(values), min(values), max(values)


@pytest.mark.parametrize(
    ("name", "prompt", "expected", "half"),
    [
        # reconstruction.md section 3; half a unit of the last digit printed there.
        ("ceiling", "Detailed", (1.344, 1.051, 1.707), 0.0005),
        ("icc", "Detailed", (0.7443, 0.586, 0.951), 0.0005),
        ("aleatoric_share", "Detailed", (0.0643, 0.0101, 0.1239), 0.00005),
        ("ceiling", "Minimal", (1.293, 1.065, 1.675), 0.0005),
        # The texts themselves: 1.34 (1.05-1.71), .744 (.59-.95), 1.29 (1.06-1.67).
        ("ceiling", "Detailed", (1.34, 1.05, 1.71), 0.005),
        ("icc", "Detailed", (0.744, 0.59, 0.95), 0.005),
        ("ceiling", "Minimal", (1.29, 1.06, 1.67), 0.0055),
        # Statistics note 1.11: from five runs 3.3% and 6.4% are left.
        ("remaining_narrowing", "Detailed", (0.033, 0.005, 0.064), 0.0005),
        ("max_narrowing", "Detailed", (0.14, 0.025, 0.23), 0.006),
    ],
)
def test_published_components(name, prompt, expected, half) -> None:
    assert spread_of(name, prompt) == pytest.approx(expected, abs=half)


def test_published_ratios() -> None:
    parts = [components(k, 5) for k in clean().values()]
    within, between = median(c.within for c in parts), median(c.between for c in parts)
    # reconstruction.md section 3, half a unit.
    assert within / between == pytest.approx(0.2828, abs=5e-5)
    assert between / within == pytest.approx(3.54, abs=5e-3)
    assert median(c.within / c.between for c in parts) == pytest.approx(0.3440, abs=5e-5)
    root = math.sqrt(1 + 4 * median(c.icc for c in parts))
    assert root == pytest.approx(1.994, abs=5e-4)
    # design_effect of a system is the square of its width ratio; the median commutes.
    assert math.sqrt(median(c.design_effect for c in parts)) == pytest.approx(root, abs=1e-3)


# ---- data of other people -------------------------------------------------------------------


def counts(frame, by: list[str]):
    """Passes and runs per problem, and the index that orders them."""
    table = frame.groupby(by, sort=True)["outcome"].agg(["sum", "size"])
    return table["sum"].to_numpy(), table["size"].to_numpy(), table.index


def read(shared, name: str, **columns: str):
    pandas = pytest.importorskip("pandas")
    return pandas.read_csv(shared / "realdata" / name).rename(columns=columns)


# Half a unit of the last digit of the figures in the statistics notes.
LAST = 5e-5


def test_hotpotqa(shared) -> None:
    data = read(
        shared, "hotpotqa_react_4x200x10.verdicts.csv.gz", item_id="problem", verdict="outcome"
    )
    found = [
        components(*counts(part, ["problem"])[:2]).ceiling for _, part in data.groupby("model")
    ]
    assert sorted(found) == pytest.approx([1.3026, 1.3080, 1.5193, 1.9496], abs=LAST)


def test_tau_bench(shared) -> None:
    data = read(shared, "tau_bench_airline_gpt4o_50x4.csv")
    c = components(*counts(data, ["problem"])[:2])
    assert (c.n_problems, c.n_runs) == (50, 4)
    assert (c.ceiling, c.icc) == pytest.approx((2.4717, 0.4046), abs=LAST)


def test_swebench(shared) -> None:
    data = read(shared, "swebench_verified_6x500x10.csv.gz")
    systems = {
        model: counts(part, ["problem"])[:2] for model, part in data.groupby("model", sort=True)
    }
    deepswe = next(m for m in systems if "DeepSWE" in m and not m.endswith("-temp0"))
    assert components(*systems[deepswe]).ceiling == pytest.approx(1.8241, abs=LAST)
    ceilings = [
        difference_components(systems[m.removesuffix("-temp0")], systems[m]).ceiling
        for m in systems
        if m.endswith("-temp0")
    ]
    # Printed as whole numbers.
    assert sorted(map(round, ceilings)) == [5, 124, 244]


def test_mcq(shared) -> None:
    data = read(shared, "mcq_gpt4o_t0_7tasks_r5.csv")
    pooled = components(*counts(data, ["task", "problem"])[:2])
    assert pooled.n_problems == 1407
    assert pooled.ceiling == pytest.approx(1.5156, abs=LAST)
    navigate = data[data["task"] == "navigate"]
    assert components(*counts(navigate, ["problem"])[:2]).ceiling == pytest.approx(2.1141, abs=LAST)
