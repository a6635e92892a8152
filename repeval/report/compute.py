"""The rows of an analysis, computed: each answer is one call into the mathematics."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from repeval.io.keys import unknown_label
from repeval.messages import RepevalError
from repeval.report.rows import (
    ALL_PAIRS,
    ConditionPair,
    Fixed,
    Limits,
    Pair,
    Pooled,
    Rank,
    Settings,
    System,
    TwoLevelRank,
    constant_share,
    couples,
    ends_of,
    figures,
    flips_of,
    known_or_none,
    law_of,
    limits_of,
    narrowing_left,
    resolved,
)
from repeval.stats import ceiling, comparison, exact
from repeval.stats.betabinomial import fit_beta_binomial, pass_hat_k
from repeval.stats.components import components, differences_components, score
from repeval.stats.design import allocation
from repeval.stats.intervals import ESTIMANDS, interval, normal_quantile
from repeval.stats.noise_share import difference_profile_limits
from repeval.stats.pairs import power
from repeval.stats.pairs.apart import MOST_DRAWN
from repeval.stats.pairs.hull import seen_noise
from repeval.stats.pairs.reruns import rerun_interval
from repeval.stats.profile import narrowing_limits
from repeval.stats.ranking import drawn_ranks, places
from repeval.stats.resampling import as_clusters, keyed_generator
from repeval.stats.sample import FloatArray, IntArray, Sample

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

# Figures of `Components` that scores and differences both show.
SHARED = (
    "within", "between", "icc", "ceiling", "remaining_narrowing", "aleatoric_share",
    "two_level_inflation",
)  # fmt: skip


@dataclass(frozen=True)
class Answers:
    """The outcomes and the settings that every row needs, and what was computed already.

    `alike` systems, with equally many problems of each kind, get one answer, whatever the order.
    """

    outcomes: Outcomes
    settings: Settings
    alike: bool = False
    _known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def asked(
        cls, outcomes: Outcomes, level: float, n_resamples: int, seed: int, cluster: str | None
    ) -> Answers:
        """Record what was asked for beside how the outcomes were read."""
        policy = {**asdict(outcomes.policy), "columns": dict(outcomes.policy.columns)}
        settings = Settings(level, n_resamples, seed, cluster, policy)
        return cls(outcomes, settings, len(outcomes.systems) > MOST_DRAWN)

    def models(self, condition: str) -> list[str]:
        """Return the models that were run under a condition."""
        return self._models[condition]

    @functools.cached_property
    def _models(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {c: [] for c in self.outcomes.conditions}
        for model, condition in self.outcomes.systems:
            found[condition].append(model)
        return found

    @functools.cached_property
    def fewest_runs(self) -> dict[str, int]:
        """The fewest runs of any problem of any system, by condition."""
        return {
            c: min(int(self.outcomes.system(m, c).runs.min()) for m in self.models(c))
            for c in self.outcomes.conditions
        }

    def clusters(self, problems: Sequence[str]) -> IntArray | None:
        """Return the cluster codes of problems, None where nothing is clustered."""
        if self.settings.cluster is None:
            return None
        if self._known.get("problems") != problems:
            self._known.update(problems=problems, clusters=self._clusters(problems))
        return self._known["clusters"]

    def _clusters(self, problems: Sequence[str]) -> IntArray | None:
        column = self.settings.cluster
        labels = self.outcomes.labels
        if column not in labels.columns:
            raise unknown_label(column, labels)
        values = labels.loc[list(problems), column].to_numpy(dtype=object)
        # A problem without a value is a cluster of its own: blanks have nothing in common.
        values = np.where(values == "", list(problems), values).astype(str)
        if len(set(values)) < 2:
            what = f"--cluster {column}: all {len(values)} problems of a system have one value"
            raise RepevalError("unknown-label", f"{what}. Choose a column with at least two.")
        return as_clusters(values, len(problems))

    def options(self, problems: Sequence[str], *key: str) -> dict[str, Any]:
        """Return the keywords of a statistic on problems, with the stream that `key` has."""
        s = self.settings
        rng = keyed_generator(s.seed, *key)
        return {
            "level": s.level, "n_resamples": s.n_resamples, "rng": rng,
            "clusters": self.clusters(problems),
        }  # fmt: skip

    def system(self, model: str, condition: str) -> System:
        """Answer for one system."""
        sample = self.outcomes.system(model, condition)
        key = None
        if self.alike and sample.binary and not self.settings.cluster:
            kinds = np.unique(sample.kinds, return_counts=True)
            key = (sample.runs.max(), self.fewest_runs[condition], *map(bytes, kinds))
        row = self._known.get(key) or self._system(sample, model, condition)
        # What was drawn has a stream of its own.
        if key and not any("Monte Carlo" in how for how in row.methods.values()):
            self._known[key] = row
        bounds = self.outcomes.missing_bounds(model, condition)
        return replace(row, model=model, condition=condition, missing_bounds=bounds)

    def _system(self, sample: Sample, model: str, condition: str) -> System:
        problems = self.outcomes.system_problems(model, condition)
        groups = self.clusters(problems)
        c = components(sample, clusters=groups)
        intervals = {
            name: interval(sample, name=name, **self.options(problems, name, model, condition))
            for name in ESTIMANDS
        }
        # Resampled clusters would be those of the ratio without clusters.
        kinds = ("profile", "percentile") if groups is None else ("profile",)
        options = self.options(problems, "ceiling", model, condition)
        ceilings = ceiling.ceiling_intervals(sample, kinds=kinds, **options)
        profile, percentile = ceilings[0], ceilings[1] if groups is None else None
        fit = fit_beta_binomial(sample) if sample.binary else None
        return System(
            model=model,
            condition=condition,
            n_problems=len(sample),
            n_runs=c.n_runs,
            runs_range=c.runs_range,
            runs_harmonic=c.runs_harmonic,
            n_clusters=None if groups is None else int(groups.max()) + 1,
            mean=c.mean,
            missing_bounds=None,
            **figures(c, *SHARED, "max_narrowing", "design_effect"),
            max_narrowing_interval=limits_of(*narrowing_limits(profile.icc_low, profile.icc_high)),
            remaining_narrowing_interval=narrowing_left(c, profile.icc_low, profile.icc_high),
            icc_interval=limits_of(profile.icc_low, profile.icc_high),
            ceiling_interval=limits_of(profile.low, profile.high),
            ceiling_interval_percentile=(
                limits_of(percentile.low, percentile.high) if percentile else None
            ),
            ceiling_undefined=known_or_none(percentile.undefined) if percentile else None,
            retry_free=float((sample.passes == sample.runs).mean()) if fit else None,
            all_right=pass_hat_k(sample, k=self.fewest_runs[condition]) if fit else None,
            constant_share=constant_share(sample) if fit else None,
            alpha=known_or_none(fit.alpha) if fit else None,
            beta=known_or_none(fit.beta) if fit else None,
            rerun_interval=ends_of(rerun_interval(sample, level=self.settings.level)),
            intervals={name: ends_of(i) for name, i in intervals.items()},
            methods={
                **{name: i.method for name, i in intervals.items()},
                "ceiling_interval": profile.method,
                "ceiling_interval_percentile": (
                    percentile.method if percentile else "not given for clusters"
                ),
            },
        )

    def pairs(self, condition: str) -> list[Pair]:
        """Compare the models of a condition, best first."""
        ranked = self.outcomes.ranked(condition)
        reach = len(ranked) if len(ranked) <= ALL_PAIRS else 2
        place = {model: i for i, model in enumerate(ranked)}
        named = [
            self.ordered((a, condition), (b, condition))
            for a, i in place.items() for b in ranked[i + 1 : i + reach]
        ]  # fmt: skip

        def row(a: Any, b: Any, found: dict[str, Any]) -> Pair:
            near = abs(place[b[0]] - place[a[0]]) == 1
            return Pair(condition=condition, model_a=a[0], model_b=b[0], adjacent=near, **found)

        rows = self.differences(named, row)
        return _adjusted(rows, lambda row: row.adjacent)

    def ordered(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Return two systems, the better one on their own common problems first."""
        try:
            x, y, _ = self.outcomes.pair(a, b)
        except RepevalError:
            return a, b
        return (a, b) if score(x) >= score(y) else (b, a)

    def condition_pairs(self) -> list[ConditionPair]:
        """Compare the conditions of each model, or many with the main one (see `couples`)."""
        named = [
            [((m, first), (m, second)) for m in models]
            for (first, second), models in couples(self.outcomes)[0].items()
        ]
        # Many are compared at once, few as if there were no others.
        batches = [itertools.chain(*named)] if len(named) > ALL_PAIRS else named

        def row(a: Any, b: Any, found: dict[str, Any]) -> ConditionPair:
            return ConditionPair(model=a[0], condition_a=a[1], condition_b=b[1], **found)

        rows = [one for batch in batches for one in self.differences(batch, row)]
        families = itertools.groupby(rows, lambda row: (row.condition_a, row.condition_b))
        return [row for _, family in families for row in _adjusted([*family], lambda _: True)]

    def differences(
        self, named: Iterable[tuple[Any, Any]], row: Callable[[Any, Any, dict[str, Any]], Any]
    ) -> list[Any]:
        """Return a row for named systems; those with fewer than two common problems are left out.

        Those of one size are computed together, some at a time.
        """
        found, batches = [], {}
        for a, b in named:
            with contextlib.suppress(RepevalError):
                found.append((a, b, *self.outcomes.pair(a, b)))
        for i, (*_, x, y, problems) in enumerate(found):
            law = math.lcm(x.lattice, y.lattice) if exact.is_exact(x, y) else None
            key = problems if self.settings.cluster else (len(x), law)
            batches.setdefault(key, []).append(i)
        ceilings = self.ceilings([(x, y, problems) for *_, x, y, problems in found])
        rows: list[Any] = [None] * len(found)
        for batch in batches.values():
            for first in range(0, len(batch), comparison.BATCH):
                members = batch[first : first + comparison.BATCH]
                some = [(*found[i], ceilings[i]) for i in members]
                for i, columns in zip(members, self._differences(some), strict=True):
                    rows[i] = row(*found[i][:2], columns)
        return rows

    def _differences(self, found: list[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
        """Yield the columns of `Difference` for pairs of one size, with their ceilings' limits."""
        level, z = self.settings.level, normal_quantile(self.settings.level)
        pairs = [(x, y) for _, _, x, y, _, _ in found]
        groups = self.clusters(found[0][4])
        noise = seen_noise(pairs)
        fixed = power.detectables_fixed(pairs, level=level, noise=noise)
        columns = (
            flips_of(pairs, [problems for *_, problems, _ in found], level),
            differences_components(pairs, groups),
            power.detectable_changes(pairs, groups, level=level, fixed=fixed), fixed,
            comparison.pooled_zs(pairs), comparison.fixed_comparisons(pairs, level, noise),
            *self.compared(found, noise).values(),
        )  # fmt: skip
        for (_, _, x, y, _, of_ceiling), flips, c, new, same, pooled, these, shown, one, two in zip(
            found, *columns, strict=True
        ):
            remaining = None
            if of_ceiling:
                low, high = of_ceiling
                remaining = narrowing_left(c, 0.0 if high is None else 1 / high, 1 / low)
            half = shown.interval.width / 2
            growing = shown.interval.exists and c.spread > 0 and not math.isnan(c.within)
            factor = allocation.problems_factor(half, shown.difference)
            yield {
                "n_problems": len(x),
                "mean_a": score(x),
                "mean_b": score(y),
                "difference": shown.difference,
                "flips": flips,
                "interval": ends_of(shown.interval),
                "p_greater": one.p_greater,
                "p_tie": one.p_tie,
                "p_value": shown.p_value,
                "resolved": resolved(shown),
                **figures(c, *SHARED),
                "ceiling_interval": of_ceiling,
                "remaining_narrowing_interval": remaining,
                "mdd": known_or_none(new.value),
                "mdd_assumes": new.assumes,
                "half_widths": comparison.half_widths(half, c.aleatoric_share) if growing else None,
                "problems_factor": known_or_none(factor),
                "fixed": Fixed(
                    ends_of(these.interval), resolved(these), these.interval.method,
                    known_or_none(same.value), same.assumes,
                ),
                "one_level": law_of(one),
                "two_level": law_of(two),
                "pooled": Pooled(
                    known_or_none(pooled), None if math.isnan(pooled) else abs(pooled) > z
                ),
                "method": shown.interval.method,
            }  # fmt: skip

    def compared(
        self, found: list[tuple[Any, ...]], noise: FloatArray
    ) -> dict[str, list[comparison.Comparison]]:
        """Compare pairs of one size by three laws, at once where these are exact."""
        s, names = self.settings, ("paired", "one_level", "two_level")
        if not s.cluster and exact.is_exact(*found[0][2:4]):
            pairs = [row[2:4] for row in found]
            return comparison.all_comparisons(pairs, names, s.level, noise)
        results: dict[str, list[comparison.Comparison]] = {name: [] for name in names}
        for name in names:
            for a, b, x, y, problems, _ in found:
                # The shown procedure reads the draws of its law.
                key = "one_level" if name == "paired" else name
                options = self.options(problems, key, *a, *b)
                if name != "paired" and options["clusters"] is not None:
                    options["method"] = "monte-carlo"
                results[name].append(comparison.compare(x, y, name=name, **options))
        return results

    def ceilings(self, found: list[tuple[Sample, Sample, Any]]) -> list[Limits]:
        """Return the ceiling intervals of differences, batched by their problems."""
        batches: dict[tuple[str, ...], list[int]] = {}
        for i, (*_, problems) in enumerate(found):
            batches.setdefault(problems, []).append(i)
        known: dict[int, Limits] = {}
        for problems, members in batches.items():
            batch = difference_profile_limits(
                [found[i][:2] for i in members],
                level=self.settings.level,
                clusters=self.clusters(problems),
            )
            known.update(zip(members, itertools.starmap(limits_of, batch), strict=True))
        return [known[i] for i in range(len(found))]

    def ranks(self, condition: str, pairs: Sequence[Pair]) -> list[Rank]:
        """Rank the models of a condition, which has these pairs, on their common problems.

        A rank is ruled out only where the pair is told apart as well: no table says both.
        """
        samples, problems = self.outcomes.common(condition)
        if len(samples) < 2:
            return []
        systems, keys = [*samples.values()], ("n_resamples", "rng", "clusters")
        options = self.options(problems, "rank", "two_level", condition)
        two = drawn_ranks(systems, "two_level", *(options[key] for key in keys))
        wide, first, top3 = two.limits(self.settings.level), two.share(1), two.share(3)
        del two
        place = {model: i for i, model in enumerate(samples)}
        undecided = [(place[p.model_a], place[p.model_b]) for p in pairs if not p.resolved]
        options = self.options(problems, "rank", "one_level", condition)
        one = places(systems, undecided, **options)
        rows = [
            Rank(
                condition=condition,
                model=model,
                n_problems=len(problems),
                mean=float(samples[model].rate.mean()),
                rank=int(one.rank[i]),
                rank_interval=(int(one.low[i]), int(one.high[i])),
                rank_set=(int(one.set_low[i]), int(one.set_high[i])),
                p_first=float(one.p_first[i]),
                p_top3=float(one.p_top3[i]),
                two_level=TwoLevelRank(
                    (int(wide[0][i]), int(wide[1][i])), float(first[i]), float(top3[i])
                ),
            )
            for i, model in enumerate(samples)
        ]
        return sorted(rows, key=lambda row: (row.rank, row.model))


def _adjusted(rows: list[Any], member: Callable[[Any], bool]) -> list[Any]:
    """Fill `p_adjusted` by Holm over the rows that are members of the family."""
    family = [i for i, row in enumerate(rows) if member(row)]
    for i, p in zip(family, comparison.holm([rows[i].p_value for i in family]), strict=True):
        rows[i] = replace(rows[i], p_adjusted=float(p))
    return rows
