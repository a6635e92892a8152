"""Inspect logs: what was written is read back; what cannot be read is said."""

from __future__ import annotations

import json
import sys
import zipfile
from types import SimpleNamespace

import pytest

from repeval import load
from repeval.io.readers import inspect

from .asked import ALIKE, TENSOR, codes, outcomes_of, refusal, text_of
from .inspect_logs import ZSTANDARD, export, log, members, write, zstandard


@pytest.mark.parametrize("generation", ["0.3.42", "0.3.125"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.json", {}),
        ("a.eval", {}),
        ("a.eval", {"summaries": False}),
        ("a.eval", {"method": zipfile.ZIP_STORED}),
        ("a.eval", {"method": ZSTANDARD}),
    ],
)
def test_round_trip(tmp_path, generation, name, options):
    if options.get("method") == ZSTANDARD:
        pytest.importorskip("pyarrow")
    path = write(tmp_path / name, log(TENSOR, generation=generation), **options)
    data = load(path)
    assert outcomes_of(data) == TENSOR
    assert data.models == ("m",)
    assert list(data.labels["task"]) == ["gpqa"] * 12
    assert text_of(data, "logs-read") == "1 Inspect log: task gpqa, scorer choice; 1 model."
    whole = generation != "0.3.42" or name == "a.json" or "summaries" in options
    assert ("level" in data.labels) == whole


def test_the_fast_path_reads_no_sample(tmp_path):
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members(log(TENSOR)).items():
            archive.writestr(name, b"{" if name.startswith("samples/") else content)
    assert outcomes_of(load(path)) == TENSOR


def test_short_or_empty_summaries_do_not_suffice(tmp_path):
    whole = log(TENSOR)
    for rows in ([], json.loads(members(whole)["summaries.json"])[:-1]):
        files = members(whole) | {"summaries.json": json.dumps(rows).encode()}
        path = tmp_path / "a.eval"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        assert outcomes_of(load(path)) == TENSOR


def test_errored_samples_are_missing_and_both_scores_are_said(tmp_path):
    # Passes: 7 of 7 where nothing failed, 1 of 1 (or 1 of 2) and 0 of 1 (or 0 of 2).
    whole = log([[1, 1], [0, 0], [1, 0]], errors=[(0, 1), (1, 0)])
    for name in ("a.eval", "a.json"):
        path = write(tmp_path / name, whole)
        data = load(path)
        assert outcomes_of(data, ids=ALIKE[:3]) == [[1, None], [None, 0], [1, 0]]
        assert len(data.errored) == 2
        # (1 + 0 + 1/2) / 3 and (1/2 + 0 + 1/2) / 3.
        assert "m 50.0 % (33.3 % if failed)" in text_of(data, "errored-rows")
        failed = load(path, errors="fail")
        assert outcomes_of(failed, ids=ALIKE[:3]) == [[1, 0], [0, 0], [1, 0]]
        assert "m 33.3 % (50.0 % without them)" in text_of(failed, "errored-rows")


def test_a_score_beside_an_error_counts(tmp_path):
    whole = log(TENSOR)
    whole["samples"][0]["error"] = {"message": "late"}
    for name in ("a.eval", "a.json"):
        data = load(write(tmp_path / name, whole))
        assert outcomes_of(data) == TENSOR
        assert text_of(data, "score-with-error").startswith("1 rows have an outcome and an error")


VALUES = [("C", 1), ("I", 0), ("P", 0.5), ("N", 0), (True, 1), (False, 0), (0.25, 0.25), (1, 1),
          ("0.75", 0.75), ("yes", 1), ("no", 0), (None, None), (float("nan"), None)]  # fmt: skip


def test_values(tmp_path):
    whole = log([[y] for y, _ in VALUES], scorers={"s": lambda y: y})
    # A sample that ran without a verdict, not one that never ran.
    whole["samples"] += [
        {**whole["samples"][0], "id": "q11", "scores": {"s": {"value": None}}, "uuid": "u"}
    ]
    for name in ("a.eval", "a.json"):
        data = load(write(tmp_path / name, whole))
        read = data.frame.set_index("problem")["outcome"].to_dict()
        assert read == {f"q{i}": y for i, (_, y) in enumerate(VALUES) if y is not None}
        assert set(data.errored["problem"]) == {"q11", "q12"}


