import pytest

from repeval.companion.ledger import formulas
from repeval.companion.ledger.verdicts import _FUNCTIONS

FORMULAS = {
    key: function
    for key, function in _FUNCTIONS.items()
    if function.__module__ == formulas.__name__
}


@pytest.mark.parametrize("key", FORMULAS)
def test_identity(key):
    assert FORMULAS[key](None) is True


# Identities that start from the true components fail if these are 1% off.
@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("MU_W", "vc-s3-eq1"),
        ("MU_W", "vc-s3-muw"),
        ("MU_W", "vc-s3-av"),
        ("SIGMA_B2", "vc-s3-sb2"),
        ("RHO", "vc-s3-icc"),
        ("RHO", "vc-s3-deff"),
        ("SIGMA_B2", "vc-s3-eq2"),
        ("SIGMA_B2", "vc-ad-es2"),
        ("Z", "vc-ad-wilson"),
        ("Z", "vc-ad-fixed"),
    ],
)
def test_identity_fails_when_a_component_is_off(monkeypatch, name, key):
    monkeypatch.setattr(formulas, name, getattr(formulas, name) * 1.01)
    assert FORMULAS[key](None) is False


def test_the_optimum_fails_when_the_rule_lacks_its_root(monkeypatch):
    monkeypatch.setattr(formulas, "optimal_runs", lambda ratio, cost: ratio * cost)
    assert FORMULAS["vc-s3-rstar"](None) is False


@pytest.mark.parametrize("key", ["vc-ad-twolevel", "vc-ad-doublecount", "vc-ad-fixed-boot"])
def test_the_laws_fail_when_swapped(monkeypatch, key):
    other = {"two_level": "one_level", "one_level": "two_level", "fixed_bootstrap": "two_level"}
    law = formulas.mean_law
    monkeypatch.setattr(formulas, "mean_law", lambda sample, name: law(sample, other[name]))
    assert FORMULAS[key](None) is False


@pytest.mark.parametrize("key", ["vc-ab-retryfree", "vc-ab-passk"])
@pytest.mark.parametrize("name", ["ALPHA", "BETA"])
def test_the_products_fail_with_another_beta(monkeypatch, key, name):
    products = formulas.products

    def off(shape):
        with monkeypatch.context() as changed:
            changed.setattr(formulas, name, getattr(formulas, name) * 1.01)
            return products(shape)

    monkeypatch.setattr(formulas, "products", off)
    assert FORMULAS[key](None) is False


def test_noise_that_does_not_cool_fails(monkeypatch):
    monkeypatch.setattr(formulas.temperature, "truth", lambda spread, t: (0.1 + t, 0.1))
    assert FORMULAS["vc-s54-half"](None) is False
