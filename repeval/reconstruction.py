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
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from repeval.reconstruction_runs import place_runs

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

START, PAIRS, PROMPT, TIERS, RUNS = range(1, 6)
SHARED, PROVIDER, OWN, NOISE = 0.80, 0.03, 0.14, 0.03
DIFFICULTY_SD = 0.75
DIFFICULTY_CARRY = 0.5


@dataclass(frozen=True)
class Facts:
    """What the stand-in must honour.

    Parameters
    ----------
    models : tuple of str
        The M models, in the order of the published table.
    histograms : (C, M, R+1) int array
        Problems with 0..R passes, by condition and model.
    left_out : (C, M) int array
        Passes on the problem that complete-case analysis drops; -1 where it was never run.
    logs : (M, 2) float array
        Passes of the first run, and problems passed in any of the first three, summed over
        conditions with the left-out problem; NaN for models without logs.
    targets : dict
        `data/reconstruction-targets.json`.
    """

    models: tuple[str, ...]
    histograms: IntArray
    left_out: IntArray
    logs: FloatArray
    targets: dict[str, Any]

    @property
    def providers(self) -> IntArray:
        """Number of the provider of every model."""
        groups = self.targets["providers"].values()
        return np.array([next(j for j, g in enumerate(groups) if m in g) for m in self.models])


def read_facts(directory: Path) -> Facts:
    """Read the published figures and targets from the data directory."""
    targets = json.loads((directory / "reconstruction-targets.json").read_text("utf-8"))
    cells = pd.read_csv(directory / "reconstruction-cells.csv").set_index(["prompt", "model"])
    models = tuple(cells.index.get_level_values("model").unique())
    order = [(c, m) for c in targets["conditions"] for m in models]
    cells, shape = cells.loc[order], (len(targets["conditions"]), len(models))
    counts = cells.filter(regex=r"^n\d$").to_numpy(np.int64)
    logs = pd.read_csv(directory / "pooled-run-logs.csv")
    logs.index = pd.Index([_plain(name) for name in logs["model_api_id"]])
    share = logs[["first_run_pct", "pass_at_3_pct"]].mul(logs["problem_x_prompt"] / 100, axis=0)
    return Facts(
        models=models,
        histograms=counts.reshape(*shape, -1),
        left_out=cells[f"k_on_{targets['left_out_problem']}"]
        .fillna(-1)
        .to_numpy(np.int64)
        .reshape(shape),
        logs=share.reindex([_plain(m) for m in models]).to_numpy().round(),
        targets=targets,
    )


def _plain(name: str) -> str:
    return name.lower().replace(" ", "-").replace(".", "-").removesuffix("-preview")


def _generator(stage: int, seed: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence([2606, stage, seed]))


def _hand_out(scores: FloatArray, histogram: IntArray) -> IntArray:
    """Give the problems with the highest scores the highest counts."""
    counts = np.empty(len(scores), dtype=np.int64)
    counts[np.argsort(scores, kind="stable")] = np.repeat(np.arange(len(histogram)), histogram)
    return counts


def _standardised(x: FloatArray) -> FloatArray:
    return (x - x.mean()) / x.std()


def copula_start(facts: Facts, rng: np.random.Generator) -> IntArray:
    """Draw counts (M, N) of the first condition: a Gaussian rank copula with exact margins."""
    sizes, latent, _ = zip(*facts.targets["tiers"].values(), strict=True)
    n = sum(sizes)
    tier_mean = rng.permutation(np.repeat(latent, sizes))
    difficulty = _standardised(rng.normal(0, DIFFICULTY_SD, n) + tier_mean)
    house = rng.normal(size=(len(facts.targets["providers"]), n))[facts.providers]
    own, noise = rng.normal(size=(2, len(facts.models), n))
    z = (
        np.sqrt(SHARED) * difficulty
        + np.sqrt(PROVIDER) * house
        + np.sqrt(OWN) * own
        + np.sqrt(NOISE) * noise
    )
    return np.stack([_hand_out(*pair) for pair in zip(z, facts.histograms[0], strict=True)])