@pytest.mark.parametrize("value", [7.5, -0.1, "7.5"])
def test_values_out_of_range_are_refused_with_sample_and_way_out(tmp_path, value):
    error = refusal(write(tmp_path / "a.eval", log([[1], [value]])))
    assert error.code == "outcome-range"
    assert "row 2 (problem q1, run 1)" in error.text
    assert "--scale " in error.text


@pytest.mark.parametrize("value", ["B", [1, 0], float("inf"), 1e999])
def test_values_that_are_no_number_are_refused(tmp_path, value):
    whole = log([[1], [value]], scorers={"s": lambda y: y})
    error = refusal(write(tmp_path / "a.json", whole))
    assert error.code == "outcome-unreadable"
    assert "'q1'" in error.text


def test_several_scorers_are_listed_and_chosen(tmp_path):
    other = [[1 - y for y in row] for row in TENSOR]
    scorers = {
        "match": lambda y: "CI"[1 - y],
        "both": lambda y: {"style": 0.5, "right": "IC"[1 - y]},
        "judge": lambda y: {"grade": 1 - y},
    }
    path = write(tmp_path / "a.eval", log(TENSOR, scorers=scorers))
    error = refusal(path)
    assert error.code == "several-scorers"
    assert error.text.endswith(
        "Type --scorer both/right or --scorer both/style or --scorer judge/grade or --scorer match."
    )
    assert outcomes_of(load(path, scorer="match")) == TENSOR
    assert outcomes_of(load(path, scorer="both/right")) == other
    assert outcomes_of(load(path, scorer="judge")) == other
    assert "scorer judge/grade" in text_of(load(path, scorer="judge"), "logs-read")
    error = refusal(path, scorer="both")
    assert error.code == "several-scorers"
    assert "judge" not in error.text
    error = refusal(path, scorer="matches")
    assert error.code == "unknown-scorer"
    assert "--scorer match" in error.text


def test_ids_of_two_types_are_refused(tmp_path):
    whole = log([[1], [0], [1]], ids=[3, "x", 4])
    assert load(write(tmp_path / "good.json", whole)).problems == ("3", "4", "x")
    error = refusal(write(tmp_path / "a.json", log([[1], [0], [1]], ids=[3, "3", 4])))
    assert error.code == "mixed-types"
    one = write(tmp_path / "one.json", log([[1], [0]], ids=[3, 4]))
    two = write(tmp_path / "two.json", log([[1], [0]], ids=["3", 4], model="n"))
    error = refusal([one, two])
    assert error.code == "mixed-types"
    assert "one.json and two.json" in error.text


@pytest.mark.parametrize("status", ["cancelled", "error", "started"])
@pytest.mark.parametrize("name", ["a.eval", "a.json"])
def test_what_ran_of_an_unfinished_log_is_used(tmp_path, status, name):
    cut = [*TENSOR[:5], *([y, None, None] for y, *_ in TENSOR[5:])]
    data = load(write(tmp_path / name, log(cut, status=status)))
    assert outcomes_of(data) == cut
    assert f"{name}: {status} after 22 runs" in text_of(data, "log-unfinished")


def test_samples_without_a_score_in_an_unfinished_log_are_missing(tmp_path):
    whole = log(TENSOR, status="cancelled")
    for sample in whole["samples"][30:]:
        sample["scores"] = None
    data = load(write(tmp_path / "a.eval", whole))
    assert len(data.frame) == 30
    assert len(data.errored) == 6


def test_the_older_single_score(tmp_path):
    whole = log(TENSOR, generation="0.3.42")
    for sample in whole["samples"]:
        sample["score"] = sample.pop("scores")["choice"]
    data = load(write(tmp_path / "a.json", whole))
    assert outcomes_of(data) == TENSOR


def test_a_log_without_samples_says_so(tmp_path):
    whole = {**log(TENSOR), "samples": []}
    for name in ("a.eval", "a.json"):
        error = refusal(write(tmp_path / name, whole))
        assert error.code == "no-samples"
        assert "log_samples=False" in error.text
        assert name in error.text
    del whole["samples"]
    assert refusal(write(tmp_path / "b.json", whole)).code == "no-samples"


def test_invalidated_samples_are_missing(tmp_path):
    whole = {**log(TENSOR), "invalidated": True}
    whole["samples"][0]["invalidation"] = {"reason": "wrong tool"}
    for name in ("a.eval", "a.json"):
        data = load(write(tmp_path / name, whole))
        assert outcomes_of(data)[0] == [None, *TENSOR[0][1:]]
        assert outcomes_of(data)[1:] == TENSOR[1:]


