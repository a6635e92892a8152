"""The stand-in data: outcomes invented so that the paper's published summary figures come out.

The histogram of passes of every model and prompt is derived from the paper's tables and shipped in
`data/reconstruction-cells.csv`. Which problem has which count, the difficulty labels and the order
of the runs are invented here, in four stages: who passes what (Detailed), the same under the other
prompt, difficulty labels, run labels. Nothing about a particular problem may be read from it.
Every stage has its own seed, so that a change in one leaves the random numbers of the others.
"""

from __future__ import annotations

import argparse
import gzip
import io
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from repeval.companion.paper_data.reconstruction_runs import place_runs
from repeval.io.registry import data_dir
from repeval.stats.sample import FloatArray, IntArray

COLUMNS = ("model", "condition", "problem", "run", "outcome", "difficulty")
# Of who passes what, in variance: the problem, the provider, the model, noise.
SHARES = (0.80, 0.03, 0.14, 0.03)
DIFFICULTY_SD, DIFFICULTY_CARRY = 0.75, 0.5
# Annealing: swaps, first and last temperature.
MOVES, HOT, COLD = 120_000, 3.0, 0.02


def read_facts(directory: Path) -> SimpleNamespace:
    """Read what the stand-in must honour from the data directory.

    `models`, M of them in the order of the published table; `histograms`, (C, M, R+1), problems
    with 0..R passes by condition and model; `left_out`, (C, M), passes on the problem that
    complete-case analysis drops, -1 where it was never run; `logs`, (M, 2), passes of the first run
    and problems passed in any of the first three, over both conditions with the left-out problem,
    NaN for models without logs; `targets`, `reconstruction-targets.json`.
    """
    targets = json.loads((directory / "reconstruction-targets.json").read_text("utf-8"))
    cells = pd.read_csv(directory / "reconstruction-cells.csv").set_index(["prompt", "model"])
    models = tuple(cells.index.unique("model"))
    cells = cells.loc[[(c, m) for c in targets["conditions"] for m in models]]
    shape = len(targets["conditions"]), len(models)
    left_out = cells[f"k_on_{targets['left_out_problem']}"].fillna(-1)
    logs = pd.read_csv(directory / "pooled-run-logs.csv")
    logs.index = pd.Index([_plain(name) for name in logs["model_api_id"]])
    share = logs[["first_run_pct", "pass_at_3_pct"]].mul(logs["problem_x_prompt"] / 100, axis=0)
    return SimpleNamespace(
        models=models,
        histograms=cells.filter(regex=r"^n\d$").to_numpy(np.int64).reshape(*shape, -1),
        left_out=left_out.to_numpy(np.int64).reshape(shape),
        logs=share.reindex([_plain(m) for m in models]).to_numpy().round(),
        targets=targets,
    )


def _plain(name: str) -> str:
    return name.lower().replace(" ", "-").replace(".", "-").removesuffix("-preview")


def _hand_out(scores: FloatArray, histograms: IntArray) -> IntArray:
    """Give, by model, the problems with the highest scores the highest counts."""
    rank = np.argsort(np.argsort(scores, axis=1, kind="stable"), axis=1)
    ascending = np.stack([np.repeat(np.arange(len(h)), h) for h in histograms])
    return np.take_along_axis(ascending, rank, axis=1)


def _standardised(x: FloatArray) -> FloatArray:
    return (x - x.mean()) / x.std()


def _start(facts: SimpleNamespace, rng: Generator) -> IntArray:
    """Draw counts (M, N) of the first condition: a Gaussian rank copula with exact margins."""
    providers = list(facts.targets["providers"].values())
    provider = [next(j for j, group in enumerate(providers) if m in group) for m in facts.models]
    sizes, latent, _ = zip(*facts.targets["tiers"].values(), strict=True)
    n = sum(sizes)
    tier_mean = rng.permutation(np.repeat(latent, sizes))
    difficulty = _standardised(rng.normal(0, DIFFICULTY_SD, n) + tier_mean)
    house = rng.normal(size=(len(providers), n))[provider]
    own, noise = rng.normal(size=(2, len(facts.models), n))
    parts = zip(SHARES, (difficulty, house, own, noise), strict=True)
    return _hand_out(sum(np.sqrt(share) * x for share, x in parts), facts.histograms[0])


def _pair_targets(facts: SimpleNamespace) -> tuple[FloatArray, FloatArray]:
    """Return target sds (runs) and weights, both (M, M), of paired differences of totals."""
    totals = facts.histograms[0] @ np.arange(facts.histograms.shape[2])
    rank = np.argsort(np.argsort(-totals, kind="stable"))
    other = facts.targets["other_pairs"]
    target = np.full((len(totals), len(totals)), float(other["sd"]))
    near = np.abs(rank[:, None] - rank) <= other["near"]
    weight = np.where(near, other["weight_near"], other["weight_far"])
    np.fill_diagonal(weight, 0)
    for a, b, sd, w in facts.targets["paired_sd"]:
        i, j = facts.models.index(a), facts.models.index(b)
        target[i, j] = target[j, i] = sd
        weight[i, j] = weight[j, i] = w
    return target, weight


