"""Outcomes as they are written: words of one kind, percent signs, ratings on a scale."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repeval import load
from repeval.io.verdicts import VOCABULARIES, fitting_scales, sentinel
from repeval.messages import RepevalError

HEAD = "model,problem,run,outcome\n"


def table(words, problems: int = 2) -> str:
    """Words as the outcomes of two problems or more, in order."""
    return HEAD + "".join(f"m,q{i % problems},{i},{word}\n" for i, word in enumerate(words))


def outcomes(data) -> list[float]:
    frame = data.frame.assign(run=data.frame["run"].astype(int)).sort_values("run")
    return frame["outcome"].tolist()


def refusal(path, **options) -> RepevalError:
    with pytest.raises(RepevalError) as caught:
        load(path, **options)
    return caught.value


@pytest.mark.parametrize("name", VOCABULARIES)
@pytest.mark.parametrize("case", [str.lower, str.upper, str.title])
def test_the_words_of_a_vocabulary_are_read_in_any_case(write, name, case):
    words = VOCABULARIES[name]
    data = load(write("w.csv", table([f" {case(word)}" for word in words])))
    assert outcomes(data) == [*words.values()]


@given(st.sets(st.sampled_from(sorted({w for v in VOCABULARIES.values() for w in v})), min_size=2))
def test_words_of_several_kinds_are_refused(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("words") / "w.csv"
    path.write_text(table(sorted(words)), encoding="utf-8")
    of_one = [name for name, known in VOCABULARIES.items() if words <= set(known)]
    if of_one and not words <= {"p", "n"}:
        assert outcomes(load(path)) == [VOCABULARIES[of_one[0]][word] for word in sorted(words)]
    else:
        assert refusal(path).code == "outcome-mixed"


@pytest.mark.parametrize("words", ["yes passed no", "1 yes", "T no", "50% 1", "0.5 C I", "P N"])
def test_mixed_columns_are_named(write, words):
    error = refusal(write("w.csv", table(words.split())))
    assert error.code == "outcome-mixed"
    assert words.split()[0] in error.text


def test_the_field_file_of_each_vocabulary(shared):
    right = {"passed", "yes", "correct", "success", "resolved", "✓", "y", "t"}
    paths = sorted((shared / "field" / "39_outcome_words").glob("*.csv"))
    assert len(paths) == 8
    for path in paths:
        words = [line.split(",")[3].lower() for line in path.read_text("utf-8").split("\n")[1:-1]]
        data = load(path)
        share = sum(word in right for word in words) / len(words)
        assert 0 < share < 1
        assert data.system("m", "default").rate.mean() == pytest.approx(share, abs=1e-15)


def test_percent_signs_are_read_where_every_outcome_has_one(write):
    data = load(write("p.csv", table(["50%", "100 %", "0%", "12.5 %"])))
    assert outcomes(data) == [0.5, 1, 0, 0.125]
    assert "percent-signs" in [notice.code for notice in data.notices]
    assert refusal(write("p.csv", table(["50%", "100 %", "1", "0"]))).code == "outcome-mixed"
    assert "--scale 0 150" in refusal(write("p.csv", table(["50%", "150%", "0%"]))).text
    more = load(write("p.csv", table(["50%", "150%", "0%"])), scale=(0, 200))
    assert outcomes(more) == [0.25, 0.75, 0]


def test_the_field_files_in_percent(shared):
    for name, options in (("21_percent_signs", {}), ("21b_percent_0_100", {"scale": (0, 100)})):
        path = shared / "field" / f"{name}.csv"
        lines = [line.split(",") for line in path.read_text().split("\n")[1:-1]]
        data = load(path, **options)
        for model in ("a", "b"):
            scores = [float(y.strip("%")) / 100 for m, _, _, y in lines if m == model]
            mean = math.fsum(scores) / len(scores)
            # Equal runs: the mean of means is the mean, up to rounding.
            assert data.system(model, "default").rate.mean() == pytest.approx(mean, abs=1e-14)
    error = refusal(path)
    assert error.code == "outcome-range"
    assert "Type --scale 0 100." in error.text


@given(
    st.lists(st.integers(0, 40), min_size=2, max_size=12),
    st.sampled_from([(0, 10), (1, 5), (-1, 1), (0, 100)]),
)
def test_a_scale_maps_its_ends_to_zero_and_one(tmp_path_factory, steps, scale):
    low, high = scale
    ratings = [low + (high - low) * step / 40 for step in steps]
    path = tmp_path_factory.mktemp("scale") / "s.csv"
    path.write_text(table(ratings))
    data = load(path, scale=scale)
    # One subtraction and one division of numbers below 200, in double precision.
    assert outcomes(data) == pytest.approx([step / 40 for step in steps], abs=1e-13)
    assert "scaled" in [notice.code for notice in data.notices]
    assert data.policy.scale == scale


@given(st.sets(st.integers(-5, 120), min_size=2))
def test_the_scales_that_are_offered_hold_all_ratings(values):
    assert all(low <= min(values) and max(values) <= high for low, high in fitting_scales(values))


def test_a_rating_outside_the_scale_is_refused(write):
    path = write("s.csv", table([1, 5, 3, 7]))
    error = refusal(path, scale=(1, 5))
    assert error.code == "outcome-range"
    assert "outside 1 to 5 in row 5" in error.text
    assert "--scale 1 7 or --scale 0 7" in refusal(path).text
    assert refusal(write("w.csv", table(["yes", "no"])), scale=(1, 5)).code == "bad-option"


@pytest.mark.parametrize("scale", [(5, 1), (1, 1), (0, math.inf), (math.nan, 1)])
def test_a_scale_that_is_none(write, scale):
    assert refusal(write("s.csv", table([1, 5])), scale=scale).code == "bad-option"


def test_one_negative_value_is_asked_about_as_an_error(write):
    path = write("e.csv", table([1, 0, -1, 1]))
    error = refusal(path)
    assert error.code == "outcome-range"
    assert "Type --columns status=outcome." in error.text
    data = load(path, columns="status=outcome")
    assert outcomes(data) == [1, 0, 1]
    assert len(data.errored) == 1
    assert "error-value" in [notice.code for notice in data.notices]
    assert outcomes(load(path, columns="status=outcome", errors="fail")) == [1, 0, 0, 1]
    assert sentinel({-1, -2, 0, 1}, (0, 1)) is None
    assert sentinel({-0.5, 0, 1}, (0, 1)) is None
    assert refusal(write("e.csv", table([1, 0, -1, -2])), columns="status=outcome").code == (
        "outcome-range"
    )
