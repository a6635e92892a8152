"""`analyze`: the figures of the default data, the JSON, determinism, odd data."""

import json

import numpy as np
import pandas as pd
import pytest

import repeval
from repeval.io.keys import Source
from repeval.io.outcomes import Outcomes
from repeval.report import rows
from repeval.report.analysis import analyze
from repeval.stats.comparison import pooled_z
from repeval.stats.pairs.power import detectable_change
from repeval.stats.sample import as_sample
from tests import golden
from tests.report.schema import PATH, text


@pytest.fixture(scope="module")
def default():
    return analyze(repeval.load())


@pytest.fixture(scope="module")
def schema():
    return json.loads(PATH.read_text(encoding="utf-8"))


def test_no_published_number_moved(default):
    """Where one is meant to: record anew, and say it in CHANGELOG under "Numbers that moved"."""
    told = json.loads(golden.GOLDEN.read_text(encoding="utf-8"))["numbers"]["analyze"]
    now = json.loads(json.dumps(default.to_dict()))
    assert list(golden.moved(told, golden.of_answer(now))) == []
    row = now["systems"][3]
    row["icc"] += 1e-6
    (line,) = golden.moved(told, golden.of_answer(now))
    assert line.startswith(f"systems: {row['condition']}, {row['model']}: icc: {row['icc']:.5f}")


def width(limits):
    return limits[1] - limits[0]


def clean(analysis):
    return [s for s in analysis.ranked(analysis.condition) if s.model not in analysis.excluded]


def outcomes(passes, runs, models=None, basis="user"):
    """Make outcomes from an (M, N) array of passes and as many runs."""
    passes = np.asarray(passes)
    runs = np.broadcast_to(runs, passes.shape)
    rows = [
        (models[m] if models else f"model-{m}", "default", f"p{i}", str(r), float(r < k))
        for m in range(len(passes))
        for i, k in enumerate(passes[m])
        for r in range(runs[m, i])
    ]
    frame = pd.DataFrame(rows, columns=["model", "condition", "problem", "run", "outcome"])
    return Outcomes._from_frame(frame, source=Source("test", "0" * 64, basis, len(frame)))


# What the foundation must show on the default data. Printed figures of VC 5.1-5.3 where equal
# after rounding; the bands are those of the reconstruction's exact laws.


def test_ceiling_icc_and_narrowing(default):
    rows = clean(default)
    assert len(rows) == 14
    ceilings = [s.ceiling for s in rows]
    assert round(np.median(ceilings), 2) == 1.34
    assert (round(min(ceilings), 2), round(max(ceilings), 2)) == (1.05, 1.71)
    assert round(np.median([s.icc for s in rows]), 3) == 0.744
    remaining = [s.remaining_narrowing for s in rows]
    assert (round(np.median(remaining), 3), round(max(remaining), 3)) == (0.033, 0.064)
    summary = default.summary[default.condition]
    assert summary.ceiling == pytest.approx((np.median(ceilings), min(ceilings), max(ceilings)))


def test_width_ratios(default):
    rows = clean(default)
    wide = np.median([width(s.intervals["two_level"]) / width(s.intervals["pooled_wilson"])
                      for s in rows])  # fmt: skip
    narrow = np.median([width(s.intervals["pooled_wilson"]) / width(s.intervals["fixed_normal"])
                        for s in rows])  # fmt: skip
    assert 2.035 <= wide <= 2.050
    assert 1.955 <= narrow <= 1.970


def test_two_level_resolves_the_three_pairs_of_the_paper(default):
    adjacent = default.adjacent(default.condition)
    resolved = {(p.model_a, p.model_b) for p in adjacent if p.two_level.resolved}
    assert len(adjacent) == 15
    assert resolved == {
        ("Gemini 3 Flash", "QwQ-Plus"),
        ("DeepSeek-V3.2", "Claude Haiku 4.5"),
        ("Claude Haiku 4.5", "Qwen-Turbo"),
    }
    assert default.pair(default.condition, "GPT-4.1", "GPT-4.1-mini").two_level.p_greater >= 0.565
    assert default.pair(default.condition, "GPT-4.1", "GPT-4.1-mini").two_level.p_greater <= 0.575


