"""The verdicts for readers: tables, counts, the pages' HTML, and the terminal's answer."""

from __future__ import annotations

import platform
import re
import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import pandas as pd

import repeval
from repeval._version import __version__
from repeval.companion.ledger.entries import (
    INVENTED,
    Claim,
    anchors,
    decimals,
    errata,
    fitted,
    headlines,
    parts,
)
from repeval.companion.ledger.places import functions_of, page_of
from repeval.companion.ledger.verdicts import EVIDENCE, FORMULA, VERDICTS, Verdict, counts

if TYPE_CHECKING:
    from repeval.io.keys import Source

WIDTH = 100


def text(entry: Claim, value: Any, digits: int) -> str:
    """Return a value of a claim as a reader sees it, `12 of 15` or `1.05 to 1.71`."""
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "identity confirmed" if value else "identity fails"
    items = parts(value)
    if any(isinstance(x, str) for x in items):
        return "; ".join(map(str, items))
    texts = [str(x) if isinstance(x, Integral) else f"{x:.{digits}f}" for x in items]
    joint = ", "
    if len(items) == 2:
        joint = " and " if entry.kind == "design" or items[0] > items[1] else " to "
        if re.search("unresolved|positive|seeds", f"{entry.id} {entry.quantity}"):
            joint = " of "
    return joint.join(texts) + (" pp" if entry.unit == "pp" else "")


def says(entry: Claim) -> str:
    """Return what the paper says."""
    return text(entry, entry.value, decimals(entry))


def here(v: Verdict) -> str:
    """Return what was obtained, with one decimal more."""
    found = text(v.claim, v.computed, decimals(v.claim) + 1)
    return f"the text's own table: {found}" if v.claim.needs == "published-table" else found


def why(v: Verdict) -> str:
    """Return why a claim differs, for known ones without how it was computed."""
    if v.verdict != "known":
        return v.reason
    return errata().get(v.claim.id) or f"On the stand-in: {fitted()[v.claim.id][1]}."


def table(found: Iterable[Verdict]) -> pd.DataFrame:
    """Return "paper says / we get" for verdicts: Quantity, Paper, Here, Verdict, id.

    Numbers are text, ours with one decimal more than the paper's. `legend` has the reasons.
    """
    rows = []
    for v in found:
        reason = f": {v.reason}" if v.verdict == "not checkable" else ""
        verdict = VERDICTS[v.verdict] + reason
        rows.append((v.claim.quantity, says(v.claim), here(v), verdict, v.claim.id))
    return pd.DataFrame(rows, columns=["Quantity", "Paper", "Here", "Verdict", "id"])


def legend(found: Iterable[Verdict]) -> list[str]:
    """Return the sentences under a `table`: each reason of its verdicts once."""
    found = list(found)
    fits = [fitted()[v.claim.id][1] for v in found if v.verdict in ("calibrated", "pinned")]
    told = [f"{v.claim.id}: {why(v)}" for v in found if v.verdict == "known"]
    if formulas := [v.claim.id for v in found if FORMULA in v.reason]:
        told.append(f"{', '.join(formulas)}: {FORMULA}")
    if fits:
        whys = "; ".join(dict.fromkeys(fits))
        told.append(f"Agreement by construction says nothing about the paper: {whys}.")
    if any(v.claim.needs == "published-table" for v in found):
        told.append("Where a text is held against its own table, nothing is recomputed.")
    return told


def tally(found: Iterable[Verdict]) -> pd.DataFrame:
    """Count claims by verdict, in rows, and by what the comparison rests on, in columns.

    What was copied or fitted agrees by construction: it is never counted among what holds.
    """
    seen = [(VERDICTS[v.verdict], v.evidence) for v in found]
    rows = []
    for verdict in dict.fromkeys(VERDICTS.values()):
        by = {words: seen.count((verdict, key)) for key, words in EVIDENCE.items()}
        rows.append({"verdict": verdict, **by, "all": sum(v == verdict for v, _ in seen)})
    return pd.DataFrame(rows)


def limits(found: Sequence[Verdict]) -> str:
    """Say what the data at hand can confirm of the paper, and what they cannot."""
    n = counts(found)
    if not (built := n["calibrated"] + n["pinned"]):
        return "Every claim about outcomes is held against the released ones."
    free = [v for v in found if v.evidence == "independent"]
    holds = sum(v.verdict == "holds" for v in free)
    return (
        f"This book confirms the paper's algebra and its simulations: of {len(free)} claims that "
        f"need no outcomes, {holds} hold. It cannot yet confirm what the paper found in its data: "
        f"these are a stand-in, and {built} claims agree because it was made so."
    )


