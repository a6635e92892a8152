"""How fast, side by side: every task by repeval and by its peers in one run (`make bench`).

Limits are ratios of medians within the run, so the machine's speed cancels.
"""

import subprocess
import sys

import numpy as np
import pytest

from repeval.stats.comparison import compare, exact_comparisons
from repeval.stats.intervals import interval
from repeval.stats.ranking import rank
from repeval.stats.sample import from_counts

pytestmark = pytest.mark.bench
pytest.importorskip("pytest_benchmark")

B = 2000
N, R, M = 99, 5, 16
RNG = np.random.default_rng(2606)
DIFFICULTY = RNG.normal(size=N)
# Shared difficulty and an intraclass correlation near the paper's .76.
LOGITS = 3.5 * (DIFFICULTY + RNG.normal(0, 0.4, (M, N)) + RNG.normal(0, 0.5, (M, 1)))
RATES = 1 / (1 + np.exp(-LOGITS))
PASSES = RNG.binomial(R, RATES)
ARRAY = (np.arange(R) < PASSES[..., None]).astype(float)
ONE, OTHER = PASSES[0], PASSES[1]
# Every peer gets its own prepared input: arrays, or for repeval counts that were checked once.
SYSTEMS = [from_counts(k, R) for k in PASSES]


def numpy_two_level(passes=ONE, other=None):
    """The usual vectorised code: indices, then binomials, B x N at once."""
    rng = np.random.default_rng(1)
    index = rng.integers(N, size=(B, N))
    draws = rng.binomial(R, passes[index] / R).mean(axis=1)
    if other is not None:
        draws = draws - rng.binomial(R, other[index] / R).mean(axis=1)
    return np.quantile(draws / R, [0.025, 0.975])


def numpy_one_level():
    rng = np.random.default_rng(1)
    return np.quantile((ONE / R)[rng.integers(N, size=(B, N))].mean(axis=1), [0.025, 0.975])


def scipy_one_level():
    from scipy.stats import bootstrap

    return bootstrap((ONE / R,), np.mean, n_resamples=B, method="percentile", rng=1)


def arch_one_level():
    from arch.bootstrap import IIDBootstrap

    return IIDBootstrap(ONE / R, seed=1).conf_int(np.mean, B, method="percentile")


def evalstats_two_level():
    from evalstats.core.resampling import bootstrap_means_nested

    draws = bootstrap_means_nested(ARRAY[0], B, np.random.default_rng(1))
    return np.quantile(draws, [0.025, 0.975])


def everything():
    """120 pairs, ranks, first and top-3 places and rank sets, by the two-level law as peers."""
    pairs = [(SYSTEMS[i], SYSTEMS[j]) for j in range(M) for i in range(j)]
    laws = exact_comparisons(pairs, "two_level", 0.95)
    return laws, rank(SYSTEMS, name="two_level", n_resamples=B, rng=1)


def evalstats_everything():
    from evalstats.core.paired import all_pairwise
    from evalstats.core.ranking import bootstrap_ranks

    labels = [f"m{i}" for i in range(M)]
    bootstrap_ranks(ARRAY, labels, n_bootstrap=B, rng=np.random.default_rng(1), method="bootstrap")
    all_pairwise(ARRAY, labels, method="bootstrap", n_bootstrap=B, rng=np.random.default_rng(1))


TASKS = [
    ("two-level interval", "repeval", lambda: interval(SYSTEMS[0], name="two_level"), 200),
    ("two-level interval", "numpy", numpy_two_level, 20),
    ("two-level interval", "evalstats", evalstats_two_level, 10),
    ("one-level interval", "repeval", lambda: interval(SYSTEMS[0], name="one_level"), 200),
    ("one-level interval", "numpy", numpy_one_level, 20),
    ("one-level interval", "scipy", scipy_one_level, 20),
    ("one-level interval", "arch", arch_one_level, 10),
    ("two-level difference", "repeval",
     lambda: compare(*SYSTEMS[:2], name="two_level"), 200),
    ("two-level difference", "numpy", lambda: numpy_two_level(ONE, OTHER), 20),
    ("all pairs and ranks", "repeval", everything, 10),
    ("all pairs and ranks", "evalstats", evalstats_everything, 1),
]  # fmt: skip