def test_these_problems_holm_and_the_ceiling_of_a_difference(default):
    adjacent = default.adjacent(default.condition)
    assert sum(p.fixed.resolved for p in adjacent) == 8
    assert sum(p.p_adjusted < 0.05 for p in adjacent) == 0
    # 2.8 with the tensor's own spread: joint structure is calibrated, not published.
    assert np.median([p.ceiling for p in adjacent]) == pytest.approx(2.8, abs=0.15)


def test_top_one(default):
    # 20,000 resamples: a standard error of .0035, a sixth of the band.
    from repeval.stats.ranking import rank

    samples, _ = repeval.load().common(default.condition)
    found = rank(list(samples.values()), name="two_level", n_resamples=20_000, rng=2606)
    first = dict(zip(samples, found.p_first, strict=True))
    for model, published in (("Gemini 3.1 Pro", 0.57), ("o4-mini", 0.36), ("DeepSeek-R1", 0.10)):
        assert first[model] == pytest.approx(published, abs=0.02)


def test_optimal_runs_coefficients(default):

    summary = default.summary[default.condition]
    assert 0.530 <= repeval.optimal_runs(summary.noise_ratio, 1) <= 0.535
    median_ratio = np.median([s.within / s.between for s in clean(default)])
    assert 0.585 <= repeval.optimal_runs(median_ratio, 1) <= 0.590


# The document.


def test_the_schema_is_that_of_the_rows():
    assert PATH.read_text(encoding="utf-8") == text()


def test_document_is_valid_and_deterministic(default, schema):
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(json.dumps(default.to_dict(), allow_nan=False))
    jsonschema.validate(document, schema)
    again = analyze(repeval.load()).to_dict()
    assert json.dumps(again) == json.dumps(default.to_dict())
    assert document["data"]["basis"] in ("stand-in", "released")


def test_results_do_not_depend_on_what_else_is_analysed(default):
    # Every Monte Carlo figure has its own stream.
    alone = analyze(repeval.load().select(models=["Qwen-Plus", "Qwen-Max"]))
    condition = default.condition
    one, all_ = (a.pair(condition, "Qwen-Plus", "Qwen-Max") for a in (alone, default))
    # The mean of d² comes out of matrix products of other shapes: equal up to rounding.
    assert one.ceiling_interval == pytest.approx(all_.ceiling_interval, rel=1e-9)
    assert one.interval == all_.interval


def test_frames(default):
    assert len(default.to_frame()) == len(default.systems)
    assert "two_level.p_greater" in default.to_frame("pairs")
    with pytest.raises(ValueError, match="rows must be"):
        default.to_frame("models")


# Odd data: every key is there, null where it must be.


def check(analysis, schema):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(json.dumps(analysis.to_dict(), allow_nan=False)), schema)
    for s in analysis.systems:
        for name, limits in s.intervals.items():
            assert limits is None or limits[0] < limits[1], name
    for p in analysis.pairs:
        assert p.interval is None or p.interval[0] < p.interval[1]
    return analysis


rng = np.random.default_rng(2606)


def test_small_table(schema):
    a = check(analyze(outcomes(rng.binomial(2, 0.5, (3, 20)), 2)), schema)
    assert len(a.pairs) == 3
    assert a.condition_pairs == ()


def test_always_right(schema):
    passes = np.stack([np.full(20, 4), rng.binomial(4, 0.5, 20)])
    a = check(analyze(outcomes(passes, 4)), schema)
    perfect = a.system("model-0", "default")
    assert perfect.within == 0
    assert perfect.ceiling is None
    # No run changed anything: Wilson's interval of all runs bounds what more of them would give.
    assert 0.9 < perfect.intervals["fixed_t"][0] < perfect.intervals["fixed_t"][1]
    assert perfect.intervals["clustered_wilson"][1] == 1
    assert "no-run-noise" in {n.code for n in a.notices}


def test_the_bound_on_unseen_run_noise_is_from_problems_that_could_show_it():
    """20 problems that always pass: half of them with one run, which cannot differ."""
    runs = np.array([[3, 1] * 10])
    (text,) = [n.text for n in analyze(outcomes(runs, runs)).notices if n.code == "no-run-noise"]
    # Of 10 problems none is mixed with chance 5 % if (1 - 3 mu)^10 = 0.05, as 4 (1 - 1/4) = 3.
    assert f"up to {(1 - 0.05 ** (1 / 10)) / 3:.2g} would" in text


