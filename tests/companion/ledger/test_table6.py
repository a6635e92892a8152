"""Table 6 cell by cell; the paper's figures come from the ledger."""

import math

import pandas as pd
import pytest

from repeval import load
from repeval.companion.ledger import table6
from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.verdicts import _find
from repeval.companion.studies import coverage, result

CELLS = [key for key in paper() if key.startswith("vc-t6-") and key.count("-") == 4]


@pytest.fixture(scope="module")
def outcomes():
    return load()


@pytest.fixture(scope="module")
def printed(outcomes):
    """A study that found what the paper prints, in as many data sets."""
    n, rows = paper()["vc-t6-datasets"].value, []
    for model in coverage.MODELS:
        for letter, name in table6.LETTERS.items():
            values = {m: paper()[f"vc-t6-{table6.slug(model)}-{letter}-{m}"].value
                      for m in ("mu", "pbar", "width")}  # fmt: skip
            rows.append(
                {"model": model, "interval": name, "method": "monte-carlo", "datasets": n,
                 "mu": values["mu"] * n / 100, "pbar": values["pbar"] * n / 100,
                 "width": values["width"] / 100, "width_se": 0.0002}
            )  # fmt: skip
    return pd.DataFrame(rows)


def test_every_cell_is_recomputed_by_the_one_function():
    assert len(CELLS) == 54
    assert {_find(key)[0] for key in CELLS} == {table6.cell}


def test_the_error_of_a_coverage_is_never_zero():
    for x in (0, 1000):
        assert table6.coverage(x, 1000) == (
            x / 10, pytest.approx(100 * math.sqrt(2 / 1004 * 1002 / 1004 / 1004))
        )  # fmt: skip
    assert table6.coverage(950, 1000)[1] == pytest.approx(0.69, abs=0.01)


def test_what_the_paper_prints_agrees_with_itself(printed):
    found = table6.cells(printed)
    assert len(found) == 54
    assert (found["off"] == 0).all()
    assert table6.accepted(found)


def test_a_miss_is_measured_in_combined_errors_beyond_half_a_unit(printed):
    off = printed.copy()
    off.loc[0, "width"] += 0.0005 + 3 * 0.0002 * math.sqrt(2)
    key = f"vc-t6-{table6.slug(coverage.MODELS[0])}-a-mu"
    off.loc[0, "mu"] -= 40
    share, n = paper()[key].value / 100, 1000
    both = math.hypot(*(math.sqrt(s * (1 - s) / n) for s in (share, share - 0.04)))
    found = table6.cells(off)
    first = found[(found["model"] == coverage.MODELS[0]) & (found["interval"] == "pooled_wilson")]
    first = first.set_index("metric")["off"]
    assert first["width"] == pytest.approx(3, abs=1e-9)
    # (x+2)/(n+4) against x/n: a few thousandths.
    assert first["mu"] == pytest.approx((0.04 - 0.0005) / both, rel=0.01)
    assert (found["off"] > 0).sum() == 2


def test_more_data_sets_shrink_our_error_alone(printed):
    more = printed.assign(datasets=9000, width_se=0.0001)
    more[["mu", "pbar"]] *= 9
    more.loc[0, "width"] += 0.0005 + math.hypot(0.0001, 0.0003)
    assert table6.cells(more)["off"].max() == pytest.approx(1)


@pytest.mark.parametrize(
    ("off", "expected"),
    [([2.1] * 3 + [0], True), ([2.1] * 4, False), ([3.1, 0, 0], False), ([2.0] * 9, True)],
)
def test_three_cells_may_miss_and_none_by_far(printed, off, expected):
    found = table6.cells(printed)
    found.loc[: len(off) - 1, "off"] = off
    assert table6.accepted(found) == expected


def test_swapped_intervals_are_not_accepted(printed):
    swapped = printed.replace(
        {"interval": {"one_level": "fixed_normal", "fixed_normal": "one_level"}}
    )
    assert not table6.accepted(table6.cells(swapped))


@pytest.mark.full
def test_the_full_study_agrees_with_the_printed_table(outcomes):
    found = table6.cells(result("coverage", outcomes, size="full", jobs=2))
    assert table6.accepted(found), found[found["off"] > 2]
