import functools
from pathlib import Path

import pytest

from repeval import analyze, load
from repeval.companion.book.notebook import Book
from repeval.companion.studies import result


@pytest.fixture(scope="session")
def recomputed():
    """The book of the default data, all verdicts by id, and the studies that these asked for."""
    outcomes, used = load(), set()

    @functools.cache
    def study(name):
        used.add(name)
        return result(name, outcomes)

    book = Book(outcomes, analyze(outcomes), "paper", "quick", 2606, Path("."), tables=study)
    return book, {v.claim.id: v for v in book.verdicts()}, used
