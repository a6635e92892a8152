"""Agreement of predicted with true labels: accuracy, Cohen's kappa and its large-sample error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from repeval.stats.sample import FloatArray, IntArray


def accuracy(truth: ArrayLike, predictions: ArrayLike) -> float:
    """Return the share of predictions that are the true label.

    Parameters
    ----------
    truth : (N,) array of labels
    predictions : (N,) or (N, k) array of labels
        One or k predictions for each input; all pairs count alike.

    References
    ----------
    BS, "Simulation".

    Examples
    --------
    >>> import repeval
    >>> truth = ["yes", "no", "yes", "no"]
    >>> predictions = [["yes", "yes"], ["no", "yes"], ["yes", "yes"], ["no", "no"]]
    >>> repeval.accuracy(truth, predictions)
    0.875
    """
    return float(accuracy_of(*_counts(truth, predictions))[0])


def cohen_kappa(truth: ArrayLike, predictions: ArrayLike) -> float:
    """Return Cohen's kappa of all pairs of a true label and a prediction; see `accuracy`.

    NaN where it is undefined: all labels are one and the same.

    References
    ----------
    BS, appendix on Cohen's kappa.

    Examples
    --------
    >>> import repeval
    >>> truth = ["yes", "no", "yes", "no"]
    >>> predictions = [["yes", "yes"], ["no", "yes"], ["yes", "yes"], ["no", "no"]]
    >>> round(repeval.cohen_kappa(truth, predictions), 3)
    0.75
    """
    return float(kappa_of(*_counts(truth, predictions))[0])


def accuracy_of(agreed: FloatArray, true: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return accuracy from what `counts` returns."""
    return agreed / true.sum(axis=-1)


def kappa_of(agreed: FloatArray, true: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return (p_o - p_e)/(1 - p_e) from what `counts` returns.

    Notes
    -----
    Both sides of the fraction are multiplied by n²: of counts, all but the division is exact.
    """
    n, expected = true.sum(axis=-1), (true * predicted).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return (n * agreed - expected) / (n * n - expected)


def kappa_standard_error(tables: NDArray[Any]) -> FloatArray:
    """Return the large-sample standard error of kappa, for one prediction of each input.

    Parameters
    ----------
    tables : (..., L, L) array
        Numbers of inputs by true (rows) and predicted label.

    References
    ----------
    Fleiss, Cohen and Everitt (1969); BS, "Normal approximation for Cohen's κ":
    √((A + B - C) / (N (1 - p_e)⁴)).
    """
    n = tables.sum(axis=(-2, -1))
    p = tables / n[..., None, None]
    row, column = p.sum(axis=-1), p.sum(axis=-2)
    p_o, p_e = np.trace(p, axis1=-2, axis2=-1), (row * column).sum(axis=-1)
    # The margins are crossed, p_.i + p_j. for the pair (i, j). One sum holds A and B.
    margins = column[..., :, None] + row[..., None, :]
    chance = (1 - p_e)[..., None, None] * np.eye(p.shape[-1])
    a_and_b = (p * (chance - margins * (1 - p_o)[..., None, None]) ** 2).sum(axis=(-2, -1))
    c = (p_o * p_e - 2 * p_e + p_o) ** 2
    return np.sqrt(np.maximum(a_and_b - c, 0) / n) / (1 - p_e) ** 2


def influence_icc(table: ArrayLike, statistic: str = "accuracy") -> float:
    """Return the ICC ρ of what single runs add to accuracy or, to first order, to kappa.

    Parameters
    ----------
    table : (L, L) array
        Numbers or shares of runs by true (rows) and predicted label; inputs with one true label
        are alike.
    statistic : {"accuracy", "kappa"}
        Accuracy is a mean of 0 and 1, kappa one of its influence function.

    References
    ----------
    BS, "Choosing N and k", and "How general are these results?" for kappa.
    """
    table = np.asarray(table)
    p = table / table.sum()
    row, column = p.sum(axis=1), p.sum(axis=0)
    influence = np.eye(len(p))
    if statistic == "kappa":
        agreed, expected = np.trace(p), row @ column
        influence = influence * (1 - expected) - (1 - agreed) * (column[:, None] + row)
    mean = (table * influence).sum(axis=1) / table.sum(axis=1)
    between = row @ mean**2 - (row @ mean) ** 2
    within = row @ ((p * influence**2).sum(axis=1) / row - mean**2)
    return float(between / (between + within))


def counts(true: IntArray, predicted: IntArray, n_labels: int) -> tuple[IntArray, ...]:
    """Count what accuracy and kappa are made of.

    Parameters
    ----------
    true, predicted : (b, m) int arrays
        Labels 0..L-1 of m pairs in each of b resamples.

    Returns
    -------
    agreed : (b,) int array
        Pairs of equal labels.
    true, predicted : (b, L) int arrays
        How often each label is the true one, and the predicted one.
    """
    return (true == predicted).sum(axis=1), tallies(true, n_labels), tallies(predicted, n_labels)


def tallies(codes: IntArray, size: int) -> IntArray:
    """Count the numbers 0..size-1 in each row of a (b, m) array; return (b, size)."""
    places = codes + size * np.arange(len(codes))[:, None]
    return np.bincount(places.ravel(), minlength=size * len(codes)).reshape(-1, size)


def encoded(truth: ArrayLike, predictions: ArrayLike) -> tuple[IntArray, IntArray, NDArray[Any]]:
    """Return labels as numbers, in sorted order.

    Returns
    -------
    true : (N,) int array
    predicted : (N, k) int array
        One-dimensional predictions have k = 1.
    labels : (L,) array
        What the numbers 0..L-1 stand for.
    """
    true, predicted = _array(truth), _array(predictions)
    if predicted.ndim == 1:
        predicted = predicted[:, None]
    if true.ndim != 1 or predicted.ndim != 2 or len(true) != len(predicted) or not predicted.size:
        raise ValueError(
            "labels are (truth, predictions) of shapes (N,) and (N, k), "
            f"not {true.shape} and {predicted.shape}"
        )
    if true.dtype.kind != predicted.dtype.kind:
        true, predicted = true.astype(object), predicted.astype(object)
    values = np.concatenate([true, predicted.ravel()])
    try:
        if (values != values).any():  # NaN
            raise TypeError
        labels, codes = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError(
            "labels must be all text or all numbers, and none missing: give a run without an "
            "answer a label of its own; where runs are missing, keep equally many of each input"
        ) from None
    n = len(true)
    return codes[:n], codes[n:].reshape(predicted.shape), np.array(labels.tolist())


def _counts(truth: ArrayLike, predictions: ArrayLike) -> tuple[IntArray, ...]:
    true, predicted, labels = encoded(truth, predictions)
    pairs = np.repeat(true, predicted.shape[1])[None], predicted.reshape(1, -1)
    return counts(*pairs, len(labels))


def _array(values: ArrayLike) -> NDArray[Any]:
    if np.ma.is_masked(values):
        values = values.astype(object).filled(np.nan)
    # As objects: numpy would make text of a NaN among texts.
    array = np.asarray(values) if hasattr(values, "dtype") else np.array(values, dtype=object)
    if array.dtype != object or not array.size or not np.ndim(array.flat[0]):
        return array
    # A column of lists, as pandas groups runs; or a list of lists that differ in length.
    runs = [len(each) for each in array]
    if min(runs) < max(runs):
        raise ValueError(
            f"inputs have {min(runs)} to {max(runs)} runs: keep the first {min(runs)} of each, "
            "or leave out the inputs that have fewer"
        )
    return np.array(array.tolist(), dtype=object)
