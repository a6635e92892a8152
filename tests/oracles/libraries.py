"""What statsmodels and SciPy compute, written to libraries.json beside this file.

    python tests/oracles/libraries.py

Their numbers are kept, so that no test depends on the versions that are installed. Nothing here
imports `repeval`; tables are made by formulas or from seed 2606.
"""

import warnings

import numpy as np
import scipy
import statsmodels
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.regression.mixed_linear_model import MixedLM
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from written import save

SEED = 2606
# Numbers of problems with 0, 1, 2, ... passes, and the runs of each.
COUNTS = [([24, 7, 6, 4, 6, 52], 5), ([62, 2, 1, 0, 2, 32], 5), ([9, 7, 8, 6], 3), ([7, 93], 1)]


def passes_of(counts: list[int]) -> np.ndarray:
    return np.repeat(np.arange(len(counts)), counts)


def outcomes_of(passes: np.ndarray, runs: int) -> np.ndarray:
    return (np.arange(runs) < passes[:, None]).astype(float)


def scores() -> np.ndarray:
    """Forty problems, four runs, scores in [0, .99], by formula."""
    i, r = np.arange(40)[:, None], np.arange(4)
    return ((37 * i * i + 11 * i) % 61 + (29 * r * r + 53 * r * i + 7 * i) % 40) / 100


def drawn(rng: np.random.Generator, n: int, runs: int) -> np.ndarray:
    return (rng.random((n, runs)) < rng.beta(0.7, 0.6, (n, 1))).astype(int)


def mixed() -> list[dict]:
    """MixedLM by REML, and the ANOVA table of the same outcomes."""
    rows = []
    tables = [({"counts": c, "runs": r}, outcomes_of(passes_of(c), r)) for c, r in COUNTS if r > 1]
    for told, y in [*tables, ({"scores": scores().tolist()}, scores())]:
        problem = np.repeat(np.arange(len(y)), y.shape[1])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of convergence near the optimum
            fit = MixedLM(y.ravel(), np.ones(y.size), groups=problem).fit(reml=True, method="bfgs")
        f = stats.f_oneway(*y)
        rows.append({**told, "between": float(np.asarray(fit.cov_re)[0, 0]),
                     "within": float(fit.scale), "mean": float(fit.fe_params[0]),
                     "se": float(fit.bse_fe[0]), "f": float(f.statistic)})  # fmt: skip
    return rows


def intervals() -> list[dict]:
    """Wilson's interval, and Clopper and Pearson's upper limit."""
    rows = []
    for x, n in [(0, 20), (1, 20), (317, 495), (50, 50), (0, 1), (9, 500)]:
        for level in (0.5, 0.9, 0.95, 0.99):
            low, high = proportion_confint(x, n, alpha=1 - level, method="wilson")
            _, exact = proportion_confint(x, n, alpha=2 * (1 - level), method="beta")
            rows.append({"x": x, "n": n, "level": level, "low": float(low), "high": float(high),
                         "exact": float(exact)})  # fmt: skip
    return rows


def labels() -> list[dict]:
    """Cochran's Q by run label; Friedman's test where scores are ranks."""
    rows, rng = [], np.random.default_rng(SEED)
    for runs in (2, 3, 5, 12):
        y = drawn(rng, 20 + 3 * runs, runs)
        q = cochrans_q(y)
        rows.append({"outcomes": ["".join(map(str, row)) for row in y.tolist()],
                     "q": float(q.statistic), "df": int(q.df), "p": float(q.pvalue)})  # fmt: skip
    y = rng.integers(0, 6, (30, 4))
    friedman = stats.friedmanchisquare(*y.T)
    rows.append({"scores": y.tolist(), "q": float(friedman.statistic), "df": 3,
                 "p": float(friedman.pvalue)})  # fmt: skip
    return rows


def single_runs() -> list[dict]:
    """McNemar's test without a correction, and the sign test where all differ one way."""
    rows = []
    for won, lost, n in [(12, 3, 60), (20, 7, 99), (9, 9, 40), (30, 1, 200), (0, 8, 30)]:
        table = [[(n - won - lost) // 2, won], [lost, n - won - lost - (n - won - lost) // 2]]
        rows.append({"won": won, "lost": lost, "n": n,
                     "p": float(mcnemar(table, exact=False, correction=False).pvalue),
                     "signs": float(stats.binomtest(won + lost, won + lost).pvalue)})  # fmt: skip
    return rows


def kappas() -> list[dict]:
    rows, rng = [], np.random.default_rng(SEED)
    for table in rng.integers(1, 40, size=(20, 3, 3)):
        found = cohens_kappa(table)
        rows.append({"table": table.tolist(), "kappa": float(found.kappa),
                     "se": float(np.sqrt(found.var_kappa))})  # fmt: skip
    return rows


def holm() -> list[dict]:
    rows = []
    for p in [
        [0.01, 0.04, 0.03, 0.005], [0.5], [0.2, 0.2, 0.2], [1, 0.9, 1e-9], [0.04, 0.01, 0.04],
        [round((7 * i % 40 / 40) ** 3, 4) for i in range(40)],
    ]:  # fmt: skip
        rows.append({"p": p, "adjusted": multipletests(p, method="holm")[1].tolist()})
    return rows


def clusters() -> list[dict]:
    """Cluster-robust variance of a mean, and Wilson's interval at the effective size.

    The correction is CR2's where clusters are of one size. Harder and easier clusters, so that the
    size lies between the clusters and the runs; Student's t shrinks it.
    """
    rows, rng = [], np.random.default_rng(SEED)
    for g in (6, 30, 40):
        labels_ = np.arange(120) % g
        passes = rng.binomial(5, rng.uniform(0.3, 0.9, g)[labels_])
        p = passes / 5
        fit = OLS(p, np.ones(120)).fit(cov_type="cluster", cov_kwds={"groups": labels_})
        variance = float(fit.cov_params()[0, 0])
        n = p.mean() * (1 - p.mean()) / variance
        n *= (stats.norm.ppf(0.975) / stats.t.ppf(0.975, g - 1)) ** 2
        low, high = proportion_confint(p.mean() * n, n, method="wilson")
        rows.append({"passes": passes.tolist(), "runs": 5, "clusters": g, "variance": variance,
                     "n": float(n), "low": float(low), "high": float(high)})  # fmt: skip
    return rows


def bootstraps() -> list[dict]:
    """Problems drawn by scipy.stats.bootstrap: limits and standard errors of the mean."""
    rows = []
    for counts, runs in COUNTS:
        row = {"counts": counts, "runs": runs, "resamples": 20_000}
        for method in ("percentile", "basic", "BCa"):
            found = stats.bootstrap(
                (passes_of(counts) / runs,), np.mean, n_resamples=20_000, method=method,
                rng=np.random.default_rng(SEED),
            )  # fmt: skip
            row[method] = [float(x) for x in found.confidence_interval]
        rows.append({**row, "se": float(found.standard_error)})
    return rows


SECTIONS = (mixed, intervals, labels, single_runs, kappas, holm, clusters, bootstraps)

if __name__ == "__main__":
    made_by = f"statsmodels {statsmodels.__version__}, SciPy {scipy.__version__}"
    save(__file__, made_by, {make.__name__: make() for make in SECTIONS})
