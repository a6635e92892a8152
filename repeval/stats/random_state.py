"""Random generators: normalised once, spawned by key, so no result depends on order or workers."""

from __future__ import annotations

import hashlib

import numpy as np

DEFAULT_SEED = 2606


def as_generator(rng: int | np.random.Generator | None = None) -> np.random.Generator:
    """Normalise `rng` to a generator.

    Parameters
    ----------
    rng : int, numpy.random.Generator or None
        A seed, a generator (used as it is), or None for fresh entropy.

    Raises
    ------
    TypeError
        For anything else; legacy `RandomState` objects are not accepted.
    """
    if rng is None or isinstance(rng, (int, np.integer, np.random.Generator)):
        return np.random.default_rng(rng)
    raise TypeError(f"rng must be an int, a numpy Generator or None, not {type(rng).__name__}")


def keyed_generator(seed: int, *key: object) -> np.random.Generator:
    """Return the generator that belongs to `key` under `seed`, whatever was drawn before."""
    digest = hashlib.sha256("\x1f".join(map(str, key)).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest[:16], dtype=np.uint32)])
