"""Every layout of the release gives the same tensor; contradictions are refused."""

import pandas as pd
import pytest

from repeval.companion.paper_data.released import _name, read_release
from repeval.io import registry
from repeval.io.keys import KEYS
from repeval.messages import RepevalError
from tests.companion.paper_data.releases import LAYOUTS, csv, long, rows, zipped

SYSTEMS = pd.read_csv(registry.data_dir() / "published-cells.csv")["model"].unique().tolist()


@pytest.fixture(scope="module")
def expected():
    table = pd.read_csv(registry.data_dir() / "reconstruction.csv.gz", dtype=str)
    table["problem"] = table["problem"].str.lstrip("P")
    return table.sort_values(["model", "condition", "problem", "run"], ignore_index=True)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "other outcome"])
def test_layouts(layout, expected):
    table, said = read_release(zipped(LAYOUTS[layout]), SYSTEMS)
    table = table.sort_values(KEYS, ignore_index=True)
    for key in KEYS[:3]:
        assert table[key].tolist() == expected[key].tolist(), key
    assert table["outcome"].astype(str).tolist() == expected["outcome"].tolist()
    assert ("40 rows are there twice" in " ".join(said)) == (layout == "resumed")


def test_counts_alone_give_the_passes_of_every_problem():
    wide = rows().groupby(["model", "condition", "problem"])["outcome"].sum()
    counted = wide.rename("passes").reset_index()
    table, said = read_release(zipped({"counts.csv": csv(counted)}), SYSTEMS)
    assert said[0] == "Layout: passes counted."
    again = table.groupby(["model", "condition", "problem"])["outcome"].agg(["sum", "size"])
    assert again["sum"].sum() == counted["passes"].sum()
    assert (again["size"] == 5).all()


def test_contradicting_rows_are_refused():
    raw = long(rows())
    one = raw.iloc[[7]].assign(accepted_bool=~raw["accepted_bool"].iloc[7])
    with pytest.raises(RepevalError, match=r"Two rows differ for 'Claude Haiku 4\.5'") as caught:
        read_release(zipped({"a.csv": csv(raw), "b.csv": csv(one)}), SYSTEMS)
    assert caught.value.code == "release-contradicts"


def test_two_systems_of_one_api_name_are_told_apart_by_a_column():
    raw = long(rows())
    thinking = raw["model_name"] == "gemini-2.5-flash-thinking"
    raw["model_name"] = raw["model_name"].str.removesuffix("-thinking")
    with pytest.raises(RepevalError):
        read_release(zipped({"a.csv": csv(raw)}), SYSTEMS)
    table, _ = read_release(zipped({"a.csv": csv(raw.assign(thinking=thinking))}), SYSTEMS)
    assert set(table["model"]) == set(SYSTEMS)


@pytest.mark.parametrize(
    ("api_name", "system"),
    [("gpt-4.1-2025-04-14", "GPT-4.1"), ("gpt-4.1-mini", "GPT-4.1-mini"),
     ("gemini-3.1-flash-lite-preview", "Gemini 3.1 Flash-Lite"), ("deepseek-r1", "DeepSeek-R1"),
     ("gemini-2.5-flash", "Gemini 2.5 Flash"), ("gpt-5", None), ("gpt-4.1-nano", None)],
)  # fmt: skip
def test_names(api_name, system):
    assert _name(api_name, SYSTEMS) == system


@pytest.mark.parametrize(
    "files",
    [{}, {"a.csv": b"x,y\n1,2\n"}, {"a.json": b"[1, 2"}, {"a.csv": b"\xff\xfe"},
     {"a.jsonl": b"[]\n"}, {"a.json": b'{"a": {"k": "many"}}'}, {"t.npy": b"no array"}],
)  # fmt: skip
def test_nothing_recognised(files):
    with pytest.raises(RepevalError) as caught:
        read_release(zipped(files), SYSTEMS)
    assert caught.value.code == "no-release"
