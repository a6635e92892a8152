"""The package against R: lme4's variance components (lme4.R), boot's bootstraps (boot.R).

Where `boot` and we differ, on purpose:

- BCa. `boot.ci` takes the share of resamples strictly below the estimate. A score lies on a lattice
  where every tenth resample may equal the estimate, and both limits then come out too low: of a law
  that is symmetric about the estimate there is nothing to correct, but `boot` corrects. We count
  half of those that are equal, as SciPy does. Given `boot`'s share our limits are `boot`'s.
- The standard error of resamples is sd(t) with B - 1: the law's own is smaller by √(1 - 1/B).
"""

import json
import math
import re

import numpy as np
import pytest
from scipy import special

from repeval import as_sample, bootstrap, ceiling_interval, cohen_kappa, components, interval
from repeval.stats import exact, exact_icc
from repeval.stats.bootstrap import bca_levels
from repeval.stats.resampling import shifted_levels
from tests.oracles import DATA, SEED, passes_of, reaches

LME4 = json.loads((DATA / "lme4.json").read_text())
BOOT = json.loads((DATA / "boot.json").read_text())
TAILS = (0.025, 0.975)
# R's numbers are written to 15 digits; ours come from transforms good to 1e-13.
CLOSE = {"rel": 1e-11, "abs": 1e-11}


def rows(told):
    return pytest.mark.parametrize("row", told, ids=range(len(told)))


# ---- variance components --------------------------------------------------------------------


@rows(LME4["tables"] + LME4["scored"])
def test_a_mixed_model_of_equal_runs_has_the_same_components(row):
    runs = row["runs"]
    c = components(np.reshape(row["scores"], (-1, runs))) if "scores" in row else components(
        row["passes"], runs
    )  # fmt: skip
    # lmer stops where the likelihood is flat to about 1e-14, its root in the parameters.
    close = {"rel": 1e-6}
    assert c.mean == pytest.approx(row["mean"], **close)
    if row["between"] == 0:
        # REML ends at zero ("boundary (singular) fit"); the moments say how far below it is.
        assert c.between < 0
        assert c.ceiling == math.inf
        # All that is left is the variance of all outcomes together.
        total = len(row["passes"]) * runs
        pooled = c.mean * (1 - c.mean) * total / (total - 1)
        assert row["within"] == pytest.approx(pooled, **close)
        assert c.within > pooled
        return
    assert c.between == pytest.approx(row["between"], **close)
    assert c.within == pytest.approx(row["within"], **close)
    assert math.sqrt(c.variance) == pytest.approx(row["se"], **close)


def test_the_page_prints_what_the_mixed_model_of_the_toy_gave():
    page = (DATA.parents[1] / "notebooks/setup.md").read_text(encoding="utf-8")
    printed = page.split("```text\nRandom effects:")[1].split("```")[0]
    toy = LME4["tables"][0]
    for name, value in (("(Intercept)", toy["between"]), ("Residual", toy["within"])):
        assert re.search(rf"{re.escape(name)} +{value:.4f} +{math.sqrt(value):.4f}\n", printed)
    mean, se = toy["mean"], toy["se"]
    assert re.search(rf"\(Intercept\) +{mean:.4f} +{se:.4f} +{mean / se:.0f}\n", printed)


# ---- bootstraps -----------------------------------------------------------------------------


class Points:
    """A law on points in rising order, as that of the ICC is one."""

    def __init__(self, values, pmf):
        order = np.argsort(values, kind="stable")
        self.values, self.pmf = values[order], pmf[order]

    def quantile(self, q):
        index = np.searchsorted(np.cumsum(self.pmf), q - exact.CDF_TOLERANCE)
        return self.values[min(index, len(self.values) - 1)]

    def moments(self):
        mean = self.pmf @ self.values
        return mean, math.sqrt(self.pmf @ (self.values - mean) ** 2)

    def around(self, point):
        """Shares below a point and at it; rounding decides neither."""
        apart = self.values - point
        return self.pmf[apart < -1e-9].sum(), self.pmf[np.abs(apart) <= 1e-9].sum()


def law_of(row):
    """Our exact law of what R drew, the sample, and the estimate without each problem."""
    s = as_sample(passes_of(row["counts"]) if "counts" in row else row["passes"], row["runs"])
    every = [s.take(np.arange(len(s)) != i) for i in range(len(s))]
    if row["statistic"] == "icc":
        return Points(*exact_icc.icc_law(s)), s, np.array([components(x).icc for x in every])
    law = exact.mean_law(s, row["law"])
    places = (law.start + np.arange(law.pmf.shape[-1])) * law.step
    return Points(places, law.pmf), s, np.array([x.rate.mean() for x in every])


def bca(row, below):
    """Our levels of BCa for a share below the estimate."""
    return shifted_levels(special.ndtri(below), law_of(row)[2], 0.95).tolist()


