"""What single problems are, against plain loops."""

import numpy as np

from repeval.stats.pairs.items import items


def test_kinds_against_plain_loops():
    rng = np.random.default_rng(2606)
    runs = rng.integers(0, 4, (5, 40))
    runs[0] = np.maximum(runs[0], 1)  # every problem was given to somebody
    y = [[rng.integers(0, 2, r) for r in row] for row in runs]
    rates = np.array([[np.mean(c) if len(c) else np.nan for c in row] for row in y])
    noise = np.array([[np.var(c, ddof=1) if len(c) > 1 else np.nan for c in row] for row in y])
    found = items(rates, noise)
    for j in range(40):
        given = [list(row[j]) for row in y if len(row[j])]
        outcomes = [x for cell in given for x in cell]
        assert found.always[j] == all(outcomes)
        assert found.never[j] == (not any(outcomes))
        assert found.flaky[:, j].sum() == sum(len(set(cell)) > 1 for cell in given)
        assert found.seen[:, j].sum() == sum(len(cell) > 1 for cell in given)
    spread = np.nanmax(rates, axis=0) - np.nanmin(rates, axis=0)
    assert (np.diff(spread[found.telling]) <= 1e-12).all()
    assert sorted(found.telling) == list(range(40))
