"""The registered data sets and the default data."""

from __future__ import annotations

import json
import shutil

import pytest

from repeval import load
from repeval.io import registry
from repeval.messages import RepevalError


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A copy of the data directory that a test may change."""
    shutil.copytree(registry.data_dir(), tmp_path / "data")
    monkeypatch.setattr(registry, "share_dir", lambda: tmp_path)
    registry.registry.cache_clear()
    yield tmp_path / "data"
    registry.registry.cache_clear()


def test_entries_are_json_and_yaml():
    yaml = pytest.importorskip("yaml")
    text = (registry.data_dir() / "registry.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == json.loads(text)
    for entry in registry.registry().values():
        assert {"name", "title", "file", "sha256", "basis", "columns", "licence"} <= set(entry)


def test_default_data():
    entry = registry.default_dataset()
    data = load()
    assert data.source.name == entry["name"]
    assert data.source.basis == entry["basis"]
    assert data.policy.missing == entry["missing"] == "drop-problem"
    assert set(entry["excluded_systems"]) <= set(data.models)
    assert entry["default_condition"] in data.conditions
    assert {"dataset-rule", "dropped-problems"} <= {n.code for n in data.notices}
    assert load(missing="keep").policy.missing == "keep"


def test_a_registered_file_is_known_by_its_bytes(tmp_path):
    entry = registry.default_dataset()
    copy = tmp_path / f"copy-{entry['file']}"
    shutil.copyfile(registry.dataset_path(entry), copy)
    data = load(copy)
    assert (data.source.basis, data.policy.missing) == (entry["basis"], "drop-problem")


def test_a_changed_file_is_refused(elsewhere):
    entry = registry.registry()["reconstruction"]
    path = elsewhere / entry["file"]
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(RepevalError) as caught:
        registry.check(entry, "0" * 64)
    assert caught.value.code == "checksum"
    path.unlink()
    with pytest.raises(RepevalError) as caught:
        load()
    assert caught.value.code == "no-data"


def test_released_data_come_first(elsewhere):
    rows = ["model_name,prompt_type,problem_id,problem,trial_index,accepted_bool,status"]
    rows += [f"m,detailed,{p},title {p},{r},{p > 1},Accepted" for p in (1, 2) for r in range(2)]
    rows += ["m,detailed,3,title 3,0,True,Accepted"]
    (elsewhere / "released.csv").write_text("\n".join(rows))
    data = load()
    assert data.source.basis == "released"
    assert data.problems == ("1", "2")
    assert list(data.labels["original_problem"]) == ["title 1", "title 2"]