def pair_targets(facts: Facts, totals: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return target sds (runs) and weights, both (M, M), of paired differences of totals."""
    rank = np.empty(len(totals), dtype=np.int64)
    rank[np.argsort(-totals, kind="stable")] = np.arange(len(totals))
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


def anneal_pairs(
    counts: IntArray,
    runs: int,
    target: FloatArray,
    weight: FloatArray,
    rng: np.random.Generator,
    moves: int = 120_000,
    hot: float = 3.0,
    cold: float = 0.02,
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
    which = rng.integers(models, size=moves)
    places = rng.integers(n, size=(moves, 2))
    barrier = rng.exponential(size=moves) * np.geomspace(hot, cold, moves)
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


def other_prompt(
    counts: IntArray, histograms: IntArray, sd: float, rng: np.random.Generator
) -> IntArray:
    """Draw counts (M, N) under the other prompt.

    Counts follow count + carry x ease of the problem + c x noise, in ranks. One c for all models
    makes the median over models of the sd of the paired difference of pass rates equal to `sd`.
    """
    runs = histograms.shape[1] - 1
    base = counts + DIFFICULTY_CARRY * _standardised(counts.mean(axis=0))
    noise = rng.normal(size=counts.shape)

    def drawn(c: float) -> IntArray:
        scores = base + c * noise
        return np.stack([_hand_out(*pair) for pair in zip(scores, histograms, strict=True)])

    def misfit(c: float) -> float:
        spread = np.std((counts - drawn(c)) / runs, axis=1, ddof=1)
        return abs(float(np.median(spread)) - sd)

    # The median moves in jumps, so the nearest point of a grid, not a root.
    return drawn(min(np.linspace(0, 3, 301), key=misfit))


def tier_labels(rate: FloatArray, tiers: dict[str, Any], rng: np.random.Generator) -> list[str]:
    """Label problems by a noisy ranking of their pass rates, then swap towards the tier rates."""
    sizes, _, wanted = (np.array(x) for x in zip(*tiers.values(), strict=True))
    label = np.empty(len(rate), dtype=np.int64)
    noisy = rate + rng.normal(0, rate.std() / 2, len(rate))
    label[np.argsort(-noisy, kind="stable")] = np.repeat(np.arange(len(sizes)), sizes)

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


def reconstruct(facts: Facts, seed: int = 0) -> pd.DataFrame:
    """Return the stand-in tensor, one row per judged run, sorted.

    Columns: model, condition, problem, run (1..R), outcome (0/1), difficulty. Problems are called
    P001, P002, ... because which published numbers they stand for is unknown.
    """
    runs, targets = facts.histograms.shape[2] - 1, facts.targets
    totals = facts.histograms[0] @ np.arange(runs + 1)
    first = anneal_pairs(
        copula_start(facts, _generator(START, seed)),
        runs,
        *pair_targets(facts, totals),
        _generator(PAIRS, seed),
    )
    second = other_prompt(
        first, facts.histograms[1], targets["prompt_sd"], _generator(PROMPT, seed)
    )
    counts = np.stack([first, second])
    rate = counts.mean(axis=(0, 1)) / runs
    labels = tier_labels(rate, targets["tiers"], _generator(TIERS, seed))
    kept = np.array([m not in targets["excluded_systems"] for m in facts.models])
    counts = np.concatenate([counts, facts.left_out[:, :, None]], axis=2)
    outcomes = place_runs(
        counts, runs, kept, facts.logs, targets["run_labels"], _generator(RUNS, seed)
    )
    n = len(labels)
    problems = [f"P{i:03d}" for i in range(1, n + 1)] + [targets["left_out_problem"]]
    axes = [targets["conditions"], facts.models, problems, range(1, runs + 1)]
    index = pd.MultiIndex.from_product(axes, names=["condition", "model", "problem", "run"])
    frame = pd.DataFrame({"outcome": outcomes.ravel()}, index=index).reset_index()
    tier = dict(zip(problems, [*labels, targets["left_out_tier"]], strict=True))
    frame["difficulty"] = frame["problem"].map(tier)
    keys = ["model", "condition", "problem", "run"]
    judged = frame[frame["outcome"] >= 0].sort_values(keys, kind="stable", ignore_index=True)
    return judged[[*keys, "outcome", "difficulty"]]


def to_bytes(frame: pd.DataFrame) -> bytes:
    """Return `frame` as gzipped CSV; equal rows give equal bytes (no time, no file name)."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as stream:
        stream.write(frame.to_csv(index=False, lineterminator="\n").encode("utf-8"))
    return buffer.getvalue()


def main(argv: Sequence[str] | None = None) -> int:
    """Write the stand-in data to a file."""
    from repeval.registry import data_dir

    parser = argparse.ArgumentParser("python -m repeval.reconstruction", description=main.__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.csv.gz")
    args = parser.parse_args(argv)
    content = to_bytes(reconstruct(read_facts(data_dir())))
    try:
        args.output.write_bytes(content)
    except OSError as error:
        parser.error(f"cannot write {args.output}: {error.strerror}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
