import pytest

from repeval.claims import formulas
from repeval.claims.ledger import _FUNCTIONS

FORMULAS = {
    function for function, _ in _FUNCTIONS.values() if function.__module__ == formulas.__name__
}


@pytest.mark.parametrize("function", sorted(FORMULAS, key=lambda f: f.__name__))
def test_identity(function):
    assert function(None) is True


# Identities that start from the true components fail if these are 1% off.
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("MU_W", formulas.variance_of_score),
        ("MU_W", formulas.aleatoric),
        ("MU_W", formulas.aleatoric_estimator),
        ("SIGMA_B2", formulas.epistemic_estimator),
        ("RHO", formulas.intraclass),
        ("RHO", formulas.design_effect),
        ("SIGMA_B2", formulas.ceiling),
        ("SIGMA_B2", formulas.expected_spread),
        ("Z", formulas.wilson),
        ("Z", formulas.fixed_interval),
    ],
)
def test_identity_fails_when_a_component_is_off(monkeypatch, name, function):
    monkeypatch.setattr(formulas, name, getattr(formulas, name) * 1.01)
    assert function(None) is False


def test_the_optimum_fails_when_the_rule_lacks_its_root(monkeypatch):
    monkeypatch.setattr(formulas, "optimal_runs", lambda ratio, cost: ratio * cost)
    assert formulas.optimal_repeats(None) is False


def test_the_laws_fail_when_swapped(monkeypatch):
    other = {"two_level": "one_level", "one_level": "two_level", "fixed_bootstrap": "two_level"}
    law = formulas.mean_law
    monkeypatch.setattr(formulas, "mean_law", lambda sample, name: law(sample, other[name]))
    assert formulas.two_level(None) is False
    assert formulas.double_count(None) is False
    assert formulas.fixed_bootstrap(None) is False
