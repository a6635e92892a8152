"""A small study for the tests of the store."""

from repeval.stats.resampling import keyed_generator

SIZES = {"quick": {"n": 4}, "full": {"n": 8}}


def tasks(outcomes, n):
    return [(f"piece-{i}", i) for i in range(abs(n))]


def rows(task, seed, n):
    key, i = task
    if n < 0:
        raise ValueError("no piece")
    return [{"key": key, "twice": 2 * i, "drawn": keyed_generator(seed, key).random()}]