@pytest.mark.parametrize(("task", "who", "call", "rounds"), TASKS)
def test_task(timed, task, who, call, rounds):
    if who in ("arch", "evalstats"):
        pytest.importorskip(who)
    timed(task, who, call, rounds)


@pytest.mark.parametrize(
    ("task", "peer", "times"),
    [
        ("two-level interval", "evalstats", 300),
        ("two-level interval", "numpy", 50),
        ("two-level difference", "numpy", 100),
        ("all pairs and ranks", "evalstats", 100),
    ],
)
def test_times_faster(ratio, task, peer, times):
    assert ratio(task, peer) >= times


def test_all_pairs_and_ranks_in_time(timed):
    assert timed("all pairs and ranks", "repeval", everything, 10) < 0.08


def test_many_systems_with_one_run(timed):
    systems = [from_counts(RNG.binomial(1, 0.5, 500), 1) for _ in range(200)]
    assert timed("ranks of 200 x 500 x 1", "repeval", lambda: rank(systems, rng=1), 3) < 2


TRANSFORMS = {}


@pytest.mark.parametrize("n", [10**4, 10**5, 10**6, 10**7])
def test_cost_grows_slowly(timed, n):
    """The transform grows like √N; reading N counts, which nobody can avoid, is timed apart."""
    from repeval.stats.exact import convolution_power

    one = np.bincount(RNG.binomial(R, RNG.beta(0.2, 0.11, 10_000)), minlength=R + 1) / 10_000
    seconds = timed(
        f"transform, N = {n:,}",
        "repeval",
        lambda: convolution_power(one[None], np.array([n]), 0),
        10,
    )
    TRANSFORMS[n] = seconds
    # A factor of two for the noise of a shared machine and for FFT lengths.
    assert seconds <= 2 * TRANSFORMS[10**4] * np.sqrt(n / 10**4)


FRESH = """
import time
import numpy as np
from repeval.stats.intervals import interval
rng = np.random.default_rng(2606)
passes = rng.binomial(5, rng.beta(.2, .11, 10**6))
runs = np.full(10**6, 5)
start = time.perf_counter()
found = interval(passes, runs, name="two_level")
seconds = time.perf_counter() - start
# The peak of this program alone: getrusage would count the one that started it, too.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(seconds, int(peak.split()[1]) / 1024, found.method)
"""


def test_a_million_problems_in_a_fresh_process(record):
    runs = [
        subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=True)
        for _ in range(5)
    ]
    seconds, mebibytes = np.median([[float(x) for x in r.stdout.split()[:2]] for r in runs], axis=0)
    record("a million problems", "repeval", seconds)
    record("a million problems, MiB", "repeval", mebibytes)
    assert "exact" in runs[0].stdout
    assert seconds < 0.060
    assert mebibytes < 150


def cpu(*argv):
    """CPU seconds of a whole process, user and system."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *argv], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median_cpu(*argv):
    return float(np.median([cpu(*argv) for _ in range(5)]))


def test_start_up(record):
    ours, theirs = median_cpu("-c", "import repeval"), median_cpu("-c", "import numpy, pandas")
    record("import", "repeval", ours)
    record("import", "numpy and pandas", theirs)
    assert ours < 0.7 * theirs


def test_analyze_in_a_second(record):
    cpu("-m", "repeval", "analyze")
    seconds = median_cpu("-m", "repeval", "analyze")
    record("analyze, whole process", "repeval", seconds)
    assert seconds < 1.0


def test_oracle_of_a_million_problems():
    """|q_exact - q_MC| within three standard errors of the quantile, sqrt(q(1-q)/B)/f(q)."""
    rng = np.random.default_rng(2606)
    passes = rng.binomial(5, rng.beta(0.2, 0.11, 10**6))
    draws = 10**5
    exact = interval(passes, 5, name="two_level")
    sampled = interval(passes, 5, name="two_level", method="monte-carlo", n_resamples=draws, rng=1)
    sd = exact.width / (2 * 1.959964)
    density = np.exp(-(1.959964**2) / 2) / np.sqrt(2 * np.pi) / sd
    error = 3 * np.sqrt(0.025 * 0.975 / draws) / density
    assert abs(exact.low - sampled.low) <= error
    assert abs(exact.high - sampled.high) <= error
