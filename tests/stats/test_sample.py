"""Every form of input becomes one sample, and wrong input one clear message."""

import math

import numpy as np
import pytest
from hypothesis import given

from repeval.stats.sample import Sample, as_sample, from_counts, from_scores
from tests.oracles import QUIET, designs
from tests.samples import rows_of


@given(designs())
@QUIET
def test_counts_pairs_and_arrays_are_the_same_sample(design) -> None:
    passes, runs = design
    forms = [as_sample(passes, runs), as_sample((passes, runs)), as_sample(rows_of(passes, runs))]
    for s in forms:
        assert s.binary
        assert s.scores is None
        for field in ("passes", "runs", "rate", "noise"):
            np.testing.assert_array_equal(getattr(s, field), getattr(forms[0], field))
    assert as_sample(forms[0]) is forms[0]
    assert len(forms[0]) == len(passes)


def test_values_by_hand() -> None:
    s = as_sample([0, 1, 3, 1], [4, 4, 3, 1])
    assert s.rate.tolist() == [0, 0.25, 1, 1]
    # v = R/(R-1) p(1-p) = 4/3 · 3/16; one rounding of each factor.
    assert s.noise[:3].tolist() == pytest.approx([0, 0.25, 0], rel=1e-15)
    assert math.isnan(s.noise[3])
    assert s.lattice == 12
    assert not s.equal_runs
    assert as_sample([1, 2], 3).equal_runs


def test_scores_by_hand() -> None:
    s = as_sample([[0.2, 0.4, 0.9], [0.5, np.nan, 0.5], [1, np.nan, np.nan]])
    assert not s.binary
    assert s.passes is None
    assert s.runs.tolist() == [3, 2, 1]
    # Sample variance of .2 .4 .9 is (.09 + .01 + .16)/2 = .13; rounding of three squares.
    assert s.noise[0] == pytest.approx(0.13, rel=1e-14)
    assert s.noise[1] == 0
    assert math.isnan(s.noise[2])
    np.testing.assert_allclose(s.rate, [0.5, 0.5, 1], rtol=1e-15)


def test_noise_of_equal_scores_is_exactly_zero() -> None:
    # Three times .1 has mean .10000000000000002: rounding must not become run noise.
    assert as_sample(np.full((4, 3), 0.1)).noise.tolist() == [0] * 4


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.float32])
def test_arrays_of_any_type_are_outcomes(dtype) -> None:
    s = as_sample(np.array([[1, 0, 1], [0, 0, 0]], dtype=dtype))
    assert s.passes.tolist() == [2, 0]
    assert s.runs.tolist() == [3, 3]


def test_whole_floats_are_counts() -> None:
    assert as_sample([1.0, 2.0], 2).passes.tolist() == [1, 2]
    assert as_sample(np.array([True, False]), 1).passes.tolist() == [1, 0]


def test_take_keeps_every_field() -> None:
    s = as_sample([0, 1, 2], [2, 3, 4]).take(np.array([2, 0]))
    assert (s.passes.tolist(), s.runs.tolist(), s.rate.tolist()) == ([2, 0], [4, 2], [0.5, 0])
    t = as_sample([[0.5, 0.2], [0.1, 1], [0, 0.3]]).take(np.array([True, False, True]))
    assert t.scores.tolist() == [[0.5, 0.2], [0, 0.3]]
    assert isinstance(t, Sample)


@pytest.mark.parametrize(
    ("passes", "runs", "message"),
    [
        ([1, 4], 3, "between 0 and runs; problem 1"),
        ([-1, 2], 3, "between 0 and runs; problem 0"),
        ([0, 0, 0], [1, 0, 1], "at least 1; problem 1"),
        ([0.5, 1], 2, "passes must be whole numbers; problem 0"),
        ([0, 1], [2, 2.5], "runs must be whole numbers; problem 1"),
        ([[0, 1]], 2, "one-dimensional"),
        ([], 2, "one-dimensional"),
        ([1], 2, "at least two problems"),
    ],
)
def test_wrong_counts_are_named(passes, runs, message) -> None:
    with pytest.raises(ValueError, match=message):
        as_sample(passes, runs)


# NumPy warns when it casts NaN or 1e300; the message must come instead of the warning.
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300, 2**70, "2", None])
def test_counts_that_are_no_integers(bad) -> None:
    with pytest.raises(ValueError, match=r"passes must"):
        as_sample([1, bad], 3)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0, 1], [np.nan, np.nan]], "problem 1 has none"),
        ([[0, 1.1], [0, 1]], r"\[0, 1\]; problem 0"),
        ([[0, 1], [0, -1]], r"\[0, 1\]; problem 1"),
        ([[0, 1], [0, np.inf]], r"\[0, 1\]; problem 1"),
        ([0, 1, 1], "array"),
        (np.zeros((0, 3)), "array"),
        ([[0, 1]], "at least two problems"),
    ],
)
def test_wrong_scores_are_named(scores, message) -> None:
    with pytest.raises(ValueError, match=message):
        as_sample(scores)


def test_runs_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"."):
        as_sample([1, 2, 3], [3, 3])


def test_input_is_not_changed() -> None:
    y = np.array([[0.5, np.nan], [1, 0]])
    before = y.copy()
    from_scores(y)
    np.testing.assert_array_equal(y, before)
    k = np.array([1, 2])
    from_counts(k, 2)
    assert k.tolist() == [1, 2]