def counted(found: Sequence[Verdict]) -> str:
    """Say how many claims have each verdict, and what those that hold rest on."""
    holds = [v.evidence for v in found if v.verdict == "holds"]
    return (
        f"{briefly(found)} Of those that hold, {holds.count('independent')} need no outcomes, and "
        f"{holds.count('emergent')} come from outcomes that were not tuned to them."
    )


def briefly(found: Sequence[Verdict]) -> str:
    """Say how many claims hold, differ, and cannot be checked."""
    n = counts(found)
    built = n["calibrated"] + n["pinned"]
    text = (
        f"Of {len(found)} claims {n['holds']} hold, {n['known']} differ for a known reason and "
        f"{n['differs']} without one; {n['not checkable']} are not checked."
    )
    if built:
        text += f" {built} agree because the stand-in was made so, and are not counted as holding."
    return text


def place(entry: Claim) -> str:
    """Name a claim's place in its text: `5.1` is a section, the post's have no number."""
    section = entry.section
    if entry.doc == "bootstrap-post":
        return f"Post: {section}"
    return f"Section {section}" if section[0].isdigit() else section[0].upper() + section[1:]


def printed(entry: Claim) -> str:
    """Name the printed table or figure that a claim is about, empty where there is none."""
    texts = filter(None, (entry.section, entry.quantity, entry.note))
    named = re.search(r"\b(?:Table|Figure) \d+\b", " ".join(texts))
    return named[0] if named else ""


def queries(entry: Claim) -> list[str]:
    """Return what a reader may search for: the id, and the numbers as they are printed."""
    found = [entry.id]
    numbers = [x for x in parts(entry.value) if isinstance(x, Real)]
    if numbers:
        found.append(says(entry).removesuffix(" pp"))
        found += [text(entry, x, decimals(entry)).removesuffix(" pp") for x in numbers]
    if entry.unit in ("fraction", "pp"):
        shares = entry.unit == "fraction"
        digits = max(decimals(entry) - 2 * shares, 0)
        found += [f"{x * (100 if shares else 1):.{digits}f}%" for x in numbers]
    return list(dict.fromkeys(found))


def headlines_html(found: Iterable[Verdict]) -> str:
    """Return the claims that stand first: in plain words, with verdict and what is behind it."""
    by_id = {v.claim.id: v for v in found}
    items = []
    for key, sentence in headlines().items():
        v = by_id[key]
        value = v.claim.value
        percent = f"{100 * value:.0f} %" if isinstance(value, float) else ""
        plain = sentence.format(paper=says(v.claim), percent=percent)
        items.append(
            f"<li><p>{escape(plain)}</p>\n<p>{_badge(v)}\n{escape(_both(v))}\n"
            f'<a href="#{escape(key)}">{escape(key)}</a></p>\n'
            f"<p>{escape(v.reason)}</p></li>"
        )
    return '<ol class="repeval-headlines">\n' + "\n".join(items) + "\n</ol>"


def rows_html(found: Sequence[Verdict], source: Source) -> str:
    """Return the table of all claims with its filter; every row has its id as anchor.

    Everything is shown without the script `scorecard.js`, which reveals and runs the filter, and
    adds the button that cites a row from the table's own `data-` attributes.
    """
    columns = {
        "section": lambda v: place(v.claim),
        "table": lambda v: printed(v.claim),
        "verdict": lambda v: VERDICTS[v.verdict],
    }
    chosen = []
    for name, of in columns.items():
        options = "".join(
            f"<option>{escape(value)}</option>" for value in dict.fromkeys(map(of, found)) if value
        )
        label = {"table": "Table or figure"}.get(name, name.capitalize())
        chosen.append(
            f'<label>{label}\n<select name="{name}"><option value="">all</option>{options}'
            "</select></label>"
        )
    rows = []
    for v in found:
        c = v.claim
        data = {name: of(v) for name, of in columns.items()} | {"find": "|".join(queries(c))}
        given = " ".join(f'data-{name}="{escape(value)}"' for name, value in data.items())
        link = anchors().get(c.id, INVENTED) if v.verdict == "known" else ""
        more = f'\n<a href="errata.html#{escape(link)}">the disagreement</a>' * bool(link)
        rows.append(
            f'<tr id="{escape(c.id)}" {given}>\n<th scope="row">{escape(c.quantity)}\n'
            f"<small>{escape(place(c))}\n"
            f'<a href="#{escape(c.id)}">#{escape(c.id)}</a></small></th>\n'
            f"<td>{escape(says(c))}</td>\n<td>{escape(here(v))}</td>\n"
            f"<td>{_badge(v)}{more}\n<details><summary>how</summary>\n{escape(v.reason)}"
            f"{_behind(c.id)}</details>"
            "</td></tr>"
        )
    about = f"data {source.name} ({source.basis}), SHA-256 {source.sha256}"
    return (
        '<form id="repeval-filter" hidden>\n' + "\n".join(chosen) + "\n"
        '<button type="reset">show all</button>\n<output></output></form>\n'
        f'<table class="table" id="repeval-claims" data-cite="repeval {escape(__version__)}, '
        f'{escape(about)}">\n<caption>All claims: the text says, we get</caption>\n<thead><tr>'
        '<th scope="col">Claim</th> <th scope="col">Text</th> <th scope="col">Here</th> '
        '<th scope="col">Verdict</th></tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table>"
    )


