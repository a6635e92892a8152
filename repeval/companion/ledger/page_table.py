"""The claims of one page, folded at its end: verdict first, what the text says, what came out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from repeval.companion.ledger.scorecard import here, says
from repeval.companion.ledger.verdicts import VERDICTS, Verdict, accepted

#: What the ledger writes in plain letters, and how it is set.
SYMBOLS = {
    "mu_w": "μ<sub>w</sub>", "sigma_b^2": "σ<sub>b</sub>²", "sigma_b": "σ<sub>b</sub>",
    "p_i": "p<sub>i</sub>", "p_hat": "p̂", "mu": "μ", "sigma": "σ", "alpha": "α", "beta": "β",
    "rho": "ρ", "theta": "θ", "kappa": "κ", "sqrt": "√", "c_p": "c<sub>p</sub>",
    "c_g": "c<sub>g</sub>", "R*": "R<sup>*</sup>", "^2": "²", ">=": "≥", "<=": "≤", "+-": "±",
    "->": "→", "infinity": "∞",
}  # fmt: skip
SYMBOL = re.compile("|".join(rf"(?<![A-Za-z]){re.escape(escape(s))}(?![a-z])" for s in SYMBOLS))
SET = {escape(plain): symbol for plain, symbol in SYMBOLS.items()}


def page_html(found: Sequence[Verdict], notes: Sequence[str]) -> str:
    """Return the folded table of a page's verdicts; each id links to its row of the scorecard."""
    text = "post" if found and found[0].claim.doc == "bootstrap-post" else "paper"
    rows = "\n".join(map(_row, found))
    return (
        f'<details class="repeval-claims"><summary>The {text} says, we get: {_tally(found)}'
        f'</summary>\n<div class="repeval-scroll" role="region" aria-label="The {text} says, we '
        f'get" tabindex="0"><table class="table"><thead><tr><th scope="col">Verdict</th>'
        f'<th scope="col">Quantity</th><th scope="col">{text.capitalize()}</th>'
        f'<th scope="col">Here</th></tr></thead>\n<tbody>{rows}</tbody></table></div>\n'
        + "\n".join(f"<p>{typeset(note)}</p>" for note in notes)
        + "</details>"
    )


def typeset(text: str) -> str:
    """Return a text of the ledger as HTML, its symbols set as in print."""
    return SYMBOL.sub(lambda plain: SET[plain[0]], escape(text))


def _row(v: Verdict) -> str:
    c = v.claim
    range_ = accepted(c, v.se or 0) if v.computed is not None else ""
    would = f" <small>({typeset(range_)} would)</small>" if range_ and v.verdict == "holds" else ""
    why = f" <small>{typeset(v.reason)}</small>" if v.verdict == "not checkable" else ""
    link = f'<a href="scorecard.html#{escape(c.id)}">{escape(c.id)}</a>'
    return (
        f'<tr id="claim-{escape(c.id)}"><td>{VERDICTS[v.verdict]}{would}{why}</td>'
        f"<td>{typeset(c.quantity)} <small>{link}</small></td>"
        f"<td>{typeset(says(c))}</td><td>{typeset(here(v))}</td></tr>"
    )


def _tally(found: Sequence[Verdict]) -> str:
    """Count the verdicts: `holds: 3; differs, known: 1`."""
    words = [VERDICTS[v.verdict] for v in found]
    return "; ".join(f"{word}: {words.count(word)}" for word in dict.fromkeys(words))
