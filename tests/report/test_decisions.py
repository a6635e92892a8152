"""What a user decides by: coherent verdicts, clusters, groups, and words that claim no more."""

import json

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.cli import main
from repeval.report import sentences
from repeval.report.screen import one_screen
from repeval.stats.clusters import clustering
from repeval.stats.macro import macro
from tests.oracles import SEED


def table(passes, runs, family=None):
    """Rows of models (by name) on problems; `passes` holds an array for each."""
    rows = [
        (m, f"q{i:03d}", r, int(r < k), family[i] if family is not None else "")
        for m, ks in passes.items() for i, k in enumerate(ks)
        for r in range(runs if np.isscalar(runs) else runs[m][i])
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["model", "problem", "run", "outcome", "family"])


def load(tmp_path, frame, **options):
    path = tmp_path / "runs.csv"
    frame.to_csv(path, index=False)
    return repeval.load(path, **options)


@pytest.mark.parametrize(("problems", "runs"), [(8, 2), (12, 3), (30, 2)])
def test_verdicts_and_ranks_never_contradict_each_other(tmp_path, problems, runs):
    rng = np.random.default_rng(SEED)
    for _ in range(6):
        hard = rng.beta(0.4, 0.4, problems)
        passes = {
            m: rng.binomial(runs, hard**e) for m, e in zip("abcd", (0.5, 1, 1, 3), strict=True)
        }
        found = repeval.analyze(load(tmp_path, table(passes, runs)), n_resamples=200)
        sets = {r.model: r.rank_set for r in found.ranks}
        for p in found.pairs:
            if p.resolved and p.fixed.interval:
                assert p.fixed.resolved
            low, high = sets[p.model_a], sets[p.model_b]
            if not p.resolved:
                # Neither is surely above the other, so their sets leave room for both orders.
                assert low[0] <= high[1]
                assert high[0] <= low[1]


def test_incoherent_and_direction_inputs(shared):
    field = shared / "field" / "statistics"
    (pair,) = repeval.analyze(repeval.load(field / "incoh.csv")).pairs
    assert (pair.resolved, pair.fixed.resolved) == (False, False)
    (pair,) = repeval.analyze(repeval.load(field / "sign.csv")).pairs
    assert (pair.model_a, round(pair.difference, 3)) == ("B", 0.325)


def test_what_is_said_about_runs_under_clusters_uses_the_clustered_variance(shared):
    outcomes = repeval.load(shared / "field" / "statistics" / "clu.csv")
    found = repeval.analyze(outcomes, cluster="family")
    (pair,) = found.pairs
    assert [round(s.remaining_narrowing, 2) for s in found.systems] == [0.02, 0.02]
    assert round(pair.remaining_narrowing, 2) == 0.20
    assert round(pair.half_widths.endless_runs, 3) == 0.059
    assert "twice the clusters of family" in one_screen(found, outcomes, pair=("A", "B"))


def test_repositories_are_found_by_the_prefix_of_their_ids(shared):
    found = repeval.analyze(
        repeval.load(shared / "realdata" / "swebench_verified_6x500x10.csv.gz"), n_resamples=100
    )
    (text,) = (n.text for n in found.notices if n.code == "hidden-clusters")
    assert "before '__'" in text
    assert "12 clusters" in text


def test_families_are_noticed_from_a_quarter_on_and_chance_is_not(tmp_path):
    rng = np.random.default_rng(SEED)
    family = np.repeat(np.arange(15), 8)
    wide = np.clip(0.5 + rng.normal(0, 0.18, 15)[family] + rng.normal(0, 0.25, 120), 0.02, 0.98)
    passes = {m: rng.binomial(5, wide) for m in "ab"}
    rates = {m: k / 5 for m, k in passes.items()}
    factors = [clustering(rates[m], family)[0] for m in "ab"]
    assert 1.25 < max(factors) < 2
    labels = [f"f{g}" for g in family]
    found = repeval.analyze(load(tmp_path, table(passes, 5, labels)), n_resamples=50)
    (text,) = (n.text for n in found.notices if n.code == "hidden-clusters")
    assert "Use --cluster family." in text
    # Labels dealt out anew: the level of the notice is one in a hundred, here 40 of them.
    alone = [clustering(rates["a"], rng.permutation(family)) for _ in range(40)]
    assert sum(factor >= 1.25 and p < 0.01 for factor, p in alone) <= 2
    assert min(p for _, p in alone) > clustering(rates["a"], family)[1]


def test_the_f_test_of_clusters_is_that_of_anova():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(SEED)
    groups = rng.permutation(np.repeat(np.arange(6), (3, 9, 4, 7, 12, 5)))
    values = rng.random(40) + 0.2 * groups
    expected = stats.f_oneway(*(values[groups == g] for g in range(6))).pvalue
    assert clustering(values, groups)[1] == pytest.approx(expected, rel=1e-9)


def test_each_group_is_answered_and_the_average_has_an_interval(tmp_path, capsys):
    rng = np.random.default_rng(SEED)
    family = np.repeat(["x", "y", "z"], (40, 20, 10))
    passes = {m: rng.binomial(3, np.repeat([0.8, 0.5, 0.3], (40, 20, 10))) for m in "ab"}
    load(tmp_path, table(passes, 3, family))
    path, out = str(tmp_path / "runs.csv"), tmp_path / "out.json"
    command = ["analyze", path, "--by", "family", "--baseline", "a", "--candidate", "b"]
    assert main([*command, "--json", str(out)]) == 0
    said = capsys.readouterr().out
    assert "THE SAME FOR EACH family" in said
    rows = {r["model"]: r for r in json.loads(out.read_text())["by"]["macro"]}
    means = [np.mean(passes["a"][family == f] / 3) for f in "xyz"]
    variances = [np.var(passes["a"][family == f] / 3, ddof=1) / (family == f).sum() for f in "xyz"]
    assert rows["a"]["mean"] == pytest.approx(np.mean(means))
    expected = macro(means, variances, [40, 20, 10])
    assert rows["a"]["interval"] == pytest.approx([expected.low, expected.high])


def test_all_right_counts_the_same_number_of_runs_for_all(tmp_path):
    rng = np.random.default_rng(SEED)
    runs = {"a": np.full(20, 2), "b": np.full(20, 5)}
    passes = {m: rng.binomial(r, 0.7) for m, r in runs.items()}
    found = repeval.analyze(load(tmp_path, table(passes, runs)), n_resamples=50)
    for s in found.systems:
        expected = repeval.pass_hat_k(passes[s.model], runs[s.model], k=2)
        assert s.all_right == pytest.approx(expected)
    assert found.summary["default"].fewest_runs == 2


def test_scored_lower_is_no_loss_and_what_stands_out_is_named(tmp_path):
    rng = np.random.default_rng(SEED)
    hard = rng.beta(1, 1, 60)
    passes = {m: rng.binomial(5, hard) for m in "ab"}
    passes["a"][:3], passes["b"][:3] = 5, 0
    found = repeval.analyze(load(tmp_path, table(passes, 5)), n_resamples=50)
    (pair,) = found.pairs
    flips = pair.flips
    assert flips.a_better + flips.b_better + flips.same == 60
    named = flips.a_separated if pair.model_a == "a" else flips.b_separated
    assert {"q000", "q001", "q002"} <= set(named)
    said = sentences.flips(flips, swapped=pair.model_a == "b")
    assert "each way" in said[0]
    assert "lower: q000, q001, q002" in said[1]