def _behind(key: str) -> str:
    """Return links to where a claim is computed, and to the functions that do it."""
    if (page := page_of(key)) is None:
        return ""
    found = []
    for name in functions_of(key):
        module = getattr(repeval, name).__module__
        source = f"../_modules/{module.replace('.', '/')}.html#{name}"
        test = f"tests/{module.split('.', 1)[1].replace('.', '/test_')}.py"
        found.append(f'<a href="{source}"><code>repeval.{name}</code></a> ({test})')
    by = f", by {', '.join(found)}" * bool(found)
    return f'\n<small>Computed <a href="{page}.html#claim-{escape(key)}">on {page}</a>{by}.</small>'


def _badge(v: Verdict) -> str:
    rests = f" <small>({EVIDENCE[v.evidence]})</small>" if v.evidence else ""
    return f'<strong data-verdict="{v.verdict}">{VERDICTS[v.verdict]}</strong>{rests}'


def _both(v: Verdict) -> str:
    if v.computed is None or isinstance(v.computed, bool):
        return ""
    return f"The paper has {says(v.claim)}, here it is {here(v)}."


def made() -> dict[str, Any]:
    """Return the day on which verdicts are made, and the versions that make them."""
    packages = {name: version(name) for name in ("numpy", "scipy", "pandas")}
    versions = {"python": platform.python_version(), "repeval": __version__, **packages}
    return {"date": datetime.now(UTC).date().isoformat(), "versions": versions}


def record(v: Verdict) -> dict[str, Any]:
    """Return a verdict as in the JSON `repeval/claims/1`."""
    c = v.claim
    return {
        "id": c.id, "section": c.section, "quantity": c.quantity, "unit": c.unit,
        "paper": c.value, "computed": v.computed, "se": v.se, "verdict": v.verdict,
        "evidence": v.evidence, "basis": v.basis, "reason": v.reason,
    }  # fmt: skip


def screen(found: Sequence[Verdict], about: str) -> str:
    """Return the terminal's answer: counts, what differs and why, then all claims by section."""
    lines = [f"{len(found)} claims, held against {about}.", ""]
    lines.append(" " * 24 + "".join(f"{key:>13}" for key in (*EVIDENCE, "all")))
    for _, verdict, *numbers in tally(found).itertuples():
        lines.append(f"{verdict:24}" + "".join(f"{n or '-':>13}" for n in numbers))
    lines += [f"{key}: {words}." for key, words in EVIDENCE.items()]
    groups = {"DIFFERS": "differs", "DIFFERS, FOR A KNOWN REASON": "known"}
    for title, verdict in groups.items():
        rows = [v for v in found if v.verdict == verdict]
        lines += ["", title] + ["nothing"] * (not rows)
        for v in rows:
            both = f"text {says(v.claim)}, here {here(v)}. " * (verdict == "differs")
            told = f"{v.claim.id}: {both}{why(v)}"
            if verdict == "known":
                lines.append(textwrap.shorten(told, WIDTH, placeholder=" ..."))
            else:
                lines += textwrap.wrap(told, WIDTH, subsequent_indent="  ")
    for where in dict.fromkeys(place(v.claim) for v in found):
        lines += ["", where.upper()]
        lines += [_line(v) for v in found if place(v.claim) == where]
    return "\n".join(lines) + "\n"


def _line(v: Verdict) -> str:
    both = (f"{s[:19]}..." if len(s) > 22 else s for s in (says(v.claim), here(v)))
    return f"{v.claim.id:36} {' '.join(f'{s:22}' for s in both)} {v.verdict}"
