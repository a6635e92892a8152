"""Figures and words on problems and runs, one level and two, and two conditions of a model."""

from dataclasses import replace

import numpy as np
import pytest

import repeval
from repeval.companion.plots import conditions

from .made import drawn


def test_differences_of_conditions(default):
    plot = drawn(conditions.differences(default))
    assert len(plot.data) == 16
    rows = default.condition_pairs
    one = sum(r.resolved for r in rows)
    assert f"Of 16 differences {one} would be shown on new problems" in plot.caption
    # Holm asks for .05/16, .05/15, ... in turn, Bonferroni for .05/16 of all.
    p = [0.0031, 0.0033, 0.004, *[0.04] * 13]
    certain = [replace(r, p_value=p, resolved=True) for r, p in zip(rows, p, strict=True)]
    certain = replace(default, condition_pairs=tuple(certain))
    text = conditions.exploratory(certain)
    assert "16 would" in text
    assert "2 still are after Holm's correction for asking about all, 1 after" in text
    assert "about 0.8 at most would be shown by luck" in text
    filled = [
        line for line in conditions.differences(certain).figure.axes[0].lines
        if line.get_marker() == "o" and line.get_markerfacecolor() != "white"
    ]  # fmt: skip
    assert len(filled) == 2


def test_runs_narrow_differences_on_the_default_data(default):
    outcomes = repeval.load()
    plot = drawn(conditions.narrowing(default, outcomes))
    assert len(plot.data) == 16 * 4
    # At all runs the estimate from all runs is met but for the first run's own width.
    full = plot.data[plot.data["runs"] == 5].set_index("model")
    assert full["observed"].corr(full["predicted"]) > 0.8


def two_conditions(tidy, conditions_, runs=2, models=("a", "b")):
    rng = np.random.default_rng(2606)
    rows = [
        {"model": m, "condition": c, "problem": i, "run": r, "outcome": int(rng.random() < 0.5)}
        for m in models for c in conditions_ for i in range(15) for r in range(runs)
    ]  # fmt: skip
    outcomes = repeval.load(tidy(rows))
    return repeval.analyze(outcomes, n_resamples=50), outcomes


@pytest.mark.parametrize("names", [("x",), ("x", "y"), ("<b>$x$", "y", "名前")])
@pytest.mark.parametrize("runs", [1, 3])
def test_any_number_of_conditions(tidy, names, runs):
    analysis, outcomes = two_conditions(tidy, names, runs)
    shown, narrowed = conditions.differences(analysis), conditions.narrowing(analysis, outcomes)
    text, found = conditions.exploratory(analysis), conditions.components(analysis)
    pairs = len(names) * (len(names) - 1)
    assert len(analysis.condition_pairs) == len(found) == pairs
    assert (text == conditions.NO_PAIR) == (shown.caption == conditions.NO_PAIR) == (pairs == 0)
    assert (narrowed.caption == conditions.ONE_RUN) == (runs == 1 or pairs == 0)
    assert ("conditions" in found) == (len(names) > 2)
    for plot in (shown, narrowed):
        plot.figure.canvas.draw()
    labels = conditions.labels(analysis.condition_pairs) if pairs else []
    assert ("less" in "".join(labels)) == (len(names) > 2)


def test_the_pairing_of_a_stand_in_is_called_a_guess(tidy):
    default = repeval.load()
    said = conditions.pairing(default)
    assert ("a guess" in said) == (default.source.basis == "stand-in")
    assert "cancels" in conditions.pairing(two_conditions(tidy, ("x", "y"))[1])


def test_the_posts_own_tables():
    found = conditions.post_factors()
    assert len(found) == 10
    gemma = found[(found["subject"] == "bio") & (found["model"] == "Gemma 3 12B")].iloc[0]
    # Two of the printed predictions are a unit off those of the printed ICCs.
    assert gemma.tolist()[2:] == ["0.87", "0.947", "0.94", "0.93"]
    off = found["from it"].astype(float) - found["predicted"].astype(float)
    assert (off.abs() > 0.006).sum() == 2
    # Qwen 3.5 9B on biology: sqrt(.17 + .83/5) = .580 against .52.
    assert "most by 0.06 (Qwen 3.5 9B, bio)" in conditions.post_misses()
    assert conditions.post_intervals().startswith("10 of 10 intervals lie between")
