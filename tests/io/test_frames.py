"""`load` of frames: every engine gives what the CSV file of the same data gives."""

from __future__ import annotations

import csv
import hashlib
import json
import sys

import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repeval import Outcomes, RepevalError, analyze, components, load

from .test_load_fuzz import same

Data = dict[str, list]

ENGINES = {
    "pandas": pd.DataFrame,
    "pandas-nullable": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas-categorical": lambda data: pd.DataFrame(data).astype("category"),
    "pandas-object": lambda data: pd.DataFrame(data, dtype=object),
    "pandas-arrow": lambda data: pa.table(data).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "polars-categorical": lambda data: pl.DataFrame(data).with_columns(
        pl.col(pl.String).cast(pl.Categorical)
    ),
    "polars-lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "pyarrow-dictionary": lambda data: pa.table(
        {name: pa.array(values).dictionary_encode() for name, values in data.items()}
    ),
    "duckdb": lambda data: duckdb.from_arrow(pa.table(data)),
    "narwhals": lambda data: narwhals.from_native(pl.DataFrame(data)),
    "mapping": dict,
    "arrays": lambda data: {name: np.array(values) for name, values in data.items()},
}
OUTCOMES = {
    "bool": st.booleans(), "int": st.integers(0, 1), "float": st.sampled_from([0.0, 1.0]),
    "word": st.sampled_from(["pass", "FAIL"]), "score": st.floats(0, 1),
}  # fmt: skip
#: No carriage returns, which CSV reads back in quotes only.
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5)


