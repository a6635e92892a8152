"""Generators are normalised once, and keyed streams do not depend on order."""

import numpy as np
import pytest

from repeval.stats.resampling import DEFAULT_SEED, as_generator, keyed_generator


def test_a_seed_gives_the_same_stream_as_numpy() -> None:
    assert as_generator(DEFAULT_SEED).random() == np.random.default_rng(DEFAULT_SEED).random()
    assert as_generator(np.int64(7)).random() == np.random.default_rng(7).random()


def test_a_generator_is_used_as_it_is() -> None:
    rng = np.random.default_rng(1)
    assert as_generator(rng) is rng


def test_none_is_fresh() -> None:
    assert as_generator(None).random() != as_generator(None).random()


@pytest.mark.parametrize(
    "bad", [np.random.RandomState(1), "2606", 1.5, np.random], ids=lambda b: type(b).__name__
)
def test_anything_else_is_refused(bad: object) -> None:
    with pytest.raises(TypeError, match="rng must be an int"):
        as_generator(bad)


def test_keyed_streams_depend_on_the_key_alone() -> None:
    first = keyed_generator(DEFAULT_SEED, "A", "Detailed").random(3)
    keyed_generator(DEFAULT_SEED, "B").random(100)
    assert (keyed_generator(DEFAULT_SEED, "A", "Detailed").random(3) == first).all()
    others = [("A", "Minimal"), ("A",), ("ADetailed",), ("AD", "etailed"), ("Detailed", "A")]
    draws = {keyed_generator(DEFAULT_SEED, *key).random() for key in others} | {first[0]}
    assert len(draws) == len(others) + 1
    assert keyed_generator(DEFAULT_SEED + 1, "A", "Detailed").random() != first[0]


def test_keyed_streams_are_the_same_on_every_machine() -> None:
    # SHA-256, not Python's hash(), which changes from process to process.
    assert keyed_generator(2606, "rank", "Detailed").integers(2**32) == PINNED


# PCG64 seeded with [2606, 128 bits of the digest]; computed once, numpy 2.4.
PINNED = int(
    np.random.default_rng(
        [2606, *np.frombuffer(bytes.fromhex("26e170f60f9a708f508afe18d4ba8e02"), dtype="<u4")]
    ).integers(2**32)
)
