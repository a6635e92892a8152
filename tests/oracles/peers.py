"""What other packages for repeated evaluation runs say, written to peers.json beside this file.

    pip install evalstats==0.3.3 errorbars==0.2.4 flakeval==0.1.4 scorio==0.2.3 evalpower==0.1.0 \\
        groupeval==0.1.0 arch==8.0.0 pingouin==0.7.0
    python tests/oracles/peers.py

The tests read the numbers and need none of them; `test_peers.py` says where a definition is not
ours, and who is right. Tables are made by formulas, what is drawn comes from seed 2606.
"""

from importlib.metadata import version

import numpy as np
import pandas as pd
import pingouin
from arch.bootstrap import IIDBootstrap
from errorbars import stats as errorbars
from evalpower import estimators as evalpower
from evalstats.core.resampling import bootstrap_means_nested
from evalstats.core.variance import seed_variance_decomposition
from flakeval import stats as flakeval
from groupeval import intervals as groupeval
from scorio import eval as scorio
from written import save

SEED, RESAMPLES = 2606, 20_000
PEERS = (
    "evalstats",
    "errorbars",
    "flakeval",
    "scorio",
    "evalpower",
    "groupeval",
    "arch",
    "pingouin",
)
# Numbers of problems with 0, 1, 2, ... passes, and the runs of each.
COUNTS = [([24, 7, 6, 4, 6, 52], 5), ([9, 7, 8, 6], 3), ([4, 20, 4], 2), ([2, 1, 3, 9, 7, 8, 5], 6)]


def outcomes_of(counts: list[int], runs: int) -> np.ndarray:
    passes = np.repeat(np.arange(len(counts)), counts)
    return (np.arange(runs) < passes[:, None]).astype(float)


def components() -> list[dict]:
    rows = []
    for counts, runs in COUNTS:
        y = outcomes_of(counts, runs)
        flat, problem = y.ravel(), np.repeat(np.arange(len(y)), runs)
        within, between = errorbars.within_between_variance(flat, problem)
        row = {"counts": counts, "runs": runs, "errorbars": {
            "within": within, "between": between, "se": errorbars.cluster_robust_se(flat, problem),
            "icc": errorbars.intraclass_correlation(flat, problem),
        }}  # fmt: skip
        told = groupeval.design_effect(flat, problem)
        row["groupeval"] = {"icc": told["icc"], "design_effect": told["design_effect"]}
        frame = pd.DataFrame(
            {"y": flat, "problem": problem, "run": np.tile(np.arange(runs), len(y))}
        )
        icc = pingouin.intraclass_corr(frame, targets="problem", raters="run", ratings="y")
        row["pingouin"] = {"icc": float(icc.set_index("Type").loc["ICC(1,1)", "ICC"])}
        # Its cells count failures.
        cells = {i: evalpower.CellStats(runs, int(runs - k)) for i, k in enumerate(y.sum(axis=1))}
        fit = evalpower.fit_beta_binomial(cells)
        row["evalpower"] = {"icc": fit.icc_raw}
        summary = flakeval.summarize(flakeval.Scores([str(i) for i in range(len(y))], y))
        row["flakeval"] = {"se_run": summary.se_run}
        if runs > 2:
            found = seed_variance_decomposition(y[None], ["a"])
            row["evalstats"] = {"within": float(found.seed_var[0]), "icc": float(found.icc[0]),
                                "input_var": float(found.input_var[0])}  # fmt: skip
        rows.append(row)
    return rows


def unequal_runs() -> list[dict]:
    """Problems of two and of eight runs; the others are passed more often."""
    passes, runs = [2, 1, 2, 0, 2, 2, 3, 0, 8, 2, 1, 5], [2] * 6 + [8] * 6
    flat = np.concatenate([np.arange(r) < k for k, r in zip(passes, runs, strict=True)]).astype(
        float
    )
    problem = np.repeat(np.arange(len(runs)), runs)
    within, between = errorbars.within_between_variance(flat, problem)
    return [{"passes": passes, "runs": runs, "errorbars": {
        "mean": float(flat.mean()), "within": within, "between": between}}]  # fmt: skip


