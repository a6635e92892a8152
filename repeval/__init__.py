"""Ask how sure a score from repeated runs is, and what the next dollar should buy.

Public names load on first use (PEP 562), so that `import repeval` stays quick.
"""

import importlib

from repeval._version import __version__

# Python has loaded nothing but this when it runs `python -m repeval`: a typing.py, or a
# __future__.py, may lie in the working directory. Type checkers know the name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PUBLIC = {
    "Analysis": "report.analysis",
    "BetaBinomial": "stats.betabinomial",
    "BootstrapResult": "stats.bootstrap",
    "CeilingInterval": "stats.ceiling",
    "Comparison": "stats.comparison",
    "Components": "stats.components",
    "Gate": "stats.pairs.gate",
    "Interval": "stats.intervals",
    "Outcomes": "io.outcomes",
    "Plan": "stats.design.plan",
    "Policy": "io.keys",
    "Ranking": "stats.ranking",
    "RepevalError": "messages",
    "Sample": "stats.sample",
    "accuracy": "stats.agreement",
    "analyze": "report.analysis",
    "as_sample": "stats.sample",
    "bootstrap": "stats.bootstrap",
    "ceiling_interval": "stats.ceiling",
    "cohen_kappa": "stats.agreement",
    "compare": "stats.comparison",
    "components": "stats.components",
    "difference_components": "stats.components",
    "fit_beta_binomial": "stats.betabinomial",
    "gate": "stats.pairs.gate",
    "interval": "stats.intervals",
    "load": "io.load",
    "optimal_integer_runs": "stats.design.allocation",
    "optimal_runs": "stats.design.allocation",
    "pass_at_k": "stats.betabinomial",
    "pass_hat_k": "stats.betabinomial",
    "plan": "stats.design.plan",
    "rank": "stats.ranking",
    "relative_width": "stats.design.allocation",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> "Any":
    if name not in _PUBLIC:
        raise AttributeError(f"module 'repeval' has no attribute {name!r}")
    return getattr(importlib.import_module(f"repeval.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
