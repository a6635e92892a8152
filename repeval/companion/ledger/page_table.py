"""The claims of one page, folded at its end: verdict first, what the text says, what came out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from repeval.companion.ledger.scorecard import here, says
from repeval.companion.ledger.verdicts import VERDICTS, Verdict, accepted

#: What the ledger writes in plain letters, and how it is set.
SYMBOLS = {
    "mu_w": "μ<sub>w</sub>", "mu_hat": "μ̂", "sigma_b2_hat": "σ̂<sub>b</sub>²",
    "sigma_b^2": "σ<sub>b</sub>²", "sigma_b2": "σ<sub>b</sub>²", "sigma_b": "σ<sub>b</sub>",
    "sigma_B2": "σ<sub>B</sub>²", "sigma_W2": "σ<sub>W</sub>²", "sigma2": "σ²",
    "phat_i": "p̂<sub>i</sub>", "phat": "p̂", "p_i": "p<sub>i</sub>", "p_hat": "p̂", "mu": "μ",
    "sigma": "σ", "alpha": "α", "beta": "β", "rho": "ρ", "theta": "θ", "kappa": "κ", "sqrt": "√",
    "c_p": "c<sub>p</sub>", "c_g": "c<sub>g</sub>", "R*": "R<sup>*</sup>", "^2": "²",
    ">=": "≥", "<=": "≤", "+-": "±", "->": "→", "infinity": "∞",
}  # fmt: skip
# No part of a word (beta-binomial) or of an id (bs-gen-mode-rho).
AROUND = r"(?<![A-Za-z])(?<![a-z]-){}(?![a-z]|-[a-z])"
SYMBOL = re.compile("|".join(AROUND.format(re.escape(escape(s))) for s in SYMBOLS))
SET = {escape(plain): symbol for plain, symbol in SYMBOLS.items()}


def page_html(found: Sequence[Verdict], notes: Sequence[str]) -> str:
    """Return the folded table of a page's verdicts; each id links to its row of the scorecard."""
    docs = {v.claim.doc for v in found}
    text = "texts" if len(docs) > 1 else "post" if docs == {"bootstrap-post"} else "paper"
    title = f"The {text} {'say' if text == 'texts' else 'says'}, we get"
    rows = "\n".join(map(_row, found))
    return (
        f'<details class="repeval-claims"><summary>{title}: {_tally(found)}</summary>\n<div '
        f'class="repeval-scroll" role="region" aria-label="{title}" tabindex="0">'
        f'<table class="table"><thead><tr><th scope="col">Verdict</th>'
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
