"""VC Appendix G: run labels, over the clean systems.

For the agreement of runs the paper does not say which systems and prompts it pools; the clean
systems under both prompts come closest to its p-value.
"""

from __future__ import annotations

import itertools

import numpy as np

from repeval.companion.ledger.entries import paper
from repeval.companion.ledger.functions import claim
from repeval.companion.ledger.results import Results
from repeval.companion.ledger.verdicts import refusal
from repeval.companion.words.labels import labelled
from repeval.stats.exchangeability import RunAgreement, label_effect, run_agreement
from repeval.stats.sample import FloatArray


def tables(r: Results, *conditions: str) -> list[FloatArray]:
    """Return the outcomes of the clean systems by run label."""
    found = []
    for condition in conditions:
        by_model = labelled(r.outcomes, condition).tables
        if missing := {s.model for s in r.clean(condition)} - set(by_model):
            raise refusal(f"no common run labels: {', '.join(sorted(missing))}")
        found += [by_model[s.model] for s in r.clean(condition)]
    return found


def agreement(r: Results) -> RunAgreement:
    """Compare runs of the clean systems under all prompts."""
    return run_agreement(*tables(r, *r.outcomes.conditions))


@claim("vc-ag-q-min")
def smallest(r: Results) -> float:
    """Test every clean system under every prompt; take the smallest."""
    return min(label_effect(table).p_value for table in tables(r, *r.outcomes.conditions))


claim("vc-ag-gap-{prompt}")(
    lambda r, prompt: 100 * label_effect(*tables(r, prompt.capitalize())).gap
)
claim("vc-ag-q-{prompt}")(lambda r, prompt: label_effect(*tables(r, prompt.capitalize())).p_value)
claim("vc-ag-adjacent")(lambda r: agreement(r).adjacent)
claim("vc-ag-nonadjacent")(lambda r: agreement(r).apart)
claim("vc-ag-perm-p")(lambda r: agreement(r).p_value)


@claim("vc-ag-agree-identity")
def identity(_: Results) -> bool:
    """Weigh the printed shares; count agreeing pairs in every pattern of five runs."""
    printed = [paper()[key].value for key in ("vc-ag-adjacent", "vc-ag-nonadjacent")]
    patterns = np.array(list(itertools.product([0.0, 1.0], repeat=5)))[1:-1]
    found = run_agreement(patterns)
    first, second = np.triu_indices(5, 1)
    every = (patterns[:, first] == patterns[:, second]).mean()
    says = float(paper()["vc-ag-agree-identity"].value.split("=")[1])
    weights = [0.4, 0.6]
    same = np.isclose(np.dot(weights, [found.adjacent, found.apart]), every, rtol=1e-9, atol=0)
    return bool(same and round(np.dot(weights, printed), 3) == says)
