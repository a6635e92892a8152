"""Which of the studies that pages declare a book needs."""

import pytest

import repeval
from repeval.companion.book.stage import stage
from repeval.io.registry import share_dir


@pytest.mark.parametrize("paper", [True, False])
def test_studies_that_claims_alone_call_for_are_of_the_papers_books(paper, tidy, tmp_path):
    rows = [
        {"model": m, "problem": f"q{i}", "run": r, "outcome": (i + r * (m == "a")) % 2}
        for m in "ab" for i in range(6) for r in range(2)
    ]  # fmt: skip
    outcomes = repeval.load(None if paper else tidy(rows))
    analysis = repeval.analyze(outcomes, n_resamples=100)
    pages, _, studies = stage(outcomes, analysis, tmp_path / "stage", share_dir(), "book")
    assert "notebooks/cost-allocation" in pages
    assert ("pilot" in studies) == ("subsets" in studies) == paper
    assert len(studies) == len(set(studies))
