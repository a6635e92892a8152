"""The page of formulas: every statement that it tests fails where its formula is wrong."""

import re
from pathlib import Path

import pytest

from repeval.companion.book import notebook
from repeval.companion.book.pages import run_page
from repeval.companion.studies import result

SOURCE = Path(__file__).resolve().parents[2] / "notebooks" / "formulas.md"
#: An assertion with its further lines: what is indented more, and the bracket that ends it.
ASSERTION = re.compile(r"^( *)assert [^\n]*\n(?:\1 +[^\n]*\n)*(?:\1[)\]}][^\n]*\n)?", re.MULTILINE)
# What stands on the page, what is wrong instead, and statements that then fail.
WRONG = [
    ("mu_w = share @ (p * (1 - p))", "mu_w = 1.01 * share @ (p * (1 - p))",
     "vc-s3-eq1 bs-nk-var bs-lim-var vc-s3-muw vc-s3-av bs-nk-icc-def vc-s3-eq2"),
    ("sigma_b2 = share @ p**2 - mu**2", "sigma_b2 = 1.01 * (share @ p**2 - mu**2)",
     "vc-s3-eq1 vc-ad-es2 vc-s3-sb2 vc-s3-icc vc-s3-eq2 vc-abs-ceiling-formula"),
    ("rho = sigma_b2 / (sigma_b2 + mu_w)", "rho = sigma_b2 / (sigma_b2 + mu_w / 2)",
     "vc-s3-deff bs-nk-sd bs-gen-deficit vc-s3-icc"),
    ("p_hat = Y.sum(axis=1) / 3", "p_hat = Y.sum(axis=1) / 2", "vc-s3-phat vc-s3-rlpr"),
    ("(1 / 2 + 4 / 5) / 2", "5 / 7", "vc-s3-rlpr"),
    ("(p * (1 - p)).mean() / (N * R)", "mu_w / (N * R)", "vc-s3-fixed-var"),
    ("msb = R * (", "msb = (", "bs-rho-anova vc-s3-icc"),
    ("same(many, np.sqrt(rho))", "same(many, rho)", "bs-nk-floor-def"),
    ("7 * (2.5 + 3 * 0.5)", "7 * (2.5 + 0.5)", "vc-s3-budget"),
    ("optimal_runs(mu_w / sigma_b2, price)", "optimal_runs(mu_w / sigma_b2, price) ** 2",
     "vc-s3-rstar vc-abs-rstar vc-s1-rstar"),
    ("at_budget(np.arange(1, 101), 0)", "at_budget(np.arange(1, 101), 9)",
     "vc-s3-r1-rule vc-s1-r1-rule"),
    ('name="pooled_wilson"', 'name="clustered_wilson"', "vc-ad-wilson"),
    ('name="fixed_normal"', 'name="fixed_t"', "vc-ad-fixed"),
    (".std(ddof=1)", ".std()", "bs-norm-formula"),
    ("norm.ppf(0.975)", "norm.ppf(0.976)", "vc-ad-wilson vc-ad-fixed bs-norm-formula"),
    ('"two_level").pmf[:5]', '"one_level").pmf[:5]', "vc-ad-twolevel"),
    ("binomial(k / R, R).mean(axis=0)", "binomial(k / 4, R).mean(axis=0)",
     "vc-ad-doublecount bs-gen-deficit"),
    ('same(v["fixed_bootstrap"]', 'same(v["one_level"]', "vc-ad-fixed-boot"),
    ('twice = v["two_level"]', 'twice = v["fixed_bootstrap"]', "vc-ad-doublecount bs-gen-deficit"),
    ("stats.beta(alpha, beta).pdf", "stats.beta(alpha, 4).pdf", "vc-ab-retryfree vc-ab-passk"),
    ("grid**3 + 3 * grid**2 * (1 - grid)", "grid**3", "bs-take-mode3-formula"),
    ("mode[:, b] += both / 2", "mode[:, b] += both / 3", "bs-take-mode2"),
    ("p_o = (truth == predicted)", "p_o = (truth >= predicted)", "bs-nk-y bs-kappa-formula"),
    ("p_e = (truth[:, None] == predicted)", "p_e = (truth[:, None] >= predicted)",
     "bs-kappa-formula bs-kappa-fce"),
    ("    q = q / q.sum()\n", "", "bs-kappa-fce"),
    ('icc + (1 - icc) / study["k"]', '1 / study["k"]', "bs-nk-width"),
    ("special.expit(2 * x / T)", "special.expit(2 * x)", "vc-s54-half"),
]  # fmt: skip


@pytest.fixture(scope="module")
def book():
    table = result("strategies", None)
    book = notebook.open(None, "paper", "quick", 2606)
    return notebook.replace(book, quiet=True, tables=lambda name: table)


def claimed(source, book):
    return {key: value for key, (value, *_) in run_page("formulas", source, book).items()}


def test_all_hold_but_one(book):
    found = claimed(SOURCE.read_text(encoding="utf-8"), book)
    assert found.pop("bs-take-mode3") == pytest.approx(0.784)
    assert [key for key, holds in found.items() if holds is not True] == ["bs-gen-mode-rho"]
    failing = " ".join(keys for *_, keys in WRONG).split()
    assert {*failing, "bs-gen-mode-rho"} == set(found)


@pytest.mark.parametrize(("right", "wrong", "keys"), WRONG, ids=[w for _, w, _ in WRONG])
def test_a_wrong_formula_fails(book, right, wrong, keys):
    text = SOURCE.read_text(encoding="utf-8")
    assert right in text
    # Without the page's own assertions, which would stop it before.
    source = ASSERTION.sub("", text.replace(right, wrong, 1))
    found = claimed(source, book)
    assert [key for key in keys.split() if found[key] is not False] == []
