"""Start-up: `import repeval` loads nothing, the mathematics loads numpy and scipy."""

import json
import subprocess
import sys

import pytest

HEAVY = {"pandas", "scipy.stats", "scipy.optimize", "matplotlib", "statsmodels", "pyarrow", "yaml"}
HEAVY |= {"narwhals", "polars", "duckdb"}


def modules_after(code: str) -> set[str]:
    code = f"{code}\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_loads_nothing_heavy():
    assert not {"numpy", *HEAVY} & modules_after("import repeval")
    loaded = modules_after("import repeval; repeval.components")
    assert "numpy" in loaded
    assert not HEAVY & loaded


def test_help_loads_nothing_heavy():
    loaded = modules_after(
        "from repeval.cli import main\ntry: main(['analyze', '--help'])\nexcept SystemExit: pass"
    )
    assert "argparse" in loaded
    assert not {"numpy", *HEAVY} & loaded


def test_the_mathematics_needs_no_tables():
    loaded = modules_after(
        "import repeval\n"
        "repeval.interval([3, 1, 2], 3, name='two_level')\n"
        "repeval.ceiling_interval([3, 1, 2, 0], 3)\n"
        "repeval.compare(([3, 1], 3), ([2, 1], 3))\n"
        "repeval.rank([([3, 1], 3), ([2, 1], 3)], rng=1)\n"
        "repeval.fit_beta_binomial([3, 1, 2, 0], 3)"
    )
    assert not HEAVY & loaded


def test_analyze_loads_no_plots_and_no_statistics_package():
    loaded = modules_after("from repeval.cli import main; main(['analyze'])")
    assert not (HEAVY - {"pandas", "pyarrow"}) & loaded


@pytest.mark.parametrize("name", ["components", "interval", "load", "analyze", "Outcomes"])
def test_public_names_are_there(name):
    import repeval

    assert name in dir(repeval)
    assert callable(getattr(repeval, name))


def test_unknown_names_are_attribute_errors():
    import repeval

    with pytest.raises(AttributeError, match="no attribute 'intervall'"):
        repeval.intervall  # noqa: B018
