import pytest

from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.page_table import page_html, typeset
from repeval.companion.ledger.verdicts import Verdict

PAPER, POST = "vc-s3-eq1", "bs-nk-var"


@pytest.mark.parametrize(
    ("keys", "title"),
    [
        ([PAPER], "The paper says, we get: holds: 1"),
        ([POST], "The post says, we get: holds: 1"),
        ([PAPER, POST], "The texts say, we get: holds: 2"),
        ([], "The paper says, we get: "),
    ],
)
def test_the_head_names_the_text(keys, title):
    found = [Verdict(paper()[key], True, None, "holds", "") for key in keys]
    assert f"<summary>{title}</summary>" in page_html(found, [])


@pytest.mark.parametrize(
    ("plain", "set_"),
    [
        ("(sigma_b2 + mu_w/R)/N", "(σ<sub>b</sub>² + μ<sub>w</sub>/R)/N"),
        ("(1-rho)(1-1/k)", "(1-ρ)(1-1/k)"),
        ("beta-binomial alpha+beta", "beta-binomial α+β"),
        ("bs-gen-mode-rho: a < b", "bs-gen-mode-rho: a &lt; b"),
        ("phat_i and phat", "p̂<sub>i</sub> and p̂"),
    ],
)
def test_symbols_are_set_and_words_and_ids_are_not(plain, set_):
    assert typeset(plain) == set_
