import pytest

from repeval import analyze, load
from repeval.companion.ledger import verdicts
from repeval.companion.ledger.results import Results
from repeval.companion.studies import result


@pytest.fixture(scope="session")
def recomputed():
    """The default data's `Results`, all verdicts by id, and the studies these asked for."""
    outcomes, used = load(), {}

    def study(name):
        if name not in used:
            used[name] = result(name, outcomes)
        return used[name]

    analysis = analyze(outcomes)
    found = {v.claim.id: v for v in verdicts(analysis, outcomes, study=study)}
    return Results(analysis, outcomes, study), found, set(used)