def test_the_bound_on_unseen_run_noise_takes_the_fewest_runs():
    """Two runs of some problems, five of others: a bound that must hold for either kind."""
    runs = np.array([[2, 5, 1] * 10])
    (text,) = [n.text for n in analyze(outcomes(runs, runs)).notices if n.code == "no-run-noise"]
    # A problem at p = 1/2 is mixed in two runs with chance 1/2, and adds 1/4 to mu: of 20 none
    # is mixed with chance 5 % if (1 - 4 mu / 2)^20 = 0.05.
    assert f"up to {(1 - 0.05 ** (1 / 20)) / 2:.2g} would" in text


def test_two_always_right(schema):
    a = check(analyze(outcomes(np.full((2, 20), 3), 3)), schema)
    pair = a.pairs[0]
    assert pair.interval[0] < 0 < pair.interval[1]
    assert pair.resolved is False


def test_single_run(schema):
    a = check(analyze(outcomes(rng.binomial(1, 0.5, (3, 30)), 1)), schema)
    for s in a.systems:
        assert (s.within, s.between, s.icc, s.ceiling, s.ceiling_interval) == (None,) * 5
        assert s.intervals["one_level"]
        assert s.intervals["clustered_wilson"]
        assert s.intervals["fixed_normal"] is None
    assert a.pairs[0].interval
    assert a.pairs[0].ceiling is None
    assert len(a.ranks) == 3
    assert "single-run" in {n.code for n in a.notices}


def test_unequal_runs(schema):
    runs = rng.integers(1, 7, (2, 25))
    a = check(analyze(outcomes(rng.binomial(runs, 0.6), runs)), schema)
    s = a.systems[0]
    assert s.n_runs is None
    assert s.runs_range == (runs[0].min(), runs[0].max())


def test_one_model(schema):
    a = check(analyze(outcomes(rng.binomial(3, 0.5, (1, 20)), 3)), schema)
    assert a.pairs == a.ranks == ()
    assert a.summary["default"].adjacent_total == 0


def test_scores(schema):
    values = rng.random((2, 15, 3))
    rows = [
        (f"m{m}", "default", f"p{i}", str(r), values[m, i, r])
        for m in range(2) for i in range(15) for r in range(3)
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["model", "condition", "problem", "run", "outcome"])
    source = Source("t", "0" * 64, "user", len(frame))
    a = check(analyze(Outcomes._from_frame(frame, source=source)), schema)
    s = a.system("m0", "default")
    assert s.within == pytest.approx(values[0].var(axis=1, ddof=1).mean())
    assert s.intervals["pooled_wilson"] is None
    assert "pass/fail" in s.methods["pooled_wilson"]
    low, high = s.intervals["clustered_wilson"]
    assert 0 < low < s.mean < high < 1
    assert s.retry_free is s.constant_share is s.alpha is s.beta is None


def test_more_models_than_all_pairs(schema):
    a = check(analyze(outcomes(rng.binomial(1, 0.5, (202, 12)), 1)), schema)
    assert len(a.pairs) == 201
    assert all(p.adjacent for p in a.pairs)
    assert "adjacent-only" in {n.code for n in a.notices}


def test_clusters(schema):
    data = outcomes(rng.binomial(3, np.repeat(rng.random(6), 5), (2, 30)), 3)
    labels = pd.DataFrame(
        {"family": [f"f{int(p[1:]) // 5}" for p in data.problems]},
        index=pd.Index(data.problems, name="problem"),
    )
    data = Outcomes._from_frame(data.frame, labels, source=data.source)
    a = check(analyze(data, cluster="family"), schema)
    assert a.systems[0].n_clusters == 6
    assert "few-clusters" in {n.code for n in a.notices}
    with pytest.raises(repeval.RepevalError, match="no label column"):
        analyze(data, cluster="colour")