def to_csv(data: Data, path) -> str:
    """Write as people write: nothing for None, no point in a whole number."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerows([data, *zip(*data.values(), strict=True)])
    return str(path)


@st.composite
def data_sets(draw) -> Data:
    """Two models, three or four problems, up to three runs, one perhaps without an outcome."""
    many = {"min_size": 3, "max_size": 4, "unique": True}
    numbers = st.integers(0, 99) | st.just(10**17 + 1)
    problems = draw(st.lists(numbers, **many) | st.lists(TEXT, **many))
    models = draw(st.lists(TEXT, min_size=2, max_size=2, unique=True))
    keys = [(m, p, r) for m in models for p in problems for r in range(draw(st.integers(1, 3)))]
    keys = draw(st.permutations(keys))
    kind = OUTCOMES[draw(st.sampled_from(sorted(OUTCOMES)))]
    data = dict(zip(("model", "item_id", "epoch"), map(list, zip(*keys, strict=True)), strict=True))
    data["outcome"] = [draw(kind) for _ in keys]
    if draw(st.booleans()):
        lost = draw(st.integers(0, len(keys) - 1))
        data["outcome"][lost] = None
        data["status"] = ["error" if i == lost else "ok" for i in range(len(keys))]
    label = draw(st.sampled_from([TEXT, st.integers(0, 9), st.booleans()]))
    values = dict.fromkeys(problems)
    for problem in problems[1:]:
        values[problem] = draw(label)
    data["topic"] = [values[p] for _, p, _ in keys]
    return data


def answer(outcomes: Outcomes) -> str:
    """The JSON but for what names the source."""
    found = analyze(outcomes, n_resamples=20).to_dict()
    assert found["data"].pop("name")
    assert len(found["data"].pop("sha256")) == 64
    return json.dumps(found)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data_sets())
def test_every_door_leads_to_the_same_answer(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("doors")
    # Booleans as every engine but pandas writes them: the CSV text of a label is kept as it is.
    written = {name: [str(v).lower() if isinstance(v, bool) else v for v in values]
               for name, values in data.items()}  # fmt: skip
    file = load(to_csv(written, folder / "runs.csv"))
    wanted = answer(file)
    pq.write_table(pa.table(data), folder / "runs.parquet")
    assert answer(load(folder / "runs.parquet")) == wanted
    sums = set()
    for name, engine in ENGINES.items():
        if name == "arrays" and None in data["outcome"]:
            continue
        outcomes = load(engine(data))
        same(outcomes, file)
        assert outcomes.notices == file.notices, name
        assert answer(outcomes) == wanted, name
        assert outcomes.source.name == "frame"
        sums.add(outcomes.source.sha256)
    assert len(sums) == 1


GOOD = {"model": list("aaaabbbb"), "problem": [1, 1, 2, 2] * 2, "run": [1, 2] * 4,
        "outcome": [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]}  # fmt: skip
BAD = {
    "outcome-empty": ({"outcome": [*GOOD["outcome"][:7], None]}, r"in row 8 of the frame"),
    "outcome-range": ({"outcome": [1.0, 0.0, 1.5, *GOOD["outcome"][3:]]}, r"in row 3 of the frame"),
    "outcome-unreadable": ({"outcome": ["pass", "odd"] * 4}, r"in rows 2, 4, 6, 8 of the frame"),
    "one-problem": ({"problem": [1] * 8, "run": [1, 2, 3, 4] * 2}, "only one problem"),
    "duplicate-rows": ({"run": [1] * 2 + [1, 2] * 3}, "row 2 has the same"),
    "bad-key": ({"model": [None, *GOOD["model"][1:]]}, "empty.* in row 1 of the frame"),
    "missing-column": ({"problem": None, "thing": [1, 1, 2, 2] * 2}, "Columns: model, run"),
    "doubtful-column": ({"problem": None, "task_id": [1, 1, 2, 2] * 2}, "problem=task_id"),
}  # fmt: skip


@pytest.mark.parametrize("code", BAD)
@pytest.mark.parametrize("engine", ENGINES)
def test_refusals_are_those_of_a_file(engine, code, tmp_path):
    changes, where = BAD[code]
    data = {name: values for name, values in {**GOOD, **changes}.items() if values}
    with pytest.raises(RepevalError) as of_file:
        load(to_csv(data, tmp_path / "runs.csv"))
    assert of_file.value.code == code
    with pytest.raises(RepevalError, match=where) as of_frame:
        load(ENGINES[engine](data))
    assert of_frame.value.code == code


@pytest.mark.parametrize(
    "options",
    [{"pass_at": 0.5}, {"missing": "fail"}, {"missing": "drop-problem"}, {"errors": "fail"},
     {"columns": {"model": ""}}, {"columns": "condition=topic,run=run"}],
)  # fmt: skip
def test_options_are_those_of_a_file(options, tmp_path):
    scores = [0.5, 0.2, 1, None, 0, 0.7, 0, 0, 1, 0, 1, 0.2]
    data = {"model": ["a"] * 6 + ["b"] * 6, "problem": [1, 1, 2, 2, 3, 3] * 2, "run": [1, 2] * 6,
            "outcome": scores, "status": [None if y is not None else "error" for y in scores],
            "topic": ["x"] * 6 + ["y"] * 6}  # fmt: skip
    if options.get("columns") == {"model": ""}:
        data = {name: values[:6] for name, values in data.items()}
    file = load(to_csv(data, tmp_path / "frame.csv"), **options)
    wanted = answer(file).replace(" after its file", "")
    for engine in ENGINES.values():
        outcomes = load(engine(data), **options)
        assert outcomes.policy == file.policy
        assert answer(outcomes) == wanted


def test_types_that_only_an_engine_has():
    relation = duckdb.sql(
        "select model::enum('a', 'b') as model, problem::hugeint as problem, run::utinyint as run, "
        "y::decimal(3, 2) as outcome from (values ('a', 1, 1, 0.7), ('a', 2, 1, 1), ('b', 1, 1, 0),"
        " ('b', 2, 1, .25)) as t(model, problem, run, y)"
    )
    of_relation = load(relation)
    assert of_relation.problems == ("1", "2")
    assert of_relation.frame["outcome"].tolist() == [0.7, 1.0, 0.0, 0.25]
    short = pd.DataFrame({"model": list("aabb"), "problem": [1, 2] * 2, "run": [1.0] * 4,
                          "outcome": np.array([0.7, 1, 0, 0.25], dtype=np.float32)})  # fmt: skip
    scalars = short.assign(outcome=pd.Series(list(short["outcome"].to_numpy()), dtype=object))
    assert isinstance(scalars["outcome"][0], np.float32)
    for frame in (short, pl.DataFrame(short), pa.table(short), scalars):
        outcomes = load(frame)
        same(outcomes, of_relation)
        assert outcomes.source.sha256 == of_relation.source.sha256
        assert load(frame, pass_at=0.7).frame["outcome"].tolist() == [1.0, 1.0, 0.0, 0.0]


def test_the_sum_knows_content_and_no_order():
    frame = pd.DataFrame(GOOD)
    text = "model,outcome,problem,run\n" + "".join(
        sorted(
            f"{m},{y:.0f},{p},{r}\n"
            for m, p, r, y in frame[["model", "problem", "run", "outcome"]].itertuples(index=False)
        )
    )
    wanted = hashlib.sha256(text.encode()).hexdigest()
    turned = frame.sample(frac=1, random_state=2606)[["run", "outcome", "problem", "model"]]
    for same_content in (frame, turned, frame.astype(int, errors="ignore"), pl.DataFrame(turned)):
        assert load(same_content).source.sha256 == wanted
    other = frame.assign(outcome=[0.0, *GOOD["outcome"][1:]])
    assert load(other).source.sha256 != wanted


def test_named_levels_of_an_index_are_columns():
    frame = pd.DataFrame(GOOD)
    same(load(frame.set_index(["model", "problem", "run"])), load(frame))
    same(load(frame.set_index("model", drop=False)), load(frame))
    same(load(frame.set_index(pd.Index(list("stuvwxyz")))), load(frame))


@pytest.mark.parametrize(
    ("given_", "code", "words"),
    [
        (3, "unknown-object", "of type int"),
        (b"x", "unknown-object", "of type bytes"),
        ([None], "unknown-object", "One of the things given is of type NoneType"),
        ([pd.DataFrame(GOOD)] * 2, "unknown-object", "several frames"),
        ([{"model": "a"}], "unknown-object", "a list of rows"),
        (pd.DataFrame(GOOD)["run"], "unknown-object", "of type int"),
        (np.zeros((2, 2)), "unknown-object", "of type ndarray"),
        ([], "file-not-found", "No file was given"),
        ({"model": "ab"}, "unreadable-frame", "column model is no list of values, but str"),
        ({"model": ["a"], "run": [1, 2]}, "unreadable-frame", "from 1 to 2 values"),
        (pd.DataFrame(GOOD).iloc[:0], "empty-file", "The frame has no rows"),
        (pl.DataFrame(), "empty-file", "The frame has no rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "duplicate-column", "'a' 2 times"),
        (pd.DataFrame([[1, 2]], columns=["a", " a"]), "duplicate-column", "are called 'a'"),
        (pl.LazyFrame(GOOD).select("zz"), "unreadable-frame", "zz"),
        (pd.DataFrame({**GOOD, "outcome": [{1}] * len(GOOD["run"])}), "outcome-unreadable", "1"),
        ({"problem": [1, 2], "n": [2, 2], "c": [1, (1, [1])]}, "bad-counts", "no whole number"),
    ],
)
def test_what_is_no_frame_is_refused_with_a_way_out(given_, code, words):
    with pytest.raises(RepevalError, match=words) as error:
        load(given_)
    assert error.value.code == code


def test_an_open_file_is_no_list_of_paths(write):
    with write("runs.csv", "model\n").open() as file, pytest.raises(RepevalError) as error:
        load(file)
    assert error.value.code == "unknown-object"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"pass_at": "x"}, "bad-option"), ({"pass_at": float("nan")}, "bad-option"),
        ({"columns": 3}, "bad-columns"), ({"columns": [3]}, "bad-columns"),
        ({"columns": b"x"}, "bad-columns"), ({"format": "csv"}, "bad-option"),
        ({"format": 3}, "bad-option"), ({"missing": ["keep"]}, "bad-option"),
        ({"scorer": "x"}, "scorer-not-used"), ({"scorer": 3}, "bad-option"),
        ({"name": 3}, "bad-option"),
    ],
)  # fmt: skip
def test_odd_options_are_refused(options, code):
    with pytest.raises(RepevalError) as error:
        load(pd.DataFrame(GOOD), **options)
    assert error.value.code == code


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": "a"}, "level must lie in"), ({"level": None}, "level must lie in"),
        ({"n_resamples": 1.5}, "n_resamples must be at least 1 and a whole number"),
        ({"n_resamples": "9"}, "n_resamples must be"), ({"seed": None}, "seed must be a whole"),
        ({"seed": -1}, "seed must be a whole"), ({"seed": "x"}, "seed must be a whole"),
        ({"cluster": ["topic"]}, "cluster must be the name"),
    ],
)  # fmt: skip
def test_odd_options_of_analyze_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        analyze(load(GOOD), **options)


def test_analyze_takes_what_load_returns():
    with pytest.raises(ValueError, match=r"from repeval\.load, not DataFrame"):
        analyze(pd.DataFrame(GOOD))
    plain = analyze(load(GOOD), n_resamples=20, seed=3).to_dict()
    of_numpy = analyze(load(GOOD), n_resamples=np.int64(20), seed=np.int32(3)).to_dict()
    assert json.dumps(of_numpy) == json.dumps(plain)


def test_names_of_the_data_and_of_a_model_that_has_none():
    outcomes = load({name: GOOD[name][:4] for name in ("problem", "run", "outcome")}, name="mine")
    assert outcomes.source.name == "mine"
    assert outcomes.models == ("frame",)
    assert "There is no model column: the model is called frame." in [
        notice.text for notice in outcomes.notices
    ]


def test_a_relation_needs_pyarrow(monkeypatch):
    relation = duckdb.sql("select 1 as problem")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(RepevalError, match="pyarrow") as error:
        load(relation)
    assert error.value.code == "needs-pyarrow"


def test_counts_hold_what_the_statistics_need():
    frame = pd.DataFrame(GOOD).iloc[:7]
    counts = load(frame).counts()
    keys = ["model", "problem"]
    wanted = frame.astype({"problem": str}).groupby(keys)["outcome"].agg(["size", "sum"])
    assert list(counts) == ["model", "condition", "problem", "runs", "passes"]
    assert counts.set_index(keys)[["runs", "passes"]].to_numpy().tolist() == wanted.values.tolist()
    one = counts[counts["model"] == "a"]
    sample = load(frame).system("a", "default")
    assert components(one["passes"], one["runs"]) == components(sample)


def test_counts_of_scores_hold_sums_of_squares():
    frame = pd.DataFrame({**GOOD, "outcome": [0.5, 0.25, 1, 1, 0, 1, 0, 1]})
    counts = load(frame).counts()
    wanted = frame.assign(y2=frame["outcome"] ** 2).groupby(["model", "problem"]).agg(
        runs=("run", "size"), total=("outcome", "sum"), total_sq=("y2", "sum")
    )  # fmt: skip
    columns = ["runs", "total", "total_sq"]
    assert list(counts) == ["model", "condition", "problem", *columns]
    # All figures are multiples of 1/16: exact in binary.
    assert counts[columns].to_numpy().tolist() == wanted[columns].to_numpy().tolist()
    runs, total, squares = counts.loc[0, columns]
    noise = load(frame).system("a", "default").noise[0]
    assert (squares - total**2 / runs) / (runs - 1) == noise
