"""Lay out everything a book is built from in one folder, fitted to the data."""

import importlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path

from repeval.companion.book.data import is_paper
from repeval.companion.book.html import figure_html, images
from repeval.companion.book.process import BuildFailed, write
from repeval.io.registry import data_dir
from repeval.messages import MESSAGES
from repeval.report.format import STAND_IN
from repeval.stats.intervals import INTERVALS

# Words of the configuration that would be false on other data.
OTHER_CAPTIONS = {
    "The paper, claim by claim": "Question by question",
    "The appendices": "In more detail",
    "Where the texts meet": "Which bootstrap, and how many runs",
}
FOOTER = ("Independent recomputation of", "The questions of")
# Above the messages of each kind.
REFUSED, SAID = "**Refused:** nothing was computed.", "**Said:** the data are used."
# What is to be typed, whose dashes and quotes must stay as they are.
TYPED = re.compile(
    r"pip install '[^']+'|(?:(?:inspect|promptfoo) [a-z ]+)?--[a-z-]+"
    r"(?: (?:json|keep|fail|leave-out|last|[\d.]*\d|(?:[a-z]+=)?[A-Z]+(?:=[A-Z]+)?)\b)?"
)
HEADER = re.compile(r"\A---\n(.*?\n)---", re.DOTALL)
# A passage and its conditions, without another one's start inside.
PASSAGE = re.compile(r"^% only:(.*)\n((?:(?!% only:).*\n)*?)% end(?:\n|\Z)", re.MULTILINE)


def stage(outcomes, analysis, root: Path, share: Path, title: str) -> tuple[list, dict, list]:
    """Fill `root` with the configuration, MathJax and the pages that fit the data.

    `share` has ``book``, ``notebooks``, ``_config.yml`` and ``_toc.yml``. Return the pages in order
    and, by page, the sources of the notebooks, which are still to be executed, and the names of the
    studies that they declare.
    """
    import yaml

    paper = is_paper(outcomes)

    def chosen(page: str) -> bool:
        return fits(read_page(share, page), page, outcomes)

    toc, pages = fit_toc(yaml.safe_load((share / "_toc.yml").read_text(encoding="utf-8")), chosen)
    shown, have = numbers(analysis), held(outcomes)

    def holds(condition: str) -> bool:
        known = {"paper": paper, "other": not paper, **have}
        return known.get(condition, condition in pages or bool(shown.get(condition)))

    shutil.copytree(
        share / "book", root / "book",
        ignore=shutil.ignore_patterns("*.md", "_mathjax", "__pycache__"),
    )
    texts = {page: keep_passages(read_page(share, page), page, holds) for page in pages}
    notebooks = {page: text for page, text in texts.items() if page.startswith("notebooks/")}
    for page in texts.keys() - notebooks:
        text = with_lists(without_conditions(texts[page]))
        write(root / f"{page}.md", with_figures(text, analysis))
    config = yaml.safe_load((share / "_config.yml").read_text(encoding="utf-8"))
    if outcomes.source.basis == "stand-in":
        config["html"]["announcement"] = STAND_IN
    if not paper:
        config["title"] += f" ({title})"
        config["html"]["extra_footer"] = config["html"]["extra_footer"].replace(*FOOTER)
        for part in toc["parts"]:
            part["caption"] = OTHER_CAPTIONS.get(part["caption"], part["caption"])
    write(root / "_config.yml", yaml.safe_dump(config, sort_keys=False, allow_unicode=True))
    write(root / "_toc.yml", yaml.safe_dump(toc, sort_keys=False))
    write(root / "numbers.json", json.dumps(shown))
    shutil.copytree(share / "book" / "_mathjax", root / "extra" / "mathjax")
    studies = [
        name
        for text in notebooks.values()
        for name in front_matter(text).get("studies", ())
        # Claims, which only the paper's books have, call for others.
        if paper or f'study("{name}")' in text
    ]
    return pages, notebooks, list(dict.fromkeys(studies))


def fits(text: str, page: str, outcomes) -> bool:
    """Tell whether a page has something to say about the data: what its header requires."""
    header, first = front_matter(text), outcomes.source.default_condition
    if first not in outcomes.conditions:
        first = outcomes.conditions[0]
    have = {
        "models": len(outcomes.models),
        "systems": len(outcomes.systems),
        # Those that are ranked on common problems, under the condition that is shown first.
        "ranked": len(outcomes.common(first)[0]),
        "conditions": len(outcomes.conditions),
        "runs": max(int(outcomes.system(*s).runs.max()) for s in outcomes.systems),
    }
    needs = header.get("requires", {})
    if unknown := set(needs) - set(have):
        raise BuildFailed(f"{page}.md requires {', '.join(unknown)}; known: {', '.join(have)}.")
    enough = all(have[what] >= least for what, least in needs.items())
    return enough and (is_paper(outcomes) or header.get("about") != "paper")


def held(outcomes) -> dict[str, bool]:
    """Return what holds of the data, by the words that passages of pages may ask for."""
    samples = [outcomes.system(*s) for s in outcomes.systems]
    return {
        "binary": outcomes.binary,
        "scores": not outcomes.binary,
        "repeated": any(bool((s.runs > 1).any()) for s in samples),
        "once": all(bool((s.runs == 1).all()) for s in samples),
        "two models": len(outcomes.models) > 1,
        "three models": len(outcomes.models) > 2,
        "two conditions": len(outcomes.conditions) > 1,
    }