def test_the_detectable_difference_counts_clusters():
    draw = np.random.default_rng(2606)
    family = np.repeat(np.arange(8), 5)
    # One system is better at some families, which a problem's own spread does not show.
    chance = np.stack([np.full(40, 0.5), 0.2 + 0.6 * (family % 2)])
    passes = draw.binomial(4, chance)
    data = outcomes(passes, 4)
    labels = pd.DataFrame({"family": [f"f{family[int(p[1:])]}" for p in data.problems]},
                          index=pd.Index(data.problems, name="problem"))  # fmt: skip
    data = Outcomes._from_frame(data.frame, labels, source=data.source)
    found = {
        cluster: repeval.analyze(data, cluster=cluster, n_resamples=50).pairs[0].mdd
        for cluster in (None, "family")
    }
    # The function of arrays is held against simulated power in tests/stats/test_power.py.
    a, b = ((passes[i], 4) for i in (0, 1))
    for cluster, codes in ((None, None), ("family", family)):
        expected = detectable_change(a, b, codes).value
        assert found[cluster] == pytest.approx(expected, rel=1e-12)
    assert found["family"] > 1.5 * found[None]


# Real outcomes that nobody here wrote.


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("hotpotqa_react_4x200x10.verdicts.csv.gz", [1.3026, 1.3080, 1.5193, 1.9496]),
        ("tau_bench_airline_gpt4o_50x4.csv", [2.4717]),
    ],
)
def test_real_ceilings(shared, file, expected):
    a = analyze(repeval.load(shared / "realdata" / file))
    assert sorted(round(s.ceiling, 4) for s in a.systems) == expected


def test_real_differences(shared):
    a = analyze(repeval.load(shared / "realdata" / "swebench_verified_6x500x10.csv.gz"))
    deep = next(s for s in a.systems if s.model.endswith("DeepSWE-Preview"))
    assert round(deep.ceiling, 4) == 1.8241
    same = [p.ceiling for p in a.pairs if p.model_a.removesuffix("-temp0") ==
            p.model_b.removesuffix("-temp0")]  # fmt: skip
    assert sorted(round(c) for c in same) == [5, 124, 244]


def test_real_composite_key(shared):
    path = shared / "realdata" / "mcq_gpt4o_t0_7tasks_r5.csv"
    data = repeval.load(path, columns=["problem=task+problem"])
    assert round(analyze(data).systems[0].ceiling, 4) == 1.5156
    assert round(analyze(data.split_by("task")["navigate"]).systems[0].ceiling, 4) == 2.1141


def test_rows_that_are_not_there_are_refused_by_name(tidy):
    rows = [
        {"model": m, "condition": c, "problem": f"q{i}", "run": r, "outcome": (i + r) % 2}
        for m, c in (("a", "x"), ("b", "x"), ("a", "y"), ("c", "y")) for i in range(9)
        for r in range(2)
    ]  # fmt: skip
    found = analyze(repeval.load(tidy(rows)), n_resamples=50)
    assert found.pair("x", "b", "a").n_problems == 9
    for names, said in (
        (("z", "a", "b"), "no condition 'z'"),
        (("x", "a", "d"), "no model 'd'"),
        (("x", "a", "c"), "'c' has no outcome under condition 'x', but under y"),
        (("x", "a", "a"), "'a' and 'a' were not compared"),
    ):
        with pytest.raises(repeval.RepevalError, match=said):
            found.pair(*names)
    with pytest.raises(repeval.RepevalError, match="no model 'd'"):
        found.system("d", "x")


def test_a_price_is_that_of_the_systems_that_varied():
    always = np.full((2, 20), 3)
    (found,) = analyze(outcomes(always, 3)).summary.values()
    assert found.break_even == rows.BreakEven(None, None, None, None)
    mixed = np.stack([np.full(20, 3), np.arange(20) % 4])
    (found,) = analyze(outcomes(mixed, 3)).summary.values()
    c = repeval.components(np.arange(20) % 4, 3)
    assert found.break_even.median_of_ratios == pytest.approx(2 * c.between / c.within)


def test_the_pooled_test_goes_by_the_same_scores_as_the_row():
    """With unequal runs the share of all runs may point the other way."""
    a = as_sample(([1] * 9 + [0] * 9, [1] * 9 + [40] * 9))
    b = as_sample(([0] * 9 + [20] * 9, [1] * 9 + [80] * 9))
    assert a.passes.sum() / a.runs.sum() < b.passes.sum() / b.runs.sum()
    assert a.rate.mean() > b.rate.mean()
    assert pooled_z(a, b) > 0
