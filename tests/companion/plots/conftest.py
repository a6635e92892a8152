from dataclasses import replace

import numpy as np
import pytest

import repeval
from repeval.report.analysis import analyze


@pytest.fixture(scope="session")
def default():
    """The analysis of the default data, fewer resamples: what is drawn is what it holds."""
    return analyze(repeval.load(), n_resamples=200)


@pytest.fixture
def made(tidy):
    """Analyse made-up runs: pass probability of a problem by model, `None` for copied runs."""

    def build(models, *, problems=20, runs=2, excluded=(), seed=2606):
        rng = np.random.default_rng(seed)
        difficulty = rng.beta(0.6, 0.6, problems)
        rows = [
            {"model": f'"{m}"', "condition": c, "problem": f"q{i}", "run": r,
             "outcome": int(rng.random() < difficulty[i] * (1 - 0.01 * j))}
            for j, (m, c) in enumerate(models) for i in range(problems) for r in range(runs)
        ]  # fmt: skip
        outcomes = repeval.load(tidy(rows))
        source = replace(outcomes.source, excluded=excluded)
        return analyze(replace(outcomes, source=source), n_resamples=100)

    return build


def plain(*names):
    return [(name, "default") for name in names]
