"""Small made-up data sets that figures must survive."""

import numpy as np
import pandas as pd

from repeval import analyze
from repeval.io.outcomes import Outcomes


def outcomes(models=3, n=30, runs=(3,), *, kind="mixed", seed=2606, names=None):
    """Outcomes of systems on `n` problems; `runs` are taken in turn by the problems."""
    rng = np.random.default_rng(seed)
    rows = []
    for m in range(models):
        model = names[m] if names else f"m{m:02d}"
        rates = rng.beta(0.4 + 0.02 * m, 0.4, n)
        for i, p in enumerate(rates):
            r = runs[i % len(runs)]
            drawn = {
                "mixed": lambda p=p, r=r: (rng.random(r) < p).astype(float),
                "right": lambda r=r: np.ones(r),
                "scores": lambda p=p, r=r: rng.normal(p, 0.1, r).clip(0, 1).round(3),
                "noise": lambda r=r: (rng.random(r) < 0.5).astype(float),
            }[kind]()
            rows += [(model, "default", f"q{i}", str(k), y) for k, y in enumerate(drawn)]
    columns = ["model", "condition", "problem", "run", "outcome"]
    return Outcomes._from_frame(pd.DataFrame(rows, columns=columns))


CASES = {
    "three": {},
    "one system": {"models": 1, "runs": (5,)},
    "one run": {"runs": (1,)},
    "unequal runs": {"runs": (1, 4, 2)},
    "many runs": {"runs": (12,), "models": 2},
    "scores": {"kind": "scores"},
    "always right": {"kind": "right"},
    "noise": {"kind": "noise", "runs": (2,), "seed": 7},
    "forty-two": {"models": 42, "n": 12, "runs": (2,)},
    "awkward names": {"names": ["a$b$ {x} %s", "<i>" + "very-long-name-" * 9, "名前\n\u202e"]},
}


def analysed(name):
    """Outcomes and analysis of a case."""
    data = outcomes(**CASES[name])
    return data, analyze(data, n_resamples=200)


def drawn(plot):
    """Assert what every figure promises, and draw it."""
    assert plot.caption
    assert plot.alt
    for text in (plot.caption, plot.alt):
        assert not {"nan", "None", "inf"} & set(text.replace(".", " ").split())
    assert plot.source.startswith("repeval.companion.plots.")
    plot.figure.canvas.draw()
    return plot