def tries() -> list[dict]:
    rows = []
    for counts, runs in COUNTS:
        y = outcomes_of(counts, runs)
        cells = {i: evalpower.CellStats(runs, int(runs - k)) for i, k in enumerate(y.sum(axis=1))}
        rows += [
            {"counts": counts, "runs": runs, "k": k,
             "scorio": [float(scorio.pass_at_k(y.astype(int), k)),
                        float(scorio.pass_hat_k(y.astype(int), k))],
             "evalpower": evalpower.pass_pow_k(cells, k).value}
            for k in range(1, runs + 1)
        ]  # fmt: skip
    return rows


def lost() -> list[dict]:
    return [
        {"lost": x, "n": n, "evalpower": evalpower.clopper_pearson(x, n, alpha=0.1)[1]}
        for x, n in [(0, 30), (1, 99), (7, 200), (29, 30)]
    ]


def drawn() -> list[dict]:
    """Percentile intervals and standard errors of a score, problems drawn or runs of them, too."""
    rows = []
    for counts, runs in COUNTS[:2]:
        y = outcomes_of(counts, runs)
        rates, flat, problem = y.mean(axis=1), y.ravel(), np.repeat(np.arange(len(y)), runs)
        ids = [str(i) for i in range(len(y))]
        one = flakeval.summarize(flakeval.Scores(ids, y), B=RESAMPLES, seed=SEED)
        cells = {i: evalpower.CellStats(runs, int(runs - k)) for i, k in enumerate(y.sum(axis=1))}
        group = groupeval.cluster_ci(flat, problem, n_boot=RESAMPLES, seed=SEED)
        boot = errorbars.bootstrap_ci(rates, n_boot=RESAMPLES, seed=SEED)
        arch_ = IIDBootstrap(rates, seed=np.random.default_rng(SEED)).conf_int(
            np.mean, RESAMPLES, method="percentile"
        )
        nested = bootstrap_means_nested(y, RESAMPLES, np.random.default_rng(SEED))
        rows.append({"counts": counts, "runs": runs, "resamples": RESAMPLES, "one_level": {
            "flakeval": {"limits": list(one.ci), "se": one.se_total},
            "evalpower": {"limits": list(evalpower.cluster_bootstrap(
                lambda c: 1 - float(np.mean([x.x / x.n for x in c.values()])), cells, 5000, SEED))},
            "groupeval": {"limits": [group.lo, group.hi]},
            "errorbars": {"limits": [boot.ci_low, boot.ci_high], "se": boot.se},
            "arch": {"limits": arch_.ravel().tolist()},
        }, "two_level": {"evalstats": {
            "limits": np.quantile(nested, [0.025, 0.975]).tolist(), "se": float(nested.std(ddof=1)),
        }}})  # fmt: skip
    return rows


def pairs() -> list[dict]:
    """A difference on common problems: resampled, by sign flips, and its run noise."""
    counts, runs = COUNTS[0]
    first = np.repeat(np.arange(runs + 1), counts)
    i = np.arange(len(first))
    rows = []
    for shift in (1, 3):
        second = np.clip(first + (i * shift) % 4 - 1, 0, runs)
        a, b = ((np.arange(runs) < k[:, None]).astype(float) for k in (first, second))
        ids = [str(j) for j in i]
        found = flakeval.compare(
            flakeval.Scores(ids, a), flakeval.Scores(ids, b), B=RESAMPLES, seed=SEED
        )
        rows.append({"a": first.tolist(), "b": second.tolist(), "runs": runs,
                     "resamples": RESAMPLES, "flakeval": {
                         "difference": found.delta, "limits": list(found.ci), "p": found.p_value,
                         "se": found.se_total, "se_run": found.se_run}})  # fmt: skip
    return rows


SECTIONS = (components, unequal_runs, tries, lost, drawn, pairs)

if __name__ == "__main__":
    made_by = ", ".join(f"{name} {version(name)}" for name in PEERS)
    save(__file__, made_by, {make.__name__: make() for make in SECTIONS})
