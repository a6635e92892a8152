"""Accuracy, Cohen's kappa and its standard error."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.stats.agreement import (
    accuracy_of,
    counts,
    influence_icc,
    kappa_of,
    kappa_standard_error,
    tallies,
)
from tests.samples import SEED

# The post's table: row margins 155, 130, 110, 105; column margins 150, 135, 115, 100.
TABLE = np.array([[120, 30, 5, 0], [25, 80, 20, 5], [5, 20, 70, 15], [0, 5, 20, 80]])


def pairs(table):
    truth, predicted = np.indices(table.shape)
    return np.repeat(truth.ravel(), table.ravel()), np.repeat(predicted.ravel(), table.ravel())


def kappa(p):
    return kappa_of(np.trace(p), p.sum(axis=1), p.sum(axis=0))


def test_the_posts_table():
    # (0.7 - 0.2558)/(1 - 0.2558), p_e = (155·150 + 130·135 + 110·115 + 105·100)/500².
    assert repeval.accuracy(*pairs(TABLE)) == 0.7
    assert repeval.cohen_kappa(*pairs(TABLE)) == pytest.approx(0.4442 / 0.7442, abs=1e-15)


def test_all_pairs_of_k_runs_go_into_one_table():
    truth, predictions = [0, 1, 1], [[0, 1], [1, 1], [0, 1]]
    # Right: 1 + 2 + 1 of 6; true 0: 2, 1: 4; predicted 0: 2, 1: 4; p_e = 20/36.
    assert repeval.accuracy(truth, predictions) == pytest.approx(4 / 6)
    assert repeval.cohen_kappa(truth, predictions) == pytest.approx((4 / 6 - 20 / 36) / (16 / 36))
    flat = np.repeat(truth, 2), np.ravel(predictions)
    assert repeval.cohen_kappa(*flat) == repeval.cohen_kappa(truth, predictions)


@pytest.mark.parametrize(
    "name",
    [np.array(["d", "c", "ä", ""]), np.array([2.5, -1, 0, 7]), np.array([True, False]),
     np.array(["yes", "no", "x", "y"], dtype=object)],
)  # fmt: skip
def test_names_of_labels_do_not_matter(name):
    rng = np.random.default_rng(SEED)
    truth, predictions = rng.integers(len(name), size=30), rng.integers(len(name), size=(30, 3))
    for of in (repeval.accuracy, repeval.cohen_kappa):
        expected = of(truth, predictions)
        assert of(name[truth], name[predictions]) == expected
        assert of(name[truth].tolist(), name[predictions].tolist()) == expected
        assert of(pd.Series(name[truth]), pd.DataFrame(name[predictions])) == expected
        assert of(name[truth], pd.Series(list(name[predictions]))) == expected


def test_kappa_of_one_label_is_undefined_and_of_chance_zero():
    assert np.isnan(repeval.cohen_kappa(["a", "a"], ["a", "a"]))
    assert repeval.accuracy(["a", "a"], ["a", "a"]) == 1
    assert repeval.cohen_kappa([0, 0, 1, 1], [0, 1, 0, 1]) == 0
    assert repeval.cohen_kappa([0, 1], [1, 0]) == -1


@pytest.mark.parametrize(
    ("truth", "predictions", "told"),
    [
        (["a", "b"], [["a", "b", "a"], ["a", "b"]], "2 to 3 runs: keep the first 2"),
        (["a", "b"], pd.Series([["a"], ["a", "b"]]), "1 to 2 runs: keep the first 1"),
        (["a", "b"], ["a", "b", "a"], r"\(2,\) and \(3, 1\)"),
        ([["a"], ["b"]], ["a", "b"], r"\(2, 1\) and"),
        (["a", "b"], [], r"\(2,\) and \(0, 1\)"),
        (["a", "b"], [["a", None], ["a", "b"]], "label of its own"),
        (["a", float("nan")], ["a", "b"], "label of its own"),
        ([0, 1], [[1.0, np.nan], [0, 0]], "keep equally many"),
        (pd.Series(["a", pd.NA]), ["a", "b"], "label of its own"),
        (["0", "1"], [0, 1], "all text or all numbers"),
    ],
)
def test_refusals_say_what_to_do(truth, predictions, told):
    with pytest.raises(ValueError, match=told):
        repeval.accuracy(truth, predictions)


def test_counts_are_counted_for_every_resample():
    rng = np.random.default_rng(SEED)
    true, predicted = rng.integers(5, size=(2, 7, 11))
    agreed, margin, other = counts(true, predicted, 5)
    for b in range(7):
        assert agreed[b] == sum(true[b] == predicted[b])
        assert margin[b].tolist() == [sum(true[b] == label) for label in range(5)]
        assert other[b].tolist() == [sum(predicted[b] == label) for label in range(5)]
    assert accuracy_of(agreed, margin, other)[3] == np.mean(true[3] == predicted[3])


def test_standard_error_at_the_posts_table():
    # (A + B - C)/(1 - p_e)^4 of the specification; 500 inputs.
    assert 500 * kappa_standard_error(TABLE) ** 2 == pytest.approx(0.378346, abs=5e-7)


def test_standard_error_is_that_of_the_influence_function():
    p, step = TABLE / 500, 1e-6
    influence = np.zeros((4, 4))
    for cell in np.ndindex(4, 4):
        point = np.zeros((4, 4))
        point[cell] = 1
        up, down = (kappa((1 - e) * p + e * point) for e in (step, -step))
        influence[cell] = (up - down) / (2 * step)
    # Central differences: error of order step², and rounding 1e-16/step.
    assert (p * influence).sum() == pytest.approx(0, abs=1e-9)
    assert (p * influence**2).sum() == pytest.approx(
        500 * kappa_standard_error(TABLE) ** 2, rel=1e-8
    )
    # Of the variance of the influence the part between true labels.
    label = p.sum(axis=1)
    between = label @ ((p * influence).sum(axis=1) / label) ** 2
    expected = between / (p * influence**2).sum()
    assert influence_icc(TABLE, "kappa") == pytest.approx(expected, rel=1e-8)


def test_icc_of_accuracy_in_fractions():
    share = [Fraction(int(row.sum()), 500) for row in TABLE]
    right = [Fraction(int(row[i]), int(row.sum())) for i, row in enumerate(TABLE)]
    mean = sum(s * r for s, r in zip(share, right, strict=True))
    between = sum(s * (r - mean) ** 2 for s, r in zip(share, right, strict=True))
    # A difference of sums that are 40 times as large as it: a few more roundings.
    assert influence_icc(TABLE) == pytest.approx(float(between / (mean * (1 - mean))), rel=1e-13)
    # Where the input decides all, and where it decides nothing.
    assert influence_icc(np.array([[3, 0], [4, 0]])) == pytest.approx(1, abs=1e-15)
    assert influence_icc(np.array([[3, 1], [1, 3]])) == pytest.approx(0, abs=1e-15)


def test_complete_agreement_has_no_error():
    assert kappa_standard_error(np.diag([3, 4])) == 0


def test_tallies_have_a_column_for_every_number():
    assert tallies(np.array([[0, 2, 2], [1, 1, 1]]), 4).tolist() == [[1, 0, 2, 0], [0, 3, 0, 0]]