def read_page(share: Path, page: str) -> str:
    """Text of a page of the contents."""
    try:
        return (share / f"{page}.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BuildFailed(f"_toc.yml names {page}, and there is no {page}.md beside it.") from None


def front_matter(text: str) -> dict:
    """YAML header of a page, empty where there is none."""
    import yaml

    header = HEADER.match(text)
    return (header and yaml.safe_load(header[1])) or {}


def without_conditions(text: str) -> str:
    """Drop the header lines that only staging reads."""
    conditions = re.compile(r"^(?:about|after|requires|studies):.*\n", re.MULTILINE)
    return HEADER.sub(lambda header: conditions.sub("", header[0]), text)


def fit_toc(toc: Mapping, fits: Callable[[str], bool]) -> tuple[dict, list[str]]:
    """Contents without the pages that do not fit, and the pages left, in order."""
    fitting = [
        {**part, "chapters": [c for c in part["chapters"] if fits(c["file"])]}
        for part in toc["parts"]
    ]
    parts = [part for part in fitting if part["chapters"]]
    pages = [chapter["file"] for part in parts for chapter in part["chapters"]]
    return {**toc, "parts": parts}, [toc["root"], *pages]


def keep_passages(text: str, page: str, holds: Callable[[str], bool]) -> str:
    """Drop passages from ``% only: CONDITION, …`` to ``% end`` unless all conditions hold."""

    def kept(passage: re.Match) -> str:
        return passage[2] if all(holds(c.strip()) for c in passage[1].split(",")) else ""

    # Blank lines in place of the passages keep the numbers of the others.
    rest = PASSAGE.sub(lambda passage: "\n" * passage[0].count("\n"), text)
    if stray := re.search(r"^% (?:only:.*|end)$", rest, re.MULTILINE):
        line = rest.count("\n", 0, stray.start()) + 1
        raise BuildFailed(f"{page}.md, line {line}: {stray[0]!r} has no counterpart.")
    return PASSAGE.sub(kept, text)


def numbers(analysis) -> dict:
    """Single numbers that pages outside the notebooks show, by key.

    The data's figures, and the summary of the condition reported first; `x_median`, `x_min` and
    `x_max` where the summary has all three.
    """
    document = analysis.to_dict()
    found = {**document["data"], "condition": analysis.condition}
    for key, value in document["summary"][analysis.condition].items():
        ends = (f"{key}_median", f"{key}_min", f"{key}_max")
        spread = isinstance(value, list | tuple) and len(value) == len(ends)
        found |= zip(ends, value, strict=True) if spread else {key: value}
    return {key: value for key, value in found.items() if value is not None}


def with_figures(text: str, analysis) -> str:
    """Replace lines ``% figure: MODULE.FUNCTION`` by what that function of `figures` draws."""

    def drawn(match: re.Match) -> str:
        family = importlib.import_module(f"repeval.companion.plots.{match[1]}")
        plot = getattr(family, match[2])(analysis, analysis.condition)
        return figure_html(plot, images(plot.figure)[0], match[2], analysis.source)

    return re.sub(r"^% figure: (\w+)\.(\w+)$", drawn, text, flags=re.MULTILINE)


def with_lists(text: str) -> str:
    """Replace lines such as ``% messages`` by all there are."""
    lists = {
        "messages": messages_page, "intervals": intervals_table, "tests": tests_table,
        "oracles": oracles_table,
    }  # fmt: skip
    names = "|".join(lists)
    return re.sub(rf"^% ({names})$", lambda found: lists[found[1]](), text, flags=re.MULTILINE)


def messages_page() -> str:
    """Return the messages as Markdown, each at an anchor that is its code."""
    lines = []
    for group, found in groupby(MESSAGES.values(), lambda m: m.group):
        lines.append(f"## {group}")
        for is_refused, messages in groupby(found, lambda m: m.kind == "refused"):
            lines.append(REFUSED if is_refused else SAID)
            for m in messages:
                way = TYPED.sub(lambda typed: f"`{typed[0]}`", m.way_out)
                lines.append(f"({m.code})=\n`{m.code}`\n: {m.meaning} {way}")
    return "\n\n".join(lines)


def intervals_table() -> str:
    """Return the named intervals as a table in Markdown."""
    about = {"superpopulation": "new problems", "fixed": "these problems", "neither": "neither"}
    heads = ["in short", "what it is about", "name"]
    rows = [[k.words, about[k.estimand], f"`{n}`"] for n, k in INTERVALS.items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ["---"] * len(heads), *rows])


def tests_table() -> str:
    """Return how many tests there are, as ``python -m tests.notebooks.counts`` counted them."""
    found = json.loads((data_dir() / "counts.json").read_text(encoding="utf-8"))
    del found["oracles"]
    sums = {kind: sum(cases for _, cases in table.values()) for kind, table in found.items()}
    rows = [["folder", "functions", "cases"], ["---", "---:", "---:"]]
    rows += [[f"`{name}`", *map(str, counts)] for name, counts in found["all"].items()]
    total = sum(functions for functions, _ in found["all"].values())
    rows.append(["**all**", f"**{total:,}**", f"**{sums['all']:,}**"])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    kinds = f"Of the cases {sums['full']:,} are marked `full` and {sums['bench']:,} `bench`."
    return f"{table}\n\n{kinds}"


def oracles_table() -> str:
    """Return what others computed, as ``python -m tests.notebooks.counts`` counted it."""
    found = json.loads((data_dir() / "counts.json").read_text(encoding="utf-8"))["oracles"]
    rows = [["computed by", "what", "data", "cases"], ["---", "---", "---", "---:"]]
    rows += [[x["by"], x["holds"], f"`{x['data']}`", f"{x['cases']:,}"] for x in found]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
