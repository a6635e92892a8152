"""Predict one half of the problems from the other, by a Beta law and by what was observed."""

from __future__ import annotations

from typing import Any

import numpy as np

from repeval.io.outcomes import Outcomes
from repeval.stats.betabinomial import expected_power, has_beta, pass_at_k, pass_hat_k
from repeval.stats.components import components
from repeval.stats.resampling import keyed_generator
from repeval.stats.sample import Sample, from_counts

# Full: ten times the paper's seeds, as a range over 20 seeds is a matter of luck itself.
SIZES = {"quick": {"seeds": 20, "splits": 50}, "full": {"seeds": 200, "splits": 50}}
QUANTITIES = ("retry-free", "pass@3", "carry-over")
TRIES = 3


def tasks(outcomes: Outcomes, seeds: int, splits: int) -> list[tuple[Any, ...]]:
    """Return each model's passes and runs under the condition reported first."""
    condition = outcomes.source.default_condition or outcomes.conditions[0]
    samples = outcomes.common(condition)[0]
    return [(model, s.passes, s.runs) for model, s in samples.items()]


def rows(task: tuple[Any, ...], seed: int, seeds: int, splits: int) -> list[dict[str, Any]]:
    """Return a row for each seed and quantity, over `splits` random halves.

    `predicted` and `observed` are means over the splits, `one_split` is the mean of |predicted -
    observed|; `undefined` counts splits whose first half no Beta law fits (there
    `expected_power` takes the limit).

    References
    ----------
    VC Appendix C.
    """
    model, sample = task[0], from_counts(*task[1:])
    found = []
    for number in range(seeds):
        rng = keyed_generator(seed, "halfsplits", model, number)
        results = [_split(sample, rng.permutation(len(sample))) for _ in range(splits)]
        pairs = np.array([pair for _, pair in results])
        undefined = sum(not defined for defined, _ in results)
        error = np.abs(pairs[..., 0] - pairs[..., 1]).mean(axis=0)
        found += [
            {"model": model, "seed": number, "quantity": quantity, "predicted": predicted,
             "observed": observed, "one_split": missed, "splits": splits, "undefined": undefined}
            for quantity, (predicted, observed), missed
            in zip(QUANTITIES, pairs.mean(axis=0).tolist(), error.tolist(), strict=True)
        ]  # fmt: skip
    return found


def _split(sample: Sample, order: np.ndarray) -> tuple[bool, list[tuple[float, float]]]:
    """Return whether the first half has a Beta law, and each quantity predicted and observed."""
    half = (len(order) + 1) // 2
    known, held_out = sample.take(order[:half]), sample.take(order[half:])
    c, runs = components(known), int(sample.runs.min())
    passed = pass_hat_k(held_out, k=runs)
    return has_beta(c.mean, c.between), [
        (expected_power(c.mean, c.between, runs), passed),
        (1 - expected_power(1 - c.mean, c.between, TRIES), pass_at_k(held_out, k=TRIES)),
        (pass_hat_k(known, k=runs), passed),
    ]
