"""Ask how sure a score from repeated runs is, and what the next dollar should buy.

Public names load on first use (PEP 562), so that `import repeval` stays quick.
"""

from __future__ import annotations

import importlib
from typing import Any

from repeval._version import __version__

# Bound now: the submodule of the same name would otherwise hide the function.
from repeval.components import components

_PUBLIC = {
    "Analysis": "analysis",
    "BetaBinomial": "betabinomial",
    "BootstrapResult": "strategies",
    "CeilingInterval": "ceiling",
    "Comparison": "comparison",
    "Components": "components",
    "Interval": "intervals",
    "Outcomes": "outcomes",
    "Policy": "outcomes",
    "Ranking": "ranking",
    "RepevalError": "notices",
    "Sample": "sample",
    "accuracy": "agreement",
    "analyze": "analysis",
    "as_sample": "sample",
    "bootstrap": "strategies",
    "ceiling_interval": "ceiling",
    "cohen_kappa": "agreement",
    "compare": "comparison",
    "difference_components": "components",
    "fit_beta_binomial": "betabinomial",
    "interval": "intervals",
    "load": "tables",
    "optimal_integer_runs": "allocation",
    "optimal_runs": "allocation",
    "pass_at_k": "betabinomial",
    "pass_hat_k": "betabinomial",
    "rank": "ranking",
    "relative_width": "allocation",
}

__all__ = ["__version__", "components", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'repeval' has no attribute {name!r}")
    return getattr(importlib.import_module(f"repeval.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