def test_zstandard_without_a_library_names_the_way_out(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    if sys.version_info >= (3, 14):
        pytest.skip("Python reads it by itself")
    path = write(tmp_path / "a.eval", log(TENSOR), method=ZSTANDARD)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    error = refusal(path)
    assert error.code == "needs-zstandard"
    for word in ("a.eval", "Zstandard", "pip install", "inspect log convert"):
        assert word in error.text


def test_zstandard_is_read_with_the_library_that_comes_with_inspect(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")

    def decompress(data, max_output_size):
        return pa.decompress(data, max_output_size, "zstd", asbytes=True)

    library = SimpleNamespace(ZstdDecompressor=lambda: SimpleNamespace(decompress=decompress))
    path = write(tmp_path / "a.eval", log(TENSOR), method=ZSTANDARD)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "zstandard", library)
    (found,) = inspect.read(path, None)
    assert [r.value for r in found.records] == [row[r] for r in range(3) for row in TENSOR]


def test_damaged_zstandard_is_one_message(tmp_path):
    pytest.importorskip("pyarrow")
    whole = zstandard(members(log(TENSOR)))
    for name in (b"summaries.json", b"header.json"):
        spoiled = bytearray(whole)
        start = spoiled.index(name) + len(name) + 12
        spoiled[start : start + 8] = b"\xff" * 8
        path = tmp_path / "a.eval"
        path.write_bytes(spoiled)
        error = refusal(path)
        assert error.code == "unreadable-log"
        assert "a.eval" in error.text


@pytest.mark.parametrize("name", ["df.csv", "df.parquet"])
def test_exports_of_samples_are_read_as_logs(tmp_path, name):
    pytest.importorskip("pyarrow")
    one = log(TENSOR, scorers={"match": lambda y: "IC"[y], "both": lambda y: {"right": 1 - y}},
              errors=[(0, 0)])  # fmt: skip
    two = log(TENSOR[::-1], model="n", created="2026-01-02", scorers={"match": lambda y: "IC"[y]})
    path = export(tmp_path / name, one, two)
    data = load(path, scorer="match")
    assert outcomes_of(data) == [[None, *TENSOR[0][1:]], *TENSOR[1:]]
    assert outcomes_of(data, "n") == TENSOR[::-1]
    assert set(data.labels) == {"task", "level"}
    other = load(export(tmp_path / name, one), scorer="both")
    assert outcomes_of(other)[1] == [1 - y for y in TENSOR[1]]
    nameless = export(tmp_path / name, one, two, model=False)
    assert refusal(nameless, scorer="match").code == "export-without-model"
    alone = load(export(tmp_path / name, two, model=False))
    assert alone.models == ("df",)
    assert "model-from-file" in codes(alone)


def test_an_export_beside_its_log_is_not_counted_twice(tmp_path):
    whole = log(TENSOR)
    write(tmp_path / "d" / "a.eval", whole)
    export(tmp_path / "d" / "df.csv", whole)
    data = load(tmp_path / "d")
    assert outcomes_of(data) == TENSOR
    assert "retries-merged" in codes(data)


LONG = "word " * 2000
PICTURE = [{"role": "user", "content": [{"type": "text", "text": "See:"},
                                        {"type": "image", "image": "data:..."}]}]  # fmt: skip


@pytest.mark.parametrize("question", [lambda i: f"{i} {LONG}", lambda i: PICTURE])
def test_short_and_whole_inputs_are_the_same_question(tmp_path, question):
    one = write(tmp_path / "a.eval", log(TENSOR, question=question))
    two = write(tmp_path / "b.json", log(TENSOR, question=question, model="n"))
    assert "same question in all of them" in text_of(load([one, two]), "logs-read")


TWO_SCORERS = "inspect_0.3.125_two_scorers_epochs3.json"


@pytest.mark.parametrize(
    ("name", "scorer", "rates"),
    [
        ("inspect_0.3.42_epochs2.eval", None, {"1": 1 / 2, "2": 1}),
        (TWO_SCORERS, "includes", {"3": 1 / 3, "q1": 2 / 3, "q2": 0}),
        (TWO_SCORERS, "exact", {"3": 1 / 3, "q1": 1 / 3, "q2": 0}),
    ],
)
def test_real_logs(shared, name, scorer, rates):
    """The rates are those of the logs' own reductions over epochs."""
    data = load(shared / "formats" / name, scorer=scorer)
    (system,) = data.systems
    sample = data.system(*system)
    found = dict(zip(data.problems, sample.rate, strict=True))
    assert found == pytest.approx(rates)
