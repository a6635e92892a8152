"""What `repeval plan --subset` answers: a score on all problems from a random part of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from repeval._version import __version__
from repeval.io.keys import check_names
from repeval.messages import RepevalError, refused
from repeval.report.format import STAND_IN, count, limits, percent, points
from repeval.report.screen import Section, rendered
from repeval.stats.components import components
from repeval.stats.design.subset import SubsetScore, subset_score, why_not_random

if TYPE_CHECKING:
    from repeval.io.outcomes import Outcomes

__all__ = ["Part", "from_part"]

SCHEMA = "repeval/subset/1"


@dataclass(frozen=True)
class Part:
    """A model that ran a part of the problems, and its score on all of them.

    Attributes
    ----------
    model, condition : str
    older : tuple of str
        Systems that ran all the problems.
    found : SubsetScore
    data : dict
        Name, hash and basis of the data.
    """

    model: str
    condition: str
    older: tuple[str, ...]
    found: SubsetScore
    data: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON `repeval/subset/1`."""
        about = {"model": self.model, "condition": self.condition, "older": list(self.older)}
        head = {"schema": SCHEMA, "version": __version__, "data": self.data, "text": self.first()}
        return head | about | asdict(self.found)

    def first(self) -> str:
        """Return the answer in one line."""
        f = self.found
        return (
            f"{self.model} on all {f.n_problems} problems: {points(f.score)} % "
            f"({limits((f.low, f.high))}), from the {f.n_chosen} that it ran and "
            f"{count(len(self.older), 'older system')}."
        )

    def screen(self, *, markdown: bool = False, everything: bool = False) -> str:
        """Return the answer for a terminal, or as Markdown."""
        f = self.found
        said = {
            "by older systems": f"{points(f.score)} % ({limits((f.low, f.high))})",
            f"by the {f.n_chosen} alone": f"{points(f.alone)} % "
            f"({limits((f.alone_low, f.alone_high))})",
        }
        below = [
            f"The mean over exactly these {f.n_problems} problems and endless runs; intervals at "
            f"{percent(f.level)}.",
            "It holds if the part was drawn by lot; nothing seen here speaks against that.",
        ]
        worth = f.worth
        lines = [self.first()]
        if worth > f.n_chosen:
            lines.append(f"That is as narrow as {worth:,.0f} random problems would be alone.")
        head = [STAND_IN] if self.data["basis"] == "stand-in" else []
        section = Section(f"THE SCORE ON ALL {f.n_problems}", said, below)
        return rendered(
            [*lines, *head], [section], [], markdown=markdown, everything=everything
        )  # fmt: skip


def from_part(
    outcomes: Outcomes, model: str, *, condition: str | None = None, level: float = 0.95
) -> Part:
    """Estimate the score of a model on all problems, of which it ran a random part.

    Parameters
    ----------
    outcomes : Outcomes
        Also of older models that ran all the problems.
    model : str
    condition : str, optional
        The first by default.
    level : float

    Raises
    ------
    RepevalError
        For unknown names, a model that ran all problems, no older model that did, a part that is
        too small, and one that is no random one.

    Examples
    --------
    >>> import numpy as np, pandas as pd, repeval
    >>> from repeval.report.subset import from_part
    >>> rng = np.random.default_rng(2606)
    >>> hard = rng.random(300)
    >>> ran = {"old": range(300), "new": sorted(rng.choice(300, 80, replace=False))}
    >>> rows = [(m, i, int(hard[i] > 0.4)) for m in ran for i in ran[m]]
    >>> outcomes = repeval.load(pd.DataFrame(rows, columns=["model", "problem", "outcome"]))
    >>> from_part(outcomes, "new").older
    ('old',)
    """
    condition = condition or outcomes.main_condition
    check_names("unknown-condition", [condition], outcomes.conditions)
    sample, mine = outcomes.system(model, condition), outcomes.system_problems(model, condition)
    ran = {
        m: outcomes.system_problems(m, condition)
        for m in outcomes.models
        if m != model and outcomes.has(m, condition)
    }
    whole = max(ran.values(), key=len, default=())
    older = tuple(m for m, problems in ran.items() if set(whole) <= set(problems))
    place = {problem: i for i, problem in enumerate(whole)}
    inside = np.array([problem in place for problem in mine])
    if len(whole) <= inside.sum():
        what = f"--subset {model}: it ran all {len(mine)} problems that there are"
        raise RepevalError("bad-option", f"{what}; there is nothing to estimate.")
    chosen = np.array([place[problem] for problem in mine if problem in place], dtype=int)
    parts = [outcomes.system(m, condition) for m in older]
    rates = np.stack(
        [
            s.take(np.isin(ran[m], whole)).rate
            for m, s in zip(older, parts, strict=True)
        ], axis=1,
    )  # fmt: skip
    labels = {name: outcomes.labels.loc[list(whole), name].to_numpy() for name in outcomes.labels}
    try:
        noise = [components(s).within for s in parts if s.runs.max() > 1]
        found = subset_score(
            sample.take(inside), chosen=chosen, older=rates, older_noise=max(noise, default=None),
            level=level,
        )  # fmt: skip
    except ValueError as error:
        raise refused("small-part", f"--subset {model}: {error}.") from None
    difficulty = rates.mean(axis=1)
    if why := why_not_random(chosen, len(whole), difficulty=difficulty, labels=labels):
        part = f"--subset {model}: its {len(chosen)} of {len(whole)} problems are no random ones"
        told = {
            "order": "they come in blocks, or from one end of the list",
            "difficulty": f"older systems score {points(difficulty[chosen].mean())} % on them and "
            f"{points(difficulty.mean())} % on all",
        }
        raise refused("chosen-part", f"{part}: {told.get(why, f'{why} has other shares')}.")
    source = outcomes.source
    data = {"name": source.name, "sha256": source.sha256, "basis": source.basis}
    return Part(model, condition, older, found, data)