def _anneal(
    counts: IntArray, runs: int, target: FloatArray, weight: FloatArray, rng: Generator
) -> IntArray:
    """Swap counts within models until the paired two-level sds come near their targets.

    The two-level bootstrap of totals has covariance sum_i (k_ai - k̄_a)(k_bi - k̄_b), and on the
    diagonal sum k(R-k)/R more. A swap keeps every margin and changes one row of it.
    """
    k = counts.astype(float)
    models, n = k.shape
    totals = k.sum(axis=1)
    cross = k @ k.T - np.outer(totals, totals) / n
    variance = np.diag(cross) + (k * (runs - k)).sum(axis=1) / runs
    spread = variance[:, None] + variance
    cost = weight * (np.sqrt(np.maximum(spread - 2 * cross, 0)) - target) ** 2
    rows = cost.sum(axis=1)
    which = rng.integers(models, size=MOVES)
    places = rng.integers(n, size=(MOVES, 2))
    barrier = rng.exponential(size=MOVES) * np.geomspace(HOT, COLD, MOVES)
    for m, (i, j), limit in zip(which.tolist(), places.tolist(), barrier.tolist(), strict=True):
        step = k[m, j] - k[m, i]
        if step == 0:
            continue
        row = cross[m] + step * (k[:, i] - k[:, j])
        new = weight[m] * (np.sqrt(np.maximum(spread[m] - 2 * row, 0)) - target[m]) ** 2
        total = new.sum()
        if total - rows[m] < limit:
            row[m] = cross[m, m]
            cross[m] = cross[:, m] = row
            rows += new - cost[m]
            rows[m] = total
            cost[m] = cost[:, m] = new
            k[m, i], k[m, j] = k[m, j], k[m, i]
    return k.astype(np.int64)


def _other_prompt(counts: IntArray, histograms: IntArray, sd: float, rng: Generator) -> IntArray:
    """Draw counts (M, N) that follow count + carry x ease of the problem + c x noise, in ranks.

    One c for all models makes the median of the sd of the paired difference of pass rates `sd`.
    """
    runs = histograms.shape[1] - 1
    base = counts + DIFFICULTY_CARRY * _standardised(counts.mean(axis=0))
    noise = rng.normal(size=counts.shape)

    def misfit(c: float) -> float:
        change = (counts - _hand_out(base + c * noise, histograms)) / runs
        return abs(float(np.median(np.std(change, axis=1, ddof=1))) - sd)

    # The median moves in jumps, so the nearest point of a grid, not a root.
    return _hand_out(base + min(np.linspace(0, 3, 301), key=misfit) * noise, histograms)


def _tiers(rate: FloatArray, tiers: dict[str, Any], rng: Generator) -> list[str]:
    """Label problems by a noisy ranking of their pass rates, then swap towards the tier rates."""
    sizes, _, wanted = (np.array(x) for x in zip(*tiers.values(), strict=True))
    noisy = rate + rng.normal(0, rate.std() / 2, len(rate))
    label = np.repeat(np.arange(len(sizes)), sizes)[np.argsort(np.argsort(-noisy, kind="stable"))]

    def misfit() -> float:
        return float(((np.bincount(label, rate) / sizes - wanted) ** 2).sum())

    best = misfit()
    for i, j in rng.integers(len(rate), size=(4000, 2)).tolist():
        label[[i, j]] = label[[j, i]]
        if (now := misfit()) <= best:
            best = now
        else:
            label[[i, j]] = label[[j, i]]
    return [list(tiers)[t] for t in label]


def reconstruct(facts: SimpleNamespace, seed: int = 0) -> pd.DataFrame:
    """Return the stand-in tensor, one row of `COLUMNS` per judged run, sorted.

    Problems are called P001, P002, ... as which published numbers they stand for is unknown.
    """
    runs, targets = facts.histograms.shape[2] - 1, facts.targets
    start, pairs, prompt, tiers, labels = (
        np.random.default_rng([2606, stage, seed]) for stage in range(1, 6)
    )
    first = _anneal(_start(facts, start), runs, *_pair_targets(facts), pairs)
    second = _other_prompt(first, facts.histograms[1], targets["prompt_sd"], prompt)
    counts = np.stack([first, second])
    tier = _tiers(counts.mean(axis=(0, 1)) / runs, targets["tiers"], tiers)
    kept = ~np.isin(facts.models, targets["excluded_systems"])
    counts = np.concatenate([counts, facts.left_out[:, :, None]], axis=2)
    outcomes = place_runs(counts, runs, kept, facts.logs, targets["run_labels"], labels)
    problems = [*(f"P{i:03d}" for i in range(1, len(tier) + 1)), targets["left_out_problem"]]
    tier = dict(zip(problems, [*tier, targets["left_out_tier"]], strict=True))
    axes = [targets["conditions"], facts.models, problems, range(1, runs + 1)]
    rows = zip(itertools.product(*axes), outcomes.ravel().tolist(), strict=True)
    judged = [(m, c, i, r, outcome, tier[i]) for (c, m, i, r), outcome in rows if outcome >= 0]
    return pd.DataFrame(sorted(judged), columns=COLUMNS)


def to_bytes(frame: pd.DataFrame) -> bytes:
    """Return `frame` as gzipped CSV; equal rows give equal bytes (no time, no file name)."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as stream:
        stream.write(frame.to_csv(index=False, lineterminator="\n").encode("utf-8"))
    return buffer.getvalue()


def main(argv: Sequence[str] | None = None) -> None:
    """Write the stand-in data to a file."""
    parser = argparse.ArgumentParser(
        "python -m repeval.companion.paper_data.reconstruction", description=main.__doc__
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.csv.gz")
    args = parser.parse_args(argv)
    content = to_bytes(reconstruct(read_facts(data_dir())))
    try:
        args.output.write_bytes(content)
    except OSError as error:
        parser.error(f"cannot write {args.output}: {error.strerror}")


if __name__ == "__main__":
    main()
