"""What honestboard 0.6.1 says of two made-up boards, written to honestboard.json beside this file.

    pip install honestboard==0.6.1
    python tests/oracles/honestboard_numbers.py

The tests read the numbers and need no honestboard; `test_honestboard.py` says which of its
definitions are ours, too.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from honestboard import Board

RESAMPLES = 40_000


def made(runs: int, problems: int = 120, systems: int = 7) -> np.ndarray:
    """Passes of systems on common problems, each a little better than the one before."""
    rng = np.random.default_rng(2606)
    ease = rng.normal(0.5, 2, problems)
    own = rng.normal(0, 1, (systems, problems)) + 0.25 * np.arange(systems)[:, None]
    return rng.binomial(runs, 1 / (1 + np.exp(-(ease + own))))


def numbers(passes: np.ndarray, runs: int) -> dict:
    """What honestboard computes from pass rates."""
    names = [f"s{i}" for i in range(len(passes))]
    board = Board(names, passes / runs, dates=[f"2026120{i + 1}" for i in range(len(passes))])
    ranks = {r["name"]: r for r in board.rank_summary(B=RESAMPLES)}
    best = board.confidence_set_best(B=RESAMPLES, method="simultaneous")
    audit = board.record_audit(alpha=0.25, sided="two", date_correction=False)
    limits = board.resolution(top=2)
    return {
        "runs": runs, "passes": passes.tolist(), "covariance": board.sigma().tolist(),
        "rank_low": [int(ranks[n]["rank_lo"]) for n in names],
        "rank_high": [int(ranks[n]["rank_hi"]) for n in names],
        "intervals": [list(board.compare(0, j, B=RESAMPLES)["ci"]) for j in range(1, len(names))],
        "critical": best["critical_value"], "may_be_best": sorted(best["members"]),
        "luck": board.winner_bootstrap(B=RESAMPLES)["bias"], "mdd": limits["mdd"],
        "p_values": [s["p"] for s in audit["steps"]],
        "holm": [s["significant_holm"] for s in audit["steps"]],
    }  # fmt: skip


if __name__ == "__main__":
    found = {
        "made_by": f"honestboard {version('honestboard')}", "resamples": RESAMPLES,
        "boards": [numbers(made(runs), runs) for runs in (1, 5)],
    }  # fmt: skip
    target = Path(__file__).with_name("honestboard.json")
    target.write_text(json.dumps(found) + "\n", encoding="utf-8")