@rows(BOOT["listed"])
def test_every_resample_listed(row):
    law, s, _ = law_of(row)
    mean, sd = law.moments()
    assert (mean, *law.around(row["estimate"])) == pytest.approx(
        (row["mean"], row["below"], row["tie"]), **CLOSE
    )
    assert sd / math.sqrt(1 - 1 / row["resamples"]) == pytest.approx(row["se"], **CLOSE)
    limits = [law.quantile(q) for q in TAILS]
    assert limits == pytest.approx(row["percentile"], **CLOSE)
    assert [2 * row["estimate"] - x for x in limits[::-1]] == pytest.approx(row["basic"], **CLOSE)
    half = special.ndtri(0.975) * row["se"]
    middle = 2 * row["estimate"] - mean
    assert (middle - half, middle + half) == pytest.approx(row["normal"], **CLOSE)
    # What users get is the law's.
    if row["statistic"] == "mean":
        found = interval(s, name=row["law"], method="exact")
        assert [found.low, found.high] == limits
    else:
        found = ceiling_interval(s, kind="percentile", method="exact")
        # Of the ICC the upper limit is that of the falling law, read from above.
        assert (found.icc_low, found.icc_high) == pytest.approx(row["percentile"], **CLOSE)
    if "bca" in row:
        read = [law.quantile(q) for q in bca(row, row["below"])]
        assert read == pytest.approx(row["bca"], **CLOSE)


@rows(BOOT["drawn"])
def test_resamples_drawn(row):
    law, _, _ = law_of(row)
    draws = row["resamples"]
    mean, sd = law.moments()
    # Four standard errors; of a standard deviation those of a nearly normal law.
    assert row["mean"] == pytest.approx(mean, abs=4 * sd / math.sqrt(draws))
    assert row["se"] == pytest.approx(sd, rel=4 / math.sqrt(2 * draws))
    for share, told in zip(law.around(row["estimate"]), (row["below"], row["tie"]), strict=True):
        assert told == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / draws))
    for end, level in enumerate(TAILS):
        assert reaches(law, row["percentile"][end], level, draws)
        assert reaches(law, 2 * row["estimate"] - row["basic"][end], 1 - level, draws)
    if "bca" in row:
        below, _ = law.around(row["estimate"])
        for limit, level in zip(row["bca"], bca(row, below), strict=True):
            assert reaches(law, limit, level, draws, bias_corrected=True)


def test_ties_count_one_half():
    """Symmetric, with a seventh of the resamples at the estimate: there is no bias to correct."""
    toy = BOOT["listed"][0]
    symmetric = {**toy, "passes": [3, 3, 2, 1, 0, 0]}
    law, s, left_out = law_of(symmetric)
    below, tie = law.around(0.5)
    assert tie > 0.1
    assert below + tie / 2 == pytest.approx(0.5, abs=1e-12)
    assert bca(symmetric, below + tie / 2) == pytest.approx(TAILS, abs=1e-12)
    # The share strictly below moves both levels down, our function of resamples moves none.
    assert max(bca(symmetric, below)) < 0.95
    draws = np.repeat(law.values, np.rint(law.pmf * 6**6).astype(int))
    ours = bca_levels(draws, np.float64(s.rate.mean()), left_out, 0.95)
    assert ours == pytest.approx(TAILS, abs=0.02)


@rows(BOOT["kappa"])
def test_kappa_of_inputs_drawn_with_all_their_runs(row):
    labels = np.array(row["truth"]), np.array(row["predicted"])
    n = 20_000
    for method in ("percentile", "bca"):
        ours = bootstrap(labels, cohen_kappa, "cluster", method=method, n_resamples=n, rng=SEED)
        assert ours.estimate == pytest.approx(row["estimate"], **CLOSE)
        # Both are drawn: four standard errors of a difference, of a nearly normal law.
        error = ours.standard_error * math.sqrt(1 / n + 1 / row["resamples"])
        assert ours.standard_error == pytest.approx(row["se"], abs=4 * error / math.sqrt(2))
        # A limit at 2.5 % is known to 2.7 times the error of the mean, that of BCa to 3.6 times.
        found = ours.confidence_interval
        assert (found.low, found.high) == pytest.approx(row[method], abs=4 * 3.6 * error)


# ---- and each check can fail ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "told", "names"),
    [
        (
            test_every_resample_listed,
            "listed",
            ["below", "se", "percentile", "basic", "normal", "bca"],
        ),
        (test_resamples_drawn, "drawn", ["mean", "below", "se", "percentile", "basic", "bca"]),
    ],
)
def test_numbers_of_another_table_are_seen(check, told, names):
    first, second = BOOT[told][:2]
    for name in names:
        with pytest.raises(AssertionError):
            check({**first, name: second[name]})
